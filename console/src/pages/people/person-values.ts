// The values of the person form, and the request bodies with them.
import type { NewPerson, Person, PersonChanges, PersonFields } from '@soundings/contract/console/people.ts';
import { managedFields, managedKinds } from '@soundings/contract/people/managed-fields.ts';
import { type MembershipKind, membershipKinds } from '@soundings/contract/people/memberships.ts';
import type { Role } from '@soundings/contract/people/roles.ts';

/** Keyed by the paths that the service reports in faults, such as memberships/memberOf or attributes/gender. */
export type PersonValues = {
  firstName: string;
  lastName: string;
  email: string;
  phone: string;
  role: Role;
  /** '': the account's applies. */
  language: string;
  timezone: string;
  active: boolean;
  externalId: string;
  /** Whether to send an invitation to sign in, where that can be chosen. */
  invite: boolean;
} & { [kind in `memberships/${MembershipKind}`]: readonly number[] } & {
  [attribute in `attributes/${string}`]: string;
};

const pointer = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1');
export const attributeField = (name: string): `attributes/${string}` => `attributes/${pointer(name)}`;

/** Returns the value of an attribute. Safe for names such as "constructor". */
export const attributeOf = ({ attributes }: Person, name: string): string | undefined =>
  Object.hasOwn(attributes, name) ? attributes[name] : undefined;

/** Whether the HR system manages this field of managed people. */
export const isManagedField = (name: string): boolean => (managedFields as readonly string[]).includes(name);

/** Returns the values for a person, or empty values for a new one. Omits memberships that the HR system manages. */
export function personValuesOf(person: Person | undefined, attributes: string[]): PersonValues {
  const shown = (kind: MembershipKind) =>
    (person?.memberships[kind] ?? [])
      .filter(({ managed }) => !isKindManaged(person, kind, managed))
      .map(({ id }) => id);
  return {
    firstName: person?.firstName ?? '',
    lastName: person?.lastName ?? '',
    email: person?.email ?? '',
    phone: person?.phone ?? '',
    role: person?.role ?? 'User',
    language: person?.language ?? '',
    timezone: person?.timezone ?? '',
    active: person?.active ?? true,
    externalId: person?.externalId ?? '',
    invite: false,
    ...Object.fromEntries(membershipKinds.map((kind) => [`memberships/${kind}`, shown(kind)])),
    ...Object.fromEntries(
      attributes.map((name) => [attributeField(name), (person && attributeOf(person, name)) ?? '']),
    ),
  } as PersonValues;
}

/** Whether the HR system manages a person's membership in a group. */
export const isKindManaged = (person: Person | undefined, kind: MembershipKind, isGroupManaged: boolean) =>
  person?.managed === true && isGroupManaged && managedKinds.includes(kind);

/**
 * Whether an invitation to sign in can be chosen: for new people with a role, and for people without a password who are given one. New
 * administrators who exist already are invited in any case.
 */
export const isChoosable = ({ role }: PersonValues, { canMail }: PersonFields, person?: Person): boolean =>
  canMail &&
  role !== 'User' &&
  (!person ||
    (person.role === 'User' && role !== 'Administrator' && person.active && !person.signIn.hasPassword));

/** Whether the invitation can be sent: there is also an address. */
export const isInvitable = (values: PersonValues, fields: PersonFields, person?: Person): boolean =>
  isChoosable(values, fields, person) &&
  (person?.managed ? person.email !== null : values.email.trim() !== '');

const orNull = (text: string) => (text.trim() === '' ? null : text);

/** Returns all values as the service reads them. `person`: whose managed memberships stay. */
export function newPersonOf(values: PersonValues, attributes: string[], person?: Person): NewPerson {
  const managedIds = (kind: MembershipKind) =>
    (person?.memberships[kind] ?? [])
      .filter(({ managed }) => isKindManaged(person, kind, managed))
      .map(({ id }) => id);
  return {
    firstName: values.firstName,
    lastName: values.lastName,
    email: orNull(values.email),
    phone: orNull(values.phone),
    role: values.role,
    language: orNull(values.language),
    timezone: orNull(values.timezone),
    active: values.active,
    externalId: orNull(values.externalId),
    memberships: Object.fromEntries(
      membershipKinds.map((kind) => [kind, [...managedIds(kind), ...values[`memberships/${kind}`]]]),
    ),
    attributes: Object.fromEntries(
      attributes.map((name) => [name, orNull(values[attributeField(name)] ?? '')]),
    ),
  };
}

/** Returns only the changed fields, so that changes by other users in the meantime stay. */
export function changesOf(values: PersonValues, person: Person, attributes: string[]): PersonChanges {
  const before = personValuesOf(person, attributes);
  const { memberships = {}, attributes: given = {}, ...fields } = newPersonOf(values, attributes, person);
  const isChanged = (name: keyof PersonValues) =>
    JSON.stringify(values[name]) !== JSON.stringify(before[name]);
  const pick = <T extends object>(all: T, fieldOf: (key: string) => keyof PersonValues) =>
    Object.fromEntries(Object.entries(all).filter(([key]) => isChanged(fieldOf(key)))) as Partial<T>;
  const kinds = pick(memberships, (kind) => `memberships/${kind as MembershipKind}`);
  const named = pick(given, attributeField) as Record<string, string | null>;
  return {
    ...pick(fields, (name) => name as keyof PersonValues),
    ...(Object.keys(kinds).length > 0 && { memberships: kinds }),
    ...(Object.keys(named).length > 0 && { attributes: named }),
  };
}
