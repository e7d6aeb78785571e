// Users and attributes that are made by hand. Pushes and files leave these alone.
import { emailKey, isEmail, isExternalId, isLanguage, isTimeZone } from '@soundings/contract/formats.ts';
import { maxNameLength } from '@soundings/contract/limits.ts';
import { type Role, roles } from '@soundings/contract/words.ts';
import type { DetailType } from '@soundings/contract/problem.ts';
import { lockAccount } from '../accounts/accounts.ts';
import { Fault } from '../base/errors.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';
import type { Attribute } from './attributes.ts';
import { clearFingerprints, selectAttributes, selectGroupsOpenTo, upsertAttribute } from './people.sql.ts';
import { insertUser, replaceMemberships, selectClash, selectGroupsOf } from './users.sql.ts';

export { selectGroupsOpenTo as groupsOpenTo };

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
  const clash = await selectClash(tx, accountId, { userId: 0, externalId, emailKey: key });
  if (clash.externalId)
    throw taken('externalId taken', `A user with the externalId "${externalId}" exists already.`);
  if (clash.email) throw taken('email taken', `A user with the address ${email} exists already.`);
  const present = await selectGroupsOf(tx, accountId, memberOf);
  const missing = memberOf.find((groupId) => !present.has(groupId));
  if (missing !== undefined) throw groupNotFound(missing);
  const userId = await insertUser(tx, accountId, {
    externalId,
    firstName,
    lastName,
    email,
    emailKey: key,
    phone: null,
    active: true,
    role,
    timezone,
    language,
    attributes: {},
  });
  await replaceMemberships(tx, accountId, userId, 'memberOf', memberOf);
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
