// Opening the rounds of schedules: once, at the right time, for the right people, and what happens when people leave.
import { addWeeks } from '@soundings/contract/weeks.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lockAccount } from '../accounts/accounts.ts';
import { saveAnswers, openLink } from '../answers/answering.ts';
import { inTransaction, openPool } from '../db/db.ts';
import { createGroup } from '../people/groups.ts';
import { createUser } from '../people/users.ts';
import { closeWeekNow } from '../results/close-week.ts';
import { askedWeek, askPeople, mondays, noon, planAsking, type AskingOptions } from '../testing/asking.ts';
import { openWorld, type TestAccount, type World } from '../testing/world.ts';
import { exportLinks } from './links.ts';
import { dueSchedules, openDueRounds, openRounds } from './opening.ts';
import { createSchedule, pauseSchedule } from './schedules.ts';
import { lockSchedule, type Schedule, selectScheduleWeeks } from './schedules.sql.ts';

const hour = 3_600_000;
const day = 24 * hour;
const monday = (time: string) => Date.parse(`${askedWeek}T${time}:00Z`);

let world: World;
beforeAll(async () => {
  // The world's own jobs run at another time, so they open and close nothing here.
  world = await openWorld(undefined, {}, () => Date.parse('2020-01-01T12:00:00Z'));
});
afterAll(() => world.close());

/** Returns only the due schedules of one account, because other tests have schedules too. */
const dueOf = async ({ id }: TestAccount, now: number) =>
  (await dueSchedules(world.pool, now)).filter(({ accountId }) => accountId === id);
const weeksOf = (account: TestAccount, scheduleId: number) =>
  selectScheduleWeeks(world.pool, account.id, scheduleId);
const messagesOf = async ({ id }: TestAccount) => [
  ...(await world.pool<{ userId: number; kind: string; at: string }[]>`
    select user_id as "userId", kind as "kind", to_char(due_at, 'YYYY-MM-DD"T"HH24:MI') as "at"
    from   messages where account_id = ${id} order by user_id, kind`),
];

/** Creates an account with people and a schedule. Nothing is open yet. */
async function scheduled({ timezone, ...options }: AskingOptions & { timezone?: string } = {}) {
  const account = await world.account(timezone === undefined ? {} : { timezone });
  return { account, ...(await planAsking(world.pool, account.id, options)) };
}

/** Makes the account's schedules older than all weeks of these tests. */
const createdBefore = ({ id }: TestAccount) =>
  world.pool`update schedules set created_at = '2020-01-01' where account_id = ${id}`;

