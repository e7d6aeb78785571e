// The console: open weeks, closing a week early, and personal links for people who get no messages.
import type { OpenWeek, Participation, Rounds } from '@soundings/contract/console/asking.ts';
import { addWeeks, dayIn, isDay, type Week, weekName, weekOf } from '@soundings/contract/weeks.ts';
import { audit } from '../../accounts/audit.ts';
import type { Channels } from '../../base/messages/channels.ts';
import { csvRow } from '../../base/csv.ts';
import { type Db, inTransaction, type Pool } from '../../db/db.ts';
import { selectQuestions } from '../../questions/questions.sql.ts';
import { type ExportedLink, exportLinks } from '../../rounds/links.ts';
import { weekClosed, weekNotFound } from '../../rounds/rounds.ts';
import { comingByDate, waitingIn } from '../../rounds/by-date/expected.ts';
import { endOf } from '../../rounds/send-times.ts';
import { audiencesOf } from '../../rounds/schedules.ts';
import { selectSchedules } from '../../rounds/schedules.sql.ts';
import { calendarsOf } from '../../rounds/calendar.ts';
import {
  addClosing,
  type OpenRound,
  type OpenWeekShown,
  selectClosedWeeks,
  selectGroupNames,
  selectIsOpen,
  selectOpenRounds,
  selectOpenWeekRows,
  selectRefusedPeople,
} from './asking.sql.ts';
import { selectMessageCounts, type MessageCount } from '../../rounds/messages/message-counts.sql.ts';
import type { AskingDependencies } from './asking-dependencies.ts';
import { named, questionTextsOf } from './question-texts.ts';
import { actorOf, type Console, type Who } from '../core/console.ts';
import { inSlices } from '../core/slices.ts';

/** How many closed weeks are shown. */
const closedShown = 6;

export function serveRounds(console: Console, { pool, channels, publicUrl, now }: AskingDependencies): void {
  console.serve('GET /rounds', async (who) => roundsView(await pool, who, now(), channels));
  console.serve('POST /rounds/{week}/close', async (who, { params }) => {
    await inTransaction(await pool, async (tx) => {
      const week = weekIn(params.week);
      const isOpen = week === undefined ? undefined : await selectIsOpen(tx, who.accountId, week);
      if (week === undefined || isOpen === undefined) throw weekNotFound();
      if (!isOpen) throw weekClosed(week);
      await addClosing(tx, who.accountId, week);
      await audit(tx, who.accountId, actorOf(who), 'week close requested', { subject: weekName(week) });
    });
  });
  console.serve('POST /rounds/{week}/links', async (who, { params, body: { isReplacing } }) => {
    const week = weekIn(params.week);
    if (week === undefined) throw weekNotFound();
    const name = weekName(week);
    const links = await inTransaction(await pool, async (tx) => {
      const exported = await exportLinks(tx, who.accountId, publicUrl, {
        week,
        isReplacing,
        channels,
        by: who.userId,
      });
      const details = { people: exported.links.length, isReplacing };
      await audit(tx, who.accountId, actorOf(who), 'links exported', { subject: name, details });
      return exported.links;
    });
    return { name: `links-${name}.csv`, csv: await csvOf(links), people: links.length };
  });
}

const weekIn = (text: string): Week | undefined => (isDay(text) && weekOf(text) === text ? text : undefined);

async function csvOf(links: ExportedLink[]): Promise<string> {
  const parts = [csvRow(['externalId', 'firstName', 'lastName', 'email', 'phone', 'language', 'link'])];
  const slices = inSlices(links, ({ externalId, firstName, lastName, email, phone, language, link }) =>
    csvRow([externalId, firstName, lastName, email, phone, language, link]),
  );
  for await (const slice of slices) parts.push(slice);
  return parts.join('');
}

async function roundsView(pool: Pool, who: Who, now: number, channels: Channels): Promise<Rounds> {
  const { accountId } = who;
  const [weeks, rounds, messages, refusals, closed, coming] = await Promise.all([
    selectOpenWeekRows(pool, accountId, channels),
    selectOpenRounds(pool, accountId),
    selectMessageCounts(pool, accountId, channels.mail || channels.sms ? now : 0),
    selectRefusedPeople(pool, accountId),
    selectClosedWeeks(pool, accountId, closedShown),
    comingRounds(pool, who, now),
  ]);
  const describe = await describer(pool, who, rounds);
  return {
    open: weeks.map((week) => ({
      ...openWeek(week, who.timezone, now),
      ...mailsOf(
        week,
        messages.filter((one) => one.week === week.week),
      ),
      rounds: rounds.filter((round) => round.week === week.week).map(describe),
      stillDue: coming
        .filter((one) => one.week === week.week)
        .map(({ id, schedule, day }) => ({ id, name: schedule, day })),
    })),
    closed: closed.map(({ week, closedAt, isLost, schedules }) => ({
      ...named(week),
      closedAt: closedAt.toISOString(),
      isLost,
      schedules,
    })),
    next: coming.find(({ isLate }) => !isLate) ?? null,
    coming,
    refusals,
    hasMail: channels.mail,
  };
}

