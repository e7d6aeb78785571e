// Names of weeks for readers, from the service's own week names. Never computed from a day in the browser's zone.
import { useMemo } from 'react';
import { useText } from './text.tsx';

/** A week by year and number, or by the service's name for it, such as 2026-W46. */
type Named = { year: number; number: number } | { name: string };

const partsOf = (week: Named): { year: string; number: number } =>
  'name' in week
    ? { year: week.name.slice(0, 4), number: Number(week.name.slice(6)) }
    : { year: String(week.year), number: week.number };

/**
 * A week is "Week 46, 2026" by itself, "week 46, 2026" in a sentence, and "W46" in tables and charts. The year is omitted where it
 * is clear: beside the dates of the week, for the page's own week, and for other weeks of the same year. 2026-W46 is used only in
 * files and commands.
 */
export function useWeekText() {
  const t = useText();
  return useMemo(() => {
    const full = (week: Named) => t('week.full', partsOf(week));
    const short = (week: Named) => t('week.short', { number: partsOf(week).number });
    /** "week 46" within a sentence, with the year if it differs from that of `than`. */
    const sentence = (week: Named, than?: Named) =>
      than !== undefined && partsOf(week).year === partsOf(than).year
        ? t('week.sentence', { number: partsOf(week).number })
        : t('week.sentenceOfYear', partsOf(week));
    return {
      full,
      short,
      sentence,
      /** Includes the year if it differs from that of `than`. */
      label: (week: Named, than: Named | undefined) =>
        than === undefined || partsOf(week).year === partsOf(than).year ? short(week) : full(week),
      axis: (weeks: readonly Named[]) => weeks.map((week) => ({ short: short(week), full: full(week) })),
      /** The text to type to confirm an action on the week. */
      number: (week: Named) => String(partsOf(week).number),
    };
  }, [t]);
}
