// The epoch key, which wraps the keys of open weeks. It is in a file next to the service and moves forward, one way only, whenever a
// week has closed (decisions/0016). After that, no copy of the database or its log can decrypt the answers of the closed week.
import type { KeyState } from '@soundings/contract/console/privacy.ts';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { Fault } from '../base/errors.ts';
import { type Db, inTransaction, type Pool, type Transaction } from '../db/db.ts';
import {
  type ChainRow,
  deleteProcess,
  exportedUntil,
  insertChain,
  lockKeyFiles,
  noteExport,
  type ProcessRow,
  secretIn,
  selectChain,
  selectProcesses,
  selectWeekKeys,
  tryEpoch,
  updateChain,
  updateWeekKeys,
  upsertProcess,
  type WeekKeyRow,
} from './answer-keys.sql.ts';
import {
  type EpochKey,
  follows,
  freshKey,
  isKeyOf,
  isSameChain,
  keyAt,
  newChain,
  unwrap,
  withoutKey,
  wrap,
} from './epoch-keys.ts';
import {
  isKeyFileUnfinished,
  keepName,
  keyIn,
  keyText,
  readKeyFile,
  readName,
  removeKeyFile,
  writeKeyFile,
} from './key-file.ts';
import { keyBehind, missingKey, wrongKey } from './key-faults.ts';
import { contextOf } from './week-key.ts';

/**
 * Where the epoch key is stored. 'file': in `directory`/answers. 'database': next to the keys it wraps, for containers without a
 * volume; deleted keys can then be read from WAL and backups until those are overwritten or deleted. The secrets key is stored in the same
 * place, with 'file' in `directory`/secrets.
 */
export type KeyPlace = { place: 'file' | 'database'; directory: string };

/** How often a process records that it is running, in ms. */
const recordInterval = 60_000;

/** The name of all processes if the key is in the database. */
const nameInDatabase = 'database';

/** A process counts as running if it was seen within this time, in ms. */
const runningTimeout = 10 * 60_000;

export class EpochChain {
  readonly #pool: Pool;
  /** Where the epoch key is stored. */
  readonly place: 'file' | 'database';
  readonly #path: string;
  readonly #onNewKey: () => void;
  /** The epoch key, if this process knows it. */
  #key: EpochKey | undefined;
  #preparing: Promise<void> | undefined;
  /** When this process last recorded that it has the key, in ms. */
  #recordedAt = 0;

  /** `onNewKey` is called when this process learns another epoch key, and must drop everything that the previous one has opened. */
  constructor(pool: Pool, { place, directory }: KeyPlace, onNewKey: () => void) {
    this.#pool = pool;
    this.place = place;
    this.#path = join(resolve(directory), 'answers');
    this.#onNewKey = onNewKey;
  }