describe('opening a schedule', () => {
  test('opens it once, by the first of several processes, and not again when the clock is set back', async () => {
    const { account, scheduleId } = await scheduled();
    const pools = [openPool(world.databaseUrl, 2), openPool(world.databaseUrl, 2)];
    const all = await Promise.all([...pools, ...pools].map((pool) => openDueRounds(pool, world.keys, noon)));
    await Promise.all(pools.map((pool) => pool.end()));
    const opened = all.flat().filter(({ accountId }) => accountId === account.id);
    expect(opened).toEqual([
      {
        accountId: account.id,
        scheduleId,
        week: askedWeek,
        isOver: false,
        outcome: 'opened',
        reason: null,
        people: 6,
      },
    ]);
    for (const now of [noon, noon - day, noon + day, noon]) {
      await openDueRounds(world.pool, world.keys, now);
    }
    expect(await weeksOf(account, scheduleId)).toHaveLength(1);
    const [rounds] = await world.pool`select count(*)::int from rounds where account_id = ${account.id}`;
    expect(rounds).toEqual({ count: 1 });
    expect(await messagesOf(account)).toHaveLength(6);
  });

  test('opens it at its hour in the first of the time zones, and sends to each person at that hour in their own', async () => {
    const { account, groupId } = await scheduled({ count: 1, timezone: 'Europe/Stockholm' });
    await inTransaction(world.pool, (tx) =>
      createUser(tx, account.id, {
        firstName: 'Aroha',
        lastName: 'Ngata',
        email: 'aroha@example.org',
        timezone: 'Pacific/Auckland',
        memberships: { memberOf: [groupId] },
      }),
    );
    // Monday 9:00 in Auckland is Sunday 20:00 UTC.
    expect(await dueOf(account, monday('00:00') - 4 * hour - 1)).toEqual([]);
    expect(await dueOf(account, monday('00:00') - 4 * hour)).toMatchObject([{ week: askedWeek }]);
    await openDueRounds(world.pool, world.keys, monday('00:00') - 4 * hour);
    expect((await messagesOf(account)).map(({ kind, at }) => `${kind} ${at}`)).toEqual([
      'invitation 2026-11-16T08:00',
      'reminder 2026-11-18T08:00',
      'invitation 2026-11-15T20:00',
      'reminder 2026-11-17T20:00',
    ]);
  });

  test('opens it late after an outage: messages go out at once, but not at night or on a weekend', async () => {
    const { account } = await scheduled({
      count: 1,
      timezone: 'Europe/Stockholm',
      reminderDays: null,
      reminderHour: null,
    });
    await openDueRounds(world.pool, world.keys, Date.parse('2026-11-19T20:30:00Z')); // Thursday evening
    expect(await messagesOf(account)).toMatchObject([{ at: '2026-11-20T07:00' }]);
    // From Saturday on no message can be sent. The clock could be wrong, so the round is not marked as missed yet.
    const late = await scheduled({ count: 1 });
    await createdBefore(late.account);
    const saturday = Date.parse('2026-11-21T10:00:00Z');
    expect(await dueOf(late.account, saturday)).toEqual([]);
    expect(await dueOf(late.account, saturday - day)).toMatchObject([{ isOver: false }]);
    await openDueRounds(world.pool, world.keys, saturday + 2 * day);
    expect((await weeksOf(late.account, late.scheduleId)).at(-1)).toMatchObject({
      week: askedWeek,
      outcome: 'missed',
      reason: 'late',
    });
  });

  test('does not open it while paused, before its first day, or after its last', async () => {
    const paused = await scheduled();
    await inTransaction(world.pool, (tx) => pauseSchedule(tx, paused.account.id, paused.scheduleId, true));
    expect(await dueOf(paused.account, noon)).toEqual([]);
    await inTransaction(world.pool, (tx) => pauseSchedule(tx, paused.account.id, paused.scheduleId, false));
    expect(await dueOf(paused.account, noon)).toHaveLength(1);
    const later = await scheduled({ fromDay: '2026-11-17' });
    expect(await dueOf(later.account, noon)).toEqual([]);
    const over = await scheduled({ fromDay: '2026-11-02', untilDay: '2026-11-15' });
    expect(await dueOf(over.account, noon)).toEqual([]);
  });

  test('does not open it in a closed week, and records the round as missed', async () => {
    const { account, scheduleId, groupId, questionIds } = await scheduled();
    await openDueRounds(world.pool, world.keys, noon);
    await closeWeekNow(world.pool, world.keys, account.id, askedWeek, noon);
    const again = mondays({
      groupIds: [groupId],
      questionIds: [questionIds.get('workload-amount') as number],
    });
    const second = await inTransaction(world.pool, (tx) => createSchedule(tx, account.id, again));
    await openDueRounds(world.pool, world.keys, noon);
    expect(await weeksOf(account, second)).toMatchObject([{ outcome: 'missed', reason: 'closed' }]);
    expect(await weeksOf(account, scheduleId)).toMatchObject([{ outcome: 'opened' }]);
  });
});

