// SQL of a person's new number in open weeks. Writers: renamed.ts.
import type { AccountId, Transaction } from '../db/db.ts';

/** Locks the open weeks: nobody answers, opens or closes one until the transaction ends. */
export async function lockOpenWeeks(tx: Transaction, accountId: AccountId): Promise<void> {
  await tx`
    select 1
    from   weeks
    where  account_id = ${accountId} and closed_at is null
    order  by week
    for    update`;
}

/**
 * Rows of the table `a` in open weeks, by the new number. Where somebody who is gone was asked under it already, the week is
 * left as it is: as somebody made anew under that externalId, the person goes on from there. So answers come before
 * assignments.
 */
const renamed = (tx: Transaction, accountId: AccountId, from: string, to: string) => tx`
    set    respondent = respondent_of(w.respondent_key, ${to})
    from   weeks w
    where  a.account_id = ${accountId} and w.account_id = a.account_id and w.week = a.week and w.closed_at is null
      and  a.respondent = respondent_of(w.respondent_key, ${from})
      and  not exists (select 1
                       from   assignments b
                       where  b.account_id = a.account_id and b.week = a.week
                         and  b.respondent = respondent_of(w.respondent_key, ${to}))`;

export async function renameAnswers(
  tx: Transaction,
  accountId: AccountId,
  from: string,
  to: string,
): Promise<void> {
  await tx`update answers a ${renamed(tx, accountId, from, to)}`;
}

export async function renameAssignments(
  tx: Transaction,
  accountId: AccountId,
  from: string,
  to: string,
): Promise<void> {
  await tx`update assignments a ${renamed(tx, accountId, from, to)}`;
}
