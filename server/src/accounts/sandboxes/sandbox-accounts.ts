// The accounts of sandboxes: creating one that is ready to be used, giving it another token, and ending it.
import type { Scope } from '@soundings/contract/operation.ts';
import type { AccountId, Transaction } from '../../db/db.ts';
import { deleteAccountRows } from '../../db/account-rows.ts';
import { insertSftpUsername, raiseVersion } from '../accounts.sql.ts';
import { type Actor, audit } from '../audit.ts';
import { insertSandboxAccount, lockEnded, updateEnded, updateTokensRevoked } from './sandbox-accounts.sql.ts';
import { insertToken } from '../tokens.sql.ts';

/** The token of a sandbox: the hash of its text, and its scopes. */
export type SandboxToken = { hash: Buffer; scopes: Scope[] };

/** The name of every sandbox account, and of its token. */
const [accountName, tokenName] = ['Lavmark (sandbox)', 'Sandbox'];

/** Creates the account of a sandbox, without content and token, and returns its id. */
export async function createSandboxAccount(tx: Transaction, templateId: AccountId): Promise<AccountId> {
  const accountId = await insertSandboxAccount(tx, templateId, accountName);
  await audit(tx, accountId, { origin: 'service' }, 'account created');
  return accountId;
}

/** Lets a sandbox account be used: gives it its SFTP user name and its token. The account that had them before must have ended. */
export async function openSandboxAccount(
  tx: Transaction,
  accountId: AccountId,
  { sftpUsername, token }: { sftpUsername: string; token: SandboxToken },
): Promise<void> {
  await insertSftpUsername(tx, accountId, sftpUsername);
  await giveToken(tx, accountId, token, { origin: 'service' });
  await raiseVersion(tx, accountId);
}

/** Revokes all tokens of a sandbox account, and creates another one. */
export async function replaceToken(
  tx: Transaction,
  accountId: AccountId,
  token: SandboxToken,
): Promise<void> {
  await updateTokensRevoked(tx, [accountId]);
  await giveToken(tx, accountId, token, { origin: 'service' });
}

async function giveToken(
  tx: Transaction,
  accountId: AccountId,
  { hash, scopes }: SandboxToken,
  actor: Actor,
): Promise<void> {
  const subject = await insertToken(tx, accountId, {
    name: tokenName,
    scopes,
    expiresAt: null,
    numbers: 'plain',
    createdBy: null,
    hash,
  });
  await audit(tx, accountId, actor, 'token created', { subject, details: { name: tokenName, scopes } });
}

/** Ends sandbox accounts: their tokens stop working immediately, and `deleteEnded` deletes them later. */
export async function endSandboxAccounts(tx: Transaction, accountIds: AccountId[]): Promise<void> {
  if (accountIds.length > 0) await updateEnded(tx, accountIds);
}

/** Deletes one account that ended more than `seconds` ago, with everything in it. Returns its id; undefined if there is none. */
export async function deleteEnded(tx: Transaction, seconds: number): Promise<AccountId | undefined> {
  const [accountId] = await lockEnded(tx, seconds, 1);
  if (accountId !== undefined) await deleteAccountRows(tx, accountId);
  return accountId;
}
