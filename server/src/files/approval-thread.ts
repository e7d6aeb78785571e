// Applies a pending run from the console. Runs on a thread, because planning for 20,000 people would block other requests.
import { Fault } from '../base/errors.ts';
import type { AccountId } from '../db/db.ts';
import { runOnThread } from '../jobs/threads.ts';
import type { Approval } from './approval.ts';

/** Applies a pending run. Throws like approveRun, and a Fault `unavailable` while another run of the account is applied. */
export type Approve = (accountId: AccountId, runId: string, approval: Approval) => Promise<void>;

/** The limits of the thread. */
const limits = { heapMb: 1024, milliseconds: 120_000 };

/** `thread` is the module that applies the run. */
export function openApprover(thread: URL, databaseUrl: Promise<string>): Approve {
  const busy = new Set<AccountId>();
  return async (accountId, runId, approval) => {
    if (busy.has(accountId)) {
      const message = 'Another run of this account is being applied. Try again in a moment.';
      throw new Fault('unavailable', 'unavailable', message, { retryAfter: 5 });
    }
    busy.add(accountId);
    try {
      const data = { databaseUrl: await databaseUrl, accountId, approve: { runId, approval } };
      await runOnThread(thread, data, limits);
    } finally {
      busy.delete(accountId);
    }
  };
}
