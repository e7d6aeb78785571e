// The queue of files: files of an account are processed one at a time, in the order of their arrival (decision C8), and retried
// after errors. Only the process that holds the account's turn reads its files. The turn is a lock of a connection, so it ends
// with its process (decisions/0018).
import { accountById, lockAccount } from '../accounts/accounts.ts';
import type { Account } from '../accounts/accounts.sql.ts';
import { audit } from '../accounts/audit.ts';
import type { Fault } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import { type AccountId, asFault, inTransaction, type Pool } from '../db/db.ts';
import type { DeleteGroupResults } from '../people/groups.ts';
import { newFindings } from '../sync/findings.ts';
import { updateFailed } from '../sync/runs.sql.ts';
import {
  isTurnFree,
  lockBegunFile,
  selectNextFile,
  takeTurn,
  updateLeft,
  type WaitingFile,
} from './process.sql.ts';
import { processFile, turnLost } from './process.ts';
import { fileReportOf, storeReport } from './report.ts';
import { addProcessing } from './store.sql.ts';

/**
 * Why an attempt failed. `elsewhere`: the file is not the cause, for example when the database is unavailable. `reader stopped`:
 * the system killed the process that reads the file, perhaps because the file takes much memory. `defect`: a bug.
 */
type Cause = 'elsewhere' | 'reader stopped' | 'defect';

/** The number of failed attempts, of any cause, after which a failure of this cause ends the file. */
const maxFailures: Record<Cause, number> = { elsewhere: Infinity, 'reader stopped': 5, defect: 3 };

/** The pause after each failed attempt, in seconds since the attempt began. Five attempts take an hour. */
const failurePauses = [5, 5 * 60, 15 * 60, 40 * 60];

/**
 * Returns the pause in seconds after the service has ended several times while it processed a file: 1, 2, 4 … 60 minutes from
 * the third time on. Interruptions never end a file. But if the file causes them, other files must get their turn.
 */
const interruptionPauseOf = (interruptions: number): number =>
  interruptions < 3 ? 0 : 60 * Math.min(60, 2 ** (interruptions - 3));

/** After this time in ms, the remaining files get another job, because stopping the service waits for the current job. */
const maxJobMs = 5000;

/** The pause in seconds after an attempt failed for a reason that is not the file. */
const retrySeconds = 5;

/**
 * Processes the files of an account with `work`, which gets the id of its turn. Does nothing if another process has the turn,
 * because that process also picks up files that arrive now. Errors are recorded for the file, and the file is retried.
 */
export async function processInTurn(
  pool: Pool,
  accountId: AccountId,
  work: (turnId: string) => Promise<void>,
  log: Log,
): Promise<void> {
  if (!(await isTurnFree(pool, accountId))) return;
  const turnId = newId();
  try {
    await work(turnId);
  } catch (error) {
    // A sandbox that was reset or deleted. Its files are deleted with it.
    const { code } = asFault(error) as Partial<Fault>;
    if (code === 'account not found' || code === 'account deleted') return;
    const cause = causeOf(error);
    log.error({ accountId, err: error, cause }, 'Processing a file failed. It will be retried');
    const pause = await recordFailure(pool, accountId, turnId, cause);
    await addProcessing(pool, accountId, pause);
  }
}

/** Returns why an attempt failed, from its error. */
function causeOf(error: unknown): Cause {
  const { name, kind, code, syscall } = asFault(error) as Partial<Fault> & { syscall?: string };
  if (name === 'Fault' && kind === 'unavailable')
    return code === 'file not processed' ? 'reader stopped' : 'elsewhere';
  return syscall === undefined ? 'defect' : 'elsewhere';
}

/**
 * Records that an attempt failed, and ends the file after its last attempt. Returns the seconds to wait before processing files
 * of the account again.
 */
