// Creates users manually and defines attributes. Pushes and files don't change manual users.
import { emailKey, isEmail, isExternalId, isLanguage, isTimeZone } from '@soundings/contract/formats.ts';
import { maxNameLength } from '@soundings/contract/limits.ts';
import { type Role, roles } from '@soundings/contract/shared-values.ts';
import type { DetailType } from '@soundings/contract/problem.ts';
import { lockAccount } from '../accounts/accounts.ts';
import { Fault } from '../base/errors.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';
import type { Attribute } from './attributes.ts';
import { clearFingerprints, selectAttributes, selectGroupsOpenTo, upsertAttribute } from './people.sql.ts';
import { insertUser, replaceMemberships, selectClash, selectGroupsOf } from './users.sql.ts';

export { selectGroupsOpenTo };

/**
 * Creates a manual user and returns the id. Time zone and language default to the account's. Throws a Fault for invalid values,
 * an externalId or address that is taken, and groups that don't exist.
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
    throw invalid('too long', `The name is too long. The maximum is ${maxNameLength} characters.`);
  }
  if (email !== null && !isEmail(email))
    throw invalid(
      'invalid email',
      `"${email}" is not a valid email address (for example, anna@example.com).`,
    );
  if (!isRole(role))
    throw invalid('invalid value', `Unknown role "${role}". Use one of ${roles.join(', ')}.`);
  if (externalId !== null) refuseExternalId(externalId);
  if (timezone !== null && !isTimeZone(timezone)) {
    throw invalid(
      'invalid timezone',
      `"${timezone}" is not a valid time zone (for example, Europe/Stockholm).`,
    );
  }
  if (language !== null && !isLanguage(language)) {
    throw invalid('invalid language', `"${language}" is not a valid language code (for example, en).`);
  }
  await lockAccount(tx, accountId);
  const key = email === null ? null : emailKey(email);
  const clash = await selectClash(tx, accountId, { userId: 0, externalId, emailKey: key });
  if (clash.externalId)
    throw taken('externalId taken', `A user with the externalId "${externalId}" already exists.`);
  if (clash.email) throw taken('email taken', `A user with the email address ${email} already exists.`);
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

/** Defines an attribute, or changes its allowed values. Values that users already have stay. */
export async function defineAttribute(
  tx: Transaction,
  accountId: AccountId,
  { name, allowedValues }: Attribute,
): Promise<Attribute> {
  if (name.trim() !== name || name === '' || name.length > maxNameLength || name === '__proto__') {
    const rule = `Use 1 to ${maxNameLength} characters without leading or trailing spaces, and not __proto__.`;
    throw invalid('invalid value', `${JSON.stringify(name)} is not a valid attribute name. ${rule}`);
  }
  if (allowedValues !== null && (allowedValues.length === 0 || allowedValues.includes(''))) {
    throw invalid('invalid value', 'Enter the allowed values separated by commas, with no empty value.');
  }
  await lockAccount(tx, accountId);
  const values = allowedValues && [...new Set(allowedValues)];
  await upsertAttribute(tx, accountId, name, values);
  await clearFingerprints(tx, accountId, name);
  return { name, allowedValues: values };
}

/** Returns the attributes of the account, by name. */
export async function attributesOf(db: Db, accountId: AccountId): Promise<Map<string, Attribute>> {
  const attributes = await selectAttributes(db, accountId);
  return new Map(attributes.map((attribute) => [attribute.name, attribute]));
}

const isRole = (role: string): role is Role => (roles as readonly string[]).includes(role);

function refuseExternalId(externalId: string): void {
  if (isExternalId(externalId)) return;
  throw invalid(
    'invalid externalId',
    'Invalid externalId. Use 1 to 255 characters without leading or trailing spaces or control characters.',
  );
}

const invalid = (code: DetailType, message: string) => new Fault('invalid', code, message);
const taken = (code: DetailType, message: string) => new Fault('conflict', code, message);
const groupNotFound = (groupId: number) =>
  new Fault('not_found', 'group not found', `Group ${groupId} does not exist.`);
