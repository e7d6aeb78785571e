// Countries by their names in the reader's language.
import { countries } from '@soundings/contract/countries.ts';
import { onceForLanguage, useLanguage } from './text.tsx';

/** Made once for each language of a reader. */
const countryNamesIn = onceForLanguage((language) => {
  const names = new Intl.DisplayNames(language, { type: 'region', fallback: 'code' });
  const all = countries
    .map((code) => ({ code, name: names.of(code) ?? code }))
    .toSorted((a, b) => a.name.localeCompare(b.name, language));
  const byName = new Map(all.map(({ code, name }) => [name.toLocaleLowerCase(language), code]));
  /** The code of a country that is written by its name or its code; else the text itself. */
  const codeOf = (text: string): string => {
    const code = text.trim().toUpperCase();
    return (
      byName.get(text.trim().toLocaleLowerCase(language)) ?? (countries.includes(code) ? code : text.trim())
    );
  };
  const nameOf = (code: string): string => (countries.includes(code) ? (names.of(code) ?? code) : code);
  return { all, codeOf, nameOf };
});

/** `nameOf('SE')`: Sweden, or Sverige. */
export const useCountryNames = () => countryNamesIn(useLanguage());
