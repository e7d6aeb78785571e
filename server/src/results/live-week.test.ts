// What changes while a week is open, and what closing makes of it: answers, thresholds, live results, removed groups and people.
import { addWeeks, type Week } from '@soundings/contract/weeks.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { changeAccount, lockAccount } from '../accounts/accounts.ts';
import { inTransaction, openPool } from '../db/db.ts';
import { lockSurvey } from '../rounds/rounds.sql.ts';
import { unit } from '../testing/organizations.ts';
import { untilWaiting } from '../testing/keep-open.ts';
import { answerLine, importLines, later, round } from '../testing/surveys.ts';
import { closeEndedWeeks } from './close-week.ts';
import { deleteGroupResults } from './published-figures.ts';
import { showLiveWeeks } from './live-week.ts';
import {
  answerOf,
  asked,
  close,
  commentsOf,
  company,
  database,
  definitions,
  everyone,
  figuresOf,
  give,
  home,
  links,
  meanwhile,
  northerners,
  openCompany,
  openTransaction,
  over,
  pool,
  push,
  ratesOf,
  save,
  setPublication,
  survey,
  units,
  users,
  W,
  week,
  useDatabase,
} from './close-week.fixture.ts';

useDatabase();

describe('answers in an open week', () => {
  const only = [...definitions, round(W, 'top', ['scale', 'ten', 'words'], asked)];

  test('that is changed counts once, with its last value and comment', async () => {
    const acme = await openCompany(only);
    for (const one of everyone) await give(acme, one, 'scale', { value: 4, comment: `${one} says` });
    for (const one of everyone) await give(acme, one, 'scale', { value: 1, comment: `${one} again` });
    await give(acme, 'a0', 'scale', { value: 5 });
    await close(acme);
    expect((await figuresOf(acme))['top']).toEqual({ value: 1 / 18, answers: 18 });
    const texts = northerners.filter((one) => one !== 'a0').map((one) => `${one} again`);
    expect((await commentsOf(acme))['top']).toEqual(texts.toSorted());
  });

  test('that is a skip counts only in the response rate, even if it replaces an answer', async () => {
    const acme = await openCompany(only);
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

  test('that replaces a skip counts as an answer', async () => {
    const acme = await openCompany(only);
    for (const one of everyone) await give(acme, one, 'scale', { skipped: true });
    for (const one of everyone) await give(acme, one, 'scale', { value: 5 });
    await close(acme);
    expect((await figuresOf(acme))['top']).toEqual({ value: 1, answers: 18 });
    expect((await ratesOf(acme))['top']).toBe(18 / 54);
  });

  test("that came from a file can't be changed with a link, and one given with a link is neither shown nor changed with another", async () => {
    const acme = await openCompany([
      ...only,
      ...everyone.map((one) => answerLine(W, 'top', one, 'scale', 4)),
    ]);
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
    ...four.map((one) => answerLine(name, 'top', one, 'scale', 4)),
  ];

  test.each([
    ['lowered', 5, 3],
    ['raised', 3, 5],
  ])('that is %s during a week applies to weeks that open later', async (_, first, then) => {
    const acme = await company();
    const set = (threshold: number) => inTransaction(pool, (tx) => changeAccount(tx, acme.id, { threshold }));
    await set(first);
    await importLines(database, acme.id, lines(W), meanwhile);
    await set(then);
    // Another round does not reopen the week.
    await importLines(database, acme.id, [round(W, 'south', ['ten'], { south0: ['south'] })], meanwhile);
    await importLines(database, acme.id, lines('2024-W48'), meanwhile);
    await closeEndedWeeks(pool, database.keys, later);
    const shown = async (of: Week) => (await figuresOf(acme, 'scale', of))['a']?.answers;
    expect([await shown(week), await shown(addWeeks(week, 1))]).toEqual(
      [first, then].map((threshold) => (threshold > 4 ? null : 4)),
    );
  });

  test('can change without changing anything published', async () => {
    const acme = await openCompany();
    await close(acme);
    const before = [await figuresOf(acme), await ratesOf(acme), await commentsOf(acme)];
    await inTransaction(pool, (tx) => changeAccount(tx, acme.id, { threshold: 100 }));
    await closeEndedWeeks(pool, database.keys, later);
    expect([await figuresOf(acme), await ratesOf(acme), await commentsOf(acme)]).toEqual(before);
  });
});

describe('weeks that ended while the service was down', () => {
  test('are all closed, in all accounts, and the current one stays open', async () => {
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

  test("one that can't be closed delays no other, and is logged", async () => {
    const [broken, acme] = [await openCompany(), await openCompany()];
    await pool.unsafe(`
      create function fail() returns trigger language plpgsql as $$ begin raise 'broken'; end $$;
      create trigger fail before insert on response_rates for each row when (new.account_id = ${broken.id})
      execute function fail();`);
    onTestFinished(async () => void (await pool.unsafe('drop function fail cascade')));
    await expect(closeEndedWeeks(pool, database.keys, over)).rejects.toThrow('broken');
    expect((await figuresOf(acme))['top']?.answers).toBe(18);
    expect(await figuresOf(broken)).toEqual({}); // not even half of it
  });
});

describe('during an import into the account', () => {
  test('its weeks are neither closed nor shown live by the jobs, which do not wait, and afterwards they are', async () => {
    const acme = await openCompany(survey(), 'live');
    const importing = await openTransaction((tx) => lockSurvey(tx, acme.id));
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
  test('that others keep locked for too long is left to the next call, which is no failure, and the others are shown', async () => {
    const [locked, other] = [await openCompany(survey(), 'live'), await openCompany(survey(), 'live')];
    const release = await openTransaction(
      (tx) => tx`select from weeks where account_id = ${locked.id} for update`,
    );
    const impatient = openPool(database.url, 2, { settings: { lock_timeout: '100ms' } });
    onTestFinished(() => impatient.end());
    await showLiveWeeks(impatient, database.keys);
    expect([await figuresOf(locked), (await figuresOf(other))['top']?.answers]).toEqual([{}, 18]);
    await release();
    await showLiveWeeks(impatient, database.keys);
    expect((await figuresOf(locked))['top']?.answers).toBe(18);
  });

  test("shows only figures of counted answers, which can't be changed any more, and closing changes none", async () => {
    const acme = await openCompany(survey(), 'live');
    const state = () => pool`
      select a.version, w.xmin::text from accounts a join weeks w using (account_id) where account_id = ${acme.id}`;
    await showLiveWeeks(pool, database.keys);
    const [first, figures] = [await state(), await figuresOf(acme)];
    expect(figures['top']).toEqual({ value: 0.75, answers: 18 });
    expect([await ratesOf(acme), await commentsOf(acme)]).toEqual([{}, {}]);
    const changed = await answerOf(acme, 'a0', 'scale', { value: 1 });
    await expect(save(pool, changed)).rejects.toMatchObject({ code: 'already answered' });
    const another = await answerOf(acme, 'a0', 'ten', { value: 7 });
    const answering = await openTransaction((tx) => save(tx, another));
    await showLiveWeeks(pool, database.keys); // returns without waiting
    await answering();
    await showLiveWeeks(pool, database.keys);
    expect([await state(), await figuresOf(acme)]).toEqual([first, figures]);
    await close(acme);
    expect(await figuresOf(acme)).toEqual(figures);
    expect(await ratesOf(acme)).not.toEqual({});
    expect(await commentsOf(acme)).not.toEqual({});
  });

  test('changes in batches of at least the threshold, and counts the rest when it closes', async () => {
    const acme = await openCompany(survey(), 'live');
    const answersTo = async () =>
      Object.fromEntries(
        Object.entries(await figuresOf(acme, 'ten')).map(([group, { answers }]) => [group, answers]),
      );
    const giveAll = async (...people: string[]) => {
      for (const name of people) {
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
    // The people who were left, a5 and four of b, count together in north.
    expect(await answersTo()).toEqual({ ...none, top: 10, north: 10, a: 5 });
  });

  test('is fixed when it opens: changing the publication during the week changes no open week', async () => {
    const [weekly, live] = [await openCompany(), await openCompany(survey(), 'live')];
    await setPublication(weekly, 'live');
    await setPublication(live, 'weekly');
    await showLiveWeeks(pool, database.keys);
    expect(await figuresOf(weekly)).toEqual({});
    expect((await figuresOf(live))['top']).toEqual({ value: 0.75, answers: 18 });
  });
});

describe('removed groups', () => {
  test('while the week is open: no figure of theirs is published, and the groups above count their people', async () => {
    const acme = await openCompany();
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

  test('that were asked themselves, while the week is open: the groups above count their people', async () => {
    const inNorth = Object.fromEntries(Object.entries(asked).filter(([, [group]]) => group !== 'south'));
    const acme = await openCompany([
      ...definitions,
      round(W, 'north', ['scale'], inNorth),
      ...Object.keys(inNorth).map((one) => answerLine(W, 'north', one, 'scale', 4)),
    ]);
    await push(acme.id, { groups: [unit('top')], users: [] });
    await close(acme);
    expect(await figuresOf(acme)).toEqual({ top: { value: 0.75, answers: 12 } });
  });

  test('while the week is closing: whichever is first, none of their figures is left', async () => {
    const acme = await openCompany();
    const removed = acme.groups.get('a') as number;
    const removal = await openTransaction(async (tx) => {
      await lockAccount(tx, acme.id);
      await deleteGroupResults(tx, acme.id, [removed]);
      await tx`delete from memberships where account_id = ${acme.id} and group_id = ${removed}`;
      await tx`delete from groups where account_id = ${acme.id} and group_id = ${removed}`;
    });
    const closing = close(acme);
    await untilWaiting(pool); // its figures are computed, with the group
    await removal();
    await closing;
    expect(Object.keys(await figuresOf(acme)).toSorted()).toEqual(['b', 'north', 'south', 'top']);
    expect((await figuresOf(acme))['north']?.answers).toBe(12);
    const left = await pool`
      select from comment_groups where account_id = ${acme.id} and group_id = ${removed}`;
    expect(left).toHaveLength(0);
  });

  test('after closing: their figures are deleted, with comments shown nowhere else, and the others stay', async () => {
    // Two companies in one account. Of the second, nothing above the group is left.
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
      ...Object.keys(islanders).map((one) => answerLine(W, 'island', one, 'scale', 2, `${one} says`)),
    ];
    await importLines(database, acme.id, lines, meanwhile);
    await close(acme);
    const before = await figuresOf(acme);
    const texts = async () =>
      (
        await pool<{ text: string }[]>`select text from comments where account_id = ${acme.id} order by text`
      ).map(({ text }) => text);
    expect(await texts()).toHaveLength(22);
    const [{ id: island } = { id: 0 }] = await pool<{ id: number }[]>`
      select group_id as id from groups where account_id = ${acme.id} and name = 'island'`;
    await push(acme.id, { groups: ['top', 'a', 'b', 'south'].map((one) => unit(one)), users: [] });
    expect(await texts()).toEqual(northerners.map((one) => `${one} says`).toSorted()); // top still shows them
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
    const [still, moved] = [await openCompany(lines), await openCompany(lines)];
    for (const acme of [still, moved]) await give(acme, 'a0', 'scale', { value: 4, comment: 'a0 says' });
    const homes = { ...home, a0: 'south', a1: 'b', south0: 'a', new0: 'a', new1: 'a' };
    const { b0, b1, ...rest } = homes as Record<string, string>;
    expect([b0, b1]).toEqual(['b', 'b']); // these are removed
    await push(moved.id, { groups: units, users: users(rest) });
    for (const acme of [still, moved]) {
      // People who were removed or moved can still change their answers until the week closes.
      await give(acme, 'a0', 'scale', { value: 1 });
      await close(acme);
    }
    expect(await figuresOf(moved)).toEqual(await figuresOf(still));
    expect(await ratesOf(moved)).toEqual(await ratesOf(still));
    expect(await commentsOf(moved)).toEqual(await commentsOf(still));
    expect((await figuresOf(moved))['b']?.answers).toBe(6);
  });

  test('also when their group moves', async () => {
    const [still, moved] = [await openCompany(), await openCompany()];
    await push(moved.id, {
      groups: units.map((one) => (one.externalId === 'b' ? unit('b', { parent: 'south' }) : one)),
    });
    await Promise.all([close(still), close(moved)]);
    expect(await figuresOf(moved)).toEqual(await figuresOf(still));
    expect(await ratesOf(moved)).toEqual(await ratesOf(still));
  });
});
