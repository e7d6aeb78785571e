// The figures of an open week: computes them, and writes them so that they are shown. Closing a week (close-week.ts) and updating a
// live week (live-week.ts) use the same two functions, so both publish by the same rules.
import type { NoiseLevel } from '@soundings/contract/console/privacy.ts';
import { type Week, weekName } from '@soundings/contract/weeks.ts';
import { createHmac } from 'node:crypto';
import { noiseKeyOf } from '../accounts/noise-key.ts';
import { lockAccount } from '../accounts/accounts.ts';
import { raiseVersion } from '../accounts/accounts.sql.ts';
import type { AccountId, Transaction } from '../db/db.ts';
import { type Kpi, selectKpis, selectQuestions, type Question } from '../questions/questions.sql.ts';
import { classesOf, comparable } from '../questions/similar-wording.ts';
import type { AnswerKeys } from '../sealing/answer-keys.ts';
import type { WeekKey } from '../sealing/week-key.ts';
import { addBatch } from './disclosure/batches.ts';
import { chosenFigures, kpiValues, type KpiValue, type Result } from './figures.ts';
import { type Noise, noiseOf } from './disclosure/noise.ts';
import { type OpenAnswers, openAnswers } from './open-answers.ts';
import {
  type PublishedComment,
  copyComments,
  copyKpiValues,
  copyRates,
  copyResults,
  deleteFigures,
  deleteShown,
  type OpenWeekRow,
  selectAskedGroups,
  selectAskedUsers,
  selectAssignments,
  selectPresent,
  selectShown,
  updateKpiQuestions,
  updateKpisWithValues,
} from './published-figures.sql.ts';
import { type Rate, responseRates } from './disclosure/response-rates.ts';
import { askedOfSegments, segmentResults } from './segments/segment-figures.ts';
import { segmentsOfWeek } from './segments/week-segments.ts';
import { type Turnout, turnoutAmong, type WeekFrame } from './turnout.ts';
import { WeekPeople } from './week-people.ts';

/** Everything that is published about a week. */
type Figures = {
  results: (Result & { questionId: number })[];
  rates: Rate[];
  kpis: Kpi[];
  values: KpiValue[];
  comments: PublishedComment[];
};

/** The people newly counted in the live figures, for questions that count as one. */
type Counted = { questionIds: number[]; respondents: string[] };

/** An open week: its row in the database and its key. */
export type OpenWeekWithKey = { week: Week; state: OpenWeekRow; key: WeekKey };

export type ComputedFigures = {
  figures: Figures;
  /** All groups that the week asks or in which its answers count. */
  allGroupIds: number[];
  /** The answers that the figures were computed from. */
  answers: OpenAnswers;
  /** In a live week, the people of the new batch. */
  counted: Counted[];
};

/** Returns the key of an open week. Throws a Fault if this server lacks the answer key. */
export async function openWeekKey(
  tx: Transaction,
  keys: AnswerKeys,
  accountId: AccountId,
  week: Week,
): Promise<WeekKey> {
  const key = await keys.of(tx, accountId, week);
  if (!key) throw new Error(`The open week ${weekName(week)} of account ${accountId} has no key.`);
  return key;
}

