// The languages of the answering page: which one is shown, which are offered, how texts in another language are marked, and how days,
// time zones and names are written in it. Pure.
import { localeOf, onceForLanguage, writingDirectionOf } from '@soundings/contract/texts.ts';
import { lastDay } from '@soundings/contract/weeks.ts';
import { escaped } from '../base/html.ts';
import type { Question } from '../questions/questions.sql.ts';
import type { Asking } from './answering.ts';
import { type PageTexts, pageTexts } from './page-texts.ts';

/**
 * Returns the languages offered on the page: those in which the page's own texts exist, and those into which all questions are
 * translated. They are in the order of their own names.
 */
export function languagesOf({ questions }: Pick<Asking, 'questions'>): string[] {
  const [first, ...others] = questions.map(
    ({ language, translations }) => new Set([language, ...Object.keys(translations)]),
  );
  const complete = [...(first ?? [])].filter((one) => others.every((texts) => texts.has(one)));
  return [...new Set([...pageTexts.languages, ...complete])].toSorted((a, b) =>
    byName.compare(nameOf(a), nameOf(b)),
  );
}

const byName = new Intl.Collator('en');

/**
 * Returns the requested language if it is offered, otherwise the person's language, otherwise English. Instead of a language that is
 * not offered, the one that stands in for it is used.
 */
export function pageLanguage(asking: Pick<Asking, 'questions' | 'language'>, wanted: unknown): string {
  const offered = languagesOf(asking);
  const found = [wanted, asking.language]
    .map((one) => String(one).toLowerCase())
    .map((one) => (offered.includes(one) ? one : spokenFor(one)));
  return found.find((one) => one !== undefined) ?? 'en';
}

/** Returns the language in which the page's own texts are for readers of a language. Undefined if they would get English instead. */
function spokenFor(language: string): string | undefined {
  const spoken = pageTexts.languageFor(language);
  return spoken === 'en' && language !== 'en' ? undefined : spoken;
}

/** Returns the language for an unknown person, from the browser's Accept-Language header (RFC 9110 §12.5.4). */
export function spokenLanguage(acceptLanguage = ''): string {
  const preferred = acceptLanguage
    .slice(0, 1000)
    .toLowerCase()
    .split(',')
    .map((entry) => {
      const [range = '', ...parameters] = entry.split(';').map((part) => part.trim());
      const quality = parameters.find((one) => one.startsWith('q='));
      return {
        language: spokenFor(range.split('-')[0] as string),
        quality: quality ? Number(quality.slice(2)) || 0 : 1,
      };
    })
    .filter(({ language, quality }) => quality > 0 && language !== undefined)
    .toSorted((a, b) => b.quality - a.quality);
  return preferred[0]?.language ?? 'en';
}

/** Returns a language's own name, such as Svenska. */
export const nameOf = onceForLanguage((language: string): string => {
  const locale = canonical(language);
  const name = new Intl.DisplayNames(locale, { type: 'language', fallback: 'code' }).of(locale) as string;
  return name.replace(/^\p{L}/u, (letter) => letter.toLocaleUpperCase(locale));
});

type Texted = { text: string; translations?: Record<string, string> };

/** Returns a text in the page's language, or in the question's language if there is no translation. */
export const textInLanguage = (
  { text, translations }: Texted,
  question: Question,
  language: string,
): string => (question.language === language ? text : (translations?.[language] ?? text));

export const textLanguage = ({ language: own, translations }: Question, language: string): string =>
  translations[language] === undefined ? own : language;

/** Returns the page's own texts in a language, and a function that turns such a text into HTML marked with its language. */
export function textsFor(language: string): [PageTexts, (text: string) => string] {
  const marks = foreign(pageTexts.languageFor(language), language);
  return [pageTexts.in(language), (text) => marked(text, marks)];
}

/** Returns lang and dir attributes for a text whose language differs from the page's (WCAG 3.1.2); otherwise ''. */
export function foreign(language: string, page: string): string {
  if (language === page) return '';
  const direction = writingDirectionOf(language);
  return ` lang="${escaped(language)}"${direction === writingDirectionOf(page) ? '' : ` dir="${direction}"`}`;
}

/** Returns a text as escaped HTML with the attributes of `foreign`. */
export const marked = (text: string, marks: string) =>
  marks === '' ? escaped(text) : `<span${marks}>${escaped(text)}</span>`;

/** Returns a locale for Intl, which throws on invalid language codes. */
function canonical(language: string): string {
  try {
    return Intl.getCanonicalLocales(language)[0] ?? 'en';
  } catch {
    return 'en';
  }
}

const dayFormat = onceForLanguage(
  (language: string) =>
    new Intl.DateTimeFormat(localeOf(language), {
      weekday: 'long',
      day: 'numeric',
      month: 'long',
      timeZone: 'UTC',
    }),
);

/** Returns the Sunday of the week, in the language of the page's own texts. */
export const lastDayIn = ({ week }: Asking, language: string): string =>
  dayFormat(pageTexts.languageFor(language)).format(Date.parse(`${lastDay(week)}T00:00:00Z`));

/**
 * Returns the name of the account's time zone, such as Central European Time. UTC if Intl does not know the zone (Factory), as in
 * weeks.ts.
 */
export function zoneIn({ timezone, week }: Asking, language: string): string {
  const nameIn = (timeZone: string) =>
    new Intl.DateTimeFormat(localeOf(pageTexts.languageFor(language)), {
      timeZone,
      timeZoneName: 'longGeneric',
    })
      .formatToParts(Date.parse(`${lastDay(week)}T00:00:00Z`))
      .find(({ type }) => type === 'timeZoneName')
      ?.value.replace('GMT+00:00', 'UTC') ?? timeZone;
  try {
    return nameIn(timezone);
  } catch {
    return nameIn('UTC');
  }
}

/**
 * Makes a name written by others safe within a sentence: removes characters that change the direction of the following text, and
 * isolates right-to-left names.
 */
export function calm(name: string): string {
  const plain = name.replaceAll(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\p{Cc}]/gu, ' ').trim();
  return /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(plain) ? `\u2068${plain}\u2069` : plain;
}
