// What readers call a week. Of the service's own words for it, never reckoned from a day in the browser's zone.
import { useMemo } from 'react';
import { useText } from './text.tsx';

/** By its year and number, or by the name that the service gives it: 2026-W46. */
type Named = { year: number; number: number } | { name: string };

const partsOf = (week: Named): { year: string; number: number } =>
  'name' in week
    ? { year: week.name.slice(0, 4), number: Number(week.name.slice(6)) }
    : { year: String(week.year), number: week.number };

/**
 * A week is "w. 46, 2026". The year is left out, "w. 46", where room is tight and the year can be seen: on axes and beside the
 * week's dates, and of a page's own week and others of the same year. 2026-W46 stands in files and commands alone.
 */
export function useWeekWords() {
  const t = useText();
  return useMemo(() => {
    const full = (week: Named) => t('week.full', partsOf(week));
    const short = (week: Named) => t('week.short', { number: partsOf(week).number });
    return {
      full,
      short,
      /** The year is said where it is another than that of `than`. */
      label: (week: Named, than: Named | undefined) =>
        than === undefined || partsOf(week).year === partsOf(than).year ? short(week) : full(week),
      axis: (weeks: readonly Named[]) => weeks.map((week) => ({ short: short(week), full: full(week) })),
      /** What is typed to confirm something about it. */
      number: (week: Named) => String(partsOf(week).number),
    };
  }, [t]);
}
