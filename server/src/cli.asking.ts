// The commands of asking: questions, schedules, links, and how the open weeks stand.
import { dayIn, type Week, weekName } from '@soundings/contract/weeks.ts';
import { accountById, lockAccount } from './accounts/accounts.ts';
import { audit } from './accounts/audit.ts';
import {
  account,
  accountOf,
  type Command,
  flag,
  list,
  listOf,
  moment,
  needed,
  numberOf,
  numbersOf,
  table,
  text,
  UsageError,
  type Values,
  weekOf,
  wholeNumber,
} from './cli.options.ts';
import { inTransaction, type Pool } from './db/db.ts';
import { kpisOf, questionsOf, retireQuestions } from './questions/questions.ts';
import { type ExportedLink, exportLinks } from './rounds/links.ts';
import {
  calendarOf,
  createSchedule,
  type NewSchedule,
  pauseSchedule,
  removeSchedule,
  type Schedule,
  scheduleById,
  schedulesOf,
  scheduleWeeksOf,
} from './rounds/schedules.ts';
import { csvRow } from './base/csv.ts';

const days = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const one = { ...account, id: text };

/** `config`: where people find the service, and whether it sends mail. */
export const askingCommands = (
  config: () => { publicUrl: string; smtpUrl: string | undefined },
): Record<string, Command> => ({
  'question list': {
    isLogged: false,
    usage: '--account ID\n    The questions of an account, and the KPIs that are made of them.',
    options: account,
    run: questionList,
    say: (questions: Awaited<ReturnType<typeof questionList>>) =>
      table([
        ['id', 'key', 'type', 'languages', 'KPIs', 'retired', 'text'],
        ...questions.map(({ id, key, type, languages, kpis, retired, text: words }) => [
          String(id),
          key,
          String(type),
          languages.join(' '),
          kpis.join(' '),
          retired ? 'yes' : '',
          words,
        ]),
      ]),
  },
  'question retire': {
    usage:
      '--account ID --key K [--key …] [--restore]\n' +
      '    No schedule chooses them any more; what they were answered stays. --restore: they are asked again.\n' +
      '    New questions and translations come by a file: npx soundings history import (docs/questions.md).',
    options: { ...account, key: list, restore: flag },
    run: async (pool, values) => {
      const keys = listOf(values, 'key');
      if (keys.length === 0) throw new UsageError('--key is missing.');
      const retired = values['restore'] !== true;
      await inTransaction(pool, async (tx) => {
        await lockAccount(tx, accountOf(values));
        await retireQuestions(tx, accountOf(values), keys, retired);
      });
      return { keys, retired };
    },
    say: ({ keys, retired }: { keys: string[]; retired: boolean }) =>
      `${keys.join(', ')}: ${retired ? 'retired' : 'in use again'}.`,
  },
  'schedule create': {
    usage:
      '--account ID --name N --group GROUP_ID [--group …] [--without GROUP_ID …]\n' +
      '    (--question KEY [--question …] | --kpi KPI_ID [--kpi …] --per-week N --every-weeks M)\n' +
      '    [--repeat once|weekly|every:N|monthly] [--weekday 1…7] [--hour 9] [--remind DAYS[@HOUR]|no]\n' +
      '    [--from DATE] [--until DATE] [--any-hour]\n' +
      '    Asks these questions, or N of those of the KPIs, each again after M weeks at the earliest, of everyone in the\n' +
      '    groups and beneath, but of nobody who is in one of --without. Weekday (1 is Monday) and hour are those of each\n' +
      '    person’s own time zone. By default weekly, Mondays at 9, with a reminder two days later at the same hour.\n' +
      '    At night (before 8, from 20 on) and on weekends nobody is written to, unless --any-hour is given.',
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
    },
    run: scheduleCreate,
    say: ({ id, next }: Awaited<ReturnType<typeof scheduleCreate>>) =>
      `Schedule ${id} is made.${next[0] ? ` It asks for the first time on ${next[0].day}.` : ' It never comes.'}`,
  },
  'schedule list': {
    isLogged: false,
    usage: '--account ID',
    options: account,
    run: (pool, values) => schedulesOf(pool, accountOf(values)),
    say: (schedules: Schedule[]) =>
      table([
        ['id', 'name', 'when', 'what', 'groups', 'reminder', 'from', 'until', 'paused'],
        ...schedules.map((schedule) => [
          String(schedule.id),
          schedule.name,
          `${repeatWords(schedule)} ${days[schedule.weekday - 1]} ${schedule.hour}:00`,
          schedule.questionIds.length > 0
            ? `${schedule.questionIds.length} questions`
            : `${schedule.perWeek} of ${schedule.kpiIds.join(' ')}`,
          [schedule.groupIds.join(' '), ...schedule.withoutGroupIds.map((id) => `-${id}`)].join(' '),
          schedule.reminderDays === null ? '' : `+${schedule.reminderDays} days ${schedule.reminderHour}:00`,
          schedule.fromDay,
          schedule.untilDay ?? '',
          moment(schedule.pausedAt),
        ]),
      ]),
  },
  'schedule calendar': {
    isLogged: false,
    usage: '--account ID --id S [--weeks N]\n    What it will ask in its next weeks, as things are now.',
    options: { ...one, weeks: text },
    run: async (pool, values) => {
      const schedule = await scheduleById(pool, accountOf(values), numberOf(values, 'id'));
      return calendar(pool, schedule, values['weeks'] === undefined ? 8 : numberOf(values, 'weeks'));
    },
    say: (entries: Awaited<ReturnType<typeof calendar>>) =>
      table([
        ['week', 'day', 'questions'],
        ...entries.map(({ week, day, questions }) => [week, day, questions.join(' ')]),
      ]),
  },
  'schedule history': {
    isLogged: false,
    usage:
      '--account ID --id S\n    The weeks in which it was due: what it asked, how many people, or why it was missed.',
    options: one,
    run: async (pool, values) => {
      const schedule = await scheduleById(pool, accountOf(values), numberOf(values, 'id'));
      const keys = new Map((await questionsOf(pool, schedule.accountId)).map(({ id, key }) => [id, key]));
      const weeks = await scheduleWeeksOf(pool, schedule.accountId, schedule.id);
      return weeks.map(({ week, outcome, reason, people, questionIds }) => ({
        week: weekName(week),
        outcome,
        reason,
        people,
        questions: questionIds.map((id) => keys.get(id) ?? String(id)),
      }));
    },
    say: (
      weeks: { week: string; outcome: string; reason: string | null; people: number; questions: string[] }[],
    ) =>
      table([
        ['week', 'outcome', 'people', 'questions, or why'],
        ...weeks.map(({ week, outcome, people, questions, reason }) => [
          week,
          outcome,
          String(people),
          reason ?? questions.join(' '),
        ]),
      ]),
  },
  'schedule pause': {
    usage: '--account ID --id S [--resume]\n    What it has opened goes on. --resume: it asks again.',
    options: { ...one, resume: flag },
    run: async (pool, values) => {
      const [id, paused] = [numberOf(values, 'id'), values['resume'] !== true];
      await inTransaction(pool, (tx) => pauseSchedule(tx, accountOf(values), id, paused));
      return { id, paused };
    },
    say: ({ id, paused }: { id: number; paused: boolean }) =>
      `Schedule ${id} ${paused ? 'is paused' : 'goes on'}.`,
  },
  'schedule remove': {
    usage: '--account ID --id S\n    What it has opened goes on.',
    options: one,
    run: async (pool, values) => {
      const id = numberOf(values, 'id');
      await inTransaction(pool, (tx) => removeSchedule(tx, accountOf(values), id));
      return { id, removed: true };
    },
    say: ({ id }: { id: number }) => `Schedule ${id} is removed.`,
  },
  'links export': {
    usage:
      '--account ID [--week 2026-W47] [--replace]\n' +
      '    A new personal link, as CSV, for each person asked in an open week who gets none by e-mail: who has no address, or\n' +
      '    everyone where no mail server is set. Anyone who has a link can answer in the name of the person, so results say\n' +
      '    that they rest on links that were handed out. --replace: links handed out before no longer work.',
    isLogged: false,
    options: { ...account, week: text, replace: flag },
    run: (pool, values) => linksExport(pool, values, config()),
    say: ({ links }: { links: ExportedLink[] }) =>
      [
        csvRow(['externalId', 'firstName', 'lastName', 'email', 'phone', 'language', 'link']),
        ...links.map(({ externalId, firstName, lastName, email, phone, language, link }) =>
          csvRow([externalId, firstName, lastName, email, phone, language, link]),
        ),
      ].join(''),
  },
  'week show': {
    isLogged: false,
    usage:
      '--account ID\n    The open weeks: how many are asked, at least how many have answered, and what became of the mails.',
    options: account,
    run: weekShow,
    say: ({ weeks, refusals }: Awaited<ReturnType<typeof weekShow>>) =>
      [
        ...weeks.map(
          ({ week, asked, messages, ...participation }) =>
            `${week}: ${asked} people asked, ${participationWords(participation)} ${
              messages
                .map(({ kind, state, count }) => `${count ?? ''} ${kind}s ${state}`.trim())
                .join(', ') || 'No mails'
            }.`,
        ),
        ...(weeks.length === 0 ? ['No week is open in which anybody is asked.'] : []),
        ...refusals.map(({ userId, address, reason }) => `User ${userId} <${address}>: ${reason}`),
      ].join('\n'),
  },
});

