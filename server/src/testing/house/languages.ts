// Checks the files of the languages that people answer in (docs/translating.md): completeness, plurals, arguments, lengths and direction.
// Run it as a program (npm run languages) to print a table. A test of the house runs the same check.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { writingDirectionOf } from '@soundings/contract/texts.ts';
import { readCatalogueFiles } from '../../base/texts.ts';
import { type AnsweringLanguages, readAnsweringLanguages } from '../../languages/languages.ts';
import { segmentsOf } from '../../sms/segments.ts';
import { faultsOf, literalsOf, withoutHead } from './catalogues.ts';

/** What a fault is about: a column of the table. */
const aspects = ['texts', 'plurals', 'arguments', 'length', 'direction'] as const;
type Aspect = (typeof aspects)[number];
type LanguageFault = { aspect: Aspect; text: string };

export type LanguageReport = {
  language: string;
  /** In the language itself. */
  name: string;
  /** How many of the English texts it has. */
  texts: number;
  of: number;
  /** Whether no native speaker has read the texts since a machine drafted them. */
  isDraft: boolean;
  faults: LanguageFault[];
};

/** TypeScript doesn't know this method yet. */
type LocaleWithText = Intl.Locale & { getTextInfo(): { direction: string } };

const ours = new URL('../../languages/text/', import.meta.url);

/** Returns what is wrong with each language of a folder, English first. */
export function languageReports(folder: URL = ours): LanguageReport[] {
  const files = readCatalogueFiles(folder, 'answering');
  const english = withoutHead(files.get('en') ?? {});
  const languages = readAnsweringLanguages(folder);
  return languages.codes.map((language) => {
    const file = files.get(language) as Record<string, string>;
    const texts = withoutHead(file);
    const known = Object.entries(texts).filter(([key]) => Object.hasOwn(english, key));
    return {
      language,
      name: namesIn(language).of(language) ?? language,
      texts: known.length,
      of: Object.keys(english).length,
      isDraft: languages.list.some((one) => one.language === language && one.isDraft),
      faults: [
        ...headFaults(language, file),
        ...keyFaults(texts, english),
        ...faultsOf(language, Object.fromEntries(known), english).map((text) => ({
          aspect: aspectOf(text),
          text,
        })),
        ...known.flatMap(([key, text]) => [
          ...formFaults(language, key, text),
          ...lengthFaults(languages, language, key),
          ...segmentFaults(languages, language, key),
        ]),
      ],
    };
  });
}

const namesIn = (language: string) => new Intl.DisplayNames(language, { type: 'language', fallback: 'code' });

