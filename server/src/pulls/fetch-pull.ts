// Fetches the list of a claimed pull, and stores it as a file, which then takes the path of every file: the queue, the column mappings,
// the limits and the report. The file and the outcome are stored in one transaction, and only while the claim lasts, so that no list is
// stored twice and none is lost when the process is killed.
import type { FetchReason, PullError } from '@soundings/contract/pulls/pull-values.ts';
import { createHash } from 'node:crypto';
import type { FailingMail } from './failing.ts';
import { queueAdministratorMails, type MailPayload } from '../accounts/account-notices.ts';
import { audit } from '../accounts/audit.ts';
import type { Sealer } from '../base/crypto/sealer.ts';
import { Fault } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { inTransaction, type Pool, type Transaction } from '../db/db.ts';
import { recordEvent } from '../events/events.ts';
import { openUpload } from '../files/store.ts';
import { ThreadTimeout } from '../jobs/threads.ts';
import { PullFault } from './pull-fault.ts';
import {
  type AfterFetch,
  type ClaimedPull,
  type DuePull,
  insertFetch,
  type NewFetch,
  selectClaimedTimes,
  selectDuePull,
  updateFailedFetch,
  updateFetched,
} from './claims.sql.ts';
import { selectNextTime, selectOverlapping } from './pulls.sql.ts';
import { type Effort, type FetchedList, type FetchOptions, readList } from './read-list.ts';
import { openPullSecret } from './secrets.ts';

/** `now` returns the time in ms. `canMail`: emails can be sent. */
export type Recording = { pool: Pool; canMail: boolean; log: Log; now: () => number };
export type Fetching = Recording & FetchOptions & { secrets: Sealer };

/** The pauses in ms before another attempt after a failure that may be over soon. After the last one, the schedule continues. */
const pauses = [5, 15, 60].map((minutes) => minutes * 60_000);

/** Fetches a claimed pull. Does nothing if the claim is lost. Every error of the list is an outcome; any error thrown is one to retry. */
export async function fetchPull(fetching: Fetching, claimed: ClaimedPull): Promise<void> {
  const { pool } = fetching;
  const pull = await selectDuePull(pool, claimed);
  if (!pull) return;
  const effort = { requests: 0, bytes: 0 };
  try {
    await refuseOverlapping(pool, claimed, pull);
    const list = await fetchedList(fetching, claimed, pull, effort);
    if (list) await store(fetching, claimed, pull, list, effort);
    else await inTransaction(pool, (tx) => recordUnchanged(tx, fetching, claimed, pull, effort));
  } catch (error) {
    if (error instanceof ClaimLost) return; // another process fetches it, or an administrator has changed it
    await recordFailure(fetching, claimed, pull, { ...faultOf(error), effort });
  }
}

class ClaimLost extends Error {}

/**
 * Throws the fault of a list that would remove the people of another pull. An administrator can only turn on one of them, unless files only add and
 * update, and then change that setting.
 */
async function refuseOverlapping(
  pool: Pool,
  { accountId, pullId }: ClaimedPull,
  { wanted }: DuePull,
): Promise<void> {
  if (wanted === 'dryRun') return;
  const other = await selectOverlapping(pool, accountId, pullId);
  if (other !== undefined) throw new PullFault('overlap', other);
}

/** Returns the list; undefined if it is unchanged and would change nothing. */
async function fetchedList(
  { secrets, ...options }: Fetching,
  { accountId, pullId }: ClaimedPull,
  pull: DuePull,
  effort: Effort,
): Promise<FetchedList | undefined> {
  const sealed = pull.secret;
  const secret =
    sealed && (await openPullSecret(secrets, { accountId, pullId, ...pull }, sealed).catch(asMissing));
  if (secret === undefined) throw new PullFault('secret');
  const { etag, lastModified } = pull;
  const mayStay = pull.wanted === null && pull.isSettled;
  const known = mayStay && (etag ?? lastModified) !== null ? { etag, lastModified } : undefined;
  const source = { ...pull, secret: secret ?? '', known, canGrow: pull.wanted === 'dryRun' };
  const list = await readList(source, options, effort);
  return list && mayStay && pull.digest?.equals(digestOf(list)) ? undefined : list;
}

/** Throws the fault of a missing secrets key, so that someone notices. Throws any other error again. */
function asMissing(error: unknown): never {
  if (error instanceof Fault && error.code === 'secrets key missing')
    throw new PullFault('secret', error.message, true);
  throw error;
}

const digestOf = ({ kind, bytes }: FetchedList): Buffer =>
  createHash('sha256').update(kind).update(bytes).digest();

/** Stores a list as a file of the account, which is then processed. */
async function store(
  fetching: Fetching,
  claimed: ClaimedPull,
  pull: DuePull,
  list: FetchedList,
  effort: Effort,
): Promise<void> {
  const { pool } = fetching;
  const { accountId } = claimed;
  const isDryRun = pull.wanted === 'dryRun';
  const address = new URL(pull.url).host;
  const receiving = {
    accountId,
    via: 'pull' as const,
    tokenId: null,
    userId: pull.wantedBy,
    address,
    isDryRun,
  };
  const name = fileNameFor(pull.name, list.kind);
  const upload = await openUpload(pool, receiving, name).catch(asStorage);
  try {
    await upload.write(0, list.bytes);
    await upload.finish(name, async (tx) => {
      const stored = { ...list, digest: digestOf(list), fileId: upload.id, isDryRun };
      if (!(await updateFetched(tx, claimed, await afterFetch(tx, fetching, claimed, pull), stored)))
        throw new ClaimLost();
      const { rows = null } = list;
      const fetch = fetchOf(pull, 'stored', effort);
      await insertFetch(tx, claimed, { ...fetch, fileId: upload.id, rows });
    });
  } catch (error) {
    await upload.abort().catch(() => {}); // otherwise it is deleted with other unfinished uploads
    asStorage(error);
  }
}

