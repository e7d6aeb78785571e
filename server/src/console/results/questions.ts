// The results of a question in a group: its answers in a week, earlier weeks, and comments. Also all comments of a group.
import type {
  Figure,
  QuestionFigures,
  QuestionResults,
  ResultComment,
  ResultQuestion,
} from '@soundings/contract/console/results.ts';
import { Fault } from '../../base/errors.ts';
import type { Pool } from '../../db/db.ts';
import {
  alwaysShown,
  type CommentFilter,
  selectCommentPage,
  questionsWorded,
  resultsShown,
} from '../../results/data/results-shown.ts';
import type { Who } from '../core/console.ts';
import {
  commentOf,
  figuresOf,
  groupNamed,
  headOf,
  questionHead,
  readGroup,
  readGroups,
  weekIn,
  withPeople,
} from './reading.ts';
import { windowOfWeeks } from './weeks.ts';

/** Returns the questions that have results in a group, including withheld ones, sorted by text. */
export async function readQuestions(
  pool: Pool,
  who: Who,
  { groupId, language }: { groupId: string; language: string },
): Promise<ResultQuestion[]> {
  const group = groupNamed(await readGroups(pool, who), groupId);
  const questions = await questionsWorded(pool, who.accountId, language);
  const results = await resultsShown(pool, who.accountId, group.id, alwaysShown, questions);
  const ids = new Set(results.map(({ questionId }) => questionId));
  const { compare } = new Intl.Collator(language, { numeric: true });
  return [...questions.values()]
    .filter(({ id }) => ids.has(id))
    .map((question) => questionHead(question, language))
    .toSorted((a, b) => compare(a.text, b.text) || a.id - b.id);
}

type Wanted = {
  groupId: string;
  questionId: string;
  week: string | undefined;
  weeks: number;
  language: string;
};

/** Returns the results of a question. Throws a Fault if there is no such question or week, or the group is not open. */
export async function readQuestion(pool: Pool, who: Who, wanted: Wanted): Promise<QuestionResults> {
  const { accountId } = who;
  const { groups, group, company, weeks, questions } = await readGroup(pool, who, wanted);
  const question = questions.get(Number(wanted.questionId));
  if (!question) throw questionNotFound();
  const week = weekIn(weeks, wanted.week);
  const newest = weeks.span(wanted.weeks);
  const isOlder = week !== undefined && newest[0] !== undefined && week < newest[0].week;
  const axis = isOlder ? weeks.span(wanted.weeks, week) : newest;
  const window = windowOfWeeks(axis);
  const only = new Map([[question.id, question]]);
  const figuresIn = async (groupId: number) =>
    (window ? await resultsShown(pool, accountId, groupId, window, only) : []).map((one) =>
      figuresOf(question, one),
    );
  const [figures, above] = await Promise.all([figuresIn(group.id), company ? figuresIn(company.id) : []]);
  const chosen = week ?? figures.at(-1)?.week;
  const comments =
    chosen === undefined
      ? []
      : await selectCommentPage(
          pool,
          accountId,
          group.id,
          { window: { first: chosen, last: chosen }, questionIds: [question.id], search: undefined },
          { offset: 0, limit: 100 },
        ).then(({ rows }) => rows);
  return {
    question: questionHead(question, wanted.language),
    group: await withPeople(pool, who, groups, group),
    company: company && headOf(company),
    weeks: axis,
    chosen: chosen === undefined ? null : weeks.named(chosen),
    figures,
    companyFigure: figureOf(above.find((one) => one.week === chosen)),
    comments: comments.map((row) => commentOf(row, questions)),
  };
}

const figureOf = (figures: QuestionFigures | undefined): Figure | null =>
  figures ? { week: figures.week, value: figures.value, handedOut: figures.handedOut } : null;

const questionNotFound = () => new Fault('not_found', 'question not found', 'This question does not exist.');

type CommentsWanted = {
  groupId: string;
  questionId?: string | undefined;
  week?: string | undefined;
  search?: string | undefined;
  language: string;
};

/** Returns the comments shown for a group. Throws a Fault if the caller may not see the group. */
export async function readComments(
  pool: Pool,
  who: Who,
  { groupId, questionId, week, search, language }: CommentsWanted,
  page: { offset: number; limit: number },
): Promise<{ total: number; rows: ResultComment[] }> {
  const { group, weeks, questions } = await readGroup(pool, who, { groupId, language });
  const one = weekIn(weeks, week);
  if (questionId !== undefined && !questions.has(Number(questionId))) throw questionNotFound();
  const filter: CommentFilter = {
    window: one === undefined ? alwaysShown : { first: one, last: one },
    questionIds: questionId === undefined ? undefined : [Number(questionId)],
    search: search === undefined || search.trim() === '' ? undefined : search.trim(),
  };
  const { total, rows } = await selectCommentPage(pool, who.accountId, group.id, filter, page);
  return { total, rows: rows.map((row) => commentOf(row, questions)) };
}
