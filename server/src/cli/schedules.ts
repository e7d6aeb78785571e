// The commands for schedules.
import type { ExpectedByDate } from '@soundings/contract/console/by-date.ts';
import { dayIn, weekName } from '@soundings/contract/weeks.ts';
import { accountById } from '../accounts/accounts.ts';
import { inTransaction, type Pool } from '../db/db.ts';
import { selectQuestions } from '../questions/questions.sql.ts';
import { usualMinimum } from '../rounds/by-date/due-days.ts';
import { expectedByDate } from '../rounds/by-date/expected.ts';
import { calendarOf } from '../rounds/calendar.ts';
import { createSchedule, pauseSchedule, removeSchedule, scheduleById } from '../rounds/schedules.ts';
import {
  selectSchedules,
  selectScheduleWeeks,
  type NewSchedule,
  type Schedule,
} from '../rounds/schedules.sql.ts';
import { missedSentence } from '../rounds/missed-reasons.ts';
import {
  account,
  accountOf,
  type Command,
  flag,
  list,
  listOf,
  minuteText,
  numberOf,
  numbersOf,
  required,
  table,
  text,
  UsageError,
  type OptionValues,
  wholeNumber,
} from './options.ts';

const days = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const one = { ...account, id: text };

export const scheduleCommands: Record<string, Command> = {
  'schedule create': {
    usage:
      '--account ID --name N --group GROUP_ID [--group …] [--without GROUP_ID …]\n' +
      '    (--question KEY [--question …] | --kpi KPI_ID [--kpi …] --per-week N --every-weeks M)\n' +
      '    [--repeat once|weekly|every:N|monthly] [--weekday 1…7] [--hour 9] [--remind DAYS[@HOUR]|no]\n' +
      '    [--from DATE] [--until DATE] [--any-hour]\n' +
      '    [--date ATTRIBUTE --days [before:]FROM-UNTIL [--min-people N]]\n' +
      '    Asks everyone in the groups and their subgroups, except the people in --without groups and their subgroups.\n' +
      '    --question       Asks these questions each time.\n' +
      '    --kpi            Asks N questions of these KPIs each time, and none of them again before M weeks have passed.\n' +
      '    --weekday        1 is Monday. Weekday and hour are in each person’s own time zone.\n' +
      '    --date           Asks only people whose date in this attribute was 30 to 59 days ago (--days 30-59), or is 0 to 60 days ahead\n' +
      '                     (--days before:0-60). Each person is asked once, when at least N people (--min-people) are waiting.\n' +
      '    --any-hour       Allows emails at night (before 8:00, from 20:00) and on weekends.\n' +
      '    Default: weekly, Mondays at 9:00, with a reminder two days later at the same hour.',
    options: {
      ...account,
      name: text,
      group: list,
      without: list,
      question: list,
      kpi: list,
      'per-week': text,
      'every-weeks': text,
      repeat: text,
      weekday: text,
      hour: text,
      remind: text,
      from: text,
      until: text,
      'any-hour': flag,
      date: text,
      days: text,
      'min-people': text,
    },
    run: scheduleCreate,
    format: ({ id, next }: Awaited<ReturnType<typeof scheduleCreate>>) =>
      `Schedule ${id} created.${next[0] ? ` It first asks on ${next[0].day}.` : ' It has no upcoming dates.'}`,
  },
  'schedule list': {
    isLogged: false,
    usage: '--account ID',
    options: account,
    run: (pool, values) => selectSchedules(pool, accountOf(values)),
    format: (schedules: Schedule[]) =>
      table([
        ['id', 'name', 'when', 'what', 'groups', 'by date', 'reminder', 'from', 'until', 'paused'],
        ...schedules.map((schedule) => [
          String(schedule.id),
          schedule.name,
          `${repeatText(schedule)} ${days[schedule.weekday - 1]} ${schedule.hour}:00`,
          schedule.questionIds.length > 0
            ? `${schedule.questionIds.length} questions`
            : `${schedule.perWeek} of ${schedule.kpiIds.join(' ')}`,
          [schedule.groupIds.join(' '), ...schedule.withoutGroupIds.map((id) => `-${id}`)].join(' '),
          dateText(schedule),
          schedule.reminderDays === null ? '' : `+${schedule.reminderDays} days ${schedule.reminderHour}:00`,
          schedule.fromDay,
          schedule.untilDay ?? '',
          minuteText(schedule.pausedAt),
        ]),
      ]),
  },
  'schedule calendar': {
    isLogged: false,
    usage: '--account ID --id S [--weeks N]\n    Shows what the schedule will ask in the coming weeks.',
    options: { ...one, weeks: text },
    run: async (pool, values) => {
      const schedule = await scheduleById(pool, accountOf(values), numberOf(values, 'id'));
      return calendar(pool, schedule, values['weeks'] === undefined ? 8 : numberOf(values, 'weeks'));
    },
    format: (entries: Awaited<ReturnType<typeof calendar>>) =>
      table([
        ['week', 'day', 'people', 'questions'],
        ...entries.map(({ week, day, people, questions }) => [week, day, people, questions.join(' ')]),
      ]),
  },
  'schedule history': {
    isLogged: false,
    usage:
      '--account ID --id S\n    Lists the weeks in which the schedule was due: what it asked, how many people, or why it was missed or waited.',
    options: one,
    run: async (pool, values) => {
      const schedule = await scheduleById(pool, accountOf(values), numberOf(values, 'id'));
      const keys = new Map((await selectQuestions(pool, schedule.accountId)).map(({ id, key }) => [id, key]));
      const weeks = await selectScheduleWeeks(pool, schedule.accountId, schedule.id);
      return weeks.map(({ week, outcome, reason, people, questionIds }) => ({
        week: weekName(week),
        outcome: reason === 'tooFewDue' ? 'waited' : outcome,
        reason: reason && missedSentence(reason),
        people,
        questions: questionIds.map((id) => keys.get(id) ?? String(id)),
      }));
    },
    format: (
      weeks: { week: string; outcome: string; reason: string | null; people: number; questions: string[] }[],
    ) =>
      table([
        ['week', 'outcome', 'people', 'questions or reason'],
        ...weeks.map(({ week, outcome, people, questions, reason }) => [
          week,
          outcome,
          String(people),
          reason ?? questions.join(' '),
        ]),
      ]),
  },
  'schedule pause': {
    usage:
      '--account ID --id S [--resume]\n    Pauses a schedule. Open rounds continue. --resume: resumes it.',
    options: { ...one, resume: flag },
    run: async (pool, values) => {
      const [id, paused] = [numberOf(values, 'id'), values['resume'] !== true];
      await inTransaction(pool, (tx) => pauseSchedule(tx, accountOf(values), id, paused));
      return { id, paused };
    },
    format: ({ id, paused }: { id: number; paused: boolean }) =>
      `Schedule ${id} ${paused ? 'paused' : 'resumed'}.`,
  },
  'schedule remove': {
    usage: '--account ID --id S\n    Removes a schedule. Open rounds continue.',
    options: one,
    run: async (pool, values) => {
      const id = numberOf(values, 'id');
      await inTransaction(pool, (tx) => removeSchedule(tx, accountOf(values), id));
      return { id, removed: true };
    },
    format: ({ id }: { id: number }) => `Schedule ${id} removed.`,
  },
};

