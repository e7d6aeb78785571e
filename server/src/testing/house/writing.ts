// What house.form.test.ts checks of the language of docs/writing.md: the words to stop using, in everything that people read.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A place where a word to stop using occurs. */
export type Found = { file: string; line: number; word: string; text: string };

/** The words to stop using. Each is a pattern for whole words, in lower case. */
const words: Record<string, RegExp> = {
  whom: /\bwhom\b/,
  beneath: /\bbeneath\b/,
  anew: /\banew\b/,
  aside: /\baside\b/,
  alike: /(?<!look-)\balike\b/,
  whoever: /\bwhoever\b/,
  nobody: /\bnobody\b/,
  somebody: /\bsomebody\b/,
  'told, tells': /\b(told|tells)\b/,
  'so many': /\bso many\b/,
  packed: /\bpacked\b/,
  'taken in': /\btaken in\b/,
  'comes of it': /\bcomes? of (it|this|that)\b/,
  mend: /\bmend(s|ed|ing)?\b/,
  silences: /\bsilences?\b/,
  "one's own": /\bone's own\b/,
  least: /(?<!\bat )(?<!\{)\bleast\b(?! recent| work|\()/,
  'that there is not': /\bthat there is not\b/,
  'by hand': /\b(made|created|added) by hand\b/,
  landscape: /\blandscape\b/,
  doors: /\bdoors\b/,
  'second step': /\bsecond steps?\b/,
  plumbing: /\bplumbing\b/,
  'as it should be': /\bas (it|they) should be\b/,
  'or no longer': /, or no longer\.$/,
  thereby: /\b(thereby|thereof|therein|wherein|whereby|henceforth|lest|ere)\b/,
};

/** The words to stop using in translations, by language: docs/translating.md has the words to use. */
const wordsOfTranslations: Record<string, Record<string, RegExp>> = {
  sv: {
    granskningslogg: /granskningslogg/i,
    inläst: /\b(inläst|lästs in)\b/i,
    läsrätt: /läsrätt/i,
    'omgångar om': /\bomgång(ar)? (om|på)\b/i,
    personer: /\bpersoner(na)?\b|personfil/i,
    tillgång: /\btillgång(en)?\b/i,
    tröskel: /\btröskel|\btrösklar/i,
    undersökning: /undersökning/i,
    'ur bruk': /\bur bruk\b/i,
    ägare: /(?<!\p{L})ägare(?!\p{L})/iu,
  },
  de: {
    Administrator: /(?<!„)Administrator/,
    abstellen: /\babstellen|abgestellt/,
    gezeigt: /\bgezeigt/,
    live: /\blive\b/i,
    // At the beginning of a sentence it can mean "they".
    Sie: /(?<!(["„.:?!]) *)\bSie\b|\bIhr(e[mnrs]?)?\b/,
  },
};

/** Returns the texts of a file that people read, with the line on which each begins. */
function textsOf(file: string, text: string): { line: number; text: string }[] {
  if (/\.(md|sql)$/.test(file)) return text.split('\n').map((one, i) => ({ line: i + 1, text: one }));
  if (file.endsWith('.json')) {
    return text
      .split('\n')
      .map((one, i) => ({ line: i + 1, text: one.replace(/^\s*"[^"]*":/, '').replaceAll(/\{[^}]*\}/g, '') }));
  }
  // Comments, and strings of more than one word.
  const readable =
    /\/\*[\s\S]*?\*\/|(?<!:)\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g;
  return [...text.matchAll(readable)]
    .filter(([one]) => one.startsWith('/') || one.includes(' '))
    .map((match) => ({ line: text.slice(0, match.index).split('\n').length, text: match[0] }));
}

/**
 * Returns each use of a word to stop using in the files that the patterns match, which are relative to `root`. `allowed`: by file,
 * the words that are really meant there.
 */
export function wordsToStopUsing(
  root: string,
  patterns: string[],
  allowed: Record<string, readonly string[]>,
): Found[] {
  const wordsFor = (file: string) => wordsOfTranslations[/\/text\/(\w+)\//.exec(file)?.[1] ?? ''] ?? {};
  return patterns
    .flatMap((pattern) => globSync(pattern, { cwd: root }))
    .filter((file) => !file.includes('node_modules'))
    .toSorted()
    .flatMap((file) =>
      textsOf(file, readFileSync(join(root, file), 'utf8')).flatMap(({ line, text }) =>
        [
          ...Object.entries(words).filter(([, pattern]) => pattern.test(text.toLowerCase())),
          ...Object.entries(wordsFor(file)).filter(([, pattern]) => pattern.test(text)),
        ]
          .filter(([word]) => !allowed[file]?.includes(word))
          .map(([word]) => ({ file, line, word, text: text.trim().slice(0, 120) })),
      ),
    );
}