function openWeek(
  { week, threshold, isLive, asked, isFailing, ...row }: OpenWeekShown,
  timezone: string,
  now: number,
): Omit<OpenWeek, 'rounds' | 'stillDue' | 'invitations' | 'reminders' | 'unreachable' | 'linkable'> {
  const endsAt = endOf(week, timezone);
  return {
    ...named(week),
    endsAt: new Date(endsAt).toISOString(),
    hasEnded: now >= endsAt,
    isLive,
    asked,
    answered: participationOf(row),
    threshold,
    closing: isFailing === null ? null : { isFailing },
  };
}

function participationOf({
  answered,
  step,
  participation,
  participationOn,
}: Pick<OpenWeekShown, 'answered' | 'step' | 'participation' | 'participationOn'>): Participation {
  if (answered !== null) return { state: 'exact', count: answered };
  if (participationOn === null) return { state: 'notYet' };
  if (participation === null) return { state: 'tooFew', step };
  return { state: 'atLeast', count: participation, on: participationOn, step };
}

function mailsOf(
  { unreachable, linkable }: OpenWeekShown,
  messages: MessageCount[],
): Pick<OpenWeek, 'invitations' | 'reminders' | 'unreachable' | 'linkable'> {
  const invitations = (...states: MessageCount['state'][]) =>
    messages
      .filter((one) => one.kind === 'invitation' && states.includes(one.state))
      .reduce((sum, one) => sum + one.count, 0);
  const reminders = messages.filter(({ kind }) => kind === 'reminder');
  const waiting = reminders.filter(({ state }) => state === 'waiting');
  const ends = waiting.flatMap(({ from, until }) => [from.toISOString(), until.toISOString()]).toSorted();
  const isBegun = reminders.length > waiting.length;
  return {
    unreachable,
    linkable,
    invitations: {
      waiting: invitations('waiting'),
      sent: invitations('sent'),
      refused: invitations('refused'),
      unknown: invitations('sending', 'unknown'),
    },
    reminders: {
      state: isBegun ? 'sent' : waiting.length > 0 ? 'waiting' : 'none',
      from: isBegun ? null : (ends[0] ?? null),
      until: isBegun ? null : (ends.at(-1) ?? null),
    },
  };
}

/** Returns a function that describes a round with the texts of its questions and the names of its groups. */
async function describer(
  db: Db,
  { accountId }: Who,
  rounds: OpenRound[],
): Promise<(round: OpenRound) => OpenWeek['rounds'][number]> {
  const [questions, groups] = await Promise.all([
    selectQuestions(db, accountId),
    selectGroupNames(
      db,
      accountId,
      rounds.flatMap(({ groupIds }) => groupIds),
    ),
  ]);
  const byId = new Map(questions.map((question) => [question.id, questionTextsOf(question)]));
  const names = new Map(groups.map(({ id, name }) => [id, name]));
  return ({ scheduleId, name, people, questionIds, groupIds, groupCount }) => ({
    scheduleId,
    name,
    people,
    questions: questionIds.map((id) => byId.get(id)).filter((one) => one !== undefined),
    groups: groupIds.map((id) => ({ id, name: names.get(id) ?? null })),
    groupCount,
  });
}

/** Returns what is due in this week and the next. */
async function comingRounds(db: Db, { accountId, timezone }: Who, now: number): Promise<Rounds['coming']> {
  const today = dayIn(timezone, now);
  const last = addWeeks(weekOf(today), 1);
  const schedules = (await selectSchedules(db, accountId)).filter(({ pausedAt }) => pausedAt === null);
  const [calendars, audiences] = await Promise.all([
    calendarsOf(db, accountId, schedules, { today, count: 2 }),
    audiencesOf(db, accountId, schedules, today),
  ]);
  const wanted = schedules.map((schedule) => {
    const coming = calendars.get(schedule.id)!.coming.filter(({ week }) => week <= last);
    return { schedule, coming, days: coming.map(({ day }) => (day < today ? today : day)) };
  });
  const expected = await comingByDate(db, accountId, wanted);
  const rows = wanted.flatMap(({ schedule: { id, name }, coming }, i) =>
    coming.map(({ week, day, questionIds }, at) => {
      const round = expected[i]?.rounds[at];
      return {
        ...named(week),
        day,
        isLate: day < today,
        id,
        schedule: name,
        questions: questionIds.length,
        people: round ? round.people : audiences[i]!.people,
        waits: expected[i] && round ? waitingIn(round, expected[i].minimum) : null,
      };
    }),
  );
  return rows.toSorted((a, b) => (a.day < b.day ? -1 : 1));
}
