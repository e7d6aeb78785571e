// Decrypts the answers of an open week. They are read once, person by person, and returned question by question. Each answer takes
// only a few bytes of memory, so that a week with millions of answers fits.
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Transaction } from '../db/db.ts';
import { decodeAnswers, type PersonAnswer } from '../sealing/person-answers.ts';
import type { WeekKey } from '../sealing/week-key.ts';
import { noQuestions, sharedSets, type WeekAnswer } from './turnout.ts';
import { selectSealed } from './published-figures.sql.ts';

export type OpenAnswers = {
  /** The questions that each person answered or skipped. People who did the same questions share one set. */
  done: Map<string, ReadonlySet<number>>;
  /** Returns the answers to a question, in an order that reveals nothing. */
  to(questionId: number): WeekAnswer[];
};

/** The answers to one question, one array per field. Choices and comments are rare, so they are stored by index. */
type Column = {
  respondents: string[];
  values: (number | null)[];
  flags: number[];
  choices: Map<number, string[]>;
  comments: Map<number, string>;
};

const [skipped, handedOut, counted, notApplicable] = [1, 2, 4, 8];

/** Decrypts all answers of a week. Throws if the week's key can't decrypt one of them. */
export async function openAnswers(
  tx: Transaction,
  key: WeekKey,
  accountId: AccountId,
  week: Week,
): Promise<OpenAnswers> {
  const columns = new Map<number, Column>();
  const done = new Map<string, ReadonlySet<number>>();
  const withQuestion = sharedSets();
  for await (const rows of selectSealed(tx, accountId, week)) {
    for (const { respondent, sealed } of rows) {
      // A person can have several rows.
      let own = done.get(respondent) ?? noQuestions;
      for (const [questionId, answer] of decodeAnswers(key.open(respondent, sealed))) {
        let column = columns.get(questionId);
        if (!column) columns.set(questionId, (column = emptyColumn()));
        add(column, respondent, answer);
        own = withQuestion(own, questionId);
      }
      done.set(respondent, own);
    }
  }
  return { done, to: (questionId) => answersIn(columns.get(questionId) ?? emptyColumn()) };
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
      (answer.counted ? counted : 0) +
      (answer.notApplicable ? notApplicable : 0),
  );
  if (answer.choices) column.choices.set(place, answer.choices);
  if (answer.comment !== null) column.comments.set(place, answer.comment);
}

const answersIn = ({ respondents, values, flags, choices, comments }: Column): WeekAnswer[] =>
  respondents.map((respondent, place) => {
    const flag = flags[place] as number;
    const answer: WeekAnswer = {
      respondent,
      value: values[place] ?? null,
      choices: choices.get(place) ?? null,
      comment: comments.get(place) ?? null,
      skipped: (flag & skipped) !== 0,
      handedOut: (flag & handedOut) !== 0,
      counted: (flag & counted) !== 0,
    };
    if ((flag & notApplicable) !== 0) answer.notApplicable = true;
    return answer;
  });
