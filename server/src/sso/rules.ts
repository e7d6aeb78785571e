// Whether an account requires single sign-on, and its break-glass administrators, who can sign in with their password and two-factor code
// even then. Without one, an account whose provider fails would be locked out.
import { randomBytes } from 'node:crypto';
import { notifyAdministrators } from '../accounts/account-notices.ts';
import { lockAccount } from '../accounts/accounts.ts';
import { type Actor, audit } from '../accounts/audit.ts';
import { deletePasswordSessions } from '../auth/sessions.sql.ts';
import { Fault, faultAtField } from '../base/errors.ts';
import { type AccountId, inTransaction, type Pool, type Transaction } from '../db/db.ts';
import { selectProviders } from './providers.sql.ts';
import {
  type BreakGlassRow,
  insertRules,
  replaceBreakGlass,
  type Rules,
  selectBreakGlassChoices,
  selectHasOtherAccount,
  selectRules,
  selectWithoutIdentity,
  updateRequired,
} from './rules.sql.ts';

/** Returns the rules of an account, which are created when they are first needed. */
export async function rulesOf(tx: Transaction, accountId: AccountId): Promise<Rules> {
  const found = await selectRules(tx, accountId);
  if (found) return found;
  await insertRules(tx, accountId, randomBytes(12).toString('base64url'));
  return (await selectRules(tx, accountId)) as Rules;
}

/** Returns the key of an account's sign-in page if the installation has several accounts; otherwise undefined. */
export async function entryKeyAmongOthers(pool: Pool, accountId: AccountId): Promise<string | undefined> {
  if (!(await selectHasOtherAccount(pool, accountId))) return undefined;
  return (await inTransaction(pool, (tx) => rulesOf(tx, accountId))).entryKey;
}

type Wanted = { required: boolean; breakGlass: number[] };
/** Who makes the change. `signsInByProvider`: their session began with a provider. */
type By = { actor: Actor; userId: number; signsInByProvider: boolean; canMail: boolean };

/**
 * Requires single sign-on or not, and chooses the break-glass administrators. Throws a Fault if no one could sign in when a provider fails, or
 * if the caller could not sign in any more.
 */
export async function setRequired(
  tx: Transaction,
  accountId: AccountId,
  wanted: Wanted,
  by: By,
): Promise<void> {
  await lockAccount(tx, accountId);
  const before = await rulesOf(tx, accountId);
  const administrators = await selectBreakGlassChoices(tx, accountId);
  const chosen = administrators.filter(({ id }) => wanted.breakGlass.includes(id));
  if (chosen.length < new Set(wanted.breakGlass).size)
    throw faultAtField('conflict', 'not an administrator', '/breakGlass', notAdministrator);
  const unready = chosen.find(({ hasPassword, hasTwoFactor }) => !hasPassword || !hasTwoFactor);
  if (unready) throw faultAtField('conflict', 'break-glass not ready', '/breakGlass', unreadyText(unready));
  if (wanted.required) {
    await refuseLockout(tx, accountId, chosen, by);
    const atStake = administrators.filter(
      (one) => !chosen.includes(one) && (one.isChosen || !before.requiresSso),
    );
    await refuseLockedOut(tx, accountId, atStake);
  }
  await replaceBreakGlass(
    tx,
    accountId,
    chosen.map(({ id }) => id),
  );
  await updateRequired(tx, accountId, wanted.required);
  const ended = wanted.required ? await deletePasswordSessions(tx, accountId) : 0;
  const details = { required: wanted.required, breakGlass: chosen.length, sessionsEnded: ended };
  await audit(tx, accountId, by.actor, 'single sign-on rule changed', { details });
  if (by.canMail && wanted.required !== before.requiresSso)
    await notifyAdministrators(tx, accountId, {
      change: wanted.required ? 'single sign-on required' : 'single sign-on optional',
    });
}

