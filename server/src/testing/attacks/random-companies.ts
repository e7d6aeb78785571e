// Random companies that are large enough for statistics: intervals, best estimates, drivers and words. The same seed gives the same one.
import { isChoice } from '@soundings/contract/question-types.ts';
import { randomFrom, type Random } from '../../simulation/random.ts';
import type { WeekAnswer } from '../../results/turnout.ts';
import type { Organization } from './added-figures.ts';
import { type RandomHistory, randomHistory, weekData } from './histories.ts';
import { type OpenWeek, randomAnswer } from './twins.ts';

export type RandomCompany = {
  seed: number;
  history: RandomHistory;
  organization: Organization;
  weeks: OpenWeek[];
};

/**
 * Most companies are small. Every 50th has as many groups as drivers need, and every 200th has enough changes to estimate
 * how steady attitudes are.
 */
const sizeOf = (seed: number) => {
  if (seed % 200 === 0) return { people: [240, 241], groups: 40, weeks: 8 };
  return seed % 50 === 0
    ? { people: [320, 400], groups: 90, weeks: 2 }
    : { people: [8, 100], groups: 14, weeks: 4 };
};

const common = ['meetings', 'workload', 'canteen', 'parking', 'training', 'schedule', 'support', 'office'];

/** Returns a comment that may contain a word of its author's group. */
const commentIn = (group: number, random: Random): string =>
  [random.oneOf(common), random.oneOf(common), random.chance(0.6) ? `topic${group % 4}` : 'nothing'].join(
    ' ',
  );

export function randomCompany(seed: number): RandomCompany {
  const history = randomHistory(seed, sizeOf(seed));
  const random = randomFrom(seed, 'company');
  const withLinks = random.chance(0.2);
  const questions = history.questions.map(({ id, type }) => ({
    id,
    type,
    options: isChoice(type) ? ['a', 'b', 'c'] : [],
  }));
  const classes = [...new Set(history.classes.values())].map((first) =>
    questions.filter(({ id }) => history.classes.get(id) === first),
  );
  const kpis = [
    { id: 'both', questionIds: [1, 2] },
    { id: 'one', questionIds: [1] },
    { id: 'third', questionIds: [2, 3] },
  ];
  const weeks = history.weeks.map((week): OpenWeek => {
    const data = weekData(history, week);
    const homes = new Map(data.assignments.map(({ respondent, groupIds }) => [respondent, groupIds[0] ?? 0]));
    const answers = [...week.answers].map(([id, list]) => {
      const question = questions.find((one) => one.id === id)!;
      const given = list.map((one): WeekAnswer => ({
        ...one,
        ...randomAnswer(question, random),
        comment: random.chance(0.5) ? commentIn(homes.get(one.respondent) ?? 0, random) : null,
        handedOut: withLinks && random.chance(0.1),
      }));
      return [id, given] as const;
    });
    return { data, answers: new Map(answers) };
  });
  return { seed, history, organization: { parents: history.parents, classes, kpis }, weeks };
}
