// The tables of the job queue, without starting it: for restoring a backup into them.
import { ofEveryConnection } from '../db/db.ts';

/** Installs or updates the schema of graphile-worker, as the first start of a service does. */
export async function installJobTables(databaseUrl: string): Promise<void> {
  // Loaded only here, because no other command needs them.
  const [{ runMigrations, Logger }, { Pool }] = await Promise.all([import('graphile-worker'), import('pg')]);
  const options = Object.entries(ofEveryConnection).map(([name, value]) => `-c ${name}=${value}`);
  const pgPool = new Pool({ connectionString: databaseUrl, max: 1, options: options.join(' ') });
  const onLost = () => {}; // the statement that needs the connection fails as well
  pgPool.on('error', onLost);
  pgPool.on('connect', (client) => client.on('error', onLost));
  try {
    await runMigrations({ pgPool, logger: new Logger(() => () => {}) });
  } finally {
    await pgPool.end();
  }
}
