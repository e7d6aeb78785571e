// Checks that no two users will have the same address, when a list is too large to be in memory. Gives the same faults as match.ts.
import type { AccountId, Transaction } from '../../db/db.ts';
import type { Findings } from '../findings.ts';
import { emailOfForeign, keptBy, sentAt } from '../match.ts';
import { newIdWarning } from '../plan-warnings.ts';
import type { SeenUsers } from './seen-users.ts';
import { selectOwnedEmails, selectSharedEmails, type WantedEmail } from './sent-people.sql.ts';

/**
 * Adds a fault for each sent address that another user will have, and a warning for each new user with the address of a user who is removed.
 */
export async function matchAllEmails(
  tx: Transaction,
  accountId: AccountId,
  seen: SeenUsers,
  findings: Findings,
): Promise<void> {
  /** For each address in question, the message for another user who is sent with it. */
  const taken = new Map<string, string>();
  const wanted = new Map<number, WantedEmail>();
  for await (const batch of selectOwnedEmails(tx, accountId)) {
    for (const { owner, ...one } of batch) {
      const listed = owner.managed ? seen.find(owner.id) : undefined;
      const externalId = owner.externalId ?? '';
      if (owner.managed && !listed) {
        // The owner is removed.
        if (one.isNew) findings.warn(() => newIdWarning(externalId, one.externalId, one.place));
        continue;
      }
      if (findings.isFull()) continue;
      const message = listed?.isEmailSent
        ? sentAt(listed.place)
        : listed && keptBy({ externalId }, listed.place);
      taken.set(one.emailKey, message ?? emailOfForeign(owner));
      wanted.set(one.place, one);
    }
  }
  const add = (one: WantedEmail) => {
    if (!one.isSent) taken.set(one.emailKey, keptBy(one, one.place));
    else wanted.set(one.place, one);
  };
  for await (const batch of selectSharedEmails(tx, accountId)) for (const one of batch) add(one);
  for (const { place, emailKey, externalId } of [...wanted.values()].toSorted((a, b) => a.place - b.place)) {
    const message = taken.get(emailKey);
    taken.set(emailKey, message ?? sentAt(place));
    if (message === undefined) continue;
    const path = `/data/users/${place}/email`;
    findings.fault({ type: 'duplicate email', message, path, externalId });
  }
}
