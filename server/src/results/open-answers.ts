// The answers of an open week, opened: read once, person by person, and handed out question by question. All that is in memory
// of an answer is a few bytes, so that a week of millions fits.
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Transaction } from '../db/db.ts';
import { decodeAnswers, encodeAnswers, type PersonAnswer } from '../sealing/person-answers.ts';
import type { WeekKey } from '../sealing/week-key.ts';
import type { WeekAnswer } from './figures.ts';
import { selectSealed, selectSealedOf, updateSealed } from './publish.sql.ts';

export type OpenAnswers = {
  /** The answers to a question, in an order that tells nothing. */
  to(questionId: number): WeekAnswer[];
};

/** The answers to one question, a column for each of their parts. Choices and comments, which few have, by their place. */
type Column = {
  respondents: string[];
  values: (number | null)[];
  flags: number[];
  choices: Map<number, string[]>;
  comments: Map<number, string>;
};

const [skipped, handedOut, counted] = [1, 2, 4];

/** Opens all answers of a week. Throws when one cannot be opened by the week's key. */
export async function openAnswers(
  tx: Transaction,
  key: WeekKey,
  accountId: AccountId,
  week: Week,
): Promise<OpenAnswers> {
  const columns = new Map<number, Column>();
  for await (const rows of selectSealed(tx, accountId, week)) {
    for (const { respondent, sealed } of rows) {
      for (const [questionId, answer] of decodeAnswers(key.open(respondent, sealed))) {
        const column = columns.get(questionId) ?? emptyColumn();
        columns.set(questionId, column);
        add(column, respondent, answer);
      }
    }
  }
  return { to: (questionId) => answersIn(columns.get(questionId) ?? emptyColumn()) };
}

const emptyColumn = (): Column => ({
  respondents: [],
  values: [],
  flags: [],
  choices: new Map(),
  comments: new Map(),
});

function add(column: Column, respondent: string, answer: PersonAnswer): void {
  const place = column.respondents.push(respondent) - 1;
  column.values.push(answer.value);
  column.flags.push(
    (answer.skipped ? skipped : 0) +
      (answer.giving.handedOut ? handedOut : 0) +
      (answer.counted ? counted : 0),
  );
  if (answer.choices) column.choices.set(place, answer.choices);
  if (answer.comment !== null) column.comments.set(place, answer.comment);
}

const answersIn = ({ respondents, values, flags, choices, comments }: Column): WeekAnswer[] =>
  respondents.map((respondent, place) => {
    const flag = flags[place] as number;
    return {
      respondent,
      value: values[place] ?? null,
      choices: choices.get(place) ?? null,
      comment: comments.get(place) ?? null,
      skipped: (flag & skipped) !== 0,
      handedOut: (flag & handedOut) !== 0,
      counted: (flag & counted) !== 0,
    };
  });

/** Who became counted in the live figures, for questions that count as one. */
export type Counted = { questionIds: number[]; respondents: string[] };

/**
 * Marks answers of a live week as counted, so that they stay as they are (P16). The caller has locked the week, so no one answers
 * meanwhile. False, and nothing is marked, when one of them is no longer what it was when `answers` were read.
 */
export async function markCounted(
  tx: Transaction,
  key: WeekKey,
  { accountId, week }: { accountId: AccountId; week: Week },
  { answers, counted: sets }: { answers: OpenAnswers; counted: Counted[] },
): Promise<boolean> {
  // What is counted of each respondent, by question.
  const wanted = new Map<string, Map<number, WeekAnswer>>();
  for (const { questionIds, respondents } of sets) {
    const among = new Set(respondents);
    for (const id of questionIds) {
      for (const answer of answers.to(id)) {
        if (!among.has(answer.respondent)) continue;
        const own = wanted.get(answer.respondent) ?? new Map<number, WeekAnswer>();
        wanted.set(answer.respondent, own.set(id, answer));
      }
    }
  }
  const rows = (await selectSealedOf(tx, accountId, week, [...wanted.keys()])).map((row) => ({
    ...row,
    answers: decodeAnswers(key.open(row.respondent, row.sealed)),
  }));
  for (const row of rows) {
    for (const [id, before] of wanted.get(row.respondent) as Map<number, WeekAnswer>) {
      const now = row.answers.get(id);
      if (!now) continue; // in another part
      if (!isSame(now, before)) return false;
      row.answers.set(id, { ...now, counted: true });
    }
  }
  const sealed = rows.map(({ respondent, part, answers: own }) => ({
    respondent,
    part,
    sealed: key.seal(respondent, encodeAnswers(own)),
  }));
  await updateSealed(tx, accountId, week, sealed);
  return true;
}

const isSame = (a: WeekAnswer | PersonAnswer, b: WeekAnswer | PersonAnswer): boolean =>
  a.value === b.value && a.skipped === b.skipped && String(a.choices) === String(b.choices);
