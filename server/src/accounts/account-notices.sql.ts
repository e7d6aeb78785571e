// SQL of notices about what administrators have changed. They are jobs, and kept nowhere else.
import type { AccountId, Transaction } from '../db/db.ts';

export type NoticedChange = 'second step turned off' | 'link shown' | 'address changed' | 'role changed';

/** Asks for a mail to the address that the person had before the change. */
export async function addAccountNotice(
  tx: Transaction,
  accountId: AccountId,
  { userId, change, to }: { userId: number; change: NoticedChange; to: string },
): Promise<void> {
  await tx`
    select graphile_worker.add_job(
             'mail account notice',
             json_build_object('accountId', ${accountId}::integer, 'userId', ${userId}::integer, 'change', ${change}::text,
                               'to', ${to}::text), queue_name := 'mail')`;
}
