// The settings that people change for themselves: language, and time zone unless the HR system manages it.
import { isLanguage, isTimeZone } from '@soundings/contract/formats.ts';
import type { DetailType } from '@soundings/contract/problem.ts';
import { lockAccount } from '../accounts/accounts.ts';
import { Fault } from '../base/errors.ts';
import type { AccountId, Transaction } from '../db/db.ts';
import { type OwnProfile, selectOwnProfile, updateOwnProfile } from './profile.sql.ts';

/** Changes the given settings (null: use the account's) and returns the names of those that changed. Throws a Fault for invalid values. */
export async function changeOwnProfile(
  tx: Transaction,
  accountId: AccountId,
  userId: number,
  changes: Partial<OwnProfile>,
): Promise<(keyof OwnProfile)[]> {
  const { language, timezone } = changes;
  if (typeof language === 'string' && !isLanguage(language)) {
    throw wrong('invalid language', 'Not a valid language code (for example, en).', '/language');
  }
  if (typeof timezone === 'string' && !isTimeZone(timezone)) {
    throw wrong('invalid timezone', 'Not a valid time zone (for example, Europe/Stockholm).', '/timezone');
  }
  await lockAccount(tx, accountId);
  const before = await selectOwnProfile(tx, accountId, userId);
  if (!before) throw new Error(`User ${userId} does not exist in account ${accountId}`);
  const after: OwnProfile = { language: before.language, timezone: before.timezone, ...changes };
  const changed = (['language', 'timezone'] as const).filter((name) => after[name] !== before[name]);
  if (changed.length === 0) return [];
  // People choose their own language (§4.2). Pushes only set it for new users, or when they force it.
  if (before.managed && changed.includes('timezone')) {
    const message = 'Managed by your HR system. Change it there.';
    throw wrong('managed', message, '/timezone', 'conflict');
  }
  await updateOwnProfile(tx, accountId, userId, after);
  return changed;
}

const wrong = (type: DetailType, message: string, path: string, kind: 'invalid' | 'conflict' = 'invalid') =>
  new Fault(kind, type, message, { details: [{ type, message, path }] });
