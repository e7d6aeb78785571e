// The readings that the rolling values of one week need, in many groups. Usually these are two per question: the last reading and the one
// that it is compared with. Reading all weeks of the window takes several times as long with thousands of groups.
import type { Comparison } from '@soundings/contract/comparisons.ts';
import { addWeeks, type Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Db } from '../../db/db.ts';
import { earliestComparable, isShown, type Readings } from '../statistics/readings.ts';
import {
  halfYearBefore,
  noReadings,
  readingsParser,
  readingsShown,
  type Statistics,
} from './statistics-shown.ts';
import { selectReadings } from './statistics-shown.sql.ts';
import type { Window } from './window.ts';

type Asked = Pick<Statistics, 'asked' | 'windowOf'>;

/** The first and last week of the figures that rolling values of one week and their comparisons need, as few weeks as possible. */
export function neededForWeek(
  week: Week,
  { asked, windowOf }: Asked,
  kind: Comparison,
  ids: readonly number[],
): Window {
  const { first, last } = windowOf(week);
  const starts = ids.map((id) => {
    const weeks = asked.get(id);
    const inWindow = weeks?.find((one) => one >= first && one <= last);
    return inWindow === undefined ? first : earliestComparable(inWindow, weeks);
  });
  const halfYearAgo = kind === 'halfYear' ? [halfYearBefore({ first, last }).first] : [];
  return { first: [...starts, ...halfYearAgo].reduce((a, b) => (a < b ? a : b), first), last };
}

/**
 * Weeks of which a reading is needed: the last one with a figure that is shown. `weeks`: in which the question was asked, oldest first;
 * not empty.
 */
type Sought = { questionId: number; weeks: readonly Week[] };

/**
 * Returns what is sought of each question: the last reading in the window of a week, the one before it, and the last one in the window
 * half a year before.
 */
export function soughtIn(
  week: Week,
  { asked, windowOf }: Asked,
  kind: Comparison,
  ids: readonly number[],
): Sought[] {
  const window = windowOf(week);
  const within = (weeks: readonly Week[], { first, last }: Window) =>
    weeks.filter((one) => one >= first && one <= last);
  return ids.flatMap((questionId) => {
    const weeks = asked.get(questionId) ?? [];
    const own = within(weeks, window);
    const last = own.at(-1);
    if (last === undefined) return [];
    const before = within(weeks, { first: earliestComparable(last, weeks), last: addWeeks(last, -1) });
    const halfYearAgo = kind === 'halfYear' ? within(weeks, halfYearBefore(window)) : [];
    return [own, before, halfYearAgo].flatMap((some) =>
      some.length > 0 ? [{ questionId, weeks: some }] : [],
    );
  });
}

/** Returns whether the last week of everything that is sought is enough, because its figure is shown or there is no other week. */
const isEnough = (readings: Readings, sought: readonly Sought[]): boolean =>
  sought.every(({ questionId, weeks }) => {
    const reading = readings.get(questionId)?.find(({ week }) => week === weeks.at(-1));
    return weeks.length === 1 || (reading !== undefined && isShown(reading));
  });

/**
 * Returns the groups of which all weeks have to be read. A group whose last figure is withheld is compared in an earlier week, and so is the
 * group that it is compared with. `compared`: what each group is compared with.
 */
export const groupsToRead = (
  compared: ReadonlyMap<number, number | undefined>,
  readings: ReadonlyMap<number, Readings>,
  sought: readonly Sought[],
): number[] => [
  ...new Set(
    [...compared]
      .filter(([groupId]) => !isEnough(readings.get(groupId) ?? noReadings, sought))
      .flatMap(([groupId, whole]) => (whole === undefined ? [groupId] : [groupId, whole])),
  ),
];

/**
 * Returns a function that returns the readings that the cells of a week need in a group. `compared`: the groups, each with the group that
 * it is compared with. The readings of a group are parsed when they are requested, and only those of groups that others are compared with
 * are kept: collecting the garbage of all at the same time takes a third of the time.
 */
export async function readingsOfWeek(
  db: Db,
  accountId: AccountId,
  { compared, questionIds }: { compared: ReadonlyMap<number, number | undefined>; questionIds: number[] },
  { week, statistics, kind }: { week: Week; statistics: Asked; kind: Comparison },
): Promise<(groupId: number | undefined) => Readings> {
  const window = neededForWeek(week, statistics, kind, questionIds);
  const sought = soughtIn(week, statistics, kind, questionIds);
  const only = [...new Set(sought.map(({ weeks }) => weeks.at(-1) as Week))];
  const wholes = new Set(compared.values());
  const groupIds = [...new Set([...compared].flat())].filter((id) => id !== undefined);
  const parse = readingsParser(window.first);
  const read = await Promise.all(
    forTwoStatements(groupIds).map((ids) =>
      selectReadings(db, accountId, { groupIds: ids, questionIds, only }, window),
    ),
  );
  const rows = new Map(read.flat().map((row) => [row.groupId, row]));
  const figures = only.reduce((count, one) => count + askedIn(one, statistics, questionIds), 0);
  const incomplete = groupIds.filter((id) => rows.get(id)?.shown !== figures);
  const some = new Map(
    incomplete.flatMap((id): [number, Readings][] => {
      const row = rows.get(id);
      return row ? [[id, parse(row)]] : [];
    }),
  );
  const others = groupsToRead(new Map(incomplete.map((id) => [id, compared.get(id)])), some, sought);
  const kept = await readingsShown(db, accountId, { groupIds: others, questionIds }, window);
  return (groupId = 0) => {
    const row = rows.get(groupId);
    const readings = kept.get(groupId) ?? (row ? parse(row) : noReadings);
    if (wholes.has(groupId)) kept.set(groupId, readings);
    return readings;
  };
}

/** Returns how many of the questions were asked in a week. */
const askedIn = (week: Week, { asked }: Asked, questionIds: readonly number[]): number =>
  questionIds.filter((id) => asked.get(id)?.includes(week)).length;

const many = 500;

/** Divides many groups, which are read with two statements at the same time. */
export function forTwoStatements(groupIds: number[]): number[][] {
  if (groupIds.length < many) return [groupIds];
  const middle = Math.ceil(groupIds.length / 2);
  return [groupIds.slice(0, middle), groupIds.slice(middle)];
}
