// The tables of the job queue, without starting it: for restoring a backup into them, and for a process that adds jobs and processes none.
import { setEverySession } from '../db/connection-settings.ts';

/** Installs or updates the schema of graphile-worker, as the first start of a service does. */
export async function installJobTables(databaseUrl: string): Promise<void> {
  // Loaded only here, because commands that add no jobs don't need them.
  const [{ runMigrations, Logger }, { Pool }] = await Promise.all([import('graphile-worker'), import('pg')]);
  const pgPool = new Pool({
    connectionString: databaseUrl,
    max: 1,
    verify: (client, done) => client.query(setEverySession, (error) => done(error)),
  });
  const onLost = () => {}; // the statement that needs the connection fails as well
  pgPool.on('error', onLost);
  pgPool.on('connect', (client) => client.on('error', onLost));
  try {
    await runMigrations({ pgPool, logger: new Logger(() => () => {}) });
  } finally {
    await pgPool.end();
  }
}
