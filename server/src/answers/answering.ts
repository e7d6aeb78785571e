// Answering through a personal link: reads what a link opens, and stores the answers given with it.
import { maxCommentLength } from '@soundings/contract/limits.ts';
import type { Detail, DetailType } from '@soundings/contract/problem.ts';
import { freeText, type QuestionType } from '@soundings/contract/question-types.ts';
import type { Week } from '@soundings/contract/weeks.ts';
import { Fault } from '../base/errors.ts';
import { tokenHash } from '../base/crypto/secrets.ts';
import type { AccountId, Db, Pool } from '../db/db.ts';
import type { Question } from '../questions/questions.sql.ts';
import { readAnswer } from '../questions/types.ts';
import { announcedDays } from '../focus/focus-states.ts';
import { type AnnouncedFocus, selectAnnouncedFocus } from '../focus/focus.sql.ts';
import { isLinkShaped } from '../rounds/links.ts';
import type { AnswerKeys } from '../sealing/answer-keys.ts';
import { epochOf, type WeekKey } from '../sealing/week-key.ts';
import {
  type AskedBreakdown,
  type KeyCopies,
  type LinkKeyRow,
  type AnswerLink,
  selectAskedQuestions,
  selectAnswerLink,
  selectSealedOfPerson,
  selectAskedBreakdowns,
  type SealedAnswers,
} from './answering.sql.ts';
import { togetherOn } from './together.ts';
import {
  decodeAnswers,
  encodeAnswers,
  type GivenAnswer,
  givenIn,
  type Giving,
  isOwn,
  type PersonAnswers,
  type Refusal,
  changeRefusalOf,
} from '../sealing/person-answers.ts';

/** What a person sees with their personal link. */
export type Asking = {
  accountId: AccountId;
  userId: number;
  /** The account's name. */
  company: string;
  firstName: string;
  /** ISO 639-1. The person's language, or the account's if the person has none. */
  language: string;
  week: Week;
  /** The account's time zone, in which the week ends. */
  timezone: string;
  thresholds: { figures: number; distribution: number; comments: number };
  /** Whether results of the open week are shown. */
  isLive: boolean;
  /** The breakdowns by which results of the week are also shown. */
  breakdowns: AskedBreakdown[];
  /** What the person's group works on after earlier answers, if it was announced recently. */
  focus: AnnouncedFocus | undefined;
  /** The questions asked, in order. */
  questions: Question[];
  /** Whether the employer handed the link out. */
  isExported: boolean;
  /** Whether it was opened with a printed card. */
  isFromCard: boolean;
  /** Whether it is shown at a kiosk. */
  isAtKiosk?: boolean;
  /** The token of the page on which the person turns survey messages off. Undefined: the link was not sent to them. */
  optOutToken?: string | undefined;
  /** The name of the person who handed it out, if known. */
  handedBy: string | null;
  /** Copies of the key to the answers that could still decrypt them after the week has closed. */
  copies: KeyCopies;
  /** Answers given with this link in this browser session, by question. `value`: yes is 1, no is 0. Empty if the link was handed out. */
  answers: Map<number, GivenAnswer>;
  /** Questions that can't be answered here any more, because they were answered elsewhere or the answer is already counted. */
  fixed: Map<number, Refusal>;
};

/** A personal link and the secret of the browser session in which it is used; null if there is none. */
export type Visit = { link: string; visit: string | null };

/**
 * Returns what a link opens; undefined if the link is wrong, old or replaced, the week has closed, or the person is not active.
 * Answers given with another link or in another browser are not shown (P13). A link that was handed out shows no answers at all, not
 * even the person's own, because the employer could use it to find out who has answered (decisions/0016).
 */
