import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { inert, visible, inertInSms } from './visible-text.ts';
import { anyCharacter } from '../testing/house/cases.ts';

const anyText = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 200 }),
  fc.string({ unit: 'grapheme', maxLength: 200 }),
  fc
    .array(
      fc.constantFrom(
        '\u202e',
        '\u200b',
        '\r\n',
        '\0',
        '\ud800',
        'a',
        ' ',
        '\u0301',
        'ש',
        'http://a.b/',
        '.',
        '@',
      ),
    )
    .map((parts) => parts.join('')),
);

describe('visible text', () => {
  test('is one line of at most the given number of characters, none of them hidden', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 100 }), (text, max) => {
        const shown = visible(text, max);
        expect([...shown].length).toBeLessThanOrEqual(max);
        expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/u);
        expect(visible(shown, max)).toBe(shown);
      }),
    );
  });

  test('leaves ordinary text unchanged', () => {
    for (const text of [
      'Anna Åström',
      'anna@example.com',
      '=SUM(A1:A9)',
      '<b>',
      '👩‍🔧'.slice(0, 2),
      '❤️',
      'Nguyễn',
      'שלום',
    ]) {
      expect(visible(text, 100)).toBe(text);
    }
  });

  test.each([
    ['\u202emoc.elpmaxe@anna', '[U+202E]moc.elpmaxe@anna'],
    ['anna\u200b@example.com', 'anna[U+200B]@example.com'],
    ['a\0b\u{e0041}', 'a[U+0000]b[U+E0041]'],
    ['\u3164', '[U+3164]'],
    ['Anna\r\n\r\n  Ask\u2028x', 'Anna ↵ Ask ↵ x'],
    ['  a \t\u00a0 b  ', 'a b'],
    [`Z${'\u0301'.repeat(50)}`, `Z${'\u0301'.repeat(3)}`],
    ['\ud800', '\ufffd'],
  ])('of %j is %j', (text, shown) => {
    expect(visible(text, 100)).toBe(shown);
  });

  test('is cut if it is too long, which takes no noticeable time', () => {
    expect(visible('x'.repeat(11), 10)).toBe(`${'x'.repeat(9)}…`);
    expect(visible('🙂'.repeat(10), 10)).toBe('🙂'.repeat(10));
    expect(visible('🙂'.repeat(11), 10)).toBe(`${'🙂'.repeat(9)}…`);
    const start = process.threadCpuUsage();
    for (const one of ['x', ' ', '\n', '\u0301', '\u202e']) visible(one.repeat(10_000_000), 80);
    expect(process.threadCpuUsage(start).user / 1000).toBeLessThan(1_500);
  });
});

describe('inert text', () => {
  const withoutJoints = (text: string) => text.replaceAll(/[\u200b\u2068\u2069]/g, '');

  test('reads the same and contains no web address', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const shown = inert(text, 80);
        expect(withoutJoints(shown)).toBe(visible(text, 80));
        expect(shown.replaceAll(/\S*@\S*/g, '')).not.toMatch(/:\/\/|www\.\p{L}|\p{L}\.\p{L}/iu);
      }),
    );
  });

  test.each([
    'https://evil.example/x',
    'www.evil.com',
    'evil.com/?a@b.c',
    '=HYPERLINK("http://evil.com","x")',
    '//evil.com',
  ])('of %s is not a link to any program', (text) => {
    expect(inert(text, 80)).not.toMatch(/:\/\/|www\.e|evil\.c|evil\.e|b\.c/);
  });

  test('leaves email addresses and file names unchanged', () => {
    for (const text of [
      'anna@example.com',
      '"anna@example.com",',
      'users.csv',
      'Personal 2026.XLSX',
      'a.xls, b.csv',
    ]) {
      expect(inert(text, 80)).toBe(text);
    }
  });

  test('isolates right-to-left text', () => {
    expect(inert('שלום 12', 80)).toBe('\u2068שלום 12\u2069');
    expect(inert('\u2069שלום', 80)).toBe('\u2068[U+2069]שלום\u2069');
  });
});

test.each([
  ['Nordwind AB', 'Nordwind AB'],
  ['win at evil.example.com', 'win at evil. example. com'],
  ['https://evil.example/x', 'https: //evil. example/x'],
  ['me@evil.example', 'me @ evil. example'],
  ['A very long name of a company that no one can remember', 'A very long name of a company...'],
  ['two\nlines', 'two ↵ lines'],
])('%j in a text message is %j: nothing that a phone would turn into a link', (text, expected) => {
  expect(inertInSms(text, 30)).toBe(expected);
});
