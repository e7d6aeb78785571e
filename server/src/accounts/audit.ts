// The audit log: who did what, when, and from where. Entries are written in the transaction of what they tell of, and are
// never changed or removed.
import type { AuditAction } from '@soundings/contract/audit-actions.ts';
import type { AccountId, Db } from '../db/db.ts';
import { insertAuditEntry, selectAccountIds } from './audit.sql.ts';

/**
 * Who does something: somebody in the console, a token over an interface (or somebody in the console by a file), the soundings
 * command, or the service itself.
 */
export type Actor =
  | { origin: 'console'; userId: number | null; address: string }
  | { origin: 'api' | 'file'; tokenId: number | null; userId: number | null; address: string | null }
  | { origin: 'command' | 'service' };

export type { AuditAction };

/**
 * Writes one entry. `subject`: what it was done to, an id or a name; `details`: what else is worth knowing, never a
 * secret, and nothing of a person that is to be erased with the person (decision B13).
 */
export async function audit(
  db: Db,
  accountId: AccountId,
  actor: Actor,
  action: AuditAction,
  {
    subject = null,
    details = {},
  }: { subject?: string | number | null; details?: Record<string, unknown> } = {},
): Promise<void> {
  await insertAuditEntry(db, accountId, {
    origin: actor.origin,
    userId: 'userId' in actor ? actor.userId : null,
    tokenId: 'tokenId' in actor ? actor.tokenId : null,
    address: ('address' in actor && actor.address) || null,
    action,
    subject: subject === null ? null : String(subject),
    details,
  });
}

/** Writes the same entry for every account: of what concerns the whole installation. */
export async function auditEverywhere(
  db: Db,
  actor: Actor,
  action: AuditAction,
  more?: { subject: string },
): Promise<void> {
  // oxlint-disable-next-line no-await-in-loop -- seldom, and few accounts
  for (const accountId of await selectAccountIds(db)) await audit(db, accountId, actor, action, more);
}
