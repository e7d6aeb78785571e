// Texts in the reader's language for every part of a page, and numbers and times formatted with Intl.
import { localeOf, onceForLanguage, type Translate, translator } from '@soundings/contract/texts.ts';
import { createContext, type ReactNode, use, useContext, useMemo } from 'react';
import {
  type Area,
  type Catalogue,
  type Language,
  loadedTexts,
  loadTexts,
  type ArgumentsByText,
  type TextKey,
} from './catalogue.ts';

export type Translator = Translate<TextKey, ArgumentsByText>;

type Texts = { language: Language; catalogue: Catalogue; t: Translator };
const TextContext = createContext<Texts | undefined>(undefined);

export function TextProvider(props: { language: Language; catalogue: Catalogue; children: ReactNode }) {
  const { language, catalogue } = props;
  const value = useMemo(
    () => ({
      language,
      catalogue,
      t: translator<TextKey, ArgumentsByText>(language, (key) => catalogue[key]),
    }),
    [language, catalogue],
  );
  return <TextContext value={value}>{props.children}</TextContext>;
}

/** Adds the texts of an area for its children, which are shown once the texts have loaded. */
export function AreaTexts({ area, children }: { area: Area; children: ReactNode }) {
  const { language, catalogue } = useTexts();
  const own = loadedTexts(language, area) ?? use(loadTexts(language, area));
  const all = useMemo(() => ({ ...catalogue, ...own }), [catalogue, own]);
  return (
    <TextProvider language={language} catalogue={all}>
      {children}
    </TextProvider>
  );
}

function useTexts(): Texts {
  const value = useContext(TextContext);
  if (!value) throw new Error('TextProvider is missing.');
  return value;
}

/** Returns the translate function: `t('people.found', { count: 3 })`. */
export const useText = (): Translator => useTexts().t;

export const useLanguage = (): Language => useTexts().language;

const formatOf = onceForLanguage((language: Language) => {
  const locale = localeOf(language);
  const number = new Intl.NumberFormat(locale);
  const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 0 });
  const signed = new Intl.NumberFormat(locale, { signDisplay: 'exceptZero', maximumFractionDigits: 1 });
  const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });
  const time = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });
  const plainDay = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' });
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
  return {
    number: (value: number) => number.format(value),
    /** A share of 0 to 1, as a percentage. */
    percent: (value: number) => percent.format(value),
    signed: (value: number) => signed.format(value),
    /** The day of a point in time (ISO 8601). */
    day: (iso: string) => day.format(new Date(iso)),
    /** A calendar day, YYYY-MM-DD. */
    plainDay: (date: string) => plainDay.format(new Date(date)),
    time: (iso: string) => time.format(new Date(iso)),
    /** "3 days ago". */
    ago(iso: string, now = Date.now()): string {
      const seconds = (new Date(iso).getTime() - now) / 1000;
      for (const [unit, size] of [
        ['day', 86_400],
        ['hour', 3600],
        ['minute', 60],
      ] as const) {
        if (Math.abs(seconds) >= size) return relative.format(Math.trunc(seconds / size), unit);
      }
      return relative.format(0, 'second');
    },
    bytes(size: number): string {
      if (size < 1000) return `${size} B`;
      if (size < 1e6) return `${number.format(Math.round(size / 1000))} kB`;
      return size < 1e9
        ? `${number.format(Math.round(size / 1e5) / 10)} MB`
        : `${number.format(Math.round(size / 1e8) / 10)} GB`;
    },
  };
});

/** Returns formats for numbers and times in the reader's language. Times are in the browser's zone; weeks are never computed. */
export const useFormat = () => formatOf(useLanguage());
