// Creates, resets and deletes sandboxes, one at a time in all processes together. Everything is decided by what the database contains, so it
// goes on after a kill at any point: a sandbox becomes usable in the transaction that completes it, and an account that no one has is deleted.
import { type Week, weekOf } from '@soundings/contract/weeks.ts';
import { sandboxLimits } from '@soundings/contract/limits.ts';
import {
  createSandboxAccount,
  deleteEnded,
  endSandboxAccounts,
  openSandboxAccount,
} from '../accounts/sandboxes/sandbox-accounts.ts';
import { selectOrphans } from '../accounts/sandboxes/sandbox-accounts.sql.ts';
import { audit } from '../accounts/audit.ts';
import { Fault } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { copyAccountRows, measureAccountRows } from '../db/account-rows.ts';
import { asFault, inTransaction, type Pool, type Transaction } from '../db/db.ts';
import { copiedTables } from './copied-tables.ts';
import {
  deleteLostHeads,
  deleteSandbox,
  lockSandbox,
  type Owner,
  selectNext,
  selectTemplate,
  selectToDelete,
  selectToMeasure,
  takeSandboxTurn,
  type TemplateRow,
  updateFailure,
  updateReady,
  updateSize,
} from './sandboxes.sql.ts';

/** What a template is: the version of the program that creates it, its number of weeks, and the Monday after the last of them. */
export type TemplateKind = { program: string; weeks: number; monday: Week };

export type Tending = {
  pool: Pool;
  log: Log;
  /** The number of sandboxes that the installation allows. 0: sandboxes are turned off. */
  most: number;
  template: TemplateKind;
  /** Creates the template, which takes up to a minute. Throws a Fault if it can't. */
  makeTemplate: () => Promise<void>;
  /** The time in ms since 1970, which decides to which weeks the results of a new sandbox belong. */
  now: () => number;
  /** How many seconds after its end an account is deleted, so that requests that have begun before can end. */
  graceSeconds?: number;
};

const defaultGraceSeconds = 60;

/** The pause in seconds after the first failed attempt. It doubles with each, up to an hour. */
const firstPause = 30;

/** Does what is due. If another process is already doing it, does nothing. */
export async function tendSandboxes(tending: Tending): Promise<void> {
  const { pool } = tending;
  for (;;) {
    const isDone = await inTransaction(pool, async (turn) => {
      if (!(await takeSandboxTurn(turn))) return true;
      await deleteUnwanted(tending);
      await deleteAllEnded(tending);
      await measure(pool);
      while (await createNext(tending)) await deleteAllEnded(tending);
      return false;
    });
    // What was requested after the last look, while this process had the turn, was left to it.
    if (isDone || !(await selectNext(pool)) || tending.most === 0) return;
  }
}

/** Deletes the sandboxes that no one may have, and ends the accounts that belong to no sandbox, such as those of removed people. */
async function deleteUnwanted({ pool, most, template }: Tending): Promise<void> {
  for (const { reason, ...owner } of await selectToDelete(pool, {
    isOff: most === 0,
    days: sandboxLimits.days,
  }))
    await inTransaction(pool, (tx) => endSandbox(tx, owner, { origin: 'service' }, { reason }));
  const current = await selectTemplate(pool, template.program, template.weeks);
  const kept = most > 0 && current?.isReady ? current.accountId : null;
  await inTransaction(pool, async (tx) => {
    await endSandboxAccounts(tx, await selectOrphans(tx, kept));
    await deleteLostHeads(tx);
  });
}

/** Deletes a person's sandbox, if there is one: its token stops working immediately, and its data is deleted later. Returns whether there was one. */
export async function endSandbox(
  tx: Transaction,
  owner: Owner,
  by: Parameters<typeof audit>[2],
  details: Record<string, unknown> = {},
): Promise<boolean> {
  const sandbox = await lockSandbox(tx, owner);
  if (!sandbox) return false;
  await deleteSandbox(tx, owner);
  if (sandbox.sandboxId !== null) await endSandboxAccounts(tx, [sandbox.sandboxId]);
  await audit(tx, owner.accountId, by, 'sandbox deleted', { subject: owner.userId, details });
  return true;
}

