// The published comments of a group, for the console: by question, searched and marked, and the words that stand out. Only comments
// that are shown are ever read, so a word of a withheld comment can't appear.
import type { Week } from '@soundings/contract/weeks.ts';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AccountId, Db } from '../../db/db.ts';
import { selectQuestions } from '../../questions/questions.sql.ts';
import { caseFolded, matchesOf, type TextRange, wordKey, wordMatches } from '../comment-text.ts';
import type { StandingWord } from '../words.ts';
import type { FindWords, Words } from './words-thread.ts';
import {
  type CellCount,
  type CommentScope,
  type MarkedComment,
  selectCommentCounts,
  selectCommentPage,
  selectCommentsByQuestion,
  selectComparedComments,
  selectVersion,
  type Span,
} from './comments.sql.ts';
import type { Window } from './window.ts';

/** `search`: a part of the text; `word`: a whole word. Both ignore case and Unicode form. `undefined` means no restriction. */
export type CommentFilter = CommentScope & { search: string | undefined; word: string | undefined };

/** `marks`: what matched the search and the word, in order and without overlaps. */
export type MatchedComment = MarkedComment & { marks: TextRange[] };

export type MatchedComments = {
  total: number;
  /** In the order of their cards: the one with the newest comment first. */
  questions: { id: number; comments: number }[];
  rows: MatchedComment[];
  /** How many comments are shown in each week of a question, whatever is searched for. */
  cells: CellCount[];
};

/** How many comments are searched before other requests get a turn. */
const matchedPerTurn = 100;

/** Returns a part of the comments shown in a group, question by question. Empty if the group does not exist. */
export async function commentsShown(
  db: Db,
  accountId: AccountId,
  groupId: number,
  { window, questionIds, search, word }: CommentFilter,
  span: Span,
): Promise<MatchedComments> {
  const cells = await selectCommentCounts(db, accountId, groupId, { window, questionIds });
  const ordered = inCardOrder(cells);
  const scope = { window, questionIds: ordered.map(({ id }) => id) };
  const matches = matcherOf(search, word);
  if (!matches) {
    const rows = await selectCommentPage(db, accountId, groupId, scope, span);
    const total = ordered.reduce((sum, { comments }) => sum + comments, 0);
    return { total, questions: ordered, rows: rows.map((row) => ({ ...row, marks: [] })), cells };
  }
  const counts = new Map<number, number>();
  const rows: MatchedComment[] = [];
  let total = 0;
  for await (const batch of selectCommentsByQuestion(db, accountId, groupId, scope)) {
    for (const [i, row] of batch.entries()) {
      // Lets other requests run in between.
      if (i % matchedPerTurn === 0) await nextTurn();
      const marks = matches(row.text);
      if (!marks) continue;
      if (total >= span.offset && rows.length < span.limit) rows.push({ ...row, marks });
      counts.set(row.questionId, (counts.get(row.questionId) ?? 0) + 1);
      total++;
    }
  }
  return { total, questions: [...counts].map(([id, comments]) => ({ id, comments })), rows, cells };
}

/** Returns the questions with comments: those with the newest comments first, then by id. */
function inCardOrder(cells: readonly CellCount[]): { id: number; comments: number }[] {
  return [...Map.groupBy(cells, ({ questionId }) => questionId)]
    .map(([id, own]) => ({
      id,
      comments: own.reduce((sum, { comments }) => sum + comments, 0),
      newest: own.reduce((newest, { week }) => (week > newest ? week : newest), ''),
    }))
    .toSorted((a, b) => (a.newest === b.newest ? a.id - b.id : a.newest < b.newest ? 1 : -1))
    .map(({ id, comments }) => ({ id, comments }));
}

/** Returns a function that returns the marks of a text, or undefined if it does not match. Undefined if everything matches. */
function matcherOf(
  search: string | undefined,
  word: string | undefined,
): ((text: string) => TextRange[] | undefined) | undefined {
  const sought = caseFolded(search?.trim() ?? '');
  const key = wordKey(word?.trim() ?? '');
  if (sought === '' && key === '') return undefined;
  return (text) => {
    const bySearch = sought === '' ? undefined : matchesOf(sought, text);
    if (bySearch?.length === 0) return undefined;
    const byWord = key === '' ? undefined : wordMatches(key, text);
    if (byWord?.length === 0) return undefined;
    return merged([...(bySearch ?? []), ...(byWord ?? [])]);
  };
}

/** Returns ranges in order, with overlapping ones joined. */
function merged(ranges: readonly TextRange[]): TextRange[] {
  const joined: TextRange[] = [];
  for (const [first, end] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const last = joined.at(-1);
    if (last && first < last[1]) last[1] = Math.max(last[1], end);
    else joined.push([first, end]);
  }
  return joined;
}

/** The maximum number of comments compared. Beyond it, only the newest weeks are, and of a single week only a part. */
export const mostCompared = 5_000;

export type ShownWords = { window: Window | undefined; words: StandingWord[] | undefined };

/**
 * Returns the words that stand out in a group's shown comments against those shown in the company but not in the group, on the
 * questions that both commented on, and the weeks compared. `words` is undefined if there are too few comments. The words are kept
 * until the account changes.
 */
export async function wordsShown(
  db: Db,
  words: Words,
  accountId: AccountId,
  groups: { groupId: number; companyId: number },
  scope: CommentScope & { language: string },
): Promise<ShownWords> {
  // The version is read before the comments, so that newer comments may be kept for it, but never older ones.
  const version = await selectVersion(db, accountId);
  const key = JSON.stringify([accountId, version, groups, scope.window, scope.questionIds, scope.language]);
  return words(key, (find) => compareComments(db, find, accountId, groups, scope));
}

async function compareComments(
  db: Db,
  find: FindWords,
  accountId: AccountId,
  groups: { groupId: number; companyId: number },
  scope: CommentScope,
): Promise<ShownWords> {
  const cells = await selectCommentCounts(db, accountId, groups.companyId, scope);
  const window = newestWeeks(cells);
  if (!window) return { window, words: undefined };
  const compared = await selectComparedComments(db, accountId, groups, { ...scope, window }, mostCompared);
  const questions = await selectQuestions(db, accountId);
  const languages = new Map(questions.map(({ id, language }) => [id, language]));
  const asked = (isHere: boolean) =>
    new Set(compared.filter((one) => one.isHere === isHere).map(({ questionId }) => questionId));
  const both = asked(true).intersection(asked(false));
  const comments = compared
    .filter(({ questionId }) => both.has(questionId))
    .map(({ questionId, text, isHere }) => ({ text, isHere, language: languages.get(questionId) ?? '' }));
  return { window, words: await find(comments) };
}

/** Returns the newest weeks with at most `mostCompared` comments, but at least one week. Undefined if there are no comments. */
function newestWeeks(cells: readonly CellCount[]): Window | undefined {
  const weeks = [...Map.groupBy(cells, ({ week }) => week)].toSorted(([a], [b]) => (a < b ? 1 : -1));
  let [first, last, sum]: [Week | undefined, Week | undefined, number] = [undefined, undefined, 0];
  for (const [week, own] of weeks) {
    sum += own.reduce((all, { comments }) => all + comments, 0);
    if (first !== undefined && sum > mostCompared) break;
    first = week;
    last ??= week;
  }
  return first === undefined || last === undefined ? undefined : { first, last };
}
