// What a schedule that chooses people by a date can be expected to ask, by the dates that people have now. Only counts leave this file.
import type { WaitingByDate } from '@soundings/contract/console/asking.ts';
import type { ByDate, ExpectedByDate } from '@soundings/contract/console/by-date.ts';
import { accountById } from '../../accounts/accounts.ts';
import type { AccountId, Db } from '../../db/db.ts';
import { descendantsOf, outermost } from '../rounds.ts';
import { selectParents } from '../rounds.sql.ts';
import type { NewSchedule } from '../schedules.sql.ts';
import { addDays, dayDue, weeksDue } from '../send-times.ts';
import { datesDue, type ExpectedRound, expectedRounds } from './due-days.ts';
import { selectDateCounts, selectPeopleByDate } from './due.sql.ts';

/** The days of a year: 52 weeks. */
const daysOfYear = 364;

/** Returns what can be expected of a schedule; null if it asks everyone. `days`: its next days, in their order. */
export async function expectedByDate(
  db: Db,
  accountId: AccountId,
  schedule: NewSchedule & { id: number | null },
  { days, today }: { days: string[]; today: string },
): Promise<ExpectedByDate | null> {
  const { byDate } = schedule;
  if (!byDate) return null;
  const { groups, roundsOn } = readerOf(db, await surroundingsOf(db, accountId), schedule, byDate);
  const lastYear = (await roundsOn(daysOfLastYear(schedule, today), false)).filter(
    ({ people }) => people > 0,
  );
  return {
    ...(await selectDateCounts(db, accountId, groups, byDate.attribute)),
    coming: await roundsOn(days, true),
    lastYear: { rounds: lastYear.length, people: lastYear.reduce((sum, { people }) => sum + people, 0) },
  };
}

/**
 * Returns what can be expected of the next days of each schedule, and how many people of a group have to be due; null for a schedule that
 * asks everyone.
 */
export async function comingByDate(
  db: Db,
  accountId: AccountId,
  wanted: { schedule: NewSchedule & { id: number }; days: string[] }[],
): Promise<({ rounds: ExpectedRound[]; minimum: number } | null)[]> {
  if (wanted.every(({ schedule }) => !schedule.byDate)) return wanted.map(() => null);
  const surroundings = await surroundingsOf(db, accountId);
  return Promise.all(
    wanted.map(async ({ schedule, days }) => {
      if (!schedule.byDate) return null;
      const { roundsOn, minimum } = readerOf(db, surroundings, schedule, schedule.byDate);
      return { rounds: await roundsOn(days, true), minimum };
    }),
  );
}

/** Returns how many people wait if a round would ask no one; null: it would ask some. */
export const waitingIn = ({ people, waiting }: ExpectedRound, minimum: number): WaitingByDate | null =>
  people === 0 ? { people: waiting, minimum } : null;

/** What all schedules of an account share: the parents of its groups, and the lowest number of answers for a result. */
type Surroundings = { accountId: AccountId; parents: Map<number, number | null>; threshold: number };

async function surroundingsOf(db: Db, accountId: AccountId): Promise<Surroundings> {
  const [parents, { threshold }] = await Promise.all([
    selectParents(db, accountId),
    accountById(db, accountId),
  ]);
  return { accountId, parents, threshold };
}

/** Returns the groups to look in, the minimum number of people, and a function that computes the rounds on days, in their order. */
function readerOf(
  db: Db,
  { accountId, parents, threshold }: Surroundings,
  schedule: NewSchedule & { id: number | null },
  byDate: ByDate,
) {
  const { id: scheduleId } = schedule;
  const { attribute } = byDate;
  const within = (ids: number[]) => ids.filter((id) => parents.has(id));
  const groups = [
    ...outermost(schedule.groupIds, parents).flatMap((askedGroupId) =>
      descendantsOf(askedGroupId, parents).map((groupId) => ({ groupId, askedGroupId, isWithout: false })),
    ),
    ...within(schedule.withoutGroupIds)
      .flatMap((id) => descendantsOf(id, parents))
      .map((groupId) => ({ groupId, askedGroupId: groupId, isWithout: true })),
  ];
  const minimum = Math.max(byDate.minPeople, threshold);
  const roundsOn = async (on: string[], isActive: boolean): Promise<ExpectedRound[]> => {
    const [first, last] = [on[0], on.at(-1)];
    if (first === undefined || last === undefined) return [];
    const range = { first: datesDue(byDate, first).first, last: datesDue(byDate, last).last };
    const due = { scheduleId, attribute, range, day: first, isActive };
    return expectedRounds(byDate, await selectPeopleByDate(db, accountId, groups, due), on, minimum);
  };
  return { groups, minimum, roundsOn };
}

/** Returns the days on which a schedule would have asked in the last 52 weeks. None if it asks only once. */
function daysOfLastYear(schedule: NewSchedule, today: string): string[] {
  if (schedule.repeat === 'once') return [];
  const from = addDays(today, -daysOfYear);
  const year = { ...schedule, fromDay: from, untilDay: addDays(today, -1) };
  return weeksDue(year, from, daysOfYear).flatMap((week) => dayDue(year, week) ?? []);
}
