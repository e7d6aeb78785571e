// Weeks of ISO 8601 (decision E8), by their Mondays.

const dayAfter = (day: string, days: number) =>
  new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10);
export const mondayOf = (day: string): string => dayAfter(day, -((new Date(day).getUTCDay() + 6) % 7));

/** Returns the year and the number of a week, such as 2026 and 07: its year is that of its Thursday. */
export function yearAndWeek(monday: string): [year: string, week: string] {
  const year = dayAfter(monday, 3).slice(0, 4);
  const first = mondayOf(`${year}-01-04`);
  const number = 1 + (Date.parse(monday) - Date.parse(first)) / (7 * 86_400_000);
  return [year, String(number).padStart(2, '0')];
}

/** Returns whether a week has a day in the range. */
export const isInRange = (monday: string, { from, to }: { from: string; to: string }): boolean =>
  monday >= mondayOf(from) && monday <= mondayOf(to);

/** The range of requests without one: the week of a day and the four before it. */
export const lastFiveWeeks = (day: string) => ({ from: dayAfter(day, -28), to: day });
