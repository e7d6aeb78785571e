// Pushes in parts: opening one, its state, and beginning to commit it. The run of the last commit decides the state: a push is being processed
// while that run is, it has been applied if the run was, and otherwise it is open.
import {
  abandonedPushHours,
  limitNames,
  maxUsersOfPush,
  runRetentionDays,
} from '@soundings/contract/limits.ts';
import { isDryRun } from '@soundings/contract/dry-run.ts';
import { fieldsOf, type Settings } from '@soundings/contract/organization.ts';
import {
  Commit,
  CommitSettings,
  type Push,
  type PushChanges,
} from '@soundings/contract/people/push-parts.ts';
import type { Detail } from '@soundings/contract/problem.ts';
import { accountById } from '../../accounts/accounts.ts';
import { Fault } from '../../base/errors.ts';
import { isJsonObject, type JsonValue } from '../../base/json/json.ts';
import { mayCreateTemporaryTables } from '../../db/database-facts.ts';
import { type AccountId, type Db, inTransaction, type Pool, type Transaction } from '../../db/db.ts';
import { isObject, readFields, refuseUnknown, splitSchema } from '../check.ts';
import { newFindings } from '../findings.ts';
import { requestFaultOf } from '../run-end.ts';
import { insertRun, type RunStart } from '../runs.sql.ts';
import {
  deletePushRow,
  deleteUnusedPushes,
  insertPush,
  lockPushRow,
  selectAppliedPush,
  selectChangesFrom,
  selectParts,
  selectPush,
  type StoredPush,
  updatePushRun,
} from './parts.sql.ts';

/** How many changes a response lists. */
const changesOfPage = 1_000;

const stateOf = ({ outcome }: StoredPush): Push['state'] =>
  outcome === 'processing' || outcome === 'applied' ? outcome : 'open';

const hour = 60 * 60 * 1000;

/** Returns when nothing of a push is left, in ms since 1970. If it was applied, its result is kept as long as its run. */
const expiresAt = (push: StoredPush): number =>
  push.runAt && stateOf(push) === 'applied'
    ? push.runAt.getTime() + runRetentionDays * 24 * hour
    : push.lastUsedAt.getTime() + abandonedPushHours * hour;

/** Throws a Fault if the database doesn't allow what a commit needs, so that no one sends all parts for nothing. */
export async function refuseWithoutTemporaryTables(db: Db): Promise<void> {
  if (await mayCreateTemporaryTables(db)) return;
  const message =
    'The database does not allow temporary tables, which pushes in parts need. The operator can allow them: grant temporary on database … to ….';
  throw new Fault('unavailable', 'unavailable', message);
}

/** Opens a push in place of one that was applied or has expired. Throws a Fault (conflict) if the account has another one. */
export async function openPush(pool: Pool, accountId: AccountId, id: string): Promise<Push> {
  return inTransaction(pool, async (tx) => {
    await refuseWithoutTemporaryTables(tx);
    const isOver = (push: StoredPush) =>
      stateOf(push) === 'applied' || (stateOf(push) === 'open' && expiresAt(push) < Date.now());
    const present = await selectPush(tx, accountId);
    if (present && isOver(present)) {
      await lockPushRow(tx, accountId);
      const locked = await selectPush(tx, accountId);
      if (locked && isOver(locked)) await deletePushRow(tx, accountId, locked.id);
    }
    if (!(await insertPush(tx, accountId, id))) {
      const other = (await selectPush(tx, accountId))?.id;
      const message = `The account already has an open push in parts: ${other}. Continue it, or delete it with DELETE /v1/organization/pushes/${other}.`;
      throw new Fault('conflict', 'push open', message);
    }
    return readPush(tx, accountId, id);
  });
}

/** Returns the state of a push, also of one that was applied before the present one. Throws a Fault (not_found) if the account has no such push. */
export async function readPush(db: Db, accountId: AccountId, id: string): Promise<Push> {
  const push = await pushOf(db, accountId, id);
  const state = stateOf(push);
  // Those of the account are of another push if this one was applied.
  const parts = state === 'applied' ? [] : await selectParts(db, accountId);
  const { runId, outcome, validateOnly, message, report } = push;
  const sumOf = (counts: (number | null)[]) =>
    counts.every((count) => count === null)
      ? null
      : counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);
  return {
    id,
    state,
    expiresAt: new Date(expiresAt(push)).toISOString(),
    parts: parts.map(({ part }) => part),
    users: sumOf(parts.map(({ users }) => users)),
    groups: sumOf(parts.map(({ groups }) => groups)),
    run:
      runId === null || outcome === null || outcome === 'pending'
        ? null
        : {
            id: runId,
            outcome,
            validateOnly: validateOnly === true,
            ...(message !== null && { message }),
            ...report,
          },
  };
}

async function pushOf(db: Db, accountId: AccountId, id: string): Promise<StoredPush> {
  const present = await selectPush(db, accountId);
  const push = present?.id === id ? present : await selectAppliedPush(db, accountId, id);
  if (!push) throw pushNotFound(id);
  return push;
}

/** Returns the Fault for a push that does not exist. */
export const pushNotFound = (id: string): Fault =>
  new Fault(
    'not_found',
    'push not found',
    `There is no push in parts ${id}. Pushes are deleted ${abandonedPushHours} hours after the last part or commit; the result of one that was applied can be read for ${runRetentionDays} days. Open a push and send all parts.`,
  );

