// Text catalogues of the server: the texts of pages, emails and reports, from the JSON files in the `text` folders (decisions/0020).
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import {
  type CompiledText,
  type Translate,
  translator,
  writingDirectionOf,
} from '@soundings/contract/texts.ts';
import compile from 'icu-minify/compile';

export type Catalogue<Key extends string, Arguments> = {
  /** The languages in which the texts exist (ISO 639-1), English first. */
  languages: readonly string[];
  /** Returns `language` (in any letter case) if there are texts in that language, or else the one that stands in for it, or English. */
  languageFor(language: string): string;
  /** Returns the function that formats the texts of a language, or the English texts if there are none in that language. */
  in(language: string): Translate<Key, Arguments>;
};

/**
 * Returns the catalogue with these files. Each text is compiled when it is first used. A text that a language lacks is in English.
 * `standIns`: the languages whose readers get the texts of another language instead of English, such as nn: nb.
 */
export function catalogue<English extends Record<string, string>, Arguments>(
  files: { en: English } & Record<string, Partial<Record<keyof English, string>>>,
  standIns: ReadonlyMap<string, string> = new Map(),
): Catalogue<keyof English & string, Arguments> {
  const english = translatorFor('en', files.en);
  const translators = new Map(
    Object.entries(files).map(([language, texts]) => [
      language,
      language === 'en' ? english : translatorFor(language, texts, english),
    ]),
  );
  const languageFor = (language: string) =>
    [language, language.toLowerCase(), standIns.get(language.toLowerCase())].find(
      (one) => one !== undefined && translators.has(one),
    ) ?? 'en';
  return {
    languages: [...translators.keys()],
    languageFor,
    in: (language) => (translators.get(language) ?? translators.get(languageFor(language))) as never,
  };
}

type Texts = Readonly<Record<string, string | undefined>>;
type Values = Record<string, string | number>;
type TranslateAny = (key: string, values?: Values) => string;

function translatorFor(language: string, texts: Texts, english?: TranslateAny): TranslateAny {
  const compiled = new Map<string, CompiledText>();
  const translate = translator<string, Record<string, Values>>(language, (key) => {
    const known = compiled.get(key);
    if (known !== undefined) return known;
    const text = texts[key];
    if (text === undefined) return undefined;
    const added = compile(text);
    compiled.set(key, added);
    return added;
  }) as TranslateAny;
  const isRightToLeft = writingDirectionOf(language) === 'rtl';
  return (key, values) => {
    const text = texts[key];
    if (text === undefined && english) return english(key, values);
    return translate(key, isRightToLeft && values && text ? isolated(text, values) : values);
  };
}

/**
 * Returns the values with each text that is inserted as it is isolated by FSI and PDI, so that the dot of "Nordwind Inc." stays next to
 * the name in a sentence that is written from right to left (UAX #9).
 */
const isolated = (text: string, values: Values): Values =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' && text.includes(`{${name}}`) ? `\u2068${value}\u2069` : value,
    ]),
  );

/** Returns the files `<language>/<name>.json` of a folder, by language in alphabetical order. */
export function readCatalogueFiles(folder: URL, name: string): Map<string, Record<string, string>> {
  const files = readdirSync(folder)
    .toSorted()
    .map((language) => [language, new URL(`${language}/${name}.json`, folder)] as const)
    .filter(([, file]) => existsSync(file));
  return new Map(
    files.map(([language, file]) => [
      language,
      JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>,
    ]),
  );
}
