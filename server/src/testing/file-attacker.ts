// The attacker of closed weeks: has every file of the database, of any date, a dump that was made while the week was open, and
// every key that is still anywhere. Looks for keys and answers in the bytes themselves; knows how Soundings stores them.
import type { Dirent } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pool } from '../db/db.ts';
import { type EpochKey, keyAt, unwrap, wrappedBy } from '../sealing/epoch-keys.ts';
import { decodeAnswers } from '../sealing/person-answers.ts';
import { contextOf, WeekKey } from '../sealing/week-key.ts';

/** A file, or what was made of one. */
export type Source = { name: string; bytes: Buffer };

// --- What the attacker has

/** Every file below a directory, and the log as it is without its pages. A file that is deleted meanwhile is left out. */
export async function filesBelow(directory: string): Promise<Source[]> {
  const found = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = found.filter((one: Dirent) => one.isFile()).map((one) => join(one.parentPath, one.name));
  const read = await Promise.all(
    files.map((name) =>
      readFile(name).then(
        (bytes) => [{ name, bytes }],
        () => [],
      ),
    ),
  );
  const sources = withoutCopies(read.flat());
  return [...sources, ...sources.flatMap((one) => joinedLog(one) ?? [])];
}

/** Every file below directories as a base backup takes them: from a checkpoint on, with the log written meanwhile. */
export async function baseBackup(pool: Pool, directories: string[]): Promise<Source[]> {
  const connection = await pool.reserve();
  try {
    await connection`select pg_backup_start('attack', true)`;
    const [before] = await connection<{ lsn: string }[]>`select pg_current_wal_lsn()::text as lsn`;
    const files = (await Promise.all(directories.map(filesBelow))).flat();
    await connection`select pg_backup_stop(false)`;
    if (!before?.lsn) throw new Error('There is no log.');
    return files;
  } finally {
    connection.release();
  }
}

/** Files with the same bytes once: the databases of a server have many in common. */
function withoutCopies(sources: Source[]): Source[] {
  const bySize = Map.groupBy(sources, ({ bytes }) => bytes.length);
  return [...bySize.values()].flatMap((alike) =>
    alike.filter(({ bytes }, i) => !alike.slice(0, i).some((one) => one.bytes.equals(bytes))),
  );
}

type Row = Record<string, unknown>;

/** All rows of all tables, as they are at one moment. */
export type Dump = Map<string, Row[]>;

export async function dumpOf(pool: Pool): Promise<Dump> {
  return (await pool.begin('isolation level repeatable read read only', async (tx) => {
    const tables = await tx<{ name: string }[]>`
      select format('%I.%I', schemaname, tablename) as name from pg_tables
      where  schemaname not in ('pg_catalog', 'information_schema')`;
    const dump: Dump = new Map();
    for (const { name } of tables) {
      // oxlint-disable-next-line no-await-in-loop -- one connection
      const rows = await tx.unsafe<{ row: Row }[]>(`select to_jsonb(t) as row from ${name} t`);
      dump.set(
        name.replace(/^public\./, ''),
        rows.map(({ row }) => row),
      );
    }
    return dump;
  })) as Dump;
}

export const dumpFile = (dump: Dump): Source => ({
  name: 'dump',
  bytes: Buffer.from([...dump].map(([name, rows]) => `${name} ${JSON.stringify(rows)}`).join('\n')),
});

const rowsOf = <T>(dump: Dump, table: string) => (dump.get(table) ?? []) as T[];
const bytesOf = (text: string) => Buffer.from(text.replace(/^\\x/, ''), 'hex');

// --- Searching bytes

/** All places of a needle. */
function* placesOf(needle: Buffer, { bytes }: Source): Generator<number> {
  for (let at = bytes.indexOf(needle); at >= 0; at = bytes.indexOf(needle, at + 1)) yield at;
}

/** The ways in which bytes may be written. */
const spellings = (bytes: Buffer): Buffer[] => {
  const texts = [
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
  ];
  return [bytes, ...new Set(texts)].map((one) => Buffer.from(one as never));
};

