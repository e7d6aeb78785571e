// Creates, changes and removes users manually, one at a time: for the console, the command, the first start and the demo. Fields
// that pushes and files manage can't be changed here.
import type { PersonChanges } from '@soundings/contract/console/people.ts';
import { emailKey, normalisePhone } from '@soundings/contract/formats.ts';
import { membershipKinds } from '@soundings/contract/people/memberships.ts';
import { lockAccount } from '../accounts/accounts.ts';
import { raiseVersion } from '../accounts/accounts.sql.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';
import { recordEvent } from '../events/events.ts';
import { managedFault, userNotFound } from './faults.ts';
import {
  attributeFaults,
  type ChangedKind,
  fieldFaults,
  type Fields,
  groupFaults,
  lockoutFaults,
  managedFaults,
  type Memberships,
  refuseUser,
  takenFaults,
} from './user-faults.ts';
import {
  deleteUsers,
  insertUser,
  replaceMemberships,
  selectGroupsOf,
  selectMemberships,
  selectUser,
  updateUser,
  type UserFields,
  type UserRow,
} from './users.sql.ts';

/** A new user. What is left out is empty; time zone and language are then the account's, and the role is User. */
export type NewUser = Partial<Omit<Fields, 'role'>> & {
  role?: string;
  memberships?: Memberships;
  attributes?: Record<string, string | null>;
};

/** Creates a manual user and returns the id. Throws a Fault that lists every invalid field. */
export async function createUser(tx: Transaction, accountId: AccountId, wanted: NewUser): Promise<number> {
  await lockAccount(tx, accountId);
  const { memberships = {}, attributes = {}, ...others } = wanted;
  const given = trimmed(others as Partial<Fields>); // fieldFaults checks the role
  const user: UserFields = { ...emptyUser, ...given, attributes: withAttributes({}, attributes) };
  refuseUser([
    ...fieldFaults(given),
    ...(await attributeFaults(tx, accountId, attributes)),
    ...(await groupFaults(tx, accountId, memberships)),
    ...(await takenFaults(tx, accountId, 0, user)),
  ]);
  const userId = await insertUser(tx, accountId, { ...user, ...emailKeyOf(user) });
  await writeMemberships(tx, accountId, userId, memberships);
  await raiseVersion(tx, accountId);
  if (user.role === 'Administrator')
    await recordEvent(tx, accountId, 'administrator.added', userId, { userId });
  return userId;
}

const emptyUser: UserFields = {
  externalId: null,
  firstName: '',
  lastName: '',
  email: null,
  phone: null,
  active: true,
  timezone: null,
  language: null,
  role: 'User',
  attributes: {},
};

/** The result of a change: the names of the changed fields, and the externalId before and after. */
export type Changed = { fields: string[]; externalId: { from: string | null; to: string | null } };

/**
 * Changes the given fields of a user. Throws a Fault that lists every field that can't be changed, including managed fields of
 * a managed user, and changes that an administrator (`by`) can't make to their own account.
 */
export async function changeUser(
  tx: Transaction,
  accountId: AccountId,
  userId: number,
  { memberships = {}, attributes = {}, ...fields }: PersonChanges,
  by: number,
): Promise<Changed> {
  await lockAccount(tx, accountId);
  const before = await userById(tx, accountId, userId);
  const given = trimmed(fields);
  const after = { ...before, ...given, attributes: withAttributes(before.attributes, attributes) };
  const changed = (Object.keys(given) as (keyof Fields)[]).filter((name) => before[name] !== after[name]);
  const changedAttributes = Object.keys(attributes).filter(
    (name) => valueOf(before.attributes, name) !== valueOf(after.attributes, name),
  );
  const kinds = await changedKinds(tx, accountId, userId, memberships);
  refuseUser([
    ...(before.managed ? managedFaults(changed, kinds) : []),
    ...fieldFaults(Object.fromEntries(changed.map((name) => [name, after[name]]))),
    ...(await attributeFaults(
      tx,
      accountId,
      Object.fromEntries(changedAttributes.map((name) => [name, attributes[name] ?? null])),
    )),
    ...(await groupFaults(tx, accountId, memberships)),
    ...(await takenFaults(tx, accountId, userId, after)),
    ...(await lockoutFaults(tx, accountId, before, after, by)),
  ]);
  const names = [
    ...changed,
    ...kinds.map(({ kind }) => kind),
    ...changedAttributes.map((name) => `attributes.${name}`),
  ];
  if (names.length > 0) {
    await updateUser(tx, accountId, userId, { ...after, ...emailKeyOf(after) });
    await writeMemberships(tx, accountId, userId, memberships);
    await raiseVersion(tx, accountId);
    if (changed.includes('role') && after.role === 'Administrator')
      await recordEvent(tx, accountId, 'administrator.added', userId, { userId });
  }
  return { fields: names, externalId: { from: before.externalId, to: after.externalId } };
}

