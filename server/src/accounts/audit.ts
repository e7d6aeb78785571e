// The audit log: who did what, when and from where. An entry is written in the transaction of the action it records, and is
// never changed or removed.
import type { AuditAction } from '@soundings/contract/audit-actions.ts';
import type { AccountId, Db } from '../db/db.ts';
import { insertAuditEntry, selectAccountIds } from './audit.sql.ts';

/**
 * Who performs an action: a user in the console, an API token (or a user who uploads a file in the console), the soundings
 * command, or the service itself.
 */
export type Actor =
  | { origin: 'console'; userId: number | null; address: string }
  | { origin: 'api' | 'file'; tokenId: number | null; userId: number | null; address: string | null }
  | { origin: 'command' | 'service' };

/**
 * Writes one entry. `subject`: the id or name of what was changed. `details`: other useful facts, but never secrets or personal
 * data that must be erased with the person (decision B13).
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

/** Writes the same entry for every account, for actions that concern the whole installation. */
export async function auditEverywhere(
  db: Db,
  actor: Actor,
  action: AuditAction,
  more?: { subject: string },
): Promise<void> {
  for (const accountId of await selectAccountIds(db)) await audit(db, accountId, actor, action, more);
}
