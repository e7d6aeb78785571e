// Texts with arguments, for the console and the server. Catalogues contain the texts in ICU MessageFormat (decisions/0020). Here
// they are already compiled. The result is plain text: the caller escapes it.
import format, { type CompiledMessage } from 'icu-minify/format';

export type CompiledText = CompiledMessage;

/** The arguments that a text needs: none, or an object with one value per name. */
export type TextArguments<Arguments, Key> = Key extends keyof Arguments ? [values: Arguments[Key]] : [];

/** Returns a text: `t('asks', { company: 'Nordwind', questions: 3 })`. `Arguments`: the arguments of the texts that have any. */
export type Translate<Key extends string, Arguments> = <K extends Key>(
  key: K,
  ...values: TextArguments<Arguments, K>
) => string;

/** Returns the function that formats the texts of a language. If there is no text, it returns the key. */
export function translator<Key extends string, Arguments>(
  language: string,
  textOf: (key: Key) => CompiledText | undefined,
): Translate<Key, Arguments> {
  const formatters = formattersFor(language);
  return (key, ...values) => {
    const text = textOf(key) ?? key;
    if (typeof text === 'string') return text;
    const [named] = values as [Record<string, string | number>];
    const formatted = format(text, language, named, { formatters }) as string | string[];
    // The result is an array if the text consists only of an argument that is empty.
    return typeof formatted === 'string' ? formatted : formatted.join('');
  };
}

/** Returns the locale for numbers and dates. English uses British dates, because we write the day first. */
export const localeOf = (language: string): string => (language === 'en' ? 'en-GB' : language);

/**
 * Returns names as a list in a sentence: "Shops, Workshops and IT". At most three; `others` names how many more there are, such as
 * "4 other groups".
 */
export function listedIn(
  language: string,
  names: readonly string[],
  others: (count: number) => string,
): string {
  const shown = names.length > 3 ? [...names.slice(0, 2), others(names.length - 2)] : names;
  return new Intl.ListFormat(localeOf(language)).format(shown);
}

const rightToLeft = new Set(['ar', 'dv', 'fa', 'he', 'ks', 'ps', 'sd', 'ug', 'ur', 'yi']);
/** Returns the writing direction of a language as a value of the dir attribute of HTML. */
export const writingDirectionOf = (language: string): 'rtl' | 'ltr' =>
  rightToLeft.has(language) ? 'rtl' : 'ltr';

/** Returns `create` with one result per language, because Intl objects are expensive to create. */
export function onceForLanguage<Language extends string, T>(
  create: (language: Language) => T,
): (language: Language) => T {
  const created = new Map<Language, T>();
  return (language) => {
    const known = created.get(language);
    if (known !== undefined) return known;
    const added = create(language);
    created.set(language, added);
    return added;
  };
}

/** Returns the functions that format numbers and choose plurals in a language. */
const formattersFor = onceForLanguage((language: string): Parameters<typeof format>[3]['formatters'] => {
  const numbers = new Map<string, Intl.NumberFormat>();
  const cardinal = new Intl.PluralRules(language);
  const ordinal = new Intl.PluralRules(language, { type: 'ordinal' });
  return {
    getNumberFormat(_, style) {
      const name = style === undefined ? '' : JSON.stringify(style);
      const found = numbers.get(name) ?? new Intl.NumberFormat(language, style);
      numbers.set(name, found);
      return found;
    },
    getPluralRules: (_, options) => (options?.type === 'ordinal' ? ordinal : cardinal),
    getDateTimeFormat: (_, style) => new Intl.DateTimeFormat(localeOf(language), style),
  };
});
