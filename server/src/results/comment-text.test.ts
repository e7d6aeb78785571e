// Searching in comments: what is found is what is marked, in any case and Unicode form, and å is not a.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  caseFolded,
  likelyLanguages,
  matchesOf,
  wordKey,
  wordMatches,
  commentWordsIn,
} from './comment-text.ts';

const found = (search: string, text: string) =>
  matchesOf(caseFolded(search), text).map(([first, end]) => text.slice(first, end));

describe('a search', () => {
  test.each([
    ['övertid', 'ÖVERTID, O\u0308vertid och övertid', ['ÖVERTID', 'O\u0308vertid', 'övertid']],
    ['O\u0308VERTID', 'Mer övertid', ['övertid']],
    ['strasse', 'Die Straße', ['Straße']],
    ['ΟΔΟΣ', 'οδός οδος', ['οδος']],
    ['ﬁka', 'Fika och ﬁka', ['Fika', 'ﬁka']],
    ['two words', 'Two\nwords', ['Two\nwords']],
    ['sun ☀', 'The sun ☀️ is out', ['sun ☀️']],
    ['schedule', 'The sche\u00ADdule', ['sche\u00ADdule']],
    ['100%', '100% sure, 1000', ['100%']],
    ['aa', 'aaaa', ['aa', 'aa']],
  ])('for %j finds in %j: %j', (search, text, marks) => {
    expect(found(search, text)).toEqual(marks);
  });

  test('for a letter does not find another letter: a is not å', () => {
    expect(found('a', 'å \u0061\u030A')).toEqual([]);
    expect(found('tal', 'tål, ta\u030Al och tal')).toEqual(['tal']);
  });

  test('marks whole characters, in order and without overlaps, and each mark is what was searched for', () => {
    const texts = fc.string({ unit: 'grapheme', maxLength: 40 });
    fc.assert(
      fc.property(texts, fc.nat(40), fc.integer({ min: 1, max: 5 }), texts, (before, from, length, after) => {
        const text = before + after;
        const search = caseFolded([...before].slice(from, from + length).join(''));
        const ranges = matchesOf(search, text);
        for (const [i, [first, end]] of ranges.entries()) {
          expect(first).toBeGreaterThanOrEqual(ranges[i - 1]?.[1] ?? 0);
          expect(caseFolded(text.slice(first, end))).toContain(search);
        }
      }),
    );
  });

  test('finds the same in a text of ASCII characters as in one that also has others', () => {
    const texts = fc.string({ unit: fc.constantFrom(...'aAbB %\t\n-'), maxLength: 30 });
    fc.assert(
      fc.property(texts, texts, (search, text) => {
        const sought = caseFolded(search);
        const within = matchesOf(sought, `${text}\u00B7`).filter(([, end]) => end <= text.length);
        expect(matchesOf(sought, text)).toEqual(within);
      }),
    );
  });

  test('finds every text that contains it in another case or Unicode form', () => {
    const letters = fc.string({ unit: fc.constantFrom(...'aåäoöeénß ЖйİΣ'), minLength: 1, maxLength: 12 });
    const forms = fc.constantFrom('NFC', 'NFD', 'NFKC', 'NFKD');
    fc.assert(
      fc.property(letters, letters, letters, forms, (before, middle, after, form) => {
        const text = `${before} ${middle} ${after}`.normalize(form);
        expect(matchesOf(caseFolded(middle.toUpperCase()), text).length).toBeGreaterThan(0);
      }),
    );
  });
});

describe('words', () => {
  test('are joined by hyphens and separated by everything else, and are the same in any form', () => {
    expect(commentWordsIn('E-post: Don’t! 3 RASTER… “ra\u0308ster”').map(({ key }) => key)).toEqual([
      'e-post',
      'don',
      't',
      '3',
      'raster',
      'räster',
    ]);
    expect(wordMatches(wordKey('RÄSTER'), 'Inga ra\u0308ster, inte rästerna')).toEqual([[5, 12]]);
    expect(commentWordsIn('残業が多い').map(({ text }) => text)).toContain('残業');
  });

  test('show the language', () => {
    const language = (text: string) => likelyLanguages(commentWordsIn(text));
    expect(language('I eat lunch standing up more often than sitting down.')).toEqual(['en']);
    expect(language('Rasterna finns på schemat men inte i verkligheten.')).toEqual(['sv']);
    expect(language('Wir haben viel zu wenig Zeit für die Kunden.')).toEqual(['de']);
    expect(language('Övertid!')).toEqual([]);
  });
});
