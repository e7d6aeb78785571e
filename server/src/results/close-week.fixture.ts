// For tests of closing weeks: a database, companies with an open week, their answers, and what is published about them.
import { type Week, weekNamed } from '@soundings/contract/weeks.ts';
import { afterAll, beforeAll, expect } from 'vitest';
import { changeAccount, createAccount } from '../accounts/accounts.ts';
import { type SubmittedAnswer, saveAnswers } from '../answers/answering.ts';
import { newId } from '../base/ids.ts';
import { type Db, inTransaction, type Pool, type Transaction } from '../db/db.ts';
import { createUser } from '../people/users.ts';
import { pushOrganization } from '../sync/push.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { noLimits, person, unit } from '../testing/organizations.ts';
import { answerLine, importLines, kpi, linkOf, question, round } from '../testing/surveys.ts';
import { closeWeek } from './close-week.ts';
import { deleteGroupResults } from './published-figures.ts';

export let database: TestDatabase;
export let pool: Pool;

/** Opens a database for a test file, and closes it at its end. */
export function useDatabase(): void {
  beforeAll(async () => {
    database = await openTestDatabase();
    pool = database.pool;
    links.clear();
  });
  afterAll(() => database.close());
}

export const W = '2024-W47';
export const week = weekNamed(W) as Week;
/** A Wednesday in that week, and the time when the week is over in UTC. */
export const meanwhile = Date.parse('2024-11-20T12:00:00Z');
export const over = Date.parse('2024-11-25T00:00:00Z');

export type Company = { id: number; groups: Map<string, number> };

// top > (north > (a, b), south): six people in each of a, b and south.
export const home: Record<string, string> = Object.fromEntries(
  ['a', 'b', 'south'].flatMap((group) => Array.from({ length: 6 }, (_, i) => [`${group}${i}`, group])),
);
export const units = [
  unit('top'),
  unit('north', { parent: 'top' }),
  unit('a', { parent: 'north' }),
  unit('b', { parent: 'north' }),
  unit('south', { parent: 'top' }),
];
export const users = (homes = home) =>
  Object.entries(homes).map(([name, group]) => person(name, { accessInfo: { memberOf: [group] } }));

export async function push(accountId: number, data: { users?: object[]; groups?: object[] }): Promise<void> {
  const run = { id: newId(), source: 'api' as const, tokenId: null, address: null, file: null };
  const body = { settings: { ...noLimits, validateOnly: false }, data };
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  await pushOrganization(pool, accountId, run, { bytes, gzip: false }, { deleteGroupResults });
}

export async function company(timezone = 'UTC'): Promise<Company> {
  const id = await inTransaction(pool, async (tx) => {
    const account = await createAccount(tx, { name: 'Acme', timezone });
    await createUser(tx, account.id, { role: 'Administrator' });
    return account.id;
  });
  await push(id, { groups: units, users: users() });
  const rows = await pool<{ id: number; name: string }[]>`
    select group_id as id, name from groups where account_id = ${id}`;
  return { id, groups: new Map(rows.map(({ id: groupId, name }) => [name, groupId])) };
}

export const asked = Object.fromEntries(Object.entries(home).map(([name, group]) => [name, [group]]));
export const everyone = Object.keys(home);
export const northerners = everyone.filter((one) => home[one] !== 'south');
export const definitions = [
  question('scale', 1),
  question('ten', 2),
  question('words', 7),
  kpi('mood', ['scale', 'ten']),
];

/** A week in which everyone is asked three questions and has answered the first with 4 and a comment. */
export const survey = (name = W): object[] => [
  ...definitions,
  round(name, 'top', ['scale', 'ten', 'words'], asked),
  ...everyone.map((one) => answerLine(name, 'top', one, 'scale', 4, `${one} says`)),
];

/** Creates a company with that week open. */
export async function openCompany(
  lines: object[] = survey(),
  publication: 'weekly' | 'live' = 'weekly',
): Promise<Company> {
  const acme = await company();
  await setPublication(acme, publication);
  await importLines(database, acme.id, lines, meanwhile);
  return acme;
}

