// How many segments a text message needs.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { segmentsOf } from './segments.ts';

test.each([
  ['160 plain characters', 'a'.repeat(160), 'GSM-7', 160, 1],
  ['161 plain characters', 'a'.repeat(161), 'GSM-7', 161, 2],
  ['two full segments', 'a'.repeat(306), 'GSM-7', 306, 2],
  ['one more', 'a'.repeat(307), 'GSM-7', 307, 3],
  ['letters of Nordic languages', 'åäöæøÅÄÖ', 'GSM-7', 8, 1],
  ['characters of two places', '€'.repeat(80), 'GSM-7', 160, 1],
  ['a character of two places that does not fit', `${'a'.repeat(152)}€${'a'.repeat(152)}`, 'GSM-7', 306, 3],
  ['a letter of another alphabet', 'ł', 'UCS-2', 1, 1],
  ['a typographic apostrophe', `${'a'.repeat(70)}’`, 'UCS-2', 71, 2],
  ['70 Arabic letters', 'س'.repeat(70), 'UCS-2', 70, 1],
  ['71 Arabic letters', 'س'.repeat(71), 'UCS-2', 71, 2],
  ['emojis, each of two places', '🍓'.repeat(35), 'UCS-2', 70, 1],
  ['an emoji that does not fit', `${'ł'.repeat(66)}🍓${'ł'.repeat(66)}`, 'UCS-2', 134, 3],
] as const)('of %s', (_, text, encoding, length, segments) => {
  expect(segmentsOf(text)).toEqual({ encoding, length, segments });
});

test('never fewer than the length needs, and never more than one more', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 700 }), (text) => {
      const { encoding, length, segments } = segmentsOf(text);
      const [single, each] = encoding === 'GSM-7' ? [160, 153] : [70, 67];
      expect(segments).toBeGreaterThanOrEqual(length <= single ? 1 : Math.ceil(length / each));
      expect(segments).toBeLessThanOrEqual(length <= single ? 1 : Math.ceil(length / (each - 1)));
    }),
  );
});