export async function openLink(pool: Pool, keys: AnswerKeys, by: Visit): Promise<Asking | undefined> {
  const found = await openRow(pool, keys, by.link);
  if (!found) return undefined;
  const { accountId, userId, week, wrapped: _, figures, distribution, comments, ...rest } = found.row;
  const respondent = found.key.respondentOf(userId);
  const [questions, sealed, breakdowns, focus] = await Promise.all([
    selectAskedQuestions(pool, accountId, week, respondent),
    selectSealedOfPerson(pool, accountId, week, respondent),
    selectAskedBreakdowns(pool, accountId, week, respondent),
    selectAnnouncedFocus(pool, { accountId, userId }, announcedDays),
  ]);
  if (questions.length === 0) return undefined;
  const giving = givingOf(by, rest.isExported);
  const given = rest.isExported ? [] : [...allIn(found.key, respondent, sealed)];
  const own = given.filter(([, answer]) => isOwn(answer, giving));
  const fixed = given.flatMap(([id, answer]) => {
    const refusal = changeRefusalOf(answer, giving);
    return refusal === undefined ? [] : [[id, refusal] as const];
  });
  return {
    ...rest,
    accountId,
    userId,
    week,
    thresholds: { figures, distribution, comments },
    breakdowns,
    focus,
    questions,
    answers: new Map(own.map(([id, answer]) => [id, givenIn(answer)])),
    fixed: new Map(fixed),
  };
}

/** Returns hashes of the link and the session, as secrets are never stored. 60 bits of a link distinguish it from a person's other links. */
const givingOf = (
  { link, visit }: Visit,
  handedOut: boolean,
  linkHash: Buffer = tokenHash(link),
): Giving => ({
  link: linkHash.toString('base64url').slice(0, 10),
  visit: visit === null ? null : tokenHash(visit).toString('base64url').slice(0, 22),
  handedOut,
});

/** Returns all answers of a person, given with links or imported from history files. */
function allIn(key: WeekKey, respondent: string, { given, imported }: SealedAnswers): PersonAnswers {
  const all = given === null ? imported : [given, ...imported];
  const [only, ...more] = all;
  if (only && more.length === 0) return decodeAnswers(key.open(respondent, only));
  return new Map(all.flatMap((sealed) => [...decodeAnswers(key.open(respondent, sealed))]));
}

/**
 * An answer as the page sends it. `value`: see readAnswer. A skipped question has neither value nor comment. "Not applicable" has no
 * value. For free text, the comment is the answer.
 */
export type SubmittedAnswer = {
  questionId: number;
  value?: unknown;
  comment?: string | null;
  skipped?: boolean;
  notApplicable?: boolean;
};

type GivenRow = GivenAnswer & { questionId: number };

/**
 * Saves answers, all or none. Each replaces an earlier answer given with the same link in the same browser session. Returns 'closed'
 * if the link is invalid. Throws a Fault with one detail per wrong answer, whose path is `q` and the question's id: 'invalid
 * value' for invalid answers and questions that are not asked, 'already answered' for questions that were answered elsewhere or are
 * already counted. With a link that was handed out, existing answers of the latter kind stay as they are and nothing is thrown.
 */
export async function saveAnswers(
  pool: Pool,
  keys: AnswerKeys,
  by: Visit,
  answers: SubmittedAnswer[],
): Promise<'kept' | 'closed'> {
  const questions = await questionsFor(pool, keys, by.link, answers);
  if (questions === 'closed') return 'closed';
  const details: Detail[] = [];
  const given = new Map<number, GivenRow>();
  for (const answer of answers) {
    const read = readGiven(answer, questions.get(answer.questionId));
    if (typeof read !== 'string') given.set(answer.questionId, read);
    else details.push({ type: 'invalid value', message: read, path: `q${answer.questionId}` });
  }
  // An invalid link takes precedence over wrong answers.
  if (details.length > 0 && !(await openRow(pool, keys, by.link))) return 'closed';
  if (details.length === 0 && given.size > 0) {
    const outcome = await keep(pool, keys, by, [...given.values()]);
    if (outcome === 'closed') return 'closed';
    details.push(...outcome);
  }
  if (details[0]) throw new Fault('invalid', details[0].type as DetailType, details[0].message, { details });
  return 'kept';
}

/**
 * A cache of what this process last saved for each link, so that most answers take a single statement. It contains no keys, and
 * nothing that can be read without one. The oldest entries are dropped first.
 */
type Recent = {
  row: LinkKeyRow;
  /** The sealed answers in base64. A small buffer would keep all of the memory that it shares with others. */
  given: string;
  imported: Buffer[];
};
const recents = new Map<string, Recent>();
const maxRecents = 20_000;
/** The epoch of the keys by which they were encrypted. */
let recentEpoch = '';

