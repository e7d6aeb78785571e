// Names of languages in the reader's language.
import { isLanguage } from '@soundings/contract/formats.ts';
import { onceForLanguage } from '@soundings/contract/texts.ts';
import { useLanguage } from './text.tsx';

/** The languages used at most workplaces, listed first. */
const usual =
  'sv en de nb nn da fi is fr nl es it pt pl cs sk hu ro bg el et lv lt uk ru tr ar fa he so ti ja ko zh vi th';

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
  const first = usual.split(' ');
  /** The languages that have a name, the most common ones first. */
  const all = [
    ...sorted(first),
    ...sorted(codes.filter((code) => names.of(code) !== code && !first.includes(code))),
  ].map(optionOf);
  /** The languages to choose from. Includes the current one even if it has no name. */
  const options = (present?: string | null) =>
    !present || all.some(({ value }) => value === present)
      ? all
      : [...all, optionOf({ code: present, name: nameOf(present) })];
  return { nameOf, sorted, options };
});

/** `nameOf('en')` returns English or Engelska. */
export const useLanguageNames = () => languageNamesIn(useLanguage());
