// Directus, with its own database, and requests to its API as an administrator, for which it checks no permissions.
import { bareEnvironment } from '@soundings/server/src/testing/processes/environment.ts';
import { execFile } from 'node:child_process';
import { Agent, request } from 'node:http';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Service } from '../measuring/service.ts';
import type { Packages } from './packages.ts';
import { createDatabase, type PeerServer, startPeer } from './processes.ts';

export type Directus = PeerServer & {
  databaseUrl: string;
  token: string;
  /** Sends a request, and returns the `data` of the response. Throws unless the status is 200 or 204. */
  send<T>(method: string, path: string, body?: object): Promise<T>;
};

/** A field of a collection. `of`: the collection that it refers to. */
type Field = { name: string; type: 'string' | 'integer'; isKey?: true; of?: string; validation?: object };

/** Starts Directus with its defaults, except that bodies may be larger, and that it doesn't report its use to its makers. */
export async function startDirectus(
  service: Service,
  packages: Packages,
  database: string,
): Promise<Directus> {
  const { directory, nodeOfDirectus: executable } = packages;
  const databaseUrl = await createDatabase(service, database);
  const token = randomBytes(24).toString('hex');
  const environment = {
    DB_CLIENT: 'pg',
    DB_CONNECTION_STRING: databaseUrl,
    SECRET: randomBytes(24).toString('hex'),
    ADMIN_EMAIL: 'admin@example.com',
    ADMIN_PASSWORD: randomBytes(12).toString('hex'),
    ADMIN_TOKEN: token,
    HOST: '127.0.0.1',
    MAX_PAYLOAD_SIZE: '100mb',
    TELEMETRY: 'false',
    LOG_LEVEL: 'warn',
  };
  const cli = join(directory, 'node_modules/directus/cli.js');
  const env = { ...bareEnvironment, NODE_ENV: 'production', ...environment };
  await promisify(execFile)(executable, [cli, 'bootstrap'], { cwd: directory, env });
  const server = await startPeer(service, {
    executable,
    args: () => [cli, 'start'],
    environment: (port) => ({ ...environment, PORT: String(port) }),
    directory,
    ready: '/server/ping',
  });
  const agent = new Agent({ keepAlive: true });
  const stop = async () => {
    agent.destroy();
    await server.stop();
  };
  const send = <T>(method: string, path: string, body?: object) =>
    sendTo<T>({ agent, url: server.address + path, token }, method, body);
  return { ...server, databaseUrl, token, send, stop };
}

function sendTo<T>(
  to: { agent: Agent; url: string; token: string },
  method: string,
  body?: object,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const headers = {
      authorization: `Bearer ${to.token}`,
      ...(bytes && { 'content-type': 'application/json', 'content-length': bytes.length }),
    };
    const sending = request(to.url, { method, agent: to.agent, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () => {
        const text = Buffer.concat(chunks).toString();
        if (response.statusCode === 204) resolve(undefined as T);
        else if (response.statusCode === 200) resolve((JSON.parse(text) as { data: T }).data);
        else reject(new Error(`Directus: ${method} ${to.url}: ${response.statusCode} ${text.slice(0, 500)}`));
      });
    });
    sending.once('error', reject);
    sending.end(bytes);
  });
}

/** Creates a collection, and relations for the fields that refer to others. `isLogged`: whether each change is recorded (the default). */
export async function createCollection(
  { send }: Directus,
  collection: string,
  fields: Field[],
  isLogged = true,
): Promise<void> {
  await send('POST', '/collections', {
    collection,
    schema: {},
    meta: { accountability: isLogged ? 'all' : null },
    fields: fields.map(({ name, type, isKey, validation }) => ({
      field: name,
      type,
      schema: { is_primary_key: isKey === true, has_auto_increment: isKey === true && type === 'integer' },
      meta: { validation: validation ?? null },
    })),
  });
  for (const { name, of } of fields) {
    if (of === undefined) continue;
    await send('POST', '/relations', {
      collection,
      field: name,
      related_collection: of,
      schema: { on_delete: 'CASCADE' },
    });
  }
}
