// Text catalogues of the server: the texts of pages, emails and reports, from the JSON files in the `text` folders (decisions/0020).
import { type CompiledText, type Translate, translator } from '@soundings/contract/texts.ts';
import compile from 'icu-minify/compile';

export type Catalogue<Key extends string, Arguments> = {
  /** The languages in which the texts exist (ISO 639-1), English first. */
  languages: readonly string[];
  /** Returns `language` (in any letter case) if there are texts in that language, otherwise English. */
  languageFor(language: string): string;
  /** Returns the function that formats the texts of a language, or the English texts if there are none in that language. */
  in(language: string): Translate<Key, Arguments>;
};

/** Returns the catalogue with these files. Each text is compiled when it is first used. */
export function catalogue<English extends Record<string, string>, Arguments>(
  files: { en: English } & Record<string, Record<keyof English, string>>,
): Catalogue<keyof English & string, Arguments> {
  const translators = new Map(
    Object.entries(files).map(([language, texts]) => [language, translatorFor(language, texts)]),
  );
  const languageFor = (language: string) =>
    [language, language.toLowerCase()].find((one) => translators.has(one)) ?? 'en';
  return {
    languages: [...translators.keys()],
    languageFor,
    in: (language) => (translators.get(language) ?? translators.get(languageFor(language))) as never,
  };
}

function translatorFor(language: string, texts: Record<string, string>): Translate<string, never> {
  const compiled = new Map<string, CompiledText>();
  return translator(language, (key) => {
    const known = compiled.get(key);
    if (known !== undefined) return known;
    const text = texts[key];
    if (text === undefined) return undefined;
    const added = compile(text);
    compiled.set(key, added);
    return added;
  });
}
