// An account with a survey, for tests: people in groups, a schedule, its opened round, and everyone's link.
import type { Week } from '@soundings/contract/weeks.ts';
import { accountById, lockAccount } from '../accounts/accounts.ts';
import { type AccountId, inTransaction, type Pool, type Transaction } from '../db/db.ts';
import { createGroup } from '../people/groups.ts';
import { createUser } from '../people/users.ts';
import { defineLibrary } from '../questions/questions.ts';
import { selectQuestions } from '../questions/questions.sql.ts';
import { newLinks } from '../rounds/links.ts';
import { openDueRounds } from '../rounds/opening.ts';
import { openWeek } from '../rounds/rounds.ts';
import { createSchedule } from '../rounds/schedules.ts';
import type { NewSchedule } from '../rounds/schedules.sql.ts';
import type { AnswerKeys } from '../sealing/answer-keys.ts';
import type { WeekKey } from '../sealing/week-key.ts';
import type { TestData } from './database.ts';

export type AskedAccount = {
  accountId: number;
  groupId: number;
  userIds: number[];
  /** The ids of the questions by their keys. */
  questionIds: Map<string, number>;
  scheduleId: number;
  week: Week;
  /** The secret part of each person's link, in the order of userIds. */
  links: string[];
};

/** The week of a test's survey, starting on Monday 16 November 2026. `noon`: its Wednesday, 12:00 UTC. */
export const askedWeek: Week = '2026-11-16';
export const noon = Date.parse('2026-11-18T12:00:00Z');

/** Returns a schedule for every Monday at 9, with these changes. */
export const mondays = (values: Partial<NewSchedule> & Pick<NewSchedule, 'groupIds'>): NewSchedule => ({
  name: 'Weekly pulse',
  questionIds: [],
  kpiIds: [],
  perWeek: null,
  everyWeeks: null,
  withoutGroupIds: [],
  byDate: null,
  repeat: 'weeks',
  repeatWeeks: 1,
  weekday: 1,
  hour: 9,
  anyHour: false,
  reminderDays: 2,
  reminderHour: 9,
  fromDay: askedWeek,
  untilDay: null,
  ...values,
});

/** Changes to the default. `keys`: the keys of the questions to ask. `language`: the people's language. */
/** The keys of one question of each type, in the order of the types. */
export const keysOfAllTypes = [
  'workload-pace',
  'workload-rested',
  'engagement-recommend',
  'clarity-contact',
  'help-most',
  'energy-givers',
  'works-well',
];

export type AskingOptions = { count?: number; keys?: string[]; language?: string } & Partial<NewSchedule>;

/**
 * Gives an account the library, one group with `count` people (p1@example.org …), and a schedule that asks two questions each
 * Monday. Nothing is open yet.
 */
export async function planAsking(
  pool: Pool,
  accountId: number,
  options: AskingOptions = {},
): Promise<Omit<AskedAccount, 'week' | 'links'>> {
  const { count = 6, keys = ['workload-amount', 'workload-rested'], language, ...schedule } = options;
  return inTransaction(pool, async (tx) => {
    await lockAccount(tx, accountId);
    const account = await accountById(tx, accountId);
    await defineLibrary(tx, accountId, account.language);
    const groupId = await createGroup(tx, accountId, { name: 'Everybody', externalId: 'all' });
    const userIds: number[] = [];
    for (let i = 1; i <= count; i++) {
      const id = await createUser(tx, accountId, {
        firstName: `P${i}`,
        lastName: 'Person',
        email: `p${i}@example.org`,
        externalId: `p${i}`,
        memberships: { memberOf: [groupId] },
        ...(language !== undefined && { language }),
      });
      userIds.push(id);
    }
    const questionIds = new Map((await selectQuestions(tx, accountId)).map(({ key, id }) => [key, id]));
    const asked = schedule.kpiIds ? [] : keys.map((key) => questionIds.get(key) as number);
    const values = mondays({ groupIds: [groupId], questionIds: asked, ...schedule });
    const scheduleId = await createSchedule(tx, accountId, values);
    return { accountId, groupId, userIds, questionIds, scheduleId };
  });
}

/** Like planAsking, but also opens the round as of `now`, and returns everyone's link. */
export async function askPeople(
  { pool, keys }: TestData,
  accountId: number,
  { now = noon, ...options }: AskingOptions & { now?: number } = {},
): Promise<AskedAccount> {
  const planned = await planAsking(pool, accountId, options);
  await openDueRounds(pool, keys, now);
  const [row] = await pool<
    { week: Week }[]
  >`select max(week) as week from participants where account_id = ${accountId}`;
  const week = row?.week ?? askedWeek;
  const people = planned.userIds.map((userId) => ({ accountId, userId, week }));
  return { ...planned, week, links: await newLinks(pool, people) };
}

/** Opens a week without rounds if it is not open yet, and returns its key, which is stored. */
export async function openEmptyWeek(
  tx: Transaction,
  keys: AnswerKeys,
  accountId: AccountId,
  week: Week,
): Promise<WeekKey> {
  const { key, isNew } = await openWeek(tx, keys, accountId, week);
  if (isNew) await keys.keep(tx, accountId, week, key);
  return key;
}
