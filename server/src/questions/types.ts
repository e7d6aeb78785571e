// The seven question types (decision A10): valid answers, and how figures are computed from answers. Pure.

export type QuestionType = 1 | 2 | 3 | 4 | 5 | 6 | 7;

/** The lowest and highest value of a question's scale. */
type Scale = { low: number; high: number };

/** Returns the scale of a type; undefined if its answers are not numbers. */
export const scaleOf = (type: QuestionType): Scale | undefined => scales[type];

const scales: Partial<Record<QuestionType, Scale>> = {
  1: { low: 1, high: 5 },
  2: { low: 1, high: 10 },
  3: { low: 0, high: 10 },
  4: { low: 0, high: 1 },
};

export const freeText = 7 satisfies QuestionType;

export const isQuestionType = (type: unknown): type is QuestionType =>
  typeof type === 'number' && Number.isInteger(type) && type >= 1 && type <= 7;

/** Types 1 to 4: their answers are numbers, and KPIs can use them. */
export const isScaled = (type: QuestionType): boolean => scales[type] !== undefined;

/** Types 5 and 6: their answers are options. */
export const isChoice = (type: QuestionType): boolean => type === 5 || type === 6;

/** Types whose only figure is the distribution, so that the distribution threshold applies to all their figures. */
export const isDistributionOnly = (type: QuestionType): boolean => type === 4 || isChoice(type);

/** An answer as it is stored: a number for types 1 to 4, option ids for 5 and 6; both null for 7, where the comment is the answer. */
export type KeptAnswer = { value: number | null; choices: string[] | null };

/**
 * Reads a value from the history format or the answering page: a number for types 1 to 3, true or false for 4, an option id for
 * 5, an array of option ids for 6, nothing for 7. If it is invalid, returns a text that describes a valid value.
 */
export function readAnswer(
  type: QuestionType,
  options: ReadonlySet<string>,
  value: unknown,
): KeptAnswer | string {
  const scale = scales[type];
  if (type === 4) {
    return typeof value === 'boolean' ? { value: value ? 1 : 0, choices: null } : 'true or false';
  }
  if (scale) {
    const isOnScale =
      Number.isInteger(value) && (value as number) >= scale.low && (value as number) <= scale.high;
    return isOnScale
      ? { value: value as number, choices: null }
      : `a whole number from ${scale.low} to ${scale.high}`;
  }
  if (type === 5) {
    return typeof value === 'string' && options.has(value)
      ? { value: null, choices: [value] }
      : 'the id of one of the options';
  }
  if (type === 6) {
    const isChosen =
      Array.isArray(value) &&
      value.every((id) => typeof id === 'string' && options.has(id)) &&
      new Set(value).size === value.length;
    return isChosen ? { value: null, choices: value } : 'an array of different option ids';
  }
  return value === undefined ? { value: null, choices: null } : 'left out, because the answer is the comment';
}

/** How often each value or option was given, in the order of the scale or of the options, including those with 0. */
export type Distribution = Record<string, number>;

/** Counts answers. `options`: the ids of the question's options. */
export function distributionOf(
  type: QuestionType,
  options: readonly string[],
  answers: readonly KeptAnswer[],
): Distribution {
  const counts = new Map<string, number>(namesOf(type, options).map((name) => [name, 0]));
  const count = (name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);
  for (const { value, choices } of answers) {
    if (value !== null) count(nameOf(type, value));
    for (const id of choices ?? []) count(id);
  }
  return Object.fromEntries(counts);
}

function namesOf(type: QuestionType, options: readonly string[]): string[] {
  if (type === 4) return ['yes', 'no'];
  const scale = scales[type];
  if (!scale) return [...options];
  return Array.from({ length: scale.high - scale.low + 1 }, (_, i) => String(scale.low + i));
}

const nameOf = (type: QuestionType, value: number) =>
  type === 4 ? (value === 1 ? 'yes' : 'no') : String(value);

/** Returns the mean of answers, scaled to 0…1. `sum` and `count` are integers, so rounding happens only in the final division. */
export function scaledMean(type: QuestionType, sum: number, count: number): number | null {
  const scale = scales[type];
  return scale && count > 0 ? (sum - scale.low * count) / ((scale.high - scale.low) * count) : null;
}

/** Returns the sum of answers from which scaledMean computed `mean`. */
export function sumBehind(type: QuestionType, mean: number, count: number): number {
  const { low, high } = scales[type] as Scale;
  return Math.round((mean * (high - low) + low) * count);
}

/** Returns the eNPS of a type 3 question: promoters (9, 10) minus detractors (0 to 6), in percent of the answers. */
export function enpsOf(distribution: Distribution): number {
  let [sum, count] = [0, 0];
  for (const [name, times] of Object.entries(distribution)) {
    count += times;
    if (Number(name) >= 9) sum += times;
    else if (Number(name) <= 6) sum -= times;
  }
  return (100 * sum) / count;
}

/** Returns a distribution of types 1 to 4 as a list of single answers, ascending, on the question's scale. */
export function individualsOf(type: QuestionType, distribution: Distribution): number[] {
  const valueOf = (name: string) => (type === 4 ? (name === 'yes' ? 1 : 0) : Number(name));
  const counts = Object.entries(distribution).map(([name, times]) => ({ value: valueOf(name), times }));
  return counts
    .toSorted((a, b) => a.value - b.value)
    .flatMap(({ value, times }) => Array<number>(times).fill(value));
}
