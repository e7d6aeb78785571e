// The attacker of privacy.md: finds out which people each figure is based on, and searches for figures that, multiplied and added
// up, reveal something about a few people alone.
import {
  agreementScale,
  fourStepScale,
  freeText,
  isDistributionOnly,
  isScaled,
  type QuestionType,
  recommendation,
  type ScaledType,
  tenStepScale,
  yesNo,
} from '@soundings/contract/question-types.ts';
import { responseRates } from '../../results/disclosure/response-rates.ts';
import type { QuestionWithAnswers } from '../../results/company.ts';
import { classFigures, type Result } from '../../results/figures.ts';
import { type Thresholds, type Turnout, turnoutOf, type WeekAnswer } from '../../results/turnout.ts';
import { assignmentsByName, withDone } from './turnouts.ts';
import { type RandomHistory, type RandomWeek, weekData } from './histories.ts';

/** For each group, the people that a published figure is based on. */
export type Sets = Map<number, string[]>;

/** What is known about a question in a week. A mean times the number of its answers is their sum. */
export type KnownOfQuestion = { type: QuestionType; sums: Sets; distributions: Sets; comments: Sets };

/** A person and a question. Response rates count whether the person has answered or skipped it. */
export type Cell = { person: string; question: number };
export type KnownOfWeek = { questions: Map<number, KnownOfQuestion>; rates: Map<number, Cell[]> };

export const add = <T>(sets: Map<number, T[]>, group: number, one: T): void => {
  const others = sets.get(group);
  if (others) others.push(one);
  else sets.set(group, [one]);
};

// What is known. Decisions depend on counts only (P3), so the attacker may choose the answers, and chooses them so that every
// person can be identified from what is published. The attacker reads the published figures, and knows nothing about how they
// were computed.

/**
 * Returns everything that a week reveals. Questions with the same wording have the same answers, so what is known about them counts as
 * known about one question. `classes`: the questions that the procedure treats as one. A mutant treats each separately.
 */
export function knownOfWeek(
  history: RandomHistory,
  week: RandomWeek,
  classes: ReadonlyMap<number, number> = history.classes,
): KnownOfWeek {
  const turnout = turnoutOf(weekData(history, week));
  const questions = new Map<number, KnownOfQuestion>();
  for (const alike of Map.groupBy(week.answers.keys(), (id) => classes.get(id)).values()) {
    const asked = alike.map((id): Asked => ({
      id,
      type: history.questions.find((one) => one.id === id)?.type as QuestionType,
      answers: week.answers.get(id) as WeekAnswer[],
    }));
    for (const [i, known] of knownOfClass(asked, turnout).entries()) {
      addKnown(questions, history.classes.get(alike[i] as number) as number, alike[i] as number, known);
    }
  }
  return { questions, rates: knownByRates(turnout) };
}

/** Adds what is known about a question to what is known about the questions with the same wording. */
function addKnown(
  questions: Map<number, KnownOfQuestion>,
  first: number,
  id: number,
  known: KnownOfQuestion,
): void {
  const all = questions.get(first) ?? {
    ...known,
    sums: new Map(),
    distributions: new Map(),
    comments: new Map(),
  };
  questions.set(first, all);
  for (const kind of ['sums', 'distributions', 'comments'] as const) {
    for (const [group, people] of known[kind]) all[kind].set(group * 10 + id, people);
  }
}

type Asked = { id: number; type: QuestionType; answers: WeekAnswer[] };

