// The languages of what people who answer see: the answering page, invitations and reminders, the ready-made questions and the scales.
// Each language is a file, text/<language>/answering.json, and nothing else has to be changed to add one (docs/translating.md). Pure.
import type { AnsweringLanguage } from '@soundings/contract/console/session.ts';
import { assetAt } from '../base/places.ts';
import { type Catalogue, catalogue, readCatalogueFiles } from '../base/texts.ts';
import type { Arguments } from './text/arguments.ts';
import type en from './text/en/answering.json';

/** The name of a text. Names that begin with @@ describe the file. */
export type AnsweringKey = Exclude<keyof typeof en, `@@${string}`>;

/** A text in each language that has it. */
export type TextByLanguage = { en: string } & Record<string, string>;

export type AnsweringLanguages = {
  /** The languages with a file, English first. */
  codes: readonly string[];
  /** These languages, and those that another one stands in for. */
  list: readonly AnsweringLanguage[];
  texts: Catalogue<AnsweringKey, Arguments['answering']>;
  /** Returns a text without arguments in all languages. Throws if there is no such text. */
  inAll(key: string): TextByLanguage;
};

/** Returns the languages of a folder, as they are when it is called. */
export function readAnsweringLanguages(folder: URL): AnsweringLanguages {
  const { en: english, ...others } = Object.fromEntries(readCatalogueFiles(folder, 'answering'));
  const files = { en: english as Record<AnsweringKey, string>, ...others };
  const list = Object.entries<Record<string, string>>(files).flatMap(([texts, file]) =>
    [texts, ...alsoFor(file).filter((one) => !Object.hasOwn(files, one))].map((language) => ({
      language,
      texts,
      isDraft: isDraft(file),
    })),
  );
  const standIns = new Map(list.map(({ language, texts }) => [language, texts]));
  return {
    codes: Object.keys(files),
    list,
    texts: catalogue<Record<AnsweringKey, string>, Arguments['answering']>(files, standIns),
    inAll(key) {
      const found = Object.entries<Record<string, string>>(files).flatMap(([language, { [key]: text }]) =>
        text === undefined ? [] : [[language, text] as const],
      );
      if (found[0]?.[0] !== 'en') throw new Error(`There is no text ${key}`);
      return Object.fromEntries(found) as TextByLanguage;
    },
  };
}

/** Returns the languages whose readers get the texts of a file. */
const alsoFor = (file: Readonly<Record<string, string>>): string[] => file['@@x-also-for']?.split(' ') ?? [];

/** Whether a file says that its texts were drafted by a machine and no native speaker has read them. */
const isDraft = (texts: Readonly<Record<string, string>>): boolean => texts['@@x-draft'] === 'machine';

export const answeringLanguages: AnsweringLanguages = readAnsweringLanguages(assetAt('languages/text/'));
