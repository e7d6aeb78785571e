// The words that stand out in the comments of a group against the rest of its company. A word is ordered by its log-odds ratio
// with an informative Dirichlet prior (Monroe, Colaresi and Quinn 2008), but Fisher's exact test decides whether it is listed, at
// a false discovery rate of 5 % (Benjamini and Hochberg 1995). The log-odds alone would also list words by chance. Pure.
import { isStopWord, likelyLanguages, commentWordsIn } from './comment-text.ts';

/** The minimum number of comments in one language, in the group and in the rest of the company. */
export const fewestComments = 10;
/** The minimum number of the group's comments that contain a word. */
export const fewestWithWord = 3;
const falseDiscoveryRate = 0.05;
/** The weight of the prior, as a number of words. It only affects the order. */
const priorWords = 500;
const longestWord = 40;
const mostWords = 12;

export type WrittenComment = {
  text: string;
  /** The language of its question. */
  language: string;
  isHere: boolean;
};

/** `key`: see Word in comment-text.ts. `text`: as it is written in the group's comments. */
export type StandingWord = {
  key: string;
  text: string;
  language: string;
  here: { comments: number; of: number };
  elsewhere: { comments: number; of: number };
};

type Counted = { here: number; elsewhere: number; forms: Map<string, number> };
type Language = { here: number; elsewhere: number; words: Map<string, Counted> };

/** Returns the words that stand out; undefined if no language has enough comments. A word counts once in each comment. */
export function wordsThatStandOut(comments: readonly WrittenComment[]): StandingWord[] | undefined {
  const languages = [...countByLanguage(comments)].filter(
    ([, { here, elsewhere }]) => here >= fewestComments && elsewhere >= fewestComments,
  );
  if (languages.length === 0) return undefined;
  const logFactorial = logFactorials(comments.length);
  const tested = languages.flatMap(([language, counts]) => {
    const logOdds = logOddsIn(counts);
    return [...counts.words].map(([key, { here, elsewhere, forms }]) => {
      const table = { here, elsewhere, allHere: counts.here, allElsewhere: counts.elsewhere };
      return {
        word: {
          key,
          text: '',
          language,
          here: { comments: here, of: counts.here },
          elsewhere: { comments: elsewhere, of: counts.elsewhere },
        },
        forms,
        logOdds: logOdds(here, elsewhere),
        // Words that too few people use never count as found. A larger p value is always allowed.
        p: here < fewestWithWord ? 1 : fisher(table, logFactorial),
        lowest: lowestOf(table, logFactorial),
      };
    });
  });
  return discoveries(tested)
    .toSorted((a, b) => b.logOdds - a.logOdds || (a.word.key < b.word.key ? -1 : 1))
    .slice(0, mostWords)
    .map(({ word, forms }) => ({ ...word, text: formOf(forms) }));
}

/**
 * Counts the comments by language, and those that contain each word that is not a stop word. Comments of the same words in the same order
 * count once in the group and once elsewhere: a sentence that is repeated is no evidence that many people use its words.
 */
function countByLanguage(comments: readonly WrittenComment[]): Map<string, Language> {
  const known = { here: new Set<string>(), elsewhere: new Set<string>() };
  const read = comments.flatMap(({ text, language, isHere }) => {
    const words = commentWordsIn(text);
    const own = isHere ? known.here : known.elsewhere;
    const sequence = words.map(({ key }) => key).join(' ') || text;
    if (own.has(sequence)) return [];
    own.add(sequence);
    return [{ words, likely: likelyLanguages(words), ofQuestion: language, isHere }];
  });
  const choose = languageChooser(read.map(({ likely }) => likely));
  const languages = new Map<string, Language>();
  for (const { words, likely, ofQuestion, isHere } of read) {
    const language = choose(likely, ofQuestion);
    const own = languages.get(language) ?? { here: 0, elsewhere: 0, words: new Map<string, Counted>() };
    languages.set(language, own);
    const side = isHere ? 'here' : 'elsewhere';
    own[side]++;
    const forms = new Map(
      words.filter(({ key }) => isContent(key, language)).map((one) => [one.key, one.text]),
    );
    for (const [key, form] of forms) {
      const counted = own.words.get(key) ?? { here: 0, elsewhere: 0, forms: new Map<string, number>() };
      own.words.set(key, counted);
      counted[side]++;
      if (isHere) counted.forms.set(form, (counted.forms.get(form) ?? 0) + 1);
    }
  }
  return languages;
}

/**
 * Returns a function that chooses the language of a comment from its likely ones. Between several, or without any, it is the one
 * in which most of the other comments are certainly written; if no comment is certain, the language of the question.
 */
