// Answering by a personal link: what it opens, and the answers that are given by it.
import { maxCommentLength } from '@soundings/contract/limits.ts';
import type { Detail } from '@soundings/contract/problem.ts';
import type { Week } from '@soundings/contract/weeks.ts';
import { Fault } from '../base/errors.ts';
import { tokenHash } from '../base/secrets.ts';
import type { AccountId, Db, Pool } from '../db/db.ts';
import type { Question } from '../questions/questions.ts';
import { freeText, type KeptAnswer, type QuestionType, readAnswer } from '../questions/types.ts';
import { isLinkShaped } from '../rounds/links.ts';
import { respondentOf } from '../rounds/rounds.ts';
import {
  type GivenRow,
  type LinkRow,
  selectAsked,
  selectGiven,
  selectLink,
  upsertAnswers,
} from './answering.sql.ts';

/** What a personal link opens. */
export type Asking = {
  accountId: AccountId;
  userId: number;
  /** The account's name. */
  company: string;
  firstName: string;
  /** ISO 639-1: the person's, else the account's. */
  language: string;
  week: Week;
  /** The account's, by which the week ends. */
  timezone: string;
  thresholds: { figures: number; spread: number; comments: number };
  /** The open week is shown as it stands. */
  isLive: boolean;
  /** What is asked, in order. */
  questions: Question[];
  /** An administrator has handed the link out: it shows no answers. */
  isExported: boolean;
  hasAnswered: boolean;
  /** What the person has said so far, by question; value: yes is 1, no 0. Nothing where the link was handed out. */
  answers: Map<number, KeptAnswer & { comment: string | null; skipped: boolean }>;
};

/** What a link opens; undefined when it is wrong, old or replaced, the week has closed or the person is not active. */
export async function openLink(pool: Pool, link: string): Promise<Asking | undefined> {
  const row = await rowOf(pool, link);
  if (!row) return undefined;
  const { accountId, week, respondentKey, person, figures, spread, comments, ...rest } = row;
  const respondent = respondentOf(respondentKey, person);
  const [questions, given] = await Promise.all([
    selectAsked(pool, accountId, week, respondent),
    selectGiven(pool, accountId, week, respondent),
  ]);
  // Another externalId since the round was opened: by the number that it makes, nothing is asked.
  if (questions.length === 0) return undefined;
  return {
    ...rest,
    accountId,
    week,
    thresholds: { figures, spread, comments },
    questions,
    hasAnswered: given.length > 0,
    // Whoever handed the link out has seen it, and shall not read by it what was answered.
    answers: new Map(row.isExported ? [] : given.map(({ questionId, ...answer }) => [questionId, answer])),
  };
}

/**
 * An answer as it is sent. `value` as readAnswer has it. A skip has neither value nor comment. Of free text the comment
 * is the answer.
 */
export type GivenAnswer = {
  questionId: number;
  value?: unknown;
  comment?: string | null;
  skipped?: boolean;
};

/**
 * Keeps answers, each in place of the one that the person gave before: all or nothing. 'closed' when the link opens
 * nothing. Throws a Fault, with a detail of the path `q` and the question's id for each, when answers are out of range or
 * to questions that are not asked.
 */
export async function giveAnswers(db: Db, link: string, answers: GivenAnswer[]): Promise<'kept' | 'closed'> {
  const questions = await questionsFor(db, link, answers);
  if (questions === 'closed') return 'closed';
  const details: Detail[] = [];
  const given = new Map<number, GivenRow>();
  for (const answer of answers) {
    const read = readGiven(answer, questions.get(answer.questionId));
    if (typeof read !== 'string') given.set(answer.questionId, read);
    else details.push({ type: 'invalid value', message: read, path: `q${answer.questionId}` });
  }
  // A link that opens nothing is told of before anything else is.
  if (details.length > 0 && !(await rowOf(db, link))) return 'closed';
  if (details.length === 0 && given.size > 0) {
    const { isOpen, unasked } = await upsertAnswers(db, tokenHash(link), [...given.values()]);
    if (!isOpen || !isLinkShaped(link)) return 'closed';
    details.push(...unasked.map((id) => ({ type: 'invalid value', message: notAsked, path: `q${id}` })));
  }
  if (details[0]) throw new Fault('invalid', 'invalid value', details[0].message, { details });
  return 'kept';
}

const notAsked = 'This question is not asked.';

type AnswerForm = { type: QuestionType; optionIds: ReadonlySet<string> };

/**
 * How questions are answered, by their ids, which are unique in the service: type and options of a question are for
 * ever. The oldest make room.
 */
const forms = new Map<number, AnswerForm>();
const mostForms = 20_000;

/** How what is answered can be answered. What is not known yet is what the person of the link is asked. */
async function questionsFor(
  db: Db,
  link: string,
  answers: GivenAnswer[],
): Promise<ReadonlyMap<number, AnswerForm> | 'closed'> {
  if (answers.every(({ questionId }) => forms.has(questionId))) return forms;
  const row = await rowOf(db, link);
  if (!row) return 'closed';
  const respondent = respondentOf(row.respondentKey, row.person);
  const asked = await selectAsked(db, row.accountId, row.week, respondent);
  const own = new Map(
    asked.map(({ id, type, options }) => [
      id,
      { type, optionIds: new Set(options.map((option) => option.id)) },
    ]),
  );
  for (const [id, one] of own) forms.set(id, one);
  for (const id of forms.keys()) {
    if (forms.size <= mostForms) break;
    forms.delete(id);
  }
  return own;
}

/** The answer as it is kept, or words that say what would be right. */
function readGiven(
  { questionId, value, comment = null, skipped = false }: GivenAnswer,
  question: AnswerForm | undefined,
): GivenRow | string {
  if (!question) return notAsked;
  if (skipped) {
    if (value !== undefined || comment !== null) return 'Who skips a question gives no answer to it.';
    return { questionId, value: null, choices: null, comment: null, skipped: true };
  }
  const said = comment === null || comment.trim() === '' ? null : comment;
  if (said !== null && [...said].length > maxCommentLength) {
    return `A comment has at most ${maxCommentLength} characters.`;
  }
  if (said !== null && (said.includes('\0') || !said.isWellFormed()))
    return 'The comment is not readable text.';
  if (question.type === freeText && said === null) return 'Write something, or skip the question.';
  const read = readAnswer(question.type, question.optionIds, value);
  if (typeof read === 'string') return `The answer must be ${read}.`;
  return { questionId, ...read, comment: said, skipped: false };
}

/** One look-up for every link, also for one that cannot be: time tells nothing. */
async function rowOf(db: Db, link: string): Promise<LinkRow | undefined> {
  const row = await selectLink(db, tokenHash(link));
  return isLinkShaped(link) ? row : undefined;
}
