// The question types (decision A10): their numbers and names, and what sets them apart. This file imports nothing, so that browsers
// can load it. CONTRIBUTING.md describes what a new type needs besides a row here.

// The names of the types in the code. The numbers are public: they are in the data interface, history files and the database.
// Without `as const`, TypeScript would infer `number` wherever these constants are used as values.
export const agreementScale = 1 as const;
export const tenStepScale = 2 as const;
export const recommendation = 3 as const;
export const yesNo = 4 as const;
export const singleChoice = 5 as const;
export const multipleChoice = 6 as const;
export const freeText = 7 as const;
export const fourStepScale = 8 as const;

/** What an answer consists of: a number on a scale, true or false, the id of one option, ids of options, or only a comment. */
export type AnswerKind = 'number' | 'yesNo' | 'option' | 'options' | 'comment';

/** The lowest and highest value of a scale, and which values have a label. */
export type Scale = { low: number; high: number; labels: 'all' | 'ends' };

type Traits = {
  answer: AnswerKind;
  /** null: the answers have no mean, so KPIs can't use them. */
  scale: Scale | null;
  /** Whether the distribution is the only figure, so that the distribution threshold applies to all figures. */
  isDistributionOnly: boolean;
};

const traits = {
  [agreementScale]: {
    answer: 'number',
    scale: { low: 1, high: 5, labels: 'all' },
    isDistributionOnly: false,
  },
  [tenStepScale]: {
    answer: 'number',
    scale: { low: 1, high: 10, labels: 'ends' },
    isDistributionOnly: false,
  },
  [recommendation]: {
    answer: 'number',
    scale: { low: 0, high: 10, labels: 'ends' },
    isDistributionOnly: false,
  },
  // The mean is the share of yes answers. It reveals the whole distribution, so the distribution threshold applies to it.
  [yesNo]: { answer: 'yesNo', scale: { low: 0, high: 1, labels: 'all' }, isDistributionOnly: true },
  [singleChoice]: { answer: 'option', scale: null, isDistributionOnly: true },
  [multipleChoice]: { answer: 'options', scale: null, isDistributionOnly: true },
  [freeText]: { answer: 'comment', scale: null, isDistributionOnly: false },
  // Like the agreement scale, without a middle that people can choose to avoid an opinion.
  [fourStepScale]: {
    answer: 'number',
    scale: { low: 1, high: 4, labels: 'all' },
    isDistributionOnly: false,
  },
} as const satisfies Record<number, Traits>;

export type QuestionType = keyof typeof traits;
type TypeWith<T extends Partial<Traits>> = {
  [type in QuestionType]: (typeof traits)[type] extends T ? type : never;
}[QuestionType];
/** A type whose answers are numbers (yes is 1, no is 0). */
export type ScaledType = TypeWith<{ scale: Scale }>;
/** A type whose answers are options. */
export type ChoiceType = TypeWith<{ answer: 'option' | 'options' }>;

const traitsOf = (type: QuestionType): Traits => traits[type];

export const questionTypes = Object.keys(traits).map(Number) as QuestionType[];
/** The lowest and highest number of a type. */
export const typeNumbers = { minimum: Math.min(...questionTypes), maximum: Math.max(...questionTypes) };

export const isQuestionType = (type: unknown): type is QuestionType =>
  questionTypes.includes(type as QuestionType);

export const scaledTypes = questionTypes.filter((type) => traitsOf(type).scale !== null) as ScaledType[];
export const choiceTypes = questionTypes.filter((type) =>
  ['option', 'options'].includes(traitsOf(type).answer),
) as ChoiceType[];

/** Whether the answers are numbers, which have a mean. Only these types can be used in KPIs. */
export const isScaled = (type: QuestionType): type is ScaledType => scaledTypes.includes(type as ScaledType);

/** Whether the answers are options. */
export const isChoice = (type: QuestionType): type is ChoiceType => choiceTypes.includes(type as ChoiceType);

export const isDistributionOnly = (type: QuestionType): boolean => traitsOf(type).isDistributionOnly;

export const answerKindOf = (type: QuestionType): AnswerKind => traitsOf(type).answer;

/** Returns the scale of a type; null if its answers are not numbers. */
export const scaleOf = (type: QuestionType): Scale | null => traitsOf(type).scale;

/** Returns the numbers of types as a text: "1 to 4", "5 and 6". `last`: the word before the last part. */
export function typesText(types: readonly QuestionType[], last: 'and' | 'or' = 'and'): string {
  const runs: number[][] = [];
  for (const type of types) {
    const run = runs.at(-1);
    if (run?.at(-1) === type - 1) run.push(type);
    else runs.push([type]);
  }
  const parts = runs.flatMap((run) => (run.length > 2 ? [`${run[0]} to ${run.at(-1)}`] : run.map(String)));
  const start = parts.slice(0, -1).join(', ');
  return start === '' ? (parts[0] ?? '') : `${start} ${last} ${parts.at(-1)}`;
}
