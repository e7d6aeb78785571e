// Segments from the opening of a week to its closing: people count where they were when it opened, groups show the same as without
// segments, and nothing that leads to a person is stored.
import { selectBreakdowns, selectSegments } from '../../rounds/segments/breakdowns.sql.ts';
import { addWeeks, weekName } from '@soundings/contract/weeks.ts';
import { describe, expect, test } from 'vitest';
import { openLink } from '../../answers/answering.ts';
import { inTransaction, openPool } from '../../db/db.ts';
import { changeUser, removeUser } from '../../people/users.ts';
import { newLinks } from '../../rounds/links.ts';
import { closeBreakdown, removeBreakdown } from '../../rounds/segments/breakdowns.ts';
import { keyAt, unwrap } from '../../sealing/epoch-keys.ts';
import { keyIn } from '../../sealing/key-file.ts';
import { contextOf, WeekKey } from '../../sealing/week-key.ts';
import { askedWeek, noon } from '../../testing/asking.ts';
import { answerLine, importLines, question, round } from '../../testing/surveys.ts';
import { tablesOf } from '../../testing/tables.ts';
import { closeWeek, closeWeekNow } from '../close-week.ts';
import { deleteGroupResults } from '../published-figures.ts';
import {
  age,
  answerAll,
  byValue,
  close,
  command,
  database,
  idsOf,
  open,
  openWeek,
  pool,
  resultsOf,
  site,
  type Staff,
  staff,
  useDatabase,
} from './segments.fixture.ts';

useDatabase();

const weekMs = 7 * 86_400_000;

/** A company with open breakdowns whose week has closed. */
async function closedStaff(
  settings: Parameters<typeof staff>[0] = {},
  breakdowns = [site, age],
): Promise<Staff> {
  const acme = await staff(settings);
  for (const breakdown of breakdowns) await open(acme, breakdown);
  await openWeek(acme);
  await answerAll(acme);
  await close(acme);
  return acme;
}

/** Returns everything that is published about groups, with their places in place of their ids. */
async function groupFigures({ id, groups, questionIds }: Staff): Promise<string[]> {
  const names = new Map(Object.entries(groups).map(([name, group]) => [group, name]));
  const numbers = new Map(questionIds.map((questionId, i) => [questionId, i]));
  const ids = Object.values(groups);
  const results = await pool<Record<string, unknown>[]>`
    select * from results where account_id = ${id} and group_id = any(${ids})`;
  const rates = await pool<Record<string, unknown>[]>`
    select * from response_rates where account_id = ${id} and group_id = any(${ids})`;
  const values = await pool<Record<string, unknown>[]>`
    select * from kpi_values where account_id = ${id} and group_id = any(${ids})`;
  return [...results, ...rates, ...values]
    .map((row) =>
      JSON.stringify({
        ...row,
        account_id: null,
        group_id: names.get(row['group_id'] as number),
        question_id: numbers.get(row['question_id'] as number),
      }),
    )
    .toSorted();
}

/** Returns a person's segments from copies of the week's wrapped key and of the sealed list, with the key that the service has now. */
async function segmentsWith(
  accountId: number,
  wrapped: Buffer,
  { respondent, sealed }: { respondent: string; sealed: Buffer },
): Promise<number[] | undefined> {
  const current = keyIn(await database.keys.chain.exported())!;
  // Also with the keys that can be derived from it.
  const keys = Array.from({ length: 20 }, (_, i) => keyAt(current, current.epoch + i)!);
  const secrets = keys.map((key) => unwrap(key, contextOf(accountId, askedWeek), wrapped));
  const secret = secrets.find((one) => one !== undefined);
  return secret && new WeekKey(accountId, askedWeek, secret).openSegments(respondent, sealed);
}

