// Schedules: what is asked of whom, how often and when. Made and changed here; opening.ts opens their rounds.
import { maxNameLength } from '@soundings/contract/limits.ts';
import type { Detail, DetailType } from '@soundings/contract/problem.ts';
import { isDay, type Week, weekOf } from '@soundings/contract/weeks.ts';
import { lockAccount } from '../accounts/accounts.ts';
import { Fault } from '../base/errors.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';
import { kpisOf, type Question, questionsOf } from '../questions/questions.ts';
import { classesOf } from '../questions/same-words.ts';
import { type Choice, chooseQuestions } from './choose.ts';
import { dayDue, weeksDue, workingHours } from './moments.ts';
import { wayUp } from '../people/tree.ts';
import { parentsOf } from './rounds.ts';
import {
  deleteSchedule,
  insertSchedule,
  type NewSchedule,
  type ScheduleRow,
  type ScheduleWeek,
  selectAllScheduleWeeks,
  selectAudiences,
  selectSchedules,
  selectScheduleWeeks,
  updatePaused,
  updateSchedule,
} from './schedules.sql.ts';

export type Schedule = ScheduleRow;
export type { NewSchedule, ScheduleWeek };

export { selectSchedules as schedulesOf, selectScheduleWeeks as scheduleWeeksOf };

/** Makes a schedule and returns its id. Throws a Fault that lists all that is wrong with it. */
export async function createSchedule(
  tx: Transaction,
  accountId: AccountId,
  schedule: NewSchedule,
): Promise<number> {
  await lockAccount(tx, accountId);
  await refuseFaults(tx, accountId, schedule);
  return insertSchedule(tx, accountId, schedule);
}

/** Everything that is wrong with a schedule, by itself and in its account. */
export async function scheduleFaults(db: Db, accountId: AccountId, schedule: NewSchedule): Promise<Detail[]> {
  return [...faultsOf(schedule), ...(await unknownIn(db, accountId, schedule))];
}

async function refuseFaults(tx: Transaction, accountId: AccountId, schedule: NewSchedule): Promise<void> {
  const details = await scheduleFaults(tx, accountId, schedule);
  const [first] = details;
  if (first) throw new Fault('invalid', first.type as DetailType, first.message, { details });
}

/**
 * Changes a schedule: what it has opened goes on as it was. Throws a Fault that lists all that is wrong with it, or when
 * there is none.
 */
export async function changeSchedule(
  tx: Transaction,
  accountId: AccountId,
  scheduleId: number,
  schedule: NewSchedule,
): Promise<void> {
  await lockAccount(tx, accountId);
  await scheduleById(tx, accountId, scheduleId);
  await refuseFaults(tx, accountId, schedule);
  await updateSchedule(tx, accountId, scheduleId, schedule);
}

/** A schedule of the account. Throws a Fault when there is none. */
export async function scheduleById(db: Db, accountId: AccountId, scheduleId: number): Promise<Schedule> {
  const schedule = (await selectSchedules(db, accountId)).find(({ id }) => id === scheduleId);
  if (!schedule) throw scheduleNotFound(scheduleId);
  return schedule;
}

/** A schedule that is paused opens nothing; what it has opened goes on. */
export async function pauseSchedule(
  tx: Transaction,
  accountId: AccountId,
  scheduleId: number,
  isPaused: boolean,
): Promise<void> {
  if (!(await updatePaused(tx, accountId, scheduleId, isPaused))) throw scheduleNotFound(scheduleId);
}

/** Removes a schedule. What it has opened goes on. */
export async function removeSchedule(
  tx: Transaction,
  accountId: AccountId,
  scheduleId: number,
): Promise<void> {
  if (!(await deleteSchedule(tx, accountId, scheduleId))) throw scheduleNotFound(scheduleId);
}

function scheduleNotFound(scheduleId: number): Fault {
  return new Fault('not_found', 'schedule not found', `There is no schedule ${scheduleId}.`);
}

/** What a schedule will ask: its next weeks, with day and questions, as things are now. */
export type CalendarEntry = { week: Week; day: string; questionIds: number[] };