/** In which sources one of the secrets stands, as bytes, hexadecimal digits or base64: "what in where". */
export function tracesOf(secrets: Record<string, Uint8Array>, sources: Source[]): string[] {
  return Object.entries(secrets).flatMap(([what, secret]) => {
    const wanted = spellings(Buffer.from(secret));
    return sources
      .filter(({ bytes }) => wanted.some((one) => bytes.includes(one)))
      .map(({ name }) => `${what} in ${name}`);
  });
}

/** The log without the heads of its pages, which cut records in two; nothing of other files. */
function joinedLog({ name, bytes }: Source): Source | undefined {
  if (!/\/pg_wal\/[0-9A-F]{24}$/.test(name)) return undefined;
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += pageSize) {
    const head = (bytes.readUInt16LE(at + 2) & isLongHead) === 0 ? 24 : 40;
    parts.push(bytes.subarray(at + head, at + pageSize));
  }
  return { name: `${name} (joined)`, bytes: Buffer.concat(parts) };
}

const [pageSize, isLongHead, isContinued] = [8192, 2, 1];
const [longestRecord, lastManager] = [2 ** 19, 22];

/** What is written together: the records of the log, and the pages of the other files. */
export function* pieces(source: Source): Generator<Buffer> {
  const { bytes } = source;
  const log = joinedLog(source);
  if (!log) {
    for (let at = 0; at < bytes.length; at += pageSize) yield bytes.subarray(at, at + pageSize);
    return;
  }
  const up = (length: number) => Math.ceil(length / 8) * 8;
  let at = (bytes.readUInt16LE(2) & isContinued) === 0 ? 0 : up(bytes.readUInt32LE(16));
  while (at + 24 <= log.bytes.length) {
    const length = log.bytes.readUInt32LE(at);
    // What follows the last record may be of an earlier use of the file. A record ends its head with a known manager and two zeros.
    const [manager, zeros] = [log.bytes.readUInt8(at + 17), log.bytes.readUInt16LE(at + 18)];
    if (length < 24 || length > longestRecord || manager > lastManager || zeros !== 0) return;
    yield log.bytes.subarray(at, at + length);
    at += up(length);
  }
}

// --- Keys

/** Week keys as they are stored: 73 bytes that begin with 1 and the name of the chain. Also where they are written as digits. */
function wrappedIn(sources: Source[], chains: Buffer[]): Buffer[] {
  const length = 73;
  const found = new Map<string, Buffer>();
  for (const chain of chains) {
    const start = Buffer.concat([Buffer.of(1), chain]);
    for (const source of sources) {
      for (const at of placesOf(start, source)) {
        const wrapped = source.bytes.subarray(at, at + length);
        if (wrapped.length === length) found.set(wrapped.toString('hex'), wrapped);
      }
      for (const at of placesOf(Buffer.from(start.toString('hex')), source)) {
        const wrapped = bytesOf(source.bytes.toString('latin1', at, at + 2 * length));
        if (wrapped.length === length) found.set(wrapped.toString('hex'), wrapped);
      }
    }
  }
  return [...found.values()];
}

/** Everything that may be an epoch key: in the form of the key file, and every 32 bytes that follow the name of a chain. */
function epochKeysIn(sources: Source[], chains: Buffer[]): EpochKey[] {
  const found = new Map<string, EpochKey>();
  const add = (key: EpochKey) => found.set(`${key.epoch} ${key.secret.toString('hex')}`, key);
  for (const source of sources) {
    for (const at of placesOf(Buffer.from('chain '), source)) {
      const text = source.bytes.toString('latin1', at, at + 160);
      const [, chain, epoch, key] =
        /^chain ([0-9a-f]{16})\s+epoch (\d+)\s+key ([0-9a-f]{64})/.exec(text) ?? [];
      if (chain && key) add({ chain: bytesOf(chain), epoch: Number(epoch), secret: bytesOf(key) });
    }
    for (const chain of chains) {
      for (const at of placesOf(chain, source)) {
        if (source.bytes[at - 1] === 1) continue; // a wrapped key
        for (let from = at + 8; from <= at + 40; from++) {
          const secret = source.bytes.subarray(from, from + 32);
          if (secret.length === 32) add({ chain, epoch: 0, secret });
        }
      }
      for (const at of placesOf(Buffer.from(chain.toString('hex')), source)) {
        const near = source.bytes.toString('latin1', at + 16, at + 400);
        for (const [digits] of near.matchAll(/[0-9a-f]{64}/g))
          add({ chain, epoch: 0, secret: bytesOf(digits) });
      }
    }
  }
  return [...found.values()];
}