/** Locks a push until the transaction ends. Throws a Fault if it doesn't exist, if a commit is running, or if it was applied. */
export async function lockOpenPush(tx: Transaction, accountId: AccountId, id: string): Promise<void> {
  refuseUsed(await pushOf(tx, accountId, id)); // before waiting: a commit can take minutes
  await lockPushRow(tx, accountId);
  refuseUsed(await pushOf(tx, accountId, id));
}

/** Like `lockOpenPush`, without a lock. */
export async function refuseUsedPush(db: Db, accountId: AccountId, id: string): Promise<void> {
  refuseUsed(await pushOf(db, accountId, id));
}

function refuseUsed(push: StoredPush): void {
  const state = stateOf(push);
  if (state === 'processing')
    throw new Fault(
      'conflict',
      'push processing',
      `Run ${push.runId} is processing the push. Wait until it has ended: GET /v1/organization/pushes/${push.id}.`,
    );
  if (state === 'applied')
    throw new Fault(
      'conflict',
      'push applied',
      `The push was applied as run ${push.runId}. Open another one for further changes.`,
    );
}

/** Deletes a push with its parts. Throws a Fault if it doesn't exist or if a commit is running. */
export async function deletePush(pool: Pool, accountId: AccountId, id: string): Promise<void> {
  await inTransaction(pool, async (tx) => {
    const push = await pushOf(tx, accountId, id);
    if (stateOf(push) !== 'applied') await lockOpenPush(tx, accountId, id);
    await deletePushRow(tx, accountId, id);
  });
}

/** Deletes, in every account, the pushes to which nothing was sent for a day. */
export const deleteAbandonedPushes = (pool: Pool): Promise<void> =>
  deleteUnusedPushes(pool, abandonedPushHours);

const commitShape = splitSchema(Commit);

/** Reads the body of a commit. Throws a Fault that lists what is wrong with it. */
function readCommit(body: JsonValue): Commit {
  const findings = newFindings();
  if (isObject(body, '', findings)) {
    refuseUnknown(body, fieldsOf(Commit), '', findings);
    const sent = body['settings'];
    if (isJsonObject(sent)) refuseUnknown(sent, fieldsOf(CommitSettings), '/settings', findings);
    const { parts, settings } = readFields(body, commitShape, { path: '' }, findings);
    if (findings.faultCount() === 0)
      return { parts: parts as number, settings: (settings ?? {}) as Settings };
  }
  throw requestFaultOf(findings);
}

/**
 * Begins to commit a push: stores the run that will process it. Returns the number of its parts and its settings. Throws a Fault if the push can't
 * be committed, or if its parts are not complete.
 */
export async function beginCommit(
  pool: Pool,
  accountId: AccountId,
  { id, run, body }: { id: string; run: RunStart; body: JsonValue },
): Promise<Commit> {
  const { parts, settings } = readCommit(body);
  return inTransaction(pool, async (tx) => {
    await lockOpenPush(tx, accountId, id);
    const { largestPush } = await accountById(tx, accountId);
    refuseHighLimits(settings, largestPush);
    refuseMissingParts(
      (await selectParts(tx, accountId)).map(({ part }) => part),
      parts,
    );
    const nothing = { message: null, summary: null, warnings: null, details: null };
    const begun = { validateOnly: isDryRun(settings), outcome: 'processing' as const, settings };
    await insertRun(tx, accountId, { ...run, ...nothing, ...begun, pushId: id });
    await updatePushRun(tx, accountId, run.id);
    return { parts, settings };
  });
}

function refuseHighLimits(settings: Settings, largest: number): void {
  const details = limitNames
    .filter((name) => (settings[name] ?? 0) > largest)
    .map((name): Detail => ({
      type: 'limit too high',
      message:
        `"${name}" can be at most ${largest} in this account. The operator can allow up to ${maxUsersOfPush}, with ` +
        `soundings account set --largest-push.`,
      path: `/settings/${name}`,
    }));
  if (details[0]) throw new Fault('invalid', 'limit too high', details[0].message, { details });
}

/** Throws a Fault unless the received parts are those from 1 to `count`. */
export function refuseMissingParts(received: number[], count: number): void {
  const has = new Set(received);
  const missing = Array.from({ length: count }, (_, i) => i + 1).filter((part) => !has.has(part));
  const further = received.filter((part) => part > count);
  const some = (list: number[]) =>
    `${list.slice(0, 20).join(', ')}${list.length > 20 ? ` and ${list.length - 20} more` : ''}`;
  if (missing.length > 0)
    throw partsMissing(
      `of ${count} parts, these were not received: ${some(missing)}. Send them, then commit again.`,
    );
  if (further.length > 0)
    throw partsMissing(
      `the commit names ${count} parts, but these were received as well: ${some(further)}. Name the number of all parts.`,
    );
}

/** Returns the Fault for a push whose parts are not complete. */
export const partsMissing = (message: string): Fault =>
  new Fault('conflict', 'parts missing', `Nothing was applied: ${message}`);

/** Returns the changes of the last commit from a position on. */
export async function readPushChanges(
  db: Db,
  accountId: AccountId,
  { id, from }: { id: string; from: number },
): Promise<PushChanges> {
  const { runId } = await pushOf(db, accountId, id);
  if (runId === null) return { changes: [], next: null };
  const most = changesOfPage + 1;
  const rows = await selectChangesFrom(db, accountId, { runId, from, most });
  return {
    changes: rows
      .slice(0, changesOfPage)
      .map(({ fields, ...change }) => (fields ? { ...change, fields } : change)),
    next: rows.length > changesOfPage ? from + changesOfPage : null,
  };
}