/** The next `count` weeks of a schedule from the week of `today` on; those that it has opened or missed are left out. */
export async function calendarOf(
  db: Db,
  schedule: Schedule,
  today: string,
  count: number,
): Promise<CalendarEntry[]> {
  const past = await selectScheduleWeeks(db, schedule.accountId, schedule.id);
  return calendarAfter(past, schedule, await choiceOf(db, schedule), { today, count });
}

/** What schedules have asked, and what they will ask in their next `count` weeks: with as many statements for all as for one. */
export async function calendarsOf(
  db: Db,
  accountId: AccountId,
  schedules: Schedule[],
  { today, count }: { today: string; count: number },
): Promise<Map<number, { past: ScheduleWeek[]; coming: CalendarEntry[] }>> {
  const library = await libraryOf(db, accountId);
  const pasts = Map.groupBy(await selectAllScheduleWeeks(db, accountId), ({ scheduleId }) => scheduleId);
  return new Map(
    schedules.map((schedule) => {
      const past = pasts.get(schedule.id) ?? [];
      const coming = calendarAfter(past, schedule, choiceFrom(library, schedule), { today, count });
      return [schedule.id, { past, coming }];
    }),
  );
}

/** What a schedule that nobody has kept yet would ask. `past`: of the schedule whose place it would take. */
export async function calendarOfDraft(
  db: Db,
  accountId: AccountId,
  schedule: NewSchedule,
  { past, today, count }: { past: ScheduleWeek[]; today: string; count: number },
): Promise<CalendarEntry[]> {
  return calendarAfter(past, schedule, choiceFrom(await libraryOf(db, accountId), schedule), {
    today,
    count,
  });
}

function calendarAfter(
  past: ScheduleWeek[],
  schedule: NewSchedule,
  choice: Choice,
  { today, count }: { today: string; count: number },
): CalendarEntry[] {
  const settled = new Set(past.map(({ week }) => week));
  const asked = new Map(lastAsked(past));
  const weeks = weeksDue(schedule, weekOf(today), count + settled.size).filter((week) => !settled.has(week));
  return weeks.slice(0, count).map((week) => {
    const questionIds = chooseQuestions(choice, weeksSince(asked, week));
    for (const id of questionIds) asked.set(id, week);
    return { week, day: dayDue(schedule, week) as string, questionIds };
  });
}

/** Whom schedules would ask today, in their order: active people, and those of them who have an e-mail address. */
export async function audiencesOf(
  db: Db,
  accountId: AccountId,
  schedules: Pick<NewSchedule, 'groupIds' | 'withoutGroupIds'>[],
): Promise<{ people: number; withEmail: number }[]> {
  const parents = await parentsOf(db, accountId);
  const beneath = (ids: number[]) => {
    const wanted = new Set(ids);
    return [...parents.keys()].filter((id) => wayUp(id, parents).some((above) => wanted.has(above)));
  };
  return selectAudiences(
    db,
    accountId,
    schedules.map(({ groupIds, withoutGroupIds }) => ({
      groupIds: beneath(groupIds),
      withoutGroupIds: beneath(withoutGroupIds),
    })),
  );
}

/** The questions that a schedule asks in a week. */
export async function questionsFor(db: Db, schedule: Schedule, week: Week): Promise<number[]> {
  const weeks = await selectScheduleWeeks(db, schedule.accountId, schedule.id);
  const past = weeks.filter((one) => one.week < week);
  return chooseQuestions(await choiceOf(db, schedule), weeksSince(lastAsked(past), week));
}

function lastAsked(past: ScheduleWeek[]): Map<number, Week> {
  const asked = new Map<number, Week>();
  for (const { week, questionIds } of past.toSorted((a, b) => (a.week < b.week ? -1 : 1))) {
    for (const id of questionIds) asked.set(id, week);
  }
  return asked;
}

function weeksSince(asked: ReadonlyMap<number, Week>, week: Week): Map<number, number> {
  const ms = (other: Week) => Date.parse(week) - Date.parse(other);
  return new Map([...asked].map(([id, other]) => [id, Math.round(ms(other) / (7 * 86_400_000))]));
}

type Library = {
  live: ReadonlySet<number>;
  classes: ReadonlyMap<number, number>;
  kpis: ReadonlyMap<string, number[]>;
};

