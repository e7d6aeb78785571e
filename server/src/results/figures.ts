// The figures of a week, from who was asked and what was answered (decisions A10 to A14, privacy.md P2 to P8). Pure.
import {
  type Distribution,
  distributionOf,
  isScaled,
  isSpreadOnly,
  type KeptAnswer,
  type QuestionType,
  scaledMean,
} from '../questions/types.ts';
import { choosePieces, chooseSpread, type GroupSet, type Pieces } from './anonymity.ts';
import { type Noise, type NoiseLevel, noisyDistribution, noisySum } from './noise.ts';

export type Thresholds = { figures: number; spread: number; comments: number };

export type WeekQuestion = { id: number; type: QuestionType; options: string[] };
export type WeekRound = { id: number; groupId: number; questionIds: number[]; aboveIds: number[] };
/**
 * That a person is asked by a round, and in which groups the person's answers count. It is withdrawn from who is not
 * active any more: such a one counts as never asked, though answers already given stay counted (decision B13).
 */
export type Assignment = { respondent: string; roundId: number; groupIds: number[]; isWithdrawn?: true };
/**
 * `handedOut`: it was given through a link that the employer handed out, not one that was sent to the person. `counted`: it is
 * in the figures that are shown of a live week (batches.ts).
 */
export type WeekAnswer = KeptAnswer & {
  respondent: string;
  comment: string | null;
  skipped: boolean;
  handedOut: boolean;
  counted: boolean;
};

/** All that a week's figures are made of. */
export type WeekData = {
  thresholds: Thresholds;
  rounds: WeekRound[];
  assignments: Assignment[];
  /** Which questions were asked of a group: of itself, or of a group above it. */
  asked: { groupId: number; questionIds: number[] }[];
  /** Who has a link that the employer handed out. Left out: no one. */
  handedOut?: ReadonlySet<string>;
};

/** A figure of a question in a group; nulls: withheld. */
export type Result = {
  groupId: number;
  value: number | null;
  answers: number | null;
  spread: Distribution | null;
  /** Whether it is shown and rests on too few people who answered through a link that was sent to them (P14). */
  handedOut: boolean;
  /** With how much noise its value and distribution are. */
  noise: NoiseLevel;
};
/** `handedOutIn`: in which of the groups the comments to the question rest on handed-out links, as in Result.handedOut. */
export type ShownComment = { text: string; groupIds: number[]; handedOutIn: number[] };
export type Rate = {
  groupId: number;
  value: number | null;
  /** How many people were asked anything in the group; null: the rate is withheld. */
  people: number | null;
  /**
   * Whether it is shown, and in one of its pieces too few of the people asked have no link that the employer handed out (P14). Not
   * by who answered through such a link: that would tell it of single people.
   */
  handedOut: boolean;
};
export type KpiValue = {
  kpiId: string;
  groupId: number;
  value: number | null;
  handedOut: boolean;
  /** Whether one of its questions was asked of the whole group. */
  askedWhole: boolean;
};

