// Finds the words that stand out on a thread, because half a second of computing would block other requests. At most one computation
// at a time, including the reading of its comments, so that only one company's comments are in memory; the last results are kept.
import { computationLimits, keepResults, runOnThread } from '../../jobs/threads.ts';
import type { StandingWord, WrittenComment } from '../words.ts';

/** Returns the words that stand out; see wordsThatStandOut. */
export type FindWords = (comments: readonly WrittenComment[]) => Promise<StandingWord[] | undefined>;

/** Computes what `key` stands for, or returns what is kept for it. `compute` finds words with the function that it receives. */
export type Words = <T>(key: string, compute: (find: FindWords) => Promise<T>) => Promise<T>;

/** How many results are kept. Each takes a few kB. */
const mostKept = 100;

/** `thread` is the module that computes. */
export function openWords(thread: URL): Words {
  const find: FindWords = (comments) => runOnThread(thread, comments, computationLimits);
  const keep = keepResults<unknown>(mostKept);
  return <T>(key: string, compute: (find: FindWords) => Promise<T>) =>
    keep(key, () => compute(find)) as Promise<T>;
}
