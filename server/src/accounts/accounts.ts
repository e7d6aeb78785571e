// Creates accounts and changes their settings.
import { managerComparisons } from '@soundings/contract/comparisons.ts';
import { countries } from '@soundings/contract/countries.ts';
import {
  defaultThreshold,
  maxChangesCeiling,
  maxUsersOfPush,
  minimumThreshold,
  workingHours,
} from '@soundings/contract/limits.ts';
import type { Detail, DetailType } from '@soundings/contract/problem.ts';
import { isAddressRange } from '../base/network.ts';
import { Fault } from '../base/errors.ts';
import {
  emailFault,
  type FieldFault,
  languageFault,
  nameFault,
  timeZoneFault,
} from '../base/field-faults.ts';
import { quote } from '../base/text.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';
import { type Actor, audit } from './audit.ts';
import {
  type Account,
  type AccountKind,
  type AccountSettings,
  insertAccount,
  insertSftpUsername,
  lockAccountRow,
  raiseVersion,
  selectAccount,
  updateAccount,
} from './accounts.sql.ts';

/**
 * Creates an account without users. Its SFTP user name is built from its name and id. Throws a Fault that lists every invalid
 * setting.
 */
export async function createAccount(
  tx: Transaction,
  wanted: { name: string; timezone?: string; language?: string; threshold?: number; kind?: AccountKind },
  actor: Actor = { origin: 'command' },
): Promise<Account> {
  const { name, timezone = 'UTC', language = 'en', threshold = defaultThreshold, kind = 'company' } = wanted;
  refuseWrongSettings({ name, timezone, language, threshold });
  const accountId = await insertAccount(tx, { name, timezone, language, threshold, kind });
  await insertSftpUsername(tx, accountId, `${slug(name)}-${accountId}`);
  await audit(tx, accountId, actor, 'account created');
  return accountById(tx, accountId);
}

/** Changes the given settings and returns the account with all settings. */
export async function changeAccount(
  tx: Transaction,
  accountId: AccountId,
  changes: Partial<AccountSettings>,
  actor: Actor = { origin: 'command' },
): Promise<Account> {
  await lockAccount(tx, accountId);
  const account = await accountById(tx, accountId);
  refuseSandbox(account, 'Its settings can’t be changed.');
  refuseWrongSettings(changes);
  const changed = { ...account, ...changes };
  refuseLowThresholds(changed);
  await updateAccount(tx, accountId, changed);
  await auditChanges(tx, actor, account, changed);
  await raiseVersion(tx, accountId);
  return accountById(tx, accountId);
}

/** Adds the changed settings to the audit log, with old and new values; for notification addresses only that they changed. */
async function auditChanges(tx: Transaction, actor: Actor, before: Account, after: Account): Promise<void> {
  const names = (Object.keys(after) as (keyof Account)[]).filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  if (names.length === 0) return;
  const details = Object.fromEntries(
    names.map((name) => [name, name === 'notify' ? {} : { from: before[name], to: after[name] }]),
  );
  await audit(tx, before.id, actor, 'settings changed', { details });
}

/** Throws a Fault if the account is a sandbox, or the template of sandboxes. `why`: what it can't do, as a sentence. */
export function refuseSandbox({ id, kind }: Pick<Account, 'id' | 'kind'>, why: string): void {
  if (kind === 'company') return;
  throw new Fault('conflict', 'sandbox account', `Account ${id} is a sandbox. ${why}`);
}

/** Returns the account. Throws a Fault if it doesn't exist. */
export async function accountById(db: Db, accountId: AccountId): Promise<Account> {
  const account = await selectAccount(db, accountId);
  if (!account) throw accountNotFound(accountId);
  return account;
}

/**
 * Locks an account until the transaction ends. Call it before writing users or groups, in the same transaction, so that the
 * writes of an account run one after another (decision B14).
 */
export async function lockAccount(tx: Transaction, accountId: AccountId): Promise<void> {
  if (!(await lockAccountRow(tx, accountId))) throw accountNotFound(accountId);
}

function accountNotFound(accountId: AccountId): Fault {
  return new Fault('not_found', 'account not found', `Account ${accountId} does not exist.`);
}