/** Computes the figures of a week. For a live week, adds one batch to the figures already shown. `isLast`: the week closes. */
export async function computeFigures(
  tx: Transaction,
  keys: AnswerKeys,
  accountId: AccountId,
  { week, state, key }: OpenWeekWithKey,
  { isLast }: { isLast: boolean },
): Promise<ComputedFigures> {
  const { data, people, personOf } = await weekData(tx, accountId, week, state, key);
  const allGroupIds = groupsOf(data);
  const answers = await openAnswers(tx, key, people, { accountId, week });
  const turnout: Turnout = { ...turnoutAmong(people, data), done: answers.done, isRecorded: true };
  const [noise, allQuestions, kpis] = await Promise.all([
    noiseIn(tx, keys, accountId, state.noise, personOf),
    selectQuestions(tx, accountId),
    selectKpis(tx, accountId),
  ]);
  const questions = new Map(allQuestions.map((question) => [question.id, question]));
  const asked = [...new Set(data.rounds.flatMap(({ questionIds }) => questionIds))].toSorted((a, b) => a - b);
  const shown = state.isLive ? await selectShown(tx, accountId, week, allGroupIds) : undefined;
  const results = new Map<number, Result[]>();
  const comments: PublishedComment[] = [];
  const counted: Counted[] = [];
  const classes = classesOf(questions.values());
  for (const questionIds of Map.groupBy(asked, (id) => classes.get(id)).values()) {
    const answered = questionIds.map((id) => {
      const { type, options, text } = questions.get(id) as Question;
      const allowsNotApplicable = data.rounds.some(({ notApplicableIds }) => notApplicableIds?.includes(id));
      const question = { id, type, options: options.map((option) => option.id), allowsNotApplicable };
      // The noise depends on the question's own text, not on its class, which can change when other questions change.
      return { question, noise: noise?.ofQuestion(comparable(text)) };
    });
    const withAnswers = () => answered.map((one) => ({ ...one, answers: answers.to(one.question.id) }));
    const batch = shown && addBatch(withAnswers(), shown, turnout, { isLast });
    if (batch && batch.counted.length > 0) counted.push({ questionIds, respondents: batch.counted });
    const inColumns = answered.map((one) => ({ ...one, column: answers.columnOf(one.question.id) }));
    const whole = batch ? undefined : chosenFigures(inColumns, turnout);
    const ofSegments = whole ? segmentResults(inColumns, whole, turnout) : [];
    for (const [i, id] of questionIds.entries()) {
      const ofGroups = batch?.results[i] ?? whole?.figures[i]?.results ?? [];
      results.set(id, [...ofGroups, ...(ofSegments[i] ?? [])]);
      const ordered = shuffled(batch?.comments[i] ?? whole?.figures[i]?.comments ?? [], key.orderKey);
      comments.push(...ordered.map((comment, position) => ({ ...comment, questionId: id, position })));
    }
  }
  const figures = {
    // Ordered by group, because reading a range of groups is twice as fast if their rows are stored together.
    results: [...results]
      .flatMap(([questionId, list]) => list.map((result) => ({ ...result, questionId })))
      .toSorted((a, b) => a.groupId - b.groupId || a.questionId - b.questionId),
    // The response rates of a live week are published when it closes (P7).
    rates: isLast ? responseRates(turnout) : [],
    kpis,
    values: kpiValues(kpis, results, [...data.asked, ...askedOfSegments(data)]),
    comments,
  };
  return { figures, allGroupIds, answers, counted };
}

/**
 * Returns the noise for a week's figures, if any. `personOf` returns the name of a respondent that is the same in every week, so
 * that the same set of people gets the same noise in every week.
 */
async function noiseIn(
  tx: Transaction,
  { secrets }: AnswerKeys,
  accountId: AccountId,
  level: NoiseLevel,
  personOf: (respondent: string) => string,
): Promise<Noise | undefined> {
  if (level === 0) return undefined;
  return noiseOf(await noiseKeyOf(tx, accountId, secrets), level, personOf);
}

/**
 * Writes the figures of groups and segments that still exist, and replaces those shown while the week was open. Returns how many figures of
 * questions are not withheld.
 */