function participationWords({
  answered,
  answeredAtLeast,
  countedOn,
}: {
  answered?: number;
  answeredAtLeast?: number | null;
  countedOn?: string | null;
}): string {
  if (answered !== undefined) return `${answered} have answered.`;
  if (!countedOn) return 'answers are counted once a day, from tomorrow on.';
  if (typeof answeredAtLeast !== 'number') return 'too few are asked to say how many have answered.';
  return `at least ${answeredAtLeast} have answered (counted on ${countedOn}).`;
}

async function questionList(pool: Pool, values: Values) {
  const [questions, kpis] = await Promise.all([
    questionsOf(pool, accountOf(values)),
    kpisOf(pool, accountOf(values)),
  ]);
  return questions.map(({ retiredAt, language, translations, ...question }) => ({
    ...question,
    language,
    translations,
    languages: [language, ...Object.keys(translations)],
    kpis: kpis.filter(({ questionIds }) => questionIds.includes(question.id)).map(({ id }) => id),
    retired: retiredAt !== null,
  }));
}

async function scheduleCreate(pool: Pool, values: Values) {
  const accountId = accountOf(values);
  const schedule = await inTransaction(pool, async (tx) => {
    const { timezone } = await accountById(tx, accountId);
    const ids = new Map((await questionsOf(tx, accountId)).map(({ key, id }) => [key, id]));
    const questionIds = listOf(values, 'question').map((key) => {
      const id = ids.get(key);
      if (id === undefined) throw new UsageError(`There is no question "${key}": see question list.`);
      return id;
    });
    const wanted = scheduleOf(values, questionIds, dayIn(timezone, Date.now()));
    return scheduleById(tx, accountId, await createSchedule(tx, accountId, wanted));
  });
  return { id: schedule.id, next: await calendar(pool, schedule, 4) };
}