function knownOfClass(asked: Asked[], turnout: Turnout): KnownOfQuestion[] {
  const names = [...new Set(asked.flatMap(({ answers }) => answers.map(({ respondent }) => respondent)))];
  const knownList = asked.map(({ type }): KnownOfQuestion => ({
    type,
    sums: new Map(),
    distributions: new Map(),
    comments: new Map(),
  }));
  // People give powers of two, 40 at a time, so that a sum or a distribution reveals who is in it. For choice
  // questions, each person chooses a different option.
  const step = asked.some(({ type }) => isScaled(type)) ? 40 : names.length;
  for (let start = 0; start < names.length; start += step) {
    const marked = asked.map(({ id, type, answers }): QuestionWithAnswers => ({
      question: { id, type, options: isScaled(type) ? [] : names },
      answers: answers.map((answer): WeekAnswer => {
        const i = names.indexOf(answer.respondent);
        const value = i >= start && i < start + step ? 2 ** (i - start) : 0;
        const kept = isScaled(type)
          ? { value, choices: null }
          : { value: null, choices: [answer.respondent] };
        return { ...answer, ...kept, comment: answer.respondent };
      }),
    }));
    for (const [number, { results, comments }] of classFigures(marked, turnout).entries()) {
      const known = knownList[number] as KnownOfQuestion;
      collect(known, results, names.slice(start, start + step));
      if (start > 0) continue;
      for (const { text, groupIds } of comments)
        for (const group of groupIds) add(known.comments, group, text);
    }
  }
  // The mean of a yes/no question is its distribution.
  return knownList.map((known) =>
    known.type === yesNo ? { ...known, sums: new Map(), distributions: known.sums } : known,
  );
}

/** Records which of some people the figures of a question are based on. */
function collect({ type, sums, distributions }: KnownOfQuestion, results: Result[], names: string[]): void {
  for (const { groupId, value, answers: count, distribution } of results) {
    const sum = value === null ? 0 : sumOf(type, value, count as number);
    for (const [i, name] of names.entries()) {
      if (Math.floor(sum / 2 ** i) % 2 === 1) add(sums, groupId, name);
      if (distribution?.[isScaled(type) ? 2 ** i : name]) add(distributions, groupId, name);
    }
  }
}

// Not taken from the contract, so that a mistake in the contract is not one of the attacker as well.
const scales: Record<ScaledType, [low: number, high: number]> = {
  [agreementScale]: [1, 5],
  [tenStepScale]: [1, 10],
  [fourStepScale]: [1, 4],
  [recommendation]: [0, 10],
  [yesNo]: [0, 1],
};

/** Returns the sum of the answers behind a mean, on the question's own scale. */
export function sumOf(type: QuestionType, mean: number, count: number): number {
  const [low, high] = scales[type as ScaledType];
  return Math.round((mean * (high - low) + low) * count);
}

/**
 * Lets one person after another answer one question, and observes which rates rise. People who are asked in the same rounds
 * and groups count in the same rates, so one person stands for all of them. The same is true of questions in the same
 * rounds.
 */
function knownByRates(turnout: Turnout): Map<number, Cell[]> {
  const known = new Map<number, Cell[]>();
  const { rounds } = turnout.data;
  const questions = new Map<string, { question: number; roundIds: number[] }>();
  for (const question of rounds.flatMap(({ questionIds }) => questionIds)) {
    const roundIds = rounds.filter(({ questionIds }) => questionIds.includes(question)).map(({ id }) => id);
    questions.set(roundIds.join(), { question, roundIds });
  }
  const assignmentsOf = assignmentsByName(turnout);
  const teams = groupedBy(assignmentsOf.keys(), (person) =>
    JSON.stringify(
      assignmentsOf.get(person)?.map(({ roundId, groupIds }) => [roundId, ...groupIds.toSorted()]),
    ),
  );
  for (const people of teams) {
    const first = people[0] as string;
    const asked = new Set(assignmentsOf.get(first)?.map(({ roundId }) => roundId));
    for (const { question, roundIds } of questions.values()) {
      if (!roundIds.some((id) => asked.has(id))) continue;
      const done = new Map([[first, new Set([question])]]);
      for (const { groupId, value } of responseRates(withDone(turnout, done))) {
        if (value) for (const person of people) add(known, groupId, { person, question });
      }
    }
  }
  return known;
}

