// The keys of open weeks, as a process has them. Each week's key is in the database, wrapped by the epoch key, which is not: it is
// in a file beside the service, and moves forward one way whenever a week has closed (decisions/0016). So what the database,
// its log, its replicas and its backups have of a closed week opens nothing any more.
import type { KeyState } from '@soundings/contract/console.privacy.ts';
import type { Week } from '@soundings/contract/weeks.ts';
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { Fault } from '../base/errors.ts';
import { type AccountId, type Db, inTransaction, type Pool, type Transaction } from '../db/db.ts';
import {
  type ChainRow,
  deleteProcess,
  deleteWeekKey,
  insertChain,
  insertWeekKey,
  lockKeyFiles,
  noteExport,
  noteInDatabase,
  type ProcessRow,
  selectChain,
  selectProcesses,
  selectWeekKey,
  selectWeekKeys,
  spendEpoch,
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
  isSameChain,
  keyAt,
  newChain,
  unwrap,
  wrap,
  wrappedBy,
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
import { Secrets } from './secrets.ts';
import { contextOf, WeekKey } from './week-key.ts';

/**
 * Where the epoch key is kept. 'file': in `directory`/answers. 'database': beside what it wraps, for a container without a
 * volume; then what is forgotten can be read from WAL and backups until they are recycled. The key of secrets is kept in the same
 * place, in `directory`/secrets.
 */
export type KeyPlace = { place: 'file' | 'database'; directory: string };

/** In ms: how often a process notes that it is there. */
const noteEvery = 60_000;

/** What all processes are called where the key is in the database. */
const nameInDatabase = 'database';

/** A process that was seen in the last 10 minutes is taken for running. */
const seenLately = 10 * 60_000;

export class AnswerKeys {
  readonly #pool: Pool;
  /** Where the epoch key is kept. */
  readonly place: 'file' | 'database';
  readonly #path: string;
  /** What seals secrets by the other key of this place. */
  readonly secrets: Secrets;
  /** The epoch key, as this process knows it. */
  #key: EpochKey | undefined;
  /** Week keys of the present epoch that were unwrapped, by what they were wrapped as. */
  readonly #opened = new Map<string, WeekKey>();
  #preparing: Promise<void> | undefined;
  /** When it was last noted that this process has the key, in ms. */
  #notedAt = 0;

  constructor(pool: Pool, { place, directory }: KeyPlace) {
    this.#pool = pool;
    this.secrets = new Secrets(pool, { place, directory });
    this.place = place;
    this.#path = join(resolve(directory), 'answers');
  }

  /**
   * Makes sure that there is an epoch key where it belongs: at the first start it is created; one that was kept elsewhere
   * before is replaced by a new one; one that is behind is moved forward. Does nothing while the key of open weeks is
   * missing here: see `state`. Called by itself where a key is needed.
   */
  prepare(tx?: Transaction): Promise<void> {
    if (tx) return this.#prepareIn(tx).then(() => void (this.#preparing = Promise.resolve()));
    this.#preparing ??= inTransaction(this.#pool, (own) => this.#prepareIn(own))
      .catch((error: unknown) => {
        this.#preparing = undefined;
        throw error;
      })
      .then(() => {
        // Missing here: it may come, from another process, or be given up by it.
        if (!this.#key) this.#preparing = undefined;
      });
    return this.#preparing;
  }

  async #prepareIn(tx: Transaction): Promise<void> {
    let chain = await selectChain(tx, 'update');
    if (!chain) {
      // Of processes that start for the first time together, one after another: they may share the file.
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
    const isFree = (await selectWeekKeys(tx)).length === 0 && !(await this.#isAnotherRunning(tx));
    // Kept elsewhere until now, or of no use to anyone: a new chain, which nothing kept before leads to.
    if (kept) await this.#rewrap(tx, chain, keyAt(kept, chain.epoch), freshKey(chain));
    else if (isFree) await this.#rewrap(tx, chain, undefined, freshKey(chain));
  }

  /** Brings the file, and what this process knows, to the epoch of the database; or the other way round after a restore. */
  async #settle(tx: Transaction, chain: ChainRow, kept: EpochKey): Promise<void> {
    if (kept.epoch > chain.epoch) {
      // An older state of the database was restored: what it has wrapped cannot be opened any more (lostWeeks). Or a step to a
      // fresh key was interrupted: then no week is open.
      await updateChain(tx, { ...kept, secret: chain.secret });
      this.#learn(kept);
      return;
    }
    const present = keyAt(kept, chain.epoch);
    if (!present) throw corrupt;
    if (this.place === 'file' && kept.epoch < chain.epoch) writeKeyFile(this.#path, present);
    this.#learn(present);
  }

  async #isAnotherRunning(db: Db): Promise<boolean> {
    const others = await this.#others(db);
    return others.some(({ seenAt }) => Date.now() - seenAt.getTime() < seenLately);
  }

  /** The other processes that have, or had, a copy of the key. */
  async #others(db: Db): Promise<ProcessRow[]> {
    const name = this.name;
    return (await selectProcesses(db)).filter((one) => one.name !== name);
  }

  /** The name of this process. Processes that share a key file are one, and keep its name, also where the host name changes. */
  get name(): string {
    return this.place === 'database' ? nameInDatabase : this.#fileName;
  }

  get #fileName(): string {
    return readName(this.#path) ?? `${hostname()}:${this.#path}`;
  }

  #learn(key: EpochKey): void {
    if (this.#key?.epoch === key.epoch && isSameChain(this.#key, key)) return;
    this.#opened.clear();
    this.#key = key;
  }

  /**
   * A key for a week that opens. It is wrapped and stored in the same transaction, until whose end the epoch cannot move on.
   * Throws a Fault when the epoch key is missing here.
   */
  async create(tx: Transaction, accountId: AccountId, week: Week): Promise<WeekKey> {
    const key = this.temporary(accountId, week);
    await this.keep(tx, accountId, week, key);
    return key;
  }

  /** A key for a week that opens and closes within one transaction: it is stored nowhere, unless `keep` is called. */
  temporary(accountId: AccountId, week: Week): WeekKey {
    return new WeekKey(accountId, week, randomBytes(32));
  }

  /** Stores the key of a week. `isNoted`: false in a migration after which another notes whether it was in the database. */
  async keep(tx: Transaction, accountId: AccountId, week: Week, key: WeekKey, isNoted = true): Promise<void> {
    await this.prepare();
    const { present } = (await this.#present(tx, 'share')) ?? {};
    if (!present) throw missingKey();
    // A step to a fresh key may have been interrupted: then the file has that one, and the database does not know it.
    if (this.place === 'file') await this.#store(tx, present);
    const wrapped = wrap(present, contextOf(accountId, week), key.secret);
    await insertWeekKey(tx, { accountId, week, wrapped });
    if (isNoted && this.place === 'database') await noteInDatabase(tx, accountId, week);
  }

  /** The key of an open week, as the database has it. Undefined when it has none: the week has closed. */
  async of(db: Db, accountId: AccountId, week: Week): Promise<WeekKey | undefined> {
    const read = async () => {
      const wrapped = await selectWeekKey(db, accountId, week);
      return wrapped && { accountId, week, wrapped };
    };
    return (await this.opened(db, read))?.key;
  }

  /**
   * A row that has a week's key, and that key. `read` is called again when the epoch has moved on in between. Undefined when it
   * finds no row.
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
   * Unwraps the key of an open week. Throws a Fault (unavailable) when the epoch key is missing here, or has moved on since
   * `wrapped` was read: whoever tries again reads another.
   */
  async unwrap(db: Db, accountId: AccountId, week: Week, wrapped: Buffer): Promise<WeekKey> {
    const known = this.#opened.get(wrapped.toString('latin1'));
    if (known) return known;
    await this.prepare();
    const present = await this.#epochKey(db, wrappedBy(wrapped));
    const secret = present && unwrap(present, contextOf(accountId, week), wrapped);
    if (!secret) throw missingKey();
    const key = new WeekKey(accountId, week, secret);
    if (present === this.#key) {
      if (this.#opened.size >= 500) this.#opened.clear();
      this.#opened.set(wrapped.toString('latin1'), key);
    }
    return key;
  }

  /** The chain, and its present key if this process has it or can get to it. Undefined before the first start. */
  async #present(
    db: Db,
    lock?: 'share' | 'update',
  ): Promise<{ chain: ChainRow; present: EpochKey | undefined } | undefined> {
    const chain = await selectChain(db, lock);
    return chain && { chain, present: await this.#epochKey(db, chain) };
  }

  /** The key of an epoch of the chain, if this process has it or can get to it. */
  async #epochKey(db: Db, wanted: { chain: Uint8Array; epoch: number }): Promise<EpochKey | undefined> {
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

  /**
   * Forgets the key of a week that closes, in the transaction that closes it. After it has committed, `advance` makes sure
   * that what was stored of the key opens nothing.
   */
  async forget(tx: Transaction, accountId: AccountId, week: Week): Promise<void> {
    await spendEpoch(tx);
    await deleteWeekKey(tx, accountId, week);
  }

  /**
   * Ends the epoch if a week has closed in it: wraps the keys of the weeks that are still open by the next epoch key, and
   * erases the one before, in the database, in memory and on the disk. Also brings this process up to date where another
   * one has done so. Called after each closing, each minute and at the start; interrupted anywhere, the next call goes on.
   *
   * Each attempt goes to an epoch of its own. One that is interrupted has written the keys of open weeks wrapped by its epoch key,
   * into the log and the tables. If one of these weeks closed and the next attempt went to the same epoch, its key would open them.
   */
  async advance(): Promise<void> {
    await this.prepare();
    const before = await selectChain(this.#pool);
    if (before && !before.isSpent && this.#isUpToDate(before)) return;
    try {
      // When several try at once, only the latest goes on; if that one fails, the next call ends the epoch.
      for (let i = 0; i < 3; i++) {
        // oxlint-disable-next-line no-await-in-loop -- one after another is the point
        if (!(await this.#isOvertaken())) break;
      }
    } catch (error) {
      this.#preparing = undefined; // the file may have a fresh key that the database does not know
      throw error;
    }
    await this.#catchUp();
  }

  /** Tries to end the epoch if it is spent. Returns whether it is still spent because another call has tried a later one. */
  async #isOvertaken(): Promise<boolean> {
    const { chain: before, present: has } = (await this.#present(this.#pool)) ?? {};
    const next = has && before?.isSpent ? await tryEpoch(this.#pool) : undefined;
    if (next === undefined) return false;
    return inTransaction(this.#pool, async (tx) => {
      const { chain, present } = (await this.#present(tx, 'update')) ?? {};
      if (!present || !chain?.isSpent) return false;
      if (chain.tried !== next) return true;
      await this.#rewrap(tx, chain, present, await this.#nextKey(tx, present, next));
      return false;
    });
  }

  /**
   * Returns the key of an epoch after the present one. While no week is open it is a fresh one, so that copies of earlier keys open
   * nothing of the weeks that open from now on; but not where another process has to follow, which can't get it.
   */
  async #nextKey(tx: Transaction, present: EpochKey, epoch: number): Promise<EpochKey> {
    const isFree =
      this.place === 'file' &&
      (await selectWeekKeys(tx)).length === 0 &&
      (await this.#others(tx)).length === 0;
    return isFree ? freshKey({ ...present, epoch: epoch - 1 }) : (keyAt(present, epoch) as EpochKey);
  }

  /** Whether there is nothing to do: as it is nearly always when a process looks. */
  #isUpToDate(chain: ChainRow): boolean {
    const isInPlace =
      this.place === 'database' ||
      (isKeyOf(readKeyFile(this.#path), chain) && !isKeyFileUnfinished(this.#path));
    return isKeyOf(this.#key, chain) && isInPlace && Date.now() - this.#notedAt < noteEvery;
  }

  /** Moves the file and what this process knows to the epoch that the database is in. */
  async #catchUp(): Promise<void> {
    await inTransaction(this.#pool, async (tx) => {
      const { present } = (await this.#present(tx, 'share')) ?? {};
      if (!present) return;
      if (this.place === 'database') {
        removeKeyFile(this.#path);
        await deleteProcess(tx, this.#fileName);
      } else {
        await this.#store(tx, present);
        keepName(this.#path, this.name);
      }
      await upsertProcess(tx, this.name, present.epoch);
    });
    this.#notedAt = Date.now();
  }

  /** Makes sure that the file has the present key. `tx`: the chain is locked in it. */
  async #store(tx: Transaction, present: EpochKey): Promise<void> {
    const isStored = () => {
      const file = readKeyFile(this.#path);
      const isPresent = file && isSameChain(file, present) && file.epoch >= present.epoch;
      return isPresent && !isKeyFileUnfinished(this.#path);
    };
    if (isStored()) return;
    // One after another: a slower process must not put an older key in the place of a newer one.
    await lockKeyFiles(tx);
    if (!isStored()) writeKeyFile(this.#path, present);
  }

  /** Wraps the keys of all open weeks by another epoch key, which is the present one from now on. */
  async #rewrap(tx: Transaction, chain: ChainRow, from: EpochKey | undefined, to: EpochKey): Promise<void> {
    const rewrapped = (await selectWeekKeys(tx)).flatMap(({ accountId, week, wrapped }): WeekKeyRow[] => {
      const context = contextOf(accountId, week);
      const secret = from && unwrap(from, context, wrapped);
      return secret ? [{ accountId, week, wrapped: wrap(to, context, secret) }] : [];
    });
    await updateWeekKeys(tx, rewrapped, { inDatabase: this.place === 'database' });
    const isNewChain = !isSameChain(chain, to);
    // A new chain cannot be computed from the one before: it is safe on the disk before the database knows of it.
    if (this.place === 'file' && isNewChain) writeKeyFile(this.#path, to);
    await updateChain(tx, { ...to, secret: this.place === 'database' ? to.secret : null });
    if (this.place === 'file') await deleteProcess(tx, nameInDatabase); // updateChain has noted until when it was there
    if (isNewChain || this.place === 'database') this.#learn(to);
  }

  /** Open weeks whose key cannot be opened by the present epoch key, and will never be. None while it is missing here. */
  async lostWeeks(): Promise<{ accountId: AccountId; week: Week }[]> {
    await this.prepare();
    return inTransaction(this.#pool, async (tx) => {
      // While it is locked, no one wraps the keys by another chain: all of them would look lost.
      const { chain, present } = (await this.#present(tx, 'share')) ?? {};
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

  /** Gives up a key that is missing: from now on the open weeks are lost (lostWeeks), and new ones can be opened. */
  async reset(): Promise<void> {
    await inTransaction(this.#pool, async (tx) => {
      const chain = await selectChain(tx, 'update');
      if (chain) await this.#rewrap(tx, chain, undefined, freshKey(chain));
    });
    this.#preparing = undefined;
    await this.#catchUp();
  }

  /**
   * The key file as a text, for another process that has none; noted in the database before anyone has it. Throws a Fault where
   * the key is missing.
   */
  async exported(): Promise<string> {
    await this.prepare();
    const { present } = (await this.#present(this.#pool)) ?? {};
    if (!present || !(await noteExport(this.#pool, present.chain))) throw missingKey();
    return keyText(present);
  }

  /** Keeps a key that another process has exported. Throws a Fault when it is none, or not the one that is missing. */
  async imported(text: string): Promise<void> {
    const key = keyIn(text);
    if (!key)
      throw new Fault(
        'invalid',
        'invalid value',
        'This is not an exported answer key. Run "soundings keys export" where the key is.',
      );
    const chain = await selectChain(this.#pool);
    const present = chain && isSameChain(key, chain) ? keyAt(key, chain.epoch) : undefined;
    if (!present) {
      throw new Fault(
        'conflict',
        'invalid value',
        'This key is of another installation, has been replaced by a new one since it was exported, or is later than the database. ' +
          'Run "soundings keys export" again where the key is.',
      );
    }
    writeKeyFile(this.#path, present);
    this.#learn(present);
    this.#preparing = undefined;
    await this.#catchUp();
  }

  /** Forgets a process that is gone, with its copy of the key. One that runs is soon back. Throws a Fault when there is none. */
  async forgetProcess(name: string): Promise<void> {
    if (!(await deleteProcess(this.#pool, name)))
      throw new Fault('not_found', 'not found', `There is no process "${name}". See "soundings keys show".`);
  }

  async state(): Promise<KeyState> {
    await this.prepare();
    const { chain, present } = (await this.#present(this.#pool)) ?? {};
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

/** When the last chain of which a key was exported has ended. Null where it is the present one, or none was exported. */
function exportedUntil(chain: ChainRow | undefined): string | null {
  const { exportedAt, exportedUntil: until } = chain ?? {};
  return exportedAt && until && exportedAt <= until ? until.toISOString() : null;
}

/** The epoch key of a chain that is kept in the database. */
const secretIn = (chain: ChainRow | undefined): EpochKey | undefined =>
  chain?.secret ? { ...chain, secret: chain.secret } : undefined;

/** Whether a key is the one of an epoch of a chain. */
const isKeyOf = (
  key: EpochKey | undefined,
  { chain, epoch }: { chain: Uint8Array; epoch: number },
): boolean => key !== undefined && isSameChain(key, { chain }) && key.epoch === epoch;

/** What to do when answers cannot be read or sealed here. */
const missingKey = () =>
  new Fault(
    'unavailable',
    'answer key missing',
    'The key of the open weeks is missing here, so nothing can be asked or answered. Where another process has it, run ' +
      '"soundings keys export" there and "soundings keys import" here. If it is lost, "soundings keys reset" closes the open weeks ' +
      'without results. In a container without a persistent volume, set ANSWER_KEYS=database.',
  );

const corrupt = new Fault(
  'unavailable',
  'answer key missing',
  'The answer key in the database is implausibly far ahead of the key file. Restore one of the two.',
);