const notAdministrator =
  'Only active administrators can be break-glass administrators, and one of the chosen people isn’t one. Reload the page and choose again.';

const unreadyText = ({ name, hasPassword }: BreakGlassRow) =>
  `${name} has no ${hasPassword ? 'two-factor authentication' : 'password'}. A break-glass administrator needs both. They can set ` +
  'them up in their profile.';

async function refuseLockout(
  tx: Transaction,
  accountId: AccountId,
  chosen: BreakGlassRow[],
  { userId, signsInByProvider }: By,
): Promise<void> {
  const providers = await selectProviders(tx, accountId);
  if (!providers.some(({ enabled }) => enabled))
    throw faultAtField('conflict', 'no provider', '/required', 'Add a provider and turn it on first.');
  if (chosen.length === 0)
    throw faultAtField(
      'conflict',
      'break-glass needed',
      '/breakGlass',
      'Choose at least one administrator who can sign in with a password if the provider fails.',
    );
  if (!signsInByProvider && !chosen.some(({ id }) => id === userId))
    throw faultAtField(
      'conflict',
      'own sign-in',
      '/required',
      'You would be locked out. Sign in with the provider first, or choose yourself as a break-glass administrator.',
    );
}

/** Throws a Fault that names the administrators whose password would stop working although they can't sign in with a provider. */
async function refuseLockedOut(
  tx: Transaction,
  accountId: AccountId,
  atStake: BreakGlassRow[],
): Promise<void> {
  const ids = await selectWithoutIdentity(
    tx,
    accountId,
    atStake.map(({ id }) => id),
  );
  if (ids.length === 0) return;
  const names = atStake.flatMap(({ id, name }) => (ids.includes(id) ? [name] : []));
  const value = names.slice(0, 10).join(', ');
  const type = 'administrator locked out';
  const message = `${value}: ${lockedOutText}`;
  throw new Fault('conflict', type, message, { details: [{ type, message, path: '/breakGlass', value }] });
}

const lockedOutText =
  'Would be locked out, without an identity at a provider that is turned on. Have them connect the provider in their profile first, or choose ' +
  'them as break-glass administrators.';

/**
 * Returns whether a person is a break-glass administrator of an account that requires single sign-on, and no other one could sign in. Locks
 * the account, so that two of them can't go at the same time.
 */
async function isLastBreakGlass(tx: Transaction, accountId: AccountId, userId: number): Promise<boolean> {
  await lockAccount(tx, accountId);
  const rules = await selectRules(tx, accountId);
  if (!rules?.requiresSso) return false;
  const chosen = (await selectBreakGlassChoices(tx, accountId)).filter(({ isChosen }) => isChosen);
  const isReady = ({ hasPassword, hasTwoFactor }: BreakGlassRow) => hasPassword && hasTwoFactor;
  return chosen.some(({ id }) => id === userId) && !chosen.some((one) => one.id !== userId && isReady(one));
}

/** Throws a Fault if a person who is about to lose the role, the account or two-factor authentication is the last break-glass administrator. */
export async function refuseLastBreakGlass(
  tx: Transaction,
  accountId: AccountId,
  userId: number,
  path?: string,
): Promise<void> {
  if (!(await isLastBreakGlass(tx, accountId, userId))) return;
  throw faultAtField('conflict', 'last break-glass', path, lastText);
}

const lastText =
  'No one could sign in any more if the provider failed, because this is the last break-glass administrator. Choose another one first, ' +
  'under Single sign-on.';

/** Stops requiring single sign-on, for the operator's command. Returns whether it was required. */
export async function stopRequiring(tx: Transaction, accountId: AccountId): Promise<boolean> {
  await lockAccount(tx, accountId);
  const rules = await selectRules(tx, accountId);
  if (!rules?.requiresSso) return false;
  await updateRequired(tx, accountId, false);
  await audit(tx, accountId, { origin: 'command' }, 'single sign-on rule changed', {
    details: { required: false },
  });
  return true;
}
