// Texts of a catalogue, formatted for a reader.
import { describe, expect, test } from 'vitest';
import { catalogue } from './texts.ts';

type Arguments = { found: { count: number; place: string }; total: { sum: number }; only: { name: string } };
const en = {
  hello: 'Hello',
  found: '{count, plural, =0 {Nothing in {place}} one {# file in {place}} other {# files in {place}}}',
  total: '{sum, number} in total',
  only: '{name}',
};
const texts = catalogue<typeof en, Arguments>({
  en,
  sv: {
    hello: 'Hej',
    found: '{count, plural, one {# fil i {place}} other {# filer i {place}}}',
    total: '{sum, number} totalt',
    only: '{name}',
  },
  pl: {
    hello: 'Cześć',
    found: '{count, plural, one {# plik} few {# pliki} many {# plików} other {# pliku}} ({place})',
    total: 'Razem {sum, number}',
    only: '{name}',
  },
});

describe('a text', () => {
  test('formats numbers and plurals as the language does', () => {
    expect(texts.in('en')('found', { count: 0, place: 'A' })).toBe('Nothing in A');
    expect(texts.in('en')('found', { count: 1, place: 'A' })).toBe('1 file in A');
    expect(texts.in('en')('found', { count: 1234, place: 'A' })).toBe('1,234 files in A');
    expect(texts.in('sv')('total', { sum: 1234567 })).toBe('1\u00a0234\u00a0567 totalt');
    const polish = [1, 3, 5].map((count) => texts.in('pl')('found', { count, place: 'A' }));
    expect(polish).toEqual(['1 plik (A)', '3 pliki (A)', '5 plików (A)']);
  });

  test('is empty if it consists of one empty argument', () => {
    expect(texts.in('en')('only', { name: '' })).toBe('');
    expect(texts.in('en')('only', { name: 'Anna' })).toBe('Anna');
  });

  test('inserts values unchanged, whatever syntax they contain', () => {
    const place = "{count} '{' # <b>|</b> {x, plural, other {}}";
    expect(texts.in('en')('found', { count: 2, place })).toBe(`2 files in ${place}`);
  });
});

describe('a language', () => {
  test('is found whatever its letter case; a reader whose language has no texts gets English', () => {
    expect(texts.languages).toEqual(['en', 'sv', 'pl']);
    expect(['sv', 'SV', 'fi', '', 'constructor'].map(texts.languageFor)).toEqual([
      'sv',
      'sv',
      'en',
      'en',
      'en',
    ]);
    expect(texts.in('SV')('hello')).toBe('Hej');
    expect(texts.in('fi')('hello')).toBe('Hello');
  });
});
