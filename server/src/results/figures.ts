// Computes the figures of a week from who was asked and what was answered (decisions A10 to A14, privacy.md P2 to P8). Pure.
import {
  type Distribution,
  distributionOf,
  isScaled,
  isDistributionOnly,
  type KeptAnswer,
  type QuestionType,
  scaledMean,
} from '../questions/types.ts';
import { chooseCells, chooseDistributions, type GroupSet, type Cells } from './disclosure.ts';
import { type Noise, type NoiseLevel, noisyDistribution, noisySum } from './noise.ts';

export type Thresholds = { figures: number; distribution: number; comments: number };

export type WeekQuestion = { id: number; type: QuestionType; options: string[] };
export type WeekRound = { id: number; groupId: number; questionIds: number[]; aboveIds: number[] };
/**
 * Records that a round asks a person, and in which groups the person's answers count. The assignments of people who are no longer
 * active are withdrawn: these people count as never asked, but answers they have already given still count (decision B13).
 */
export type Assignment = { respondent: string; roundId: number; groupIds: number[]; isWithdrawn?: true };
/**
 * `handedOut`: the answer was given through a link that the employer handed out, not one that was sent to the person. `counted`:
 * the published figures of a live week already include it (batches.ts).
 */
export type WeekAnswer = KeptAnswer & {
  respondent: string;
  comment: string | null;
  skipped: boolean;
  handedOut: boolean;
  counted: boolean;
};

/** Everything but the answers that the figures of a week are computed from. */
export type WeekData = {
  thresholds: Thresholds;
  rounds: WeekRound[];
  assignments: Assignment[];
  /** The questions asked of each group, by a round of the group itself or of one of its ancestors. */
  asked: { groupId: number; questionIds: number[] }[];
  /** The people whose link was handed out by the employer. No one if left out. */
  handedOut?: ReadonlySet<string>;
};

/** The result of a question in a group. `null` means withheld. */
export type Result = {
  groupId: number;
  value: number | null;
  answers: number | null;
  distribution: Distribution | null;
  /** Whether the result is published although too few people in it answered through a link that was sent to them (P14). */
  handedOut: boolean;
  /** The noise added to its value and distribution. */
  noise: NoiseLevel;
};
/** `handedOutIn`: those of the groups in which too few of the comments' authors used a link sent to them, as in Result.handedOut. */
export type ShownComment = { text: string; groupIds: number[]; handedOutIn: number[] };
export type Rate = {
  groupId: number;
  value: number | null;
  /** How many people were asked anything in the group; null if the rate is withheld. */
  people: number | null;
  /**
   * Whether the rate is published although, in one of its cells, too few of the people asked are without a handed-out link (P14).
   * This does not depend on who answered through such a link, which would reveal it about single people.
   */
  handedOut: boolean;
};
export type KpiValue = {
  kpiId: string;
  groupId: number;
  value: number | null;
  handedOut: boolean;
  /** Whether one of the KPI's questions was asked of the whole group. */
  askedWhole: boolean;
};

/** Who is asked what in a week, and who has answered which questions so far. */
export type Turnout = {
  data: WeekData;
  roundById: Map<number, WeekRound>;
  assignmentsOf: Map<string, Assignment[]>;
  treeOf: (group: number) => number;
  /** For each person, the questions that they answered or skipped. */
  done: Map<string, Set<number>>;
};

export function turnoutOf(data: WeekData): Turnout {
  const assignmentsOf = new Map<string, Assignment[]>();
  for (const assignment of data.assignments) {
    const others = assignmentsOf.get(assignment.respondent);
    if (others) others.push(assignment);
    else assignmentsOf.set(assignment.respondent, [assignment]);
  }
  const roundById = new Map(data.rounds.map((round) => [round.id, round]));
  const trees = new Map<number, number>();
  for (const { groupId, aboveIds } of data.rounds) {
    for (const id of [groupId, ...aboveIds]) trees.set(id, aboveIds.at(-1) ?? groupId);
  }
  for (const { roundId, groupIds } of data.assignments) {
    const { groupId } = roundById.get(roundId) as WeekRound;
    for (const id of groupIds) if (!trees.has(id)) trees.set(id, trees.get(groupId) as number);
  }
  return { data, roundById, assignmentsOf, treeOf: (group) => trees.get(group) ?? group, done: new Map() };
}

