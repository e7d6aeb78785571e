// Names of countries in the reader's language.
import { countries } from '@soundings/contract/countries.ts';
import { onceForLanguage } from '@soundings/contract/texts.ts';
import { useLanguage } from './text.tsx';

/** The names of countries, created once for each language of the reader. */
const countryNamesIn = onceForLanguage((language) => {
  const names = new Intl.DisplayNames(language, { type: 'region', fallback: 'code' });
  const all = countries
    .map((code) => ({ code, name: names.of(code) ?? code }))
    .toSorted((a, b) => a.name.localeCompare(b.name, language));
  const byName = new Map(all.map(({ code, name }) => [name.toLocaleLowerCase(language), code]));
  /** Returns the code of a country given by name or code; otherwise the text itself. */
  const codeOf = (text: string): string => {
    const code = text.trim().toUpperCase();
    return (
      byName.get(text.trim().toLocaleLowerCase(language)) ?? (countries.includes(code) ? code : text.trim())
    );
  };
  const nameOf = (code: string): string => (countries.includes(code) ? (names.of(code) ?? code) : code);
  return { all, codeOf, nameOf };
});

/** `nameOf('SE')` returns Sweden or Sverige. */
export const useCountryNames = () => countryNamesIn(useLanguage());
