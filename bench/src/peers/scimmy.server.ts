// SCIMMY and its routers on Express, with the storage that a good engineer would write for them in an hour: one table for users and one
// for groups, each resource as JSON, unique user names, filters of one equality as SQL, and a version against lost changes.
// Arguments: the directory of the packages, the database URL, the port, the token.
import { randomUUID, timingSafeEqual } from 'node:crypto';
import type { Pool } from 'pg';
import { loadPackage } from './packages.ts';

type Stored = { id: string; resource: object; version: number; created: Date; modified: Date };
type ScimFilter = Record<string, unknown>[] & { match(values: object[]): object[] };
type Asked = { id?: string; filter?: ScimFilter };
type Instance = { userName?: string; displayName?: string; id?: string; meta?: object };
type ResourceType = {
  ingress(handler: (asked: Asked, instance: Instance) => Promise<object>): ResourceType;
  egress(handler: (asked: Asked) => Promise<object | object[]>): ResourceType;
  degress(handler: (asked: Asked) => Promise<void>): ResourceType;
};
type Scimmy = {
  Types: { Error: new (status: number, type: string | null, message: string) => Error };
  Resources: { User: ResourceType; Group: ResourceType; declare(type: ResourceType): ResourceType };
};
type Incoming = { header(name: string): string | undefined };
type Routers = new (options: { type: 'bearer'; handler: (request: Incoming) => string }) => object;
type Outgoing = { send(body: string): void };
type Express = () => {
  get(path: string, handler: (request: Incoming, response: Outgoing) => void): void;
  use(path: string, router: object): void;
  listen(port: number, host: string): void;
};

const [directory = '', databaseUrl = '', port = '', token = ''] = process.argv.slice(2);
const express = loadPackage<Express>(directory, 'express');
const scimmy = loadPackage<Scimmy>(directory, 'scimmy');
const { SCIMMYRouters } = loadPackage<{ SCIMMYRouters: Routers }>(directory, 'scimmy-routers');
const pg = loadPackage<{ Pool: new (options: object) => Pool }>(directory, 'pg');
const pool = new pg.Pool({ connectionString: databaseUrl, max: 10 });

await pool.query(`
  create table scim_users (id uuid primary key, name text not null, resource jsonb not null, version integer not null default 1,
                           created timestamptz not null default now(), modified timestamptz not null default now());
  create unique index on scim_users (lower(name));
  create table scim_groups (like scim_users including defaults, primary key (id));
  create index on scim_groups (lower(name));`);

serve(scimmy.Resources.User, 'scim_users', 'userName');
serve(scimmy.Resources.Group, 'scim_groups', 'displayName');

const app = express();
app.get('/health', (_request, response) => response.send('ok'));
app.use('/scim/v2', new SCIMMYRouters({ type: 'bearer', handler: authenticate }));
app.listen(Number(port), '127.0.0.1');

function authenticate(request: Incoming): string {
  const sent = Buffer.from(request.header('authorization') ?? '');
  const wanted = Buffer.from(`Bearer ${token}`);
  if (sent.length !== wanted.length || !timingSafeEqual(sent, wanted))
    throw new Error('The token is invalid.');
  return 'directory';
}

function serve(type: ResourceType, table: string, nameField: 'userName' | 'displayName'): void {
  // A PATCH reads the resource and then writes it. The version shows whether another request has changed it in between.
  const versions = new WeakMap<Asked, number>();

  async function read(asked: Asked): Promise<object | object[]> {
    if (asked.id !== undefined) {
      const stored = await one(asked.id);
      versions.set(asked, stored.version);
      return shown(stored);
    }
    const name = equality(asked.filter, nameField);
    if (name !== undefined) {
      const { rows } = await pool.query<Stored>(`select * from ${table} where lower(name) = lower($1)`, [
        name,
      ]);
      return rows.map(shown);
    }
    const { rows } = await pool.query<Stored>(`select * from ${table} order by created, id`);
    return asked.filter ? asked.filter.match(rows.map(shown)) : rows.map(shown);
  }

  async function write(asked: Asked, instance: Instance): Promise<object> {
    const { id: _id, meta: _meta, ...resource } = instance;
    const values = [asked.id ?? randomUUID(), instance[nameField], resource];
    const statement =
      asked.id === undefined
        ? pool.query<Stored>(
            `insert into ${table} (id, name, resource) values ($1, $2, $3) returning *`,
            values,
          )
        : pool.query<Stored>(
            `update ${table} set name = $2, resource = $3, version = version + 1, modified = now()
             where id = $1 and version = coalesce($4, version) returning *`,
            [...values, versions.get(asked)],
          );
    const { rows } = await statement.catch((error: Error & { code?: string }) => {
      if (error.code !== '23505') throw error;
      throw new scimmy.Types.Error(409, 'uniqueness', `The name ${values[1]} is already used.`);
    });
    if (rows[0]) return shown(rows[0]);
    await one(asked.id as string);
    throw new scimmy.Types.Error(
      409,
      null,
      'Another request has changed the resource. Send the request again.',
    );
  }

  async function remove({ id }: Asked): Promise<void> {
    const { rowCount } = await pool.query(`delete from ${table} where id = $1`, [id]);
    if (rowCount === 0) throw absent(id);
  }

  async function one(id: string): Promise<Stored> {
    const { rows } = await pool.query<Stored>(`select * from ${table} where id = $1`, [id]);
    if (!rows[0]) throw absent(id);
    return rows[0];
  }

  scimmy.Resources.declare(type).ingress(write).egress(read).degress(remove);
}

const absent = (id = '') => new scimmy.Types.Error(404, null, `Resource ${id} not found`);

const shown = ({ id, resource, created, modified }: Stored) => ({
  ...resource,
  id,
  meta: { created, lastModified: modified },
});

/** Returns the value of a filter that consists of one equality of this field, such as userName eq "anna@example.com". */
function equality(filter: ScimFilter | undefined, field: string): string | undefined {
  const [first, ...others] = filter ?? [];
  const [[name, comparison] = [], ...more] = Object.entries(first ?? {});
  if (others.length > 0 || more.length > 0 || name?.toLowerCase() !== field.toLowerCase()) return undefined;
  const [operator, value] = Array.isArray(comparison) ? (comparison as unknown[]) : [];
  return operator === 'eq' && typeof value === 'string' ? value : undefined;
}