describe('who is asked', () => {
  test('asks a member of two groups once, and no one who is inactive or in an excluded group', async () => {
    const account = await world.account();
    const { groups, people, scheduleId } = await inTransaction(world.pool, async (tx) => {
      const ids: Record<string, number> = {};
      ids['top'] = await createGroup(tx, account.id, { name: 'top' });
      ids['a'] = await createGroup(tx, account.id, { name: 'a', parentId: ids['top'] });
      ids['b'] = await createGroup(tx, account.id, { name: 'b', parentId: ids['top'] });
      ids['out'] = await createGroup(tx, account.id, { name: 'out', parentId: ids['b'] });
      const add = (name: string, ...memberOf: string[]) =>
        createUser(tx, account.id, {
          firstName: name,
          email: `${name}@example.org`,
          memberships: { memberOf: memberOf.map((group) => ids[group] as number) },
        });
      const created = {
        both: await add('both', 'a', 'b'),
        alone: await add('alone', 'a'),
        excluded: await add('excluded', 'a', 'out'),
        gone: await add('gone', 'b'),
      };
      await tx`update users set active = false where account_id = ${account.id} and user_id = ${created.gone}`;
      const [question] = await tx<{ id: number }[]>`
        insert into questions (account_id, key, type, text, language) values (${account.id}, 'q', 1, 'Q?', 'en')
        returning question_id as id`;
      const schedule = await createSchedule(
        tx,
        account.id,
        mondays({
          groupIds: [ids['a'] as number, ids['b'] as number],
          withoutGroupIds: [ids['out'] as number],
          questionIds: [question!.id],
        }),
      );
      return { groups: ids, people: created, scheduleId: schedule };
    });
    await openDueRounds(world.pool, world.keys, noon);
    expect(await weeksOf(account, scheduleId)).toMatchObject([{ outcome: 'opened', people: 2 }]);
    const { links } = await inTransaction(world.pool, (tx) =>
      exportLinks(tx, account.id, '', { channels: { mail: false, sms: false }, by: null }),
    );
    expect(links.map(({ userId }) => userId)).toEqual([people.both, people.alone]);
    const asked = await openLink(world.pool, world.keys, { link: links[0]!.link.slice(3), visit: null });
    expect(asked?.questions.map(({ key }) => key)).toEqual(['q']);
    expect((await messagesOf(account)).filter(({ kind }) => kind === 'invitation')).toHaveLength(2);
    const rows = await world.pool<{ groupId: number }[]>`
      select group_id as "groupId" from asked where account_id = ${account.id} order by 1`;
    expect(rows.map(({ groupId }) => groupId)).toEqual([groups['a'], groups['b']]);
  });

  test('counts people who leave during the week as never asked, and keeps their answers', async () => {
    const account = await world.account();
    const asked = await askPeople(world, account.id, { count: 12, keys: ['workload-amount'] });
    const question = asked.questionIds.get('workload-amount') as number;
    const give = async (i: number) => {
      const sent = await fetch(`${world.address}/a/${asked.links[i]}/answers`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ question, value: 5 }),
      });
      expect(sent.status).toBe(204);
    };
    for (let i = 0; i < 8; i++) {
      await give(i);
    }
    // One person who has answered and one who has not are deactivated, and another who has not is removed.
    const [first, last, second] = [asked.userIds[0]!, asked.userIds[11]!, asked.userIds[10]!];
    await world.pool`update users set active = false where account_id = ${account.id} and user_id in (${first}, ${last})`;
    await world.pool`delete from users where account_id = ${account.id} and user_id = ${second}`;
    for (const i of [0, 10, 11]) {
      expect(
        await openLink(world.pool, world.keys, { link: asked.links[i] as string, visit: null }),
      ).toBeUndefined();
    }
    await closeWeekNow(world.pool, world.keys, account.id, asked.week, noon);
    const read = async (path: string) =>
      (await fetch(world.address + path, { headers: { authorization: account.token } })).json();
    const range = `groupId=${asked.groupId}&fromDate=2026-11-16&toDate=2026-11-22`;
    const results = (await read(`/v1/results?${range}`)) as { values: Record<string, unknown>[] }[];
    expect(JSON.stringify(results)).toContain('"answers":8');
    // 12 were asked, 3 have left: 7 of 9.
    const rates = (await read(`/v1/responserates/values?${range}`)) as object[];
    expect(JSON.stringify(rates)).toContain(`"value":${7 / 9}`);
  });
});

