// For tests of imported history: a database, an account with a tree of groups, a file with everything that the format has, and
// its import.
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { weekNamed } from '@soundings/contract/weeks.ts';
import { afterAll, beforeAll } from 'vitest';
import { createAccount } from '../accounts/accounts.ts';
import { inTransaction, type Transaction } from '../db/db.ts';
import { createGroup } from '../people/groups.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { answerLine, kpi, later, question, round, skip } from '../testing/surveys.ts';
import { importHistory } from './history.ts';

export let database: TestDatabase;
export let home: string;

/** Opens a database for a test file, and closes it at its end. */
export function useDatabase(): void {
  beforeAll(async () => {
    database = await openTestDatabase();
    await database.keys.chain.prepare(); // as the service does at startup
    home = await mkdtemp(join(tmpdir(), 'soundings-history-test-'));
  });
  afterAll(async () => {
    await database.close();
    await rm(home, { recursive: true, force: true });
  });
}

export type Company = {
  id: number;
  /** By externalId, except for `plain`, which has none. */
  groups: Record<'top' | 'north' | 'team' | 'south' | 'plain', number>;
};

/** Creates an account with a tree: top > (north > team, south, plain). */
export async function company(timezone = 'UTC'): Promise<Company> {
  return inTransaction(database.pool, async (tx) => {
    const { id } = await createAccount(tx, { name: 'Acme', timezone });
    return { id, groups: await createGroups(tx, id) };
  });
}

export async function createGroups(tx: Transaction, accountId: number): Promise<Company['groups']> {
  const group = (externalId: string, parentId?: number) =>
    createGroup(tx, accountId, { name: externalId, externalId, ...(parentId !== undefined && { parentId }) });
  const top = await group('top');
  const north = await group('north', top);
  const team = await group('team', north);
  const south = await group('south', top);
  const plain = await createGroup(tx, accountId, { name: 'plain', parentId: top });
  return { top, north, team, south, plain };
}

export const W = '2024-W47';
export const monday = weekNamed(W) as string;
export const none = { questions: 0, kpis: 0, rounds: 0, answers: 0, weeks: 0 };
export const options = { options: ['in', 'out'].map((id) => ({ id, text: id })) };
export const people = (count: number) => Array.from({ length: count }, (_, i) => `e${i + 1}`);

/** A file with everything that the format has, without an error. */
export const validLines = [
  question('scale', 1),
  question('ten', 2),
  question('recommend', 3),
  question('yes', 4),
  question('lunch', 5, options),
  question('pets', 6, options),
  question('words', 7),
  question('unasked', 1),
  kpi('mood', ['scale', 'ten']),
  round(W, 'top', ['scale', 'ten', 'recommend', 'yes', 'lunch', 'pets', 'words'], {
    e1: ['team'],
    e2: ['south'],
    e3: ['north', 'south'],
  }),
  answerLine(W, 'top', 'e1', 'scale', 4, 'Better since the move.'),
  answerLine(W, 'top', 'e1', 'yes', true),
  skip(W, 'top', 'e1', 'pets'),
  answerLine(W, 'top', 'e2', 'words', undefined, 'None.'),
];
export const counts = { questions: 8, kpis: 1, rounds: 1, answers: 4, weeks: 1 };

async function writeFileOf(content: string | Uint8Array): Promise<string> {
  const path = join(home, `${randomUUID()}.ndjson`);
  await writeFile(path, content);
  return path;
}

export const textOf = (lines: (object | string)[]) =>
  lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');

export const importFile = async (accountId: number, content: string | Uint8Array, now = later) =>
  importHistory(database.pool, database.keys, accountId, await writeFileOf(content), now);

export const rowsIn = async (table: string, { id }: Company) => [
  ...(await database.pool.unsafe(`select * from ${table} t where account_id = $1 order by t::text`, [id])),
];

export const errorOf = (promise: Promise<unknown>) =>
  promise.then(
    () => {
      throw new Error('It was imported.');
    },
    (error: unknown) => error,
  );
