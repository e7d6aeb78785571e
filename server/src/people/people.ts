// Users, groups and attributes that are made by hand. Pushes and files leave these alone.
import { emailKey, isEmail, isExternalId, isLanguage, isTimeZone } from '@soundings/contract/formats.ts';
import { maxNameLength, maxTreeDepth } from '@soundings/contract/limits.ts';
import { type Role, roles } from '@soundings/contract/organization.ts';
import type { DetailType } from '@soundings/contract/problem.ts';
import { lockAccount, raiseVersion } from '../accounts/accounts.ts';
import { Fault } from '../base/errors.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';
import type { Attribute } from './attributes.ts';
import {
  clearFingerprints,
  insertGroup,
  insertMemberships,
  insertUser,
  selectAttributes,
  selectGroupIds,
  selectGroups,
  selectGroupsOpenTo,
  selectGroupTaken,
  selectUserClash,
  upsertAttribute,
} from './people.sql.ts';

export { selectGroupsOpenTo as groupsOpenTo };
import { treeFaults } from './tree.ts';

/** Makes a group by hand and returns its id. Throws a Fault for a name, externalId or parent that cannot be. */
export async function createGroup(
  tx: Transaction,
  accountId: AccountId,
  group: { name: string; externalId?: string; parentId?: number },
): Promise<number> {
  const { name, externalId = null, parentId = null } = group;
  if (name.trim() === '' || name.length > maxNameLength) {
    throw invalid('invalid value', `The name of a group must have 1 to ${maxNameLength} characters.`);
  }
  if (externalId !== null) refuseExternalId(externalId);
  await lockAccount(tx, accountId);
  if (externalId !== null && (await selectGroupTaken(tx, accountId, externalId))) {
    throw taken('externalId taken', `A group with the externalId "${externalId}" exists already.`);
  }
  const groups = await selectGroups(tx, accountId);
  if (parentId !== null && !groups.some(({ id }) => id === parentId)) throw groupNotFound(parentId);
  const { tooDeep } = treeFaults([...groups, { id: 0, parentId }], maxTreeDepth);
  if (tooDeep.length > 0) throw invalid('too deep', `A tree of groups has at most ${maxTreeDepth} levels.`);
  await raiseVersion(tx, accountId);
  return insertGroup(tx, accountId, { name, externalId, parentId });
}

/**
 * Makes a user by hand and returns the id. Time zone and language are the account's unless given. Throws a Fault for
 * values that cannot be, an externalId or address that is taken, and groups that the account does not have.
 */
export async function createUser(
  tx: Transaction,
  accountId: AccountId,
  user: {
    firstName: string;
    lastName: string;
    email?: string;
    role?: string;
    externalId?: string;
    timezone?: string;
    language?: string;
    memberOf?: number[];
  },
): Promise<number> {
  const { firstName, lastName, email = null, role = 'User', externalId = null, memberOf = [] } = user;
  const { timezone = null, language = null } = user;
  if (firstName.length > maxNameLength || lastName.length > maxNameLength) {
    throw invalid('too long', `A name may have ${maxNameLength} characters.`);
  }
  if (email !== null && !isEmail(email))
    throw invalid('invalid email', `"${email}" is not an e-mail address.`);
  if (!isRole(role)) throw invalid('invalid value', `A role is one of ${roles.join(', ')}, not "${role}".`);
  if (externalId !== null) refuseExternalId(externalId);
  if (timezone !== null && !isTimeZone(timezone)) {
    throw invalid('invalid timezone', `"${timezone}" is not a time zone of the tz database.`);
  }
  if (language !== null && !isLanguage(language)) {
    throw invalid('invalid language', `"${language}" is not an ISO 639-1 code such as en or sv.`);
  }
  await lockAccount(tx, accountId);
  const key = email === null ? null : emailKey(email);
  const clash = await selectUserClash(tx, accountId, externalId, key);
  if (clash.externalId)
    throw taken('externalId taken', `A user with the externalId "${externalId}" exists already.`);
  if (clash.email) throw taken('email taken', `A user with the address ${email} exists already.`);
  const present = new Set(await selectGroupIds(tx, accountId, memberOf));
  const missing = memberOf.find((groupId) => !present.has(groupId));
  if (missing !== undefined) throw groupNotFound(missing);
  const userId = await insertUser(tx, accountId, {
    externalId,
    firstName,
    lastName,
    email,
    emailKey: key,
    role,
    timezone,
    language,
  });
  await insertMemberships(tx, accountId, userId, 'memberOf', memberOf);
  return userId;
}

/** Defines an attribute, or changes the values that it allows. Values that users have already stay. */
export async function defineAttribute(
  tx: Transaction,
  accountId: AccountId,
  { name, allowedValues }: Attribute,
): Promise<Attribute> {
  if (name.trim() !== name || name === '' || name.length > maxNameLength || name === '__proto__') {
    const rule = `1 to ${maxNameLength} characters, no white space at its ends, and not __proto__`;
    throw invalid('invalid value', `${JSON.stringify(name)} cannot be the name of an attribute: ${rule}.`);
  }
  if (allowedValues !== null && (allowedValues.length === 0 || allowedValues.includes(''))) {
    throw invalid('invalid value', 'Allowed values are texts, separated by commas.');
  }
  await lockAccount(tx, accountId);
  const values = allowedValues && [...new Set(allowedValues)];
  await upsertAttribute(tx, accountId, name, values);
  await clearFingerprints(tx, accountId, name);
  return { name, allowedValues: values };
}

/** The attributes of the account, by name. */
export async function attributesOf(db: Db, accountId: AccountId): Promise<Map<string, Attribute>> {
  const attributes = await selectAttributes(db, accountId);
  return new Map(attributes.map((attribute) => [attribute.name, attribute]));
}

const isRole = (role: string): role is Role => (roles as readonly string[]).includes(role);

function refuseExternalId(externalId: string): void {
  if (isExternalId(externalId)) return;
  throw invalid(
    'invalid externalId',
    'An externalId has 1 to 255 characters, no white space at its ends and no control characters.',
  );
}

const invalid = (code: DetailType, message: string) => new Fault('invalid', code, message);
const taken = (code: DetailType, message: string) => new Fault('conflict', code, message);
const groupNotFound = (groupId: number) =>
  new Fault('not_found', 'group not found', `There is no group ${groupId}.`);
