// What house.form.test.ts checks of names: the words of docs/writing.md that no name may contain. Names are what the code declares,
// and the keys of texts, the classes of styles, and the names in SQL.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The words, each with the word to use in its place. */
const words = new Map<string, string>([
  ...(
    [
      'beneath',
      'anew',
      'landscape',
      'plumbing',
      'spelling',
      'spellings',
      'silences',
      'doors',
      'whom',
    ] as const
  ).map((word) => [word, 'see docs/writing.md'] as const),
  ['told', 'notified, revealed'],
  ['tell', 'notify'],
  ['tells', 'notifies'],
  ['delivered', 'managed'],
  ['spread', 'variance or distribution'],
  ['held', 'pending, locked'],
  ['packed', 'compressed'],
  ['least', 'minimum'],
  ['gate', 'throttle'],
  ['patience', 'timeout'],
  ['patient', 'timeout'],
  ['look', 'preview, appearance'],
  ['looks', 'previews'],
  ['stops', 'opt-outs'],
  ['moment', 'time'],
  ['moments', 'send times'],
  ['piece', 'cell, chunk, segment'],
  ['pieces', 'cells, chunks, segments'],
  ['made', 'created, result'],
  ['oneself', 'own account'],
  ['hand', 'manual'],
  ['nobody', 'no one'],
  ['somebody', 'someone'],
  ['anybody', 'anyone'],
  ['worded', 'translated'],
]);

/**
 * Words that only the code of the product must not use. Tests use them for other things as well, such as the words of a
 * comment or means.
 */
const productWords = new Map<string, string>([
  ['mood', 'sentiment'],
  ['letter', 'email template, mail'],
  ['means', 'meaning, averages'],
  ['words', 'texts, arguments, labels'],
  ['wording', 'text'],
]);

/** Words that must not stand for requests and responses of HTTP, in the files that have nothing to do with surveys. */
const httpWords = new Map<string, string>(
  (['ask', 'asks', 'asked', 'asking', 'answer', 'answers', 'answered', 'unanswered'] as const).map(
    (word) => [word, 'request, response'] as const,
  ),
);
const withoutSurvey =
  /^(server\/src\/(base|db|http|jobs|mail|accounts|auth|people|sync|sheets|layout|files|sftp)\/.*\.ts$|console\/src\/([\w-]+\.tsx?$|ui\/|hooks\/|lib\/))/;

const ofTests = /\.(test|fixture)\.tsx?$|^server\/src\/testing\//;

/** Returns the words that the names of a file must not contain. */
const wordsFor = (file: string): ReadonlyMap<string, string> =>
  new Map([
    ...words,
    ...(ofTests.test(file) ? [] : productWords),
    ...(withoutSurvey.test(file) ? httpWords : []),
  ]);

const declared = [
  /\b(?:const|let|function\*?|type|interface|class)\s+([A-Za-z_$][\w$]*)/g,
  /\b(?:const|let)\s*[{[]([^=;]*?)[}\]]\s*(?::[^=;]*)?=/g, // the names in a pattern
  /(?:^|[\s({,<])([A-Za-z_$][\w$]*)\??\s*(?::|(?=\([^()]*\)\s*[:{]))/g, // properties, parameters and methods
  /\b([A-Za-z_$][\w$]*)\s*=>|\(([\w$\s,]+)\)\s*=>|\(\s*[{[]([^(){}=;]*)[}\]][^(){}]*\)\s*=>/g, // parameters of arrow functions
];

const strings = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g;

/** Returns the text without comments, strings and regular expressions in quotes, with its line breaks. */
const bare = (text: string) =>
  text.replaceAll(new RegExp(`/\\*[\\s\\S]*?\\*/|(?<![:\\\\])//[^\\n]*|${strings.source}`, 'g'), (one) =>
    one.replaceAll(/[^\n]/g, ' '),
  );

/** Returns the names in SQL: of tables, columns, aliases and functions. */
const namesInSql = (sql: string): string[] =>
  sql.replaceAll(/--[^\n]*|'(?:[^']|'')*'|\$\{[^}]*\}/g, ' ').match(/[A-Za-z_]\w*/g) ?? [];

/** Returns the names of a file, by its type. */
function namesIn(file: string, text: string): string[] {
  if (file.endsWith('.json')) return Object.keys(JSON.parse(text) as object);
  if (file.endsWith('.css')) {
    const code = text.replaceAll(/\/\*[\s\S]*?\*\//g, ' ');
    return [...code.matchAll(/[.#]([A-Za-z][\w-]*)|--([\w-]+)|@(?:keyframes|layer) ([\w-]+)/g)].map(
      ([, ...found]) => found.find((one) => one !== undefined) as string,
    );
  }
  if (file.endsWith('.sql')) return namesInSql(text);
  const code = bare(text);
  const names = declared.flatMap((pattern) =>
    [...code.matchAll(pattern)].flatMap(
      ([, ...lists]) => lists.find((list) => list !== undefined)?.match(/[A-Za-z_$][\w$]*/g) ?? [],
    ),
  );
  if (!file.endsWith('.sql.ts')) return names;
  const statements = [...text.matchAll(strings)].map(([one]) => one).filter((one) => one.startsWith('`'));
  return [...names, ...statements.flatMap(namesInSql)];
}

/** Returns the words of a name in camel, snake or kebab case, in lower case, without "at least", "hand over" and "answer key". */
const wordsOf = (name: string) =>
  name
    .replace(/at_?least|hand[ _]?(?:over|out)|answer_?keys?/i, '')
    .match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g)
    ?.map((word) => word.toLowerCase()) ?? [];

/** Returns the names of a file that contain a word to stop using, with the word to use. `file`: its path in the repository. */
export function namesToChange(file: string, text: string): string[] {
  const forbidden = wordsFor(file);
  return [...new Set(namesIn(file, text))].flatMap((name) =>
    wordsOf(name).flatMap((word) => (forbidden.has(word) ? [`${name} (${forbidden.get(word)})`] : [])),
  );
}

/** Returns such names of all files, each with its file. `allowed`: by file, the words that are really meant there. */
export const namesToChangeIn = (
  root: string,
  files: readonly string[],
  allowed: Record<string, readonly string[]>,
): string[] =>
  files.flatMap((file) => {
    const meant = new Set(allowed[file]);
    return namesToChange(file, readFileSync(join(root, file), 'utf8'))
      .filter((found) => !wordsOf(found.slice(0, found.indexOf(' ('))).some((word) => meant.has(word)))
      .map((found) => `${file}: ${found}`);
  });