/** Returns the groups in which a person's answer to a question counts, each once even if several rounds asked the question. */
function groupsOf(respondent: string, questionId: number, { assignmentsOf, roundById }: Turnout): number[] {
  const groups = (assignmentsOf.get(respondent) ?? [])
    .filter(({ roundId }) => roundById.get(roundId)?.questionIds.includes(questionId))
    .map(({ groupIds }) => groupIds);
  return groups.length === 1 ? (groups[0] as number[]) : [...new Set(groups.flat())];
}

/** A question with its answers, and the noise for its figures, if any. */
export type Loaded = { question: WeekQuestion; answers: WeekAnswer[]; noise?: Noise | undefined };
export type QuestionFigures = { results: Result[]; comments: ShownComment[] };

/**
 * Returns the figures and comments of one question, with a result for every group that was asked the question and for all its
 * ancestors. Records in `turnout` who answered or skipped it, for the response rates.
 */
export function questionFigures(
  question: WeekQuestion,
  answers: WeekAnswer[],
  turnout: Turnout,
  noise?: Noise,
): QuestionFigures {
  return classFigures([{ question, answers, noise }], turnout)[0] as QuestionFigures;
}

/**
 * Returns the same for questions with the same text, in their order. The disclosure procedure treats them as one question: a
 * person who answered several of them counts once, so their figures never differ by only a few people (privacy.md P17).
 */
export function classFigures(asked: readonly Loaded[], turnout: Turnout): QuestionFigures[] {
  for (const { question, answers } of asked) recordCompleted(question.id, answers, turnout);
  const company = companyOf(asked, turnout);
  const chosen = chooseClass(company, turnout.data.thresholds);
  const comments = commentsOf(company, turnout.data.thresholds);
  return classResults(asked, company, chosen, turnout.data).map((results, number) => ({
    results,
    comments: comments[number] as ShownComment[],
  }));
}

/** Returns the results of each question, computed on the chosen cells. */
export function classResults(
  asked: readonly Loaded[],
  company: Company,
  chosen: Chosen,
  data: WeekData,
): Result[][] {
  const usedOwnLink = ownLinksIn(company);
  const { figures, distribution } = data.thresholds;
  const isFigureHandedOut = tooFewOwnLinks(usedOwnLink, chosen.cells, figures);
  // A distribution needs more people, and as many of them with a link of their own.
  const isDistributionHandedOut =
    figures === 1 ? () => false : tooFewOwnLinks(usedOwnLink, chosen.distributionCells, distribution);
  return asked.map(({ question, noise }, number) =>
    groupsWithResult(question.id, data).map((groupId): Result => {
      const key = company.keyOf(groupId, number);
      const people = chosen.shown.get(key);
      const distributionPeople = chosen.distributionCells.shown.get(key);
      return resultOf(question, groupId, {
        answers: company.answersOf(people, number),
        distributionAnswers: company.answersOf(distributionPeople, number),
        handedOut: isFigureHandedOut(people) || isDistributionHandedOut(distributionPeople),
        noise,
      });
    }),
  );
}

/** Returns the comments of each question, chosen by the disclosure procedure over everyone who answered. */
export const classComments = (asked: readonly Loaded[], turnout: Turnout): ShownComment[][] =>
  commentsOf(companyOf(asked, turnout), turnout.data.thresholds);

/** Records who answered or skipped a question. */
export function recordCompleted(questionId: number, answers: readonly WeekAnswer[], { done }: Turnout): void {
  for (const { respondent } of answers) {
    const own = done.get(respondent);
    if (own) own.add(questionId);
    else done.set(respondent, new Set([questionId]));
  }
}

