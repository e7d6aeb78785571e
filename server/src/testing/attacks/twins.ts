// Twins of a week: other answers of the same people that lead to the same published figures. Someone who sees only what is published
// can't distinguish a week from its twin, so nothing that is computed from published figures may differ between them.
import { isScaled, multipleChoice, singleChoice } from '@soundings/contract/question-types.ts';
import { chooseCells } from '../../results/disclosure/disclosure.ts';
import { chooseClass, companyOf, type QuestionWithAnswers } from '../../results/company.ts';
import { turnoutOf, type WeekAnswer, type WeekData, type WeekQuestion } from '../../results/turnout.ts';
import type { Random } from '../../simulation/random.ts';
import { boundsOf } from './second-worlds.ts';

/** A week as it is stored while it is open, with the answers to each question. */
export type OpenWeek = { data: WeekData; answers: ReadonlyMap<number, readonly WeekAnswer[]> };

/** Questions of the same wording, which count as one. */
export type WordingClass = readonly WeekQuestion[];

export const randomAnswer = (
  { type, options }: WeekQuestion,
  random: Random,
): Pick<WeekAnswer, 'value' | 'choices'> => {
  const [low, high] = boundsOf(type);
  if (isScaled(type)) return { value: low + Math.floor(random.next() * (high - low + 1)), choices: null };
  if (type === singleChoice) return { value: null, choices: [random.oneOf(options)] };
  return { value: null, choices: type === multipleChoice ? options.filter(() => random.chance(0.5)) : null };
};

const placesBy = (cellOf: Int32Array, people: readonly number[]) => [
  ...Map.groupBy(people, (person) => cellOf[person] as number),
];

/**
 * Returns the answers of a twin. In each cell of a figure, the answers are exchanged; where no distribution is shown, they are also
 * moved apart or together with the same sum; and people who are in no figure answer something else. The same for comments.
 */
export function twinOf(
  { data, answers }: OpenWeek,
  classes: readonly WordingClass[],
  random: Random,
): Map<number, WeekAnswer[]> {
  const twin = new Map<number, WeekAnswer[]>();
  for (const alike of classes) {
    const asked = alike
      .filter(({ id }) => answers.has(id))
      .map((question): QuestionWithAnswers => ({ question, answers: [...(answers.get(question.id) ?? [])] }));
    if (asked.length === 0) continue;
    const company = companyOf(asked, turnoutOf(data));
    const { cells, distributionCells } = chooseClass(company, data.thresholds);
    const everyone = company.respondents.map((_, person) => person);
    const { cellOf } = chooseCells(company.sets, everyone.length, data.thresholds.comments);
    for (const { question, answers: own } of asked) {
      const changed = new Map<WeekAnswer, WeekAnswer>();
      const byName = new Map(own.filter(({ skipped }) => !skipped).map((one) => [one.respondent, one]));
      const given = everyone.map((person) => byName.get(company.nameOf(person)));
      const people = everyone.filter((person) => given[person] !== undefined);
      for (const [cell, some] of placesBy(cells.cellOf, people)) {
        const values = random
          .shuffled(some)
          .map((person) => (cell === 0 ? randomAnswer(question, random) : (given[person] as WeekAnswer)));
        const moved = some.map((person, i) => {
          const { value, choices } = values[i]!;
          return { ...(given[person] as WeekAnswer), value, choices };
        });
        if (isScaled(question.type) && some.every((person) => distributionCells.cellOf[person] === 0))
          moveApart(moved, boundsOf(question.type), random);
        for (const [i, person] of some.entries()) changed.set(given[person] as WeekAnswer, moved[i]!);
      }
      for (const [cell, some] of placesBy(cellOf, people)) {
        const texts = random.shuffled(some).map((person) => given[person]?.comment ?? null);
        for (const [i, person] of some.entries()) {
          const answer = given[person] as WeekAnswer;
          const comment = cell === 0 && answer.comment !== null ? 'withheld words instead' : texts[i]!;
          changed.set(answer, { ...changed.get(answer)!, comment });
        }
      }
      twin.set(
        question.id,
        own.map((one) => changed.get(one) ?? one),
      );
    }
  }
  return twin;
}

/** Moves pairs of answers one step apart or together, so that their sum stays the same. */
function moveApart(list: WeekAnswer[], [low, high]: [number, number], random: Random): void {
  for (let i = 0; i + 1 < list.length; i += 2) {
    const [one, other] = [list[i]!, list[i + 1]!];
    const by = random.oneOf([1, -1]);
    const [up, down] = [(one.value ?? 0) + by, (other.value ?? 0) - by];
    if (up < low || up > high || down < low || down > high) continue;
    list[i] = { ...one, value: up };
    list[i + 1] = { ...other, value: down };
  }
}
