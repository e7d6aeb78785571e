// A language is added by adding its file, and every fault in it is named. The languages here are throw-away files in a folder of their own.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readAnsweringLanguages } from '../../languages/languages.ts';
import { languageReports, languageTable } from './languages.ts';

const ours = fileURLToPath(new URL('../../languages/text/', import.meta.url));
let folder: string;
const english = JSON.parse(readFileSync(join(ours, 'en/answering.json'), 'utf8')) as Record<string, string>;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'languages-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Adds the file of a language: the English texts, with these instead. undefined: without this text. */
function addLanguage(language: string, changes: Record<string, string | undefined> = {}): void {
  if (language !== 'en') cpSync(join(ours, 'en'), join(folder, 'en'), { recursive: true });
  mkdirSync(join(folder, language), { recursive: true });
  const file = { ...english, '@@locale': language, '@@x-style': 'Informal.', ...changes };
  writeFileSync(join(folder, language, 'answering.json'), JSON.stringify(file));
}
const reportOf = (language: string) =>
  languageReports(pathToFileURL(`${folder}/`)).find((report) => report.language === language);
const faultsOf = (language: string) => reportOf(language)?.faults.map(({ text }) => text);

describe('a language', () => {
  test('is there as soon as its file is, with everything that people who answer see', () => {
    addLanguage('is', {
      '@@x-draft': 'machine',
      '@@x-also-for': 'fo',
      title: 'Spurningar frá {company}',
      'questions.workload-pace': 'Ég get unnið á hraða sem ég ræð við.',
      'scales.yesNo.1': 'Já',
    });
    const { codes, list, texts, inAll } = readAnsweringLanguages(pathToFileURL(`${folder}/`));
    expect(list).toEqual([
      { language: 'en', texts: 'en', isDraft: false },
      { language: 'is', texts: 'is', isDraft: true },
      { language: 'fo', texts: 'is', isDraft: true },
    ]);
    for (const all of [codes, texts.languages]) expect(all).toEqual(['en', 'is']);
    expect(['IS', 'fo', 'FO', 'sv'].map(texts.languageFor)).toEqual(['is', 'is', 'is', 'en']);
    expect(texts.in('is')('title', { company: 'Nordwind' })).toBe('Spurningar frá Nordwind');
    expect(texts.in('is')('scales.yesNo.1')).toBe('Já');
    expect(inAll('questions.workload-pace')).toEqual({
      en: 'I can work at a pace I can keep up over time.',
      is: 'Ég get unnið á hraða sem ég ræð við.',
    });
    expect(faultsOf('is')).toEqual([]);
  });

  test('that lacks a text has it in English, with English plurals', () => {
    addLanguage('is', { asks: undefined, 'options.obstacles.noise': undefined });
    const { texts, inAll } = readAnsweringLanguages(pathToFileURL(`${folder}/`));
    expect(texts.in('is')('asks', { company: 'Nordwind', questions: 2 })).toBe(
      'Nordwind has 2 questions for you.',
    );
    expect(inAll('options.obstacles.noise')).toEqual({ en: 'Noise' });
    expect(() => inAll('options.obstacles.nois')).toThrow('options.obstacles.nois');
  });

  test('that is written from right to left isolates the names in its sentences', () => {
    addLanguage('he', { title: 'שאלות מאת {company}' });
    const { texts } = readAnsweringLanguages(pathToFileURL(`${folder}/`));
    expect(texts.in('he')('title', { company: 'Nordwind Inc.' })).toBe('שאלות מאת \u2068Nordwind Inc.\u2069');
    expect(texts.in('en')('title', { company: 'Nordwind Inc.' })).toBe('Questions from Nordwind Inc.');
    rmSync(join(folder, 'he'), { recursive: true });
  });
});

describe('the check', () => {
  test.each([
    ['a text that is missing', { send: undefined }, 'send: is missing'],
    ['a text that English lacks', { sendd: 'Send' }, 'sendd: is not an English text'],
    ['an empty text', { send: ' ' }, 'send: is empty'],
    ['invalid syntax', { title: 'From {company' }, 'title: EXPECT_ARGUMENT_CLOSING_BRACE'],
    ['another argument', { title: 'From {firma}' }, 'title: has [["firma","string"]]'],
    [
      'a subject that is too long',
      { 'mail.subject': `${english['mail.subject']} ${'x'.repeat(50)}` },
      'mail.subject: has',
    ],
    [
      'a button that is too long',
      { next: 'The following question' },
      'next: has 22 characters, at most 14 fit',
    ],
    ['a straight apostrophe', { saved: "It's saved" }, 'saved: has a straight apostrophe'],
    ['letters of the other direction', { saved: 'نعم' }, 'saved: is written in the other direction'],
    ['characters that change the direction', { saved: 'Saved\u200f' }, 'saved: has an invisible character'],
    ['a wrong head', { '@@locale': 'sv' }, '@@locale: is not is'],
    ['no word about how readers are addressed', { '@@x-style': undefined }, '@@x-style: is missing'],
    ['an unknown mark', { '@@x-draft': 'yes' }, '@@x-draft: is not machine'],
  ])('finds %s and says where', (_, changes, fault) => {
    addLanguage('is', changes);
    const found = faultsOf('is') ?? [];
    expect(found.some((one) => one.startsWith(fault))).toBe(true);
    expect(languageTable(languageReports(pathToFileURL(`${folder}/`)))).toContain(`\nis ${fault}`);
  });

  test('finds plural forms that a language has and English has not', () => {
    addLanguage('lt');
    expect(faultsOf('lt')).toContain('asks: {questions} lacks few, many');
    rmSync(join(folder, 'lt'), { recursive: true });
  });

  test('finds a direction that the service does not know', () => {
    addLanguage('ckb');
    expect(faultsOf('ckb')).toContain(
      '@@locale: is written rtl; add it to rightToLeft in contract/src/texts.ts',
    );
    rmSync(join(folder, 'ckb'), { recursive: true });
  });
});
