// The sandbox of an administrator: an account with the demo company, in which they try the interfaces with their own token. Here it is
// requested, reset and deleted; tend.ts does the work.
import type { SandboxView } from '@soundings/contract/sandbox/sandbox.ts';
import { sandboxLimits } from '@soundings/contract/limits.ts';
import { type Scope, scopes } from '@soundings/contract/operation.ts';
import { type Actor, audit } from '../accounts/audit.ts';
import { replaceToken } from '../accounts/sandboxes/sandbox-accounts.ts';
import { newToken, tokenHash } from '../base/crypto/secrets.ts';
import { Fault } from '../base/errors.ts';
import { tooEarly } from '../base/throttle.ts';
import type { Db, Transaction } from '../db/db.ts';
import {
  addTending,
  countRequests,
  insertSandbox,
  lockCount,
  lockSandbox,
  type Owner,
  type SandboxRow,
  selectSandbox,
  selectTemplate,
  updateResetting,
  updateToken,
} from './sandboxes.sql.ts';
import { endSandbox, type TemplateKind } from './tend.ts';

/** The number of sandboxes that the installation allows (0: none), and what they are copied from. */
export type SandboxSettings = { most: number; template: Pick<TemplateKind, 'program' | 'weeks'> };

/** Returns a person's sandbox as they see it. */
export async function sandboxOf(
  db: Db,
  owner: Owner,
  { most, template }: SandboxSettings,
): Promise<SandboxView['sandbox']> {
  const row = most === 0 ? undefined : await selectSandbox(db, owner);
  if (!row) return null;
  const present =
    row.state === 'ready' ? undefined : await selectTemplate(db, template.program, template.weeks);
  const { state, before, createdAt, resetAt, readyAt, usedAt, bytes, failure, retryAt } = row;
  const lastUse = Math.max(...[row.requestedAt, readyAt, usedAt].map((time) => time?.getTime() ?? 0));
  return {
    state,
    before,
    isPreparing: state !== 'ready' && !present?.isReady,
    weeksDone: present?.weeksDone ?? 0,
    weeks: template.weeks,
    accountId: row.sandboxId,
    scopes: row.scopes,
    sftpUsername: row.sftpUsername,
    createdAt: createdAt.toISOString(),
    resetAt: resetAt?.toISOString() ?? null,
    usedAt: usedAt?.toISOString() ?? null,
    deletedAfter: new Date(lastUse + sandboxLimits.days * 86_400_000).toISOString(),
    bytes,
    failure: failure === null ? null : { message: failure, retryAt: retryAt?.toISOString() ?? null },
  };
}

/**
 * Requests a sandbox for an administrator. Returns its token, which works as soon as the sandbox is ready. Throws a Fault if they have
 * one, have requested too many within an hour, or if the installation allows no more.
 */
export async function requestSandbox(
  tx: Transaction,
  owner: Owner,
  wanted: Scope[],
  { most, by }: { most: number; by: Actor },
): Promise<string> {
  refuseOff(most);
  const count = await lockCount(tx);
  await refuseTooMany(tx, owner);
  const token = newToken();
  const granted = grantedOf(wanted);
  if (!(await insertSandbox(tx, owner, { hash: tokenHash(token), scopes: granted }))) {
    throw conflict('You already have a sandbox. Reload the page.');
  }
  if (count >= most) {
    const message = `This installation allows ${most} sandboxes, and all are in use. Sandboxes that are not used for ${sandboxLimits.days} days are deleted. The operator can allow more with SANDBOXES.`;
    throw conflict(message);
  }
  await audit(tx, owner.accountId, by, 'sandbox created', {
    subject: owner.userId,
    details: { scopes: granted },
  });
  await addTending(tx);
  return token;
}

/** Requests that a sandbox is reset: everything in it is as in the beginning, and its token stays. Until then, it can still be used. */
export async function requestReset(
  tx: Transaction,
  owner: Owner,
  { most, by }: { most: number; by: Actor },
): Promise<void> {
  refuseOff(most);
  const { state } = await ownSandbox(tx, owner);
  if (state !== 'ready') throw conflict('Your sandbox is already being created or reset.');
  await refuseTooMany(tx, owner);
  await updateResetting(tx, owner);
  await audit(tx, owner.accountId, by, 'sandbox reset', { subject: owner.userId });
  await addTending(tx);
}

/** Replaces the token of a sandbox, and returns the new one. All earlier tokens of the sandbox stop working. */
export async function replaceSandboxToken(
  tx: Transaction,
  owner: Owner,
  wanted: Scope[],
  { most, by }: { most: number; by: Actor },
): Promise<string> {
  refuseOff(most);
  const { sandboxId } = await ownSandbox(tx, owner);
  const token = newToken();
  const replacement = { hash: tokenHash(token), scopes: grantedOf(wanted) };
  await updateToken(tx, owner, replacement);
  if (sandboxId !== null) await replaceToken(tx, sandboxId, replacement);
  const details = { scopes: replacement.scopes };
  await audit(tx, owner.accountId, by, 'sandbox token replaced', { subject: owner.userId, details });
  return token;
}

/** Deletes a sandbox. Its token stops working immediately. */
export async function removeSandbox(tx: Transaction, owner: Owner, by: Actor): Promise<void> {
  if (!(await endSandbox(tx, owner, by))) throw noSandbox();
  await addTending(tx);
}

async function ownSandbox(tx: Transaction, owner: Owner): Promise<SandboxRow> {
  const sandbox = await lockSandbox(tx, owner);
  if (!sandbox) throw noSandbox();
  return sandbox;
}

/** Throws a Fault if a person has created or reset their sandbox too often. Deleting it in between makes no difference. */
async function refuseTooMany(tx: Transaction, owner: Owner): Promise<void> {
  if ((await countRequests(tx, owner)) < sandboxLimits.perHour) return;
  const message = `You can create or reset your sandbox ${sandboxLimits.perHour} times an hour.`;
  throw tooEarly('too many sandboxes', message, 15 * 60_000);
}

function refuseOff(most: number): void {
  if (most > 0) return;
  const message =
    'Sandboxes are turned off in this installation. The operator can allow them with SANDBOXES.';
  throw conflict(message);
}

const grantedOf = (wanted: Scope[]): Scope[] => scopes.filter((scope) => wanted.includes(scope));

const conflict = (message: string) => new Fault('conflict', 'sandbox refused', message);
const noSandbox = () => new Fault('not_found', 'sandbox not found', 'You have no sandbox. Create one first.');
