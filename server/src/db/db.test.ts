// When PostgreSQL ends a connection, the process must keep running. Tested in a separate process.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { asFault, inBatches, openPool } from './db.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';

const exec = promisify(execFile);
const fixture = fileURLToPath(new URL('db.fixture.ts', import.meta.url));
let database: TestDatabase;

beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

describe('PostgreSQL ends the connection', () => {
  test.each([
    'a waiting transaction',
    'a computing transaction',
    'a transaction without another statement',
    'a savepoint of a transaction',
    'a savepoint whose error is ignored',
    'a cursor',
    'a cursor of a transaction',
    'a fetch of a transaction',
  ])('of %s: the work fails with the fault "unavailable", and the process keeps running', async (usage) => {
    const { stdout } = await exec(process.execPath, [fixture, database.url, usage]);
    expect(stdout).toMatch(/^(Fault|Error): The database cannot be reached. Try again.\nalive\n$/);
  });
});

test('values are read and sent correctly, whatever the settings of the database', async () => {
  const { pool, url } = database;
  const [row] = await pool<{ name: string }[]>`select current_database() as name`;
  const others = {
    datestyle: "'SQL, DMY'",
    timezone: "'Asia/Tokyo'",
    bytea_output: 'escape',
    extra_float_digits: '-9',
    array_nulls: 'off',
    standard_conforming_strings: 'off',
    default_transaction_isolation: 'serializable',
  };
  for (const [name, value] of Object.entries(others))
    await pool.unsafe(`alter database ${row!.name} set ${name} = ${value}`);
  const other = openPool(url, 1);
  onTestFinished(async () => {
    await other.end({ timeout: 5 });
    for (const name of Object.keys(others)) await pool.unsafe(`alter database ${row!.name} reset ${name}`);
  });
  const [read] = await other`
    select date '2026-11-05' as day, timestamptz '2026-11-05T09:00:00Z' as time, timestamp '2026-11-05 09:00'::timestamptz as local,
           '\\x006162ff'::bytea as bytes, 1 / 3::float8 as number, (${[null]}::text[])[1] is null as missing, '\\d' as text,
           current_setting('transaction_isolation') as isolation`;
  expect(read).toEqual({
    day: '2026-11-05',
    time: new Date('2026-11-05T09:00:00Z'),
    local: new Date('2026-11-05T09:00:00Z'),
    bytes: Buffer.from('006162ff', 'hex'),
    number: 1 / 3,
    missing: true,
    text: '\\d',
    isolation: 'read committed',
  });
});

test('PostgreSQL probes silent connections, and within a minute ends the connections of a machine that is gone', async () => {
  const [row] = await database.pool<Record<string, string>[]>`
    select current_setting('tcp_keepalives_idle') as idle, current_setting('tcp_keepalives_interval') as interval,
           current_setting('tcp_keepalives_count') as count`;
  expect(row).toEqual({ idle: '30', interval: '10', count: '3' });
});

describe('rows in batches', () => {
  const numbers = (count: number) =>
    database.pool<{ n: number }[]>`select n from generate_series(1, ${count}::integer) n`;
  const sizesOf = async (count: number) => {
    const sizes: number[] = [];
    for await (const rows of inBatches(numbers(count), 10)) sizes.push(rows.length);
    return sizes;
  };

  test('contain all rows, whether or not the last batch is full', async () => {
    expect(await Promise.all([0, 1, 10, 11, 20].map(sizesOf))).toEqual([[], [1], [10], [10, 1], [10, 10]]);
  });

  test('are read only when they are requested, and reading may stop early', async () => {
    await database.pool.begin(async (tx) => {
      await tx`create temporary sequence calls`;
      const rows = tx<{ n: string }[]>`select nextval('calls') as n from generate_series(1, 100000)`;
      for await (const batch of inBatches(rows, 10)) if (batch.length === 10) break;
      const [row] = await tx<{ n: string }[]>`select last_value as n from calls`;
      expect(Number(row?.n)).toBe(10);
    });
  });

  test('fail with the error of the statement, at the first row or later', async () => {
    const failing = (at: number) =>
      database.pool<{ n: number }[]>`select 1 / (n - ${at}::integer) as n from generate_series(1, 100) n`;
    const readAll = async (at: number) => {
      let count = 0;
      try {
        for await (const rows of inBatches(failing(at), 10)) count += rows.length;
      } catch (error) {
        return [count, (error as { code: string }).code];
      }
      return count;
    };
    expect(await readAll(1)).toEqual([0, '22012']);
    expect(await readAll(55)).toEqual([50, '22012']);
  });
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