export async function writeFigures(
  tx: Transaction,
  accountId: AccountId,
  { week, state }: OpenWeekWithKey,
  { figures: { results, rates, kpis, values, comments }, allGroupIds }: ComputedFigures,
): Promise<number> {
  // The lock is taken last, so that others wait only while the rows are written. If a group or a breakdown is removed after this point, the
  // transaction that removes it deletes its figures.
  const [, present] = await Promise.all([lockAccount(tx, accountId), selectPresent(tx, accountId)]);
  const isPresent = ({ groupId }: { groupId: number }) => present.has(groupId);
  if (state.isShown) await deleteShown(tx, accountId, week, allGroupIds);
  const rows = results.filter(isPresent);
  const presentValues = values.filter(isPresent);
  await copyResults(tx, accountId, week, rows);
  await copyRates(tx, accountId, week, rates.filter(isPresent));
  await copyKpiValues(tx, accountId, week, presentValues);
  const valued = new Set(presentValues.filter(({ value }) => value !== null).map(({ kpiId }) => kpiId));
  await Promise.all([
    updateKpisWithValues(tx, accountId, [...valued]),
    updateKpiQuestions(tx, accountId, week, kpis),
    raiseVersion(tx, accountId),
  ]);
  const kept = comments.map((comment) => ({
    ...comment,
    groupIds: comment.groupIds.filter((groupId) => present.has(groupId)),
  }));
  await copyComments(
    tx,
    accountId,
    week,
    kept.filter(({ groupIds }) => groupIds.length > 0),
  );
  return rows.filter(({ answers }) => answers !== null).length;
}

/** Returns who is asked what in a week. `personOf`: see noiseIn. */
async function weekData(
  tx: Transaction,
  accountId: AccountId,
  week: Week,
  { figures, distribution, comments, isLive, noise }: OpenWeekRow,
  key: WeekKey,
): Promise<{ data: WeekFrame; people: WeekPeople; personOf: (respondent: string) => string }> {
  const [{ scheduledRounds, ...asked }, segments] = await Promise.all([
    selectAskedGroups(tx, accountId, week),
    // Weeks with live results have no segments.
    isLive ? undefined : segmentsOfWeek(tx, accountId, week, key),
  ]);
  const people = new WeekPeople();
  for await (const batch of selectAssignments(tx, accountId, week)) {
    for (const { respondent, roundId, groupIds } of batch) {
      const segmentIds = segments?.segmentIdsOf(roundId, respondent);
      people.assign(people.numberOf(respondent), { roundId, groupIds, ...(segmentIds && { segmentIds }) });
    }
  }
  // Only noise needs them. The same name in every week; people who were removed, or appear only in a history file, keep their number of this week.
  const names = new Map<string, string>();
  if (scheduledRounds.size > 0) {
    const present = new Uint8Array(people.count);
    for await (const users of selectAskedUsers(tx, accountId, week)) {
      for (const { userId, isActive, hasHandedOut } of users) {
        const respondent = key.respondentOf(userId);
        const person = people.find(respondent);
        if (person !== undefined && isActive) present[person] = 1;
        if (person !== undefined && hasHandedOut) people.handedOut.add(person);
        if (noise !== 0) names.set(respondent, `user ${userId}`);
      }
    }
    for (let person = 0; person < present.length; person++)
      if (present[person] === 0) people.withdraw(person, scheduledRounds);
  }
  const thresholds = { figures, distribution, comments };
  return {
    data: { ...asked, thresholds, ...(segments && { breakdowns: segments.breakdowns }) },
    people,
    personOf: (respondent) => names.get(respondent) ?? respondent,
  };
}

/** Returns all groups that are asked in a week or in which its answers count. */
const groupsOf = ({ asked, rounds }: Pick<WeekFrame, 'asked' | 'rounds'>): number[] => [
  ...new Set([
    ...asked.map(({ groupId }) => groupId),
    ...rounds.flatMap(({ groupId, aboveIds }) => [groupId, ...aboveIds]),
  ]),
];

/** Returns the comments ordered by a keyed hash of their texts. The key is destroyed when the week closes (P6). */
function shuffled<T extends { text: string }>(comments: T[], key: Uint8Array): T[] {
  const placed = comments.map((comment, i) => {
    const hash = createHmac('sha256', key).update(`${comment.text}\0${i}`).digest('hex');
    return { comment, hash };
  });
  return placed.toSorted((a, b) => (a.hash < b.hash ? -1 : 1)).map(({ comment }) => comment);
}

/** Deletes all figures of groups, or of segments, in the transaction that deletes them (decision A15, P10). */
export async function deleteGroupResults(
  tx: Transaction,
  accountId: AccountId,
  groupIds: number[],
): Promise<void> {
  if (groupIds.length > 0) await deleteFigures(tx, accountId, groupIds);
}
