// SQL of counting who has answered. Writers: participation.ts.
import { dayIn, type Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';

export type WeekToCount = {
  accountId: AccountId;
  week: Week;
  timezone: string;
  /** The size of the steps in which people are counted. */
  step: number;
  /** The day of the last count; null if there was none. */
  countedOn: string | null;
  countedAt: Date | null;
  /** Returns the day in a time zone on which a schedule first asked. */
  openedOn: (timezone: string) => string;
};

/** Returns the open weeks of all accounts in which schedules ask, except weeks in which answers are not anonymous. */
export async function selectWeeksToCount(db: Db): Promise<WeekToCount[]> {
  const rows = await db<(Omit<WeekToCount, 'openedOn'> & { openedAt: Date })[]>`
    select w.account_id        as "accountId",
           w.week              as "week",
           a.timezone          as "timezone",
           w.distribution_threshold  as "step",
           w.participation_on  as "countedOn",
           w.participation_at  as "countedAt",
           min(s.at)           as "openedAt"
    from   weeks w
    join   accounts a on a.account_id = w.account_id
    join   schedule_weeks s on s.account_id = w.account_id and s.week = w.week and s.outcome = 'opened'
    where  w.closed_at is null and w.threshold > 1
    group  by w.account_id, w.week, a.timezone, w.distribution_threshold, w.participation_on, w.participation_at
    order  by w.account_id, w.week`;
  return rows.map(({ openedAt, ...row }) => ({
    ...row,
    openedOn: (timezone) => dayIn(timezone, openedAt.getTime()),
  }));
}

/** Returns the people asked in a week who have been active users since a time. */
export async function selectEligible(
  db: Db,
  accountId: AccountId,
  week: Week,
  since: Date,
): Promise<number[]> {
  const rows = await db<{ userId: number }[]>`
    select u.user_id as "userId"
    from   participants p
    join   users u on u.account_id = p.account_id and u.user_id = p.user_id
    where  p.account_id = ${accountId} and p.week = ${week} and u.active and u.active_since <= ${since}`;
  return rows.map(({ userId }) => userId);
}

/** Returns the respondent numbers of people who have answered anything in a week. */
export async function selectWhoAnswered(db: Db, accountId: AccountId, week: Week): Promise<string[]> {
  const rows = await db<{ respondent: string }[]>`
    select distinct respondent as "respondent"
    from   answers
    where  account_id = ${accountId} and week = ${week}`;
  return rows.map(({ respondent }) => respondent);
}

export async function updateParticipation(
  tx: Transaction,
  accountId: AccountId,
  week: Week,
  { count, today, now }: { count: number | null; today: string; now: number },
): Promise<void> {
  await tx`
    update weeks
    set    participation = case when ${count}::integer is not null then greatest(participation, ${count}::integer) end,
           participation_on = ${today},
           participation_at = ${new Date(now)}
    where  account_id = ${accountId} and week = ${week} and closed_at is null`;
}
