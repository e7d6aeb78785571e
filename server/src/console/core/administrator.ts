// The caller that the soundings command is, for functions of the console.
import type { AccountId } from '../../db/db.ts';
import type { Who } from './console.ts';

/** Returns a caller who may see all groups, for the soundings command. */
export const asAdministrator = (accountId: AccountId, timezone: string): Who => ({
  sessionId: 0,
  accountId,
  userId: 0,
  role: 'Administrator',
  timezone,
  version: '',
  isProved: true,
  providerId: null,
  address: '',
});
