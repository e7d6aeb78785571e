// SQL for encrypting open weeks before migration 0020. Writers: seal-open-weeks.ts.
import type { Week } from '@soundings/contract/weeks.ts';
import { type AccountId, copyInto, type Transaction } from '../db/db.ts';

export type UnsealedWeek = { accountId: AccountId; week: Week };

/** Returns the open weeks of all accounts that have not been encrypted. */
export async function selectUnsealedWeeks(tx: Transaction): Promise<UnsealedWeek[]> {
  return tx<UnsealedWeek[]>`
    select account_id as "accountId", week as "week"
    from   weeks w
    where  closed_at is null
      and  not exists (select 1 from week_keys k where k.account_id = w.account_id and k.week = w.week)
    order  by account_id, week`;
}

/** Returns the old numbers of the people asked in a week, which were derived from their externalIds. */
export async function selectOldNumbers(
  tx: Transaction,
  accountId: AccountId,
  week: Week,
): Promise<{ old: string; userId: number }[]> {
  return tx<{ old: string; userId: number }[]>`
    select respondent_of(w.respondent_key, person_of(u.external_id, u.user_id))::text as "old",
           u.user_id                                                                  as "userId"
    from   weeks w
    join   users u on u.account_id = w.account_id
    where  w.account_id = ${accountId} and w.week = ${week}
      and  (exists (select 1 from participants p
                    where  p.account_id = w.account_id and p.user_id = u.user_id and p.week = w.week)
            or not exists (select 1 from participants p where p.account_id = w.account_id and p.week = w.week))`;
}

export async function selectUnsealedAssignments(
  tx: Transaction,
  accountId: AccountId,
  week: Week,
): Promise<{ old: string; roundId: number; groupIds: string }[]> {
  return tx<{ old: string; roundId: number; groupIds: string }[]>`
    select respondent::text as "old", round_id as "roundId", group_ids::text as "groupIds"
    from   unsealed_assignments
    where  account_id = ${accountId} and week = ${week}`;
}

export async function selectUnsealed(
  tx: Transaction,
  accountId: AccountId,
  week: Week,
): Promise<
  {
    old: string;
    questionId: number;
    value: number | null;
    choices: string[] | null;
    comment: string | null;
    skipped: boolean;
  }[]
> {
  return tx`
    select respondent::text as "old",
           question_id      as "questionId",
           value            as "value",
           choices          as "choices",
           comment          as "comment",
           skipped          as "skipped"
    from   unsealed_answers
    where  account_id = ${accountId} and week = ${week}
    order  by respondent, question_id`;
}

export async function insertSealed(
  tx: Transaction,
  accountId: AccountId,
  week: Week,
  {
    assignments,
    sealed,
  }: {
    assignments: { respondent: string; roundId: number; groupIds: string }[];
    sealed: { respondent: string; sealed: Buffer }[];
  },
): Promise<void> {
  const byNumber = <T extends { respondent: string }>(rows: T[]) =>
    rows.toSorted((a, b) => (a.respondent < b.respondent ? -1 : 1));
  await copyInto(
    tx`copy assignments (account_id, week, respondent, round_id, group_ids) from stdin`,
    byNumber(assignments).map(({ respondent, roundId, groupIds }) => [
      accountId,
      week,
      respondent,
      roundId,
      groupIds,
    ]),
  );
  // Migration 0038, which runs later, renames the column `part`.
  await copyInto(
    tx`copy answers (account_id, week, respondent, part, sealed) from stdin`,
    byNumber(sealed).map((one) => [accountId, week, one.respondent, 0, one.sealed]),
  );
}

/** Deletes the unencrypted answers of all accounts, and the old keys of open weeks. */
export async function forgetUnsealed(tx: Transaction): Promise<void> {
  await tx`truncate unsealed_answers, unsealed_assignments -- account_id: all`;
  await tx`update weeks set respondent_key = null where closed_at is null and account_id is not null`;
}
