// Breaks text into lines for a page, and replaces the characters that its fonts don't have. Pure.

export type Weight = 'regular' | 'semibold';

/** What is known about the fonts. */
export type Metrics = {
  /** Whether the fonts have a character. */
  has(codePoint: number): boolean;
  /** Returns the width of a text at size 1. */
  widthOf(text: string, weight: Weight): number;
};

/** Stands for a character that the fonts don't have, such as an emoji. */
const replacement = '□';

/**
 * Characters without a width, such as joiners and marks of the text direction, and characters that change the emoji before them.
 */
const invisible = /\p{Cf}|\p{Variation_Selector}|\p{Emoji_Modifier}/gu;

/**
 * Returns a text on one line, with a box for each character that the fonts don't have. Returns undefined if the text can't be read:
 * if one of these characters is a letter, or if the text has no other characters.
 */
export function readableText(text: string, metrics: Metrics): string | undefined {
  let isReadable = false;
  let shown = '';
  for (const character of plainText(text)) {
    if (metrics.has(character.codePointAt(0) as number)) {
      shown += character;
      isReadable ||= character !== ' ';
    } else {
      if (/[\p{L}\p{M}]/u.test(character)) return undefined;
      if (!shown.endsWith(replacement)) shown += replacement;
    }
  }
  return isReadable ? shown : undefined;
}

/** Returns a text on one line, with a box for each character that the fonts don't have, even for letters. */
export const replacedText = (text: string, metrics: Metrics): string =>
  [...plainText(text)]
    .map((character) => (metrics.has(character.codePointAt(0) as number) ? character : replacement))
    .join('');

const plainText = (text: string) =>
  text
    .toWellFormed()
    .normalize('NFC')
    .replace(invisible, '')
    .replace(/[\s\p{C}]+/gu, ' ')
    .trim();

type Space = { width: number; size: number; weight: Weight; most: number };

/** Breaks a text into at most `most` lines. If the text is longer, the last line ends with an ellipsis. Long words are broken. */
export function wrappedLines(text: string, { width, size, weight, most }: Space, metrics: Metrics): string[] {
  const fits = (line: string) => metrics.widthOf(line, weight) * size <= width;
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').flatMap((one) => brokenWord(one, fits))) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (fits(longer)) {
      line = longer;
      continue;
    }
    lines.push(line);
    line = word;
    if (lines.length === most) break;
  }
  if (lines.length < most) return line === '' ? lines : [...lines, line];
  const last = [...(lines[most - 1] as string)];
  while (last.length > 0 && !fits(`${last.join('').trimEnd()}…`)) last.pop();
  return [...lines.slice(0, most - 1), `${last.join('').trimEnd()}…`];
}

/** Returns the parts of a word that is wider than a line; a word that fits is its only part. */
function brokenWord(word: string, fits: (text: string) => boolean): string[] {
  if (fits(word)) return [word];
  const parts: string[] = [];
  let part = '';
  for (const character of word) {
    if (part !== '' && !fits(part + character)) {
      parts.push(part);
      part = '';
    }
    part += character;
  }
  return [...parts, part];
}