/** Returns the groups that have a result for a question: those that were asked it, and all their ancestors. */
function groupsWithResult(questionId: number, { asked, rounds }: WeekData): number[] {
  const groups = new Set<number>();
  for (const { groupId, questionIds } of asked) if (questionIds.includes(questionId)) groups.add(groupId);
  for (const { groupId, questionIds, aboveIds } of rounds) {
    if (questionIds.includes(questionId)) for (const id of [groupId, ...aboveIds]) groups.add(id);
  }
  return [...groups];
}

/** Who answered the questions of a class. The key of a set of people combines a group and the index of a question. */
export type Company = {
  types: QuestionType[];
  sets: GroupSet[];
  respondents: string[];
  keyOf: (group: number, number: number) => number;
  numberOf: (key: number) => number;
  groupOf: (key: number) => number;
  treeOf: (key: number) => number;
  /** The answers of people to a question; undefined if `people` is undefined. */
  answersOf: (people: readonly number[] | undefined, number: number) => WeekAnswer[] | undefined;
};

/** Returns the people whose answers count, each with one number, and for each group and question the people who answered it there. */
export function companyOf(asked: readonly Loaded[], turnout: Turnout): Company {
  const counted = asked.map(({ answers }) => answers.filter(({ skipped }) => !skipped));
  // Each person has at most one answer per question. With a single question, the answer's index serves as the person's number.
  const isOne = asked.length === 1;
  const respondents = [...(isOne ? (counted[0] ?? []).map(nameOf) : new Set(counted.flat().map(nameOf)))];
  const places = new Map(isOne ? [] : respondents.map((respondent, person) => [respondent, person]));
  const given = isOne
    ? counted
    : counted.map((answers) => {
        const byPerson: WeekAnswer[] = [];
        for (const one of answers) byPerson[places.get(one.respondent) as number] = one;
        return byPerson;
      });
  const keyOf = (group: number, number: number) => group * asked.length + number;
  const groupOf = (key: number) => Math.floor(key / asked.length);
  const treeOf = (key: number) => turnout.treeOf(groupOf(key));
  const keysOf = (person: number) =>
    asked.flatMap(({ question }, number) =>
      given[number]?.[person]
        ? groupsOf(respondents[person] as string, question.id, turnout).map((group) => keyOf(group, number))
        : [],
    );
  const onlyId = asked[0]?.question.id as number;
  return {
    types: asked.map(({ question }) => question.type),
    sets: setsOf(
      respondents.length,
      isOne ? (person) => groupsOf(respondents[person] as string, onlyId, turnout) : keysOf,
      treeOf,
    ),
    respondents,
    keyOf,
    numberOf: (key) => key % asked.length,
    groupOf,
    treeOf,
    answersOf: (people, number) => people?.map((person) => given[number]?.[person] as WeekAnswer),
  };
}

const nameOf = ({ respondent }: WeekAnswer) => respondent;

/**
 * The cells that were chosen for a class of questions. `shown`: the people that each figure is based on, by the key of their set.
 * `distributionCells`: the same for distributions.
 */
export type Chosen = { shown: Map<number, number[]>; cells: Cells; distributionCells: Cells };

/**
 * Chooses the cells for the figures and distributions of a class. For types whose only figure is the distribution, the
 * distribution threshold applies throughout.
 */
