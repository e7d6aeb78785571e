// Closing a week: it is published once and completely, nothing is lost, and nothing is kept that reveals who answered what.
import { addWeeks, weekNamed } from '@soundings/contract/weeks.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { lockAccount } from '../accounts/accounts.ts';
import { Fault } from '../base/errors.ts';
import { openPool } from '../db/db.ts';
import { newLinks } from '../rounds/links.ts';
import { importLines, round, skip } from '../testing/surveys.ts';
import { untilWaiting } from '../testing/keep-open.ts';
import { tablesOf } from '../testing/tables.ts';
import { closeEndedWeeks, closeWeekNow } from './close-week.ts';
import {
  answerOf,
  asked,
  close,
  commentsOf,
  type Company,
  company,
  database,
  definitions,
  everyone,
  figuresOf,
  meanwhile,
  northerners,
  openCompany,
  openTransaction,
  over,
  pool,
  ratesOf,
  save,
  survey,
  W,
  week,
  useDatabase,
} from './close-week.fixture.ts';

useDatabase();

describe('closing a week', () => {
  test('publishes figures, response rates, KPI values and comments that did not exist before', async () => {
    const acme = await openCompany([
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
    const texts = northerners.map((one) => `${one} says`).toSorted();
    expect(comments).toEqual({ north: texts, top: texts }); // fewer than 10 in the other groups, and in the rest of top
    const kpis = await pool`
      select value from kpi_values where account_id = ${acme.id} and kpi_id = 'mood' and week = ${week}`;
    expect(kpis.map(({ value }) => value as number)).toEqual(Array(5).fill(0.75));
    const [mood] = await pool`select has_values from kpis where account_id = ${acme.id}`;
    expect(mood).toEqual({ has_values: true });
  });

  test('deletes who was asked, the answers, and the key that reveals whose an answer was', async () => {
    const acme = await openCompany();
    await close(acme);
    expect(await pool`select from answers where account_id = ${acme.id}`).toHaveLength(0);
    expect(await pool`select from assignments where account_id = ${acme.id}`).toHaveLength(0);
    expect(await pool`select from week_keys where account_id = ${acme.id}`).toHaveLength(0);
    expect(await database.keys.of(pool, acme.id, week)).toBeUndefined();
    const [row] = await pool`select closed_at from weeks where account_id = ${acme.id}`;
    expect(row).toEqual({ closed_at: expect.any(Date) });
    // What groups were asked stays. It isn't a secret, and the data interface reports it.
    expect(await pool`select from asked where account_id = ${acme.id}`).toHaveLength(5);
  });

  test('leaves other weeks and other accounts unchanged', async () => {
    const [acme, other] = [
      await openCompany([...survey(), ...survey('2024-W48').slice(4)]),
      await openCompany(),
    ];
    const rows = async ({ id }: Company) =>
      (await tablesOf(pool)).filter((row) => row.includes(`"account_id": ${id},`));
    const theirs = await rows(other);
    await close(acme);
    expect(await rows(other)).toEqual(theirs);
    const answers = await pool`select distinct week from answers where account_id = ${acme.id}`;
    expect([...answers]).toEqual([{ week: addWeeks(week, 1) }]);
    expect(await figuresOf(acme, 'scale', addWeeks(week, 1))).toEqual({});
  });

  test('returns an error if nothing was asked in the week, and stores nothing', async () => {
    const acme = await openCompany();
    await openCompany(survey('2024-W40')); // another account's
    const before = await tablesOf(pool);
    const error = await closeWeekNow(pool, database.keys, acme.id, weekNamed('2024-W40'), over).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(Fault);
    expect(error).toMatchObject({
      kind: 'not_found',
      message: 'No questions were asked in week 2024-W40. Choose another week.',
    });
    expect(await tablesOf(pool)).toEqual(before);
    await expect(closeWeekNow(pool, database.keys, 999_999, week, over)).rejects.toMatchObject({
      kind: 'not_found',
    });
  });

  test("by default closes the last week that has ended in the account's time zone", async () => {
    const acme = await company('America/Los_Angeles');
    await importLines(database, acme.id, [...survey('2024-W46'), ...survey().slice(4)], meanwhile);
    expect(await closeWeekNow(pool, database.keys, acme.id, undefined, over)).toMatchObject({
      week: addWeeks(week, -1),
    });
    const published = await closeWeekNow(pool, database.keys, acme.id, undefined, over + 8 * 3_600_000);
    expect(published).toEqual({ week, published: 5 });
  });
});

describe('a failure during closing', () => {
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
    const acme = await openCompany();
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

  test('because closing was cancelled leaves everything as it was, and closing again then works', async () => {
    const acme = await openCompany();
    const before = await tablesOf(pool);
    const release = await openTransaction((tx) => lockAccount(tx, acme.id));
    const closing = close(acme).catch((error: unknown) => error);
    const [backend] = await untilWaiting(pool);
    await pool`select pg_cancel_backend(${backend as number})`;
    expect(await closing).toMatchObject({ code: 'unavailable', cause: { code: '57014' } });
    await release();
    expect(await tablesOf(pool)).toEqual(before);
    expect(await close(acme)).toBe(5);
  });
});

describe('closing twice', () => {
  test('publishes once: the second attempt finds the week closed and stores nothing', async () => {
    const acme = await openCompany();
    expect(await close(acme)).toBe(5);
    const before = await tablesOf(pool);
    expect(await close(acme)).toBeUndefined();
    expect(await closeWeekNow(pool, database.keys, acme.id, week, over)).toEqual({ week, published: 0 });
    await closeEndedWeeks(pool, database.keys, over);
    expect((await tablesOf(pool)).filter((row) => row.includes(`"account_id": ${acme.id},`))).toEqual(
      before.filter((row) => row.includes(`"account_id": ${acme.id},`)),
    );
  });

  test('by several processes at the same time: one returns figures, the others undefined', async () => {
    const acme = await openCompany();
    const others = [1, 2].map(() => openPool(database.url, 1));
    onTestFinished(async () => void (await Promise.all(others.map((one) => one.end({ timeout: 5 })))));
    const release = await openTransaction((tx) => lockAccount(tx, acme.id));
    const closing = [pool, ...others].map((one) => close(acme, one));
    await untilWaiting(pool, 3); // one has computed its figures, two wait for it
    await release();
    const published = await Promise.all(closing);
    expect(published.toSorted()).toEqual([5, undefined, undefined]);
    expect((await figuresOf(acme))['top']).toEqual({ value: 0.75, answers: 18 });
  });
});

describe('an answer during closing', () => {
  const lines = survey().filter((line) => !JSON.stringify(line).includes('"person":"south5"'));
  const two = { value: 2 };

  /** Creates a week in which one person has not answered, and that person's answer. */
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
    const commit = await openTransaction((tx) => save(tx, given));
    const closing = close(acme);
    await untilWaiting(pool);
    await commit();
    await closing;
    expect((await figuresOf(acme))['top']?.answers).toBe(18);
  });

  test('whose transaction is rolled back: closing waits for it, and does not count it', async () => {
    const { acme, given } = await lastAnswer();
    const end = await openTransaction((tx) => save(tx, given));
    const closing = close(acme);
    await untilWaiting(pool);
    await end('rollback');
    await closing;
    expect((await figuresOf(acme))['top']?.answers).toBe(17);
  });

  test('that arrives while figures are computed is refused and not stored', async () => {
    const { acme, given } = await lastAnswer();
    const release = await openTransaction((tx) => lockAccount(tx, acme.id));
    const closing = close(acme);
    await untilWaiting(pool);
    const giving = save(pool, given);
    await untilWaiting(pool, 2);
    await release();
    expect(await giving).toBe('closed');
    await closing;
    expect((await figuresOf(acme))['top']?.answers).toBe(17);
    expect(await pool`select from answers where account_id = ${acme.id}`).toHaveLength(0);
  });

  test('that arrives while closing fails is stored, and counted when the week closes', async () => {
    const { acme, given } = await lastAnswer();
    const release = await openTransaction((tx) => lockAccount(tx, acme.id));
    const closing = close(acme).catch((error: unknown) => error);
    const [backend] = await untilWaiting(pool);
    const giving = save(pool, given);
    await untilWaiting(pool, 2);
    await pool`select pg_cancel_backend(${backend as number})`;
    await Promise.all([closing, giving, release()]);
    await close(acme);
    expect((await figuresOf(acme))['top']?.answers).toBe(18);
  });

  test('of each of many people is either counted or refused, and none is lost', async () => {
    const atTop = Object.fromEntries(everyone.map((one) => [one, ['top']])); // so that no one is left out
    for (let i = 0; i < 5; i++) {
      const acme = await openCompany([...definitions, round(W, 'top', ['scale'], atTop)]);
      const given = await Promise.all(everyone.map((one) => answerOf(acme, one, 'scale', two)));
      const [commit, crowd] = [
        await openTransaction((tx) => save(tx, given[0]!)),
        openPool(database.url, 10),
      ];
      onTestFinished(async () => void (await crowd.end({ timeout: 5 })));
      const giving = given.slice(1).map((one) => save(crowd, one));
      await giving[2 * i]; // some have answered by then
      const closing = close(acme);
      await commit();
      await closing;
      const counted = 1 + (await Promise.all(giving)).filter((one) => one === 'kept').length;
      const figures = await figuresOf(acme);
      expect(figures['top']?.answers).toBe(counted >= 5 ? counted : null);
      await crowd.end({ timeout: 5 }); // the next round opens as many connections
    }
  });
});

describe('a link that is being created while its week closes', () => {
  test('is not left: closing waits for it, and deletes it too', async () => {
    const acme = await openCompany();
    await answerOf(acme, 'south5', 'scale', { value: 2 }); // records who takes part
    const [{ userId }] = await pool<[{ userId: number }]>`
      select user_id as "userId" from participants where account_id = ${acme.id}`;
    const commit = await openTransaction((tx) => newLinks(tx, [{ accountId: acme.id, userId, week }]));
    const closing = close(acme);
    await untilWaiting(pool);
    await commit();
    await closing;
    expect(await pool`select from links where account_id = ${acme.id}`).toHaveLength(0);
  });
});