/** The smallest and largest value of settings that are whole numbers. */
const ranges = {
  kpiWeeks: [1, 13],
  digestDays: [0, 6],
  digestHour: [workingHours.first, workingHours.last],
  largestPush: [maxChangesCeiling, maxUsersOfPush],
} as const;

function refuseWrongSettings(settings: Partial<AccountSettings>): void {
  const details: Detail[] = [];
  const wrong = (path: string, message: string, type: DetailType = 'invalid value', value?: string) =>
    details.push({ type, message, path: `/${path}`, ...(value !== undefined && { value }) });
  const report = (path: string, fault: FieldFault | undefined, value?: string) => {
    if (fault) wrong(path, fault.message, fault.type, value);
  };
  const { name, timezone, language, threshold, publication, noise, allow, notify, defaultCountry } = settings;
  for (const [setting, [first, last]] of Object.entries(ranges)) {
    const value = settings[setting as keyof typeof ranges];
    if (typeof value === 'number' && !isWhole(value, first, last))
      wrong(setting, `${setting} must be a whole number from ${first} to ${last}.`);
  }
  for (const one of settings.managerComparisons ?? []) {
    if (!managerComparisons.includes(one))
      wrong(
        'managerComparisons',
        `A comparison must be one of ${managerComparisons.join(', ')}.`,
        'invalid value',
        one,
      );
  }
  if (name !== undefined) report('name', nameFault('name', name));
  if (timezone !== undefined) report('timezone', timeZoneFault(timezone));
  if (language !== undefined) report('language', languageFault(language));
  if (threshold !== undefined && !isThreshold(threshold)) {
    wrong(
      'threshold',
      `The threshold must be from ${minimumThreshold} to 1000, or 1 for results that are not anonymous.`,
      'invalid threshold',
    );
  }
  if (publication !== undefined && publication !== 'weekly' && publication !== 'live') {
    wrong('publication', 'Publication must be weekly or live.');
  }
  if (noise !== undefined && ![0, 1, 2].includes(noise)) {
    wrong('noise', 'Noise must be 0 (none), 1 or 2.');
  }
  if (typeof defaultCountry === 'string' && !countries.includes(defaultCountry)) {
    wrong(
      'defaultCountry',
      `${quote(defaultCountry)} is not a valid country code (for example, SE).`,
      'invalid country',
    );
  }
  for (const range of allow ?? []) {
    if (!isAddressRange(range))
      wrong(
        'allow',
        `"${range}" is not a valid IP address or range (for example, 192.0.2.0/24).`,
        'invalid address range',
        range,
      );
  }
  for (const address of notify ?? []) report('notify', emailFault(address), address);
  for (const [setting, value] of Object.entries(settings)) {
    if (!setting.startsWith('max') || isCount(value)) continue;
    wrong(setting, `${setting} must be a whole number from 0 to ${maxChangesCeiling}.`);
  }
  if (details[0]) throw new Fault('invalid', 'invalid value', details[0].message, { details });
}

/** Refuses thresholds below the account's: a distribution or a comment reveals more than a mean (P4). */
function refuseLowThresholds({ threshold, distributionThreshold, commentThreshold }: AccountSettings): void {
  const wrong = Object.entries({ distributionThreshold, commentThreshold }).filter(
    ([, value]) => value !== null && !(Number.isInteger(value) && value >= threshold && value <= 2000),
  );
  const details = wrong.map(([path]) => ({
    type: 'invalid value',
    message: `${path} must be a whole number from ${threshold} (the account's threshold) to 2000.`,
    path: `/${path}`,
  }));
  if (details[0]) throw new Fault('invalid', 'invalid value', details[0].message, { details });
}

const isThreshold = (value: number) =>
  Number.isInteger(value) && (value === 1 || (value >= minimumThreshold && value <= 1000));

const isWhole = (value: number, first: number, last: number) =>
  Number.isInteger(value) && value >= first && value <= last;

const isCount = (value: unknown) =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= maxChangesCeiling;

/** Returns the part of a name that an SFTP user name can contain: ASCII letters, digits and hyphens. */
function slug(name: string): string {
  const text = name.normalize('NFKD').toLowerCase().replace(/\p{M}/gu, '');
  const parts = text.match(/[a-z0-9]+/g) ?? ['account'];
  return parts.join('-').slice(0, 24).replace(/-$/, '');
}
