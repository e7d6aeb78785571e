// Simulates past weeks, for demos, trials and training. Each week is opened, answered over HTTP and closed by the same code as a
// real week, with the clock set to its time. No messages are sent.
import { addWeeks, dayIn, type Week, weekName, weekOf } from '@soundings/contract/weeks.ts';
import { notApplicableIn } from '../answers/form.ts';
import { accountById, lockAccount } from '../accounts/accounts.ts';
import { Fault } from '../base/errors.ts';
import { type AccountId, inTransaction, openPool, type Pool, type Transaction } from '../db/db.ts';
import { defineLibrary } from '../questions/questions.ts';
import { selectKpis, selectQuestions } from '../questions/questions.sql.ts';
import { closeWeek, deleteClosedData } from '../results/close-week.ts';
import { computeStatistics } from '../results/statistics/statistics.ts';
import { answeringAddressOf, linksOfAll } from '../rounds/links.ts';
import { dayDue, endOf, sendTimeOf } from '../rounds/send-times.ts';
import { openDueRounds } from '../rounds/opening.ts';
import { ancestorsOf } from '../people/tree.ts';
import { lockSurvey, selectParents, selectRounds } from '../rounds/rounds.sql.ts';
import { createSchedule } from '../rounds/schedules.ts';
import { type NewSchedule, selectSchedules } from '../rounds/schedules.sql.ts';
import type { AnswerKeys } from '../sealing/answer-keys.ts';
import type { Character } from './sentiment.ts';
import { type AskedQuestion, type AskedRespondent, type Said, scriptsOf } from './script.ts';
import {
  selectRoundsOf,
  selectSimulatedGroups,
  selectSimulatedPeople,
  type SimulatedPerson,
} from './simulation.sql.ts';
import { visitAll } from './visits.ts';
import { anyCompany } from './any-company.ts';

/** Serves the answering pages on a free address. `now`: the clock, in ms since 1970. */
export type ServeAnswering = (
  pool: Pool,
  keys: AnswerKeys,
  now: () => number,
) => Promise<{ address: string; close(): Promise<void> }>;

/**
 * Returns the connection pool of a simulation. Commits do not wait for the disk, because weeks that are lost in a power failure can
 * be simulated again.
 */
export const openSimulationPool = (databaseUrl: string): Pool =>
  openPool(databaseUrl, 8, { settings: { synchronous_commit: 'off' } });

export type Simulation = {
  /** The number of weeks to simulate, up to last week. */
  weeks: number;
  /** A whole number. The same seed, people and questions give the same answers and figures. */
  seed: number;
  /** The share of the people asked who answer, from 0 to 1. */
  rate: number;
  /** The current time, in ms since 1970. */
  now: number;
  serve: ServeAnswering;
  /** How people feel and what they write. Default: a company without any particular character. */
  character?: Character;
  /** Called before each week opens, for example to change the organization. */
  before?: (week: Week) => Promise<void>;
  /** Called after each week with the final answers of each person. */
  onAnswers?: (week: Week, answers: { person: string; answers: Said[] }[]) => void;
};

/** The number of people asked and of those who answered in a week, and of the figures that were published. */
export type SimulatedWeek = { week: Week; asked: number; answered: number; published: number };

export type Simulated = {
  weeks: SimulatedWeek[];
  /** The weekly pulse that was created because the account had no schedule. It stays active after the simulation. */
  pulse: { scheduleId: number; perWeek: number; hasNewLibrary: boolean } | undefined;
};

/**
 * Simulates the last weeks of an account. Each week is closed in a separate transaction: if the process is killed, the weeks so far
 * stay, and the service closes the week that was open. The pool needs four connections. Throws a Fault if questions have already been
 * asked in one of the weeks, no one is in a group, or no schedule is due.
 */
export async function simulate(
  pool: Pool,
  keys: AnswerKeys,
  accountId: AccountId,
  simulation: Simulation,
): Promise<Simulated> {
  const { now, serve } = simulation;
  const { timezone } = await accountById(pool, accountId);
  const weeks = weeksBefore(weekOf(dayIn(timezone, now)), simulation);
  await refuseAsked(pool, accountId, weeks);
  if ((await selectSimulatedPeople(pool, accountId)).length === 0) throw noOneToAsk;
  const pulse = await inTransaction(pool, (tx) => createPulse(tx, accountId, weeks[0] as Week));
  const schedules = await selectSchedules(pool, accountId);
  const isDue = (week: Week) =>
    schedules.some((one) => one.pausedAt === null && dayDue(one, week) !== undefined);
  if (!weeks.some(isDue)) throw nothingDue;
  let clock = now;
  const pages = await serve(pool, keys, () => clock);
  const simulated: SimulatedWeek[] = [];
  try {
    for (const week of weeks) {
      const setClock = (time: number) => (clock = time);
      const context = { pool, keys, accountId, timezone, simulation, address: pages.address, setClock };
      simulated.push(await inTransaction(pool, (tx) => simulateWeek(tx, context, week)));
    }
  } finally {
    await pages.close();
    await deleteClosedData(pool, keys);
  }
  await computeStatistics(pool, accountId);
  return { weeks: simulated, pulse };
}

