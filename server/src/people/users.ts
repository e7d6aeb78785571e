// Creates, changes and removes people manually, one at a time, and hands people over to pushes and files (adopt) and back
// (release). For managed people, refuses changes to fields that pushes and files manage.
import type { NewPerson, PersonChanges } from '@soundings/contract/console.people.ts';
import { managedFields, managedKinds } from '@soundings/contract/shared-values.ts';
import {
  emailKey,
  isEmail,
  isExternalId,
  isLanguage,
  isTimeZone,
  normalisePhone,
} from '@soundings/contract/formats.ts';
import { type MembershipKind, membershipKinds } from '@soundings/contract/shared-values.ts';
import type { Detail, DetailType } from '@soundings/contract/problem.ts';
import { lockAccount } from '../accounts/accounts.ts';
import { Fault } from '../base/errors.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';
import { attributeFault } from './attributes.ts';
import { attributesOf } from './people.ts';
import {
  deleteUser,
  type UserRow,
  insertUser,
  replaceMemberships,
  selectClash,
  selectGroupsOf,
  selectHandover,
  selectHasOtherAdministrator,
  selectMemberships,
  selectUser,
  selectUserIdOf,
  updateConfirmed,
  updateManaged,
  updateUser,
  type UserFields,
} from './users.sql.ts';

export { deleteEmailsBefore } from './users.sql.ts';

type Memberships = NonNullable<PersonChanges['memberships']>;

/** Creates a manual person and returns the id. Throws a Fault that lists every invalid field. */
export async function addPerson(tx: Transaction, accountId: AccountId, wanted: NewPerson): Promise<number> {
  await lockAccount(tx, accountId);
  const { memberships = {}, attributes = {}, ...fields } = wanted;
  const person = withoutSpaces({ ...fields, attributes: withAttributes({}, attributes) });
  const details = [
    ...wrongFields(person),
    ...(await wrongAttributes(tx, accountId, attributes)),
    ...(await unknownGroups(tx, accountId, memberships)),
    ...(await taken(tx, accountId, 0, person)),
  ];
  refuse(details);
  const userId = await insertUser(tx, accountId, { ...person, ...keyOf(person) });
  await writeMemberships(tx, accountId, userId, memberships);
  return userId;
}

/** The result of a change: the names of the changed fields, and the externalId before and after. */
export type Changed = { fields: string[]; externalId: { from: string | null; to: string | null } };

/**
 * Changes the given fields of a person. Throws a Fault that lists every field that can't be changed, including managed fields of
 * a managed person, and changes that an administrator (`by`) can't make to their own account.
 */
export async function changePerson(
  tx: Transaction,
  accountId: AccountId,
  userId: number,
  { memberships = {}, attributes = {}, ...fields }: PersonChanges,
  by: number,
): Promise<Changed> {
  await lockAccount(tx, accountId);
  const before = await personHeld(tx, accountId, userId);
  const after = withoutSpaces({
    ...before,
    ...fields,
    attributes: withAttributes(before.attributes, attributes),
  });
  const changed = namesOf(fields).filter((name) => before[name] !== after[name]);
  const changedAttributes = Object.keys(attributes).filter(
    (name) => valueOf(before.attributes, name) !== valueOf(after.attributes, name),
  );
  const kinds = await changedKinds(tx, accountId, userId, memberships);
  refuse([
    ...(before.managed ? deliveredFaults(changed, kinds) : []),
    ...wrongFields(Object.fromEntries(changed.map((name) => [name, after[name]]))),
    ...(await wrongAttributes(
      tx,
      accountId,
      Object.fromEntries(changedAttributes.map((name) => [name, attributes[name] ?? null])),
    )),
    ...(await unknownGroups(tx, accountId, memberships)),
    ...(await taken(tx, accountId, userId, after)),
    ...(await leftAlone(tx, accountId, before, after, by)),
  ]);
  const names = [
    ...changed,
    ...kinds.map(({ kind }) => kind),
    ...changedAttributes.map((name) => `attributes.${name}`),
  ];
  if (names.length > 0) {
    await updateUser(tx, accountId, userId, { ...after, ...keyOf(after) });
    await writeMemberships(tx, accountId, userId, memberships);
  }
  return { fields: names, externalId: { from: before.externalId, to: after.externalId } };
}

/** Removes a manual person and returns the externalId. */
export async function removePerson(
  tx: Transaction,
  accountId: AccountId,
  userId: number,
  by: number,
): Promise<string | null> {
  await lockAccount(tx, accountId);
  const before = await personHeld(tx, accountId, userId);
  if (before.managed) {
    throw new Fault(
      'conflict',
      'managed',
      'This person is managed by your HR system. Remove the person there, or release the person first.',
    );
  }
  refuse(await leftAlone(tx, accountId, before, { ...before, active: false }, by));
  await deleteUser(tx, accountId, userId);
  return before.externalId;
}