function languageChooser(all: readonly string[][]): (likely: string[], ofQuestion: string) => string {
  const certain = new Map<string, number>();
  for (const [language, ...others] of all) {
    if (language !== undefined && others.length === 0)
      certain.set(language, (certain.get(language) ?? 0) + 1);
  }
  const ordered = [...certain]
    .toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
    .map(([language]) => language);
  return (likely, ofQuestion) =>
    ordered.find((one) => likely.length === 0 || likely.includes(one)) ??
    (likely.length === 0 || likely.includes(ofQuestion) ? ofQuestion : likely[0]!);
}

const isContent = (key: string, language: string): boolean =>
  key.length <= longestWord &&
  /\p{L}/u.test(key) &&
  (key.length > 1 || /\p{Script=Han}/u.test(key)) &&
  !isStopWord(language, key);

/** Returns the form in lower case if it is ever written so, otherwise the most frequent one. */
function formOf(forms: ReadonlyMap<string, number>): string {
  const ordered = [...forms].toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).map(([form]) => form);
  return ordered.find((form) => form === form.toLowerCase()) ?? ordered[0] ?? '';
}

/** Returns a function for the log-odds ratio of a word in standard errors, with a prior of its share in all comments. */
function logOddsIn({ words }: Language): (here: number, elsewhere: number) => number {
  let [allHere, allElsewhere] = [0, 0];
  for (const { here, elsewhere } of words.values()) {
    allHere += here;
    allElsewhere += elsewhere;
  }
  return (here, elsewhere) => {
    const prior = (priorWords * (here + elsewhere)) / (allHere + allElsewhere);
    const odds = (count: number, all: number) =>
      Math.log(count + prior) - Math.log(all + priorWords - count - prior);
    // With a single word in all comments, both denominators are zero.
    const ratio = odds(here, allHere) - odds(elsewhere, allElsewhere) || 0;
    return ratio / Math.sqrt(1 / (here + prior) + 1 / (elsewhere + prior));
  };
}

type Tested = { p: number; lowest: number };

/**
 * Returns the tests that are significant by the procedure of Benjamini and Hochberg. Words too rare ever to be significant don't
 * count as tests (Gilbert 2005). This looks only at how many comments contain a word, not at where they are.
 */
function discoveries<T extends Tested>(tests: readonly T[]): T[] {
  const lowest = tests.map((test) => test.lowest).toSorted((a, b) => a - b);
  const able = (size: number) => lowest.findIndex((one) => one > falseDiscoveryRate / size);
  let size = 1;
  for (; size < tests.length; size++) {
    const count = able(size);
    if (count >= 0 && count <= size) break;
  }
  const family = tests
    .filter((test) => test.lowest <= falseDiscoveryRate / size)
    .toSorted((a, b) => a.p - b.p);
  const last = family.findLastIndex(({ p }, i) => p <= (falseDiscoveryRate * (i + 1)) / family.length);
  return family.slice(0, last + 1);
}

/** How many comments contain the word, in the group and elsewhere, and how many comments there are. */
type FourfoldTable = { here: number; elsewhere: number; allHere: number; allElsewhere: number };

/** Returns the natural logarithms of 0! to most!. */
export function logFactorials(most: number): Float64Array {
  const logs = new Float64Array(most + 1);
  for (let n = 2; n <= most; n++) logs[n] = logs[n - 1]! + Math.log(n);
  return logs;
}

/** Returns the probability of at least this many of the comments with the word in the group, if they were there by chance. */
export function fisher(
  { here, elsewhere, allHere, allElsewhere }: FourfoldTable,
  logs: Float64Array,
): number {
  const [withWord, all] = [here + elsewhere, allHere + allElsewhere];
  const choose = (n: number, k: number) => logs[n]! - logs[k]! - logs[n - k]!;
  let sum = 0;
  for (let k = Math.min(withWord, allHere); k >= here; k--) {
    if (withWord - k > allElsewhere) break;
    sum += Math.exp(choose(allHere, k) + choose(allElsewhere, withWord - k) - choose(all, withWord));
  }
  return Math.min(sum, 1);
}

/** Returns the lowest p value that a word in this many comments can have. */
function lowestOf({ here, elsewhere, allHere, allElsewhere }: FourfoldTable, logs: Float64Array): number {
  const most = Math.min(here + elsewhere, allHere);
  if (most < fewestWithWord) return 1;
  return fisher({ here: most, elsewhere: here + elsewhere - most, allHere, allElsewhere }, logs);
}
