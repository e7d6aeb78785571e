// The users of a directory who wait because the person exists already and belongs to another source, and what an administrator has decided
// about them: the person is handed over (takeover.ts), or kept as it is.
import { emailKey } from '@soundings/contract/formats.ts';
import type { Hindrance, Takeover, WaitingUser } from '@soundings/contract/scim/directory.ts';
import { lockAccount } from '../../accounts/accounts.ts';
import { type Actor, audit } from '../../accounts/audit.ts';
import { changedSince } from '../../base/errors.ts';
import { type AccountId, type Db, inTransaction, type Pool, type Transaction } from '../../db/db.ts';
import { isUuid } from '../users.sql.ts';
import { displayNameOf, emailOf } from './mapping.ts';
import {
  type BlockedUser,
  type ForeignPerson,
  selectBlockedUsers,
  selectForeignPeople,
  selectUserToDecide,
  selectUsersLike,
  updateKeptPeople,
  updateKeptPerson,
} from './takeover.sql.ts';

/** How many users are considered together. */
const maxUsers = 20_000;
/** How many users the console shows. */
const maxShown = 100;

/** A user of the directory with the person of another source who it most likely is. */
export type Match = { user: BlockedUser; person: ForeignPerson | undefined };

/** Returns the person for each of these users: the one with its externalId, or else with its address, unless the user is a person already. */
async function matchesOf(db: Db, accountId: AccountId, users: readonly BlockedUser[]): Promise<Match[]> {
  if (users.length === 0) return [];
  const keyed = users.map((user) => {
    const email = emailOf(user.resource);
    return { user, key: email === null ? '' : emailKey(email) };
  });
  const people = await selectForeignPeople(db, accountId, {
    emailKeys: keyed.map(({ key }) => key).filter((key) => key !== ''),
    personKeys: users.map(({ personKey }) => personKey),
  });
  const byKey = new Map(people.map((person) => [person.externalId, person]));
  const byEmail = new Map(people.map((person) => [person.emailKey, person]));
  return keyed.map(({ user, key }) => ({
    user,
    person: user.isPerson ? undefined : (byKey.get(user.personKey) ?? byEmail.get(key)),
  }));
}

/**
 * Returns all users who wait, or whose person was kept, in the order in which the directory created them. `locks`: the directory does not change
 * them meanwhile.
 */
export async function waitingMatches(db: Db, accountId: AccountId, locks = false): Promise<Match[]> {
  const users = await selectBlockedUsers(db, accountId, { limit: maxUsers, locks });
  const all = await matchesOf(db, accountId, users);
  // One that does not wait is here because its person was kept, and that person no longer exists, or is its own again.
  return all.filter(({ user, person }) => user.isBlocked || person !== undefined);
}

/** Returns a user with its person, and locks it. Undefined if the directory has deleted it. */
export async function matchById(
  tx: Transaction,
  accountId: AccountId,
  id: string,
): Promise<Match | undefined> {
  const user = isUuid(id) ? await selectUserToDecide(tx, accountId, id) : undefined;
  return user && (await matchesOf(tx, accountId, [user]))[0];
}

export const isKept = ({ user, person }: Match): boolean =>
  person !== undefined && user.keptUserId === person.id;

/**
 * Returns why a person can't be handed over, or null. `by`: the administrator who would do it. A break-glass administrator is there for the day
 * on which the provider fails, and must not depend on the directory. A person who already is another user of the directory stays that user.
 */
export function hindranceOf({ user, person }: Match, by: number): Hindrance | null {
  if (person === undefined) return 'no person';
  if (person.keyOwner !== null && person.keyOwner !== user.id) return 'other user';
  if (person.id === by) return 'own account';
  return person.isBreakGlass ? 'break-glass' : null;
}

/**
 * Returns the people who are handed over together, apart from administrators: each of them is decided individually, because those who run the directory
 * can remove them and change their addresses.
 */
export function togetherOf(matches: readonly Match[], by: number): Match[] {
  const taken = new Set<number>();
  return matches.filter((match) => {
    const { user, person } = match;
    if (!user.isBlocked || person === undefined || taken.has(person.id)) return false;
    if (person.role === 'Administrator' || isKept(match) || hindranceOf(match, by) !== null) return false;
    taken.add(person.id);
    return true;
  });
}

/** Returns what the console shows of the users who wait. Those who can only be decided one by one come first. */
export async function waitingOf(db: Db, accountId: AccountId, by: number): Promise<Takeover> {
  const matches = await waitingMatches(db, accountId);
  const kept = matches.filter(isKept);
  const open = matches.filter((match) => !isKept(match));
  const together = new Set(togetherOf(matches, by));
  const shown = (some: Match[]) => some.slice(0, maxShown).map((match) => shownOf(match, by));
  return {
    count: open.length,
    people: together.size,
    rows: shown(open.toSorted((a, b) => Number(together.has(a)) - Number(together.has(b)))),
    keptCount: kept.length,
    kept: shown(kept),
  };
}

function shownOf(match: Match, by: number): WaitingUser {
  const { user, person } = match;
  return {
    id: user.id,
    name: displayNameOf(user.resource),
    userName: user.userName,
    person: person ? shownPerson(person) : null,
    isKept: isKept(match),
    hindrance: hindranceOf(match, by),
  };
}

export const shownPerson = ({ id, name, email, role, source }: ForeignPerson) => ({
  id,
  name,
  email,
  role,
  source,
});

/** Returns the user of the directory that a person of another source most likely is, or null. */
export async function waitingUserOf(
  db: Db,
  accountId: AccountId,
  person: { id: number; externalId: string | null; email: string | null },
  by: number,
): Promise<WaitingUser | null> {
  const like = { externalId: person.externalId, emailKey: person.email && emailKey(person.email) };
  const matches = await matchesOf(db, accountId, await selectUsersLike(db, accountId, like));
  const found = matches.find(
    (match) => match.person?.id === person.id && hindranceOf(match, by) !== 'other user',
  );
  return found ? shownOf(found, by) : null;
}

/** Keeps a person as it is, or lets it wait for a decision again. Throws a Fault (conflict) if the user no longer waits for this person. */
export async function keepPerson(
  pool: Pool,
  accountId: AccountId,
  { id, personId, kept, by }: { id: string; personId: number; kept: boolean; by: Actor },
): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await lockAccount(tx, accountId);
    const match = await matchById(tx, accountId, id);
    if (match?.person?.id !== personId) throw changedSince('The directory or the person has changed');
    await updateKeptPerson(tx, accountId, id, kept ? personId : null);
    await audit(tx, accountId, by, 'person kept', { subject: personId, details: { kept } });
  });
}

/** Notes that people who were just taken back from the directory stay as they are, so that they don't wait for a decision again. */
export async function keepReleased(tx: Transaction, accountId: AccountId, userIds: number[]): Promise<void> {
  if (userIds.length > 0) await updateKeptPeople(tx, accountId, userIds);
}
