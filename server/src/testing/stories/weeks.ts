// Weeks of a story: rounds that are imported with random answers, answers that are given later, and closing.
import { addWeeks, type Week, weekName } from '@soundings/contract/weeks.ts';
import { saveAnswers } from '../../answers/answering.ts';
import { closeWeekNow } from '../../results/close-week.ts';
import { showLiveWeeks } from '../../results/live-week.ts';
import type { Random } from '../../simulation/random.ts';
import type { Question } from '../oracle/account-state.ts';
import { type GivenAnswer, groupsOf, type SurveyWeek, upwards } from '../oracle/survey-week.ts';
import { answerLine, importLines, later, linkOf, skip } from '../surveys.ts';
import { linesOfDefinitions, noteDefinitions, someDefinitions } from './definitions.ts';
import { begin, int, openWeeks, publish, publishBatch, type Story } from './story.ts';

type Given = GivenAnswer & { person: string; question: Question };
type Planned = { groupId: number; questions: Question[]; given: Given[] };

/** Imports a week of the past, which is published in one transaction with new questions, texts and KPIs. */
export const importPastWeek = (story: Story): (() => Promise<void>) => importWeek(story, story.free.before);

/** Opens a week. Only one is live, as the figures of each change in a separate transaction. */
export function openWeek(story: Story): (() => Promise<void>) | undefined {
  const open = openWeeks(story);
  if (open.length > 2 || (story.isLive && open.some(({ survey }) => survey.isLive))) return undefined;
  return importWeek(story, story.free.after);
}

function importWeek(story: Story, week: Week): () => Promise<void> {
  const { world, account, free } = story;
  const defined = someDefinitions(story);
  const isNew = ({ id }: Question) => id === 0;
  const rounds = planRounds(story, week, [...defined.questions.filter(isNew), ...story.questions]);
  const lines = [...linesOfDefinitions(defined), ...rounds.flatMap((one) => linesOf(week, one))];
  return async () => {
    await importLines(world, account.id, lines);
    await noteDefinitions(story, defined);
    if (rounds.length === 0) return;
    const started = begin(story, surveyOf(story, week, rounds));
    if (week === free.after) {
      free.after = addWeeks(week, 1);
    } else {
      free.before = addWeeks(week, -1);
      publish(story, started);
    }
  };
}

const parentsIn = ({ groups }: Story) => new Map(groups.map(({ id, parentId }) => [id, parentId]));

/** Plans rounds of different questions for one or two groups. `first`: is asked. */
function planRounds(story: Story, week: Week, [first, ...others]: Question[]): Planned[] {
  const { random, groups, memberOf } = story;
  const left = [first!, ...random.shuffled(others)];
  return random
    .shuffled(groups)
    .slice(0, int(random, 1, 2))
    .flatMap(({ id }) => {
      const isIn = (own: number) => upwards(parentsIn(story), own).includes(id);
      const people = [...memberOf].flatMap(([person, own]) => (own.some(isIn) ? person : []));
      if (people.length === 0) return [];
      const questions = left.splice(0, int(random, 1, 4));
      const share = random.oneOf([0.3, 0.6, 0.95]);
      const pairs = people.flatMap((person) => questions.map((question) => ({ person, question })));
      const given = pairs.filter(() => random.chance(share)).map((one) => answerTo(random, week, one));
      return [{ groupId: id, questions, given }];
    });
}

/** Returns a random answer, comment or skip. */
function answerTo(random: Random, week: Week, by: Pick<Given, 'person' | 'question'>): Given {
  const { type, key, options } = by.question;
  if (random.chance(0.1)) return { ...by, isSkipped: true };
  const ids = options.map(({ id }) => id);
  const values: Record<number, () => unknown> = {
    1: () => int(random, 1, 5),
    2: () => int(random, 1, 10),
    3: () => int(random, 0, 10),
    4: () => random.chance(0.5),
    5: () => random.oneOf(ids),
    6: () => ids.filter(() => random.chance(0.5)),
    7: () => undefined,
    8: () => int(random, 1, 4),
  };
  const comment = type === 7 || random.chance(0.3) ? `${by.person} on ${key} in ${week}` : undefined;
  return { ...by, isSkipped: false, value: values[type]!(), comment };
}

