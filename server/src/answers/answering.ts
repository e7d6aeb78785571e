// Answering by a personal link: what it opens, and the answers that are given by it.
import { maxCommentLength } from '@soundings/contract/limits.ts';
import type { Detail, DetailType } from '@soundings/contract/problem.ts';
import type { Week } from '@soundings/contract/weeks.ts';
import { Fault } from '../base/errors.ts';
import { Gathering } from '../base/gathering.ts';
import { tokenHash } from '../base/secrets.ts';
import type { AccountId, Db, Pool } from '../db/db.ts';
import type { Question } from '../questions/questions.ts';
import { freeText, type KeptAnswer, type QuestionType, readAnswer } from '../questions/types.ts';
import { isLinkShaped } from '../rounds/links.ts';
import type { AnswerKeys } from '../sealing/answer-keys.ts';
import { epochOf, type WeekKey } from '../sealing/week-key.ts';
import {
  type KeyCopies,
  type LinkKeyRow,
  type Keeping,
  type LinkRow,
  type Outcome,
  selectAsked,
  selectLink,
  selectLinkKeys,
  selectSealed,
  type SealedAnswers,
  upsertAnswers,
} from './answering.sql.ts';
import {
  decodeAnswers,
  encodeAnswers,
  type Giving,
  isOwn,
  type PersonAnswers,
  type Refusal,
  refusalOf,
} from '../sealing/person-answers.ts';

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
  /** The employer has handed the link out. */
  isExported: boolean;
  /** Who handed it out, where that is known. */
  handedBy: string | null;
  /** Copies of the key to the answers that could still open them when the week has closed. */
  copies: KeyCopies;
  /** What was answered by this link in this browser session, by question; value: yes is 1, no 0. None by a link that was handed out. */
  answers: Map<number, KeptAnswer & { comment: string | null; skipped: boolean }>;
  /** What cannot be answered here any more: it was answered elsewhere, or is counted already. */
  fixed: Map<number, Refusal>;
};

/** A personal link, and the browser session in which it is used: a secret, null where there is none. */
export type Visit = { link: string; visit: string | null };

/**
 * What a link opens; undefined when it is wrong, old or replaced, the week has closed or the person is not active. What was
 * answered by another link or in another browser is not shown (P13). By a link that was handed out nothing shows whether there is
 * an answer, not even an own one: the employer, who has handed it out, could find out who has answered (decisions/0016).
 */
export async function openLink(pool: Pool, keys: AnswerKeys, by: Visit): Promise<Asking | undefined> {
  const found = await openRow(pool, keys, by.link);
  if (!found) return undefined;
  const { accountId, userId, week, wrapped: _, figures, spread, comments, ...rest } = found.row;
  const respondent = found.key.respondentOf(userId);
  const [questions, sealed] = await Promise.all([
    selectAsked(pool, accountId, week, respondent),
    selectSealed(pool, accountId, week, respondent),
  ]);
  if (questions.length === 0) return undefined;
  const giving = givingOf(by, rest.isExported);
  const given = rest.isExported ? [] : [...allIn(found.key, respondent, sealed)];
  const own = given.filter(([, answer]) => isOwn(answer, giving));
  const fixed = given.flatMap(([id, answer]) => {
    const refusal = refusalOf(answer, giving);
    return refusal === undefined ? [] : [[id, refusal] as const];
  });
  return {
    ...rest,
    accountId,
    userId,
    week,
    thresholds: { figures, spread, comments },
    questions,
    answers: new Map(
      own.map(([id, { value, choices, comment, skipped }]) => [id, { value, choices, comment, skipped }]),
    ),
    fixed: new Map(fixed),
  };
}

/** Of secrets only digests are kept: of a link 60 bits, which tell it from the few others of a person. */
const givingOf = (
  { link, visit }: Visit,
  handedOut: boolean,
  linkHash: Buffer = tokenHash(link),
): Giving => ({
  link: linkHash.toString('base64url').slice(0, 10),
  visit: visit === null ? null : tokenHash(visit).toString('base64url').slice(0, 22),
  handedOut,
});

