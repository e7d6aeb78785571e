// The keys of open weeks. Each week has its own key, which the database stores wrapped by the epoch key (epoch-chain.ts). When a
// week closes, its key is deleted and the epoch key moves forward.
import type { Week } from '@soundings/contract/weeks.ts';
import { randomBytes } from 'node:crypto';
import { type AccountId, type Db, inTransaction, type Pool, type Transaction } from '../db/db.ts';
import {
  deleteWeekKey,
  insertWeekKey,
  noteInDatabase,
  selectWeekKey,
  selectWeekKeys,
  spendEpoch,
  waitLongForLocks,
  type WeekKeyRow,
} from './answer-keys.sql.ts';
import { EpochChain, type KeyPlace } from './epoch-chain.ts';
import { missingKey } from './key-faults.ts';
import { isSameChain, unwrap, wrap, wrappedBy } from './epoch-keys.ts';
import { Secrets } from './secrets.ts';
import { contextOf, WeekKey } from './week-key.ts';

export class AnswerKeys {
  readonly #pool: Pool;
  /** The epoch key, which wraps the keys of weeks. */
  readonly chain: EpochChain;
  /** Encrypts secrets with the other key of this place. */
  readonly secrets: Secrets;
  /** Unwrapped week keys of the current epoch, by their wrapped form. */
  readonly #opened = new Map<string, WeekKey>();

  constructor(pool: Pool, place: KeyPlace) {
    this.#pool = pool;
    this.chain = new EpochChain(pool, place, () => this.#opened.clear());
    this.secrets = new Secrets(pool, place);
  }

  /** Returns a key for a week that opens. It is not stored unless `keep` is called. */
  temporary(accountId: AccountId, week: Week): WeekKey {
    return new WeekKey(accountId, week, randomBytes(32));
  }

  /**
   * Wraps and stores the key of a week that opens. Call it after all long work: until the transaction ends, the epoch can't move on, and no week
   * can close. Throws a Fault if the epoch key is missing on this server. `isRecorded`: false in a migration, if a later migration records whether
   * the key was in the database.
   */
  async keep(
    tx: Transaction,
    accountId: AccountId,
    week: Week,
    key: WeekKey,
    isRecorded = true,
  ): Promise<void> {
    await this.chain.prepare();
    await waitLongForLocks(tx);
    const { present } = (await this.chain.current(tx, 'share')) ?? {};
    if (!present) throw missingKey();
    // If an update to a fresh key was interrupted, the file has a key that the database does not know.
    await this.chain.store(tx, present);
    const wrapped = wrap(present, contextOf(accountId, week), key.secret);
    await insertWeekKey(tx, { accountId, week, wrapped });
    if (isRecorded && this.chain.place === 'database') await noteInDatabase(tx, accountId, week);
  }

  /** Returns the key of an open week; undefined if the week has closed. */
  async of(db: Db, accountId: AccountId, week: Week): Promise<WeekKey | undefined> {
    const read = async () => {
      const wrapped = await selectWeekKey(db, accountId, week);
      return wrapped && { accountId, week, wrapped };
    };
    return (await this.opened(db, read))?.key;
  }

  /**
   * Returns the row that `read` finds, with the unwrapped key of its week; undefined if there is no row. Calls `read` again if the
   * epoch has moved on in between.
   */
  async opened<T extends WeekKeyRow>(
    db: Db,
    read: () => Promise<T | undefined>,
  ): Promise<{ row: T; key: WeekKey } | undefined> {
    const row = await read();
    if (!row) return undefined;
    const { accountId, week, wrapped } = row;
    const key = await this.unwrap(db, accountId, week, wrapped).catch(async (error: unknown) => {
      const again = await read();
      if (!again || again.wrapped.equals(wrapped)) throw error;
      return this.unwrap(db, accountId, week, again.wrapped);
    });
    return { row, key };
  }

  /**
   * Unwraps the key of an open week. Throws a Fault (unavailable) if the epoch key is missing on this server, or has moved on since
   * `wrapped` was read. In the latter case, read it again and retry.
   */
  async unwrap(db: Db, accountId: AccountId, week: Week, wrapped: Buffer): Promise<WeekKey> {
    const known = this.#opened.get(wrapped.toString('latin1'));
    if (known) return known;
    await this.chain.prepare();
    const present = await this.chain.keyOf(db, wrappedBy(wrapped));
    const secret = present && unwrap(present, contextOf(accountId, week), wrapped);
    if (!secret) throw missingKey();
    const key = new WeekKey(accountId, week, secret);
    if (this.chain.isInUse(present)) {
      if (this.#opened.size >= 500) this.#opened.clear();
      this.#opened.set(wrapped.toString('latin1'), key);
    }
    return key;
  }

  /**
   * Deletes the key of a week in the transaction that closes the week. After the commit, `chain.advance` makes sure that remaining copies
   * of the wrapped key can't be unwrapped.
   */
  async forget(tx: Transaction, accountId: AccountId, week: Week): Promise<void> {
    // Sent together. PostgreSQL runs them one after another, in this order.
    await Promise.all([waitLongForLocks(tx), spendEpoch(tx), deleteWeekKey(tx, accountId, week)]);
  }

  /** Returns open weeks whose key can never be unwrapped any more. Empty while the epoch key is missing on this server. */
  async lostWeeks(): Promise<{ accountId: AccountId; week: Week }[]> {
    await this.chain.prepare();
    return inTransaction(this.#pool, async (tx) => {
      // The lock prevents others from rewrapping the keys meanwhile, which would make all weeks look lost.
      const { chain, present } = (await this.chain.current(tx, 'share')) ?? {};
      if (!chain || !present) return [];
      return (await selectWeekKeys(tx))
        .filter(({ accountId, week, wrapped }) => {
          const by = wrappedBy(wrapped);
          const isPresent = isSameChain(by, chain) && by.epoch === chain.epoch;
          return !isPresent || !unwrap(present, contextOf(accountId, week), wrapped);
        })
        .map(({ accountId, week }) => ({ accountId, week }));
    });
  }
}