/** The mutant: only a threshold. What is known about a group is based on everyone who counts in it. */
export function knownByThreshold(history: RandomHistory, week: RandomWeek): KnownOfWeek {
  const { figures, distribution, comments } = history.thresholds;
  const turnout = turnoutOf(weekData(history, week));
  const { roundById } = turnout;
  const assignmentsOf = assignmentsByName(turnout);
  const countsIn = (person: string, question: number) => {
    const asking = (assignmentsOf.get(person) ?? []).filter(({ roundId }) =>
      roundById.get(roundId)?.questionIds.includes(question),
    );
    return new Set(asking.flatMap(({ groupIds }) => groupIds));
  };
  const atLeast = (threshold: number, sets: Sets): Sets =>
    new Map([...sets].filter(([, people]) => people.length >= threshold));
  const questions = new Map<number, KnownOfQuestion>();
  for (const [id, answers] of week.answers) {
    const type = history.questions.find((one) => one.id === id)?.type as QuestionType;
    const all: Sets = new Map();
    for (const { respondent, skipped } of answers) {
      if (!skipped) for (const group of countsIn(respondent, id)) add(all, group, respondent);
    }
    addKnown(questions, history.classes.get(id) as number, id, {
      type,
      sums: isScaled(type) && !isDistributionOnly(type) ? atLeast(figures, all) : new Map(),
      distributions: type !== freeText ? atLeast(distribution, all) : new Map(),
      comments: atLeast(comments, all),
    });
  }
  const rates = new Map<number, Cell[]>();
  for (const [person, assignments] of assignmentsOf) {
    for (const { roundId, groupIds } of assignments) {
      const round = roundById.get(roundId);
      for (const group of groupIds) {
        if (round?.aboveIds.includes(group)) continue;
        for (const question of round?.questionIds ?? []) {
          const isThere = rates.get(group)?.some((one) => one.person === person && one.question === question);
          if (!isThere) add(rates, group, { person, question });
        }
      }
    }
  }
  for (const [group, cells] of rates) {
    if (new Set(cells.map(({ person }) => person)).size < figures) rates.delete(group);
  }
  return { questions, rates };
}

// What follows from it.

/** Fewer people than the threshold. Undecided: there may be some, but finding them would take too long. */
export type Few = string[] | 'undecided' | undefined;

/** A way to learn something about fewer people than a threshold: the figures that reveal it, and these people. */
export type Leak = { by: string; people: string[] | 'undecided' };

/**
 * Returns every way that is found to break the promise with what a week reveals. Each question and week is attacked
 * separately: answers of other weeks and questions are other unknowns, and no figure combines several questions or weeks.
 * KPIs do, but they are computed from figures. So any sum of figures that reveals something about few people would also do
 * so in one question and week.
 */
export function attack({ questions, rates }: KnownOfWeek, thresholds: Thresholds): Leak[] {
  const leaks: Leak[] = [];
  const note = (by: string, people: Few) => people && leaks.push({ by, people });
  for (const [id, { sums, distributions, comments }] of questions) {
    const cells = (sets: Sets) => [...sets.values()].map((people) => people.map(cellOf(id)));
    // A distribution is a sum for each value. Any combination of sums and distributions that reveals something reveals it of some
    // value or of the mean, so it is a combination of these sets: of distributions alone, or of both.
    note('means and distributions', findFew([...cells(sums), ...cells(distributions)], thresholds.figures));
    note('distributions', findFew(cells(distributions), thresholds.distribution));
    note('comments', authorsOf(comments, thresholds.comments));
  }
  note('response rates', findFew([...rates.values()], thresholds.figures));
  return leaks;
}

const cellOf = (question: number) => (person: string) => ({ person, question });

/**
 * Returns fewer people than the threshold if one of them must have written a comment, judging by the groups in which it is
 * and isn't shown.
 */
function authorsOf(comments: Sets, threshold: number): string[] | undefined {
  const places = new Map<string, string>();
  for (const [group, people] of comments) {
    for (const person of people) places.set(person, `${places.get(person) ?? ''} ${group}`);
  }
  return [...groupedBy([...places.keys()], (person) => places.get(person) as string)].find(
    (people) => people.length < threshold,
  );
}

function groupedBy<T>(list: Iterable<T>, keyOf: (one: T) => string): Iterable<T[]> {
  const groups = new Map<string, T[]>();
  for (const one of list) {
    const others = groups.get(keyOf(one));
    if (others) others.push(one);
    else groups.set(keyOf(one), [one]);
  }
  return groups.values();
}

/** 26 bits, so that products are exact. */
const prime = 67_108_859;

/**
 * Returns people, fewer than `threshold`, if the sets, multiplied and added up, reveal something about these people alone;
 * undefined if there are none. The chance of an error is about one in the prime. People in the same sets can't be
 * distinguished, so they count as one company. If every company is large, there is nothing to find. Otherwise the large
 * ones are eliminated, and what remains reveals something about the others.
 */
