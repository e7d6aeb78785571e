// Languages by their names in the reader's own.
import { isLanguage } from '@soundings/contract/formats.ts';
import { onceForLanguage, useLanguage } from './text.tsx';

/** Those of most workplaces. */
const usual =
  'sv en de nb nn da fi is fr nl es it pt pl cs sk hu ro bg el et lv lt uk ru tr ar fa he so ti ja ko zh vi th';

const letters = [...'abcdefghijklmnopqrstuvwxyz'];
/** All that ISO 639-1 names, by their two letters. */
const codes = letters.flatMap((a) => letters.map((b) => a + b)).filter(isLanguage);

/** What a language is called in itself, and in English: it is found by both. */
function otherNames(code: string): string {
  const namesIn = (language: string) =>
    new Intl.DisplayNames(language, { type: 'language', fallback: 'none' });
  const own = Intl.DisplayNames.supportedLocalesOf(code).length > 0 ? namesIn(code).of(code) : '';
  return `${own ?? ''} ${namesIn('en').of(code) ?? ''}`;
}

/** Made once for each language of a reader. */
export const languageNamesIn = onceForLanguage((language) => {
  const names = new Intl.DisplayNames(language, { type: 'language', fallback: 'code' });
  /** With a capital letter also where the language writes none: a name stands alone, or begins what is said. */
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
    words: () => otherNames(code),
  });
  const first = usual.split(' ');
  /** Those that have a name, the usual ones first. */
  const all = [
    ...sorted(first),
    ...sorted(codes.filter((code) => names.of(code) !== code && !first.includes(code))),
  ].map(optionOf);
  /** To choose from; the one that is set is among them, also where it has no name. */
  const options = (present?: string | null) =>
    !present || all.some(({ value }) => value === present)
      ? all
      : [...all, optionOf({ code: present, name: nameOf(present) })];
  return { nameOf, sorted, options };
});

/** `nameOf('en')`: English, or Engelska. */
export const useLanguageNames = () => languageNamesIn(useLanguage());
