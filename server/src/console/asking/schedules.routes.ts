// The console: schedules, the calendar of what they have asked and will ask, and test emails.
import type {
  ScheduleView,
  ScheduleCheck,
  SchedulePreview,
  Schedules,
} from '@soundings/contract/console/asking.ts';
import { addWeeks, dayIn, weekName, weekOf, weeksFrom } from '@soundings/contract/weeks.ts';
import { accountById, lockAccount } from '../../accounts/accounts.ts';
import { audit } from '../../accounts/audit.ts';
import type { AuditAction } from '@soundings/contract/audit-actions.ts';
import { pageTexts } from '../../answers/page-texts.ts';
import { Fault } from '../../base/errors.ts';
import { type AccountId, type Db, inTransaction, type Transaction } from '../../db/db.ts';
import { mailRejected, noEmail, noMailServer } from '../../mail/mail-faults.ts';
import { type Question, selectKpis, selectQuestions } from '../../questions/questions.sql.ts';
import { invitationOf } from '../../rounds/messages/invitation.ts';
import { dayDue } from '../../rounds/send-times.ts';
import {
  audiencesOf,
  changeSchedule,
  createSchedule,
  pauseSchedule,
  removeSchedule,
  scheduleById,
  scheduleFaults,
} from '../../rounds/schedules.ts';
import {
  selectSchedules,
  selectScheduleWeeks,
  type NewSchedule,
  type Schedule,
  type ScheduleWeek,
} from '../../rounds/schedules.sql.ts';
import { comingByDate, expectedByDate, waitingIn } from '../../rounds/by-date/expected.ts';
import { type CalendarEntry, calendarOf, calendarOfDraft, calendarsOf } from '../../rounds/calendar.ts';
import type { AskingDependencies } from './asking-dependencies.ts';
import { selectGroupNames, selectTester } from './asking.sql.ts';
import { named, withQuestionPaths, spokenIn, withPointers, questionTextsOf } from './question-texts.ts';
import { actorOf, type Console, type Who } from '../core/console.ts';
import { idIn } from '../core/ids.ts';
import { rejectChanged, versionOf } from '../core/versions.ts';

/** How many weeks the calendar shows before the current one and after it. */
const weeksAround = 12;

/** How many coming weeks of a draft are shown with their questions. */
const weeksInDetail = 4;

/** The result of a change. If nothing has changed (`isChanged` false), nothing is logged. */
type Written<T> = { id: number; name: string; isChanged?: boolean; result: T };

export function serveSchedules(console: Console, dependencies: AskingDependencies): void {
  const { pool, mailer, now } = dependencies;
  const write = async <T>(
    who: Who,
    action: AuditAction,
    work: (tx: Transaction) => Promise<Written<T>>,
  ): Promise<T> =>
    inTransaction(await pool, async (tx) => {
      await lockAccount(tx, who.accountId);
      const { id, name, isChanged = true, result } = await withPointers(() => work(tx));
      const subject = { subject: id, details: { name } };
      if (isChanged) await audit(tx, who.accountId, actorOf(who), action, subject);
      return result;
    });

  console.serve('GET /schedules', async (who) => schedulesView(await pool, who, now(), mailer !== undefined));
  console.serve('POST /schedules', async (who, { body }) =>
    write(who, 'schedule created', async (tx) => {
      const id = await createSchedule(tx, who.accountId, body);
      return { id, name: body.name, result: { id } };
    }),
  );
  console.serve('PUT /schedules/{scheduleId}', async (who, { params, body }) => {
    const { version, ...schedule } = body;
    const id = idIn(params.scheduleId);
    return write(who, 'schedule changed', async (tx) => {
      rejectChanged(version, changeable(await scheduleById(tx, who.accountId, id)));
      await changeSchedule(tx, who.accountId, id, schedule);
      const result = { version: versionOf(changeable(await scheduleById(tx, who.accountId, id))) };
      return { id, name: schedule.name, isChanged: result.version !== version, result };
    });
  });
  console.serve('DELETE /schedules/{scheduleId}', async (who, { params }) => {
    const id = idIn(params.scheduleId);
    await write(who, 'schedule removed', async (tx) => {
      const { name } = await scheduleById(tx, who.accountId, id);
      return { id, name, result: await removeSchedule(tx, who.accountId, id) };
    });
  });
  console.serve('PUT /schedules/{scheduleId}/paused', async (who, { params, body: { isPaused } }) => {
    const id = idIn(params.scheduleId);
    await write(who, isPaused ? 'schedule paused' : 'schedule resumed', async (tx) => {
      const { name, pausedAt } = await scheduleById(tx, who.accountId, id);
      const isChanged = (pausedAt !== null) !== isPaused;
      return { id, name, isChanged, result: await pauseSchedule(tx, who.accountId, id, isPaused) };
    });
  });
  console.serve('POST /schedules-check', async (who, { query, body }) =>
    check(await pool, who, { schedule: body, id: idIn(query.scheduleId ?? '') }, now()),
  );
  console.serve('GET /schedules/{scheduleId}/preview', async (who, { params }) =>
    preview(await pool, who, idIn(params.scheduleId), now()),
  );
  console.serve('POST /schedules/{scheduleId}/test', async (who, { params, body }) =>
    sendTest(dependencies, who, idIn(params.scheduleId), body.kind),
  );
}