const aspectOf = (fault: string): Aspect =>
  / lacks /.test(fault) ? 'plurals' : /: has \[/.test(fault) ? 'arguments' : 'texts';

const faultsIf = (isFault: boolean, aspect: Aspect, text: string): LanguageFault[] =>
  isFault ? [{ aspect, text }] : [];

/** Returns what is wrong with the entries that describe the file, and with its language. */
function headFaults(language: string, file: Readonly<Record<string, string>>): LanguageFault[] {
  const entries = ['@@locale', '@@x-draft', '@@x-also-for', '@@x-style'];
  const unknown = Object.keys(file).filter((key) => key.startsWith('@@') && !entries.includes(key));
  const { direction } = (new Intl.Locale(language) as LocaleWithText).getTextInfo();
  return [
    ...faultsIf(namesIn('en').of(language) === language, 'texts', '@@locale: no language has this code'),
    ...faultsIf(file['@@locale'] !== language, 'texts', `@@locale: is not ${language}, as the folder`),
    ...faultsIf(!file['@@x-style'], 'texts', '@@x-style: is missing; say how readers are addressed'),
    ...faultsIf(!['machine', undefined].includes(file['@@x-draft']), 'texts', '@@x-draft: is not machine'),
    ...unknown.map((key) => ({ aspect: 'texts' as const, text: `${key}: is unknown` })),
    ...faultsIf(
      direction !== writingDirectionOf(language),
      'direction',
      `@@locale: is written ${direction}; add it to rightToLeft in contract/src/texts.ts`,
    ),
  ];
}

function keyFaults(texts: Record<string, string>, english: Record<string, string>): LanguageFault[] {
  const missing = Object.keys(english).filter((key) => !Object.hasOwn(texts, key));
  const unknown = Object.keys(texts).filter((key) => !Object.hasOwn(english, key));
  return [
    ...missing.map((key) => ({ aspect: 'texts' as const, text: `${key}: is missing` })),
    ...unknown.map((key) => ({ aspect: 'texts' as const, text: `${key}: is not an English text` })),
  ];
}

const rightToLeftLetter = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** Returns what is wrong with the characters of a text. */
function formFaults(language: string, key: string, text: string): LanguageFault[] {
  const literals = literalsOf(text);
  const isRightToLeft = writingDirectionOf(language) === 'rtl';
  const isForeign = /\p{L}/u.test(literals) && rightToLeftLetter.test(literals) !== isRightToLeft;
  return [
    ...faultsIf(text !== text.trim(), 'texts', `${key}: begins or ends with a space`),
    ...faultsIf(/\p{L}'\p{L}/u.test(text), 'texts', `${key}: has a straight apostrophe; use ’`),
    ...faultsIf(isForeign, 'direction', `${key}: is written in the other direction than the language`),
    ...faultsIf(
      /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(text),
      'direction',
      `${key}: has an invisible character that changes the direction; remove it`,
    ),
  ];
}

/** How many characters a reader can see of a text. Mail programs cut longer subjects, and longer buttons don't fit on a phone. */
const limits: readonly [keys: RegExp, most: number][] = [
  [/^mail\.(subject|reminderSubject|replaced\.subject)$/, 90],
  [/^(back|next|finish)$/, 14],
  [/^entry\.(continue|scan|cancel|done|stay|finish)$/, 24],
  [/^(saving|saved|received|language)$/, 24],
  [/^(send|sendAgain|addComment|skip|thanks\.(change|rest)|mail\.button|optOut\..*\.(button|stopAll))$/, 36],
  [/heading(Named)?$/i, 64],
  [/^scales\.(tenStep|recommendation)\./, 26],
  [/^scales\./, 32],
  [/^questions\./, 100],
  [/^options\./, 60],
  [/^(kpis|templates)\./, 50],
];
/** Values that are long, but usual. */
const examples = { company: 'Nordwind Logistik', firstName: 'Karin', questions: 12, minutes: 3 };
/** What follows the text of an invitation or a reminder in a text message. */
const link = ` https://surveys.nordwind.example/a/${'x'.repeat(27)}`;

function lengthFaults({ texts }: AnsweringLanguages, language: string, key: string): LanguageFault[] {
  const most = limits.find(([keys]) => keys.test(key))?.[1];
  if (most === undefined) return [];
  const t = texts.in(language) as (name: string, values: object) => string;
  try {
    const { length } = [...t(key, examples).replaceAll(/[\u2068\u2069]/g, '')];
    return faultsIf(length > most, 'length', `${key}: has ${length} characters, at most ${most} fit`);
  } catch {
    return []; // A text that can't be formatted has another fault.
  }
}

/** A text message fits into one segment, or into two if the language has letters that need more space. */
function segmentFaults({ texts }: AnsweringLanguages, language: string, key: string): LanguageFault[] {
  if (!key.startsWith('sms.')) return [];
  const t = texts.in(language) as (name: string, values: object) => string;
  try {
    const { encoding, length, segments } = segmentsOf(
      t(key, examples) + (key === 'sms.replaced' ? '' : link),
    );
    const most = encoding === 'GSM-7' ? 1 : 2;
    const text = `${key}: needs ${segments} segments of a text message (${length} characters of ${encoding}), at most ${most} are sent`;
    return faultsIf(segments > most, 'length', text);
  } catch {
    return []; // A text that can't be formatted has another fault.
  }
}

/** Returns a table with a line for each language, and below it what is wrong. */
export function languageTable(reports: readonly LanguageReport[]): string {
  const table = [
    ['', 'language', ...aspects, 'state'],
    ...reports.map((report) => [
      report.language,
      report.name,
      ...aspects.map((aspect) => cellOf(report, aspect)),
      report.isDraft ? 'machine-drafted' : '',
    ]),
  ];
  const widths = table[0]?.map((_, i) => Math.max(...table.map((row) => row[i]?.length ?? 0))) ?? [];
  const lines = table.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const faults = reports.flatMap((report) => report.faults.map(({ text }) => `${report.language} ${text}`));
  return [...lines, ...(faults.length > 0 ? ['', ...faults] : [])].join('\n');
}

function cellOf({ language, texts, of, faults }: LanguageReport, aspect: Aspect): string {
  const count = faults.filter((fault) => fault.aspect === aspect).length;
  if (aspect === 'texts') return `${texts} of ${of}`;
  if (count > 0) return `${count} wrong`;
  if (aspect === 'direction') return writingDirectionOf(language);
  const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions();
  return aspect === 'plurals' ? String(pluralCategories.length) : 'ok';
}

if (import.meta.main) {
  const [folder] = process.argv.slice(2);
  const reports = languageReports(folder === undefined ? ours : pathToFileURL(`${resolve(folder)}/`));
  process.stdout.write(`${languageTable(reports)}\n`);
  process.exitCode = reports.some(({ faults }) => faults.length > 0) ? 1 : 0;
}
