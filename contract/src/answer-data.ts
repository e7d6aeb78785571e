// The figures of a question in a group and week, as the data interface returns them (§2.1).
import { Type, type Static } from 'typebox';
import { choiceTypes, recommendation, scaledTypes, typesText } from './question-types.ts';

/** The numbers of the types whose answers are numbers. */
const scaled = typesText(scaledTypes).replace(' to ', '–');

const countsOf = (description: string) =>
  Type.Record(Type.String(), Type.Integer({ minimum: 0 }), { description });

export const AnswerData = Type.Object(
  {
    value: Type.Union([Type.Number({ minimum: 0, maximum: 1 }), Type.Null()], {
      description: `Types ${scaled}: the mean of the answers, scaled to 0…1. Null for other types and if it is withheld.`,
    }),
    answers: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], {
      description: 'The number of answers behind the value. Null if it is withheld.',
    }),
    distribution: Type.Optional(
      countsOf(
        'How often each answer was given, by scale value, yes and no, or option ID. Omitted if it is withheld. It can ' +
          'cover fewer answers than the value, because answers that would reveal too few people are left out.',
      ),
    ),
    enps: Type.Optional(
      Type.Number({
        minimum: -100,
        maximum: 100,
        description: `Type ${recommendation}: promoters (9, 10) minus detractors (0–6), as a percentage of the answers.`,
      }),
    ),
    options: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description: `Types ${typesText(choiceTypes)}: the text of each option, by option ID.`,
      }),
    ),
    individual: Type.Optional(
      Type.Array(Type.Integer(), {
        description: `With granularData, types ${scaled}: the individual answers on their own scale (yes 1, no 0), in ascending order.`,
      }),
    ),
    notApplicable: Type.Optional(
      Type.Integer({
        minimum: 0,
        description:
          'How many people answered “not applicable”. Their answers are in no other field. Omitted if it is withheld, or if ' +
          'people could not choose it.',
      }),
    ),
    notApplicableOf: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          'Of how many people who answered, with or without a value. Their share is `notApplicable` ÷ `notApplicableOf`.',
      }),
    ),
  },
  { title: 'AnswerData' },
);
export type AnswerData = Static<typeof AnswerData>;
