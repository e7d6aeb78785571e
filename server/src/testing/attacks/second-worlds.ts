// Random worlds for the second adversary: one to three trees, people in several of them, overlapping rounds, the same wording
// asked twice, several weeks with moves, and realistic answers. The same seed gives the same world.
import {
  agreementScale,
  fourStepScale,
  isChoice,
  isScaled,
  multipleChoice,
  type QuestionType,
  recommendation,
  type ScaledType,
  singleChoice,
  tenStepScale,
  yesNo,
} from '@soundings/contract/question-types.ts';
import { ancestorsOf } from '../../people/tree.ts';
import type { Thresholds, WeekAnswer } from '../../results/turnout.ts';
import { type Random, randomFrom } from '../../simulation/random.ts';
import type { RandomRound, RandomWeek } from './histories.ts';

export type WorldQuestion = { id: number; type: QuestionType; text: string; options: string[] };
export type World = {
  seed: number;
  thresholds: Thresholds;
  parents: Map<number, number | null>;
  questions: WorldQuestion[];
  kpis: { id: string; questionIds: number[] }[];
  weeks: RandomWeek[];
};

type Homes = Map<string, number[]>;
type Organization = {
  random: Random;
  parents: Map<number, number | null>;
  leaves: number[];
  inner: number[];
  tops: number[];
};

const between = (random: Random, low: number, high: number) =>
  low + Math.floor(random.next() * (high - low + 1));

// Not taken from the contract, so that a mistake in the contract is not one of the attacker as well.
const bounds: Record<ScaledType, [low: number, high: number]> = {
  [agreementScale]: [1, 5],
  [tenStepScale]: [1, 10],
  [fourStepScale]: [1, 4],
  [recommendation]: [0, 10],
  [yesNo]: [0, 1],
};

/** Returns the lowest and highest answer on the question's own scale; of an option, 0 and 1. */
export const boundsOf = (type: QuestionType): [low: number, high: number] =>
  isScaled(type) ? bounds[type] : [0, 1];

export function randomWorld(seed: number): World {
  const random = randomFrom(seed, 'second world');
  const k = between(random, 3, 6);
  const organization = randomOrganization(random);
  const questions = randomQuestions(random);
  let homes = randomHomes(organization, between(random, 18, 55));
  const weeks: RandomWeek[] = [];
  for (let i = between(random, 1, 3); i > 0; i--) {
    weeks.push(randomWeek(organization, homes, questions));
    homes = withMoves(organization, homes, 0.1);
  }
  return {
    seed,
    thresholds: {
      figures: k,
      distribution: random.chance(0.7) ? 2 * k : k + between(random, 1, k),
      comments: 2 * k,
    },
    parents: organization.parents,
    questions,
    kpis: [
      { id: 'first', questionIds: [1, 2] },
      { id: 'second', questionIds: [1, 2, 3] },
    ],
    weeks,
  };
}

/** Returns one to three trees with at most four levels. */
function randomOrganization(random: Random): Organization {
  const trees = between(random, 1, 3);
  const count = between(random, 2 * trees + 1, 12);
  const parents = new Map<number, number | null>();
  for (let id = 1; id <= count; id++) {
    const above = [...parents.keys()].filter((one) => ancestorsOf(one, parents).length < 4);
    parents.set(id, id <= trees ? null : random.oneOf(above));
  }
  const inner = [...new Set(parents.values())].filter((id) => id !== null);
  const all = [...parents.keys()];
  return {
    random,
    parents,
    inner,
    leaves: all.filter((id) => !inner.includes(id)),
    tops: all.filter((id) => parents.get(id) === null),
  };
}

/** In half of the worlds, questions 1 and 4 have the same wording, so the service treats them as one question. */
function randomQuestions(random: Random): WorldQuestion[] {
  const first = random.oneOf([agreementScale, tenStepScale, recommendation]);
  const plain = (id: number, type: QuestionType): WorldQuestion => ({
    id,
    type,
    text: `Question ${id}?`,
    options: isChoice(type) ? ['a', 'b', 'c'] : [],
  });
  const questions = [
    plain(1, first),
    plain(2, random.oneOf([agreementScale, fourStepScale, recommendation, yesNo])),
    plain(3, random.oneOf([yesNo, singleChoice, multipleChoice])),
  ];
  return random.chance(0.5) ? [...questions, { ...plain(4, first), text: '  question 1 ' }] : questions;
}