/** Returns the fields of a schedule that can be changed. */
function changeable(schedule: Schedule): NewSchedule {
  const { accountId: _, id: __, pausedAt: ___, createdAt: ____, ...wanted } = schedule;
  return wanted;
}

async function schedulesView(db: Db, who: Who, now: number, hasMail: boolean): Promise<Schedules> {
  const { accountId } = who;
  const today = dayIn(who.timezone, now);
  const current = weekOf(today);
  const [schedules, questions, kpis] = await Promise.all([
    selectSchedules(db, accountId),
    selectQuestions(db, accountId),
    selectKpis(db, accountId),
  ]);
  const [calendars, audiences] = await Promise.all([
    // Enough weeks to include the next date of a schedule that repeats once a year.
    calendarsOf(db, accountId, schedules, { today, count: weeksAround + 1 }),
    audiencesOf(db, accountId, schedules, today),
  ]);
  const waits = await waitsOf(
    db,
    who,
    schedules.map((schedule) => ({ schedule, day: calendars.get(schedule.id)!.coming[0]?.day })),
    today,
  );
  const [first, last] = [addWeeks(current, -weeksAround), addWeeks(current, weeksAround)];
  const groupIds = schedules.flatMap((one) => [...one.groupIds, ...one.withoutGroupIds]);
  return {
    today,
    weeks: weeksFrom(first, last).map((week) => ({ ...named(week), isNow: week === current })),
    schedules: schedules.map((schedule, i) => {
      const { past, coming } = calendars.get(schedule.id)!;
      const audience = audiences[i] as ScheduleView['audience'];
      return {
        ...scheduleView(schedule, audience, { past, coming, first, last, today }),
        waits: waits[i] as ScheduleView['waits'],
      };
    }),
    questions: questions.map(questionTextsOf),
    kpis: kpis.map(({ id, name, translations }) => ({ id, name, translations })),
    groups: await selectGroupNames(db, accountId, [...new Set(groupIds)]),
    hasMail,
  };
}

/** Returns how many people wait on the next day of each schedule that chooses people by a date, if too few are due by then. */
async function waitsOf(
  db: Db,
  { accountId }: Who,
  coming: { schedule: Schedule; day: string | undefined }[],
  today: string,
): Promise<ScheduleView['waits'][]> {
  const wanted = coming.map(({ schedule, day }) => ({
    schedule,
    days: schedule.pausedAt !== null || day === undefined ? [] : [day < today ? today : day],
  }));
  const expected = await comingByDate(db, accountId, wanted);
  return expected.map((one) => {
    const [round] = one?.rounds ?? [];
    return one && round ? waitingIn(round, one.minimum) : null;
  });
}

function scheduleView(
  schedule: Schedule,
  audience: ScheduleView['audience'],
  calendar: { past: ScheduleWeek[]; coming: CalendarEntry[]; first: string; last: string; today: string },
): Omit<ScheduleView, 'waits'> {
  const { id, pausedAt } = schedule;
  const { past, first, last, today } = calendar;
  const coming = pausedAt === null ? calendar.coming : [];
  const [next, newest] = [coming.find(({ day }) => day >= today), past[0]];
  return {
    ...changeable(schedule),
    id,
    version: versionOf(changeable(schedule)),
    isPaused: pausedAt !== null,
    audience,
    next: next ? { name: weekName(next.week), day: next.day } : null,
    isLate: coming[0] !== undefined && coming[0].day < today,
    last: newest
      ? {
          name: weekName(newest.week),
          outcome: newest.outcome,
          reason: newest.reason,
          people: newest.people,
        }
      : null,
    cells: [
      ...past
        .filter(({ week }) => week >= first)
        .map(({ week, outcome, reason, questionIds, people }) => ({
          week,
          state: outcome,
          day: dayDue(schedule, week) ?? null,
          people,
          reason: reason,
          questionIds,
        }))
        .toReversed(),
      ...coming
        .filter(({ week }) => week <= last)
        .map(({ week, day, questionIds }) => ({
          week,
          state: 'due' as const,
          day,
          people: null,
          reason: null,
          questionIds,
        })),
    ],
  };
}

