// Languages by their names in the reader's own.
import { onceForLanguage, useLanguage } from './text.tsx';

/** Those of most workplaces. */
const usual =
  'sv en de nb nn da fi is fr nl es it pt pl cs sk hu ro bg el et lv lt uk ru tr ar fa he so ti ja ko zh vi th';

/** Made once for each language of a reader. */
export const languageNamesIn = onceForLanguage((language) => {
  const names = new Intl.DisplayNames(language, { type: 'language', fallback: 'code' });
  /** With a capital letter also where the language writes none: a name stands alone, or begins what is said. */
  const nameOf = (code: string): string => {
    const name = names.of(code) ?? code;
    return name.charAt(0).toLocaleUpperCase(language) + name.slice(1);
  };
  const sorted = (codes: readonly string[]): { code: string; name: string }[] =>
    codes
      .map((code) => ({ code, name: nameOf(code) }))
      .toSorted((a, b) => a.name.localeCompare(b.name, language));
  /** To choose from: the usual ones, and the one that is set. */
  const options = (present?: string | null): { value: string; label: string }[] =>
    sorted([...new Set([...usual.split(' '), ...(present ? [present] : [])])]).map(({ code, name }) => ({
      value: code,
      label: `${name} (${code})`,
    }));
  return { nameOf, sorted, options };
});

/** `nameOf('en')`: English, or Engelska. */
export const useLanguageNames = () => languageNamesIn(useLanguage());
