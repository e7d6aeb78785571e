// Addresses that move from one user of a directory to another one. If both are not applied together, because one of them is refused or a batch
// is divided, the next one waits, instead of being left without an address. Pure.
import { emailKey } from '@soundings/contract/formats.ts';
import type { AddressOwner, UserToApply } from './apply.sql.ts';
import { emailOf } from './mapping.ts';

/** A user who is to be applied. `key`: the normalized address that the user is to have. */
type Claim = { user: Pick<UserToApply, 'id' | 'personKey' | 'isPresent'>; key: string | undefined };

/**
 * Returns the ids of the users who wait: another person of the directory has their address and will give it up, but is not among these users,
 * or waits too. `owners`: who has each address.
 */
export function waitingForAddresses(
  claims: readonly Claim[],
  owners: ReadonlyMap<string, AddressOwner>,
): Set<string> {
  const listed = new Set(claims.map(({ user }) => user.personKey));
  const next = new Map<string, Claim[]>();
  const open: Claim[] = [];
  for (const claim of claims) {
    const owner = owners.get(claim.key ?? '');
    if (!owner?.isOwn || owner.personKey === null || owner.personKey === claim.user.personKey) continue;
    if (listed.has(owner.personKey)) next.set(owner.personKey, [...(next.get(owner.personKey) ?? []), claim]);
    else if (givesUp(owner, claim.key)) open.push(claim);
  }
  const waiting = new Set<string>();
  for (const { user } of open) {
    if (waiting.has(user.id)) continue;
    waiting.add(user.id);
    if (user.isPresent) open.push(...(next.get(user.personKey) ?? []));
  }
  return waiting;
}

function givesUp({ next }: AddressOwner, key: string | undefined): boolean {
  const email = next && emailOf(next);
  return next !== null && (email === null ? undefined : emailKey(email)) !== key;
}
