// Column mappings: what the columns of files with certain headers are read as, because an administrator has confirmed it.
import type { MappedSheet } from '@soundings/contract/console.runs.ts';
import { createHash } from 'node:crypto';
import { lockAccount } from '../accounts/accounts.ts';
import { type Actor, audit } from '../accounts/audit.ts';
import { Fault } from '../base/errors.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';
import { attributesOf } from '../people/people.ts';
import { mappingFaults } from './columns.ts';
import { headersKey, type Mappings } from './headers.ts';
import { countMappingsWith, deleteMapping, selectMappings, upsertMapping } from './mappings.sql.ts';

/** How many an account may have: each is read with every file. */
const maxMappings = 500;

const headersOf = ({ columns }: MappedSheet) => headersKey(columns.map(({ header }) => header));

/** What the account has confirmed, by the keys of the headers. */
export async function mappingsOf(db: Db, accountId: AccountId): Promise<Mappings> {
  const mappings = await selectMappings(db, accountId);
  return new Map(mappings.map((mapping) => [headersOf(mapping), mapping]));
}

/**
 * Confirms what columns mean, for every later file with the same headers. Throws a Fault that names each column that
 * cannot be read so.
 */
export async function confirmColumns(
  tx: Transaction,
  accountId: AccountId,
  by: Actor & { origin: 'console'; userId: number },
  sheets: MappedSheet[],
): Promise<void> {
  await lockAccount(tx, accountId);
  const attributes = await attributesOf(tx, accountId);
  const details = sheets.flatMap((sheet, i) => mappingFaults(sheet, [...attributes.keys()], `/sheets/${i}`));
  if (details[0]) throw new Fault('invalid', details[0].type, details[0].message, { details });
  const digests = sheets.map((sheet) => createHash('sha256').update(headersOf(sheet)).digest());
  if ((await countMappingsWith(tx, accountId, digests)) > maxMappings) {
    const message = `There are ${maxMappings} confirmed layouts already. Remove one that is no longer sent.`;
    throw new Fault('invalid', 'too many values', message);
  }
  for (const [i, sheet] of sheets.entries()) {
    // oxlint-disable-next-line no-await-in-loop -- a few sheets
    await upsertMapping(tx, accountId, { ...sheet, digest: digests[i] as Buffer, userId: by.userId });
  }
  const told = { sheets: sheets.map(({ kind, columns }) => ({ kind, columns: columns.length })) };
  await audit(tx, accountId, by, 'columns confirmed', { details: told });
}

/** Forgets one: files with its headers are read as if nothing had been said of them. Throws a Fault: not_found. */
export async function forgetMapping(
  tx: Transaction,
  accountId: AccountId,
  by: Actor,
  mappingId: number,
): Promise<void> {
  if (!(await deleteMapping(tx, accountId, mappingId)))
    throw new Fault('not_found', 'mapping not found', 'There is no such mapping of columns.');
  await audit(tx, accountId, by, 'columns forgotten', { subject: mappingId });
}
