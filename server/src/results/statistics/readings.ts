// Readings: the published figures of a question in a group, week by week, and which of them can be compared. Pure.
import { addWeeks, type Week } from '@soundings/contract/weeks.ts';

/** A published figure. `value` and `answers` are null if it is withheld. `asked`: how many people were asked; null if not known. */
export type Reading = {
  week: Week;
  value: number | null;
  answers: number | null;
  asked: number | null;
  handedOut: boolean;
};
export type ShownReading = Reading & { value: number; answers: number };

/** The readings of a group by question, each oldest first. */
export type Readings = ReadonlyMap<number, readonly Reading[]>;

/** The weeks in which the account asked each question, oldest first. */
export type AskedWeeks = ReadonlyMap<number, readonly Week[]>;

/** How many weeks apart two readings may be to be compared: a year and a few weeks, for annual surveys. */
export const comparableWeeks = 56;
/** How many of the earlier times a question was asked are searched for a reading to compare with. */
const earlierTimes = 3;

export const isShown = (reading: Reading): reading is ShownReading =>
  reading.value !== null && reading.answers !== null;

/**
 * Returns the latest shown reading of the weeks from `first` to `last`. A loop, like the functions below: a heat map calls them hundreds
 * of thousands of times, and a closure for each call would take longer than the search.
 */
export function latestIn(
  readings: readonly Reading[] | undefined,
  first: Week,
  last: Week,
): ShownReading | undefined {
  for (let i = (readings?.length ?? 0) - 1; i >= 0; i--) {
    const one = readings![i]!;
    if (one.week < first) return undefined;
    if (one.week <= last && isShown(one)) return one;
  }
  return undefined;
}

/** Returns the reading of a week. */
export function readingOf(readings: readonly Reading[] | undefined, week: Week): Reading | undefined {
  for (let i = (readings?.length ?? 0) - 1; i >= 0; i--) {
    if (readings![i]!.week === week) return readings![i];
  }
  return undefined;
}

// The feed requests the same few weeks thousands of times.
const limits = new Map<Week, Week>();
const limitsKept = 10_000;

/** Returns the first week in which a reading can be compared with one of the week `week`. */
export function earliestComparable(week: Week, asked: readonly Week[] | undefined): Week {
  let before = (asked?.length ?? 0) - 1;
  while (before >= 0 && asked![before]! >= week) before--;
  const earliest = before < 0 ? undefined : asked![Math.max(0, before + 1 - earlierTimes)];
  const limit = limits.get(week) ?? addWeeks(week, -comparableWeeks);
  if (limits.size < limitsKept) limits.set(week, limit);
  return earliest !== undefined && earliest > limit ? earliest : limit;
}

/** Returns the last shown reading before another one, from the last few times the question was asked. */
export function previousOf(
  readings: readonly Reading[] | undefined,
  { week }: Reading,
  asked: readonly Week[] | undefined,
): ShownReading | undefined {
  const first = earliestComparable(week, asked);
  for (let i = (readings?.length ?? 0) - 1; i >= 0; i--) {
    const one = readings![i]!;
    if (one.week < first) return undefined;
    if (one.week < week && isShown(one)) return one;
  }
  return undefined;
}