async function recordFailure(
  pool: Pool,
  accountId: AccountId,
  turnId: string,
  cause: Cause,
): Promise<number> {
  const file = await selectNextFile(pool, accountId);
  const failures = (file?.failures ?? 0) + 1;
  if (file?.turn === turnId && failures >= maxFailures[cause]) {
    await giveUp(pool, await accountById(pool, accountId), file, reasonOf(cause, failures));
    return 0;
  }
  await updateLeft(pool, accountId, turnId, cause !== 'elsewhere');
  return cause === 'elsewhere' ? retrySeconds : failurePauseOf(failures);
}

const failurePauseOf = (failures: number): number =>
  failurePauses[Math.min(failures, failurePauses.length) - 1] ?? 0;

const reasonOf = (cause: Cause, failures: number): string =>
  cause === 'reader stopped'
    ? `Reading this file failed ${failures} times in about an hour. The system stopped it, probably because memory ran out. ` +
      'Give Soundings more memory, or save the file as CSV, which needs less. Then send it again.'
    : `Processing this file failed ${failures} times. See the service log for the reason, then send the file again.`;

/**
 * Processes the waiting files of an account, unless another process has the turn. Every file ends with a report, whatever it
 * contains. Any error thrown is one to retry.
 */
export async function processFiles(
  pool: Pool,
  accountId: AccountId,
  deleteGroupResults: DeleteGroupResults,
  log: Log,
  turnId: string = newId(),
): Promise<void> {
  const deadline = performance.now() + maxJobMs;
  let next: WaitingFile | undefined;
  do {
    const hadTurn = await inTurn(pool, accountId, async (connection) => {
      for (;;) {
        const file = await selectNextFile(pool, accountId);
        if (!file || isPaused(file) || performance.now() > deadline) return;
        warnOfInterruptions(file, accountId, log);
        await processFile(pool, accountId, file, {
          turn: { id: turnId, connection },
          deleteGroupResults,
          log,
        });
      }
    });
    if (!hadTurn) return;
    // Files may have arrived after the last one was read. Other processes left them to us because we had the turn.
    next = await selectNextFile(pool, accountId);
    if (next && performance.now() > deadline) return addProcessing(pool, accountId);
  } while (next && !isPaused(next));
}

/** Does the work while holding the account's turn. Returns false if another process has the turn. */
const inTurn = (
  pool: Pool,
  accountId: AccountId,
  work: (connection: number) => Promise<void>,
): Promise<boolean> =>
  inTransaction(pool, async (tx) => {
    const connection = await takeTurn(tx, accountId);
    if (connection === undefined) return false;
    // Converted to a Fault: on a driver error, the transaction would assume that its own connection is lost, and wait for it.
    await work(connection).catch((error: unknown) => Promise.reject(asFault(error)));
    return true;
  });

const interruptionsOf = ({ interruptions, turn }: WaitingFile) => interruptions + (turn === null ? 0 : 1);
const isPaused = (file: WaitingFile) =>
  (file.begunAgo ?? Infinity) <
  Math.max(failurePauseOf(file.failures), interruptionPauseOf(interruptionsOf(file)));

function warnOfInterruptions(file: WaitingFile, accountId: AccountId, log: Log): void {
  const interruptions = interruptionsOf(file);
  if (interruptionPauseOf(interruptions) === 0) return;
  const message = 'The service stopped several times while processing this file. Processing starts again';
  log.warn({ accountId, fileId: file.id, interruptions }, message);
}

/** Ends a file that could not be processed, so that later files can be processed. */
async function giveUp(pool: Pool, account: Account, file: WaitingFile, message: string): Promise<void> {
  const findings = newFindings();
  findings.fault({ type: 'file not processed', message });
  await inTransaction(pool, async (tx) => {
    await lockAccount(tx, account.id);
    if (!(await lockBegunFile(tx, account.id, file.id, file.turn))) throw turnLost();
    if (file.runId !== null) await updateFailed(tx, account.id, file.runId, message);
    const entry = { subject: file.id, details: { file: file.name } };
    await audit(tx, account.id, { origin: 'service' }, 'file abandoned', entry);
    await storeReport(
      tx,
      account,
      file,
      fileReportOf(account, file, file.runId ?? newId(), { outcome: 'failed' }, findings),
    );
  });
}
