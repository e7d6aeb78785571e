// The tables of graphile-worker, for tests that ask for jobs without a service that does them.
import { runMigrations } from 'graphile-worker';

export async function installJobs(databaseUrl: string): Promise<void> {
  await runMigrations({ connectionString: databaseUrl });
}
