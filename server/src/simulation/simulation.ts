// Simulates weeks that have passed, for demos, trials and training: each is opened, answered over HTTP and closed by the
// very code that does it for people, as of its own time. Nobody is written to.
import { addWeeks, dayIn, type Week, weekName, weekOf } from '@soundings/contract/weeks.ts';
import { accountById, lockAccount } from '../accounts/accounts.ts';
import { Fault } from '../base/errors.ts';
import { type AccountId, inTransaction, openPool, type Pool, type Transaction } from '../db/db.ts';
import { defineLibrary, selectKpis, selectQuestions } from '../questions/questions.ts';
import { closeWeek, deleteClosedData } from '../results/close-week.ts';
import { addressOf, linksOfAll } from '../rounds/links.ts';
import { dayDue, endOf, sendTimeOf } from '../rounds/send-times.ts';
import { openDueRounds } from '../rounds/opening.ts';
import { ancestorsOf } from '../people/tree.ts';
import { lockSurvey, selectParents, selectRounds } from '../rounds/rounds.ts';
import { createSchedule, type NewSchedule, selectSchedules } from '../rounds/schedules.ts';
import type { AnswerKeys } from '../sealing/answer-keys.ts';
import type { Character } from './sentiment.ts';
import { type Asked, type AskedQuestion, type Said, scriptsOf } from './script.ts';
import { type PersonRow, selectGroups, selectPeople, selectRoundsOf } from './simulation.sql.ts';
import { visitAll } from './visits.ts';
import { anyCompany } from './any-company.ts';

/** Serves the answering pages by a clock, in ms, on an address that is free. */
export type ServeAnswering = (
  pool: Pool,
  keys: AnswerKeys,
  now: () => number,
) => Promise<{ address: string; close(): Promise<void> }>;

/**
 * The connections of a simulation. Commits do not wait for the disk: what is lost with the power of the machine can be
 * simulated again.
 */
export const openSimulationPool = (databaseUrl: string): Pool =>
  openPool(databaseUrl, 8, { settings: { synchronous_commit: 'off' } });

export type Simulation = {
  /** How many weeks: those before the present one. */
  weeks: number;
  /** A whole number: the same seed, people and questions give the same answers, and the same figures. */
  seed: number;
  /** The share of those asked who answer, from 0 to 1. */
  rate: number;
  /** The present, in ms. */
  now: number;
  serve: ServeAnswering;
  /** Default: a company of which nothing is known. */
  character?: Character;
  /** What happens in the company before a week is opened. */
  before?: (week: Week) => Promise<void>;
  /** Hears what each person's answers are in the end, those of one week after another. */
  onAnswers?: (week: Week, answers: { person: string; answers: Said[] }[]) => void;
};

/** What came of a week: how many were asked, how many of them have answered, and how many figures were published. */
export type SimulatedWeek = { week: Week; asked: number; answered: number; published: number };

export type Simulated = {
  weeks: SimulatedWeek[];
  /** The weekly pulse that was made because the account had no schedule; it goes on in the present. */
  pulse: { scheduleId: number; perWeek: number; hasNewLibrary: boolean } | undefined;
};

/**
 * Simulates the last weeks of an account, each in a transaction of its own that also closes it: what is done when the
 * process is killed is done, and a week that was open then is closed by the service. The pool needs four connections.
 * Throws a Fault when one of the weeks was asked already, nobody is in a group, or no schedule is due.
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
  if ((await selectPeople(pool, accountId)).length === 0) throw nobodyToAsk;
  const pulse = await inTransaction(pool, (tx) => makePulse(tx, accountId, weeks[0] as Week));
  const schedules = await selectSchedules(pool, accountId);
  const isDue = (week: Week) =>
    schedules.some((one) => one.pausedAt === null && dayDue(one, week) !== undefined);
  if (!weeks.some(isDue)) throw nothingDue;
  let clock = now;
  const pages = await serve(pool, keys, () => clock);
  const simulated: SimulatedWeek[] = [];
  try {
    for (const week of weeks) {
      const setClock = (moment: number) => (clock = moment);
      const means = { pool, keys, accountId, timezone, simulation, address: pages.address, setClock };
      // oxlint-disable-next-line no-await-in-loop -- one after another
      simulated.push(await inTransaction(pool, (tx) => simulateWeek(tx, means, week)));
    }
  } finally {
    await pages.close();
    await deleteClosedData(pool, keys);
  }
  return { weeks: simulated, pulse };
}

function weeksBefore(present: Week, { weeks, seed, rate }: Simulation): Week[] {
  const wrong = (message: string) => new Fault('invalid', 'invalid value', message);
  if (!Number.isInteger(weeks) || weeks < 1 || weeks > 520) throw wrong('Simulate 1 to 520 weeks.');
  if (!Number.isSafeInteger(seed)) throw wrong('The seed is a whole number.');
  if (!(rate >= 0 && rate <= 1)) throw wrong('The rate is a number from 0 to 1, such as 0.7.');
  return Array.from({ length: weeks }, (_, i) => addWeeks(present, i - weeks));
}

/** What was asked in a week is never asked again (P1). */
async function refuseAsked(pool: Pool, accountId: AccountId, weeks: Week[]): Promise<void> {
  const asked = new Set((await selectRounds(pool, accountId)).map(({ week }) => week));
  const last = weeks.findLastIndex((week) => asked.has(week));
  if (last < 0) return;
  const free = weeks.length - last - 1;
  const remedy = free > 0 ? `Simulate the ${free} after it (--weeks ${free}), or` : 'Simulate';
  const message = `The account was asked in the week ${weekName(weeks[last] as Week)} already. ${remedy} another account.`;
  throw new Fault('conflict', 'invalid value', message);
}