/** Removes a manual user and returns the externalId. `by`: the administrator who removes the user. */
export async function removeUser(
  tx: Transaction,
  accountId: AccountId,
  userId: number,
  by: number,
): Promise<string | null> {
  await lockAccount(tx, accountId);
  const before = await userById(tx, accountId, userId);
  if (before.managed) {
    throw managedFault();
  }
  refuseUser(await lockoutFaults(tx, accountId, before, { ...before, active: false }, by));
  await deleteUsers(tx, accountId, [userId]);
  await raiseVersion(tx, accountId);
  return before.externalId;
}

/** Returns a user. Throws a Fault if there is none with this id. */
export async function userById(db: Db, accountId: AccountId, userId: number): Promise<UserRow> {
  const user = await selectUser(db, accountId, userId);
  if (!user) throw userNotFound();
  return user;
}

/** Removes surrounding spaces from names, addresses and externalIds, and normalizes phone numbers. */
function trimmed(fields: Partial<Fields>): Partial<Fields> {
  const { phone } = fields;
  const texts = (['firstName', 'lastName', 'email', 'externalId'] as const).flatMap((name) => {
    const text = fields[name];
    return typeof text === 'string' ? [[name, text.trim()]] : [];
  });
  const normal = typeof phone === 'string' ? { phone: normalisePhone(phone) ?? phone } : {};
  return { ...fields, ...Object.fromEntries(texts), ...normal };
}

/** Returns the address as it is compared with others. */
export const emailKeyOf = ({ email }: Pick<UserFields, 'email'>) => ({
  emailKey: email === null ? null : emailKey(email),
});

/** Returns an attribute's value, or null if the user has none. Safe for names such as "constructor". */
const valueOf = (attributes: Record<string, string>, name: string) =>
  Object.hasOwn(attributes, name) ? (attributes[name] as string) : null;

function withAttributes(
  before: Record<string, string>,
  changes: Record<string, string | null>,
): Record<string, string> {
  const kept = Object.entries(before).filter(([name]) => !Object.hasOwn(changes, name));
  const set = Object.entries(changes).filter(([, value]) => value !== null && value !== '');
  return Object.fromEntries([...kept, ...set]) as Record<string, string>;
}

/** Returns the kinds of membership that change, and whether each change affects managed groups. */
async function changedKinds(
  db: Db,
  accountId: AccountId,
  userId: number,
  memberships: Memberships,
): Promise<ChangedKind[]> {
  if (Object.keys(memberships).length === 0) return [];
  const current = await selectMemberships(db, accountId, userId);
  const managed = await selectGroupsOf(db, accountId, Object.values(memberships).flat());
  return membershipKinds.flatMap((kind) => {
    const wanted = memberships[kind];
    if (!wanted) return [];
    const before = current.filter((one) => one.kind === kind);
    const added = wanted.filter((groupId) => !before.some((one) => one.groupId === groupId));
    const dropped = before.filter(({ groupId }) => !wanted.includes(groupId));
    if (added.length === 0 && dropped.length === 0) return [];
    const isManagedConcerned =
      dropped.some(({ isManaged }) => isManaged) || added.some((groupId) => managed.get(groupId) === true);
    return [{ kind, isManagedConcerned }];
  });
}

async function writeMemberships(
  tx: Transaction,
  accountId: AccountId,
  userId: number,
  memberships: Memberships,
): Promise<void> {
  for (const kind of membershipKinds) {
    const groupIds = memberships[kind];
    if (groupIds) await replaceMemberships(tx, accountId, userId, kind, groupIds);
  }
}