/** Deletes all accounts whose time is over, each in its own transaction. */
async function deleteAllEnded({ pool, log, graceSeconds = defaultGraceSeconds }: Tending): Promise<void> {
  for (;;) {
    const accountId = await inTransaction(pool, (tx) => deleteEnded(tx, graceSeconds)).catch(
      (error: unknown) => {
        // A request that began before the end has just written something. The next call deletes that too.
        log.warn({ err: error }, 'The account of a sandbox could not be deleted. It will be retried');
      },
    );
    if (accountId === undefined) return;
    log.info({ accountId }, 'The account of a sandbox was deleted');
  }
}

async function measure(pool: Pool): Promise<void> {
  for (const sandbox of await selectToMeasure(pool))
    await updateSize(pool, sandbox, await measureAccountRows(pool, sandbox.sandboxId));
}

/** Creates or resets the sandbox that was requested first. Returns false if there is none, or if the attempt failed. */
async function createNext(tending: Tending): Promise<boolean> {
  const { pool, log, most } = tending;
  const next = most === 0 ? undefined : await selectNext(pool);
  if (!next) return false;
  const { accountId, userId, requestedAt, failures } = next;
  try {
    const template = await readyTemplate(tending);
    await inTransaction(pool, (tx) => create(tx, tending, template, { accountId, userId, requestedAt }));
    return true;
  } catch (error) {
    if (error === superseded) return true;
    const fault = asFault(error);
    const failure = fault instanceof Fault ? fault.message : 'Unexpected error. See the log of the service.';
    log.error({ accountId, userId, err: error }, 'A sandbox could not be created. It will be retried');
    await updateFailure(
      pool,
      { accountId, userId },
      { failure, seconds: Math.min(3600, firstPause * 2 ** failures) },
    );
    return false;
  }
}

/** Returns the template, which is created first if necessary. */
async function readyTemplate({
  pool,
  template: { program, weeks },
  makeTemplate,
}: Tending): Promise<TemplateRow> {
  const present = await selectTemplate(pool, program, weeks);
  if (present?.isReady) return present;
  await makeTemplate();
  const finished = await selectTemplate(pool, program, weeks);
  if (!finished?.isReady) throw new Error('The template of sandboxes was not created.');
  return finished;
}

/** The sandbox was deleted, or deleted and requested again, while it was being created. What was copied belongs to no one. */
const superseded = new Error('The sandbox is no longer wanted.');

/** Copies the template into a new account, which then replaces the account of the sandbox. All in one transaction. */
async function create(
  tx: Transaction,
  { template: { monday }, now }: Tending,
  { accountId: from }: TemplateRow,
  { requestedAt, ...owner }: Owner & { requestedAt: Date },
): Promise<void> {
  const to = await createSandboxAccount(tx, from);
  await copyAccountRows(tx, { from, to, days: daysBetween(monday, mondayAt(now())) }, copiedTables);
  const sandbox = await lockSandbox(tx, owner);
  if (sandbox?.requestedAt.getTime() !== requestedAt.getTime() || sandbox.state === 'ready') throw superseded;
  if (sandbox.sandboxId !== null) await endSandboxAccounts(tx, [sandbox.sandboxId]);
  const token = { hash: sandbox.tokenHash, scopes: sandbox.scopes };
  await openSandboxAccount(tx, to, { sftpUsername: sftpUsernameOf(owner), token });
  await updateReady(tx, owner, to);
}

/** The SFTP user name of a person's sandbox. It stays the same when the sandbox is reset. */
const sftpUsernameOf = ({ accountId, userId }: Owner): string => `sandbox-${accountId}-${userId}`;

const mondayAt = (time: number): Week => weekOf(new Date(time).toISOString().slice(0, 10));

const daysBetween = (from: string, to: string): number => (Date.parse(to) - Date.parse(from)) / 86_400_000;
