// The console: asking the questions of a schedule immediately, after showing who is asked and how long they can answer.
import type { AskNow } from '@soundings/contract/console/start.ts';
import { dayIn, weekOf } from '@soundings/contract/weeks.ts';
import { changedSince } from '../../base/errors.ts';
import type { Db } from '../../db/db.ts';
import { alreadyAsked, type AskOnThread, tooLateToAsk } from '../../rounds/ask-now.ts';
import { selectThreshold } from '../../rounds/by-date/due.sql.ts';
import { questionsFor } from '../../rounds/calendar.ts';
import { endOf, sendableAt } from '../../rounds/send-times.ts';
import { audiencesOf, scheduleById } from '../../rounds/schedules.ts';
import { selectScheduleWeeks, selectTimezones } from '../../rounds/schedules.sql.ts';
import { actorOf, type Console, type Who } from '../core/console.ts';
import { idIn } from '../core/ids.ts';
import { versionOf } from '../core/versions.ts';
import type { AskingDependencies } from './asking-dependencies.ts';
import { addSending, selectGroupNames } from './asking.sql.ts';
import { named } from './question-texts.ts';

export function serveAskNow(
  console: Console,
  { pool, channels, now }: AskingDependencies,
  ask: AskOnThread,
): void {
  console.serve('POST /schedules/{scheduleId}/ask', async (who, { params, body }) => {
    const db = await pool;
    const scheduleId = idIn(params.scheduleId);
    const plan = await planOf(db, who, scheduleId, { now: now(), hasMail: channels.mail || channels.sms });
    if (body.isPreview) return plan;
    if (plan.isAsked) throw alreadyAsked(plan.week.week);
    // The others answer with links that are handed out.
    if (plan.isTooLate && plan.reachable === plan.people) throw tooLateToAsk();
    if (body.version !== plan.version) throw changedSince('Who is asked has changed');
    const asked = await ask({ accountId: who.accountId, scheduleId, by: actorOf(who) });
    await addSending(db);
    return { ...plan, people: asked.people, questions: asked.questionIds.length, isAsked: true };
  });
}

async function planOf(
  db: Db,
  { accountId, timezone }: Who,
  scheduleId: number,
  { now, hasMail }: { now: number; hasMail: boolean },
): Promise<AskNow> {
  const schedule = await scheduleById(db, accountId, scheduleId);
  const today = dayIn(timezone, now);
  const week = weekOf(today);
  const weekEnd = endOf(week, timezone);
  const [[audience], { questionIds }, weeks, names, zones] = await Promise.all([
    audiencesOf(db, accountId, [schedule], today),
    questionsFor(db, schedule, week),
    selectScheduleWeeks(db, accountId, scheduleId),
    selectGroupNames(db, accountId, [...schedule.groupIds, ...schedule.withoutGroupIds]),
    selectTimezones(db, [accountId]),
  ]);
  const isSendableIn = (zone: string) =>
    sendableAt(now - 1, now, { timezone: zone, anyHour: schedule.anyHour, weekEnd }) !== undefined;
  const isSendable = [timezone, ...zones.map((one) => one.timezone)].some(isSendableIn);
  const nameOf = new Map(names.map(({ id, name }) => [id, name]));
  const namesIn = (ids: number[]) => ids.flatMap((id) => nameOf.get(id) ?? []);
  return {
    scheduleId,
    name: schedule.name,
    version: versionOf([schedule, audience]),
    week: named(week),
    endsAt: new Date(weekEnd).toISOString(),
    people: audience?.people ?? 0,
    reachable: audience?.reachable ?? 0,
    minPeople:
      schedule.byDate && Math.max(schedule.byDate.minPeople, await selectThreshold(db, accountId, week)),
    groups: namesIn(schedule.groupIds),
    without: namesIn(schedule.withoutGroupIds),
    questions: questionIds.length,
    isAsked: weeks.some((one) => one.week === week && one.outcome === 'opened'),
    hasMail,
    isTooLate: hasMail && (audience?.reachable ?? 0) > 0 && !isSendable,
  };
}
