// Facts about the database for operators: its version, size, connections, rights and schema. Only reads, also before the first start.
import { type DistributionFacts, distributionFacts } from './citus/distribution.ts';
import { migrations } from './migrate.ts';
import type { Db, Pool } from './db.ts';

export type DatabaseFacts = {
  /** Such as "18.4", and the same as a number: 180004. */
  version: string;
  versionNumber: number;
  encoding: string;
  /** The size of the database in bytes. */
  sizeBytes: number;
  /** Whether it refuses writes, because it is a replica or read-only by its settings. */
  isReadOnly: boolean;
  role: {
    isSuperuser: boolean;
    canCreateTables: boolean;
    canCreateSchemas: boolean;
    canCreateTemporaryTables: boolean;
  };
  /** Whether the tables are distributed with Citus, and which have an account and are not. */
  distribution: DistributionFacts;
  /** Tables of the schema that belong to a role whose rights ours doesn't have. */
  foreignTables: string[];
  /** How many connections ours can still open, and the maximum for all of them. */
  connections: { free: number; max: number };
  /** Whether the connection is encrypted, and whether it leads to another machine as far as its address shows. */
  isEncrypted: boolean;
  isRemote: boolean;
  schema: SchemaFacts;
};

/** The latest migration that was applied, and how this version of the program differs. `latest`: null before the first start. */
export type SchemaFacts = {
  latest: string | null;
  /** Migrations of this version that are missing in the database. */
  missing: string[];
  /** Migrations in the database that this version doesn't know, and whether one of them means that this version can't run. */
  unknown: string[];
  isTooNew: boolean;
};

export async function databaseFacts(pool: Pool): Promise<DatabaseFacts> {
  const row = await serverFacts(pool);
  const limits = [row.total, row.ofDatabase, row.ofRole].filter(({ max }) => max >= 0);
  const { isSuperuser, canCreateTables, canCreateSchemas, canCreateTemporaryTables } = row;
  return {
    version: row.version.replace(/ .*/, ''),
    versionNumber: row.versionNumber,
    encoding: row.encoding,
    sizeBytes: row.sizeBytes,
    isReadOnly: row.isReadOnly,
    role: { isSuperuser, canCreateTables, canCreateSchemas, canCreateTemporaryTables },
    foreignTables: row.foreignTables,
    isEncrypted: row.isEncrypted,
    isRemote: row.isRemote,
    connections: {
      free: Math.max(0, Math.min(...limits.map(({ max, used }) => max - used))),
      max: Math.min(...limits.map(({ max }) => max)),
    },
    schema: await schemaFacts(pool),
    distribution: await distributionFacts(pool),
  };
}

/** Returns whether the role of the service may create temporary tables in its database. */
export async function mayCreateTemporaryTables(db: Db): Promise<boolean> {
  const [row] = await db<{ can: boolean }[]>`
    select has_database_privilege(current_database(), 'temporary') as can`;
  return row?.can === true;
}

/** A limit of connections, -1 for none, and how many are used. */
type Limit = { max: number; used: number };

type ServerRow = Pick<
  DatabaseFacts,
  | 'version'
  | 'versionNumber'
  | 'encoding'
  | 'sizeBytes'
  | 'isReadOnly'
  | 'foreignTables'
  | 'isEncrypted'
  | 'isRemote'
> &
  DatabaseFacts['role'] & { total: Limit; ofDatabase: Limit; ofRole: Limit };

/** Everything here can be read without the rights of a superuser or of monitoring. */
async function serverFacts(pool: Pool): Promise<ServerRow> {
  const [row] = await pool<ServerRow[]>`
    select current_setting('server_version')                                   as "version",
           current_setting('server_version_num')::integer                      as "versionNumber",
           current_setting('server_encoding')                                  as "encoding",
           pg_database_size(current_database())::float8                        as "sizeBytes",
           pg_is_in_recovery() or current_setting('transaction_read_only') = 'on'
                                                                               as "isReadOnly",
           r.rolsuper                                                          as "isSuperuser",
           coalesce(has_schema_privilege(current_schema(), 'create'), false)   as "canCreateTables",
           has_database_privilege(current_database(), 'create')                as "canCreateSchemas",
           has_database_privilege(current_database(), 'temporary')             as "canCreateTemporaryTables",
           array(select tablename::text
                 from   pg_tables
                 where  schemaname = current_schema() and not pg_has_role(tableowner, 'usage')
                 order  by tablename)                                          as "foreignTables",
           coalesce((select ssl from pg_stat_ssl where pid = pg_backend_pid()), false)
                                                                               as "isEncrypted",
           coalesce(not (inet_client_addr() << '127.0.0.0/8' or inet_client_addr() = '::1'
                         or inet_client_addr() = inet_server_addr()), false)   as "isRemote",
           json_build_object('max', current_setting('max_connections')::integer
                                    - current_setting('superuser_reserved_connections')::integer
                                    - coalesce(current_setting('reserved_connections', true)::integer, 0),
                             'used', (select sum(numbackends)::integer from pg_stat_database))
                                                                               as "total",
           json_build_object('max', d.datconnlimit,
                             'used', (select numbackends from pg_stat_database where datid = d.oid))
                                                                               as "ofDatabase",
           json_build_object('max', r.rolconnlimit,
                             'used', (select count(*)::integer from pg_stat_activity where usesysid = r.oid))
                                                                               as "ofRole"
    from   pg_roles r
    join   pg_database d on d.datname = current_database()
    where  r.rolname = current_user`;
  return row!;
}

async function schemaFacts(pool: Pool): Promise<SchemaFacts> {
  const [table] = await pool<{ exists: boolean }[]>`select to_regclass('migrations') is not null as "exists"`;
  const applied = table?.exists
    ? await pool<{ version: number; name: string; breaking: boolean }[]>`
        select version as "version", name as "name", breaking as "breaking" from migrations order by version`
    : [];
  const known = migrations();
  const ours = known.at(-1)?.version ?? 0;
  const newer = applied.filter(({ version }) => version > ours);
  return {
    latest: applied.at(-1)?.name ?? null,
    missing: known
      .filter(({ version }) => !applied.some((one) => one.version === version))
      .map(({ name }) => name),
    unknown: newer.map(({ name }) => name),
    isTooNew: newer.some(({ breaking }) => breaking),
  };
}
