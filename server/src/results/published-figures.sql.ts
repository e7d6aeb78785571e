// SQL of computing and writing the figures of an open week. Writers: published-figures.ts.
import type { NoiseLevel } from '@soundings/contract/console/privacy.ts';
import type { Week } from '@soundings/contract/weeks.ts';
import { type AccountId, copyInto, type Db, inBatches, type Transaction } from '../db/db.ts';
import type { KpiValue, Result } from './figures.ts';
import { deleteFragments } from './fragments/fragments.sql.ts';
import { deletePacksOf } from './fragments/packs.sql.ts';
import type { Rate } from './disclosure/response-rates.ts';
import type { Assignment, WeekFrame, WeekRound } from './turnout.ts';

/** PostgreSQL reads this many batches of people or answers while others are decrypted. */
const batchesAhead = 2;

export type OpenWeekRow = {
  isClosed: boolean;
  isShown: boolean;
  figures: number;
  distribution: number;
  comments: number;
  noise: NoiseLevel;
  isLive: boolean;
};

/**
 * Returns a week. Closing a week locks it: answers that are being saved are waited for, and later ones find the week closed.
 * Updating a live week does not lock it, so people can answer in the meantime.
 */
export async function selectWeek(
  tx: Transaction,
  accountId: AccountId,
  week: Week,
  isLocked: boolean,
): Promise<OpenWeekRow | undefined> {
  const [row] = await tx<OpenWeekRow[]>`
    select closed_at is not null as "isClosed",
           shown_at is not null  as "isShown",
           threshold             as "figures",
           distribution_threshold      as "distribution",
           comment_threshold     as "comments",
           noise                 as "noise",
           is_live               as "isLive"
    from   weeks
    where  account_id = ${accountId} and week = ${week}
    ${isLocked ? tx`for update` : tx``}`;
  return row;
}

/** Returns what a week asks of which groups. `scheduledRounds`: the rounds that schedules opened. */
export async function selectAskedGroups(
  db: Db,
  accountId: AccountId,
  week: Week,
): Promise<Pick<WeekFrame, 'rounds' | 'asked'> & { scheduledRounds: Set<number> }> {
  const [rounds, asked] = await Promise.all([
    db<(WeekRound & { isScheduled: boolean })[]>`
      select round_id     as "id",
             group_id     as "groupId",
             question_ids as "questionIds",
             not_applicable_ids as "notApplicableIds",
             above_ids    as "aboveIds",
             schedule_id is not null as "isScheduled"
      from   rounds
      where  account_id = ${accountId} and week = ${week}
      order  by round_id`,
    db<{ groupId: number; questionIds: number[] }[]>`
      select group_id as "groupId", question_ids as "questionIds"
      from   asked
      where  account_id = ${accountId} and week = ${week}
      order  by group_id`,
  ]);
  return {
    rounds,
    asked,
    scheduledRounds: new Set(rounds.filter(({ isScheduled }) => isScheduled).map(({ id }) => id)),
  };
}

/** Yields who is asked in a week, in batches. Assignments with the same groups share one list, because most people are in the same groups as their colleagues. */
export async function* selectAssignments(
  db: Db,
  accountId: AccountId,
  week: Week,
): AsyncGenerator<Assignment[], void> {
  const lists = new Map<string, number[]>();
  // As text, because the driver needs three times as long to parse an array.
  const batches = inBatches(
    db<{ respondent: string; roundId: number; groupIds: string }[]>`
      select respondent                  as "respondent",
             round_id                    as "roundId",
             array_to_string(group_ids, ',') as "groupIds"
      from   assignments
      where  account_id = ${accountId} and week = ${week}
      order  by respondent, round_id`,
    5_000,
    batchesAhead,
  );
  for await (const batch of batches)
    yield batch.map(({ respondent, roundId, groupIds }) => {
      const list = lists.get(groupIds) ?? groupIds.split(',').map(Number);
      lists.set(groupIds, list);
      return { respondent, roundId, groupIds: list };
    });
}

/** Yields the sealed answers of a week in batches, in an order that reveals nothing. */
export function selectSealed(
  db: Db,
  accountId: AccountId,
  week: Week,
): AsyncIterable<{ respondent: string; sealed: Buffer }[]> {
  return inBatches(
    db<{ respondent: string; sealed: Buffer }[]>`
    select respondent as "respondent", sealed as "sealed"
    from   answers
    where  account_id = ${accountId} and week = ${week}
    order  by respondent, import_batch`,
    2_000,
    batchesAhead,
  );
}