test('a person removed by mistake and created again counts as never asked, and is not confused with anyone else', async () => {
  const account = await world.account();
  const asked = await askPeople(world, account.id, { count: 11, keys: ['workload-amount'] });
  const gone = asked.userIds[10] as number;
  await world.pool`delete from users where account_id = ${account.id} and user_id = ${gone}`;
  await inTransaction(world.pool, (tx) =>
    createUser(tx, account.id, {
      firstName: 'P11',
      lastName: 'Again',
      externalId: 'p11',
      memberships: { memberOf: [asked.groupId] },
    }),
  );
  const question = asked.questionIds.get('workload-amount') as number;
  for (const link of asked.links.slice(0, 5)) {
    await saveAnswers(world.pool, world.keys, { link, visit: null }, [{ questionId: question, value: 3 }]);
  }
  await closeWeekNow(world.pool, world.keys, account.id, asked.week, noon);
  const [rate] = await world.pool<{ value: number }[]>`
    select value from response_rates where account_id = ${account.id} and group_id = ${asked.groupId}`;
  expect(rate?.value).toBe(0.5);
});

test("an externalId can't turn one person into two", async () => {
  const account = await world.account();
  const { groupId, scheduleId } = await planAsking(world.pool, account.id, { count: 1 });
  await inTransaction(world.pool, async (tx) => {
    const manual = await createUser(tx, account.id, {
      firstName: 'By',
      lastName: 'Hand',
      memberships: { memberOf: [groupId] },
    });
    const one = {
      firstName: 'Sly',
      lastName: 'Id',
      externalId: `user:${manual}`,
      memberships: { memberOf: [groupId] },
    };
    await createUser(tx, account.id, one);
  });
  await openDueRounds(world.pool, world.keys, noon);
  expect(await weeksOf(account, scheduleId)).toMatchObject([{ outcome: 'opened', people: 3 }]);
});

test('a schedule of KPIs goes through their questions week by week', async () => {
  const { account, scheduleId } = await scheduled({
    kpiIds: ['workload', 'clarity'],
    perWeek: 3,
    everyWeeks: 4,
  });
  for (let i = 0; i < 4; i++) {
    await openDueRounds(world.pool, world.keys, noon + i * 7 * day);
  }
  const weeks = await weeksOf(account, scheduleId);
  expect(weeks.map(({ week }) => week)).toEqual([3, 2, 1, 0].map((i) => addWeeks(askedWeek, i)));
  const ids = weeks.flatMap(({ questionIds }) => questionIds);
  expect([ids.length, new Set(ids).size]).toEqual([10, 10]);
});