async function scheduleCreate(pool: Pool, values: OptionValues) {
  const accountId = accountOf(values);
  const created = await inTransaction(pool, async (tx) => {
    const { timezone, threshold } = await accountById(tx, accountId);
    const ids = new Map((await selectQuestions(tx, accountId)).map(({ key, id }) => [key, id]));
    const questionIds = listOf(values, 'question').map((key) => {
      const id = ids.get(key);
      if (id === undefined)
        throw new UsageError(`Question "${key}" does not exist. Run question list to see all questions.`);
      return id;
    });
    const today = dayIn(timezone, Date.now());
    const schedule = { ...scheduleOf(values, questionIds, today), byDate: byDateOf(values, threshold) };
    return scheduleById(tx, accountId, await createSchedule(tx, accountId, schedule));
  });
  return { id: created.id, next: await calendar(pool, created, 4) };
}

function scheduleOf(values: OptionValues, questionIds: number[], today: string): Omit<NewSchedule, 'byDate'> {
  const orElse = (option: string, fallback: number) =>
    values[option] === undefined ? fallback : numberOf(values, option);
  const [weekday, hour] = [orElse('weekday', 1), orElse('hour', 9)];
  const kpiIds = listOf(values, 'kpi');
  const isChosen = kpiIds.length > 0;
  return {
    name: required(values, 'name'),
    questionIds,
    kpiIds,
    perWeek: isChosen ? numberOf(values, 'per-week') : null,
    everyWeeks: isChosen ? numberOf(values, 'every-weeks') : null,
    groupIds: numbersOf(values, 'group'),
    withoutGroupIds: numbersOf(values, 'without'),
    ...repetitionOf(String(values['repeat'] ?? 'weekly')),
    weekday,
    hour,
    anyHour: values['any-hour'] === true,
    ...reminderOf(values['remind'] as string | undefined, {
      weekday,
      hour,
      isFree: values['any-hour'] === true,
    }),
    fromDay: String(values['from'] ?? today),
    untilDay: values['until'] === undefined ? null : String(values['until']),
  };
}

