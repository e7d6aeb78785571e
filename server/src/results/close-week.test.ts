// Closing a week: published once, whole, by whoever is first; nothing lost, nothing kept that tells who answered what.
import { addWeeks, type Week, weekNamed } from '@soundings/contract/weeks.ts';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { changeAccount, createAccount, lockAccount } from '../accounts/accounts.ts';
import { type SubmittedAnswer, saveAnswers } from '../answers/answering.ts';
import { Fault } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import { type Db, inTransaction, openPool, type Pool, type Transaction } from '../db/db.ts';
import { createUser } from '../people/users.ts';
import { lockSurvey } from '../rounds/rounds.ts';
import { pushOrganization } from '../sync/sync.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { noLimits, person, unit } from '../testing/organizations.ts';
import { answer, importLines, kpi, later, linkOf, question, round, skip } from '../testing/surveys.ts';
import { tablesOf } from '../testing/tables.ts';
import { closeEndedWeeks, closeWeek, closeWeekNow } from './close-week.ts';
import { deleteGroupResults } from './published-figures.ts';
import { showLiveWeeks } from './live-week.ts';

let database: TestDatabase;
let pool: Pool;
beforeAll(async () => {
  database = await openTestDatabase();
  pool = database.pool;
});
afterAll(() => database.close());

const W = '2024-W47';
const week = weekNamed(W) as Week;
/** A Wednesday in that week, and the moment when it is over in UTC. */
const meanwhile = Date.parse('2024-11-20T12:00:00Z');
const over = Date.parse('2024-11-25T00:00:00Z');

type Company = { id: number; groups: Map<string, number> };

// top > (north > (a, b), south): six people in each of a, b and south.
const home: Record<string, string> = Object.fromEntries(
  ['a', 'b', 'south'].flatMap((group) => Array.from({ length: 6 }, (_, i) => [`${group}${i}`, group])),
);
const units = [
  unit('top'),
  unit('north', { parent: 'top' }),
  unit('a', { parent: 'north' }),
  unit('b', { parent: 'north' }),
  unit('south', { parent: 'top' }),
];
const users = (homes = home) =>
  Object.entries(homes).map(([name, group]) => person(name, { accessInfo: { memberOf: [group] } }));

async function push(accountId: number, data: { users?: object[]; groups?: object[] }): Promise<void> {
  const run = { id: newId(), source: 'api' as const, tokenId: null, address: null, file: null };
  const body = { settings: { ...noLimits, validateOnly: false }, data };
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  await pushOrganization(pool, accountId, run, { bytes, gzip: false }, { deleteGroupResults });
}