function weeksBefore(present: Week, { weeks, seed, rate }: Simulation): Week[] {
  const wrong = (message: string) => new Fault('invalid', 'invalid value', message);
  if (!Number.isInteger(weeks) || weeks < 1 || weeks > 520) throw wrong('Simulate 1 to 520 weeks.');
  if (!Number.isSafeInteger(seed)) throw wrong('The seed must be a whole number.');
  if (!(rate >= 0 && rate <= 1)) throw wrong('The rate must be a number from 0 to 1, such as 0.7.');
  return Array.from({ length: weeks }, (_, i) => addWeeks(present, i - weeks));
}

/** Throws a Fault if questions have already been asked in one of the weeks: published figures never change (P1). */
async function refuseAsked(pool: Pool, accountId: AccountId, weeks: Week[]): Promise<void> {
  const asked = new Set((await selectRounds(pool, accountId)).map(({ week }) => week));
  const last = weeks.findLastIndex((week) => asked.has(week));
  if (last < 0) return;
  const free = weeks.length - last - 1;
  const remedy = free > 0 ? `Simulate only the weeks after it (--weeks ${free}), or use` : 'Use';
  const message = `Questions were already asked in week ${weekName(weeks[last] as Week)}. ${remedy} another account.`;
  throw notPossible(message);
}

const notPossible = (message: string) => new Fault('conflict', 'simulation not possible', message);
const noOneToAsk = notPossible(
  'No active user of the account is a member of a group, so there is no one to ask. Push the organization first.',
);
const nothingDue = notPossible(
  'No schedule of the account is due in these weeks, or all are paused. Create one that starts early enough, or remove all schedules to get a weekly pulse.',
);

/** The number of weeks after which the pulse asks a question again. */
const roundWeeks = 8;

/**
 * Creates a weekly pulse that asks everyone about all KPIs, if the account has no schedules, and adds the question library, if it has
 * no questions.
 */
async function createPulse(tx: Transaction, accountId: AccountId, first: Week): Promise<Simulated['pulse']> {
  await lockAccount(tx, accountId);
  if ((await selectSchedules(tx, accountId)).length > 0) return undefined;
  const { language } = await accountById(tx, accountId);
  const hasNewLibrary = (await selectQuestions(tx, accountId)).length === 0;
  if (hasNewLibrary) await defineLibrary(tx, accountId, language);
  const retired = new Set(
    (await selectQuestions(tx, accountId)).filter(({ retiredAt }) => retiredAt !== null).map(({ id }) => id),
  );
  const kpis = await selectKpis(tx, accountId);
  const count = new Set(kpis.flatMap(({ questionIds }) => questionIds)).difference(retired).size;
  if (count === 0) {
    const message =
      'The account has no schedule, and no KPI to choose questions from. Create a schedule first.';
    throw notPossible(message);
  }
  const groups = await selectParents(tx, accountId);
  const topIds = [...groups].filter(([, parentId]) => parentId === null).map(([id]) => id);
  const perWeek = Math.ceil(count / roundWeeks);
  const kpiIds = kpis.map(({ id }) => id);
  const scheduleId = await createSchedule(
    tx,
    accountId,
    pulseOf({ groupIds: topIds, kpiIds, perWeek }, first),
  );
  return { scheduleId, perWeek, hasNewLibrary };
}

/** Returns a pulse on Mondays at 9:00, starting in the week `first`, that asks each question again after eight weeks. */
export const pulseOf = (
  own: Pick<NewSchedule, 'groupIds' | 'kpiIds' | 'perWeek'>,
  first: Week,
): NewSchedule => ({
  name: 'Weekly pulse',
  questionIds: [],
  everyWeeks: roundWeeks,
  withoutGroupIds: [],
  byDate: null,
  repeat: 'weeks',
  repeatWeeks: 1,
  weekday: 1,
  hour: 9,
  anyHour: false,
  reminderDays: 2,
  reminderHour: 9,
  fromDay: first,
  untilDay: null,
  ...own,
});

type SimulationContext = {
  pool: Pool;
  keys: AnswerKeys;
  accountId: AccountId;
  timezone: string;
  simulation: Simulation;
  address: string;
  setClock: (time: number) => void;
};

/**
 * Opens a week, answers it, and closes it. `tx` keeps the account locked the whole time. Otherwise a service that runs on the same
 * database would close the week immediately, because it ended long ago.
 */