/** Returns the results that are shown for an open week, by question. */
export async function selectShown(
  tx: Transaction,
  accountId: AccountId,
  week: Week,
  groupIds: number[],
): Promise<Map<number, Result[]>> {
  const rows = await tx<
    (Omit<Result, 'distribution' | 'notApplicable'> & {
      questionId: number;
      distribution: string | null;
      count: number | null;
      of: number | null;
    })[]
  >`
    select question_id as "questionId",
           group_id    as "groupId",
           value       as "value",
           answers     as "answers",
           distribution      as "distribution",
           not_applicable    as "count",
           not_applicable_of as "of",
           handed_out  as "handedOut",
           noise       as "noise"
    from   results
    where  account_id = ${accountId} and group_id = any(${groupIds}) and week = ${week}`;
  const results = new Map<number, Result[]>();
  for (const { questionId, distribution, count, of, ...row } of rows) {
    const one: Result = {
      ...row,
      distribution: distribution === null ? null : (JSON.parse(distribution) as Result['distribution']),
      ...(count !== null && of !== null && { notApplicable: { count, of } }),
    };
    const others = results.get(questionId);
    if (others) others.push(one);
    else results.set(questionId, [one]);
  }
  return results;
}

/** Returns the ids of the account's current groups and segments. Figures of those deleted in the meantime are not written. */
export async function selectPresent(db: Db, accountId: AccountId): Promise<Set<number>> {
  const rows = await db<{ id: number }[]>`
    select group_id as id from groups where account_id = ${accountId}
    union  all
    select segment_id as id from segments where account_id = ${accountId}`;
  return new Set(rows.map(({ id }) => id));
}

export async function copyResults(
  tx: Transaction,
  accountId: AccountId,
  week: Week,
  rows: Iterable<Result & { questionId: number }>,
): Promise<void> {
  await copyInto(
    tx`copy results (account_id, week, group_id, question_id, value, answers, distribution, not_applicable, not_applicable_of, handed_out, noise) from stdin`,
    Iterator.from(rows).map(
      ({ groupId, questionId, value, answers, distribution, notApplicable, handedOut, noise }) => [
        accountId,
        week,
        groupId,
        questionId,
        value,
        answers,
        distribution && JSON.stringify(distribution),
        notApplicable?.count ?? null,
        notApplicable?.of ?? null,
        handedOut,
        noise,
      ],
    ),
  );
}

export async function copyRates(
  tx: Transaction,
  accountId: AccountId,
  week: Week,
  rates: Rate[],
): Promise<void> {
  if (rates.length === 0) return;
  await copyInto(
    tx`copy response_rates (account_id, week, group_id, value, people, asked, answered, handed_out) from stdin`,
    rates
      .values()
      .map(({ groupId, value, people, asked, answered, handedOut }) => [
        accountId,
        week,
        groupId,
        value,
        people,
        asked,
        answered,
        handedOut,
      ]),
  );
}

export async function copyKpiValues(
  tx: Transaction,
  accountId: AccountId,
  week: Week,
  values: KpiValue[],
): Promise<void> {
  if (values.length === 0) return;
  await copyInto(
    tx`copy kpi_values (account_id, week, kpi_id, group_id, value, handed_out, asked_whole) from stdin`,
    values
      .values()
      .map(({ kpiId, groupId, value, handedOut, askedWhole }) => [
        accountId,
        week,
        kpiId,
        groupId,
        value,
        handedOut,
        askedWhole,
      ]),
  );
}

/** Stores the questions of each KPI with the week, so that later changes of a KPI don't change what the week shows. */
export async function updateKpiQuestions(
  tx: Transaction,
  accountId: AccountId,
  week: Week,
  kpis: readonly { id: string; questionIds: readonly number[] }[],
): Promise<void> {
  const questions = JSON.stringify(Object.fromEntries(kpis.map(({ id, questionIds }) => [id, questionIds])));
  await tx`
    update weeks set kpi_questions = ${questions}::text::json
    where  account_id = ${accountId} and week = ${week}`;
}

/** Records that these KPIs have values. */
export async function updateKpisWithValues(
  tx: Transaction,
  accountId: AccountId,
  kpiIds: string[],
): Promise<void> {
  await tx`
    update kpis set has_values = true
    where  account_id = ${accountId} and kpi_id = any(${kpiIds}) and not has_values`;
}