/** All that a person has answered: by links, and in history files. */
function allIn(key: WeekKey, respondent: string, { given, imported }: SealedAnswers): PersonAnswers {
  const parts = given === null ? imported : [given, ...imported];
  return new Map(parts.flatMap((part) => [...decodeAnswers(key.open(respondent, part))]));
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

type GivenRow = KeptAnswer & { questionId: number; comment: string | null; skipped: boolean };

/**
 * Keeps answers, each in place of the one that was given before by the same link in the same browser session: all or nothing.
 * 'closed' when the link opens nothing. Throws a Fault, with a detail of the path `q` and the question's id for each, when
 * answers are out of range, to questions that are not asked ('invalid value'), or to questions that were answered
 * elsewhere or are counted already ('already answered'). By a link that was handed out, the latter stay as they are, and nothing is
 * thrown.
 */
export async function giveAnswers(
  pool: Pool,
  keys: AnswerKeys,
  by: Visit,
  answers: GivenAnswer[],
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
  // A link that opens nothing is reported before anything else is.
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
 * What this process kept last for a link, so that most answers take a single statement: no key, and nothing that could be read
 * without one. The oldest make room.
 */
type Recent = { row: LinkKeyRow; before: SealedAnswers };
const recents = new Map<string, Recent>();
const mostRecents = 20_000;
/** Of the keys that these were sealed by. */
let recentEpoch = '';

/** What people send at the same time takes one statement: for all weeks to find their links, for each week to keep their answers. */
type Together = { links: Gathering<Buffer, LinkKeyRow | undefined>; weeks: Gathering<Keeping, Outcome> };
const together = new WeakMap<Db, Together>();

function togetherOn(db: Db): Together {
  const before = together.get(db);
  if (before) return before;
  const made: Together = {
    links: new Gathering((_, hashes) => selectLinkKeys(db, hashes), { most: 100, atOnce: 1 }),
    // A week that is being closed holds up no other week's answers, and no more than one connection.
    weeks: new Gathering((name, all) => keepAll(db, name, all), { most: 100, atOnce: 1 }),
  };
  together.set(db, made);
  return made;
}

const weekOfName = (name: string) => {
  const [accountId, week] = name.split(' ') as [string, Week];
  return { accountId: Number(accountId), week };
};

/** Who sends twice at the same time is kept once: the other tries again. */
async function keepAll(db: Db, name: string, all: Keeping[]): Promise<Outcome[]> {
  const first = new Map(all.map((one) => [one.respondent, one] as const).toReversed());
  const outcomes = await upsertAnswers(db, weekOfName(name), [...first.values()]);
  const places = new Map([...first.values()].map((one, i) => [one, outcomes[i] as Outcome]));
  return all.map((one) => places.get(one) ?? { isOpen: true, unasked: [], isKept: false });
}

/** So many times others may answer for the same person in between. */
const mostTries = 20;

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
  for (let tries = 0; tries < mostTries; tries++) {
    // oxlint-disable no-await-in-loop -- again only where somebody else was in between
    const found = await recentOf(
      pool,
      keys,
      hash,
      tries === 0 ? (recents.get(name) ?? 'unknown') : undefined,
    );
    recents.delete(name);
    if (!found) return 'closed';
    const { row, key, before } = found;
    const respondent = key.respondentOf(row.userId);
    const giving = givingOf(by, row.isExported, hash);
    const now = allIn(key, respondent, { given: before.given, imported: [] });
    const all = before.imported.length === 0 ? now : allIn(key, respondent, before);
    const refused = given.filter(({ questionId }) => refusalOf(all.get(questionId), giving));
    if (refused.length > 0 && found.isFresh && !row.isExported) {
      // First what is not asked: else someone could find out, without leaving a trace, what is answered.
      const asked = await selectAsked(pool, row.accountId, row.week, respondent);
      const unasked = given.filter(({ questionId }) => !asked.some(({ id }) => id === questionId));
      if (unasked.length > 0)
        return unasked.map(({ questionId }) => detail('invalid value', notAsked)(questionId));
      return refused.map(({ questionId }) => detail('already answered', answeredElsewhere)(questionId));
    }
    if (refused.length > 0 && !row.isExported) continue; // what is recent here may be old
    // By a link that was handed out, the same is done and answered whether an answer stays or not (decisions/0016).
    for (const { questionId, ...answer } of given.filter((one) => !refused.includes(one)))
      now.set(questionId, { ...answer, counted: false, giving });
    const sealed = key.seal(respondent, encodeAnswers(now));
    const questionIds = given.map(({ questionId }) => questionId);
    const { accountId, week } = row;
    const keeping = { hash, respondent, questionIds, sealed, before };
    const came = await togetherOn(pool).weeks.do(`${accountId} ${week}`, keeping);
    // oxlint-enable no-await-in-loop
    if (!came.isOpen) return 'closed';
    if (came.unasked.length > 0) return came.unasked.map(detail('invalid value', notAsked));
    if (!came.isKept) continue;
    const epoch = epochOf(row.wrapped);
    if (epoch !== recentEpoch) recents.clear(); // a week has closed since
    recentEpoch = epoch;
    recents.set(name, { row, before: { given: sealed, imported: before.imported } });
    if (recents.size > mostRecents) recents.delete(recents.keys().next().value as string);
    return [];
  }
  throw new Fault(
    'unavailable',
    'unavailable',
    'The answers of this person are changing all the time. Try again.',
  );
}

type Found = Recent & { key: WeekKey; isFresh: boolean };

/**
 * What is there for a link: as this process kept it last; where it does not know, nothing, as of most people who begin; or as
 * the database has it. A guess that is wrong keeps nothing (upsertAnswers).
 */
async function recentOf(
  pool: Pool,
  keys: AnswerKeys,
  hash: Buffer,
  recent: Recent | 'unknown' | undefined,
): Promise<Found | undefined> {
  if (recent && recent !== 'unknown') {
    const { accountId, week, wrapped } = recent.row;
    // The epoch may have moved on since.
    const key = await keys.unwrap(pool, accountId, week, wrapped).catch(() => undefined);
    if (key) return { ...recent, key, isFresh: false };
  }
  const found = await keys.opened(pool, () => togetherOn(pool).links.do('', hash));
  if (!found) return undefined;
  const { row, key } = found;
  const { accountId, week, userId } = row;
  const isFresh = recent !== 'unknown' || row.isExported;
  const before = isFresh
    ? await selectSealed(pool, accountId, week, key.respondentOf(userId))
    : { given: null, imported: [] };
  return { row, before, key, isFresh };
}

const answeredElsewhere =
  'This question has been answered by another link or in another browser, or is counted already: it cannot be changed here.';

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
  pool: Pool,
  keys: AnswerKeys,
  link: string,
  answers: GivenAnswer[],
): Promise<ReadonlyMap<number, AnswerForm> | 'closed'> {
  if (answers.every(({ questionId }) => forms.has(questionId))) return forms;
  const found = await openRow(pool, keys, link);
  if (!found) return 'closed';
  const { row, key } = found;
  const asked = await selectAsked(pool, row.accountId, row.week, key.respondentOf(row.userId));
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

/** What a link is for, and the key of its week; undefined when it opens nothing. */
const openRow = (pool: Pool, keys: AnswerKeys, link: string) =>
  keys.opened(pool, () => rowOf(pool, keys, link));

/** One look-up for every link, also for one that cannot be: time tells nothing. */
async function rowOf(db: Db, keys: AnswerKeys, link: string): Promise<LinkRow | undefined> {
  const row = await selectLink(db, tokenHash(link), keys.name);
  return isLinkShaped(link) ? row : undefined;
}