const nobodyToAsk = new Fault(
  'conflict',
  'invalid value',
  'No active user of the account is a member of a group: there is no one to ask. Push the organization first.',
);
const nothingDue = new Fault(
  'conflict',
  'invalid value',
  'No schedule of the account is due in these weeks, or all are paused. Make one that begins early enough, or remove all of them: then a weekly pulse is made.',
);

/** After so many weeks a question of the pulse comes again. */
const roundWeeks = 8;

/** Gives an account without schedules a weekly pulse of all its KPIs for everybody, and the library if it has no questions. */
async function makePulse(tx: Transaction, accountId: AccountId, first: Week): Promise<Simulated['pulse']> {
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
      'The account has no schedule, and no KPI that one could choose from. Make a schedule first.';
    throw new Fault('conflict', 'invalid value', message);
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

/** A pulse on Mondays at 9, from a week on, of which each question comes again after eight weeks. */
export const pulseOf = (
  own: Pick<NewSchedule, 'groupIds' | 'kpiIds' | 'perWeek'>,
  first: Week,
): NewSchedule => ({
  name: 'Weekly pulse',
  questionIds: [],
  everyWeeks: roundWeeks,
  withoutGroupIds: [],
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

type Means = {
  pool: Pool;
  keys: AnswerKeys;
  accountId: AccountId;
  timezone: string;
  simulation: Simulation;
  address: string;
  setClock: (moment: number) => void;
};

/**
 * Opens a week, has it answered, and closes it. All the while `tx` holds the account's lock: a service that runs beside us
 * would close the week at once, for it has long ended.
 */
async function simulateWeek(tx: Transaction, means: Means, week: Week): Promise<SimulatedWeek> {
  const { pool, keys, accountId, simulation, address, setClock } = means;
  await lockSurvey(tx, accountId);
  await simulation.before?.(week);
  const people = await selectPeople(pool, accountId);
  const { due, dueForAll } = await momentsIn(means, people, week);
  let isOpened = false;
  for (const moment of due) {
    setClock(moment);
    // oxlint-disable-next-line no-await-in-loop -- one after another, as time goes
    const opened = await openDueRounds(pool, keys, moment, { accountId, isSimulated: true });
    isOpened ||= opened.some(({ outcome }) => outcome === 'opened');
  }
  if (!isOpened) return { week, asked: 0, answered: 0, published: 0 };
  setClock(dueForAll);
  const links = await linksOfAll(pool, accountId, week);
  const linkOf = new Map(links.map(({ userId, link }) => [userId, addressOf(link, address)]));
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
      .map(({ person, visits }) => ({ person, answers: inTheEnd(visits.flatMap(({ answers }) => answers)) })),
  );
  return { week, asked: links.length, answered: kept.filter(Boolean).length, published };
}

/** The last answer to each question. */
const inTheEnd = (answers: Said[]): Said[] => [
  ...new Map(answers.map((answer) => [answer.questionId, answer])).values(),
];

/**
 * When schedules are due in a week by the account's time zone, which is when they are opened here, and the first moment
 * at which everybody's hour has come, at which they answer; in ms.
 */
async function momentsIn(
  { pool, accountId, timezone }: Means,
  people: PersonRow[],
  week: Week,
): Promise<{ due: number[]; dueForAll: number }> {
  const zones = new Set([timezone, ...people.flatMap((one) => one.timezone ?? [])]);
  const schedules = (await selectSchedules(pool, accountId)).filter(({ pausedAt }) => pausedAt === null);
  const momentsFor = (zone: string) =>
    schedules.flatMap((one) => {
      const day = dayDue(one, week);
      return day === undefined ? [] : [sendTimeOf(day, one.hour, zone)];
    });
  const due = [...new Set(momentsFor(timezone))].toSorted((a, b) => a - b);
  const latest = Math.max(...[...zones].flatMap(momentsFor));
  return { due, dueForAll: Math.min(latest, endOf(week, timezone) - 1) };
}

/** What people are asked in a week, as opening has fixed it. */
async function askedIn(
  pool: Pool,
  accountId: AccountId,
  week: Week,
  people: PersonRow[],
): Promise<(Asked & { userId: number })[]> {
  const [rounds, groups, questions, kpis] = await Promise.all([
    selectRoundsOf(pool, accountId, week),
    selectGroups(pool, accountId),
    selectQuestions(pool, accountId),
    selectKpis(pool, accountId),
  ]);
  const nameOf = new Map(groups.map(({ id, name }) => [id, name]));
  const parents = new Map(groups.map(({ id, parentId }) => [id, parentId]));
  const topicOf = new Map(kpis.flatMap(({ id, questionIds }) => questionIds.map((one) => [one, id])));
  const questionOf = new Map(
    questions.map(({ id, key, type, options }): [number, AskedQuestion] => [
      id,
      { id, key, type, options: options.map((option) => option.id), topic: topicOf.get(id) },
    ]),
  );
  return people.map(({ userId, person, language, memberOf }) => {
    const ways = memberOf.map((id) => ancestorsOf(id, parents));
    const within = new Set(ways.flat());
    const ids = rounds
      .filter((one) => within.has(one.groupId) && !one.withoutGroupIds.some((id) => within.has(id)))
      .flatMap(({ questionIds }) => questionIds);
    return {
      userId,
      person,
      language,
      groups: ways.map((way) => way.map((id) => nameOf.get(id) as string)),
      questions: [...new Set(ids)].map((id) => questionOf.get(id) as AskedQuestion),
    };
  });
}
