// Cells of CSV: no text is changed by writing and reading it, and no spreadsheet program runs or converts it.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readCsv } from '../testing/csv.ts';
import { textCell } from './csv.ts';
import { anyCharacter, cases } from '../testing/house/cases.ts';

const isProtected = (text: string) => readCsv(`${textCell(text)}\r\n`)[0]![0] === `'${text}`;
const withoutApostrophe = (text: string) => text.replace(/^'/, '');

/** Texts of any characters, and of characters that are special to CSV or to spreadsheet programs. */
const texts = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.string({ unit: fc.constantFrom(...'=+-@\t\r\n",;\' 0123456789.:/%eE()amprsAMPÅö') }),
  fc.string({
    unit: fc.constantFrom('1', '2', '31', ' ', '-', '/', '.', 'mar', 'Maj', 'sept', 'OKTOBER', 'x'),
  }),
);

/**
 * Removes the apostrophes that protect programs that split cells at semicolons, tabs or bars: those between such a character and a
 * formula sign.
 */
const withoutInner = (text: string) => text.replaceAll(/(?<=[;\t|]\s*)'(?=[=+\-@＝＋－＠])/g, '');

describe('a cell', () => {
  test('reads back as the original text, except for one leading apostrophe', () => {
    fc.assert(
      fc.property(fc.array(fc.array(texts, { minLength: 2, maxLength: 4 }), { minLength: 1 }), (records) => {
        const text = records.map((record) => `${record.map(textCell).join(',')}\r\n`).join('');
        const got = readCsv(text);
        const plain = (cells: string[][]) => cells.map((record) => record.map(withoutInner));
        expect(plain(got.map((record) => record.map(withoutApostrophe)))).toEqual(plain(records));
      }),
      cases(500),
    );
  });

  test('never begins like a formula, quoted or not', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(textCell(text)).not.toMatch(/^"?[=+\-@\t\r\n＝＋－＠]/);
      }),
      cases(1_250),
    );
  });

  test('is never a number in JavaScript', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const [[cell]] = readCsv(`${textCell(text)}\r\n`) as [[string]];
        expect(cell.trim() === '' || Number.isNaN(Number(cell)) || /^0[xbo]|Infinity/i.test(cell)).toBe(true);
      }),
      cases(1_250),
    );
  });

  test('is written in time proportional to its length, whatever its characters', () => {
    const long = 200_000;
    for (const unit of ['1', '1 ', ' ', '1:', '(', 'mar', '1mar', '.', "'", '"']) {
      const started = performance.now();
      textCell(`${unit.repeat(long)}x`);
      textCell(`1${unit.repeat(long)}x`);
      textCell(`1 mar${unit.repeat(long)}x`);
      expect([unit, performance.now() - started < 1000]).toEqual([unit, true]);
    }
  });
});

describe('an apostrophe is added before', () => {
  test.each([
    ['formulas', ['=1+1', '+1', '-1', '@SUM(A1)', '\r=1', '\n=1', '＝1+1', '=HYPERLINK("http://x","y")']],
    [
      'numbers',
      ['00123', '0', '46701234567', '1E5', '1e-5', '1.5', '1,5', '1 000', '5%', '(5)', '$5', '5 €'],
    ],
    ['numeric dates', ['1-2', '3/4', '2026-11-16', '1.2.2026', '16/11', '12-31-99', ' 1-2', '1-2 ']],
    [
      'dates with a month',
      ['Mar1', '1 sep', 'SEPT2', 'MARCH1', 'Dec-1', '1-maj', '3 mars', '1/sep', '24 okt 2026'],
    ],
    [
      'more dates with a month',
      ['Sep 1, 2026', '1. März', '2026-jan-01', 'mai 3', 'JUNI 12', '1jan', 'Jul-26', 'may 1'],
    ],
    ['times', ['12:30', '3 PM', '3pm', '3 a', '12:30:15 am', '0:00']],
    ['truth values', ['TRUE', 'false', 'Sant', 'FALSKT', 'wahr', 'Falsch']],
    ['an apostrophe', ["'s-Hertogenbosch", "'00123", "'"]],
  ])('%s', (_, cells) => {
    expect(cells.filter((cell) => !isProtected(cell))).toEqual([]);
  });
});

test.each([
  ['', ['']],
  [
    'names with digits',
    ['Team 1', '3M Nordic', 'A-2 Böcker', 'R&D 2.0', '4th floor', 'Plan B', 'Route 66 / 7'],
  ],
  [
    'names like months',
    ['Marketing 1', '3 Marketing', 'Augusta 2', 'Decor 12', 'May', 'Mars', 'Octopus 8', 'Aprilia 1'],
  ],
  ['names like times', ['3 apples', '10 Amsterdam', 'A 3', '3A']],
  ['ids', ['north-1', 'G00123', '12ab34', 'a1e5', '0x1F', 'bd3b6c5e-7d3a']],
  ['others', ['true north', 'Österlen', '部門', '🙂', 'a=b', 'x+y', 'me@example.org', "O'Hara"]],
])('none is added before %s', (_, cells) => {
  expect(cells.filter((cell) => textCell(cell) !== cell)).toEqual([]);
});

test('programs that split cells at semicolons or tabs find no formula either', () => {
  const cells = ['North;=1+1;x', 'a\t@b', 'a; -1', 'a|+b', 'a;b=c', 'a-b'];
  expect(cells.map(textCell)).toEqual([`"North;'=1+1;x"`, `"a\t'@b"`, `"a; '-1"`, `a|'+b`, '"a;b=c"', 'a-b']);
});

test('cells with commas, semicolons, quotes or line breaks are quoted', () => {
  expect(['a,b', 'say "hi"', 'two\nlines', 'two\r\nlines', 'a;b', '=1,"2"'].map(textCell)).toEqual([
    '"a,b"',
    '"say ""hi"""',
    '"two\nlines"',
    '"two\r\nlines"',
    '"a;b"',
    `"'=1,""2"""`,
  ]);
});
