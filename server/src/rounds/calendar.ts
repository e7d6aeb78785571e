// The calendar of a schedule: in which weeks it asks, and which questions, as far as this can be known in advance.
import { type Week, weekOf } from '@soundings/contract/weeks.ts';
import type { AccountId, Db } from '../db/db.ts';
import { selectKpis, selectQuestions, type Question } from '../questions/questions.sql.ts';
import { classesOf } from '../questions/similar-wording.ts';
import { type Choice, chooseQuestions } from './choose-questions.ts';
import {
  type NewSchedule,
  type Schedule,
  type ScheduleWeek,
  selectAllScheduleWeeks,
  selectScheduleWeeks,
} from './schedules.sql.ts';
import { dayDue, weeksDue } from './send-times.ts';

/** A coming week of a schedule with its day and questions, as currently expected. */
export type CalendarEntry = { week: Week; day: string; questionIds: number[] };

/** Returns the next `count` weeks of a schedule, from the week of `today` on, without those that it has already opened or missed. */
export async function calendarOf(
  db: Db,
  schedule: Schedule,
  today: string,
  count: number,
): Promise<CalendarEntry[]> {
  const past = await selectScheduleWeeks(db, schedule.accountId, schedule.id);
  return calendarAfter(past, schedule, await choiceOf(db, schedule), { today, count });
}

/** Returns the past weeks and the next `count` weeks of each schedule. The number of statements does not grow with the schedules. */
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

/** Returns the next weeks of a schedule that is not saved yet. `past`: the weeks of the schedule that it would replace. */
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

/** Returns the ids of the questions that a schedule asks in a week, and the classes of all questions (similar-wording.ts). */
export async function questionsFor(
  db: Db,
  schedule: Schedule,
  week: Week,
): Promise<{ questionIds: number[]; classes: ReadonlyMap<number, number> }> {
  const [weeks, library] = await Promise.all([
    selectScheduleWeeks(db, schedule.accountId, schedule.id),
    libraryOf(db, schedule.accountId),
  ]);
  const past = weeks.filter((one) => one.week < week);
  const questionIds = chooseQuestions(choiceFrom(library, schedule), weeksSince(lastAsked(past), week));
  return { questionIds, classes: library.classes };
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

/** What schedules choose from. `active`: the questions that are not retired. `kpis`: the questions of each KPI. */
type Library = {
  active: ReadonlySet<number>;
  classes: ReadonlyMap<number, number>;
  kpis: ReadonlyMap<string, number[]>;
};

async function libraryOf(db: Db, accountId: AccountId): Promise<Library> {
  const [questions, kpis] = await Promise.all([selectQuestions(db, accountId), selectKpis(db, accountId)]);
  return {
    active: activeIds(questions),
    classes: classesOf(questions),
    kpis: new Map(kpis.map((kpi) => [kpi.id, kpi.questionIds])),
  };
}

/** Like `choiceFrom`, and reads the questions and KPIs of the account. */
export async function choiceOf(db: Db, schedule: NewSchedule & { accountId: AccountId }): Promise<Choice> {
  return choiceFrom(await libraryOf(db, schedule.accountId), schedule);
}

/** Returns what the schedule can choose from. Retired questions are left out. */
function choiceFrom({ active, classes, kpis }: Library, schedule: NewSchedule): Choice {
  const { questionIds, kpiIds, perWeek, everyWeeks } = schedule;
  if (questionIds.length > 0) return { classes, questionIds: questionIds.filter((id) => active.has(id)) };
  const pools = kpiIds.map((id) => (kpis.get(id) ?? []).filter((one) => active.has(one)));
  return { classes, pools, perWeek: perWeek as number, everyWeeks: everyWeeks as number };
}

/** Returns the ids of the questions that are not retired. */
export const activeIds = (questions: Question[]) =>
  new Set(questions.filter(({ retiredAt }) => retiredAt === null).map(({ id }) => id));