export function chooseClass(
  { types, sets, respondents, numberOf, treeOf }: Company,
  thresholds: Thresholds,
): Chosen {
  if (types.every(isDistributionOnly)) {
    const cells = chooseCells(sets, respondents.length, thresholds.distribution);
    return { shown: cells.shown, cells, distributionCells: cells };
  }
  const cells = chooseCells(sets, respondents.length, thresholds.figures);
  const typeOf = (key: number) => types[numberOf(key)] as QuestionType;
  const withDistribution = [...cells.shown].filter(
    ([key]) => isScaled(typeOf(key)) || isDistributionOnly(typeOf(key)),
  );
  const distributionCells = chooseDistributions(
    { ...cells, shown: new Map(withDistribution) },
    treeOf,
    thresholds.distribution,
  );
  const shown = [...cells.shown].flatMap(([key, people]): [number, number[]][] => {
    const distributionPeople = distributionCells.shown.get(key);
    if (!isDistributionOnly(typeOf(key))) return [[key, people]];
    return distributionPeople ? [[key, distributionPeople]] : [];
  });
  return { shown: new Map(shown), cells, distributionCells };
}

/** `answers`: the answers that the figure is based on. `distributionAnswers`: those that the distribution is based on, if any. */
function resultOf(
  { type, options }: WeekQuestion,
  groupId: number,
  {
    answers,
    distributionAnswers,
    handedOut,
    noise,
  }: {
    answers: WeekAnswer[] | undefined;
    distributionAnswers: WeekAnswer[] | undefined;
    handedOut: boolean;
    noise: Noise | undefined;
  },
): Result {
  if (!answers)
    return { groupId, value: null, answers: null, distribution: null, handedOut: false, noise: 0 };
  return {
    groupId,
    value: isScaled(type) ? meanOf(type, answers, noise) : null,
    answers: answers.length,
    distribution: distributionAnswers
      ? publishedDistribution(type, options, distributionAnswers, noise)
      : null,
    noise: noise?.level ?? 0,
    handedOut,
  };
}

/** Returns for each person whether they answered none of these questions through a handed-out link. */
function ownLinksIn({ respondents, types, answersOf }: Company): boolean[] {
  const everyone = respondents.map((_, person) => person);
  const usedOwnLink = everyone.map(() => true);
  for (const number of types.keys()) {
    for (const [person, answer] of (answersOf(everyone, number) ?? []).entries()) {
      if (answer?.handedOut) usedOwnLink[person] = false;
    }
  }
  return usedOwnLink;
}

/**
 * Returns a function that says whether a figure based on these people has a cell in which fewer people than the threshold used a
 * link of their own rather than a handed-out one. Cells can be separated from each other by subtracting figures. Someone who hands
 * out links can answer through them, and so could know all other answers of the cell, or have given all of them. Always false with
 * a threshold of 1: answers are not anonymous then, and everyone who is asked is told so. `usedOwnLink`: for each person.
 */
function tooFewOwnLinks(usedOwnLink: readonly boolean[], { cellOf, sizes }: Cells, threshold: number) {
  const ownLinks = sizes.map(() => 0);
  for (const [person, isOwn] of usedOwnLink.entries()) {
    const cell = cellOf[person] as number;
    if (isOwn) ownLinks[cell] = (ownLinks[cell] as number) + 1;
  }
  return (people: readonly number[] | undefined): boolean => {
    if (!people || threshold === 1) return false;
    return people.some((person) => (ownLinks[cellOf[person] as number] as number) < threshold);
  };
}

function meanOf(type: QuestionType, answers: WeekAnswer[], noise: Noise | undefined): number | null {
  const sum = answers.reduce((total, { value }) => total + (value ?? 0), 0);
  const count = answers.length;
  const published = noise ? noisySum(type, { sum, count }, noise, noise.keyOf(answers.map(nameOf))) : sum;
  return scaledMean(type, published, count);
}

function publishedDistribution(
  type: QuestionType,
  options: string[],
  answers: WeekAnswer[],
  noise: Noise | undefined,
): Distribution {
  const distribution = distributionOf(type, options, answers);
  if (!noise) return distribution;
  const set = noise.keyOf(answers.map(nameOf));
  return noisyDistribution(type, { distribution, count: answers.length }, noise, set);
}