export const setPublication = ({ id }: Company, publication: 'weekly' | 'live') =>
  inTransaction(pool, (tx) => changeAccount(tx, id, { publication }));

export const close = ({ id }: Company, of = pool) =>
  inTransaction(of, (tx) => closeWeek(tx, database.keys, id, week));

type AnswerValue = Omit<SubmittedAnswer, 'questionId'>;
type Given = { link: string; answer: SubmittedAnswer };

/** One link per person, all used in one browser, because other browsers could not change earlier answers. */
export const links = new Map<string, string>();

/** Returns a person's answer to the open week, with the person's own link. */
export async function answerOf(
  { id }: Company,
  name: string,
  key: string,
  value: AnswerValue,
): Promise<Given> {
  const [row] = await pool<{ userId: number; questionId: number }[]>`
    select user_id as "userId", question_id as "questionId" from users join questions using (account_id)
    where  account_id = ${id} and external_id = ${name} and key = ${key}`;
  const of = `${id} ${name}`;
  const link = links.get(of) ?? (await linkOf(pool, { accountId: id, userId: row!.userId, week }));
  links.set(of, link);
  return { link, answer: { questionId: row!.questionId, ...value } };
}

export const save = (db: Db, { link, answer: given }: Given) =>
  saveAnswers(db as Pool, database.keys, { link, visit: 'a browser' }, [given]);

export async function give(acme: Company, name: string, key: string, value: AnswerValue): Promise<void> {
  expect(await save(pool, await answerOf(acme, name, key, value))).toBe('kept');
}

type Figures = Record<string, { value: number | null; answers: number | null }>;

/** Returns the published figures of a question, by the original names of the groups. */
export async function figuresOf({ id, groups }: Company, key = 'scale', of = week): Promise<Figures> {
  const rows = await pool<{ groupId: number; value: number | null; answers: number | null }[]>`
    select group_id as "groupId", value, answers from results join questions using (account_id, question_id)
    where  account_id = ${id} and key = ${key} and week = ${of}`;
  return byName(groups, rows, ({ value, answers }) => ({ value, answers }));
}

export async function ratesOf({ id, groups }: Company): Promise<Record<string, number | null>> {
  const rows = await pool<{ groupId: number; value: number | null }[]>`
    select group_id as "groupId", value from response_rates where account_id = ${id} and week = ${week}`;
  return byName(groups, rows, ({ value }) => value);
}

export async function commentsOf({ id, groups }: Company): Promise<Record<string, string[]>> {
  const rows = await pool<{ groupId: number; texts: string[] }[]>`
    select group_id as "groupId", array_agg(text order by text) as texts
    from   comment_groups join comments using (account_id, week, question_id, position)
    where  account_id = ${id} group by group_id`;
  return byName(groups, rows, ({ texts }) => texts);
}

function byName<R extends { groupId: number }, T>(
  groups: Map<string, number>,
  rows: Iterable<R>,
  valueOf: (row: R) => T,
): Record<string, T> {
  const names = new Map([...groups].map(([name, groupId]) => [groupId, name]));
  return Object.fromEntries([...rows].map((row) => [names.get(row.groupId), valueOf(row)]));
}

/** Runs work in a transaction and leaves it open. Returns a function that ends it. */
export async function openTransaction(
  work: (tx: Transaction) => Promise<unknown>,
): Promise<(how?: 'rollback') => Promise<void>> {
  const [ready, end] = [Promise.withResolvers<void>(), Promise.withResolvers<'rollback' | undefined>()];
  const done = pool
    .begin(async (tx) => {
      await work(tx);
      ready.resolve();
      if ((await end.promise) === 'rollback') throw new Error('rolled back');
    })
    .catch((error: unknown) => ready.reject(error));
  await ready.promise;
  return async (how) => {
    end.resolve(how);
    await done;
  };
}
