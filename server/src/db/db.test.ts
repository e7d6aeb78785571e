// When PostgreSQL ends a connection, the process must keep running. Tested in a separate process.
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
    'of %s: it fails as unavailable, and the process keeps running',
    async (usage) => {
      const { stdout } = await exec(process.execPath, [fixture, database.url, usage]);
      expect(stdout).toMatch(/^(Fault|Error): The database cannot be reached. Try again.\nalive\n$/);
    },
  );
});

test('PostgreSQL probes silent connections, and ends those of a machine that is gone within a minute', async () => {
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
])('the message names the resource that PostgreSQL has run out of: %s', async (code, message) => {
  const raised = database.pool.unsafe(`do $$ begin raise exception using errcode = '${code}'; end $$`);
  const error = await raised.then(() => undefined, asFault);
  expect(error).toMatchObject({ kind: 'unavailable', message });
});