/** The secret of a wrapped key. Of a key of an unknown epoch (0) it is tried whether it is the one. */
function unwrapped(key: EpochKey, context: string, wrapped: Buffer): Buffer | undefined {
  const { epoch } = wrappedBy(wrapped);
  const at = key.epoch === 0 ? { ...key, epoch } : epoch > 1_000_000 ? undefined : keyAt(key, epoch);
  return at && unwrap(at, context, wrapped);
}

/** An answer that the attacker has read, and whose it is. */
export type Read = {
  accountId: number;
  week: string;
  userId: number;
  questionId: number;
  value: number | null;
  comment: string | null;
};

/**
 * The keys of weeks that come out of what the attacker has, by "account week". `sources`: files and dumps of any date, with all
 * that there is of keys; `dump`: what was open.
 */
export function weekKeysIn(sources: Source[], dump: Dump): Map<string, Buffer> {
  const chains = rowsOf<{ chain: string }>(dump, 'answer_keys').map(({ chain }) => bytesOf(chain));
  const contexts = rowsOf<{ account_id: number; week: string }>(dump, 'weeks').map((one) =>
    contextOf(one.account_id, one.week),
  );
  const wrapped = wrappedIn(sources, chains);
  const found = new Map<string, Buffer>();
  for (const key of epochKeysIn(sources, chains)) {
    for (const one of wrapped) {
      for (const context of contexts) {
        const secret = found.has(context) ? undefined : unwrapped(key, context, one);
        if (secret) found.set(context, secret);
      }
    }
  }
  return found;
}

/** Everything that week keys open of a dump, with the users that the numbers are of. */
export function readWith(weekKeys: ReadonlyMap<string, Uint8Array>, dump: Dump): Read[] {
  const users = rowsOf<{ account_id: number; user_id: number }>(dump, 'users');
  type Sealed = { account_id: number; week: string; respondent: string; sealed: string };
  const rows = Map.groupBy(rowsOf<Sealed>(dump, 'answers'), (one) => contextOf(one.account_id, one.week));
  return [...weekKeys].flatMap(([context, secret]) => {
    const own = rows.get(context) ?? [];
    const [first] = own;
    if (!first) return [];
    const { account_id: accountId, week } = first;
    const key = new WeekKey(accountId, week, secret);
    const userIds = new Map(
      users
        .filter((user) => user.account_id === accountId)
        .map((user) => [key.respondentOf(user.user_id), user.user_id]),
    );
    return own.flatMap(({ respondent, sealed }) =>
      [...decodeAnswers(key.open(respondent, bytesOf(sealed)))].flatMap(
        ([questionId, { value, comment }]) => {
          const userId = userIds.get(respondent);
          return userId === undefined ? [] : [{ accountId, week, userId, questionId, value, comment }];
        },
      ),
    );
  });
}

// --- What rows tell without a key

/**
 * By which columns of a table two kinds of respondents can be told apart: what is written of one kind is never written of the
 * other. What cannot be read counts by its length.
 */
export function telltales(rows: Row[], isOfKind: (respondent: string) => boolean): string[] {
  const [some, others] = [true, false].map((kind) =>
    rows.filter(({ respondent }) => isOfKind(respondent as string) === kind),
  ) as [Row[], Row[]];
  const shown = (value: unknown) =>
    typeof value === 'string' && value.startsWith('\\x') ? `${value.length} digits` : JSON.stringify(value);
  return Object.keys(rows[0] ?? {})
    .filter((column) => column !== 'respondent')
    .filter((column) => {
      const of = (list: Row[]) => new Set(list.map((row) => shown(row[column])));
      const [one, other] = [of(some), of(others)];
      return one.symmetricDifference(other).size > 0;
    });
}