async function libraryOf(db: Db, accountId: AccountId): Promise<Library> {
  const [questions, kpis] = [await questionsOf(db, accountId), await kpisOf(db, accountId)];
  return {
    live: liveIds(questions),
    classes: classesOf(questions),
    kpis: new Map(kpis.map((kpi) => [kpi.id, kpi.questionIds])),
  };
}

async function choiceOf(db: Db, schedule: NewSchedule & { accountId: AccountId }): Promise<Choice> {
  return choiceFrom(await libraryOf(db, schedule.accountId), schedule);
}

/** What it may choose from: questions that are retired are asked no more. */
function choiceFrom({ live, classes, kpis }: Library, schedule: NewSchedule): Choice {
  const { questionIds, kpiIds, perWeek, everyWeeks } = schedule;
  if (questionIds.length > 0) return { classes, questionIds: questionIds.filter((id) => live.has(id)) };
  const pools = kpiIds.map((id) => (kpis.get(id) ?? []).filter((one) => live.has(one)));
  return { classes, pools, perWeek: perWeek as number, everyWeeks: everyWeeks as number };
}

const liveIds = (questions: Question[]) =>
  new Set(questions.filter(({ retiredAt }) => retiredAt === null).map(({ id }) => id));

const night = `Nobody is written to at night: choose an hour from ${workingHours.first} to ${workingHours.last}, or allow any hour.`;
const weekend =
  'Nobody is written to on a weekend: choose a weekday from 1 (Monday) to 5, or allow any hour.';

const within = (value: unknown, low: number, high: number) =>
  Number.isInteger(value) && (value as number) >= low && (value as number) <= high;
const isWorkingHour = (hour: number) => hour >= workingHours.first && hour <= workingHours.last;

type Need = (isRight: boolean, path: string, type: DetailType, message: string) => void;

/** What is wrong with a schedule by itself. */
function faultsOf(schedule: NewSchedule): Detail[] {
  const details: Detail[] = [];
  const need: Need = (isRight, path, type, message) => {
    if (!isRight) details.push({ type, message, path });
  };
  const { name, questionIds, kpiIds, perWeek, everyWeeks, groupIds, repeatWeeks, weekday, hour } = schedule;
  const { anyHour, fromDay, untilDay } = schedule;
  need(
    name.trim() !== '' && name.length <= maxNameLength,
    'name',
    name.trim() === '' ? 'missing name' : 'too long',
    `The name must have 1 to ${maxNameLength} characters.`,
  );
  need(
    questionIds.length > 0 !== kpiIds.length > 0,
    'questions',
    'nothing to ask',
    'A schedule has questions, or KPIs to choose from: one of the two.',
  );
  need(questionIds.length <= 50, 'questions', 'invalid question count', 'Ask at most 50 questions at once.');
  if (kpiIds.length > 0) {
    need(
      within(perWeek, 1, 50),
      'perWeek',
      'invalid question count',
      'Say how many questions it asks each time, from 1 to 50.',
    );
    need(
      within(everyWeeks, 1, 104),
      'everyWeeks',
      'invalid interval',
      'Say after how many weeks a question may come again: 1 to 104.',
    );
  }
  need(groupIds.length > 0, 'groups', 'no groups', 'Say which groups are asked.');
  need(within(repeatWeeks, 1, 52), 'repeat', 'invalid interval', 'It comes every 1 to 52 weeks.');
  need(within(weekday, 1, 7), 'weekday', 'out of range', 'The weekday is a number from 1 (Monday) to 7.');
  need(anyHour || weekday <= 5, 'weekday', 'on a weekend', weekend);
  need(within(hour, 0, 23), 'hour', 'out of range', 'The hour is a number from 0 to 23.');
  need(anyHour || isWorkingHour(hour), 'hour', 'at night', night);
  need(isDay(fromDay), 'from', 'invalid day', `${fromDay} is no day: write it as 2026-11-23.`);
  // What is computed of later ones would need weeks that no calendar has.
  need(
    fromDay < '3000',
    'from',
    'invalid day',
    `${fromDay} is too far ahead: write a day before the year 3000.`,
  );
  need(
    untilDay === null || isDay(untilDay),
    'until',
    'invalid day',
    `${untilDay} is no day: write it as 2026-11-23.`,
  );
  need(untilDay === null || untilDay >= fromDay, 'until', 'ends too early', 'It ends before it begins.');
  needReminder(schedule, need);
  return details;
}

