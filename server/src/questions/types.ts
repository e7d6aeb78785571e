// What follows from the type of a question (decision A10): which answers are valid, and how figures are computed from answers. Pure.
import {
  answerKindOf,
  type QuestionType,
  type Scale,
  scaleOf,
  yesNo,
} from '@soundings/contract/question-types.ts';

/** An answer as it is stored: a number (yes is 1, no is 0), or option ids; both null if the comment is the answer. */
export type KeptAnswer = { value: number | null; choices: string[] | null };

/**
 * Reads a value from the history format or the answering page: a number on the scale, true or false, an option id, an array of option
 * ids, or nothing for free text. If it is invalid, returns a text that describes a valid value.
 */
export function readAnswer(
  type: QuestionType,
  options: ReadonlySet<string>,
  value: unknown,
): KeptAnswer | string {
  switch (answerKindOf(type)) {
    case 'number': {
      const { low, high } = scaleOf(type) as Scale;
      const isOnScale = Number.isInteger(value) && (value as number) >= low && (value as number) <= high;
      return isOnScale ? { value: value as number, choices: null } : `a whole number from ${low} to ${high}`;
    }
    case 'yesNo':
      return typeof value === 'boolean' ? { value: value ? 1 : 0, choices: null } : 'true or false';
    case 'option':
      return typeof value === 'string' && options.has(value)
        ? { value: null, choices: [value] }
        : 'the ID of one of the options';
    case 'options': {
      const isChosen =
        Array.isArray(value) &&
        value.every((id) => typeof id === 'string' && options.has(id)) &&
        new Set(value).size === value.length;
      return isChosen ? { value: null, choices: value } : 'an array of different option IDs';
    }
    case 'comment':
      return value === undefined
        ? { value: null, choices: null }
        : 'left out, because the answer is the comment';
  }
}

/** How often each value or option was given, in the order of the scale or of the options, including those with 0. */
export type Distribution = Record<string, number>;

/** Counts answers. `options`: the ids of the question's options. */
export function distributionOf(
  type: QuestionType,
  options: readonly string[],
  answers: readonly KeptAnswer[],
): Distribution {
  const timesOfValue = new Map<number, number>();
  const timesOfChoice = new Map<string, number>();
  for (const { value, choices } of answers) {
    if (value !== null) timesOfValue.set(value, (timesOfValue.get(value) ?? 0) + 1);
    for (const id of choices ?? []) timesOfChoice.set(id, (timesOfChoice.get(id) ?? 0) + 1);
  }
  return distributionOfCounts(type, options, timesOfValue, timesOfChoice);
}

/** The same from how often each value and each option was given. */
export function distributionOfCounts(
  type: QuestionType,
  options: readonly string[],
  timesOfValue: ReadonlyMap<number, number>,
  timesOfChoice: ReadonlyMap<string, number>,
): Distribution {
  const counts = new Map<string, number>(namesOf(type, options).map((name) => [name, 0]));
  const count = (name: string, times: number) => counts.set(name, (counts.get(name) ?? 0) + times);
  for (const [id, times] of timesOfChoice) count(id, times);
  for (const [value, times] of timesOfValue) count(nameOf(type, value), times);
  return Object.fromEntries(counts);
}

function namesOf(type: QuestionType, options: readonly string[]): string[] {
  if (type === yesNo) return ['yes', 'no'];
  const scale = scaleOf(type);
  if (!scale) return [...options];
  return Array.from({ length: scale.high - scale.low + 1 }, (_, i) => String(scale.low + i));
}

const nameOf = (type: QuestionType, value: number) =>
  type === yesNo ? (value === 1 ? 'yes' : 'no') : String(value);

/** Returns the mean of answers, scaled to 0…1. `sum` and `count` are integers, so rounding happens only in the final division. */
export function scaledMean(type: QuestionType, sum: number, count: number): number | null {
  const scale = scaleOf(type);
  return scale && count > 0 ? (sum - scale.low * count) / ((scale.high - scale.low) * count) : null;
}

/** Returns the sum of answers from which scaledMean computed `mean`. */
export function sumBehind(type: QuestionType, mean: number, count: number): number {
  const { low, high } = scaleOf(type) as Scale;
  return Math.round((mean * (high - low) + low) * count);
}

/** Returns the eNPS of a recommendation: promoters (9, 10) minus detractors (0 to 6), in percent of the answers. */
export function enpsOf(distribution: Distribution): number {
  let [sum, count] = [0, 0];
  for (const [name, times] of Object.entries(distribution)) {
    count += times;
    if (Number(name) >= 9) sum += times;
    else if (Number(name) <= 6) sum -= times;
  }
  return (100 * sum) / count;
}

/** Returns a distribution of a question with a scale as a list of individual answers, ascending, on that scale. */
export function individualsOf(type: QuestionType, distribution: Distribution): number[] {
  const valueOf = (name: string) => (type === yesNo ? (name === 'yes' ? 1 : 0) : Number(name));
  const counts = Object.entries(distribution).map(([name, times]) => ({ value: valueOf(name), times }));
  return counts
    .toSorted((a, b) => a.value - b.value)
    .flatMap(({ value, times }) => Array<number>(times).fill(value));
}
