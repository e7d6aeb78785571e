// The answers to a question of a week, one array per field, so that the answers of a million people take little memory and are read one
// after another. Pure.
import { type Distribution, distributionOfCounts } from '../questions/types.ts';
import type { QuestionType } from '@soundings/contract/question-types.ts';
import type { PersonAnswer } from '../sealing/person-answers.ts';
import type { WeekAnswer } from './turnout.ts';
import type { WeekPeople } from './week-people.ts';

/** `people`: the number of each answer's person (WeekPeople). `values`: NaN if none. Choices and comments are rare, so they are stored by place. */
export type AnswerColumn = {
  people: number[];
  values: number[];
  flags: number[];
  choices: Map<number, string[]>;
  comments: Map<number, string>;
};

const [skipped, handedOut, counted, notApplicable] = [1, 2, 4, 8];

export const emptyColumn = (): AnswerColumn => ({
  people: [],
  values: [],
  flags: [],
  choices: new Map(),
  comments: new Map(),
});

/** Adds an answer of the person with this number. `isByHandedOutLink`: as in WeekAnswer. */
export function addAnswer(
  column: AnswerColumn,
  person: number,
  answer: Omit<PersonAnswer, 'giving'>,
  isByHandedOutLink: boolean,
): void {
  const place = column.people.push(person) - 1;
  column.values.push(answer.value ?? Number.NaN);
  column.flags.push(
    (answer.skipped ? skipped : 0) +
      (isByHandedOutLink ? handedOut : 0) +
      (answer.counted ? counted : 0) +
      (answer.notApplicable ? notApplicable : 0),
  );
  if (answer.choices) column.choices.set(place, answer.choices);
  if (answer.comment !== null) column.comments.set(place, answer.comment);
}

export function columnOf(answers: readonly WeekAnswer[], people: WeekPeople): AnswerColumn {
  const column = emptyColumn();
  for (const answer of answers)
    addAnswer(column, people.numberOf(answer.respondent), answer, answer.handedOut);
  return column;
}

/** Returns the same answers as objects. */
export const answersInColumn = (
  { people, values, flags, choices, comments }: AnswerColumn,
  everyone: WeekPeople,
): WeekAnswer[] =>
  people.map((person, place) => {
    const [flag, value] = [flags[place] as number, values[place] as number];
    const answer: WeekAnswer = {
      respondent: everyone.nameOf(person),
      value: Number.isNaN(value) ? null : value,
      choices: choices.get(place) ?? null,
      comment: comments.get(place) ?? null,
      skipped: (flag & skipped) !== 0,
      handedOut: (flag & handedOut) !== 0,
      counted: (flag & counted) !== 0,
    };
    if ((flag & notApplicable) !== 0) answer.notApplicable = true;
    return answer;
  });

/** Answers by person: `at` is the place of each person's answer in the column, −1 if there is none. */
export type Given = { column: AnswerColumn; at: readonly number[] };

/** Returns the places of the answers that were not skipped. */
export function placesOfAnswered({ flags }: AnswerColumn): number[] {
  const places: number[] = [];
  for (let place = 0; place < flags.length; place++)
    if (((flags[place] as number) & skipped) === 0) places.push(place);
  return places;
}

const has = ({ column: { flags }, at }: Given, person: number, flag: number): boolean => {
  const place = at[person] as number;
  return place >= 0 && ((flags[place] as number) & flag) !== 0;
};

export const isGiven = ({ at }: Given, person: number): boolean => (at[person] as number) >= 0;
export const isHandedOut = (given: Given, person: number): boolean => has(given, person, handedOut);
export const isNotApplicable = (given: Given, person: number): boolean => has(given, person, notApplicable);
export const isAnyNotApplicable = ({ column: { flags }, at }: Given): boolean =>
  at.some((place) => place >= 0 && ((flags[place] as number) & notApplicable) !== 0);

/** Returns the comment of a person; undefined if there is none. */
export const commentBy = ({ column: { comments }, at }: Given, person: number): string | undefined =>
  comments.get(at[person] as number);

/** Returns the sum of the values of people. */
export function sumOfValues({ column: { values }, at }: Given, people: readonly number[]): number {
  let sum = 0;
  for (const person of people) {
    const value = values[at[person] as number] as number;
    if (!Number.isNaN(value)) sum += value;
  }
  return sum;
}

/** Returns how often each value or option was given by people (distributionOf). */
export function distributionAmong(
  type: QuestionType,
  options: readonly string[],
  { column: { values, choices }, at }: Given,
  people: readonly number[],
): Distribution {
  const timesOfValue = new Map<number, number>();
  const timesOfChoice = new Map<string, number>();
  for (const person of people) {
    const place = at[person] as number;
    const value = values[place] as number;
    if (!Number.isNaN(value)) timesOfValue.set(value, (timesOfValue.get(value) ?? 0) + 1);
    if (choices.size === 0) continue;
    for (const id of choices.get(place) ?? []) timesOfChoice.set(id, (timesOfChoice.get(id) ?? 0) + 1);
  }
  return distributionOfCounts(type, options, timesOfValue, timesOfChoice);
}