  /**
   * Makes sure that an epoch key exists in the right place. Creates it at the first start, replaces it with a new one if it was
   * stored elsewhere before, and moves it forward if it is behind. Does nothing if the key of open weeks is missing on this server:
   * see `state`. Methods that need a key call this themselves.
   */
  prepare(tx?: Transaction): Promise<void> {
    if (tx) return this.#prepareIn(tx).then(() => void (this.#preparing = Promise.resolve()));
    this.#preparing ??= inTransaction(this.#pool, (own) => this.#prepareIn(own))
      .catch((error: unknown) => {
        this.#preparing = undefined;
        throw error;
      })
      .then(() => {
        // The key is missing here. It can still be imported or given up by another process, so the next call tries again.
        if (!this.#key) this.#preparing = undefined;
      });
    return this.#preparing;
  }

  /** Learns the key, without a lock, if it is current and in the right place. Returns false if there may be something to change. */
  async #learnStored(tx: Transaction): Promise<boolean> {
    const chain = await selectChain(tx);
    // This process may have learned a later key while the row was read.
    if (!chain || (this.#key && !isKeyOf(this.#key, chain))) return false;
    const stored = this.place === 'file' ? readKeyFile(this.#path) : secretIn(chain);
    const isInPlace = (chain.secret !== null) === (this.place === 'database');
    if (!stored || !isInPlace || !isKeyOf(stored, chain)) return false;
    this.#learn(stored);
    return true;
  }

  /** Throws a Fault if this process does not have the key, as far as it knows. */
  async expectKey(): Promise<void> {
    await this.prepare();
    if (!this.#key) throw missingKey();
  }

  async #prepareIn(tx: Transaction): Promise<void> {
    // Almost always. Weeks that are being opened or closed don't delay it.
    if (await this.#learnStored(tx)) return;
    let chain = await selectChain(tx, 'update');
    if (!chain) {
      // If several processes start for the first time together, they go one after another, because they may share the file.
      await lockKeyFiles(tx);
      chain = await selectChain(tx, 'update');
    }
    let file = readKeyFile(this.#path);
    if (!chain) {
      const first = file ?? newChain();
      if (this.place === 'file' && !file) writeKeyFile(this.#path, first);
      await insertChain(tx, { ...first, secret: this.place === 'database' ? first.secret : null });
      file = first;
      chain = (await selectChain(tx, 'update')) as ChainRow;
    }
    const isOurs = file && (isSameChain(file, chain) || follows(file, chain));
    const kept = secretIn(chain) ?? (isOurs ? file : undefined);
    if (kept && (chain.secret !== null) === (this.place === 'database')) return this.#settle(tx, chain, kept);
    const isFree = !(await hasWeekKeys(tx)) && !(await this.#isAnotherRunning(tx));
    // The key was stored elsewhere until now, or no one needs it. Start a new chain that can't be derived from any earlier key.
    if (kept) await this.#rewrap(tx, chain, keyAt(kept, chain.epoch), freshKey(chain));
    else if (isFree) await this.#rewrap(tx, chain, undefined, freshKey(chain));
  }

  /** Brings the file and this process to the epoch of the database, or the database to theirs after a restore. */
  async #settle(tx: Transaction, chain: ChainRow, kept: EpochKey): Promise<void> {
    if (kept.epoch > chain.epoch) {
      // Either an older state of the database was restored, and its wrapped keys can't be unwrapped any more (AnswerKeys.lostWeeks). Or an
      // update to a fresh key was interrupted, in which case no week is open.
      await updateChain(tx, { ...kept, secret: chain.secret });
      this.#learn(kept);
      return;
    }
    const present = keyAt(kept, chain.epoch);
    if (!present) throw keyBehind();
    if (this.place === 'file' && kept.epoch < chain.epoch) writeKeyFile(this.#path, present);
    this.#learn(present);
  }

  async #isAnotherRunning(db: Db): Promise<boolean> {
    const others = await this.#others(db);
    return others.some(({ seenAt }) => Date.now() - seenAt.getTime() < runningTimeout);
  }

  /** Returns the other processes that have, or had, a copy of the key. */
  async #others(db: Db): Promise<ProcessRow[]> {
    const name = this.name;
    return (await selectProcesses(db)).filter((one) => one.name !== name);
  }

  /** The name of this process. Processes that share a key file share one name, which stays the same if the host name changes. */
  get name(): string {
    return this.place === 'database' ? nameInDatabase : this.#fileName;
  }

  get #fileName(): string {
    return readName(this.#path) ?? `${hostname()}:${this.#path}`;
  }

  #learn(key: EpochKey): void {
    if (this.#key?.epoch === key.epoch && isSameChain(this.#key, key)) return;
    this.#onNewKey();
    this.#key = key;
  }

  /** Returns the chain, and its current key if this process has it or can derive it; undefined before the first start. */
  async current(
    db: Db,
    lock?: 'share' | 'update',
  ): Promise<{ chain: ChainRow; present: EpochKey | undefined } | undefined> {
    const chain = await selectChain(db, lock);
    return chain && { chain, present: await this.keyOf(db, chain) };
  }

  /** Returns the key of an epoch of the chain, if this process has it or can derive it. */
  async keyOf(db: Db, wanted: { chain: Uint8Array; epoch: number }): Promise<EpochKey | undefined> {
    if (isKeyOf(this.#key, wanted)) return this.#key;
    const kept = this.place === 'file' ? readKeyFile(this.#path) : secretIn(await selectChain(db));
    const from = [kept, this.#key].find(
      (key) => key && isSameChain(key, wanted) && key.epoch <= wanted.epoch,
    );
    const found = from && keyAt(from, wanted.epoch);
    const isLater = !this.#key || !isSameChain(this.#key, wanted) || this.#key.epoch < wanted.epoch;
    if (found && isLater) this.#learn(found);
    return found;
  }

  /** Returns whether a key is the one that this process uses now. */
  isInUse(key: EpochKey): boolean {
    return key === this.#key;
  }

  /**
   * Ends the epoch if a week has closed in it: wraps the keys of open weeks by the next epoch key, and erases the previous epoch key
   * in the database, in memory and on the disk. If another process has already done so, brings this process up to date. Called after
   * each closing, every minute and at the start. If a call is interrupted, the next one continues.
   *
   * Each attempt uses a new epoch. An interrupted attempt may have written keys of open weeks, wrapped by its epoch key, to the log
   * and the tables. If one of these weeks closed and the next attempt used the same epoch, its key could still unwrap them.
   */
  async advance(): Promise<void> {
    await this.prepare();
    const before = await selectChain(this.#pool);
    if (before && !before.isSpent && this.#isUpToDate(before)) return;
    try {
      // If several processes try at the same time, only the latest attempt succeeds. If that one fails, the next call ends the epoch.
      for (let i = 0; i < 3; i++) {
        // Attempts must be one after another.
        if (!(await this.#isOvertaken())) break;
      }
    } catch (error) {
      this.#preparing = undefined; // the file may have a fresh key that the database does not know
      throw error;
    }
    await this.#catchUp();
  }

  /** Tries to end the epoch if it is spent. Returns true if a later attempt of another process has overtaken this one. */
  async #isOvertaken(): Promise<boolean> {
    const { chain: before, present: has } = (await this.current(this.#pool)) ?? {};
    const next = has && before?.isSpent ? await tryEpoch(this.#pool) : undefined;
    if (next === undefined) return false;
    return inTransaction(this.#pool, async (tx) => {
      const { chain, present } = (await this.current(tx, 'update')) ?? {};
      if (!present || !chain?.isSpent) return false;
      if (chain.tried !== next) return true;
      await this.#rewrap(tx, chain, present, await this.#nextKey(tx, present, next));
      return false;
    });
  }

  /**
   * Returns the key of a later epoch. If no week is open, it is a fresh key, so that copies of earlier keys are useless for weeks
   * that open from now on. If other processes have a copy, the key is derived instead, because they could not get a fresh key.
   */
  async #nextKey(tx: Transaction, present: EpochKey, epoch: number): Promise<EpochKey> {
    const isFree =
      this.place === 'file' &&
      (await selectWeekKeys(tx)).length === 0 &&
      (await this.#others(tx)).length === 0;
    return isFree ? freshKey({ ...present, epoch: epoch - 1 }) : (keyAt(present, epoch) as EpochKey);
  }

  /** Returns whether there is nothing to do, which is almost always the case. */
  #isUpToDate(chain: ChainRow): boolean {
    const isInPlace =
      this.place === 'database' ||
      (isKeyOf(readKeyFile(this.#path), chain) && !isKeyFileUnfinished(this.#path));
    return isKeyOf(this.#key, chain) && isInPlace && Date.now() - this.#recordedAt < recordInterval;
  }

  /** Moves the file and this process to the current epoch of the database. */
  async #catchUp(): Promise<void> {
    await inTransaction(this.#pool, async (tx) => {
      const { present } = (await this.current(tx, 'share')) ?? {};
      if (!present) return;
      if (this.place === 'database') {
        removeKeyFile(this.#path);
        await deleteProcess(tx, this.#fileName);
      } else {
        await this.store(tx, present);
        keepName(this.#path, this.name);
      }
      await upsertProcess(tx, this.name, present.epoch);
    });
    this.#recordedAt = Date.now();
  }

  /** Makes sure that the file, if there is one, has the current key. The chain must be locked in `tx`. */
  async store(tx: Transaction, present: EpochKey): Promise<void> {
    if (this.place !== 'file') return;
    const isStored = () => {
      const file = readKeyFile(this.#path);
      const isPresent = file && isSameChain(file, present) && file.epoch >= present.epoch;
      return isPresent && !isKeyFileUnfinished(this.#path);
    };
    if (isStored()) return;
    // Under a lock, so that a slower process does not replace a newer key with an older one.
    await lockKeyFiles(tx);
    if (!isStored()) writeKeyFile(this.#path, present);
  }

  /** Wraps the keys of all open weeks by another epoch key, and makes that the current one. */
  async #rewrap(tx: Transaction, chain: ChainRow, from: EpochKey | undefined, to: EpochKey): Promise<void> {
    const rewrapped = (await selectWeekKeys(tx)).flatMap(({ accountId, week, wrapped }): WeekKeyRow[] => {
      const context = contextOf(accountId, week);
      const secret = from && unwrap(from, context, wrapped);
      return secret ? [{ accountId, week, wrapped: wrap(to, context, secret) }] : [];
    });
    await updateWeekKeys(tx, rewrapped, { inDatabase: this.place === 'database' });
    const isNewChain = !isSameChain(chain, to);
    // A new chain can't be derived from the previous one, so it must be safe on the disk before the database refers to it.
    if (this.place === 'file' && isNewChain) writeKeyFile(this.#path, to);
    await updateChain(tx, { ...to, secret: this.place === 'database' ? to.secret : null });
    if (this.place === 'file') await deleteProcess(tx, nameInDatabase); // updateChain has recorded when the key was removed
    if (isNewChain || this.place === 'database') this.#learn(to);
  }

  /** Gives up a missing key. From then on, the open weeks are lost (AnswerKeys.lostWeeks) and new weeks can be opened. */
  async reset(): Promise<void> {
    await inTransaction(this.#pool, async (tx) => {
      const chain = await selectChain(tx, 'update');
      if (chain) await this.#rewrap(tx, chain, undefined, freshKey(chain));
    });
    this.#preparing = undefined;
    await this.#catchUp();
  }

  /**
   * Returns the key file as a text, for another server that lacks it. Records the export in the database first. Throws a Fault if
   * the key is missing here.
   */
  async exported(): Promise<string> {
    await this.prepare();
    const { present } = (await this.current(this.#pool)) ?? {};
    if (!present || !(await noteExport(this.#pool, present.chain))) throw missingKey();
    return keyText(present);
  }

  /** Stores a key exported on another server. Throws a Fault if the text is not a key, or not the missing one. */
  async imported(text: string): Promise<void> {
    const key = keyIn(text);
    if (!key) throw wrongKey('invalid', 'This is not an exported answer key.');
    const chain = await selectChain(this.#pool);
    const present = chain && isSameChain(key, chain) ? keyAt(key, chain.epoch) : undefined;
    if (!present) {
      throw wrongKey(
        'conflict',
        'This key belongs to another installation, was replaced after it was exported, or is newer than the database.',
      );
    }
    writeKeyFile(this.#path, present);
    this.#learn(present);
    this.#preparing = undefined;
    await this.#catchUp();
  }

  /**
   * Removes the record of a process that no longer exists. A running process is soon recorded again. Throws a Fault for an unknown name.
   */
  async forgetProcess(name: string): Promise<void> {
    if (!(await deleteProcess(this.#pool, name)))
      throw new Fault(
        'not_found',
        'process not found',
        `Process "${name}" does not exist. Run "soundings keys show" to list all processes.`,
      );
  }

  async state(): Promise<KeyState> {
    await this.prepare();
    const { chain, present } = (await this.current(this.#pool)) ?? {};
    const processes = await selectProcesses(this.#pool);
    return {
      place: this.place,
      path: this.place === 'file' ? this.#path : null,
      state: present ? 'ready' : 'missing',
      epoch: chain?.epoch ?? 0,
      exportedAt: chain?.exportedAt?.toISOString() ?? null,
      exportedUntil: exportedUntil(chain),
      inDatabaseUntil: chain?.inDatabaseUntil?.toISOString() ?? null,
      processes: processes.map(({ name, epoch, seenAt }) => ({
        name,
        epoch,
        seenAt: seenAt.toISOString(),
        isBehind: epoch < (chain?.epoch ?? 0),
      })),
    };
  }
}

/** Returns whether any week has a key. The weeks of a restored backup have none, so no one needs the key that wrapped theirs. */
const hasWeekKeys = async (tx: Transaction): Promise<boolean> =>
  (await selectWeekKeys(tx)).some(({ wrapped }) => !wrapped.equals(withoutKey));