/** Inner groups usually have one to three people who are only in them, and many people are in a second tree or group. */
function randomHomes(organization: Organization, count: number): Homes {
  const { random, inner, parents, tops } = organization;
  const inSecondTree = tops.length > 1 ? random.oneOf([0.1, 0.4, 0.8]) : 0;
  const inSecondGroup = random.oneOf([0, 0.1, 0.3]);
  const treeOf = (group: number) => ancestorsOf(group, parents).at(-1);
  const managers = inner.flatMap((group) => Array<number>(between(random, 0, 3)).fill(group));
  const homes: Homes = new Map();
  for (let i = 0; i < count; i++) {
    const own = i < count / 2 ? (managers[i] ?? homeIn(organization)) : homeIn(organization);
    const others = [...parents.keys()].filter((group) => treeOf(group) !== treeOf(own));
    homes.set(`person-${i}`, [
      ...new Set([
        own,
        ...(random.chance(inSecondTree) ? [random.oneOf(others)] : []),
        ...(random.chance(inSecondGroup) ? [homeIn(organization)] : []),
      ]),
    ]);
  }
  return homes;
}

const homeIn = ({ random, leaves }: Organization) => random.oneOf(leaves);

const withMoves = (organization: Organization, homes: Homes, share: number): Homes =>
  new Map(
    [...homes].map(([person, own]) => [
      person,
      organization.random.chance(share) ? [homeIn(organization), ...own.slice(1)] : own,
    ]),
  );

/**
 * Returns a week with a round for most of the top groups and usually one for another group. Question 4, if it has the same
 * wording as question 1, is asked to nearly all people of a group.
 */
function randomWeek(organization: Organization, homes: Homes, questions: WorldQuestion[]): RandomWeek {
  const { random, parents, tops, inner } = organization;
  const rounds: RandomRound[] = [];
  let now = homes;
  const open = (groupId: number, questionIds: number[], isAsked: (person: string) => boolean) => {
    const asked = [...now].flatMap(([person, own]) => {
      const memberOf = own.filter((group) => ancestorsOf(group, parents).includes(groupId));
      return memberOf.length > 0 && isAsked(person) ? [{ person, memberOf }] : [];
    });
    if (asked.length > 0) rounds.push({ id: rounds.length + 1, groupId, questionIds, asked });
  };
  const some = () => {
    const ids = [1, 2, 3].filter(() => random.chance(0.7));
    return ids.length > 0 ? ids : [1];
  };
  for (const top of tops) if (random.chance(0.85)) open(top, some(), () => true);
  if (random.chance(0.3)) now = withMoves(organization, now, 0.1);
  if (random.chance(0.6)) open(random.oneOf([...parents.keys()]), some(), () => true);
  if (questions.length > 3) open(random.oneOf([...tops, ...inner]), [4], () => random.chance(0.9));
  return { rounds, answers: randomAnswers(random, rounds, questions) };
}

/** People mostly agree with others in the world. People who are asked the same wording twice give the same answer. */
function randomAnswers(random: Random, rounds: RandomRound[], questions: WorldQuestion[]) {
  const share = 0.5 + 0.5 * random.next();
  const answers = new Map<number, WeekAnswer[]>();
  const given = new Map<string, Pick<WeekAnswer, 'value' | 'choices' | 'skipped'> | undefined>();
  for (const { id, type, options } of questions) {
    const asking = rounds.filter(({ questionIds }) => questionIds.includes(id));
    if (asking.length === 0) continue;
    const [low, high] = boundsOf(type);
    const usual = between(random, low, high);
    const giveAnswer = () => ({
      value: isScaled(type) ? (random.chance(0.6) ? usual : between(random, low, high)) : null,
      choices: isScaled(type)
        ? null
        : type === singleChoice
          ? [random.oneOf(options)]
          : options.filter(() => random.chance(0.5)),
      skipped: random.chance(0.04),
    });
    const people = new Set(asking.flatMap(({ asked }) => asked.map(({ person }) => person)));
    const list: WeekAnswer[] = [];
    for (const respondent of people) {
      const unknown = `${id === 4 ? 1 : id} ${respondent}`;
      if (!given.has(unknown)) given.set(unknown, random.chance(share) ? giveAnswer() : undefined);
      const answer = given.get(unknown);
      const comment = random.chance(0.3) ? respondent : null;
      if (answer) list.push({ respondent, comment, handedOut: false, counted: false, ...answer });
    }
    answers.set(id, list);
  }
  return answers;
}
