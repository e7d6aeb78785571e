// What house.form.test.ts checks of the language of docs/writing.md: the words to stop using, in everything that people read, and
// the sentences that no native product writes, in documents and English catalogues.
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
  anybody: /\banybody\b/,
  oneself: /\boneself\b/,
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
  'by hand': /\bby hand\b/,
  landscape: /\blandscape\b/,
  doors: /\bdoors\b/,
  'second step': /\bsecond steps?\b/,
  plumbing: /\bplumbing\b/,
  'as it should be': /\bas (it|they) should be\b/,
  'or no longer': /, or no longer\.$/,
  made: /\b(token|link|account|schedule|question|report|group|key)s? ((is|are|was|were|that (is|was|were)) )?made\b/,
  look: /\b(a|an|the|its) look(?!-)\b/,
  pieces: /\bpieces?\b/,
  patience: /\bpatien(ce|t)\b/,
  spread: /\bspreads?\b/,
  gate: /\bgates?\b/,
  spellings: /\bspellings?\b/,
  delivered: /\bdelivered\b/,
  held: /\bheld\b/,
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
    // At the beginning of a sentence, "Sie" can mean "they".
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

/** Sentences that no native product writes, as patterns that can't match anything else. docs/writing.md has the rewrites. */
const phrases: Record<string, RegExp> = {
  'name after its noun':
    /\b(?<!--)(scope|role|parameter|header|column|page|outcome|driver|key) (`[\w-]+`|\*\*\p{Lu}|Auditor\b|Administrator\b)/u,
  'of its own':
    /\bof (its|their|your|our) own(?=[.,;:)]|\s*$| (that|who|in|and|or|with|at|on|is|are|as|for)\b)/,
  'so do': /\band so (do|does|did|is|are|has|have)\b|\bnor (do|does|did|is|are)\b/,
  'by HTTPS': /\bby (HTTPS?|SFTP)\b/i,
  mails: /\b(an?|the|this|each|every|one|no|other|these|all) mail\b(?! [a-z]+)|\bmails\b|\bmailed\b/i,
  'rejected file': /\b(files?|uploads?|requests?|workbooks?|bod(y|ies)) (is|are|was|were) rejected\b/i,
  'at once': /\bat once\b/i,
  'rests on': /\brests?( partly| mostly| only)? on\b/i,
  beside: /\bbeside\b/i,
  'single answers': /\bsingle answers?\b/i,
  'space before %': /\d[ \u00a0]%/,
  'for good': /\bfor good\b/i,
  'some days': /\bsome (hundreds|thousands|days|weeks|months)\b/i,
  'nothing of': /\bnothing of\b/i,
  'ones included': /\bones included\b/i,
  'until when': /\buntil when\b|\bfrom how many\b|\bfirst answer on\b/i,
  'the group above': /\bthe group above\b/i,
  spread: /\bspread\b/i,
  'space before …': /\p{L} …",?$/u,
};

/**
 * Returns each phrase of documents and English catalogues that no native product writes, also across the lines of a paragraph.
 * `allowed`: by file, the phrases that are really meant there.
 */
export function phrasesToStopUsing(
  root: string,
  files: string[],
  allowed: Record<string, readonly string[]>,
): Found[] {
  return files.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    const withoutCode = text.replaceAll(/^```[\s\S]*?^```/gm, (block) => block.replaceAll(/[^\n]/g, ''));
    const patterns = Object.entries(phrases).filter(([phrase]) => !allowed[file]?.includes(phrase));
    return textsOf(file, withoutCode).flatMap(({ line, text: one }, i, lines) => {
      // A phrase can continue on the next line of the paragraph.
      const next = file.endsWith('.md') ? (lines[i + 1]?.text ?? '') : '';
      const whole = /^\s*([-*|#]|\d+\.|$)/.test(next) ? one : `${one} ${next.trim()}`;
      return patterns
        .filter(([, pattern]) => (pattern.exec(whole)?.index ?? Infinity) < one.length)
        .map(([word]) => ({ file, line, word, text: one.trim().slice(0, 120) }));
    });
  });
}
