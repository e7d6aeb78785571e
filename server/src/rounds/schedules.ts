// Schedules: which questions are asked, which groups are asked, how often and when. This file creates, checks and
// changes them; opening.ts opens their rounds.
import { workingHours } from '@soundings/contract/limits.ts';
import type { Detail, DetailType } from '@soundings/contract/problem.ts';
import { accountById, lockAccount } from '../accounts/accounts.ts';
import { raiseVersion } from '../accounts/accounts.sql.ts';
import { Fault } from '../base/errors.ts';
import { dayFault, nameFault, type FieldFault } from '../base/field-faults.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';
import { selectKpis, selectQuestions } from '../questions/questions.sql.ts';
import { classesOf } from '../questions/similar-wording.ts';
import { attributesOf } from '../people/attributes.changes.ts';
import { dateFaults } from './by-date/date-faults.ts';
import { datesDue } from './by-date/due-days.ts';
import { askedSince } from './by-date/due.sql.ts';
import { activeIds, choiceOf } from './calendar.ts';
import { ancestorsOf } from '../people/tree.ts';
import { selectParents } from './rounds.sql.ts';
import {
  deleteSchedule,
  insertSchedule,
  type NewSchedule,
  type Schedule,
  selectAudiences,
  selectSchedules,
  updatePaused,
  updateSchedule,
} from './schedules.sql.ts';

/** Creates a schedule and returns its id. Throws a Fault that lists everything that is wrong with it. */
export async function createSchedule(
  tx: Transaction,
  accountId: AccountId,
  schedule: NewSchedule,
): Promise<number> {
  await lockAccount(tx, accountId);
  await refuseFaults(tx, accountId, schedule);
  const id = await insertSchedule(tx, accountId, schedule);
  await raiseVersion(tx, accountId); // how many weeks a rolling value covers depends on the schedules
  return id;
}

/** Returns everything that is wrong with a schedule, including references to groups, questions and KPIs that don't exist. */
export async function scheduleFaults(db: Db, accountId: AccountId, schedule: NewSchedule): Promise<Detail[]> {
  const { byDate } = schedule;
  const ofDate = byDate
    ? dateFaults(byDate, schedule, {
        attributes: await attributesOf(db, accountId),
        threshold: (await accountById(db, accountId)).threshold,
      })
    : [];
  return [...faultsOf(schedule), ...ofDate, ...(await referenceFaults(db, accountId, schedule))];
}

async function refuseFaults(tx: Transaction, accountId: AccountId, schedule: NewSchedule): Promise<void> {
  const details = await scheduleFaults(tx, accountId, schedule);
  const [first] = details;
  if (first) throw new Fault('invalid', first.type as DetailType, first.message, { details });
}

/**
 * Changes a schedule. Rounds that it has already opened continue unchanged. Throws a Fault that lists everything that is wrong
 * with the schedule, or if it does not exist.
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
  await raiseVersion(tx, accountId);
}

/** Returns a schedule of the account. Throws a Fault if it does not exist. */
export async function scheduleById(db: Db, accountId: AccountId, scheduleId: number): Promise<Schedule> {
  const schedule = (await selectSchedules(db, accountId)).find(({ id }) => id === scheduleId);
  if (!schedule) throw scheduleNotFound(scheduleId);
  return schedule;
}

/** Pauses or resumes a schedule. A paused schedule opens no rounds; those that it has already opened continue. */
export async function pauseSchedule(
  tx: Transaction,
  accountId: AccountId,
  scheduleId: number,
  isPaused: boolean,
): Promise<void> {
  await lockAccount(tx, accountId);
  if (!(await updatePaused(tx, accountId, scheduleId, isPaused))) throw scheduleNotFound(scheduleId);
  await raiseVersion(tx, accountId);
}

/** Deletes a schedule. Rounds that it has already opened continue. */
export async function removeSchedule(
  tx: Transaction,
  accountId: AccountId,
  scheduleId: number,
): Promise<void> {
  await lockAccount(tx, accountId);
  if (!(await deleteSchedule(tx, accountId, scheduleId))) throw scheduleNotFound(scheduleId);
  await raiseVersion(tx, accountId);
}

