// Applying a held run from the console: on a thread, since planning for 20,000 people would hold up every other request.
import { Fault } from '../base/errors.ts';
import type { AccountId } from '../db/db.ts';
import { runThread } from '../jobs/threads.ts';
import type { Approval } from './process.ts';

/** Applies a held run. Throws as approveRun does, and a Fault, unavailable, while another of the account is applied. */
export type Approve = (accountId: AccountId, runId: string, approval: Approval) => Promise<void>;

/** What it may take. */
const limits = { heapMb: 1024, milliseconds: 120_000 };

/** `thread`: the module that applies it. */
export function openApproving(thread: URL, databaseUrl: Promise<string>): Approve {
  const busy = new Set<AccountId>();
  return async (accountId, runId, approval) => {
    if (busy.has(accountId)) {
      const message = 'A run of the account is being applied. Try again in a moment.';
      throw new Fault('unavailable', 'unavailable', message, { retryAfter: 5 });
    }
    busy.add(accountId);
    try {
      const data = { databaseUrl: await databaseUrl, accountId, approve: { runId, approval } };
      await runThread(thread, data, limits);
    } catch (error) {
      if (!isFault(error)) throw error;
      throw new Fault(error.kind, error.code, error.message, { details: error.details });
    } finally {
      busy.delete(accountId);
    }
  };
}

/** Whether it was a Fault before it came from one thread to another. */
const isFault = (error: unknown): error is Fault => error instanceof Error && error.name === 'Fault';