/** Returns how people are chosen by a date; null: all are asked. The default minimum is what templates use. */
function byDateOf(values: OptionValues, threshold: number): NewSchedule['byDate'] {
  if (values['date'] === undefined) {
    const stray = ['days', 'min-people'].find((option) => values[option] !== undefined);
    if (stray !== undefined) throw new UsageError(`--${stray} requires --date.`);
    return null;
  }
  const range = required(values, 'days');
  const [, before, from, until] = /^(before:)?(\d{1,4})-(\d{1,4})$/.exec(range) ?? [];
  if (from === undefined || until === undefined)
    throw new UsageError(
      `Invalid value "${range}" for --days. Use FROM-UNTIL or before:FROM-UNTIL, such as 30-59.`,
    );
  return {
    attribute: String(values['date']),
    side: before ? 'before' : 'after',
    fromDays: Number(from),
    untilDays: Number(until),
    minPeople: values['min-people'] === undefined ? usualMinimum(threshold) : numberOf(values, 'min-people'),
  };
}

function repetitionOf(value: string): Pick<NewSchedule, 'repeat' | 'repeatWeeks'> {
  if (value === 'once' || value === 'monthly') return { repeat: value, repeatWeeks: 1 };
  if (value === 'weekly') return { repeat: 'weeks', repeatWeeks: 1 };
  const [, count] = /^every:(\d{1,2})$/.exec(value) ?? [];
  if (count !== undefined) return { repeat: 'weeks', repeatWeeks: Number(count) };
  throw new UsageError(`Invalid value "${value}" for --repeat. Use once, weekly, every:N or monthly.`);
}

/**
 * Returns the reminder. By default it is sent two days after the questions, at the same hour, if that day is allowed and in the
 * same week.
 */
function reminderOf(
  value: string | undefined,
  { weekday, hour, isFree }: { weekday: number; hour: number; isFree: boolean },
): Pick<NewSchedule, 'reminderDays' | 'reminderHour'> {
  const none = { reminderDays: null, reminderHour: null };
  if (value === 'no') return none;
  if (value === undefined) {
    return weekday + 2 <= (isFree ? 7 : 5) ? { reminderDays: 2, reminderHour: hour } : none;
  }
  const [, count, at] = /^(\d)(?:@(\d{1,2}))?$/.exec(value) ?? [];
  if (count === undefined)
    throw new UsageError(`Invalid value "${value}" for --remind. Use DAYS, DAYS@HOUR or no.`);
  return { reminderDays: Number(count), reminderHour: at === undefined ? hour : wholeNumber(at, 'remind') };
}

const peopleText = (round: ExpectedByDate['coming'][number] | undefined) =>
  round && round.people > 0 ? `about ${round.people}` : `none (${round?.waiting ?? 0} waiting)`;

const dateText = ({ byDate }: Schedule) =>
  byDate
    ? `${byDate.fromDays}-${byDate.untilDays} days ${byDate.side} ${byDate.attribute}, at least ${byDate.minPeople} people`
    : '';

const repeatText = ({ repeat, repeatWeeks }: Schedule) =>
  repeat === 'weeks' ? (repeatWeeks === 1 ? 'weekly' : `every ${repeatWeeks} weeks`) : repeat;

async function calendar(pool: Pool, schedule: Schedule, count: number) {
  const { timezone } = await accountById(pool, schedule.accountId);
  const keys = new Map((await selectQuestions(pool, schedule.accountId)).map(({ id, key }) => [id, key]));
  const today = dayIn(timezone, Date.now());
  const entries = await calendarOf(pool, schedule, today, count);
  const expected = await expectedByDate(pool, schedule.accountId, schedule, {
    days: entries.map(({ day }) => day),
    today,
  });
  return entries.map(({ week, day, questionIds }, i) => ({
    week: weekName(week),
    day,
    people: expected ? peopleText(expected.coming[i]) : 'everyone',
    questions: questionIds.map((id) => keys.get(id) ?? String(id)),
  }));
}