/** Returns the Fault for a schedule that does not exist. */
export function scheduleNotFound(scheduleId: number): Fault {
  return new Fault('not_found', 'schedule not found', `Schedule ${scheduleId} does not exist.`);
}

/**
 * Returns how many active people each schedule would ask today, and how many of them get messages, in the given order. For a
 * schedule that chooses people by a date, these are all who are waiting, even if they are too few.
 */
export async function audiencesOf(
  db: Db,
  accountId: AccountId,
  schedules: (Pick<NewSchedule, 'groupIds' | 'withoutGroupIds' | 'byDate'> & { id?: number })[],
  today: string,
): Promise<{ people: number; reachable: number }[]> {
  const parents = await selectParents(db, accountId);
  const withDescendants = (ids: number[]) => {
    const wanted = new Set(ids);
    return [...parents.keys()].filter((id) =>
      ancestorsOf(id, parents).some((ancestor) => wanted.has(ancestor)),
    );
  };
  return selectAudiences(
    db,
    accountId,
    schedules.map(({ groupIds, withoutGroupIds, byDate, id: scheduleId = null }) => ({
      groupIds: withDescendants(groupIds),
      withoutGroupIds: withDescendants(withoutGroupIds),
      due: byDate && {
        scheduleId,
        attribute: byDate.attribute,
        ...datesDue(byDate, today),
        askedSince: askedSince(today),
      },
    })),
  );
}

const night = `Messages are not sent at night. Choose an hour from ${workingHours.first} to ${workingHours.last}, or allow any hour.`;
const weekend =
  'Messages are not sent on weekends. Choose a weekday from 1 (Monday) to 5 (Friday), or allow any hour.';

const within = (value: unknown, low: number, high: number) =>
  Number.isInteger(value) && (value as number) >= low && (value as number) <= high;
const isWorkingHour = (hour: number) => hour >= workingHours.first && hour <= workingHours.last;

type CheckField = (fault: FieldFault | undefined, path: string) => void;
type Check = (isValid: boolean, path: string, type: DetailType, message: string) => void;

/** Returns what is wrong with a schedule, apart from references to groups, questions and KPIs that don't exist. */
function faultsOf(schedule: NewSchedule): Detail[] {
  const details: Detail[] = [];
  const check: Check = (isValid, path, type, message) => {
    if (!isValid) details.push({ type, message, path });
  };
  const checkField: CheckField = (fault, path) => {
    if (fault) details.push({ ...fault, path });
  };
  const { name, questionIds, kpiIds, perWeek, everyWeeks, groupIds, repeatWeeks, weekday, hour } = schedule;
  const { anyHour } = schedule;
  checkField(nameFault('name', name), 'name');
  check(
    questionIds.length > 0 !== kpiIds.length > 0,
    'questions',
    'nothing to ask',
    'A schedule needs either questions or KPIs to choose questions from, not both.',
  );
  check(
    questionIds.length <= 50,
    'questions',
    'invalid question count',
    'A schedule can ask at most 50 questions at a time.',
  );
  if (kpiIds.length > 0) {
    check(
      within(perWeek, 1, 50),
      'perWeek',
      'invalid question count',
      'The number of questions asked each time must be from 1 to 50.',
    );
    check(
      within(everyWeeks, 1, 104),
      'everyWeeks',
      'invalid interval',
      'The number of weeks before a question is asked again must be from 1 to 104.',
    );
  }
  check(groupIds.length > 0, 'groups', 'no groups', 'Choose at least one group to ask.');
  check(within(repeatWeeks, 1, 52), 'repeat', 'invalid interval', 'The interval must be from 1 to 52 weeks.');
  check(
    within(weekday, 1, 7),
    'weekday',
    'out of range',
    'The weekday must be a number from 1 (Monday) to 7 (Sunday).',
  );
  check(anyHour || weekday <= 5, 'weekday', 'on a weekend', weekend);
  check(within(hour, 0, 23), 'hour', 'out of range', 'The hour must be a number from 0 to 23.');
  check(anyHour || isWorkingHour(hour), 'hour', 'at night', night);
  checkDays(schedule, check, checkField);
  checkReminder(schedule, check);
  return details;
}