function needReminder(schedule: NewSchedule, need: Need): void {
  const { weekday, hour, anyHour, reminderDays, reminderHour } = schedule;
  if (reminderDays === null) return;
  const isLater = within(reminderDays, 0, 6) && (reminderDays > 0 || (reminderHour as number) > hour);
  need(
    isLater,
    'reminder',
    'invalid reminder',
    'The reminder comes after the first message, and at most six days later.',
  );
  need(
    weekday + reminderDays <= 7,
    'reminder',
    'invalid reminder',
    'The reminder must come in the same week, by Sunday.',
  );
  need(
    anyHour || weekday + reminderDays <= 5 || weekday + reminderDays > 7,
    'reminder',
    'on a weekend',
    weekend,
  );
  need(
    within(reminderHour, 0, 23) && (anyHour || isWorkingHour(reminderHour as number)),
    'reminder',
    'at night',
    night,
  );
}

/** Questions that would count as one (privacy.md P17). */
const sameWords = (questionIds: number[], classes: ReadonlyMap<number, number>): Detail[] =>
  questionIds.flatMap((id, i) => {
    const other = questionIds.slice(0, i).find((one) => one !== id && classes.get(one) === classes.get(id));
    const message = `Questions ${other} and ${id} have the same words. They count as one question: ask one of them.`;
    return other === undefined || !classes.has(id)
      ? []
      : [{ type: 'same words', message, path: 'questions' }];
  });

/** Groups, questions and KPIs that there are not, and more questions than come round in time. */
async function unknownIn(db: Db, accountId: AccountId, schedule: NewSchedule): Promise<Detail[]> {
  const { groupIds, withoutGroupIds, questionIds, kpiIds, perWeek, everyWeeks, repeat, repeatWeeks } =
    schedule;
  const groups = await parentsOf(db, accountId);
  const all = await questionsOf(db, accountId);
  const questions = liveIds(all);
  const kpis = new Set((await kpisOf(db, accountId)).map(({ id }) => id));
  const unknown = (
    what: 'group' | 'KPI',
    path: string,
    ids: (number | string)[],
    present: { has(id: unknown): boolean },
  ) =>
    ids
      .filter((id) => !present.has(id))
      .map((id) => ({
        type: what === 'group' ? 'group not found' : 'kpi not found',
        message: `There is no ${what} ${id}.`,
        path,
      }));
  const details = [
    ...unknown('group', 'groups', groupIds, groups as ReadonlyMap<unknown, unknown>),
    ...unknown('group', 'without', withoutGroupIds, groups as ReadonlyMap<unknown, unknown>),
    ...questionIds
      .filter((id) => !questions.has(id))
      .map((id) => ({
        type: 'question retired',
        message: `There is no question ${id} that is asked: it may be retired.`,
        path: 'questions',
      })),
    ...sameWords(questionIds, classesOf(all)),
    ...unknown('KPI', 'kpis', kpiIds, kpis as ReadonlySet<unknown>),
  ];
  const isOut = (id: number) => wayUp(id, groups).some((above) => withoutGroupIds.includes(above));
  if (details.length === 0 && groupIds.length > 0 && groupIds.every(isOut)) {
    details.push({
      type: 'nobody to ask',
      message: 'It would ask nobody: all of its groups are left out.',
      path: 'without',
    });
  }
  if (details.length > 0 || kpiIds.length === 0 || repeat === 'once') return details;
  const { pools } = (await choiceOf(db, { ...schedule, accountId })) as { pools: number[][] };
  const count = new Set(pools.flat()).size;
  const times = Math.max(1, Math.floor((everyWeeks as number) / (repeat === 'weeks' ? repeatWeeks : 4)));
  const needed = Math.ceil(count / times);
  if (needed <= (perWeek as number)) return [];
  const message =
    `These KPIs have ${count} questions: to come round every ${everyWeeks} weeks they must be ${needed} at a time, ` +
    `not ${perWeek}.`;
  return [{ type: 'too few at a time', message, path: 'perWeek' }];
}
