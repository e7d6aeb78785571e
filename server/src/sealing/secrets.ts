// Secrets that the service must be able to decrypt: those of two-factor authentication, the SFTP host keys, the noise keys of
// accounts, the key of cards, the secrets of webhooks and pulls, and the client secrets of sign-in providers. They are stored in the database, encrypted with a key in a file next to the answer key. So neither the database nor its
// backups reveal them.
//
// Unlike the answer key, this key stays the same and can be copied, because these secrets are needed as long as the installation
// exists.
import { join, resolve } from 'node:path';
import { resealNoiseKeys } from '../accounts/noise-key.ts';
import { resealTwoFactorSecrets } from '../auth/two-factor.ts';
import { Fault } from '../base/errors.ts';
import type { Sealer } from '../base/crypto/sealer.ts';
import { deleteCardKey } from '../cards/card-key.sql.ts';
import { resealCardKey } from '../cards/card-key.ts';
import { type Db, inTransaction, type Pool, type Transaction } from '../db/db.ts';
import { resealPullSecrets } from '../pulls/secrets.ts';
import { resealHostKeys } from '../sftp/host-keys.sealed.ts';
import { deleteHostKeys } from '../sftp/host-keys.sql.ts';
import { resealClientSecrets } from '../sso/client-secrets.ts';
import { resealWebhookSecrets } from '../webhooks/secrets.ts';
import { lockKeyFiles } from './answer-keys.sql.ts';
import type { KeyPlace } from './epoch-chain.ts';
import { type EpochKey, isSameChain, newChain, unwrap, wrap } from './epoch-keys.ts';
import { keyIn, keyText, readKeyFile, removeKeyFile, secretsHead, writeKeyFile } from './key-file.ts';
import { wrongKey } from './key-faults.ts';
import { replaceSecretsKey, type SecretsKeyRow, selectSecretsKey } from './secrets.sql.ts';

export class Secrets implements Sealer {
  readonly #pool: Pool;
  readonly #place: 'file' | 'database';
  /** The path of the key file. */
  readonly path: string;
  #key: EpochKey | undefined;

  constructor(pool: Pool, { place, directory }: KeyPlace) {
    this.#pool = pool;
    this.#place = place;
    this.path = join(resolve(directory), 'secrets');
  }

