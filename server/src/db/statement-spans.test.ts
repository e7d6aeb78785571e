// The spans of statements: one for each statement that is sent, named after the function that sends it, without texts and values.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { collectSpans, type ThreadSpan } from '../base/tracing/thread-spans.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { copyInto, type Db, inBatches, inTransaction, onConnection } from './db.ts';

const see =
  'postgres has changed what we use of its internals: see docs/decisions/0021-postgres-internals.md';
let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
  await database.pool`create table numbers (number integer primary key)`;
});
afterAll(() => database.close());

async function selectNumber(db: Db, number: number) {
  return db<{ n: number }[]>`select ${number}::integer as n ${db`where ${true}`}`;
}
const insertNumbers = (db: Db, numbers: number[]) =>
  copyInto(
    db`copy numbers (number) from stdin`,
    numbers.map((one) => [one]),
  );
async function divideByZero(db: Db) {
  return db`select 1 / 0 as secret`;
}

/** Returns the spans of work, as their names and ends. */
async function spansOf(work: () => Promise<unknown>): Promise<ThreadSpan[]> {
  const spans: ThreadSpan[] = [];
  await collectSpans(spans, async () => void (await work().catch(() => {})));
  return spans;
}
const namesOf = (spans: ThreadSpan[]) => spans.map(({ start }) => start.name);

test('a statement has one span, however often it is awaited, and a part of a statement has none', async () => {
  const { pool } = database;
  const spans = await spansOf(async () => {
    const statement = selectNumber(pool, 777);
    await Promise.all([statement, statement]);
  });
  expect(namesOf(spans), see).toEqual(['selectNumber']);
  expect(spans[0]).toMatchObject({
    start: {
      kind: 'client',
      attributes: {
        'db.system.name': 'postgresql',
        'db.operation.name': 'SELECT',
        'db.query.summary': 'selectNumber',
      },
    },
    end: { attributes: {} },
  });
  expect(spans[0]?.end?.endedAt).toBeGreaterThan(spans[0]?.start.startedAt as number);
  expect(JSON.stringify(spans)).not.toContain('777');
});

test('a statement that is never sent has no span', async () => {
  const { pool } = database;
  expect(await spansOf(async () => void pool`select 1`)).toEqual([]);
});

test('statements in transactions, on their own connection and in batches have spans', async () => {
  const { pool } = database;
  const spans = await spansOf(async () => {
    await inTransaction(pool, async (tx) => selectNumber(tx, 1));
    await onConnection(pool, (db) => insertNumbers(db, [1, 2, 3]));
    const batches: unknown[] = [];
    for await (const rows of inBatches(pool`select number from numbers`, 1)) batches.push(rows);
  });
  expect(namesOf(spans).slice(0, 2)).toEqual(['selectNumber', 'insertNumbers']);
  expect(spans).toHaveLength(3);
  expect(
    spans.every(({ end }) => end !== undefined),
    see,
  ).toBe(true);
});

test('a statement that fails has the code of its error, and not the text', async () => {
  const spans = await spansOf(() => divideByZero(database.pool));
  expect(spans[0]?.end?.attributes).toEqual({ 'error.type': '22012', 'db.response.status_code': '22012' });
  expect(JSON.stringify(spans)).not.toMatch(/secret|zero"/);
});

test('without a current span, nothing is recorded', async () => {
  const spans: ThreadSpan[] = [];
  await collectSpans(spans, async () => {});
  await selectNumber(database.pool, 1);
  expect(spans).toEqual([]);
});
