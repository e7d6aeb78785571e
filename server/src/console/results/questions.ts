// The results of a question in a group: its answers in a week, earlier weeks, and comments.
import type { Comparison } from '@soundings/contract/comparisons.ts';
import type { QuestionResults, ResultQuestion } from '@soundings/contract/console/results/results.ts';
import type { Db } from '../../db/db.ts';
import { questionNotFound } from '../../questions/questions.ts';
import { selectNewestComments } from '../../results/data/comments.sql.ts';
import { allTime, readResults, shownQuestions } from '../../results/data/read-results.ts';
import { questionMeasures } from '../../results/data/statistics-shown.ts';
import type { Who } from '../core/console.ts';
import { idIn } from '../core/ids.ts';
import type { Trees } from '../groups/trees.ts';
import { allowedComparisons, comparisonOf, readComparing, withoutHalfYear } from './comparing.ts';
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
  db: Db,
  who: Who,
  { groupId, language }: { groupId: string; language: string },
): Promise<ResultQuestion[]> {
  const group = groupNamed(await readGroups(db, who, [idIn(groupId)]), groupId);
  const questions = await shownQuestions(db, who.accountId, language);
  const results = await readResults(db, who.accountId, group.id, allTime, questions);
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
  compare: Comparison | undefined;
};

/** Returns the results of a question. Throws a Fault if there is no such question or week, or the group is not open. */
export async function readQuestion(db: Db, who: Who, trees: Trees, wanted: Wanted): Promise<QuestionResults> {
  const { accountId } = who;
  const { groups, group, company, weeks, questions } = await readGroup(db, who, wanted);
  const question = questions.get(Number(wanted.questionId));
  if (!question) throw questionNotFound();
  const week = weekIn(weeks, wanted.week);
  const newest = weeks.span(wanted.weeks);
  const isOlder = week !== undefined && newest[0] !== undefined && week < newest[0].week;
  const axis = isOlder ? weeks.span(wanted.weeks, week) : newest;
  const window = windowOfWeeks(axis);
  const only = new Map([[question.id, question]]);
  const comparing =
    window &&
    (await readComparing(db, who, {
      groups,
      groupId: group.id,
      window,
      questions: [question],
      compare: wanted.compare,
    }));
  const results = window ? await readResults(db, accountId, group.id, window, only) : [];
  const figures = comparing
    ? results.map((one) =>
        figuresOf(
          question,
          one,
          questionMeasures(question.id, one.week, comparing.readings, comparing, comparing.statistics),
        ),
      )
    : [];
  const comparison =
    comparing?.comparison ??
    comparisonOf(groups, group.id, withoutHalfYear(await allowedComparisons(db, who)), wanted.compare);
  const chosen = week ?? figures.at(-1)?.week;
  const comments =
    chosen === undefined
      ? []
      : await selectNewestComments(
          db,
          accountId,
          group.id,
          { window: { first: chosen, last: chosen }, questionIds: [question.id] },
          100,
        ).then(({ rows }) => rows);
  return {
    question: questionHead(question, wanted.language),
    group: await withPeople(db, who, trees, group),
    company: company && headOf(company),
    weeks: axis,
    chosen: chosen === undefined ? null : weeks.named(chosen),
    figures,
    comparison,
    comments: comments.map((row) => commentOf(row, questions)),
  };
}