  async seal(context: string, secret: Uint8Array): Promise<Buffer> {
    return wrap(await this.#present(), context, secret);
  }

  async open(context: string, sealed: Buffer): Promise<Buffer | undefined> {
    const opened = unwrap(await this.#present(), context, sealed);
    if (opened) return opened;
    this.#key = undefined; // another process may have replaced it
    return unwrap(await this.#present(), context, sealed);
  }

  async #present(): Promise<EpochKey> {
    if (!this.#key) await this.prepare();
    if (!this.#key) throw missing();
    return this.#key;
  }

  /**
   * Makes sure that a key exists in the right place and that all secrets are encrypted with it. Creates the key at the first start.
   * Replaces a key that was stored in the database with a new one in a file. Returns whether the key is available.
   */
  async prepare(): Promise<boolean> {
    this.#key = await inTransaction(this.#pool, (tx) => this.#prepareIn(tx));
    return this.#key !== undefined;
  }

  async #prepareIn(tx: Transaction): Promise<EpochKey | undefined> {
    await lockKeyFiles(tx);
    const [row, file] = [await selectSecretsKey(tx), readKeyFile(this.path)];
    const kept = keptKey(row, file);
    if (row && !kept) return undefined;
    const isInPlace = row !== undefined && (row.secret !== null) === (this.#place === 'database');
    // A key that was in the database can be read from its log and backups, so the file gets a new one.
    const key = kept && (isInPlace || this.#place === 'database') ? kept : (!row && file) || newChain();
    if (!isInPlace) await this.#keep(tx, key);
    const openBefore = (context: string, sealed: Buffer) =>
      [key, kept].map((one) => one && unwrap(one, context, sealed)).find((opened) => opened !== undefined);
    const reseal = (context: string, secret: { plain: Buffer } | { sealed: Buffer }) => {
      if ('plain' in secret) return wrap(key, context, secret.plain);
      const opened = key === kept ? undefined : openBefore(context, secret.sealed);
      return opened && wrap(key, context, opened);
    };
    await resealTwoFactorSecrets(tx, reseal);
    await resealHostKeys(tx, reseal);
    await resealNoiseKeys(tx, reseal);
    await resealCardKey(tx, reseal);
    await resealWebhookSecrets(tx, reseal);
    await resealClientSecrets(tx, reseal);
    await resealPullSecrets(tx, reseal);
    return key;
  }

  /** Stores a key in the right place. The file is safe on the disk before the database refers to it. */
  async #keep(tx: Transaction, key: EpochKey): Promise<void> {
    if (this.#place === 'file') writeKeyFile(this.path, key, secretsHead);
    await replaceSecretsKey(tx, { name: key.chain, secret: this.#place === 'file' ? null : key.secret });
    if (this.#place === 'database') removeKeyFile(this.path);
  }

  async state(): Promise<'ready' | 'missing'> {
    return this.#key || (await this.prepare()) ? 'ready' : 'missing';
  }

  /** Returns the key as a text, for another server that lacks it. Throws a Fault if it is missing here. */
  async exported(): Promise<string> {
    return keyText(await this.#present(), secretsHead);
  }

  /** Returns the same without changing anything, so that it also works before an update. Undefined before the first start. */
  async exportedAsStored(): Promise<string | undefined> {
    const row = await selectSecretsKey(this.#pool);
    if (!row) return undefined;
    const key = keptKey(row, readKeyFile(this.path));
    if (!key) throw missing();
    return keyText(key, secretsHead);
  }

  /** Stores a key exported on another server. Throws a Fault if the text is not a key, or belongs to another installation. */
  async imported(text: string): Promise<void> {
    const key = await ownKeyIn(this.#pool, text);
    await inTransaction(this.#pool, (tx) => this.#keepImported(tx, key));
    await this.prepare();
  }

  /**
   * Stores the key of a backup in the transaction that restores it. Throws a Fault if it doesn't belong to the restored tables. Returns
   * what puts the previous key file back if the transaction fails.
   */
  async restored(tx: Transaction, text: string): Promise<() => Promise<void>> {
    const key = await ownKeyIn(tx, text);
    const previous = readKeyFile(this.path);
    await this.#keepImported(tx, key);
    this.#key = undefined;
    return async () => {
      if (this.#place === 'database') return;
      if (previous) writeKeyFile(this.path, previous, secretsHead);
      else removeKeyFile(this.path);
    };
  }

  async #keepImported(tx: Transaction, key: EpochKey): Promise<void> {
    await lockKeyFiles(tx);
    if (this.#place === 'file') writeKeyFile(this.path, key, secretsHead);
    else await this.#keep(tx, key);
  }

  /**
   * Gives up a lost key and creates a new one. SFTP gets new host keys, published noise changes, and cards stop working. The secrets of two-factor
   * authentication stay although they can't be decrypted any more: if they were deleted, a password alone would be enough to sign in.
   */
  async reset(): Promise<void> {
    await inTransaction(this.#pool, async (tx) => {
      await lockKeyFiles(tx);
      await this.#keep(tx, newChain());
      await deleteHostKeys(tx);
      await deleteCardKey(tx);
    });
    await this.prepare();
  }
}

/** Returns the key that `row` names: from the database, or from the file if that is the same key. */
export function keptKey(row: SecretsKeyRow | undefined, file: EpochKey | undefined): EpochKey | undefined {
  if (row?.secret) return { chain: row.name, epoch: 1, secret: row.secret };
  return row && file && isSameChain(file, { chain: row.name }) ? file : undefined;
}

/** Returns the key in an exported text. Throws a Fault if it is not that of the installation. */
async function ownKeyIn(db: Db, text: string): Promise<EpochKey> {
  const [key, row] = [keyIn(text), await selectSecretsKey(db)];
  if (!key || !row || !isSameChain(key, { chain: row.name }))
    throw wrongKey('conflict', 'This is not the secrets key of this installation.');
  return key;
}

const missing = () =>
  new Fault(
    'unavailable',
    'secrets key missing',
    'The secrets key is missing on this server, so two-factor codes can’t be checked, weeks with noise can’t close and SFTP can’t start. ' +
      'If another server has the key, run "soundings keys export" there and "soundings keys import" here, or copy DATA_DIR/keys/secrets. ' +
      'If it is lost, run "soundings keys reset --secrets --yes". In a container without a persistent volume, set ANSWER_KEYS=database.',
  );
