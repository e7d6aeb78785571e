// The text of comments: where a search or a word matches, which words a comment contains, and in which language it probably is.
// Matching ignores case and Unicode form, and the same function decides what is found and what is marked. Pure.
import { stopWordLists } from './stop-words.ts';

/** A part of a text in UTF-16 code units: [first, end). */
export type TextRange = [number, number];

/** A character with its combining marks. Normalization never reorders marks across characters. */
const characters = /\P{M}\p{M}*|\p{M}+/gu;
/** Variation selectors and soft hyphens, which change only how a text looks. */
const invisible = /\u00AD|[\uFE00-\uFE0F]/g;
/** The marks that change a letter, as in å. Someone who searches for a doesn't mean å. */
const changesLetter = /[\u0300-\u036F\u3099\u309A]/;

/** Returns a text in the form in which texts are compared: without case, and fully decomposed. */
export const caseFolded = (text: string): string =>
  text
    .normalize('NFKD')
    .toUpperCase()
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(invisible, '')
    .replaceAll(/\s/g, ' ')
    .replaceAll('ς', 'σ');

// Tens of thousands of comments are searched at a time, and most of their characters are the same few.
const folds = new Map<string, string>();
const foldsKept = 10_000;

function foldedCharacter(character: string): string {
  const fold = folds.get(character) ?? caseFolded(character);
  if (folds.size < foldsKept) folds.set(character, fold);
  return fold;
}

/** Matches texts that folding changes only in the case of letters and the kind of white space. */
const onlyAscii = /^[\0-\x7F]*$/;

/** Returns the folded text, and for each of its code units the range of the character that it comes from. */
function foldedWithPlaces(text: string): { whole: string; places: TextRange[] } {
  let whole = '';
  const places: TextRange[] = [];
  for (const { 0: character, index } of text.matchAll(characters)) {
    const fold = foldedCharacter(character);
    whole += fold;
    for (let i = 0; i < fold.length; i++) places.push([index, index + character.length]);
  }
  return { whole, places };
}

/** Returns the parts of a text that match a search, which is already folded. They do not overlap. */
export function matchesOf(search: string, text: string): TextRange[] {
  if (search === '') return [];
  if (onlyAscii.test(text)) return asciiMatches(search, text);
  if (!caseFolded(text).includes(search)) return [];
  const { whole, places } = foldedWithPlaces(text);
  const found: TextRange[] = [];
  for (let at = whole.indexOf(search); at >= 0;) {
    const end = at + search.length;
    const isPart = changesLetter.test(whole[end] ?? '');
    const [first, last] = [places[at]![0], places[end - 1]![1]];
    if (!isPart && first >= (found.at(-1)?.[1] ?? 0)) found.push([first, last]);
    at = whole.indexOf(search, isPart ? at + 1 : end);
  }
  return found;
}

/** Does the same as `matchesOf`, in a text that consists of ASCII characters. */
function asciiMatches(search: string, text: string): TextRange[] {
  const whole = text.toLowerCase().replaceAll(/\s/g, ' ');
  const found: TextRange[] = [];
  for (let at = whole.indexOf(search); at >= 0; at = whole.indexOf(search, at + search.length))
    found.push([at, at + search.length]);
  return found;
}

const word = /[\p{L}\p{N}][\p{L}\p{M}\p{N}\u00AD]*(?:[-‐‑][\p{L}\p{N}][\p{L}\p{M}\p{N}\u00AD]*)*/gu;
/** Scripts that don't put spaces between words. */
const withoutSpaces =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });

/** `key`: the same for every way to write the word. `text`: as written. */
export type Word = { key: string; text: string; range: TextRange };

/** Returns the key of a word. */
export const wordKey = (text: string): string => caseFolded(text).normalize('NFC').replaceAll(/[‐‑]/g, '-');

/** Returns the words of a text in order. A hyphen joins words, an apostrophe separates them. */
export function commentWordsIn(text: string): Word[] {
  const found = withoutSpaces.test(text)
    ? [...segmenter.segment(text)]
        .filter(({ isWordLike }) => isWordLike)
        .map((one) => [one.segment, one.index])
    : [...text.matchAll(word)].map((match) => [match[0], match.index]);
  return (found as [string, number][]).map(([own, index]) => ({
    key: wordKey(own),
    text: own,
    range: [index, index + own.length],
  }));
}

/** Returns where a text contains a word; `key`: its key. */
export const wordMatches = (key: string, text: string): TextRange[] =>
  commentWordsIn(text)
    .filter((one) => one.key === key)
    .map(({ range }) => range);

const stopWords: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(stopWordLists).map(([language, list]) => [
    language,
    new Set(list.split(/\s+/).map(wordKey)),
  ]),
);

/** Whether a word, by its key, is too common in a language to say anything. No word is in a language without a list. */
export const isStopWord = (language: string, key: string): boolean =>
  stopWords.get(language)?.has(key) ?? false;

/** Returns the languages with the most stop words in a comment: several if they are equal, none if there is no stop word. */
export function likelyLanguages(words: readonly Word[]): string[] {
  const counts = [...stopWords].map(([language, list]) => ({
    language,
    count: words.filter(({ key }) => list.has(key)).length,
  }));
  const most = Math.max(...counts.map(({ count }) => count));
  return most === 0 ? [] : counts.filter(({ count }) => count === most).map(({ language }) => language);
}