/** Returns the people 0 to `count` − 1 by the groups in which they count. */
function setsOf(
  count: number,
  groupsOfPerson: (person: number) => number[],
  treeOf: (group: number) => number,
): GroupSet[] {
  const people = new Map<number, number[]>();
  for (let person = 0; person < count; person++) {
    for (const group of groupsOfPerson(person)) {
      const others = people.get(group);
      if (others) others.push(person);
      else people.set(group, [person]);
    }
  }
  return [...people].map(([group, members]) => ({ group, tree: treeOf(group), people: members }));
}

/**
 * Returns the comments of each question. Each comes with the groups in which it is shown: those whose set, chosen with the
 * comment threshold, contains its author.
 */
function commentsOf(company: Company, { figures, comments: threshold }: Thresholds): ShownComment[][] {
  const { types, sets, respondents, numberOf, groupOf, answersOf } = company;
  const everyone = respondents.map((_, person) => person);
  const texts = types.map((_, number) => answersOf(everyone, number)?.map((one) => one?.comment ?? null));
  if (texts.every((list) => list?.every((text) => text === null))) return types.map(() => []);
  const cells = chooseCells(sets, respondents.length, threshold);
  const isHandedOut = figures === 1 ? () => false : tooFewOwnLinks(ownLinksIn(company), cells, threshold);
  const groupsOfComment = types.map(() => new Map<number, number[]>());
  const handedOutIn = types.map((): number[] => []);
  for (const [key, people] of cells.shown) {
    if (isHandedOut(people)) handedOutIn[numberOf(key)]?.push(groupOf(key));
    const number = numberOf(key);
    const groups = groupsOfComment[number] as Map<number, number[]>;
    for (const person of people) {
      if (texts[number]?.[person] === null) continue;
      groups.set(person, [...(groups.get(person) ?? []), groupOf(key)]);
    }
  }
  return groupsOfComment.map((groups, number) =>
    [...groups].map(([person, groupIds]) => ({
      text: texts[number]?.[person] as string,
      groupIds,
      handedOutIn: groupIds.filter((id) => handedOutIn[number]?.includes(id)),
    })),
  );
}

/**
 * Returns the response rate of each group that was asked (decision A12). Call it after all questions of the week have been
 * recorded in `turnout`. People in a group who were asked different questions, for example because they joined or left between
 * two rounds, form separate sets in the disclosure procedure. Otherwise rates could separate the people of one cell.
 */
export function responseRates(turnout: Turnout): Rate[] {
  const { data, treeOf, done } = turnout;
  const assignmentsOf = withoutWithdrawn(turnout.assignmentsOf);
  const respondents = [...assignmentsOf.keys()];
  const known = new Map<string, SameQuestions>();
  const askedBy = (assignments: Assignment[]) =>
    askedIn(assignments, turnout).map((one) => {
      const key = `${one.groupId} ${one.questionIds.join()}`;
      const same = known.get(key) ?? one;
      known.set(key, same);
      return same;
    });
  // Fast path: most people are asked by one round and share their list of groups with their team.
  const teams = new Map<number[], Map<number, SameQuestions[]>>();
  const askedOf = [...assignmentsOf.values()].map((assignments) => {
    const [{ roundId, groupIds }, ...others] = assignments as [Assignment];
    if (others.length > 0) return askedBy(assignments);
    const rounds = teams.get(groupIds) ?? new Map<number, SameQuestions[]>();
    const asked = rounds.get(roundId) ?? askedBy(assignments);
    teams.set(groupIds, rounds.set(roundId, asked));
    return asked;
  });
  const combinations = [...known.keys()].toSorted().map((key) => known.get(key) as SameQuestions);
  const numbers = new Map(combinations.map((one, number) => [one, number]));
  const sets = setsOf(
    respondents.length,
    (person) => (askedOf[person] as SameQuestions[]).map((one) => numbers.get(one) as number),
    (number) => treeOf((combinations[number] as SameQuestions).groupId),
  );
  const doneBy = respondents.map((respondent) => done.get(respondent));
  // Includes people whose assignments have been withdrawn: they may have answered before.
  const peopleIn = new Map<number, number>();
  for (const assignments of turnout.assignmentsOf.values()) {
    for (const { groupId } of askedIn(assignments, turnout))
      peopleIn.set(groupId, (peopleIn.get(groupId) ?? 0) + 1);
  }
  const totals = new Map<number, { asked: number; answered: number; handedOut: boolean }>();
  const cells = chooseCells(sets, respondents.length, data.thresholds.figures);
  const hasOwnLink = respondents.map((respondent) => data.handedOut?.has(respondent) !== true);
  const isHandedOut = tooFewOwnLinks(hasOwnLink, cells, data.thresholds.figures);
  for (const [number, people] of cells.shown) {
    const { groupId, questionIds } = combinations[number] as SameQuestions;
    const total = totals.get(groupId) ?? { asked: 0, answered: 0, handedOut: false };
    totals.set(groupId, total);
    total.handedOut ||= isHandedOut(people);
    total.asked += people.length * questionIds.length;
    for (const person of people) {
      const has = doneBy[person];
      if (has) for (const id of questionIds) if (has.has(id)) total.answered++;
    }
  }
  return data.asked.map(({ groupId }) => {
    const total = totals.get(groupId);
    if (!total || total.asked === 0) return { groupId, value: null, people: null, handedOut: false };
    const { asked, answered, handedOut } = total;
    return { groupId, value: answered / asked, people: peopleIn.get(groupId) ?? null, handedOut };
  });
}