/** Returns what a schedule draft would ask, when, and how many people, as far as its faults allow. */
async function check(
  db: Db,
  { accountId, timezone }: Who,
  { schedule, id }: { schedule: NewSchedule; id: number },
  now: number,
): Promise<ScheduleCheck> {
  const faults = withQuestionPaths(await scheduleFaults(db, accountId, schedule));
  const today = dayIn(timezone, now);
  const [audience] = await audiencesOf(db, accountId, [{ ...schedule, id }], today);
  const past = await selectScheduleWeeks(db, accountId, id);
  const coming =
    faults.length > 0
      ? []
      : await calendarOfDraft(db, accountId, schedule, { past, today, count: weeksAround });
  const days = coming.map(({ day }) => day);
  const expected =
    faults.length > 0 ? null : await expectedByDate(db, accountId, { ...schedule, id }, { days, today });
  return {
    faults: faults.map(({ path, type, message }) => ({ path, type, message })),
    audience: audience as ScheduleCheck['audience'],
    coming: coming
      .slice(0, weeksInDetail)
      .map(({ week, day, questionIds }) => ({ week: named(week), day, questionIds })),
    expected,
    isAtOnce: coming[0] !== undefined && coming[0].day < today,
  };
}

/** Returns what a schedule asks next, or what it asked last if it has no further dates. */
async function nextOf(
  db: Db,
  accountId: AccountId,
  scheduleId: number,
  now: number,
): Promise<{
  schedule: Schedule;
  next: CalendarEntry | undefined;
  isLate: boolean;
  questions: Question[];
}> {
  const schedule = await scheduleById(db, accountId, scheduleId);
  const { timezone } = await accountById(db, accountId);
  const today = dayIn(timezone, now);
  const [next] = await calendarOf(db, schedule, today, 1);
  const isLate = next !== undefined && next.day < today;
  const [last] = next ? [] : await selectScheduleWeeks(db, accountId, scheduleId);
  const all = new Map((await selectQuestions(db, accountId)).map((question) => [question.id, question]));
  const questions = (next ?? last)?.questionIds.map((id) => all.get(id)) ?? [];
  return { schedule, next, isLate, questions: questions.filter((one) => one !== undefined) };
}

async function preview(db: Db, who: Who, scheduleId: number, now: number): Promise<SchedulePreview> {
  const { schedule, next, isLate, questions } = await nextOf(db, who.accountId, scheduleId, now);
  const { language } = await accountById(db, who.accountId);
  const { company, threshold, firstName } = await selectTester(db, who.accountId, who.userId);
  const texts = pageTexts.languages.map((spoken) => {
    const t = pageTexts.in(spoken);
    const isOpen = threshold === 1;
    return [
      spoken,
      {
        ...spokenIn(spoken),
        greeting: firstName === '' ? t('greeting') : t('greetingNamed', { firstName }),
        asks: t('asks', { company, questions: questions.length }),
        privacyHeading: t(isOpen ? 'privacy.openHeading' : 'privacy.heading'),
        privacy: isOpen ? t('privacy.open', { company }) : t('privacy.figures', { company, threshold }),
        send: t('send'),
      },
    ] as const;
  });
  return {
    id: schedule.id,
    name: schedule.name,
    company,
    next: next ? { name: weekName(next.week), day: next.day } : null,
    isLate,
    questions: questions.map(questionTextsOf),
    language,
    texts: Object.fromEntries(texts),
  };
}

/** Sends the caller a test email, the same one that people receive. Its link opens the preview, which stores nothing. */
async function sendTest(
  { pool, mailer, publicUrl, now }: AskingDependencies,
  who: Who,
  scheduleId: number,
  kind: 'invitation' | 'reminder',
): Promise<{ address: string }> {
  const db = await pool;
  const { questions } = await nextOf(db, who.accountId, scheduleId, now());
  const { email, ...person } = await selectTester(db, who.accountId, who.userId);
  if (email === null) throw noEmail();
  if (!mailer) throw noMailServer();
  if (questions.length === 0)
    throw new Fault(
      'invalid',
      'nothing due',
      'No question is due, so there is no email to send. Choose questions, or set a later end date.',
    );
  const address = `${publicUrl}/schedules/${scheduleId}/preview`;
  // The email has no unsubscribe headers, because there is nothing to unsubscribe from.
  const { subject, text, html } = invitationOf(
    { kind, ...person, questions: questions.length },
    address,
    address,
  );
  try {
    await mailer.send({ to: email, subject: `[Test] ${subject}`, text, html });
  } catch (error) {
    throw mailRejected(error);
  }
  await audit(db, who.accountId, actorOf(who), 'test mail sent', { subject: scheduleId, details: { kind } });
  return { address: email };
}