function scheduleOf(values: Values, questionIds: number[], today: string): NewSchedule {
  const orElse = (option: string, fallback: number) =>
    values[option] === undefined ? fallback : numberOf(values, option);
  const [weekday, hour] = [orElse('weekday', 1), orElse('hour', 9)];
  const kpiIds = listOf(values, 'kpi');
  const isChosen = kpiIds.length > 0;
  return {
    name: needed(values, 'name'),
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

function repetitionOf(value: string): Pick<NewSchedule, 'repeat' | 'repeatWeeks'> {
  if (value === 'once' || value === 'monthly') return { repeat: value, repeatWeeks: 1 };
  if (value === 'weekly') return { repeat: 'weeks', repeatWeeks: 1 };
  const [, count] = /^every:(\d{1,2})$/.exec(value) ?? [];
  if (count !== undefined) return { repeat: 'weeks', repeatWeeks: Number(count) };
  throw new UsageError(`--repeat takes once, weekly, every:N or monthly, not "${value}".`);
}

/** By default two days later at the same hour, where that is still the same week and may be. */
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
  if (count === undefined) throw new UsageError(`--remind takes DAYS, DAYS@HOUR or no, not "${value}".`);
  return { reminderDays: Number(count), reminderHour: at === undefined ? hour : wholeNumber(at, 'remind') };
}

const repeatWords = ({ repeat, repeatWeeks }: Schedule) =>
  repeat === 'weeks' ? (repeatWeeks === 1 ? 'weekly' : `every ${repeatWeeks} weeks`) : repeat;

async function calendar(pool: Pool, schedule: Schedule, count: number) {
  const { timezone } = await accountById(pool, schedule.accountId);
  const keys = new Map((await questionsOf(pool, schedule.accountId)).map(({ id, key }) => [id, key]));
  const entries = await calendarOf(pool, schedule, dayIn(timezone, Date.now()), count);
  return entries.map(({ week, day, questionIds }) => ({
    week: weekName(week),
    day,
    questions: questionIds.map((id) => keys.get(id) ?? String(id)),
  }));
}

async function linksExport(
  pool: Pool,
  values: Values,
  { publicUrl, smtpUrl }: { publicUrl: string; smtpUrl: string | undefined },
) {
  const accountId = accountOf(values);
  const isReplacing = values['replace'] === true;
  return inTransaction(pool, async (tx) => {
    const { week, links } = await exportLinks(tx, accountId, publicUrl, {
      week: weekOf(values),
      isReplacing,
      canMail: smtpUrl !== undefined,
      by: null,
    });
    const details = { people: links.length, isReplacing };
    await audit(tx, accountId, { origin: 'command' }, 'links exported', {
      subject: weekName(week),
      details,
    });
    return { week: weekName(week), links };
  });
}

async function weekShow(pool: Pool, values: Values) {
  const accountId = accountOf(values);
  // Here, as every other command would wait for what sends mail.
  const { mailRefusalsOf, messageCountsOf, runningWeeks } = await import('./rounds/messages.ts');
  const [weeks, counts, refusals] = await Promise.all([
    runningWeeks(pool, accountId),
    messageCountsOf(pool, accountId, Date.now()),
    mailRefusalsOf(pool, accountId),
  ]);
  const messagesIn = (week: Week, isExact: boolean) => {
    const own = counts
      .filter((count) => count.week === week)
      .map(({ kind, state, count }) => ({ kind, state, count }));
    if (isExact) return own;
    // Reminders go to those who have not answered: how many there were would say how many that are, and what a mail server says
    // of one may say who (P18).
    const reminders = own.filter(({ kind }) => kind === 'reminder');
    const states = new Set(reminders.map(({ state }) => (state === 'waiting' ? 'waiting' : 'sent')));
    return [
      ...own.filter(({ kind }) => kind !== 'reminder'),
      ...[...states].toSorted().map((state) => ({ kind: 'reminder', state, count: undefined })),
    ];
  };
  return {
    weeks: weeks.map(({ week, asked, atLeast, countedOn, answered }) => ({
      week: weekName(week),
      asked,
      ...(answered === null ? { answeredAtLeast: atLeast, countedOn } : { answered }),
      messages: messagesIn(week, answered !== null),
    })),
    refusals,
  };
}