export function findFew(sets: Cell[][], threshold: number): Few {
  const questionsOf = new Map<string, Set<number>>();
  const placesOf = new Map<string, string>();
  for (const [set, cells] of sets.entries()) {
    for (const { person, question } of cells) {
      placesOf.set(person, `${placesOf.get(person) ?? ''} ${set}:${question}`);
      questionsOf.set(person, (questionsOf.get(person) ?? new Set()).add(question));
    }
  }
  const companies = [...groupedBy(placesOf.keys(), (person) => placesOf.get(person) as string)];
  const few = companies.filter((people) => people.length < threshold);
  if (few.length === 0) return undefined;

  // One person stands for each company. The large companies come first. `ends`: for each company, where its columns end.
  const columns = new Map<string, number>();
  const ends: number[] = [];
  for (const [person] of [...companies.filter((people) => people.length >= threshold), ...few] as [
    string,
  ][]) {
    for (const question of questionsOf.get(person) ?? []) columns.set(`${person} ${question}`, columns.size);
    ends.push(columns.size);
  }
  const rows = sets.map((cells) => {
    const row = new Float64Array(columns.size);
    for (const { person, question } of cells) {
      const column = columns.get(`${person} ${question}`);
      if (column !== undefined) row[column] = 1;
    }
    return row;
  });
  const large = companies.length - few.length;
  const starts = [0, ...ends];
  const among = rows.slice(eliminate(rows, 0, starts[large] as number));
  among.length = eliminate(among, starts[large] as number, columns.size);
  const spans = few.map((people, i) => ({
    people,
    from: starts[large + i] as number,
    to: ends[large + i] as number,
  }));
  return fewest(among, spans, threshold);
}

type Span = { people: string[]; from: number; to: number };

/**
 * Returns the people of some spans, fewer than `threshold`, if a combination of the rows is 0 in all columns outside of
 * these spans.
 */
function fewest(rows: Float64Array[], spans: Span[], threshold: number): Few {
  if (rows.length === 0) return undefined;
  for (const row of rows) {
    const inRow = spans.filter(({ from, to }) => row.subarray(from, to).some((cell) => cell !== 0));
    const people = inRow.flatMap((span) => span.people);
    if (people.length < threshold) return people;
  }
  // Not found directly, so try all choices of spans.
  let tries = 0;
  const choose = (chosen: Span[], size: number, next: number): Few => {
    for (let i = next; i < spans.length; i++) {
      const span = spans[i] as Span;
      if (size + span.people.length >= threshold) continue;
      if (++tries > 2_000) return 'undecided';
      const more = [...chosen, span];
      const outside = rows.map((row) => {
        const rest = row.slice();
        for (const { from, to } of more) rest.fill(0, from, to);
        return rest;
      });
      if (eliminate(outside, 0, outside[0]?.length ?? 0) < rows.length)
        return more.flatMap(({ people }) => people);
      const found = choose(more, size + span.people.length, i + 1);
      if (found) return found;
    }
    return undefined;
  };
  return choose([], 0, 0);
}

/**
 * Gauss–Jordan elimination of the columns `from` to `to` − 1, in place. Returns the rank. Its rows come first, and the others are
 * 0 in these columns.
 */
function eliminate(rows: Float64Array[], from: number, to: number): number {
  let rank = 0;
  for (let column = from; column < to && rank < rows.length; column++) {
    const at = rows.findIndex((row, i) => i >= rank && row[column] !== 0);
    if (at < 0) continue;
    const pivot = rows[at] as Float64Array;
    rows[at] = rows[rank] as Float64Array;
    rows[rank] = pivot;
    const factor = inverse(pivot[column] as number);
    for (let i = 0; i < pivot.length; i++) pivot[i] = ((pivot[i] as number) * factor) % prime;
    for (const row of rows) {
      const times = row[column] as number;
      if (row === pivot || times === 0) continue;
      for (let i = 0; i < row.length; i++) {
        if (pivot[i] !== 0) row[i] = ((row[i] as number) + (prime - times) * (pivot[i] as number)) % prime;
      }
    }
    rank++;
  }
  return rank;
}

/** By Fermat's theorem: the power of prime − 2. */
function inverse(value: number): number {
  let [result, base] = [1, value];
  for (let left = prime - 2; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) result = (result * base) % prime;
    base = (base * base) % prime;
  }
  return result;
}