/** Returns how many backends wait for a lock. */
async function waiting(): Promise<number> {
  const rows = await pool`
    select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  return rows.length;
}

const ratesOf = async (acme: Staff) => {
  const names = new Map((await selectSegments(pool, acme.id)).map(({ id, value }) => [id, value]));
  const rows = await pool<{ groupId: number; people: number; asked: number; answered: number }[]>`
    select group_id as "groupId", people, asked, answered from response_rates where account_id = ${acme.id}`;
  return Object.fromEntries(
    rows.flatMap(({ groupId, ...row }) => (names.has(groupId) ? [[names.get(groupId), row]] : [])),
  );
};

describe('figures of segments', () => {
  test('are means of scales and recommendations, distributions of choices, response rates and KPI values', async () => {
    const acme = await staff();
    for (const breakdown of [site, age]) await open(acme, breakdown);
    await openWeek(acme);
    await answerAll(acme, (i) => (i < 40 ? { value: i % 2 === 0 ? 5 : 1, choice: 'time' } : undefined));
    await close(acme);
    expect(await byValue(acme, 0)).toEqual({
      Stockholm: { value: 1, answers: 20, distribution: null, handedOut: false },
      Malmö: { value: 0, answers: 20, distribution: null, handedOut: false },
      'under 40': expect.objectContaining({
        value: expect.closeTo(0.5, 1) as number,
        distribution: null,
      }) as object,
      '40 and over': expect.objectContaining({ distribution: null }) as object,
    });
    const { Stockholm } = await byValue(acme, 2);
    expect(Stockholm).toMatchObject({ value: null, answers: 20 });
    expect(JSON.parse(Stockholm?.distribution as string)).toMatchObject({ time: 20 });
    const kpis = await pool<{ groupId: number; value: number | null }[]>`
      select group_id as "groupId", value from kpi_values where account_id = ${acme.id} and kpi_id = 'mood'`;
    const stockholm = (await selectSegments(pool, acme.id)).find(({ value }) => value === 'Stockholm');
    // 5 of 5 and 5 of 10.
    expect(kpis.find(({ groupId }) => groupId === stockholm!.id)?.value).toBeCloseTo((1 + 4 / 9) / 2);
    // Team c, where no one answered, is left out: five of its people are in no segment, and everyone elsewhere is in one.
    expect(await ratesOf(acme)).toMatchObject({
      Stockholm: { people: 28, asked: 20, answered: 20 },
      Malmö: { people: 27, asked: 20, answered: 20 },
    });
  });

  test('are marked where they are based on links that the employer handed out', async () => {
    const acme = await staff();
    await open(acme, site);
    await openWeek(acme);
    await answerAll(acme, undefined, { handedOut: Array.from({ length: 18 }, (_, i) => i) });
    await close(acme);
    const marks = Object.values(await byValue(acme, 0)).map(({ handedOut }) => handedOut);
    expect(marks).toEqual([true, true]);
    const rates = await pool`
      select handed_out from response_rates where account_id = ${acme.id} and group_id = any(${await idsOf(pool, acme.id, 'segments')})`;
    expect(rates.map((row) => row['handed_out'] as boolean)).toEqual([true, true]);
  });

  test('exist for values of enough people only: those of fewer are in no table', async () => {
    const acme = await closedStaff();
    const values = (await selectSegments(pool, acme.id)).map(({ value }) => value);
    expect(values).toEqual(['Malmö', 'Stockholm', '40 and over', 'under 40']);
    const rows = (await tablesOf(pool)).filter((row) => !row.startsWith('users '));
    expect(rows.filter((row) => /Kiruna|Lund/.test(row))).toEqual([]);
    expect(rows.filter((row) => row.includes('Stockholm'))).not.toEqual([]);
  });

  test('never change what groups show', async () => {
    const [plain, divided] = [await closedStaff({}, []), await closedStaff()];
    expect(await resultsOf(divided, 'segments')).not.toEqual([]);
    const figures = await groupFigures(plain);
    expect(figures.length).toBeGreaterThan(15);
    expect(await groupFigures(divided)).toEqual(figures);
  });

  test('are the same for an earlier breakdown, whatever breakdowns are opened after it', async () => {
    const [one, two] = [await closedStaff({}, [site]), await closedStaff({}, [site, age])];
    const { Stockholm, Malmö } = await byValue(two, 0);
    expect({ Stockholm, Malmö }).toEqual(await byValue(one, 0));
    expect(Stockholm?.answers).toBeGreaterThan(0);
  });

  test('never have the id of a group', async () => {
    const acme = await closedStaff();
    const groups = await pool<{ id: number }[]>`select group_id as id from groups`;
    const ids = new Set(groups.map(({ id }) => id));
    const segments = await idsOf(pool, acme.id, 'segments');
    expect(segments.filter((id) => ids.has(id))).toEqual([]);
  });

  test('with noise, are the same in the next week for the same people and answers', async () => {
    const acme = await staff({ noise: 2 });
    await open(acme, site);
    await openWeek(acme);
    await answerAll(acme);
    await close(acme);
    const first = await byValue(acme, 0);
    await openWeek(acme, noon + weekMs);
    await answerAll(acme, undefined, { week: addWeeks(askedWeek, 1) });
    await close(acme, addWeeks(askedWeek, 1));
    expect(await byValue(acme, 0, addWeeks(askedWeek, 1))).toEqual(first);
    const { level } = (
      await pool`
      select max(noise) as level from results where account_id = ${acme.id}
      and group_id = any(${await idsOf(pool, acme.id, 'segments')})`
    )[0] as { level: number };
    expect(level).toBe(2);
  });

  test('do not exist for a week with live results', async () => {
    const acme = await closedStaff({ publication: 'live' });
    expect(await selectSegments(pool, acme.id)).toEqual([]);
    expect(await resultsOf(acme, 'segments')).toEqual([]);
  });

  test('of one account are not among those of another', async () => {
    const [acme, other] = [await closedStaff(), await closedStaff({}, [])];
    expect(await selectSegments(pool, other.id)).toEqual([]);
    expect(await selectBreakdowns(pool, other.id)).toEqual([]);
    const [breakdown] = await selectBreakdowns(pool, acme.id);
    for (const change of [closeBreakdown, removeBreakdown]) {
      await expect(
        inTransaction(pool, (tx) => change(tx, other.id, command, breakdown!.id, deleteGroupResults)),
      ).rejects.toMatchObject({ code: 'breakdown not found' });
    }
    const rows = await pool`
      select 1 from results r join segments s on s.segment_id = r.group_id where r.account_id <> s.account_id`;
    expect(rows).toHaveLength(0);
  });
});

describe('while a week is open', () => {
  test('people count where they were when it opened, even if they move, change or leave', async () => {
    const [still, moving] = [await staff(), await staff()];
    for (const acme of [still, moving]) {
      await open(acme, site);
      await openWeek(acme);
      await answerAll(acme);
    }
    await inTransaction(pool, async (tx) => {
      for (const userId of moving.userIds.slice(0, 15))
        await changeUser(tx, moving.id, userId, { attributes: { site: 'Oslo' } }, 0);
      for (const userId of moving.userIds.slice(15, 18))
        await changeUser(tx, moving.id, userId, { memberships: { memberOf: [moving.groups.c] } }, 0);
      await removeUser(tx, moving.id, moving.userIds[20] as number, 0);
    });
    await close(still);
    await close(moving);
    expect(await byValue(moving, 0)).toEqual(await byValue(still, 0));
    expect((await selectSegments(pool, moving.id)).map(({ value }) => value)).toEqual(['Malmö', 'Stockholm']);
  });

  test('a breakdown that is closed keeps its figures of that week, and one that is removed gets none', async () => {
    const acme = await staff();
    const [first, second] = [await open(acme, site), await open(acme, age)];
    await openWeek(acme);
    await answerAll(acme);
    await inTransaction(pool, (tx) => closeBreakdown(tx, acme.id, command, first));
    await inTransaction(pool, (tx) => removeBreakdown(tx, acme.id, command, second, deleteGroupResults));
    await close(acme);
    expect(Object.keys(await byValue(acme, 0)).toSorted()).toEqual(['Malmö', 'Stockholm']);
    await openWeek(acme, noon + weekMs);
    const rows = await pool`
      select 1 from assignments where account_id = ${acme.id} and sealed_segments is not null`;
    expect(rows).toHaveLength(0);
    await close(acme, addWeeks(askedWeek, 1));
    expect(await byValue(acme, 0, addWeeks(askedWeek, 1))).toEqual({});
  });

  test('the segments of people are sealed and of one length, and can be read only for the person they belong to', async () => {
    const acme = await staff();
    await open(acme, site);
    await openWeek(acme);
    const rows = await pool<{ respondent: string; sealed: Buffer }[]>`
      select respondent, sealed_segments as sealed from assignments where account_id = ${acme.id}`;
    expect(rows).toHaveLength(60);
    // Even those who are in no segment, such as the only person in Kiruna.
    expect(new Set(rows.map(({ sealed }) => sealed.length)).size).toBe(1);
    const key = (await database.keys.of(pool, acme.id, askedWeek))!;
    const [one, two] = rows as unknown as [
      { respondent: string; sealed: Buffer },
      { respondent: string; sealed: Buffer },
    ];
    expect(key.openSegments(one.respondent, one.sealed).length).toBeLessThanOrEqual(1);
    expect(() => key.openSegments(two.respondent, one.sealed)).toThrow('cannot be decrypted');
    expect(() => key.open(one.respondent, one.sealed)).toThrow('cannot be decrypted');
    const counts = rows.map(({ respondent, sealed }) => key.openSegments(respondent, sealed).length);
    expect(counts.filter((count) => count === 0)).toHaveLength(5);
  });

  test('two processes that open it together freeze everyone once', async () => {
    const acme = await staff();
    await open(acme, site);
    const pools = [openPool(database.url, 2), openPool(database.url, 2)];
    await Promise.all([...pools, ...pools].map((one) => openWeek(acme, noon, one)));
    await Promise.all(pools.map((one) => one.end()));
    const rows =
      await pool`select respondent from assignments where account_id = ${acme.id} and sealed_segments is not null`;
    expect(rows).toHaveLength(60);
    expect((await selectSegments(pool, acme.id)).map(({ value }) => value)).toEqual(['Malmö', 'Stockholm']);
  });
});

describe('the answering page', () => {
  const breakdownsFor = async ({ id, userIds }: Staff, week = askedWeek) => {
    const [link] = await newLinks(pool, [{ accountId: id, userId: userIds[0] as number, week }]);
    return (await openLink(pool, database.keys, { link: link as string, visit: null }))?.breakdowns;
  };

  test('names the attributes of the breakdowns of a week, including one that has since been closed, and none for a week opened without breakdowns', async () => {
    const acme = await staff();
    await openWeek(acme);
    const first = await open(acme, site);
    const second = await open(acme, age);
    await open(acme, { name: 'Health', attribute: null, bands: null, crossOf: [second, first] });
    expect(await breakdownsFor(acme)).toEqual([]);
    await openWeek(acme, noon + weekMs);
    const [bySite, byAge] = [
      { attribute: 'site', bands: null },
      { attribute: 'born', bands: [40] },
    ];
    const others = [
      { name: 'Age', by: [byAge] },
      { name: 'Health', by: [byAge, bySite] },
    ];
    expect(await breakdownsFor(acme, addWeeks(askedWeek, 1))).toEqual([
      { name: 'Site', by: [bySite] },
      ...others,
    ]);
    await pool`update breakdowns set closed_at = now() where account_id = ${acme.id} and breakdown_id = ${first}`;
    expect(await breakdownsFor(acme, addWeeks(askedWeek, 1))).toHaveLength(3);
    await pool`
      update breakdowns set closed_at = ${new Date(noon)} where account_id = ${acme.id} and breakdown_id = ${first}`;
    expect(await breakdownsFor(acme, addWeeks(askedWeek, 1))).toEqual(others);
  });
});

describe('closing a week', () => {
  test('deletes who was in which segment, and no key that is left can open a copy of it', async () => {
    const acme = await staff();
    for (const breakdown of [site, age]) await open(acme, breakdown);
    await openWeek(acme);
    await answerAll(acme);
    const rows = await pool<{ respondent: string; sealed: Buffer }[]>`
      select respondent, sealed_segments as sealed from assignments where account_id = ${acme.id}`;
    const [key] = await pool<{ wrapped: Buffer }[]>`
      select wrapped from week_keys where account_id = ${acme.id} and week = ${askedWeek}`;
    expect(rows).toHaveLength(60);
    const opened = await Promise.all(rows.map((row) => segmentsWith(acme.id, key!.wrapped, row)));
    const inBoth = rows[opened.findIndex((segments) => segments?.length === 2)]!;
    expect(inBoth).toBeDefined();
    await closeWeekNow(pool, database.keys, acme.id, askedWeek, noon);
    expect(Object.keys(await byValue(acme, 0))).toHaveLength(4);
    const after = (await tablesOf(pool)).join();
    const secrets = rows.flatMap(({ respondent, sealed }) => [respondent, sealed.toString('hex')]);
    expect(secrets.filter((secret) => after.includes(secret))).toEqual([]);
    expect(await segmentsWith(acme.id, key!.wrapped, inBoth)).toBeUndefined();
  });

  test('while a breakdown is being removed publishes none of its figures', async () => {
    const acme = await staff();
    await open(acme, site);
    const removed = await open(acme, age);
    await openWeek(acme);
    await answerAll(acme);
    const [begun, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const removal = inTransaction(pool, async (tx) => {
      await removeBreakdown(tx, acme.id, command, removed, deleteGroupResults);
      begun.resolve();
      await finish.promise;
    });
    await begun.promise;
    // It reads the segments before they are removed, and then waits for the account.
    const closing = close(acme);
    await expect.poll(waiting).toBe(1);
    finish.resolve();
    await Promise.all([removal, closing]);
    const rows = await pool`
      select 1 from results r where r.account_id = ${acme.id}
      and not exists (select 1 from groups g where g.account_id = r.account_id and g.group_id = r.group_id)
      and not exists (select 1 from segments s where s.account_id = r.account_id and s.segment_id = r.group_id)`;
    expect(rows).toHaveLength(0);
    expect(Object.keys(await byValue(acme, 0)).toSorted()).toEqual(['Malmö', 'Stockholm']);
  });

  test('that is interrupted leaves everything as it was, and closing again publishes the same', async () => {
    const [acme, other] = [await staff(), await closedStaff()];
    for (const breakdown of [site, age]) await open(acme, breakdown);
    await openWeek(acme);
    await answerAll(acme);
    const before = await tablesOf(pool);
    const interrupted = inTransaction(pool, async (tx) => {
      await closeWeek(tx, database.keys, acme.id, askedWeek);
      throw new Error('interrupted');
    });
    await expect(interrupted).rejects.toThrow('interrupted');
    expect(await tablesOf(pool)).toEqual(before);
    await close(acme);
    expect(await byValue(acme, 0)).toEqual(await byValue(other, 0));
  });
});

test('the people of a history file count in no segment, even if they are users with a value', async () => {
  const acme = await staff();
  await open(acme, site);
  await pool`update users set external_id = 'e' || user_id where account_id = ${acme.id}`;
  await pool`update groups set external_id = 'top' where account_id = ${acme.id} and group_id = ${acme.groups.top}`;
  const people = acme.userIds.slice(0, 20).map((userId) => `e${userId}`);
  const name = weekName(addWeeks(askedWeek, -1));
  await importLines(
    database,
    acme.id,
    [
      question('old', 1),
      round(name, 'top', ['old'], Object.fromEntries(people.map((one) => [one, ['top']]))),
      ...people.map((one) => answerLine(name, 'top', one, 'old', 4)),
    ],
    noon,
  );
  const results = await pool`select 1 from results where account_id = ${acme.id} and answers is not null`;
  expect(results).not.toHaveLength(0);
  expect(await selectSegments(pool, acme.id)).toEqual([]);
  const sealed =
    await pool`select 1 from assignments where account_id = ${acme.id} and sealed_segments is not null`;
  expect(sealed).toHaveLength(0);
});

test('a breakdown that is removed takes its segments and all their figures with it, and nothing else', async () => {
  const acme = await closedStaff();
  const [breakdown] = await selectBreakdowns(pool, acme.id);
  const gone = new Set((await selectSegments(pool, acme.id, breakdown!.id)).map(({ id }) => id));
  const groups = await groupFigures(acme);
  await inTransaction(pool, (tx) => removeBreakdown(tx, acme.id, command, breakdown!.id, deleteGroupResults));
  const left = await pool<{ id: number }[]>`
    select group_id as id from results where account_id = ${acme.id} union all
    select group_id from response_rates where account_id = ${acme.id} union all
    select group_id from kpi_values where account_id = ${acme.id} union all
    select segment_id from segments where account_id = ${acme.id}`;
  expect(gone.size).toBe(2);
  expect(left.filter(({ id }) => gone.has(id))).toEqual([]);
  expect(Object.keys(await byValue(acme, 0)).toSorted()).toEqual(['40 and over', 'under 40']);
  expect(await groupFigures(acme)).toEqual(groups);
});
