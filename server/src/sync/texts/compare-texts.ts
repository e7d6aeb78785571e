// Compares a list that was read by its texts with the current users, and leaves out those whose data is as last sent. Pure.
import { halvesOf } from '../../base/crypto/digest.ts';
import type { SentOrganization } from '../check.ts';
import type { Administrator, CurrentUser } from '../current-state.ts';
import { externalIdDigest, peopleOfIndex } from '../parts/people-index.ts';
import { newKnownUsers } from '../parts/known-users.ts';
import { usersOf, type ReadLists } from './read-lists.ts';

/**
 * Thrown if a list can't be processed by its texts: the whole list has to be parsed and processed instead. This is so for every fault and
 * warning, because these quote and place values of all users.
 */
export class NotByTexts extends Error {}

/** Lists that were read by their texts, with the index of their people. */
export type ListsByTexts = ReadLists & { index: Buffer };

/**
 * Returns the request with only those users who are new or may have changed, and the administrators. All others are in `unchanged`.
 * `idOf`: the id of a group by its name; null if it has none yet.
 */
export function withoutUnchanged(
  lists: ListsByTexts,
  { users, administrators }: { users: CurrentUser[]; administrators: Administrator[] },
  idOf: (name: string) => number | null,
): SentOrganization {
  const known = newKnownUsers(users.length);
  for (const { id, externalId, fingerprint } of users)
    if (externalId !== null && fingerprint !== null)
      known.add(id, externalIdDigest(externalId), halvesOf(fingerprint));
  const people = peopleOfIndex(lists.index, idOf);
  if (!people) throw new NotByTexts();
  const ofAdministrators = new Set(administrators.map(({ id }) => id));
  const chosen: number[] = [];
  const unchanged = new Set<number>();
  for (let i = 0; i < people.count; i++) {
    const id = known.unchanged(people.next());
    if (id === undefined || ofAdministrators.has(id)) chosen.push(i);
    else unchanged.add(id);
  }
  if (chosen.length + unchanged.size < people.count) throw new NotByTexts();
  const { organization } = lists;
  const list = chosen.map(usersOf(lists));
  const places = new Map(list.map(({ externalId }, i) => [externalId, i]));
  return {
    ...organization,
    data: { ...organization.data, users: list },
    places: { ...organization.places, users: places },
    positions: (i) => chosen[i] as number,
    unchanged,
  };
}
