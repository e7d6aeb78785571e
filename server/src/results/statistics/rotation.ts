// How many weeks a rolling KPI value covers by default: the weeks in which the account's schedules have asked all their questions. Pure.

/** What decides how often a schedule asks the same question. `pool`: how many different questions its KPIs have. */
export type Rotation = {
  repeat: 'once' | 'weeks' | 'monthly';
  repeatWeeks: number;
  /** Null: the same questions each time. */
  perWeek: number | null;
  everyWeeks: number | null;
  pool: number;
};

/** The longest window. */
export const maxKpiWeeks = 13;

/** Returns the number of weeks, 1 to 13. Without a schedule that repeats, it is 13. */
export function rotationWeeks(schedules: readonly Rotation[]): number {
  const weeks = schedules
    .filter(({ repeat }) => repeat !== 'once')
    .map(({ repeat, repeatWeeks, perWeek, everyWeeks, pool }) => {
      const step = repeat === 'monthly' ? 5 : repeatWeeks;
      const rounds = perWeek === null ? 1 : Math.ceil(pool / perWeek);
      return Math.max(rounds * step, everyWeeks ?? 1);
    });
  return weeks.length === 0 ? maxKpiWeeks : Math.min(Math.max(...weeks, 1), maxKpiWeeks);
}
