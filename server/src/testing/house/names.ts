// What house.form.test.ts checks of the names in the code: the words of docs/writing.md that no declared name may contain.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The words, each with the word to use in its place. */
const words = new Map<string, string>([
  ...(['beneath', 'anew', 'landscape', 'plumbing', 'spellings', 'silences', 'doors'] as const).map(
    (word) => [word, 'see docs/writing.md'] as const,
  ),
  ['told', 'notified'],
  ['tell', 'notify'],
  ['delivered', 'managed'],
  ['spread', 'variance or distribution'],
  ['mood', 'sentiment'],
  ['letter', 'email template, mail'],
  ['held', 'pending'],
  ['packed', 'compressed'],
  ['least', 'minimum'],
  ['gate', 'throttle'],
]);

const declared = [
  /\b(?:const|let|function\*?|type|interface|class)\s+([A-Za-z_$][\w$]*)/g,
  /\b(?:const|let)\s*[{[]([^=;]*?)[}\]]\s*(?::[^=;]*)?=/g, // the names in a pattern
  /(?:^|[\s({,<])([A-Za-z_$][\w$]*)\??\s*(?::|(?=\([^()]*\)\s*[:{]))/g, // properties, parameters and methods
];

/** Returns the text without comments, strings and regular expressions in quotes, with its line breaks. */
const bare = (text: string) =>
  text.replaceAll(
    /\/\*[\s\S]*?\*\/|(?<![:\\])\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g,
    (one) => one.replaceAll(/[^\n]/g, ' '),
  );

/** Returns the words of a name in camel case, in lower case, without "at least". */
const wordsOf = (name: string) =>
  name
    .replace(/[aA]tLeast/, '')
    .match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g)
    ?.map((word) => word.toLowerCase()) ?? [];

/** Returns the declared names of a text that contain a word to stop using, with the word to use. */
export function namesToChange(text: string): string[] {
  const code = bare(text);
  const names = declared.flatMap((pattern) =>
    [...code.matchAll(pattern)].flatMap(([, list]) => (list as string).match(/[A-Za-z_$][\w$]*/g) ?? []),
  );
  return [...new Set(names)].flatMap((name) =>
    wordsOf(name).flatMap((word) => (words.has(word) ? [`${name} (${words.get(word)})`] : [])),
  );
}

/** Returns such names of all files, each with its file. `allowed`: by file, the names that are meant. */
export const namesToChangeIn = (
  root: string,
  files: readonly string[],
  allowed: Record<string, readonly string[]>,
): string[] =>
  files.flatMap((file) =>
    namesToChange(readFileSync(join(root, file), 'utf8'))
      .filter((found) => !allowed[file]?.includes(found.split(' ')[0] as string))
      .map((found) => `${file}: ${found}`),
  );
