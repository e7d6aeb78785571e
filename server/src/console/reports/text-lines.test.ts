import { expect, test } from 'vitest';
import { fontMetrics } from './fonts.ts';
import { wrappedLines, type Metrics, readableText, replacedText } from './text-lines.ts';

/** Each character is as wide as its size, and only ASCII and å exist. */
const plain: Metrics = {
  has: (codePoint) => codePoint < 127 || codePoint === 0xe5,
  widthOf: (text) => [...text].length,
};
const lines = (text: string, width: number, most: number) =>
  wrappedLines(text, { width, size: 1, weight: 'regular', most }, plain);

test('a text is broken between words, and a word that is too long is broken within the word', () => {
  expect(lines('one two three', 7, 9)).toEqual(['one two', 'three']);
  expect(lines('abcdefghij kl', 4, 9)).toEqual(['abcd', 'efgh', 'ij', 'kl']);
  expect(lines('', 7, 9)).toEqual([]);
});

test('a text that does not fit ends with an ellipsis, and no line is wider than its space', () => {
  expect(lines('one two three four', 7, 2)).toEqual(['one two', 'three…']);
  expect(lines('one two', 7, 1)).toEqual(['one two']);
  expect(lines('one twoo', 7, 1)).toEqual(['one…']);
  for (let width = 1; width < 20; width++)
    expect(lines('some words, averylongoneamongthem', width, 3).every((line) => line.length <= width)).toBe(
      true,
    );
});

test('characters that the fonts lack become boxes; text in a script that the fonts lack is not readable', () => {
  expect(readableText('Bra jobbat 👍🏽👍!\n\tTack', plain)).toBe('Bra jobbat □! Tack');
  expect(readableText('a\u030a', plain)).toBe('å');
  expect(readableText('谢谢', plain)).toBeUndefined();
  expect(readableText('ok 谢谢', plain)).toBeUndefined();
  expect(readableText('👍👍', plain)).toBeUndefined();
  expect(readableText('\ud800 lone', plain)).toBe('□ lone');
  expect(replacedText('部 A', plain)).toBe('□ A');
});

test('the fonts of reports have the letters of Europe', () => {
  const text = 'åäöÅÄÖéèüßñçøæþđłęőřžğıİ ΑΒΓάέήίόύώ АБВабвїєґћ ạệữ €№„“”’–…±−▲';
  expect(readableText(text, fontMetrics)).toBe(text);
});
