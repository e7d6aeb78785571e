// Names of languages in the reader's language.
import { isLanguage } from '@soundings/contract/formats.ts';
import { onceForLanguage } from '@soundings/contract/texts.ts';
import { useLanguage } from './text.tsx';

const letters = [...'abcdefghijklmnopqrstuvwxyz'];
/** All two-letter codes of ISO 639-1. */
const codes = letters.flatMap((a) => letters.map((b) => a + b)).filter(isLanguage);

/** Returns the name of a language in that language and in English. A search finds both names. */
function otherNames(code: string): string {
  const namesIn = (language: string) =>
    new Intl.DisplayNames(language, { type: 'language', fallback: 'none' });
  const own = Intl.DisplayNames.supportedLocalesOf(code).length > 0 ? namesIn(code).of(code) : '';
  return `${own ?? ''} ${namesIn('en').of(code) ?? ''}`;
}

/** The names of languages, created once for each language of the reader. */
export const languageNamesIn = onceForLanguage((language) => {
  const names = new Intl.DisplayNames(language, { type: 'language', fallback: 'code' });
  /** Capitalized in every language, because a name stands alone or begins a sentence. */
  const nameOf = (code: string): string => {
    const name = names.of(code) ?? code;
    return name.charAt(0).toLocaleUpperCase(language) + name.slice(1);
  };
  const sorted = (some: readonly string[]): { code: string; name: string }[] =>
    some
      .map((code) => ({ code, name: nameOf(code) }))
      .toSorted((a, b) => a.name.localeCompare(b.name, language));
  const optionOf = ({ code, name }: { code: string; name: string }) => ({
    value: code,
    label: `${name} (${code})`,
    searchTerms: () => otherNames(code),
  });
  /** The languages that have a name. */
  const all = sorted(codes.filter((code) => names.of(code) !== code)).map(optionOf);
  /** The languages to choose from, some of them first. Includes the current one even if it has no name. */
  const options = (present?: string | null, first: readonly string[] = []) => {
    const complete =
      !present || all.some(({ value }) => value === present)
        ? all
        : [...all, optionOf({ code: present, name: nameOf(present) })];
    const isFirst = ({ value }: { value: string }) => first.includes(value);
    return [...complete.filter(isFirst), ...complete.filter((option) => !isFirst(option))];
  };
  return { nameOf, sorted, options };
});

/** `nameOf('en')` returns English or Engelska. */
export const useLanguageNames = () => languageNamesIn(useLanguage());
