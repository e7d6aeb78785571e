// Random organizations, and what was asked and answered in them. The same seed gives the same history.
import {
  agreementScale,
  freeText,
  multipleChoice,
  type QuestionType,
  recommendation,
  singleChoice,
  tenStepScale,
  yesNo,
} from '@soundings/contract/question-types.ts';
import { type Random, randomFrom } from '../../simulation/random.ts';
import type { Assignment, Thresholds, WeekAnswer, WeekData } from '../../results/turnout.ts';
import { ancestorsOf } from '../../people/tree.ts';
import { descendantsOf, type Parents } from '../../rounds/rounds.ts';

export type RandomRound = {
  id: number;
  groupId: number;
  questionIds: number[];
  asked: { person: string; memberOf: number[] }[];
};
export type RandomWeek = { rounds: RandomRound[]; answers: Map<number, WeekAnswer[]> };
export type RandomHistory = {
  thresholds: Thresholds;
  parents: Parents;
  questions: { id: number; type: QuestionType }[];
  /** For each question, the first question with the same wording. */
  classes: Map<number, number>;
  kpis: { id: string; questionIds: number[] }[];
  weeks: RandomWeek[];
};

/** The groups that each person is a member of. */
type Homes = Map<string, number[]>;
type Setting = { random: Random; parents: Map<number, number | null>; leaves: number[] };

const between = (random: Random, low: number, high: number) =>
  low + Math.floor(random.next() * (high - low + 1));
/** Like `between`, but small numbers are more common. */
const mostlySmall = (random: Random, low: number, high: number) =>
  low + Math.floor(random.next() ** 3 * (high - low + 1));

export function randomHistory(seed: number, size = { people: [5, 80], groups: 40, weeks: 3 }): RandomHistory {
  const random = randomFrom(seed, 'history');
  const k = between(random, 3, 6);
  const higher = () => (random.chance(0.8) ? 2 * k : between(random, k, 3 * k));
  const people = mostlySmall(random, ...(size.people as [number, number]));
  const parents = randomForest(random, between(random, 3, Math.min(size.groups, 4 + Math.floor(people / 2))));
  const leaves = [...parents.keys()].filter((id) => ![...parents.values()].includes(id));
  const setting = { random, parents, leaves };
  let homes = randomHomes(setting, people);
  const weeks: RandomWeek[] = [];
  for (let i = mostlySmall(random, 1, size.weeks); i > 0; i--) {
    weeks.push(randomWeek(setting, homes));
    homes = moved(setting, homes, 0.1);
  }
  return {
    thresholds: { figures: k, distribution: higher(), comments: higher() },
    parents,
    questions: [
      { id: 1, type: random.oneOf([agreementScale, tenStepScale, recommendation]) },
      { id: 2, type: random.oneOf([agreementScale, tenStepScale, recommendation, yesNo]) },
      { id: 3, type: random.oneOf([yesNo, singleChoice, multipleChoice, freeText]) },
    ],
    classes: randomClasses(seed),
    kpis: [{ id: 'both', questionIds: [1, 2] }],
    weeks,
  };
}

/** In some histories, two or all questions have the same wording. */
function randomClasses(seed: number): Map<number, number> {
  const classes = randomFrom(seed, 'look-alikes').oneOf([
    [1, 2, 3],
    [1, 2, 3],
    [1, 2, 3],
    [1, 2, 3],
    [1, 1, 3],
    [1, 2, 1],
    [1, 2, 2],
    [1, 1, 1],
  ]);
  return new Map(classes.map((first, i) => [i + 1, first]));
}

/** Returns one to three trees with at most four levels. */
function randomForest(random: Random, count: number): Map<number, number | null> {
  const trees = random.oneOf([1, 1, 1, 1, 2, 2, 3]);
  const levels = between(random, trees > 1 ? 1 : 2, 4);
  const parents = new Map<number, number | null>();
  for (let id = 1; id <= count; id++) {
    const above = [...parents.keys()].filter((one) => ancestorsOf(one, parents).length < levels);
    parents.set(id, id <= trees || above.length === 0 ? null : random.oneOf(above));
  }
  return parents;
}

