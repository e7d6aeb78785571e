// The comments of a group: by question, with the matches of a search marked. Also the words that stand out in them, and the export.
import type { CommentWords, FoundComments } from '@soundings/contract/console/results/comments.ts';
import type { Db } from '../../db/db.ts';
import { questionNotFound } from '../../questions/questions.ts';
import { commentsShown, type MatchedComments, wordsShown } from '../../results/data/comments-shown.ts';
import type { CommentScope } from '../../results/data/comments.sql.ts';
import type { StandingWord } from '../../results/words.ts';
import { allTime, readResults } from '../../results/data/read-results.ts';
import type { Words } from '../../results/data/words-thread.ts';
import type { Who } from '../core/console.ts';
import type { ExportedComments } from './csv.ts';
import { commentOf, headOf, readGroup, weekIn } from './reading.ts';

/** The maximum number of comments in a file. */
export const mostInFile = 100_000;

type ScopeWanted = {
  groupId: string;
  questionId?: string | undefined;
  week?: string | undefined;
  language: string;
};
type Wanted = ScopeWanted & { search?: string | undefined; word?: string | undefined };
type Page = { offset: number; limit: number };

/**
 * Returns the facts about the group, and the selection of comments, that the functions below need. Throws a Fault if the caller may
 * not see the group.
 */
async function readScope(db: Db, who: Who, { groupId, questionId, week, language }: ScopeWanted) {
  const read = await readGroup(db, who, { groupId, language });
  const one = weekIn(read.weeks, week);
  if (questionId !== undefined && !read.questions.has(Number(questionId))) throw questionNotFound();
  const scope: CommentScope = {
    window: one === undefined ? allTime : { first: one, last: one },
    questionIds: questionId === undefined ? undefined : [Number(questionId)],
  };
  return { ...read, scope };
}

type Scope = Awaited<ReturnType<typeof readScope>>;

const readFound = (
  db: Db,
  { accountId }: Who,
  { group, scope }: Scope,
  { search, word }: Wanted,
  page: Page,
): Promise<MatchedComments> => commentsShown(db, accountId, group.id, { ...scope, search, word }, page);

/** Returns the comments shown for a group. Throws a Fault if the caller may not see the group. */
export async function readComments(db: Db, who: Who, wanted: Wanted, page: Page): Promise<FoundComments> {
  const read = await readScope(db, who, wanted);
  const { total, questions, rows } = await readFound(db, who, read, wanted, page);
  return {
    total,
    questions: questions.map((one) => ({ ...one, text: read.questions.get(one.id)?.text ?? '' })),
    rows: rows.map(({ marks, ...row }) => ({ ...commentOf(row, read.questions), marks })),
  };
}

/**
 * Returns the comments shown for a group with the group's path, and the numbers of comments and of published answers for each
 * question and week. Throws a Fault if the caller may not see the group.
 */
export async function readCommentExport(
  db: Db,
  who: Who,
  wanted: Wanted,
  page: Page,
): Promise<ExportedComments> {
  const read = await readScope(db, who, wanted);
  const { groups, group, questions, scope } = read;
  const { rows, cells } = await readFound(db, who, read, wanted, page);
  const asked = new Map([...questions].filter(([id]) => cells.some(({ questionId }) => questionId === id)));
  const results = await readResults(db, who.accountId, group.id, scope.window, asked);
  const keyOf = ({ questionId, week }: { questionId: number; week: string }) => `${questionId} ${week}`;
  const answers = new Map(results.map((result) => [keyOf(result), result.data.answers]));
  const comments = new Map(cells.map((cell) => [keyOf(cell), cell.comments]));
  return {
    group: [...groups.above(group.id), headOf(group)].map(({ name }) => name),
    rows: rows.map((row) => ({
      ...commentOf(row, questions),
      comments: comments.get(keyOf(row)) ?? null,
      answers: answers.get(keyOf(row)) ?? null,
    })),
  };
}

/**
 * Returns the words that stand out in a group, compared with the rest of the company. A caller who can't see the company gets the
 * same words, but no numbers from elsewhere. Throws a Fault if the caller may not see the group.
 */
export async function readCommentWords(
  db: Db,
  found: Words,
  who: Who,
  wanted: ScopeWanted,
): Promise<CommentWords> {
  const { groups, group, company, weeks, scope } = await readScope(db, who, wanted);
  const companyId = groups.topOf(group.id)?.id ?? group.id;
  if (companyId === group.id) return { state: 'company', weeks: null, words: [] };
  const { window, words } = await wordsShown(
    db,
    found,
    who.accountId,
    { groupId: group.id, companyId },
    { ...scope, language: wanted.language },
  );
  return {
    state: words ? 'compared' : 'few',
    weeks: window ? { first: weeks.named(window.first), last: weeks.named(window.last) } : null,
    words: (words ?? []).map((word) => wordOf(word, company !== null)),
  };
}

const wordOf = ({ key, text, language, here, elsewhere }: StandingWord, withElsewhere: boolean) => ({
  word: key,
  text,
  language,
  ...here,
  elsewhere: withElsewhere ? elsewhere : null,
});