/**
 * Hands a person over to pushes and files. `externalId`: the one they use, for a person who has none yet. Returns the externalId
 * before and after.
 */
export async function adoptPerson(
  tx: Transaction,
  accountId: AccountId,
  userId: number,
  externalId: string | undefined,
  by: number,
): Promise<Changed['externalId']> {
  await lockAccount(tx, accountId);
  const before = await personHeld(tx, accountId, userId);
  if (before.managed)
    throw new Fault('conflict', 'managed', 'This person is already managed by your HR system.');
  if (userId === by) refuse([oneself('')]);
  const after = { ...before, externalId: before.externalId ?? externalId ?? null };
  if (after.externalId === null) {
    refuse([
      {
        type: 'missing field',
        message: 'An externalId is required, because your HR system identifies people by it.',
        path: '/externalId',
      },
    ]);
  }
  refuse([...wrongFields({ externalId: after.externalId }), ...(await taken(tx, accountId, userId, after))]);
  await updateUser(tx, accountId, userId, { ...after, ...keyOf(after) });
  await updateManaged(tx, accountId, [userId], true);
  return { from: before.externalId, to: after.externalId };
}

/** Confirms an administrator who was created or changed by a push or file. Throws a Fault if the role is not pending. */
export async function confirmAdministrator(
  tx: Transaction,
  accountId: AccountId,
  userId: number,
): Promise<void> {
  await lockAccount(tx, accountId);
  await personHeld(tx, accountId, userId);
  if (await updateConfirmed(tx, accountId, userId)) return;
  throw new Fault(
    'conflict',
    'changed since',
    'The role of this person is no longer waiting for confirmation.',
  );
}

/** Like confirmAdministrator, for the person with this address. Returns the id. */
export async function confirmByAddress(
  tx: Transaction,
  accountId: AccountId,
  email: string,
): Promise<number> {
  const userId = await selectUserIdOf(tx, accountId, emailKey(email));
  if (userId === undefined) throw personNotFound();
  await confirmAdministrator(tx, accountId, userId);
  return userId;
}

/** Turns a managed person into a manual one, which pushes and files no longer change. */
export async function releasePerson(tx: Transaction, accountId: AccountId, userId: number): Promise<void> {
  await lockAccount(tx, accountId);
  const { managed } = await personHeld(tx, accountId, userId);
  if (!managed) throw new Fault('conflict', 'managed', 'This person is not managed by your HR system.');
  await updateManaged(tx, accountId, [userId], false);
}

/** Hands over many people at once, or only previews it. `by`: the user who asks, who is never handed over. */
export async function handOver(
  tx: Transaction,
  accountId: AccountId,
  chosen: { userIds: number[]; toManaged: boolean; by: number },
  isPreview: boolean,
): Promise<{ changing: number[]; already: number; withoutExternalId: number; oneself: number }> {
  if (!isPreview) await lockAccount(tx, accountId);
  const handover = await selectHandover(tx, accountId, chosen);
  if (!isPreview) await updateManaged(tx, accountId, handover.changing, chosen.toManaged);
  return handover;
}

async function personHeld(tx: Transaction, accountId: AccountId, userId: number): Promise<UserRow> {
  const current = await selectUser(tx, accountId, userId);
  if (!current) throw personNotFound();
  return current;
}

export const personNotFound = () =>
  new Fault('not_found', 'person not found', 'This person does not exist. They may have been removed.');

/** Removes surrounding spaces from names, addresses and externalIds, and normalizes phone numbers. */
function withoutSpaces<T extends UserFields>(person: T): T {
  const { firstName, lastName, email, phone, externalId } = person;
  return {
    ...person,
    firstName: firstName.trim(),
    lastName: lastName.trim(),
    email: email?.trim() ?? null,
    phone: phone === null ? null : (normalisePhone(phone) ?? phone),
    externalId: externalId?.trim() ?? null,
  };
}

const keyOf = ({ email }: UserFields) => ({ emailKey: email === null ? null : emailKey(email) });

type Plain = Omit<UserFields, 'attributes'>;
const namesOf = (fields: Partial<Plain>) => Object.keys(fields) as (keyof Plain)[];

const rules: { [name in keyof Plain]?: [(text: string) => boolean, DetailType, string] } = {
  firstName: [(text) => text !== '', 'missing field', 'This field is required.'],
  lastName: [(text) => text !== '', 'missing field', 'This field is required.'],
  email: [isEmail, 'invalid email', 'Not a valid email address (for example, anna@example.com).'],
  phone: [
    (text) => normalisePhone(text) !== undefined,
    'invalid phone',
    'Not a phone number with a country code (for example, +46701234567).',
  ],
  language: [isLanguage, 'invalid language', 'Not a valid language code (for example, en).'],
  timezone: [isTimeZone, 'invalid timezone', 'Not a valid time zone (for example, Europe/Stockholm).'],
  externalId: [
    isExternalId,
    'invalid externalId',
    'Not a valid externalId. Use 1 to 255 characters without leading or trailing spaces or control characters.',
  ],
};