describe('a second round in a week', () => {
  /** Creates a question with the same text as a library question, except for case and punctuation. */
  const sameWordingAs = async (accountId: number, questionId: number) => {
    const [row] = await world.pool<{ id: number }[]>`
      insert into questions (account_id, key, type, text, language)
      select account_id, 'look-alike', type, upper(text) || ' !', language
      from   questions
      where  account_id = ${accountId} and question_id = ${questionId}
      returning question_id as id`;
    return row!.id;
  };
  /** Opens a second schedule for the group without some of its people. Returns the outcome. */
  const second = async (
    { account, groupId }: { account: TestAccount; groupId: number },
    questionId: number,
    without: number[],
  ) => {
    const outside = await inTransaction(world.pool, async (tx) => {
      const id = await createGroup(tx, account.id, { name: 'Outside' });
      for (const userId of without) {
        await tx`insert into memberships (account_id, user_id, group_id, kind)
                 values (${account.id}, ${userId}, ${id}, 'memberOf')`;
      }
      return id;
    });
    const wanted = mondays({ groupIds: [groupId], withoutGroupIds: [outside], questionIds: [questionId] });
    const id = await inTransaction(world.pool, (tx) => createSchedule(tx, account.id, wanted));
    await openDueRounds(world.pool, world.keys, noon);
    return weeksOf(account, id);
  };

  test('is missed if it asks any of the same people a question with the same wording', async () => {
    const planned = await scheduled({ count: 8, keys: ['workload-amount'] });
    await openDueRounds(world.pool, world.keys, noon);
    const original = planned.questionIds.get('workload-amount') as number;
    const sameWording = await sameWordingAs(planned.account.id, original);
    expect(await second(planned, sameWording, planned.userIds.slice(1))).toMatchObject([
      { outcome: 'missed', reason: 'sameText', people: 0 },
    ]);
    const [rounds] =
      await world.pool`select count(*)::int from rounds where account_id = ${planned.account.id}`;
    expect(rounds).toEqual({ count: 1 });
  });

  // An employer could import the answers of all but one (P17).
  test('is missed in a week with an imported round, and nothing is stored of it', async () => {
    const planned = await scheduled({ count: 8, keys: ['workload-amount'] });
    await openDueRounds(world.pool, world.keys, noon);
    await world.pool`update rounds set schedule_id = null where account_id = ${planned.account.id}`;
    const other = await sameWordingAs(
      planned.account.id,
      planned.questionIds.get('workload-amount') as number,
    );
    await world.pool`update questions set text = 'Another one' where account_id = ${planned.account.id} and question_id = ${other}`;
    expect(await second(planned, other, [])).toMatchObject([
      { outcome: 'missed', reason: 'imported', people: 0 },
    ]);
    const [stored] = await world.pool`
      select (select count(*)::int from rounds where account_id = ${planned.account.id})       as rounds,
             (select count(*)::int from participants where account_id = ${planned.account.id}) as participants`;
    expect(stored).toEqual({ rounds: 1, participants: 8 });
  });

  test('is missed if it asks the same question to all but a few, and opens for other people', async () => {
    const near = await scheduled({ count: 12, keys: ['workload-amount'] });
    await openDueRounds(world.pool, world.keys, noon);
    const question = near.questionIds.get('workload-amount') as number;
    expect(await second(near, question, near.userIds.slice(0, 4))).toMatchObject([
      { outcome: 'missed', reason: 'nearlySame' },
    ]);
    const far = await scheduled({ count: 12, keys: ['workload-amount'] });
    await openDueRounds(world.pool, world.keys, noon);
    const other = far.questionIds.get('workload-amount') as number;
    expect(await second(far, other, far.userIds.slice(0, 5))).toMatchObject([
      { outcome: 'opened', people: 7 },
    ]);
    const same = await scheduled({ count: 12, keys: ['workload-amount'] });
    await openDueRounds(world.pool, world.keys, noon);
    const third = same.questionIds.get('workload-amount') as number;
    expect(await second(same, third, [])).toMatchObject([{ outcome: 'opened', people: 12 }]);
  });

  test("can't be asked by a schedule that has two questions with the same wording", async () => {
    const { account, groupId, questionIds } = await scheduled();
    const original = questionIds.get('workload-amount') as number;
    const sameWording = await sameWordingAs(account.id, original);
    const wanted = mondays({ groupIds: [groupId], questionIds: [original, sameWording] });
    await expect(
      inTransaction(world.pool, (tx) => createSchedule(tx, account.id, wanted)),
    ).rejects.toMatchObject({ code: 'same text', details: [{ type: 'same text', path: 'questions' }] });
  });
});

test('new messages are compared with others by index, also while there are none', async () => {
  const { account, scheduleId } = await scheduled();
  await world.pool`delete from messages`;
  await world.pool`vacuum analyze messages`;
  const scans = await inTransaction(world.pool, async (tx) => {
    await lockAccount(tx, account.id);
    const schedule = (await lockSchedule(tx, account.id, scheduleId)) as Schedule;
    const when = { week: askedWeek, now: noon, isSimulated: false, isNow: false };
    expect((await openRounds(tx, world.keys, schedule, when)).outcome).toBe('opened');
    const [row] = await tx<{ scans: number }[]>`
      select seq_scan::integer as scans from pg_stat_xact_user_tables where relname = 'messages'`;
    return row?.scans;
  });
  expect(scans).toBe(0);
  expect((await messagesOf(account)).length).toBeGreaterThan(0);
});
