// The console's texts: a catalogue per area and language, loaded when a page of the area is first shown. The English catalogues
// define the types of the keys and of the arguments. The texts of the privacy report and of the email test are in the contract,
// because the soundings command prints the same. The build compiles the texts (catalogues in vite.config.ts).
import type { MailArguments, MailTextKey } from '@soundings/contract/console/mail-findings.ts';
import type { PrivacyArguments, PrivacyTextKey } from '@soundings/contract/console/privacy-sentences.ts';
import { type FormatType, formatTexts } from '@soundings/contract/formats.ts';
import type { CompiledText } from '@soundings/contract/texts.ts';
import { loadOnDemand } from '../hooks/load-on-demand.ts';
import type { Arguments } from './arguments.ts';
import type access from './en/access.json';
import type asking from './en/asking.json';
import type common from './en/common.json';
import type groups from './en/groups.json';
import type people from './en/people.json';
import type reports from './en/reports.json';
import type results from './en/results.json';
import type runs from './en/runs.json';
import type session from './en/session.json';

type English = {
  access: typeof access;
  asking: typeof asking;
  common: typeof common;
  groups: typeof groups;
  people: typeof people;
  reports: typeof reports;
  results: typeof results;
  runs: typeof runs;
  session: typeof session;
};
/** A folder of pages; `common` has the texts that all of them share. */
export type Area = keyof English;
export type TextKey =
  { [A in Area]: keyof English[A] }[Area] | `fault.${FormatType}` | MailTextKey | PrivacyTextKey;
/** The arguments of the texts that have any, by key. */
export type ArgumentsByText = Arguments['access'] &
  Arguments['asking'] &
  Arguments['common'] &
  Arguments['groups'] &
  Arguments['people'] &
  Arguments['reports'] &
  Arguments['results'] &
  Arguments['runs'] &
  Arguments['session'] &
  MailArguments &
  PrivacyArguments;
export type Catalogue = Readonly<Partial<Record<TextKey, CompiledText>>>;
export type Language = 'en' | 'sv';

const files = {
  ...import.meta.glob<Catalogue>('./*/*.json', { import: 'default' }),
  ...import.meta.glob<Catalogue>('../../../contract/src/text/*/{mail,privacy}.json', { import: 'default' }),
};
const loading = new Map<string, Promise<Catalogue>>();
const loaded = new Map<string, Catalogue>();

/** Loads the texts of an area. Callers share one promise until it fails. */
export function loadTexts(language: Language, area: Area): Promise<Catalogue> {
  const key = keyOf(language, area);
  const known = loading.get(key);
  if (known) return known;
  const texts = loadOnDemand(() => loadFiles(pathsOf(language, area)));
  loading.set(key, texts);
  texts.then(
    (all) => loaded.set(key, all),
    () => loading.delete(key),
  );
  return texts;
}

/** Returns the texts of an area if they have loaded. */
export const loadedTexts = (language: Language, area: Area): Catalogue | undefined =>
  loaded.get(keyOf(language, area));

const keyOf = (language: Language, area: Area) => `${language} ${area}`;

const pathsOf = (language: Language, area: Area): string[] => [
  `./${language}/${area}.json`,
  ...(area === 'access'
    ? ['mail', 'privacy'].map((name) => `../../../contract/src/text/${language}/${name}.json`)
    : []),
];

async function loadFiles(paths: string[]): Promise<Catalogue> {
  const all = await Promise.all(paths.map((path) => files[path]!()));
  return Object.assign({}, ...all) as Catalogue;
}

/** Loads the texts that every page needs; `session` because users may have to sign in again on any page. */
export async function loadFirstTexts(language: Language): Promise<Catalogue> {
  const [common, session] = await Promise.all([
    loadTexts(language, 'common'),
    loadTexts(language, 'session'),
  ]);
  return { ...formatsIn(language), ...common, ...session };
}

/** Returns what is wrong with values of each format: `fault.invalid email` and others. They are plain texts, so they need no compiling. */
const formatsIn = (language: Language): Catalogue =>
  Object.fromEntries(Object.entries(formatTexts[language]).map(([type, text]) => [`fault.${type}`, text]));