/** `handedOutIn`: see ShownComment. */
export type PublishedComment = {
  questionId: number;
  position: number;
  text: string;
  groupIds: number[];
  handedOutIn: number[];
};

export async function copyComments(
  tx: Transaction,
  accountId: AccountId,
  week: Week,
  comments: PublishedComment[],
): Promise<void> {
  if (comments.length === 0) return;
  await copyInto(
    tx`copy comments (account_id, week, question_id, position, text) from stdin`,
    comments.values().map(({ questionId, position, text }) => [accountId, week, questionId, position, text]),
  );
  await copyInto(
    tx`copy comment_groups (account_id, week, question_id, position, group_id, handed_out) from stdin`,
    comments
      .values()
      .flatMap(({ questionId, position, groupIds, handedOutIn }) =>
        groupIds.map((id) => [accountId, week, questionId, position, id, handedOutIn.includes(id)]),
      ),
  );
}

/** Deletes what is shown for an open week in these groups, which must be all groups that it asks or counts in. */
export async function deleteShown(
  tx: Transaction,
  accountId: AccountId,
  week: Week,
  groupIds: number[],
): Promise<void> {
  const ids = groupIds;
  await tx`delete from results where account_id = ${accountId} and group_id = any(${ids}) and week = ${week}`;
  await tx`delete from response_rates where account_id = ${accountId} and group_id = any(${ids}) and week = ${week}`;
  await tx`
    delete from kpi_values
    where  account_id = ${accountId} and group_id = any(${ids}) and week = ${week}
      and  kpi_id in (select kpi_id from kpis where account_id = ${accountId})`;
  await tx`delete from comment_groups where account_id = ${accountId} and group_id = any(${ids}) and week = ${week}`;
  await tx`delete from comments where account_id = ${accountId} and week = ${week}`;
}

/** Yields the users that schedules asked in a week, in batches. */
export const selectAskedUsers = (
  db: Db,
  accountId: AccountId,
  week: Week,
): AsyncGenerator<{ userId: number; isActive: boolean; hasHandedOut: boolean }[], void> =>
  inBatches(
    db<{ userId: number; isActive: boolean; hasHandedOut: boolean }[]>`
      select u.user_id as "userId", u.active as "isActive", h.user_id is not null as "hasHandedOut"
      from   participants p
      join   users u using (account_id, user_id)
      left   join (select distinct user_id from links
                   where  account_id = ${accountId} and week = ${week} and is_exported
                   union  -- a card is in someone's hands whether it is used or not
                   select user_id from cards where account_id = ${accountId}) h on h.user_id = p.user_id
      where  p.account_id = ${accountId} and p.week = ${week}`,
    5_000,
    batchesAhead,
  );

/** Deletes everything that was published about these groups or asked of them (decision A15). */
export async function deleteFigures(
  tx: Transaction,
  accountId: AccountId,
  groupIds: number[],
): Promise<void> {
  await tx`delete from results where account_id = ${accountId} and group_id = any(${groupIds})`;
  await tx`delete from response_rates where account_id = ${accountId} and group_id = any(${groupIds})`;
  await tx`
    delete from kpi_values
    where  account_id = ${accountId} and group_id = any(${groupIds})
      and  kpi_id in (select kpi_id from kpis where account_id = ${accountId})`;
  await tx`delete from asked where account_id = ${accountId} and group_id = any(${groupIds})`;
  await deleteFragments(tx, accountId, groupIds);
  await deletePacksOf(tx, accountId, groupIds);
  const shown = await tx<{ week: Week; questionId: number; position: number }[]>`
    delete from comment_groups
    where  account_id = ${accountId} and group_id = any(${groupIds})
    returning week as "week", question_id as "questionId", position as "position"`;
  if (shown.length === 0) return;
  await tx`
    delete from comments c
    using  jsonb_to_recordset(${tx.json(shown)}) as s(week date, "questionId" integer, position integer)
    where  c.account_id = ${accountId} and c.week = s.week and c.question_id = s."questionId"
      and  c.position = s.position
      and  not exists (select 1
                       from   comment_groups g
                       where  g.account_id = ${accountId} and g.week = c.week and g.question_id = c.question_id
                         and  g.position = c.position)`;
}