/** The maximum number of attempts if the person's answers change in between. */
const maxAttempts = 20;

async function keep(
  pool: Pool,
  keys: AnswerKeys,
  by: Visit,
  given: GivenRow[],
): Promise<Detail[] | 'closed'> {
  if (!isLinkShaped(by.link)) return 'closed';
  const hash = tokenHash(by.link);
  const name = hash.toString('latin1');
  const detail = (type: DetailType, message: string) => (id: number) => ({ type, message, path: `q${id}` });
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    // Repeated only if the answers have changed in between.
    const found = await recentOf(
      pool,
      keys,
      hash,
      attempt === 0 ? (recents.get(name) ?? 'unknown') : undefined,
    );
    recents.delete(name);
    if (!found) return 'closed';
    const { row, key, before } = found;
    const respondent = key.respondentOf(row.userId);
    const giving = givingOf(by, row.isExported, hash);
    const now = allIn(key, respondent, { given: before.given, imported: [] });
    const all = before.imported.length === 0 ? now : allIn(key, respondent, before);
    const refused = given.filter(({ questionId }) => changeRefusalOf(all.get(questionId), giving));
    if (refused.length > 0 && found.isFresh && !row.isExported) {
      // Report questions that are not asked first. Otherwise someone could find out, without leaving a trace, what is answered.
      const asked = await selectAskedQuestions(pool, row.accountId, row.week, respondent);
      const unasked = given.filter(({ questionId }) => !asked.some(({ id }) => id === questionId));
      if (unasked.length > 0)
        return unasked.map(({ questionId }) => detail('invalid value', notAsked)(questionId));
      return refused.map(({ questionId }) => detail('already answered', answeredElsewhere)(questionId));
    }
    if (refused.length > 0 && !row.isExported) continue; // the cached answers may be out of date
    // With a link that was handed out, the same is done and returned whether an existing answer stays or not (decisions/0016).
    for (const { questionId, ...answer } of given.filter((one) => !refused.includes(one)))
      now.set(questionId, { ...answer, counted: false, giving });
    const sealed = key.seal(respondent, encodeAnswers(now)).toString('base64');
    const questionIds = given.map(({ questionId }) => questionId);
    const { accountId, week } = row;
    const keeping = { hash, respondent, questionIds, sealed, before };
    const outcome = await togetherOn(pool).weeks.do(`${accountId} ${week}`, keeping);
    if (!outcome.isOpen) return 'closed';
    if (outcome.unasked.length > 0) return outcome.unasked.map(detail('invalid value', notAsked));
    if (!outcome.isKept) continue;
    const epoch = epochOf(row.wrapped);
    if (epoch !== recentEpoch) recents.clear(); // a week has closed in the meantime
    recentEpoch = epoch;
    recents.set(name, { row, given: sealed, imported: before.imported });
    if (recents.size > maxRecents) recents.delete(recents.keys().next().value as string);
    return [];
  }
  throw new Fault('unavailable', 'unavailable', 'This person’s answers keep changing. Try again.');
}

type Found = { row: LinkKeyRow; before: SealedAnswers; key: WeekKey; isFresh: boolean };

/**
 * Returns the existing answers for a link. `recent`: what this process last saved; 'unknown' makes it assume that there are none, as
 * for most people who start answering; undefined reads the database. If the assumption is wrong, nothing is saved (upsertAnswers).
 */
async function recentOf(
  pool: Pool,
  keys: AnswerKeys,
  hash: Buffer,
  recent: Recent | 'unknown' | undefined,
): Promise<Found | undefined> {
  if (recent && recent !== 'unknown') {
    const { accountId, week, wrapped } = recent.row;
    // Fails if the epoch has moved on.
    const key = await keys.unwrap(pool, accountId, week, wrapped).catch(() => undefined);
    const before = { given: Buffer.from(recent.given, 'base64'), imported: recent.imported };
    if (key) return { row: recent.row, before, key, isFresh: false };
  }
  const found = await keys.opened(pool, () => togetherOn(pool).links.do('', hash));
  if (!found) return undefined;
  const { row, key } = found;
  const { accountId, week, userId } = row;
  const isFresh = recent !== 'unknown' || row.isExported;
  const before = isFresh
    ? await selectSealedOfPerson(pool, accountId, week, key.respondentOf(userId))
    : { given: null, imported: [] };
  return { row, before, key, isFresh };
}