function checkDays({ fromDay, untilDay }: NewSchedule, check: Check, checkField: CheckField): void {
  checkField(dayFault(fromDay), 'from');
  // Later dates would lead to weeks beyond the calendar's range.
  check(
    fromDay < '3000',
    'from',
    'invalid day',
    `${fromDay} is too far in the future. Use a date before the year 3000.`,
  );
  checkField(untilDay === null ? undefined : dayFault(untilDay), 'until');
  check(
    untilDay === null || untilDay >= fromDay,
    'until',
    'ends too early',
    'The end date is before the start date.',
  );
}

function checkReminder(schedule: NewSchedule, check: Check): void {
  const { weekday, hour, anyHour, reminderDays, reminderHour } = schedule;
  if (reminderDays === null) return;
  const isLater = within(reminderDays, 0, 6) && (reminderDays > 0 || (reminderHour as number) > hour);
  check(
    isLater,
    'reminder',
    'invalid reminder',
    'The reminder must come after the invitation, at most 6 days later.',
  );
  check(
    weekday + reminderDays <= 7,
    'reminder',
    'invalid reminder',
    'The reminder must come in the same week, on Sunday at the latest.',
  );
  check(
    anyHour || weekday + reminderDays <= 5 || weekday + reminderDays > 7,
    'reminder',
    'on a weekend',
    weekend,
  );
  check(
    within(reminderHour, 0, 23) && (anyHour || isWorkingHour(reminderHour as number)),
    'reminder',
    'at night',
    night,
  );
}

/** Returns a fault for each question with the same text as another one: they count as one question (rules.md P17). */
const sameTextFaults = (questionIds: number[], classes: ReadonlyMap<number, number>): Detail[] =>
  questionIds.flatMap((id, i) => {
    const other = questionIds.slice(0, i).find((one) => one !== id && classes.get(one) === classes.get(id));
    const message = `Questions ${other} and ${id} have the same text, so they count as one question. Ask only one of them.`;
    return other === undefined || !classes.has(id) ? [] : [{ type: 'same text', message, path: 'questions' }];
  });

/**
 * Returns a fault for each group, question and KPI that does not exist, and one if `perWeek` is too small for every question to
 * be asked within `everyWeeks`.
 */
async function referenceFaults(db: Db, accountId: AccountId, schedule: NewSchedule): Promise<Detail[]> {
  const { groupIds, withoutGroupIds, questionIds, kpiIds, perWeek, everyWeeks, repeat, repeatWeeks } =
    schedule;
  const groups = await selectParents(db, accountId);
  const all = await selectQuestions(db, accountId);
  const active = activeIds(all);
  const kpis = new Set((await selectKpis(db, accountId)).map(({ id }) => id));
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
        message: `${what === 'group' ? 'Group' : 'KPI'} ${id} does not exist.`,
        path,
      }));
  const details = [
    ...unknown('group', 'groups', groupIds, groups as ReadonlyMap<unknown, unknown>),
    ...unknown('group', 'without', withoutGroupIds, groups as ReadonlyMap<unknown, unknown>),
    ...questionIds
      .filter((id) => !active.has(id))
      .map((id) => ({
        type: 'question retired',
        message: `Question ${id} does not exist or is retired.`,
        path: 'questions',
      })),
    ...sameTextFaults(questionIds, classesOf(all)),
    ...unknown('KPI', 'kpis', kpiIds, kpis as ReadonlySet<unknown>),
  ];
  const isExcluded = (id: number) =>
    ancestorsOf(id, groups).some((ancestor) => withoutGroupIds.includes(ancestor));
  if (details.length === 0 && groupIds.length > 0 && groupIds.every(isExcluded)) {
    details.push({
      type: 'no one to ask',
      message: 'The schedule would not ask anyone, because all of its groups are excluded.',
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
    `These KPIs have ${count} questions. To ask each of them every ${everyWeeks} weeks, the schedule must ask ` +
    `${needed} questions at a time, not ${perWeek}.`;
  return [{ type: 'too few at a time', message, path: 'perWeek' }];
}