/** Who is asked what in a week, and what has been answered so far. */
export type Turnout = {
  data: WeekData;
  roundById: Map<number, WeekRound>;
  assignmentsOf: Map<string, Assignment[]>;
  treeOf: (group: number) => number;
  /** For each person the questions that were answered or skipped. */
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

/** The groups in which a person's answer to a question counts: once each, whichever rounds asked it. */
function groupsOf(respondent: string, questionId: number, { assignmentsOf, roundById }: Turnout): number[] {
  const groups = (assignmentsOf.get(respondent) ?? [])
    .filter(({ roundId }) => roundById.get(roundId)?.questionIds.includes(questionId))
    .map(({ groupIds }) => groupIds);
  return groups.length === 1 ? (groups[0] as number[]) : [...new Set(groups.flat())];
}

/** A question with its answers, and the noise of its figures, if any. */
export type Answered = { question: WeekQuestion; answers: WeekAnswer[]; noise?: Noise | undefined };
export type QuestionFigures = { results: Result[]; comments: ShownComment[] };

/**
 * The figures and comments of one question. Notes in `turnout` who has done it, for the response rates. Every group
 * that the question was asked of, and every one above, has a result.
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
 * The same for questions that have the same words (privacy.md P17), in their order. They go through the procedure as one
 * question: a person who answered several of them is one person, so no two of their figures differ by a few people.
 */
export function classFigures(asked: readonly Answered[], turnout: Turnout): QuestionFigures[] {
  for (const { question, answers } of asked) noteDone(question.id, answers, turnout);
  const company = companyOf(asked, turnout);
  const chosen = chooseClass(company, turnout.data.thresholds);
  const comments = commentsOf(company, turnout.data.thresholds);
  return classResults(asked, company, chosen, turnout.data).map((results, number) => ({
    results,
    comments: comments[number] as ShownComment[],
  }));
}

/** The results of each question, by what was chosen. */
export function classResults(
  asked: readonly Answered[],
  company: Company,
  chosen: Chosen,
  data: WeekData,
): Result[][] {
  const own = ownIn(company);
  const { figures, spread } = data.thresholds;
  const isShownHandedOut = tooFewOwn(own, chosen.pieces, figures);
  // What needs more people needs as many of them without a handed-out link.
  const isWideHandedOut = figures === 1 ? () => false : tooFewOwn(own, chosen.wide, spread);
  return asked.map(({ question, noise }, number) =>
    concernedBy(question.id, data).map((groupId): Result => {
      const key = company.keyOf(groupId, number);
      return resultOf(question, groupId, {
        people: company.answersOf(chosen.shown.get(key), number),
        wide: company.answersOf(chosen.wide.shown.get(key), number),
        handedOut: isShownHandedOut(chosen.shown.get(key)) || isWideHandedOut(chosen.wide.shown.get(key)),
        noise,
      });
    }),
  );
}

/** The comments of each question, by the procedure over all who answered. */
export const classComments = (asked: readonly Answered[], turnout: Turnout): ShownComment[][] =>
  commentsOf(companyOf(asked, turnout), turnout.data.thresholds);

/** Notes who has done a question. */
export function noteDone(questionId: number, answers: readonly WeekAnswer[], { done }: Turnout): void {
  for (const { respondent } of answers) {
    const own = done.get(respondent);
    if (own) own.add(questionId);
    else done.set(respondent, new Set([questionId]));
  }
}

/** Which groups have a result of a question: those that it was asked of, and all above. */
function concernedBy(questionId: number, { asked, rounds }: WeekData): number[] {
  const concerned = new Set<number>();
  for (const { groupId, questionIds } of asked) if (questionIds.includes(questionId)) concerned.add(groupId);
  for (const { groupId, questionIds, aboveIds } of rounds) {
    if (questionIds.includes(questionId)) for (const id of [groupId, ...aboveIds]) concerned.add(id);
  }
  return [...concerned];
}

/** Who answered the questions of a class. A set of people is named by a group and the place of a question. */
export type Company = {
  types: QuestionType[];
  sets: GroupSet[];
  respondents: string[];
  keyOf: (group: number, number: number) => number;
  numberOf: (key: number) => number;
  groupOf: (key: number) => number;
  treeOf: (key: number) => number;
  /** What people answered to a question; undefined for no people. */
  answersOf: (people: readonly number[] | undefined, number: number) => WeekAnswer[] | undefined;
};

/** The people behind answers that count, each one number, and for each group and question who of them answered it there. */
export function companyOf(asked: readonly Answered[], turnout: Turnout): Company {
  const counted = asked.map(({ answers }) => answers.filter(({ skipped }) => !skipped));
  // Each person has one answer to a question: of one question its place is the person's number.
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

/** The people that each figure rests on, by the name of their set; and the same of each distribution: `wide`. */
export type Chosen = { shown: Map<number, number[]>; pieces: Pieces; wide: Pieces };

/** Of questions whose distribution is all that there is to show, nothing is shown below the threshold for it. */
export function chooseClass(
  { types, sets, respondents, numberOf, treeOf }: Company,
  thresholds: Thresholds,
): Chosen {
  if (types.every(isSpreadOnly)) {
    const pieces = choosePieces(sets, respondents.length, thresholds.spread);
    return { shown: pieces.shown, pieces, wide: pieces };
  }
  const pieces = choosePieces(sets, respondents.length, thresholds.figures);
  const typeOf = (key: number) => types[numberOf(key)] as QuestionType;
  const withSpread = [...pieces.shown].filter(([key]) => isScaled(typeOf(key)) || isSpreadOnly(typeOf(key)));
  const wide = chooseSpread({ ...pieces, shown: new Map(withSpread) }, treeOf, thresholds.spread);
  const shown = [...pieces.shown].flatMap(([key, people]): [number, number[]][] => {
    const some = wide.shown.get(key);
    return isSpreadOnly(typeOf(key)) ? (some ? [[key, some]] : []) : [[key, people]];
  });
  return { shown: new Map(shown), pieces, wide };
}

/** `people`: what those answered that the figure rests on, and `wide` those that the distribution rests on, if any. */
function resultOf(
  { type, options }: WeekQuestion,
  groupId: number,
  {
    people,
    wide,
    handedOut,
    noise,
  }: {
    people: WeekAnswer[] | undefined;
    wide: WeekAnswer[] | undefined;
    handedOut: boolean;
    noise: Noise | undefined;
  },
): Result {
  if (!people) return { groupId, value: null, answers: null, spread: null, handedOut: false, noise: 0 };
  return {
    groupId,
    value: isScaled(type) ? meanOf(type, people, noise) : null,
    answers: people.length,
    spread: wide ? spreadOf(type, options, wide, noise) : null,
    noise: noise?.level ?? 0,
    handedOut,
  };
}

/** For each person, whether none of the company's questions was answered through a link that was handed out. */
function ownIn({ respondents, types, answersOf }: Company): boolean[] {
  const everyone = respondents.map((_, person) => person);
  const own = everyone.map(() => true);
  for (const number of types.keys()) {
    for (const [person, answer] of (answersOf(everyone, number) ?? []).entries()) {
      if (answer?.handedOut) own[person] = false;
    }
  }
  return own;
}

/**
 * For people that a figure rests on, whether fewer than the threshold are their own, without a link that was handed out, in one of
 * the pieces, which can be told from the others by subtraction. Whoever hands out links can answer through them, and then knows what
 * the others of the piece said, or gave all of its answers. With a threshold of 1 everybody's answers are known anyway, and
 * everybody is told so: then never. `own`: for each person.
 */
function tooFewOwn(own: readonly boolean[], { pieceOf, sizes }: Pieces, threshold: number) {
  const sent = sizes.map(() => 0);
  for (const [person, isOwn] of own.entries()) {
    const piece = pieceOf[person] as number;
    if (isOwn) sent[piece] = (sent[piece] as number) + 1;
  }
  return (people: readonly number[] | undefined): boolean => {
    if (!people || threshold === 1) return false;
    return people.some((person) => (sent[pieceOf[person] as number] as number) < threshold);
  };
}

function meanOf(type: QuestionType, answers: WeekAnswer[], noise: Noise | undefined): number | null {
  const sum = answers.reduce((total, { value }) => total + (value ?? 0), 0);
  const count = answers.length;
  const shown = noise ? noisySum(type, { sum, count }, noise, noise.keyOf(answers.map(nameOf))) : sum;
  return scaledMean(type, shown, count);
}

function spreadOf(
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

/** The people 0 to `count` − 1 by the groups in which they count. */
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
 * The comments of each question, each with the groups in which it is shown: those whose set, by the threshold for
 * comments, has its author.
 */
function commentsOf(company: Company, { figures, comments: threshold }: Thresholds): ShownComment[][] {
  const { types, sets, respondents, numberOf, groupOf, answersOf } = company;
  const everyone = respondents.map((_, person) => person);
  const texts = types.map((_, number) => answersOf(everyone, number)?.map((one) => one?.comment ?? null));
  if (texts.every((of) => of?.every((text) => text === null))) return types.map(() => []);
  const pieces = choosePieces(sets, respondents.length, threshold);
  const isHandedOut = figures === 1 ? () => false : tooFewOwn(ownIn(company), pieces, threshold);
  const groupsOfComment = types.map(() => new Map<number, number[]>());
  const handedOutIn = types.map((): number[] => []);
  for (const [key, people] of pieces.shown) {
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
 * The response rate of each group that was asked (decision A12), once all questions of the week have been gone through.
 * People of a group who were asked different things in it, such as those who came or went between two rounds, go through
 * the procedure apart: only among people who were asked the same is a rate constant on each piece, question by question.
 */
export function responseRates(turnout: Turnout): Rate[] {
  const { data, treeOf, done } = turnout;
  const assignmentsOf = standing(turnout.assignmentsOf);
  const respondents = [...assignmentsOf.keys()];
  const known = new Map<string, AskedAlike>();
  const askedBy = (assignments: Assignment[]) =>
    askedIn(assignments, turnout).map((one) => {
      const key = `${one.groupId} ${one.questionIds.join()}`;
      const same = known.get(key) ?? one;
      known.set(key, same);
      return same;
    });
  // Most people are asked by one round, and share their list of groups with their team.
  const teams = new Map<number[], Map<number, AskedAlike[]>>();
  const askedOf = [...assignmentsOf.values()].map((assignments) => {
    const [{ roundId, groupIds }, ...others] = assignments as [Assignment];
    if (others.length > 0) return askedBy(assignments);
    const rounds = teams.get(groupIds) ?? new Map<number, AskedAlike[]>();
    const asked = rounds.get(roundId) ?? askedBy(assignments);
    teams.set(groupIds, rounds.set(roundId, asked));
    return asked;
  });
  const alike = [...known.keys()].toSorted().map((key) => known.get(key) as AskedAlike);
  const numbers = new Map(alike.map((one, number) => [one, number]));
  const sets = setsOf(
    respondents.length,
    (person) => (askedOf[person] as AskedAlike[]).map((one) => numbers.get(one) as number),
    (number) => treeOf((alike[number] as AskedAlike).groupId),
  );
  const doneBy = respondents.map((respondent) => done.get(respondent));
  // Those included whose questions were withdrawn since: they may have answered before.
  const peopleIn = new Map<number, number>();
  for (const assignments of turnout.assignmentsOf.values()) {
    for (const { groupId } of askedIn(assignments, turnout))
      peopleIn.set(groupId, (peopleIn.get(groupId) ?? 0) + 1);
  }
  const totals = new Map<number, { asked: number; answered: number; handedOut: boolean }>();
  const pieces = choosePieces(sets, respondents.length, data.thresholds.figures);
  const own = respondents.map((respondent) => data.handedOut?.has(respondent) !== true);
  const restsOnHandedOut = tooFewOwn(own, pieces, data.thresholds.figures);
  for (const [number, people] of pieces.shown) {
    const { groupId, questionIds } = alike[number] as AskedAlike;
    const total = totals.get(groupId) ?? { asked: 0, answered: 0, handedOut: false };
    totals.set(groupId, total);
    total.handedOut ||= restsOnHandedOut(people);
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

/** Those that are not withdrawn. */
function standing(all: Map<string, Assignment[]>): Map<string, Assignment[]> {
  const left = [...all].map(
    ([person, assignments]) => [person, assignments.filter(({ isWithdrawn }) => !isWithdrawn)] as const,
  );
  return new Map(left.filter(([, assignments]) => assignments.length > 0));
}

/** People of a group of whom the rounds that asked everyone in it asked the same. */
type AskedAlike = { groupId: number; questionIds: number[] };

/** What a person was asked in each group by the rounds that asked everyone in it. */
function askedIn(assignments: Assignment[], { roundById }: Turnout): AskedAlike[] {
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

/** The KPI values of a week: made of the values that are shown, and of nothing else (decision A14). */
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
