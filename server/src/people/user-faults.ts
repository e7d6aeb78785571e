// Everything that can be wrong with a manual change to a user. Each function returns a fault for each field, so that a caller sees
// all of them together.
import type { PersonChanges } from '@soundings/contract/console/people.ts';
import type { Detail, DetailType } from '@soundings/contract/problem.ts';
import { managedFields, managedKinds } from '@soundings/contract/people/managed-fields.ts';
import { type MembershipKind, membershipKinds } from '@soundings/contract/people/memberships.ts';
import { roles } from '@soundings/contract/people/roles.ts';
import { emailKey } from '@soundings/contract/formats.ts';
import { Fault } from '../base/errors.ts';
import {
  choiceFault,
  emailFault,
  externalIdFault,
  type FieldFault,
  languageFault,
  nameFault,
  phoneFault,
  timeZoneFault,
} from '../base/field-faults.ts';
import type { AccountId, Db } from '../db/db.ts';
import { attributesOf } from './attributes.changes.ts';
import { attributeFault } from './attributes.ts';
import { managedFault } from './faults.ts';
import {
  selectClash,
  selectGroupsOf,
  selectHasOtherAdministrator,
  type UserFields,
  type UserRow,
} from './users.sql.ts';

/** The fields of a user that have their own value. */
export type Fields = Omit<UserFields, 'attributes'>;
export type Memberships = NonNullable<PersonChanges['memberships']>;

const checks: { [name in keyof Fields]?: (text: string) => FieldFault | undefined } = {
  firstName: (text) => nameFault('firstName', text),
  lastName: (text) => nameFault('lastName', text),
  email: emailFault,
  phone: phoneFault,
  language: languageFault,
  timezone: timeZoneFault,
  externalId: externalIdFault,
  role: (text) => choiceFault('role', text, roles),
};

/** Returns the faults of the given fields. Fields that are left out, or null, have none. */
export function fieldFaults(fields: Partial<Fields>): Detail[] {
  return Object.entries(checks).flatMap(([name, check]) => {
    const text = fields[name as keyof typeof checks];
    const fault = typeof text === 'string' ? check(text) : undefined;
    return fault ? [{ ...fault, path: `/${name}` }] : [];
  });
}

const pointer = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1');

export async function attributeFaults(
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

export async function groupFaults(db: Db, accountId: AccountId, memberships: Memberships): Promise<Detail[]> {
  const wanted = Object.values(memberships).flat();
  if (wanted.length === 0) return [];
  const present = await selectGroupsOf(db, accountId, wanted);
  return membershipKinds.flatMap((kind) => {
    const missing = memberships[kind]?.find((groupId) => !present.has(groupId));
    if (missing === undefined) return [];
    const message = `Group ${missing} does not exist. It may have been removed.`;
    return [{ type: 'group not found', message, path: `/memberships/${kind}` }];
  });
}

/** Returns a fault if another user has the externalId or the address. `userId`: 0 for a new user. */
export async function takenFaults(
  db: Db,
  accountId: AccountId,
  userId: number,
  { externalId, email }: Pick<UserFields, 'externalId' | 'email'>,
): Promise<Detail[]> {
  if (externalId === null && email === null) return [];
  const key = email === null ? null : emailKey(email);
  const clash = await selectClash(db, accountId, { userId, externalId, emailKey: key });
  const taken = (type: DetailType, what: string, path: string): Detail => ({
    type,
    message: `A user with the ${what} already exists.`,
    path,
  });
  return [
    ...(clash.externalId ? [taken('externalId taken', `externalId "${externalId}"`, '/externalId')] : []),
    ...(clash.email ? [taken('email taken', `email address ${email}`, '/email')] : []),
  ];
}

export type ChangedKind = { kind: MembershipKind; isManagedConcerned: boolean };

/** Returns a fault for each changed field that only pushes and files can change (§1.B). */
export function managedFaults(changed: string[], kinds: ChangedKind[]): Detail[] {
  return [
    ...changed
      .filter((name) => (managedFields as readonly string[]).includes(name))
      .flatMap((name) => managedFault(`/${name}`).details),
    ...kinds
      .filter(({ kind, isManagedConcerned }) => isManagedConcerned && managedKinds.includes(kind))
      .flatMap(({ kind }) => managedFault(`/memberships/${kind}`).details),
  ];
}

/** Returns a fault if a change locks out the administrator `by` who makes it, or leaves no active administrator (decision B13). */
export async function lockoutFaults(
  db: Db,
  accountId: AccountId,
  before: UserRow,
  after: Pick<UserFields, 'role' | 'active'>,
  by: number,
): Promise<Detail[]> {
  const isAdministrator = ({ role, active }: typeof after) => role === 'Administrator' && active;
  if (!isAdministrator(before) || isAdministrator(after)) return [];
  const path = after.active ? '/role' : '/active';
  if (before.id === by) return [ownAccountFault(path)];
  if (await selectHasOtherAdministrator(db, accountId, before.id)) return [];
  const message =
    'The account would have no active administrator left. Make someone else an administrator first.';
  return [{ type: 'no administrator', message, path }];
}

export const ownAccountFault = (path: string): Detail => ({
  type: 'own account',
  message: "You can't do this to your own account. Ask another administrator.",
  path,
});

/** Throws a Fault with all details, if there are any. */
export function refuseUser(details: Detail[]): void {
  const [first] = details;
  if (!first) return;
  const isConflict = ['externalId taken', 'email taken', 'managed', 'own account', 'no administrator'];
  const kind = details.every(({ type }) => isConflict.includes(type)) ? 'conflict' : 'invalid';
  throw new Fault(kind, first.type as DetailType, first.message, { details });
}
