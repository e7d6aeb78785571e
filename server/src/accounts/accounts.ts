// Accounts and their settings, as an operator of the installation makes and changes them.
import { countries } from '@soundings/contract/countries.ts';
import { isEmail, isLanguage, isTimeZone } from '@soundings/contract/formats.ts';
import {
  defaultThreshold,
  maxChangesCeiling,
  maxNameLength,
  minimumThreshold,
} from '@soundings/contract/limits.ts';
import type { Detail, DetailType } from '@soundings/contract/problem.ts';
import { isAddressRange } from '../base/addresses.ts';
import { Fault } from '../base/errors.ts';
import { quote } from '../base/text.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';
import { type Actor, audit } from './audit.ts';
import {
  type AccountRow,
  type AccountSettings,
  insertAccount,
  insertSftpUsername,
  lockAccountRow,
  raiseVersion,
  selectAccount,
  updateAccount,
} from './accounts.sql.ts';

export type Account = AccountRow;
export type { AccountSettings };
export { raiseVersion };

/**
 * Creates an account without users. Its SFTP user name is made from its name and id. Throws a Fault that lists
 * every setting out of place.
 */
export async function createAccount(
  tx: Transaction,
  wanted: { name: string; timezone?: string; language?: string; threshold?: number },
  actor: Actor = { origin: 'command' },
): Promise<Account> {
  const { name, timezone = 'UTC', language = 'en', threshold = defaultThreshold } = wanted;
  refuseWrongSettings({ name, timezone, language, threshold });
  const accountId = await insertAccount(tx, { name, timezone, language, threshold });
  await insertSftpUsername(tx, accountId, `${slug(name)}-${accountId}`);
  await audit(tx, accountId, actor, 'account created');
  return accountById(tx, accountId);
}

/** Changes the settings that are given and returns them all. */
export async function changeAccount(
  tx: Transaction,
  accountId: AccountId,
  changes: Partial<AccountSettings>,
  actor: Actor = { origin: 'command' },
): Promise<Account> {
  await lockAccount(tx, accountId);
  const account = await accountById(tx, accountId);
  refuseWrongSettings(changes);
  const changed = { ...account, ...changes };
  refuseLowThresholds(changed);
  await updateAccount(tx, accountId, changed);
  await auditChanges(tx, actor, account, changed);
  await raiseVersion(tx, accountId);
  return accountById(tx, accountId);
}

/** What was changed, before and after; of addresses of people only that they were. */
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

/** The account, or a Fault when there is none. */
export async function accountById(db: Db, accountId: AccountId): Promise<Account> {
  const account = await selectAccount(db, accountId);
  if (!account) throw accountNotFound(accountId);
  return account;
}

/**
 * Whoever writes users or groups of an account calls this first, in the same transaction: writes of one account
 * come one after another (decision B14).
 */
export async function lockAccount(tx: Transaction, accountId: AccountId): Promise<void> {
  if (!(await lockAccountRow(tx, accountId))) throw accountNotFound(accountId);
}

function accountNotFound(accountId: AccountId): Fault {
  return new Fault('not_found', 'account not found', `There is no account ${accountId}.`);
}

function refuseWrongSettings(settings: Partial<AccountSettings>): void {
  const details: Detail[] = [];
  const wrong = (path: string, message: string, type: DetailType = 'invalid value', value?: string) =>
    details.push({ type, message, path: `/${path}`, ...(value !== undefined && { value }) });
  const { name, timezone, language, threshold, publication, noise, allow, notify, defaultCountry } = settings;
  if (name !== undefined && (name.trim() === '' || name.length > maxNameLength)) {
    const type = name.trim() === '' ? 'missing field' : 'too long';
    wrong('name', `The name must have 1 to ${maxNameLength} characters.`, type);
  }
  if (timezone !== undefined && !isTimeZone(timezone)) {
    wrong(
      'timezone',
      `"${timezone}" is not a time zone: write a name of the tz database, such as Europe/Stockholm.`,
      'invalid timezone',
    );
  }
  if (language !== undefined && !isLanguage(language)) {
    wrong('language', `"${language}" is not an ISO 639-1 code such as en or sv.`, 'invalid language');
  }
  if (threshold !== undefined && !isThreshold(threshold)) {
    wrong(
      'threshold',
      `The threshold must be at least ${minimumThreshold}, or 1: not anonymous.`,
      'invalid threshold',
    );
  }
  if (publication !== undefined && publication !== 'weekly' && publication !== 'live') {
    wrong('publication', 'Publication is weekly or live.');
  }
  if (noise !== undefined && ![0, 1, 2].includes(noise)) {
    wrong('noise', 'Noise is 0 (none), 1 or 2.');
  }
  if (typeof defaultCountry === 'string' && !countries.includes(defaultCountry)) {
    wrong(
      'defaultCountry',
      `${quote(defaultCountry)} is not the code of a country, such as SE.`,
      'invalid country',
    );
  }
  for (const range of allow ?? []) {
    if (!isAddressRange(range))
      wrong(
        'allow',
        `"${range}" is not an address or a range such as 192.0.2.0/24.`,
        'invalid address range',
        range,
      );
  }
  for (const address of notify ?? []) {
    if (!isEmail(address))
      wrong('notify', `"${address}" is not an e-mail address.`, 'invalid email', address);
  }
  for (const [setting, value] of Object.entries(settings)) {
    if (!setting.startsWith('max') || isCount(value)) continue;
    wrong(setting, `${setting} must be a whole number from 0 to ${maxChangesCeiling}.`);
  }
  if (details[0]) throw new Fault('invalid', 'invalid value', details[0].message, { details });
}

/** A distribution or a comment tells more than a mean: its threshold is no lower (P4). */
function refuseLowThresholds({ threshold, spreadThreshold, commentThreshold }: AccountSettings): void {
  const wrong = Object.entries({ spreadThreshold, commentThreshold }).filter(
    ([, value]) => value !== null && !(Number.isInteger(value) && value >= threshold && value <= 2000),
  );
  const details = wrong.map(([path]) => ({
    type: 'invalid value',
    message: `${path} must be a whole number from ${threshold}, the threshold, to 2000.`,
    path: `/${path}`,
  }));
  if (details[0]) throw new Fault('invalid', 'invalid value', details[0].message, { details });
}

const isThreshold = (value: number) =>
  Number.isInteger(value) && (value === 1 || (value >= minimumThreshold && value <= 1000));

const isCount = (value: unknown) =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= maxChangesCeiling;

/** What of a name can stand in an SFTP user name: ASCII letters and digits. */
function slug(name: string): string {
  const text = name.normalize('NFKD').toLowerCase().replace(/\p{M}/gu, '');
  const parts = text.match(/[a-z0-9]+/g) ?? ['account'];
  return parts.join('-').slice(0, 24).replace(/-$/, '');
}