function wrongFields(fields: Partial<UserFields>): Detail[] {
  return Object.entries(rules).flatMap(([name, [isRight, type, message]]) => {
    const text = fields[name as keyof typeof rules];
    return typeof text !== 'string' || isRight(text) ? [] : [{ type, message, path: `/${name}` }];
  });
}

const pointer = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1');

async function wrongAttributes(
  db: Db,
  accountId: AccountId,
  attributes: Record<string, string | null>,
): Promise<Detail[]> {
  if (Object.keys(attributes).length === 0) return [];
  const defined = await attributesOf(db, accountId);
  return Object.entries(attributes).flatMap(([name, value]) => {
    const fault = attributeFault(defined, name, value);
    return fault ? [{ ...fault, path: `/attributes/${pointer(name)}` }] : [];
  });
}

/** Returns an attribute's value, or null if the person has none. Safe for names such as "constructor". */
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

async function unknownGroups(db: Db, accountId: AccountId, memberships: Memberships): Promise<Detail[]> {
  const present = await selectGroupsOf(db, accountId, Object.values(memberships).flat());
  return membershipKinds
    .filter((kind) => memberships[kind]?.some((groupId) => !present.has(groupId)))
    .map((kind) => ({
      type: 'group not found',
      message: 'One of these groups no longer exists. Reload the page and choose again.',
      path: `/memberships/${kind}`,
    }));
}

type ChangedKind = { kind: MembershipKind; isManagedConcerned: boolean };

/** Returns the kinds of membership that change, and whether each change affects managed groups. */
async function changedKinds(
  db: Db,
  accountId: AccountId,
  userId: number,
  memberships: Memberships,
): Promise<ChangedKind[]> {
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

/** Returns a fault for each changed field that only pushes and files can change (§1 B). */
function deliveredFaults(changed: string[], kinds: ChangedKind[]): Detail[] {
  const fault = (path: string): Detail => ({
    type: 'managed',
    message: 'Managed by your HR system. Change it there.',
    path,
  });
  return [
    ...changed
      .filter((name) => (managedFields as readonly string[]).includes(name))
      .map((name) => fault(`/${name}`)),
    ...kinds
      .filter(({ kind, isManagedConcerned }) => isManagedConcerned && managedKinds.includes(kind))
      .map(({ kind }) => fault(`/memberships/${kind}`)),
  ];
}

async function taken(db: Db, accountId: AccountId, userId: number, person: UserFields): Promise<Detail[]> {
  const { externalId, email } = person;
  const clash = await selectClash(db, accountId, { userId, externalId, ...keyOf(person) });
  return [
    ...(clash.externalId
      ? [
          {
            type: 'externalId taken',
            message: `A user with the externalId "${externalId}" already exists.`,
            path: '/externalId',
          },
        ]
      : []),
    ...(clash.email
      ? [
          {
            type: 'email taken',
            message: `A user with the email address ${email} already exists.`,
            path: '/email',
          },
        ]
      : []),
  ];
}

const oneself = (path: string): Detail => ({
  type: 'own account',
  message: "You can't do this to your own account. Ask another administrator.",
  path,
});

/** Refuses changes that would lock out the administrator who makes them, or leave no active administrator (decision B13). */
async function leftAlone(
  db: Db,
  accountId: AccountId,
  before: UserRow,
  after: UserFields,
  by: number,
): Promise<Detail[]> {
  const isAdministrator = ({ role, active }: UserFields) => role === 'Administrator' && active;
  if (!isAdministrator(before) || isAdministrator(after)) return [];
  const path = after.active ? '/role' : '/active';
  if (before.id === by) return [oneself(path)];
  if (await selectHasOtherAdministrator(db, accountId, before.id)) return [];
  const message =
    'The account would have no active administrator left. Give someone else the role Administrator first.';
  return [{ type: 'no administrator', message, path }];
}

async function writeMemberships(
  tx: Transaction,
  accountId: AccountId,
  userId: number,
  memberships: Memberships,
): Promise<void> {
  for (const kind of membershipKinds) {
    const groupIds = memberships[kind];
    // oxlint-disable-next-line no-await-in-loop -- four kinds, on one connection
    if (groupIds) await replaceMemberships(tx, accountId, userId, kind, groupIds);
  }
}

function refuse(details: Detail[]): void {
  const [first] = details;
  if (!first) return;
  const isConflict = ['externalId taken', 'email taken', 'managed', 'own account', 'no administrator'];
  const kind = details.every(({ type }) => isConflict.includes(type)) ? 'conflict' : 'invalid';
  throw new Fault(kind, first.type as DetailType, first.message, { details });
}
