// What becomes of a process when PostgreSQL ends its connections: in a process of its own, which must not end.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asFault } from './db.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';

const exec = promisify(execFile);
const fixture = fileURLToPath(new URL('db.fixture.ts', import.meta.url));
let database: TestDatabase;

beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

describe('PostgreSQL ends the connection', () => {
  test.each(['a waiting transaction', 'a computing transaction', 'a cursor'])(
    'of %s: that fails as unavailable, and the process goes on',
    async (moment) => {
      const { stdout } = await exec(process.execPath, [fixture, database.url, moment]);
      expect(stdout).toMatch(/^(Fault|Error): The database cannot be reached. Try again.\nalive\n$/);
    },
  );
});

test('PostgreSQL tries connections that fall silent, and ends those of a machine that is gone within a minute', async () => {
  const [row] = await database.pool<Record<string, string>[]>`
    select current_setting('tcp_keepalives_idle') as idle, current_setting('tcp_keepalives_interval') as interval,
           current_setting('tcp_keepalives_count') as count`;
  expect(row).toEqual({ idle: '30', interval: '10', count: '3' });
});

test.each([
  ['53100', 'The database is out of disk space. Try again.'],
  ['53200', 'The database is out of memory. Try again.'],
  ['53300', 'All connections to the database are in use. Try again.'],
  ['57P03', 'The database cannot be reached. Try again.'],
])('what PostgreSQL is short of is said: %s', async (code, message) => {
  const raised = database.pool.unsafe(`do $$ begin raise exception using errcode = '${code}'; end $$`);
  const error = await raised.then(() => undefined, asFault);
  expect(error).toMatchObject({ kind: 'unavailable', message });
});