const answeredElsewhere =
  'This question was answered with another link or in another browser, or the answer is already counted. It can’t be changed here.';

const notAsked = 'This person was not asked this question.';

/** `allowsNotApplicable`: whether the person was asked so in this week. */
type AnswerForm = { type: QuestionType; optionIds: ReadonlySet<string>; allowsNotApplicable: boolean };

/**
 * The types and options of questions by id and database, cached because they never change. Ids are unique across accounts. The oldest
 * entries are dropped first. Whether they allow "not applicable" can change from week to week, and is read for each such answer.
 */
const cachedForms = new WeakMap<Pool, Map<number, AnswerForm>>();
const maxForms = 20_000;

/** Returns the types and options of the answered questions. Reads those that the person is asked, unless all are cached. */
async function questionsFor(
  pool: Pool,
  keys: AnswerKeys,
  link: string,
  answers: SubmittedAnswer[],
): Promise<ReadonlyMap<number, AnswerForm> | 'closed'> {
  const forms = cachedForms.get(pool) ?? new Map<number, AnswerForm>();
  cachedForms.set(pool, forms);
  const isKnown = ({ questionId, notApplicable }: SubmittedAnswer) => !notApplicable && forms.has(questionId);
  if (answers.every(isKnown)) return forms;
  const found = await openRow(pool, keys, link);
  if (!found) return 'closed';
  const { row, key } = found;
  const asked = await selectAskedQuestions(pool, row.accountId, row.week, key.respondentOf(row.userId));
  const own = new Map(
    asked.map(({ id, type, options, allowsNotApplicable }) => [
      id,
      { type, optionIds: new Set(options.map((option) => option.id)), allowsNotApplicable },
    ]),
  );
  for (const [id, one] of own) forms.set(id, one);
  for (const id of forms.keys()) {
    if (forms.size <= maxForms) break;
    forms.delete(id);
  }
  return own;
}

/** Returns the answer to store, or a message that says what is wrong with it. */
function readGiven(
  { questionId, value, comment = null, skipped = false, notApplicable = false }: SubmittedAnswer,
  question: AnswerForm | undefined,
): GivenRow | string {
  if (!question) return notAsked;
  if (skipped) {
    if (value !== undefined || comment !== null || notApplicable)
      return 'A skipped question can’t have an answer or a comment.';
    return { questionId, value: null, choices: null, comment: null, skipped: true };
  }
  const text = comment === null || comment.trim() === '' ? null : comment;
  if (text !== null && [...text].length > maxCommentLength) {
    return `A comment can have at most ${maxCommentLength} characters.`;
  }
  if (text !== null && (text.includes('\0') || !text.isWellFormed()))
    return 'The comment contains invalid characters.';
  if (notApplicable) {
    if (!question.allowsNotApplicable) return 'This question can’t be answered with “not applicable”.';
    if (value !== undefined) return 'An answer can’t be “not applicable” and have a value.';
    return { questionId, value: null, choices: null, comment: text, skipped: false, notApplicable };
  }
  if (question.type === freeText && text === null) return 'Write an answer, or skip the question.';
  const read = readAnswer(question.type, question.optionIds, value);
  if (typeof read === 'string') return `The answer must be ${read}.`;
  return { questionId, ...read, comment: text, skipped: false };
}

/** Returns the row of a link with the key of its week; undefined if the link is invalid. */
const openRow = (pool: Pool, keys: AnswerKeys, link: string) =>
  keys.opened(pool, () => rowOf(pool, keys, link));

/** Makes the same query for every text, even one that can't be a link, so that the response time reveals nothing. */
async function rowOf(db: Db, keys: AnswerKeys, link: string): Promise<AnswerLink | undefined> {
  const row = await selectAnswerLink(db, tokenHash(link), keys.chain.name);
  return isLinkShaped(link) ? row : undefined;
}