/** Throws the fault of a list that can't be stored. Throws any other error again. */
function asStorage(error: unknown): never {
  if (error instanceof Fault && error.code === 'file validation')
    throw new PullFault('storage', error.message);
  throw error;
}

/** Returns a valid name for the file of a pull. Each file of a pull has the same name, so the last one counts. */
export function fileNameFor(name: string, kind: FetchedList['kind']): string {
  const plain = name
    .normalize('NFC')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\\/:*?"<>|]/gu, '-')
    .replaceAll(/^[\s.]+|\s+$/g, '');
  const isReserved = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(plain);
  let short = isReserved || plain === '' ? `list ${plain}`.trim() : plain;
  while (Buffer.byteLength(short) > 190) short = [...short].slice(0, -1).join('').trimEnd();
  return `${short}.${kind}`;
}

async function recordUnchanged(
  tx: Transaction,
  fetching: Fetching,
  claimed: ClaimedPull,
  pull: DuePull,
  effort: Effort,
): Promise<void> {
  if (!(await updateFetched(tx, claimed, await afterFetch(tx, fetching, claimed, pull)))) return;
  await insertFetch(tx, claimed, { ...fetchOf(pull, 'unchanged', effort), fileId: pull.lastFileId });
}

/** Returns the next state of the pull. `again`: an attempt before the schedule, in ms. */
async function afterFetch(
  tx: Transaction,
  { now }: Recording,
  claimed: ClaimedPull,
  pull: DuePull,
  again = Infinity,
): Promise<AfterFetch> {
  const time = now();
  const isAsked = pull.wanted !== null;
  const times = (await selectClaimedTimes(tx, claimed)) ?? pull; // an administrator may have changed them
  const regular = await selectNextTime(tx, claimed.accountId, times, time);
  const nextAt = isAsked ? null : Math.min(regular, again);
  return { nextAt, wantedAt: pull.wantedAt, now: time };
}

const reasonOf = ({ wanted }: DuePull): FetchReason => wanted ?? 'schedule';

const fetchOf = (pull: DuePull, outcome: NewFetch['outcome'], effort: Effort): NewFetch => ({
  reason: reasonOf(pull),
  outcome,
  error: null,
  detail: null,
  fileId: null,
  ...effort,
  rows: null,
  userId: pull.wantedBy,
});

type Failure = { error: PullError; detail: string | null; isBrief: boolean };

/** Returns a failure to record. Throws an error that a retry may solve, such as a lost connection to the database. */
function faultOf(error: unknown): Failure {
  if (error instanceof PullFault)
    return { error: error.error, detail: error.detail ?? null, isBrief: error.isBrief };
  throw error;
}

/**
 * Records a failure. A failure that may be over soon is followed by another attempt. If there is none before the schedule goes on, the
 * administrators are notified, once until it works again. An administrator who asked for the list sees its failure on the page.
 */
async function recordFailure(
  recording: Recording,
  claimed: ClaimedPull,
  pull: DuePull,
  { error, detail, isBrief, effort }: Failure & { effort: Effort },
): Promise<void> {
  const { pool, canMail, log, now } = recording;
  const { accountId, pullId } = claimed;
  const counts = pull.wanted === null;
  const pause = counts && isBrief ? pauses[pull.failures] : undefined;
  await inTransaction(pool, async (tx) => {
    const again = pause === undefined ? Infinity : now() + pause;
    const after = await afterFetch(tx, recording, claimed, pull, again);
    const notifies = counts && pause === undefined && !pull.isNotified;
    if (!(await updateFailedFetch(tx, claimed, after, { counts, notifies }))) return;
    await insertFetch(tx, claimed, { ...fetchOf(pull, 'failed', effort), error, detail });
    if (!notifies) return;
    const { host } = new URL(pull.url);
    const details = { name: pull.name, host, error };
    await audit(tx, accountId, { origin: 'service' }, 'pull failing', { subject: pullId, details });
    await recordEvent(tx, accountId, 'pull.failing', pullId, { pullId, error });
    const { name } = pull;
    if (canMail)
      await queueAdministratorMails(tx, accountId, 'mail pull notice', {
        pullId,
        name,
        host,
        error,
      } satisfies MailPayload<FailingMail>);
  });
  log.warn({ accountId, pullId, error, detail }, 'A list could not be fetched');
}

/** Records that the thread that fetched a list ended with an error: it took too long, ran out of memory, or had a defect. */
export async function recordDefect(
  recording: Recording,
  claimed: ClaimedPull,
  thrown: unknown,
): Promise<void> {
  const pull = await selectDuePull(recording.pool, claimed);
  if (!pull) return;
  const effort = { requests: 0, bytes: 0 };
  await recordFailure(recording, claimed, pull, { ...defectOf(thrown), detail: null, effort });
}

function defectOf(thrown: unknown): Pick<Failure, 'error' | 'isBrief'> {
  if (thrown instanceof ThreadTimeout) return { error: 'timeout', isBrief: true };
  // The same list would run out of memory again.
  const isLarge = (thrown as { code?: unknown } | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY';
  return isLarge ? { error: 'large', isBrief: false } : { error: 'internal', isBrief: true };
}