async function simulateWeek(tx: Transaction, context: SimulationContext, week: Week): Promise<SimulatedWeek> {
  const { pool, keys, accountId, simulation, address, setClock } = context;
  await lockSurvey(tx, accountId);
  await simulation.before?.(week);
  const people = await selectSimulatedPeople(pool, accountId);
  const { due, dueForAll } = await dueTimesIn(context, people, week);
  let isOpened = false;
  for (const time of due) {
    setClock(time);
    const opened = await openDueRounds(pool, keys, time, { accountId, isSimulated: true });
    isOpened ||= opened.some(({ outcome }) => outcome === 'opened');
  }
  if (!isOpened) return { week, asked: 0, answered: 0, published: 0 };
  setClock(dueForAll);
  const links = await linksOfAll(pool, accountId, week);
  const linkOf = new Map(links.map(({ userId, link }) => [userId, answeringAddressOf(link, address)]));
  const asked = await askedIn(
    pool,
    accountId,
    week,
    people.filter(({ userId }) => linkOf.has(userId)),
  );
  const { seed, rate, character = anyCompany } = simulation;
  const scripts = scriptsOf({ seed, rate, character }, week, asked);
  const visitors = asked.flatMap(({ userId, person }, i) => {
    const visits = scripts[i] ?? [];
    return visits.length > 0 ? [{ person, page: linkOf.get(userId) as string, visits }] : [];
  });
  const kept = await visitAll(visitors);
  const published = (await closeWeek(tx, keys, accountId, week)) ?? 0;
  simulation.onAnswers?.(
    week,
    visitors
      .filter((_, i) => kept[i])
      .map(({ person, visits }) => ({
        person,
        answers: finalAnswers(visits.flatMap(({ answers }) => answers)),
      })),
  );
  return { week, asked: links.length, answered: kept.filter(Boolean).length, published };
}

/** Returns the last answer to each question. */
const finalAnswers = (answers: Said[]): Said[] => [
  ...new Map(answers.map((answer) => [answer.questionId, answer])).values(),
];

/**
 * Returns when schedules are due in a week in the account's time zone, which is when they are opened here, and the first time at
 * which they are due in every person's time zone, which is when people answer. In ms since 1970.
 */
async function dueTimesIn(
  { pool, accountId, timezone }: SimulationContext,
  people: SimulatedPerson[],
  week: Week,
): Promise<{ due: number[]; dueForAll: number }> {
  const zones = new Set([timezone, ...people.flatMap((one) => one.timezone ?? [])]);
  const schedules = (await selectSchedules(pool, accountId)).filter(({ pausedAt }) => pausedAt === null);
  const dueTimesFor = (zone: string) =>
    schedules.flatMap((one) => {
      const day = dayDue(one, week);
      return day === undefined ? [] : [sendTimeOf(day, one.hour, zone)];
    });
  const due = [...new Set(dueTimesFor(timezone))].toSorted((a, b) => a - b);
  const latest = Math.max(...[...zones].flatMap(dueTimesFor));
  return { due, dueForAll: Math.min(latest, endOf(week, timezone) - 1) };
}

/** Returns what each person was asked when the week opened. */
async function askedIn(
  pool: Pool,
  accountId: AccountId,
  week: Week,
  people: SimulatedPerson[],
): Promise<(AskedRespondent & { userId: number })[]> {
  const [rounds, groups, questions, kpis] = await Promise.all([
    selectRoundsOf(pool, accountId, week),
    selectSimulatedGroups(pool, accountId),
    selectQuestions(pool, accountId),
    selectKpis(pool, accountId),
  ]);
  const nameOf = new Map(groups.map(({ id, name }) => [id, name]));
  const parents = new Map(groups.map(({ id, parentId }) => [id, parentId]));
  const topicOf = new Map(kpis.flatMap(({ id, questionIds }) => questionIds.map((one) => [one, id])));
  const questionOf = new Map(
    questions.map((question): [number, AskedQuestion] => {
      const { id, key, type, allowsNotApplicable } = question;
      const options = question.options.map((option) => option.id);
      const notApplicable = allowsNotApplicable ? notApplicableIn(question) : undefined;
      return [id, { id, key, type, options, topic: topicOf.get(id), notApplicable }];
    }),
  );
  return people.map(({ userId, person, language, memberOf }) => {
    const paths = memberOf.map((id) => ancestorsOf(id, parents));
    const within = new Set(paths.flat());
    const ids = rounds
      .filter((one) => within.has(one.groupId) && !one.withoutGroupIds.some((id) => within.has(id)))
      .flatMap(({ questionIds }) => questionIds);
    return {
      userId,
      person,
      language,
      groups: paths.map((path) => path.map((id) => nameOf.get(id) as string)),
      questions: [...new Set(ids)].map((id) => questionOf.get(id) as AskedQuestion),
    };
  });
}