/** Returns the assignments that are not withdrawn. */
function withoutWithdrawn(all: Map<string, Assignment[]>): Map<string, Assignment[]> {
  const remaining = [...all].map(
    ([person, assignments]) => [person, assignments.filter(({ isWithdrawn }) => !isWithdrawn)] as const,
  );
  return new Map(remaining.filter(([, assignments]) => assignments.length > 0));
}

/** People in a group who were asked the same questions by the rounds that asked the whole group. */
type SameQuestions = { groupId: number; questionIds: number[] };

/** Returns the questions a person was asked in each group by the rounds that asked the whole group. */
function askedIn(assignments: Assignment[], { roundById }: Turnout): SameQuestions[] {
  const asked = new Map<number, number[]>();
  for (const { roundId, groupIds } of assignments) {
    const { questionIds, aboveIds } = roundById.get(roundId) as WeekRound;
    for (const group of groupIds) {
      if (aboveIds.includes(group)) continue;
      const others = asked.get(group);
      const all = () => [...new Set([...(others ?? []), ...questionIds])].toSorted((a, b) => a - b);
      asked.set(group, others ? all() : questionIds);
    }
  }
  return [...asked].map(([groupId, questionIds]) => ({ groupId, questionIds }));
}

/** Returns the KPI values of a week, computed from published values only (decision A14). */
export function kpiValues(
  kpis: { id: string; questionIds: number[] }[],
  results: ReadonlyMap<number, Result[]>,
  asked: WeekData['asked'],
): KpiValue[] {
  const askedOf = new Map(asked.map((one) => [one.groupId, one.questionIds]));
  return kpis.flatMap(({ id, questionIds }) => {
    const values = new Map<number, number[]>();
    const handedOut = new Set<number>();
    for (const questionId of questionIds.toSorted((a, b) => a - b)) {
      for (const { groupId, value, handedOut: isHandedOut } of results.get(questionId) ?? []) {
        const others = values.get(groupId) ?? [];
        values.set(groupId, value === null ? others : [...others, value]);
        if (value !== null && isHandedOut) handedOut.add(groupId);
      }
    }
    return [...values].map(([groupId, shown]) => ({
      kpiId: id,
      groupId,
      value: shown.length > 0 ? shown.reduce((sum, value) => sum + value, 0) / shown.length : null,
      handedOut: handedOut.has(groupId),
      askedWhole: askedOf.get(groupId)?.some((question) => questionIds.includes(question)) ?? false,
    }));
  });
}
