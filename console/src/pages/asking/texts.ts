// Texts that the survey pages share: questions in the reader's language, days as the service names them, languages, and when a
// schedule repeats.
import type { KpiName, ScheduleBody, WeekName } from '@soundings/contract/console/asking.ts';
import { useCallback } from 'react';
import { localeOf, onceForLanguage } from '@soundings/contract/texts.ts';
import { useLanguage, useText } from '../../text/text.tsx';

type Texted = { text: string; language: string; translations: Record<string, string> };

/** Returns a question's text in the reader's language, or else in its own. */
export function useQuestionText(): (question: Texted) => string {
  const language = useLanguage();
  return ({ text, language: own, translations }) =>
    own === language ? text : (translations[language] ?? text);
}

const daysOf = onceForLanguage((language) => {
  const locale = localeOf(language);
  const zone = { timeZone: 'UTC' } as const;
  const at = (day: string) => Date.parse(`${day}T00:00:00Z`);
  const day = new Intl.DateTimeFormat(locale, {
    ...zone,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
  });
  const full = new Intl.DateTimeFormat(locale, {
    ...zone,
    day: 'numeric',
    month: 'short',
    year: 'numeric',
  });
  const month = new Intl.DateTimeFormat(locale, { ...zone, month: 'short' });
  const weekday = new Intl.DateTimeFormat(locale, { ...zone, weekday: 'long' });
  const hour = new Intl.NumberFormat('en', { minimumIntegerDigits: 2 });
  return {
    /** "Mon 23 Nov". */
    day: (text: string) => day.format(at(text)),
    /** "23 Nov 2026". */
    full: (text: string) => full.format(at(text)),
    /** "16–22 Nov 2026". */
    span: ({ week, last }: WeekName) => full.formatRange(at(week), at(last)),
    month: (text: string) => month.format(at(text)),
    /** 1 is Monday. 1 January 2024 was a Monday. */
    weekday: (number: number) => weekday.format(Date.UTC(2024, 0, number)),
    hour: (value: number) => `${hour.format(value)}:00`,
  };
});

/** Returns formats for days and weeks, which come from the service as text and mean the same in every time zone. */
export const useDays = () => daysOf(useLanguage());

/** Returns a KPI's name in the reader's language, or else its name in the data interface. */
export function useKpiName(): (kpi: KpiName) => string {
  const language = useLanguage();
  return useCallback(({ name, translations }) => translations[language] ?? name, [language]);
}

/** "Every week, Monday 09:00". */
export function useRepetition(): (
  schedule: Pick<ScheduleBody, 'repeat' | 'repeatWeeks' | 'weekday' | 'hour'>,
) => string {
  const t = useText();
  const days = useDays();
  return ({ repeat, repeatWeeks, weekday, hour }) => {
    const often =
      repeat !== 'weeks'
        ? t(`asking.repeat.${repeat}`)
        : repeatWeeks === 2
          ? t('asking.everySecondWeek')
          : t('asking.everyWeeks', { count: repeatWeeks });
    return t('asking.often', { often, weekday: days.weekday(weekday), hour: days.hour(hour) });
  };
}