/** Returns the lines of a round, which asks all members (A11), and of its answers. */
function linesOf(week: Week, { groupId, questions, given }: Planned): object[] {
  const [name, group] = [weekName(week), { id: groupId }];
  return [
    { round: { week: name, group, questions: questions.map(({ key }) => key) } },
    ...given.map(({ person, question: { key }, isSkipped, value, comment }) =>
      isSkipped ? skip(name, group, person, key) : answerLine(name, group, person, key, value, comment),
    ),
  ];
}

function surveyOf(story: Story, week: Week, rounds: Planned[]): SurveyWeek {
  const { isLive, threshold, memberOf } = story;
  const asked = rounds.flatMap(({ questions }) => questions);
  const survey: SurveyWeek = {
    week,
    isLive,
    threshold,
    memberOf,
    parents: parentsIn(story),
    answers: new Map(),
    questions: new Map(asked.map((one) => [one.id, { ...one, options: one.options.map(({ id }) => id) }])),
    rounds: rounds.map((one) => ({ groupId: one.groupId, questionIds: one.questions.map(({ id }) => id) })),
  };
  for (const one of rounds.flatMap(({ given }) => given)) noteAnswer(survey, one);
  return survey;
}

function noteAnswer({ answers }: SurveyWeek, { person, question: { id }, ...answer }: Given): void {
  answers.set(id, (answers.get(id) ?? new Map<string, GivenAnswer>()).set(person, answer));
}

/** People answer some of the questions of the first open week that they have not answered, through their links. */
export function giveAnswers(story: Story): (() => Promise<void>) | undefined {
  const [week] = openWeeks(story);
  if (!week) return undefined;
  const { survey } = week;
  const asked = [...story.memberOf.keys()].flatMap((person) =>
    survey.rounds
      .filter((one) => groupsOf(survey, one, person).length > 0)
      .flatMap(({ questionIds }) => story.questions.filter(({ id }) => questionIds.includes(id)))
      .filter(({ id }) => !survey.answers.get(id)?.has(person))
      .map((question) => ({ person, question })),
  );
  const given = asked
    .filter(() => story.random.chance(0.4))
    .map((by) => answerTo(story.random, survey.week, by));
  return async () => {
    for (const [person, own] of Map.groupBy(given, (one) => one.person)) {
      await send(story, survey.week, person, own);
      for (const one of own) noteAnswer(survey, one);
    }
  };
}

async function send({ world, account }: Story, week: Week, person: string, given: Given[]): Promise<void> {
  const [user] = await world.pool<{ userId: number }[]>`
    select user_id as "userId" from users where account_id = ${account.id} and external_id = ${person}`;
  const link = await linkOf(world.pool, { accountId: account.id, ...user!, week });
  const answers = given.map(({ question, isSkipped, value, comment = null }) => ({
    questionId: question.id,
    ...(isSkipped ? { skipped: true } : { comment, ...(value !== undefined && { value }) }),
  }));
  const outcome = await saveAnswers(world.pool, world.keys, { link, visit: 'a browser' }, answers);
  if (outcome !== 'kept') throw new Error(`The answers of ${person} were not kept.`);
}

/** Live weeks show another batch. */
export const showLive = (story: Story) => async () => {
  await showLiveWeeks(story.world.pool, story.world.keys);
  for (const week of openWeeks(story)) if (week.survey.isLive) publishBatch(story, week);
};

/** Closes the first open week. */
export function closeFirst(story: Story): (() => Promise<void>) | undefined {
  const [week] = openWeeks(story);
  if (!week) return undefined;
  const { world, account } = story;
  return async () => {
    await closeWeekNow(world.pool, world.keys, account.id, week.survey.week, later);
    publish(story, week);
  };
}