async function company(timezone = 'UTC'): Promise<Company> {
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

const asked = Object.fromEntries(Object.entries(home).map(([name, group]) => [name, [group]]));
const everyone = Object.keys(home);
const northerners = everyone.filter((one) => home[one] !== 'south');
const definitions = [
  question('scale', 1),
  question('ten', 2),
  question('words', 7),
  kpi('mood', ['scale', 'ten']),
];

/** A week in which everybody is asked three questions, and has answered the first: 4, with a comment. */
const survey = (name = W): object[] => [
  ...definitions,
  round(name, 'top', ['scale', 'ten', 'words'], asked),
  ...everyone.map((one) => answer(name, 'top', one, 'scale', 4, `${one} says`)),
];

/** A company with that week, open. */
async function asking(
  lines: object[] = survey(),
  publication: 'weekly' | 'live' = 'weekly',
): Promise<Company> {
  const acme = await company();
  await publish(acme, publication);
  await importLines(database, acme.id, lines, meanwhile);
  return acme;
}

const publish = ({ id }: Company, publication: 'weekly' | 'live') =>
  inTransaction(pool, (tx) => changeAccount(tx, id, { publication }));

const close = ({ id }: Company, of = pool) =>
  inTransaction(of, (tx) => closeWeek(tx, database.keys, id, week));

type Said = Omit<SubmittedAnswer, 'questionId'>;
type Given = { link: string; answer: SubmittedAnswer };

/** Everyone answers by one link, in one browser: by another, nothing that was given before could be changed. */
const links = new Map<string, string>();

/** What a person answers in the open week, by a link of the person's own. */
async function answerOf({ id }: Company, name: string, key: string, said: Said): Promise<Given> {
  const [row] = await pool<{ userId: number; questionId: number }[]>`
    select user_id as "userId", question_id as "questionId" from users join questions using (account_id)
    where  account_id = ${id} and external_id = ${name} and key = ${key}`;
  const of = `${id} ${name}`;
  const link = links.get(of) ?? (await linkOf(pool, { accountId: id, userId: row!.userId, week }));
  links.set(of, link);
  return { link, answer: { questionId: row!.questionId, ...said } };
}

const giveOf = (db: Db, { link, answer: given }: Given) =>
  saveAnswers(db as Pool, database.keys, { link, visit: 'a browser' }, [given]);

async function give(acme: Company, name: string, key: string, said: Said): Promise<void> {
  expect(await giveOf(pool, await answerOf(acme, name, key, said))).toBe('kept');
}

type Figures = Record<string, { value: number | null; answers: number | null }>;

/** The published figures of a question, by the names that groups had at first. */
async function figuresOf({ id, groups }: Company, key = 'scale', of = week): Promise<Figures> {
  const rows = await pool<{ groupId: number; value: number | null; answers: number | null }[]>`
    select group_id as "groupId", value, answers from results join questions using (account_id, question_id)
    where  account_id = ${id} and key = ${key} and week = ${of}`;
  return byName(groups, rows, ({ value, answers }) => ({ value, answers }));
}

async function ratesOf({ id, groups }: Company): Promise<Record<string, number | null>> {
  const rows = await pool<{ groupId: number; value: number | null }[]>`
    select group_id as "groupId", value from response_rates where account_id = ${id} and week = ${week}`;
  return byName(groups, rows, ({ value }) => value);
}

async function commentsOf({ id, groups }: Company): Promise<Record<string, string[]>> {
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

/** Does something in a transaction and leaves it open until it is told how to end. */
async function held(
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

/** The backends that wait for a lock, once there are as many. */
async function waiting(count = 1): Promise<number[]> {
  for (const deadline = Date.now() + 20_000; ;) {
    const rows = await pool<{ pid: number }[]>`
      select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    if (rows.length === count) return rows.map(({ pid }) => pid);
    if (Date.now() > deadline) throw new Error(`${rows.length} wait for a lock, not ${count}`);
  }
}

describe('closing a week', () => {
  test('publishes figures, response rates, KPI values and comments, none of which were there before', async () => {
    const acme = await asking([
      ...survey(),
      ...everyone.slice(0, 9).map((one) => skip(W, 'top', one, 'ten')),
    ]);
    expect([await figuresOf(acme), await ratesOf(acme), await commentsOf(acme)]).toEqual([{}, {}, {}]);
    expect(await close(acme)).toBe(5);
    const six = { value: 0.75, answers: 6 };
    expect(await figuresOf(acme)).toEqual({
      top: { value: 0.75, answers: 18 },
      north: { value: 0.75, answers: 12 },
      a: six,
      b: six,
      south: six,
    });
    expect(new Set(Object.values(await figuresOf(acme, 'ten')).map(({ answers }) => answers))).toEqual(
      new Set([null]),
    );
    const third = 1 / 3;
    expect(await ratesOf(acme)).toEqual({
      top: 27 / 54,
      north: 21 / 36,
      a: 12 / 18,
      b: 9 / 18,
      south: third,
    });
    const comments = await commentsOf(acme);
    const said = northerners.map((one) => `${one} says`).toSorted();
    expect(comments).toEqual({ north: said, top: said }); // of fewer than 10 in the others, and in the rest of top
    const kpis = await pool`
      select value from kpi_values where account_id = ${acme.id} and kpi_id = 'mood' and week = ${week}`;
    expect(kpis.map(({ value }) => value as number)).toEqual(Array(5).fill(0.75));
    const [mood] = await pool`select has_values from kpis where account_id = ${acme.id}`;
    expect(mood).toEqual({ has_values: true });
  });

  test('forgets who was asked, what was answered, and the key that tells whose an answer was', async () => {
    const acme = await asking();
    await close(acme);
    expect(await pool`select from answers where account_id = ${acme.id}`).toHaveLength(0);
    expect(await pool`select from assignments where account_id = ${acme.id}`).toHaveLength(0);
    expect(await pool`select from week_keys where account_id = ${acme.id}`).toHaveLength(0);
    expect(await database.keys.of(pool, acme.id, week)).toBeUndefined();
    const [row] = await pool`select closed_at from weeks where account_id = ${acme.id}`;
    expect(row).toEqual({ closed_at: expect.any(Date) });
    // What was asked of groups stays: it is no secret, and the data interface tells it.
    expect(await pool`select from asked where account_id = ${acme.id}`).toHaveLength(5);
  });

  test('leaves other weeks and other accounts alone', async () => {
    const [acme, other] = [await asking([...survey(), ...survey('2024-W48').slice(4)]), await asking()];
    const rows = async ({ id }: Company) =>
      (await tablesOf(pool)).filter((row) => row.includes(`"account_id": ${id},`));
    const theirs = await rows(other);
    await close(acme);
    expect(await rows(other)).toEqual(theirs);
    const answers = await pool`select distinct week from answers where account_id = ${acme.id}`;
    expect([...answers]).toEqual([{ week: addWeeks(week, 1) }]);
    expect(await figuresOf(acme, 'scale', addWeeks(week, 1))).toEqual({});
  });

  test('a week in which nothing was asked: a fault that says so, and nothing is written', async () => {
    const acme = await asking();
    await asking(survey('2024-W40')); // another account's
    const before = await tablesOf(pool);
    const error = await closeWeekNow(pool, database.keys, acme.id, weekNamed('2024-W40'), over).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(Fault);
    expect(error).toMatchObject({
      kind: 'not_found',
      message: 'No questions were asked in week 2024-W40.',
    });
    expect(await tablesOf(pool)).toEqual(before);
    await expect(closeWeekNow(pool, database.keys, 999_999, week, over)).rejects.toMatchObject({
      kind: 'not_found',
    });
  });

  test('without a week: the last one that has ended in the time zone of the account', async () => {
    const acme = await company('America/Los_Angeles');
    await importLines(database, acme.id, [...survey('2024-W46'), ...survey().slice(4)], meanwhile);
    expect(await closeWeekNow(pool, database.keys, acme.id, undefined, over)).toMatchObject({
      week: addWeeks(week, -1),
    });
    const published = await closeWeekNow(pool, database.keys, acme.id, undefined, over + 8 * 3_600_000);
    expect(published).toEqual({ week, published: 5 });
  });
});

describe('a failure in the middle', () => {
  test.each([
    ['insert', 'results'],
    ['insert', 'response_rates'],
    ['insert', 'kpi_values'],
    ['update', 'kpis'],
    ['insert', 'comments'],
    ['insert', 'comment_groups'],
    ['delete', 'answers'],
    ['delete', 'assignments'],
    ['delete', 'week_keys'],
    ['update', 'answer_keys'],
    ['update', 'weeks'],
  ])('at the %s of %s leaves everything as it was, and closing again then works', async (verb, table) => {
    const acme = await asking();
    await pool.unsafe(`
      create function fail() returns trigger language plpgsql as $$ begin raise 'broken'; end $$;
      create trigger fail after ${verb} on ${table} execute function fail();`);
    const drop = () => pool.unsafe('drop function if exists fail cascade');
    onTestFinished(async () => void (await drop()));
    const before = await tablesOf(pool);
    await expect(closeWeekNow(pool, database.keys, acme.id, week, over)).rejects.toThrow('broken');
    expect(await tablesOf(pool)).toEqual(before);
    await drop();
    expect(await closeWeekNow(pool, database.keys, acme.id, week, over)).toEqual({ week, published: 5 });
    expect((await figuresOf(acme))['top']).toEqual({ value: 0.75, answers: 18 });
  });

  test('a closing that is cancelled leaves everything as it was, and closing again then works', async () => {
    const acme = await asking();
    const before = await tablesOf(pool);
    const release = await held((tx) => lockAccount(tx, acme.id));
    const closing = close(acme).catch((error: unknown) => error);
    const [backend] = await waiting();
    await pool`select pg_cancel_backend(${backend as number})`;
    expect(await closing).toMatchObject({ code: 'unavailable', cause: { code: '57014' } });
    await release();
    expect(await tablesOf(pool)).toEqual(before);
    expect(await close(acme)).toBe(5);
  });
});

describe('closing twice', () => {
  test('publishes once: the second finds it closed, and writes nothing', async () => {
    const acme = await asking();
    expect(await close(acme)).toBe(5);
    const before = await tablesOf(pool);
    expect(await close(acme)).toBeUndefined();
    expect(await closeWeekNow(pool, database.keys, acme.id, week, over)).toEqual({ week, published: 0 });
    await closeEndedWeeks(pool, database.keys, over);
    expect((await tablesOf(pool)).filter((row) => row.includes(`"account_id": ${acme.id},`))).toEqual(
      before.filter((row) => row.includes(`"account_id": ${acme.id},`)),
    );
  });

  test('by several processes at the same moment: one returns figures, the others undefined', async () => {
    const acme = await asking();
    const others = [1, 2].map(() => openPool(database.url, 1));
    onTestFinished(async () => void (await Promise.all(others.map((one) => one.end({ timeout: 5 })))));
    const release = await held((tx) => lockAccount(tx, acme.id));
    const closing = [pool, ...others].map((one) => close(acme, one));
    await waiting(3); // one with its figures made, two for that one
    await release();
    const published = await Promise.all(closing);
    expect(published.toSorted()).toEqual([5, undefined, undefined]);
    expect((await figuresOf(acme))['top']).toEqual({ value: 0.75, answers: 18 });
  });
});

describe('an answer at the moment of closing', () => {
  const lines = survey().filter((line) => !JSON.stringify(line).includes('"person":"south5"'));
  const two = { value: 2 };

  /** A week in which one person has not answered, who now does. */
  async function lastAnswer() {
    const acme = await company();
    await importLines(
      database,
      acme.id,
      [...definitions, round(W, 'top', ['scale'], asked), ...lines.slice(4)],
      meanwhile,
    );
    return { acme, given: await answerOf(acme, 'south5', 'scale', two) };
  }

  test('that is being given: closing waits for it, and counts it', async () => {
    const { acme, given } = await lastAnswer();
    const commit = await held((tx) => giveOf(tx, given));
    const closing = close(acme);
    await waiting();
    await commit();
    await closing;
    expect((await figuresOf(acme))['top']?.answers).toBe(18);
  });

  test('that is taken back: closing waits for it, and does not count it', async () => {
    const { acme, given } = await lastAnswer();
    const end = await held((tx) => giveOf(tx, given));
    const closing = close(acme);
    await waiting();
    await end('rollback');
    await closing;
    expect((await figuresOf(acme))['top']?.answers).toBe(17);
  });

  test('that comes while figures are made is refused, and kept nowhere', async () => {
    const { acme, given } = await lastAnswer();
    const release = await held((tx) => lockAccount(tx, acme.id));
    const closing = close(acme);
    await waiting();
    const giving = giveOf(pool, given);
    await waiting(2);
    await release();
    expect(await giving).toBe('closed');
    await closing;
    expect((await figuresOf(acme))['top']?.answers).toBe(17);
    expect(await pool`select from answers where account_id = ${acme.id}`).toHaveLength(0);
  });

  test('that comes while a closing fails is kept, and counted when it is closed', async () => {
    const { acme, given } = await lastAnswer();
    const release = await held((tx) => lockAccount(tx, acme.id));
    const closing = close(acme).catch((error: unknown) => error);
    const [backend] = await waiting();
    const giving = giveOf(pool, given);
    await waiting(2);
    await pool`select pg_cancel_backend(${backend as number})`;
    await Promise.all([closing, giving, release()]);
    await close(acme);
    expect((await figuresOf(acme))['top']?.answers).toBe(18);
  });

  test('of many: each is counted or refused, none is lost', async () => {
    const atTop = Object.fromEntries(everyone.map((one) => [one, ['top']])); // so that nobody is left out
    for (let i = 0; i < 5; i++) {
      const acme = await asking([...definitions, round(W, 'top', ['scale'], atTop)]);
      const given = await Promise.all(everyone.map((one) => answerOf(acme, one, 'scale', two)));
      const [commit, crowd] = [await held((tx) => giveOf(tx, given[0]!)), openPool(database.url, 10)];
      onTestFinished(async () => void (await crowd.end({ timeout: 5 })));
      const giving = given.slice(1).map((one) => giveOf(crowd, one));
      await giving[2 * i]; // some have been given by then
      const closing = close(acme);
      await commit();
      await closing;
      const counted = 1 + (await Promise.all(giving)).filter((one) => one === 'kept').length;
      const figures = await figuresOf(acme);
      expect(figures['top']?.answers).toBe(counted >= 5 ? counted : null);
    }
  });
});

describe('answers in an open week', () => {
  const only = [...definitions, round(W, 'top', ['scale', 'ten', 'words'], asked)];

  test('one that is changed counts with its last value and comment, once', async () => {
    const acme = await asking(only);
    for (const one of everyone) await give(acme, one, 'scale', { value: 4, comment: `${one} says` });
    for (const one of everyone) await give(acme, one, 'scale', { value: 1, comment: `${one} again` });
    await give(acme, 'a0', 'scale', { value: 5 });
    await close(acme);
    expect((await figuresOf(acme))['top']).toEqual({ value: 1 / 18, answers: 18 });
    const said = northerners.filter((one) => one !== 'a0').map((one) => `${one} again`);
    expect((await commentsOf(acme))['top']).toEqual(said.toSorted());
  });

  test('a skip counts in the response rate and in nothing else, also where an answer was before', async () => {
    const acme = await asking(only);
    for (const one of everyone) await give(acme, one, 'scale', { value: 4, comment: `${one} says` });
    await give(acme, 'a0', 'scale', { skipped: true });
    await give(acme, 'b0', 'ten', { skipped: true });
    await close(acme);
    const figures = await figuresOf(acme);
    expect([figures['top'], figures['a']]).toEqual([
      { value: 0.75, answers: 17 },
      { value: 0.75, answers: 5 },
    ]);
    expect((await ratesOf(acme))['top']).toBe(19 / 54);
    expect((await commentsOf(acme))['top']).not.toContain('a0 says');
  });

  test('a skip that is answered after all is an answer', async () => {
    const acme = await asking(only);
    for (const one of everyone) await give(acme, one, 'scale', { skipped: true });
    for (const one of everyone) await give(acme, one, 'scale', { value: 5 });
    await close(acme);
    expect((await figuresOf(acme))['top']).toEqual({ value: 1, answers: 18 });
    expect((await ratesOf(acme))['top']).toBe(18 / 54);
  });

  test('one that came from a file cannot be changed by a link; one by a link is not shown or changed by another', async () => {
    const acme = await asking([...only, ...everyone.map((one) => answer(W, 'top', one, 'scale', 4))]);
    const refused = { kind: 'invalid', code: 'already answered' };
    await expect(give(acme, 'a0', 'scale', { value: 1 })).rejects.toMatchObject(refused);
    await give(acme, 'a0', 'ten', { value: 10 });
    links.delete(`${acme.id} a0`);
    await expect(give(acme, 'a0', 'ten', { value: 1 })).rejects.toMatchObject(refused);
    await close(acme);
    expect((await figuresOf(acme))['top']).toEqual({ value: 0.75, answers: 18 });
  });
});

describe('the threshold', () => {
  const four = everyone.filter((one) => !['a4', 'a5'].includes(one));
  const lines = (name: string) => [
    ...definitions,
    round(name, 'top', ['scale'], asked),
    ...four.map((one) => answer(name, 'top', one, 'scale', 4)),
  ];

  test.each([
    ['lowered', 5, 3],
    ['raised', 3, 5],
  ])('that is %s while a week is open holds for weeks that are opened later', async (_, first, then) => {
    const acme = await company();
    const set = (threshold: number) => inTransaction(pool, (tx) => changeAccount(tx, acme.id, { threshold }));
    await set(first);
    await importLines(database, acme.id, lines(W), meanwhile);
    await set(then);
    // One more round makes no new week of it.
    await importLines(database, acme.id, [round(W, 'south', ['ten'], { south0: ['south'] })], meanwhile);
    await importLines(database, acme.id, lines('2024-W48'), meanwhile);
    await closeEndedWeeks(pool, database.keys, later);
    const shown = async (of: Week) => (await figuresOf(acme, 'scale', of))['a']?.answers;
    expect([await shown(week), await shown(addWeeks(week, 1))]).toEqual(
      [first, then].map((threshold) => (threshold > 4 ? null : 4)),
    );
  });

  test('that is changed changes nothing that was published', async () => {
    const acme = await asking();
    await close(acme);
    const before = [await figuresOf(acme), await ratesOf(acme), await commentsOf(acme)];
    await inTransaction(pool, (tx) => changeAccount(tx, acme.id, { threshold: 100 }));
    await closeEndedWeeks(pool, database.keys, later);
    expect([await figuresOf(acme), await ratesOf(acme), await commentsOf(acme)]).toEqual(before);
  });
});

describe('weeks that ended while nothing ran', () => {
  test('are all closed, of all accounts; the one that goes on stays open', async () => {
    const names = ['2024-W44', '2024-W45', '2024-W46', W];
    const lines = names.flatMap((name, i) => survey(name).slice(i > 0 ? 4 : 0));
    const companies = await Promise.all([company(), company()]);
    for (const { id } of companies)
      await importLines(database, id, lines, Date.parse('2024-10-01T00:00:00Z'));
    await closeEndedWeeks(pool, database.keys, over - 1);
    for (const acme of companies) {
      const counts = await Promise.all(
        [3, 2, 1, 0].map(
          async (back) => (await figuresOf(acme, 'scale', addWeeks(week, -back)))['top']?.answers,
        ),
      );
      expect(counts).toEqual([18, 18, 18, undefined]);
      const open = await pool`select week from weeks where account_id = ${acme.id} and closed_at is null`;
      expect([...open]).toEqual([{ week }]);
    }
  });

  test('one that cannot be closed holds up no other, and is told', async () => {
    const [broken, acme] = [await asking(), await asking()];
    await pool.unsafe(`
      create function fail() returns trigger language plpgsql as $$ begin raise 'broken'; end $$;
      create trigger fail before insert on response_rates for each row when (new.account_id = ${broken.id})
      execute function fail();`);
    onTestFinished(async () => void (await pool.unsafe('drop function fail cascade')));
    await expect(closeEndedWeeks(pool, database.keys, over)).rejects.toThrow('broken');
    expect((await figuresOf(acme))['top']?.answers).toBe(18);
    expect(await figuresOf(broken)).toEqual({}); // nor half of it
  });
});

describe('while something is imported into the account', () => {
  test('its weeks are neither closed nor shown by the jobs, which do not wait either; afterwards they are', async () => {
    const acme = await asking(survey(), 'live');
    const importing = await held((tx) => lockSurvey(tx, acme.id));
    await showLiveWeeks(pool, database.keys);
    await closeEndedWeeks(pool, database.keys, over);
    expect(await figuresOf(acme)).toEqual({});
    await importing();
    await showLiveWeeks(pool, database.keys);
    expect((await figuresOf(acme))['top']?.answers).toBe(18);
    await closeEndedWeeks(pool, database.keys, over);
    expect(await ratesOf(acme)).not.toEqual({});
  });
});

describe('a live week', () => {
  test('shows nothing but figures, of what has been counted: that cannot be changed any more, and closing changes none', async () => {
    const acme = await asking(survey(), 'live');
    const state = () => pool`
      select a.version, w.xmin::text from accounts a join weeks w using (account_id) where account_id = ${acme.id}`;
    await showLiveWeeks(pool, database.keys);
    const [first, figures] = [await state(), await figuresOf(acme)];
    expect(figures['top']).toEqual({ value: 0.75, answers: 18 });
    expect([await ratesOf(acme), await commentsOf(acme)]).toEqual([{}, {}]);
    const changed = await answerOf(acme, 'a0', 'scale', { value: 1 });
    await expect(giveOf(pool, changed)).rejects.toMatchObject({ code: 'already answered' });
    const another = await answerOf(acme, 'a0', 'ten', { value: 7 });
    const answering = await held((tx) => giveOf(tx, another));
    await showLiveWeeks(pool, database.keys); // and waits for nobody
    await answering();
    await showLiveWeeks(pool, database.keys);
    expect([await state(), await figuresOf(acme)]).toEqual([first, figures]);
    await close(acme);
    expect(await figuresOf(acme)).toEqual(figures);
    expect(await ratesOf(acme)).not.toEqual({});
    expect(await commentsOf(acme)).not.toEqual({});
  });

  test('changes by batches of at least the threshold, and takes the rest when it closes', async () => {
    const acme = await asking(survey(), 'live');
    const answersTo = async () =>
      Object.fromEntries(
        Object.entries(await figuresOf(acme, 'ten')).map(([group, { answers }]) => [group, answers]),
      );
    const giveAll = async (...people: string[]) => {
      for (const name of people) {
        // oxlint-disable-next-line no-await-in-loop -- few
        await give(acme, name, 'ten', { value: 7 });
      }
      await showLiveWeeks(pool, database.keys);
      return answersTo();
    };
    const none = { top: null, north: null, a: null, b: null, south: null };
    expect(await giveAll('a0', 'a1', 'a2', 'a3')).toEqual(none);
    expect(await giveAll('a4', 'b0')).toEqual({ ...none, top: 5, north: 5, a: 5 });
    expect(await giveAll('a5', 'b1', 'b2', 'b3')).toEqual({ ...none, top: 5, north: 5, a: 5 });
    await close(acme);
    // Those who were left, a5 and four of b, count together in north.
    expect(await answersTo()).toEqual({ ...none, top: 10, north: 10, a: 5 });
  });

  test('is decided when it opens: a change of publication in mid-week changes no open week', async () => {
    const [weekly, live] = [await asking(), await asking(survey(), 'live')];
    await publish(weekly, 'live');
    await publish(live, 'weekly');
    await showLiveWeeks(pool, database.keys);
    expect(await figuresOf(weekly)).toEqual({});
    expect((await figuresOf(live))['top']).toEqual({ value: 0.75, answers: 18 });
  });
});

describe('groups that are removed', () => {
  test('while the week is open: no figure of theirs appears, the groups above count their people', async () => {
    const acme = await asking();
    await push(acme.id, {
      groups: units.filter(({ externalId }) => externalId !== 'a'),
      users: users({ b0: 'b' }),
    });
    await close(acme);
    expect(await figuresOf(acme)).toEqual({
      top: { value: 0.75, answers: 18 },
      north: { value: 0.75, answers: 12 },
      b: { value: 0.75, answers: 6 },
      south: { value: 0.75, answers: 6 },
    });
    expect(Object.keys(await ratesOf(acme)).toSorted()).toEqual(['b', 'north', 'south', 'top']);
    const removed = acme.groups.get('a') as number;
    for (const table of ['results', 'response_rates', 'kpi_values', 'comment_groups', 'asked']) {
      const rows = await pool`
        select from ${pool(table)} where account_id = ${acme.id} and group_id = ${removed}`;
      expect({ table, rows: rows.length }).toEqual({ table, rows: 0 });
    }
  });

  test('the asked group itself, while the week is open: those above it count its people', async () => {
    const inNorth = Object.fromEntries(Object.entries(asked).filter(([, [group]]) => group !== 'south'));
    const acme = await asking([
      ...definitions,
      round(W, 'north', ['scale'], inNorth),
      ...Object.keys(inNorth).map((one) => answer(W, 'north', one, 'scale', 4)),
    ]);
    await push(acme.id, { groups: [unit('top')], users: [] });
    await close(acme);
    expect(await figuresOf(acme)).toEqual({ top: { value: 0.75, answers: 12 } });
  });

  test('while it is being closed: whoever comes first, none of their figures is left', async () => {
    const acme = await asking();
    const removed = acme.groups.get('a') as number;
    const removal = await held(async (tx) => {
      await lockAccount(tx, acme.id);
      await deleteGroupResults(tx, acme.id, [removed]);
      await tx`delete from memberships where account_id = ${acme.id} and group_id = ${removed}`;
      await tx`delete from groups where account_id = ${acme.id} and group_id = ${removed}`;
    });
    const closing = close(acme);
    await waiting(); // its figures are made, with the group
    await removal();
    await closing;
    expect(Object.keys(await figuresOf(acme)).toSorted()).toEqual(['b', 'north', 'south', 'top']);
    expect((await figuresOf(acme))['north']?.answers).toBe(12);
    const left = await pool`
      select from comment_groups where account_id = ${acme.id} and group_id = ${removed}`;
    expect(left).toHaveLength(0);
  });

  test('after it has closed: their figures go, and comments that are shown nowhere else; the others stay', async () => {
    // Two companies in one account: of the second nothing is left above.
    const acme = await company();
    const more = [...units, unit('island')];
    const islanders = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`i${i}`, 'island']));
    await push(acme.id, { groups: more, users: users({ ...home, ...islanders }) });
    const lines = [
      ...survey(),
      round(
        W,
        'island',
        ['scale'],
        Object.fromEntries(Object.keys(islanders).map((one) => [one, ['island']])),
      ),
      ...Object.keys(islanders).map((one) => answer(W, 'island', one, 'scale', 2, `${one} says`)),
    ];
    await importLines(database, acme.id, lines, meanwhile);
    await close(acme);
    const before = await figuresOf(acme);
    const said = async () =>
      (
        await pool<{ text: string }[]>`select text from comments where account_id = ${acme.id} order by text`
      ).map(({ text }) => text);
    expect(await said()).toHaveLength(22);
    const [{ id: island } = { id: 0 }] = await pool<{ id: number }[]>`
      select group_id as id from groups where account_id = ${acme.id} and name = 'island'`;
    await push(acme.id, { groups: ['top', 'a', 'b', 'south'].map((one) => unit(one)), users: [] });
    expect(await said()).toEqual(northerners.map((one) => `${one} says`).toSorted()); // top still shows them
    const { north, ...others } = before;
    expect(north?.answers).toBe(12);
    delete others['undefined']; // the island
    expect(await figuresOf(acme)).toEqual(others);
    expect(Object.keys(await commentsOf(acme))).toEqual(['top']);
    for (const table of ['results', 'response_rates', 'kpi_values', 'comment_groups', 'asked']) {
      const rows = await pool`
        select from ${pool(table)}
        where  account_id = ${acme.id} and group_id in ${pool([island, acme.groups.get('north') as number])}`;
      expect({ table, rows: rows.length }).toEqual({ table, rows: 0 });
    }
  });
});

describe('people who are removed or moved while the week is open', () => {
  test('change no figure, rate or comment', async () => {
    const lines = survey().filter((line) => !JSON.stringify(line).includes('"person":"a0","question"'));
    const [still, moved] = [await asking(lines), await asking(lines)];
    for (const acme of [still, moved]) await give(acme, 'a0', 'scale', { value: 4, comment: 'a0 says' });
    const homes = { ...home, a0: 'south', a1: 'b', south0: 'a', new0: 'a', new1: 'a' };
    const { b0, b1, ...rest } = homes as Record<string, string>;
    expect([b0, b1]).toEqual(['b', 'b']); // these are removed
    await push(moved.id, { groups: units, users: users(rest) });
    for (const acme of [still, moved]) {
      // Who has been removed or moved may still change the answer, until the week has closed.
      await give(acme, 'a0', 'scale', { value: 1 });
      await close(acme);
    }
    expect(await figuresOf(moved)).toEqual(await figuresOf(still));
    expect(await ratesOf(moved)).toEqual(await ratesOf(still));
    expect(await commentsOf(moved)).toEqual(await commentsOf(still));
    expect((await figuresOf(moved))['b']?.answers).toBe(6);
  });

  test('a group that moves while the week is open changes none either', async () => {
    const [still, moved] = [await asking(), await asking()];
    await push(moved.id, {
      groups: units.map((one) => (one.externalId === 'b' ? unit('b', { parent: 'south' }) : one)),
    });
    await Promise.all([close(still), close(moved)]);
    expect(await figuresOf(moved)).toEqual(await figuresOf(still));
    expect(await ratesOf(moved)).toEqual(await ratesOf(still));
  });
});
