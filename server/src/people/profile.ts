// What people change of themselves: the language, and the time zone unless the HR system delivers it.
import { isLanguage, isTimeZone } from '@soundings/contract/formats.ts';
import type { DetailType } from '@soundings/contract/problem.ts';
import { lockAccount } from '../accounts/accounts.ts';
import { Fault } from '../base/errors.ts';
import type { AccountId, Transaction } from '../db/db.ts';
import { type Own, selectOwn, updateOwn } from './profile.sql.ts';

/** Changes what is given; null: the account's from now on. Returns the names of what has changed. Throws a Fault. */
export async function changeOwn(
  tx: Transaction,
  accountId: AccountId,
  userId: number,
  changes: Partial<Own>,
): Promise<(keyof Own)[]> {
  const { language, timezone } = changes;
  if (typeof language === 'string' && !isLanguage(language)) {
    throw wrong('invalid language', 'This is no ISO 639-1 code such as en or sv.', '/language');
  }
  if (typeof timezone === 'string' && !isTimeZone(timezone)) {
    throw wrong('invalid timezone', 'This is no time zone, such as Europe/Stockholm.', '/timezone');
  }
  await lockAccount(tx, accountId);
  const before = await selectOwn(tx, accountId, userId);
  if (!before) throw new Error(`There is no user ${userId} in account ${accountId}`);
  const after: Own = { language: before.language, timezone: before.timezone, ...changes };
  const changed = (['language', 'timezone'] as const).filter((name) => after[name] !== before[name]);
  if (changed.length === 0) return [];
  // The language is left to the person (§4.2): pushes set it for who is new, or when they force it.
  if (before.managed && changed.includes('timezone')) {
    const message = 'This comes from the HR system. Change it there.';
    throw wrong('managed', message, '/timezone', 'conflict');
  }
  await updateOwn(tx, accountId, userId, after);
  return changed;
}

const wrong = (type: DetailType, message: string, path: string, kind: 'invalid' | 'conflict' = 'invalid') =>
  new Fault(kind, type, message, { details: [{ type, message, path }] });
