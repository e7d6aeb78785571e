// Adds several people in one request, as from the form for the first few: all of them, or none and every fault at its field.
import type { Detail, DetailType } from '@soundings/contract/problem.ts';
import { Fault } from '../base/errors.ts';
import { missing, refuseField } from '../base/field-faults.ts';
import type { AccountId, Transaction } from '../db/db.ts';
import { createUser } from './users.ts';

/** A person with the role User. `groupId`: the group that they become a member of. */
export type NewMember = { firstName: string; lastName: string; email: string | null; groupId: number | null };

/**
 * Creates the people and returns their ids. Null stands for a row that was left empty. Throws a Fault with everything that is wrong with any of
 * them, at paths such as /people/1/email; the caller then rolls the transaction back.
 */
export async function createSeveral(
  tx: Transaction,
  accountId: AccountId,
  people: readonly (NewMember | null)[],
): Promise<number[]> {
  if (people.every((one) => one === null)) refuseField('/people/0/firstName', missing('firstName'));
  const ids: number[] = [];
  const details: Detail[] = [];
  // One after the other, so that an email address that occurs twice is refused for the second person.
  for (const [i, one] of people.entries()) {
    if (one === null) continue;
    const { groupId, ...fields } = one;
    const memberships = groupId === null ? {} : { memberOf: [groupId] };
    try {
      ids.push(await createUser(tx, accountId, { ...fields, memberships }));
    } catch (error) {
      if (!(error instanceof Fault) || error.details.length === 0) throw error;
      details.push(...error.details.map((fault) => ({ ...fault, path: pathIn(i, fault.path) })));
    }
  }
  const [first] = details;
  if (first) throw new Fault('invalid', first.type as DetailType, first.message, { details });
  return ids;
}

/** Returns the path of a fault of a person in the list. Memberships have one field, the group. */
const pathIn = (place: number, path = ''): string =>
  `/people/${place}${path.startsWith('/memberships') ? '/groupId' : path}`;
