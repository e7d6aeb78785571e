// Fingerprints of sent users. A user who is sent with the fingerprint that was stored when this user last passed all checks is unchanged. Pure.
import type { User } from '@soundings/contract/organization.ts';
import { type MembershipKind, membershipKinds } from '@soundings/contract/people/memberships.ts';
import { Digest } from '../../base/crypto/digest.ts';

/**
 * Returns a digest of everything in a sent user that can change the state. Groups are included by id: ids are never reused, so
 * a group that was removed and created again counts as a different one. An omitted field differs from null.
 */
export function fingerprintOf(user: User, force: boolean, idOf: (name: string) => number | null): string {
  const digest = ownDigest(user, force);
  for (const kind of membershipKinds) {
    const names = user.accessInfo?.[kind];
    if (names) addGroups(digest, kind, names.map(idOf));
  }
  return digest.toString();
}

/** Returns the digest of a user without groups. These are added last, because a part of a push is stored before their ids are known. */
export function ownDigest(user: User, force: boolean): Digest {
  const { firstName, lastName, email, phone, active = true, timezone, accessInfo, externalProperties } = user;
  const digest = new Digest()
    .add(firstName)
    .add(lastName)
    .add(email)
    .add(phone)
    .add(active ? 1 : 0)
    .add(timezone);
  if (force) digest.add('force').add(user.language);
  digest.add(accessInfo?.role);
  if (externalProperties) {
    const names = Object.keys(externalProperties);
    for (const name of names.length > 1 ? names.toSorted() : names) {
      digest.add('property').add(name).add(externalProperties[name]);
    }
  }
  return digest;
}

/** Adds the groups of a kind to the digest of a user, in any order. */
export function addGroups(digest: Digest, kind: MembershipKind, ids: (number | null)[]): void {
  digest.add(kind).add(ids.length);
  // Most people have one group of each kind.
  if (ids.length === 1) digest.add(ids[0]);
  else for (const id of ids.toSorted(byNumber)) digest.add(id);
}

const byNumber = (a: number | null, b: number | null) => (a ?? 0) - (b ?? 0);
