// Fails when an update of graphile-worker changes the private tables that we use. docs/decisions/0025-tables-of-graphile-worker.md says
// what to do then.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';

const see =
  'graphile-worker has changed its private tables: see docs/decisions/0025-tables-of-graphile-worker.md';
let database: TestDatabase;

beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

test('jobs have a payload in JSON, and queues have the worker that locked them', async () => {
  const columns = await database.pool<{ column: string }[]>`
    select table_name || '.' || column_name || ' ' || data_type as "column"
    from   information_schema.columns
    where  table_schema = 'graphile_worker'
      and  (table_name, column_name) in (('_private_jobs', 'payload'), ('_private_jobs', 'attempts'),
             ('_private_jobs', 'max_attempts'), ('_private_jobs', 'locked_at'),
             ('_private_job_queues', 'locked_by'), ('_private_job_queues', 'locked_at'))
    order  by table_name, column_name`;
  expect(
    columns.map(({ column }) => column),
    see,
  ).toEqual([
    '_private_job_queues.locked_at timestamp with time zone',
    '_private_job_queues.locked_by text',
    '_private_jobs.attempts smallint',
    '_private_jobs.locked_at timestamp with time zone',
    '_private_jobs.max_attempts smallint',
    '_private_jobs.payload json',
  ]);
});