/** Most inner groups have their own manager, and everyone else is in a team. Some people are in a second group too. */
function randomHomes(setting: Setting, count: number): Homes {
  const { random, parents, leaves } = setting;
  const inner = [...parents.keys()].filter((id) => !leaves.includes(id) && random.chance(0.8));
  const withSecond = random.oneOf([0, 0, 0.1, 0.4]);
  const homes: Homes = new Map();
  for (let i = 0; i < count; i++) {
    const own = i < Math.min(inner.length, count / 3) ? (inner[i] as number) : homeIn(setting);
    const second = random.chance(withSecond) ? [random.oneOf([...parents.keys()])] : [];
    homes.set(`person-${i}`, [...new Set([own, ...second])]);
  }
  return homes;
}

const homeIn = ({ random, parents, leaves }: Setting) =>
  random.chance(0.9) ? random.oneOf(leaves) : random.oneOf([...parents.keys()]);

const moved = (setting: Setting, homes: Homes, share: number): Homes =>
  new Map(
    [...homes].map(([person, own]) => [person, setting.random.chance(share) ? [homeIn(setting)] : own]),
  );

/** Returns one to three rounds, the first usually of a top group. People may move between the openings of two rounds. */
function randomWeek(setting: Setting, homes: Homes): RandomWeek {
  const { random, parents } = setting;
  const tops = [...parents.keys()].filter((id) => parents.get(id) === null);
  const moving = random.oneOf([0, 0, 0, 0.1]);
  const rounds: RandomRound[] = [];
  let now = homes;
  for (let id = between(random, 1, 3); id > 0; id--) {
    const groupId = random.oneOf(rounds.length === 0 && random.chance(0.8) ? tops : [...parents.keys()]);
    if (rounds.some((round) => round.groupId === groupId)) continue;
    const some = [1, 2, 3].filter(() => random.chance(0.6));
    const asked = [...now].flatMap(([person, own]) => {
      const memberOf = own.filter((group) => ancestorsOf(group, parents).includes(groupId));
      return memberOf.length > 0 ? [{ person, memberOf }] : [];
    });
    rounds.push({ id, groupId, questionIds: some.length > 0 ? some : [between(random, 1, 3)], asked });
    now = moved(setting, now, moving);
  }
  return { rounds, answers: randomAnswers(random, rounds) };
}

function randomAnswers(random: Random, rounds: RandomRound[]): Map<number, WeekAnswer[]> {
  const share = 0.3 + 0.7 * random.next();
  const answers = new Map<number, WeekAnswer[]>();
  for (const question of [1, 2, 3]) {
    const asking = rounds.filter(({ questionIds }) => questionIds.includes(question));
    const asked = new Set(asking.flatMap((round) => round.asked.map(({ person }) => person)));
    if (asking.length === 0) continue;
    const given = [...asked].filter(() => random.chance(share));
    answers.set(
      question,
      given.map((respondent) => ({
        respondent,
        value: 1,
        choices: null,
        comment: random.chance(0.3) ? respondent : null,
        skipped: random.chance(0.05),
        handedOut: false,
        counted: false,
      })),
    );
  }
  return answers;
}

/** Returns a week as it is stored while it is open, like rounds.ts creates it from memberships (decision A11). */
export function weekData(
  { thresholds, parents }: Pick<RandomHistory, 'thresholds' | 'parents'>,
  { rounds }: RandomWeek,
): WeekData {
  const asked = new Map<number, Set<number>>();
  for (const { groupId, questionIds } of rounds) {
    for (const id of descendantsOf(groupId, parents)) {
      asked.set(id, new Set([...(asked.get(id) ?? []), ...questionIds]));
    }
  }
  return {
    thresholds,
    rounds: rounds.map(({ id, groupId, questionIds }) => ({
      id,
      groupId,
      questionIds,
      aboveIds: ancestorsOf(groupId, parents).slice(1),
    })),
    assignments: rounds.flatMap((round) =>
      round.asked.map(({ person, memberOf }): Assignment => ({
        respondent: person,
        roundId: round.id,
        groupIds: [...new Set(memberOf.flatMap((own) => ancestorsOf(own, parents)))],
      })),
    ),
    asked: [...asked].map(([groupId, ids]) => ({ groupId, questionIds: [...ids] })),
  };
}
