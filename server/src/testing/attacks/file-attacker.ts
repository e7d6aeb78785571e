// The attacker of closed weeks: has every file of the database, of any date, a dump from when the week was open, and every key
// that is still anywhere. It searches the bytes for keys and answers, and knows how Soundings stores them.
import { createSecretKey, type KeyObject } from 'node:crypto';
import { type Dirent, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import postgres from 'postgres';
import type { Pool } from '../../db/db.ts';
import { type EpochKey, keyAt, unwrap, wrappedBy } from '../../sealing/epoch-keys.ts';
import { decodeAnswers } from '../../sealing/person-answers.ts';
import { contextOf, WeekKey } from '../../sealing/week-key.ts';
import { isSegment, logParts, pageSize } from './log-segments.ts';
import { superuser, superuserPassword } from '../postgres.ts';

/** A file, or data from one. `fragments`: the parts that were written together, by default each page. */
export type Source = { name: string; bytes: Buffer; fragments?: () => Buffer[] };

// What the attacker has

/**
 * Returns every file in the directories, each content once. The log is joined, because its records continue from one page and
 * segment to the next. Files that are deleted meanwhile are left out.
 */
export function filesBelow(...directories: string[]): Source[] {
  const found = directories.flatMap((one) => readdirSync(one, { recursive: true, withFileTypes: true }));
  const names = found.filter((one: Dirent) => one.isFile()).map((one) => join(one.parentPath, one.name));
  return withJoinedLog(
    names.flatMap((name) => {
      try {
        return [{ name, bytes: readFileSync(name) }];
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
        throw error;
      }
    }),
  );
}

/** Returns files with the joined log in place of its segments. */
function withJoinedLog(files: Source[]): Source[] {
  const segments = files.filter(({ name }) => isSegment(name)).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const places = Map.groupBy(segments, ({ name }) => name.slice(0, name.lastIndexOf('/')));
  const logs = [...places].flatMap(([place, own]) =>
    logParts(own.map(({ bytes }) => bytes)).map(({ from, bytes, records }) => ({
      name: `${place}/ from ${from}`,
      bytes,
      fragments: () => records().map((record) => record.bytes),
    })),
  );
  return [...withoutCopies(files.filter(({ name }) => !isSegment(name))), ...logs];
}

/**
 * Returns the files of a base backup as pg_basebackup takes it: with the command BASE_BACKUP of the replication protocol,
 * including its log. The embedded PostgreSQL does not include the program itself. `place`: a directory that does not exist yet,
 * where PostgreSQL's user can create it.
 */
export async function baseBackup(pool: Pool, place: string): Promise<Source[]> {
  const { host, port } = pool.options;
  const connection = postgres({
    ...({
      host,
      port,
      user: superuser,
      pass: superuserPassword,
      connection: { replication: true },
    } as object),
    max: 1,
    fetch_types: false,
    onnotice: () => {},
  });
  try {
    const target = `TARGET 'server', TARGET_DETAIL '${place}'`;
    const options = `LABEL 'attack', CHECKPOINT 'fast', WAL true, MANIFEST 'no', ${target}`;
    const progress = await connection.unsafe(`BASE_BACKUP (${options})`).readable();
    await progress.resume().toArray();
  } finally {
    await connection.end();
  }
  return withJoinedLog(filesOfTar(readFileSync(join(place, 'base.tar')), '/postgres/'));
}

/** Returns the files of a tar archive: blocks of 512 bytes, one of which is the header of each file. */
function filesOfTar(bytes: Buffer, place: string): Source[] {
  const files: Source[] = [];
  const textAt = (at: number, length: number) =>
    bytes.toString('latin1', at, at + length).replace(/\0.*/s, '');
  for (let at = 0; at < bytes.length && bytes[at] !== 0;) {
    const length = Number.parseInt(textAt(at + 124, 12), 8);
    const [name, start] = [textAt(at, 100), at + 512];
    files.push({ name: `${place}${name}`, bytes: bytes.subarray(start, start + length) });
    at = start + Math.ceil(length / 512) * 512;
  }
  return files;
}

/** Keeps one of several files with the same content, because a server's databases have many in common. */
export function withoutCopies(sources: Source[]): Source[] {
  const bySize = Map.groupBy(sources, ({ bytes }) => bytes.length);
  return [...bySize.values()].flatMap((alike) =>
    alike.filter(({ bytes }, i) => !alike.slice(0, i).some((one) => one.bytes.equals(bytes))),
  );
}

type Row = Record<string, unknown>;

/** All rows of all tables at the same time. */
export type Dump = Map<string, Row[]>;

export async function dumpOf(pool: Pool): Promise<Dump> {
  return (await pool.begin('isolation level repeatable read read only', async (tx) => {
    const tables = await tx<{ name: string }[]>`
      select format('%I.%I', schemaname, tablename) as name from pg_tables
      where  schemaname not in ('pg_catalog', 'information_schema')`;
    const dump: Dump = new Map();
    for (const { name } of tables) {
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

// Searching bytes

type Place = { needle: number; at: number };

/**
 * Returns a function that finds all places of all needles in one pass. It reads two bytes at a stride that every needle must
 * contain, which takes a tenth of the seconds that one search per needle takes.
 */
export function finderOf(needles: Buffer[]): (bytes: Buffer) => Place[] {
  const stride = Math.min(...needles.map(({ length }) => length)) - 1;
  if (stride < 1) throw new Error('A needle is too short.');
  const twoAt = (bytes: Buffer, at: number) => (bytes[at]! << 8) | bytes[at + 1]!;
  const isPart = new Uint8Array(65_536);
  const parts = Map.groupBy(
    needles.flatMap((bytes, needle) =>
      Array.from({ length: stride }, (_, offset) => ({ needle, offset, two: twoAt(bytes, offset) })),
    ),
    ({ two }) => two,
  );
  for (const two of parts.keys()) isPart[two] = 1;
  return (bytes) => {
    const found: Place[] = [];
    for (let here = 0; here + 1 < bytes.length; here += stride) {
      const two = twoAt(bytes, here);
      if (isPart[two] === 0) continue;
      for (const { needle, offset } of parts.get(two)!) {
        if (isAt(needles[needle]!, bytes, here - offset)) found.push({ needle, at: here - offset });
      }
    }
    return found;
  };
}

function isAt(needle: Buffer, bytes: Buffer, at: number): boolean {
  for (let i = 0; i < needle.length; i++) if (bytes[at + i] !== needle[i]) return false;
  return true;
}

/** The ways in which bytes can be written. */
const aliases = (bytes: Buffer): Buffer[] => {
  const texts = [
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
  ];
  return [bytes, ...new Set(texts)].map((one) => Buffer.from(one as never));
};

/** Returns the sources that contain one of the secrets as bytes, hexadecimal digits or base64: "what in where". */
export function tracesOf(secrets: Record<string, Uint8Array>, sources: Source[]): string[] {
  const wanted = Object.entries(secrets).flatMap(([what, secret]) =>
    aliases(Buffer.from(secret)).map((needle) => ({ what, needle })),
  );
  const find = finderOf(wanted.map(({ needle }) => needle));
  return sources.flatMap(({ name, bytes }) => {
    const found = new Set(find(bytes).map(({ needle }) => wanted[needle]!.what));
    return [...found].map((what) => `${what} in ${name}`);
  });
}

/** Returns what was written together: the records of the log, and the pages of other files. */
export function fragmentsOf({ bytes, fragments }: Source): Buffer[] {
  if (fragments) return fragments();
  const count = Math.ceil(bytes.length / pageSize);
  return Array.from({ length: count }, (_, i) => bytes.subarray(i * pageSize, (i + 1) * pageSize));
}

/** Returns the fragments of sources that contain both one of some needles and one of others. */
export function fragmentsWithBoth(some: Buffer[], others: Buffer[], sources: Source[]): string[] {
  const [findSome, findOther] = [finderOf(some), finderOf(others)];
  return sources
    .filter(({ bytes }) => findSome(bytes).length > 0)
    .flatMap((source) =>
      fragmentsOf(source).flatMap((fragment, i) =>
        findSome(fragment).length > 0 && findOther(fragment).length > 0
          ? [`${source.name}, fragment ${i} of ${fragment.length} bytes`]
          : [],
      ),
    );
}

// Keys

/** Stored week keys start with 1, the name of the chain and the number of the epoch. */
const wrappedLength = 73;

/** In a row of an epoch key, zeros follow the chain or its epoch. In a wrapped key, bytes that look random follow. */
function isLikeWrapped(bytes: Buffer): boolean {
  if (bytes.length !== wrappedLength) return false;
  const { epoch } = wrappedBy(bytes);
  return epoch > 0 && epoch < 10_000 && bytes.readUInt16BE(13) !== 0;
}

/** Possible keys: wrapped week keys, and epoch keys. */
type Keys = { wrapped: Map<string, Buffer>; epochKeys: Map<string, EpochKey> };

/**
 * Returns all possible keys in the sources. Anything in the form of the key file may be an epoch key, and so may the 32 bytes
 * after each occurrence of a chain's name.
 */
function keysIn(sources: Source[], chains: Buffer[]): Keys {
  const keys: Keys = { wrapped: new Map(), epochKeys: new Map() };
  const addWrapped = (wrapped: Buffer) => {
    if (wrapped.length === wrappedLength) keys.wrapped.set(wrapped.toString('latin1'), wrapped);
  };
  const addKey = (key: EpochKey) => {
    if (key.secret.length === 32) keys.epochKeys.set(`${key.epoch} ${key.secret.toString('latin1')}`, key);
  };
  const find = finderOf(chains.flatMap((chain) => [chain, Buffer.from(chain.toString('hex'))]));
  for (const { bytes } of sources) {
    for (const { needle, at } of find(bytes)) {
      const chain = chains[needle >> 1]!;
      if (needle % 2 === 0) {
        // The log omits the start of a changed row if it is the same as before. Then the 1 is missing.
        const wrapped = Buffer.concat([Buffer.of(1), bytes.subarray(at, at + wrappedLength - 1)]);
        if (bytes[at - 1] === 1 || isLikeWrapped(wrapped)) addWrapped(wrapped);
        else {
          for (let from = at + 8; from <= at + 40; from++)
            addKey({ chain, epoch: 0, secret: bytes.subarray(from, from + 32) });
        }
        continue;
      }
      const text = bytes.toString('latin1', Math.max(0, at - 2), at + 400);
      addWrapped(bytesOf(text.slice(0, 2 * wrappedLength)));
      for (const [digits] of text.slice(18).matchAll(/[0-9a-f]{64}/g))
        addKey({ chain, epoch: 0, secret: bytesOf(digits) });
      // The key file names the key's epoch, so later keys follow from it.
      const [, epoch, key] = /^..[0-9a-f]{16}\s+epoch (\d+)\s+key ([0-9a-f]{64})/s.exec(text) ?? [];
      if (key) addKey({ chain, epoch: Number(epoch), secret: bytesOf(key) });
    }
  }
  return keys;
}

/**
 * Returns a function that tries a key on wrapped keys. A key of an unknown epoch (0) is tried as the key of each epoch. A
 * key object is created once, because that takes three times as long as a try.
 */
function opener(key: EpochKey): (context: string, wrapped: Buffer) => Buffer | undefined {
  const keyObjects = new Map<number, KeyObject | undefined>();
  const secretAt = (epoch: number) => {
    const at = epoch > 1_000_000 ? undefined : keyAt(key, epoch);
    return at && createSecretKey(at.secret);
  };
  return (context, wrapped) => {
    const epoch = key.epoch === 0 ? 0 : wrappedBy(wrapped).epoch;
    if (!keyObjects.has(epoch)) keyObjects.set(epoch, secretAt(epoch));
    const secret = keyObjects.get(epoch);
    return secret && unwrap({ secret }, context, wrapped);
  };
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

type OneWeek = { accountId: number; week: string };

/**
 * Returns the keys of a week that can be derived from what the attacker has, by "account week". `sources`: files and dumps of any
 * date, with all keys that exist. `dump`: what was open.
 */
export function weekKeysIn(sources: Source[], dump: Dump, { accountId, week }: OneWeek): Map<string, Buffer> {
  const chains = rowsOf<{ chain: string }>(dump, 'answer_keys').map(({ chain }) => bytesOf(chain));
  const context = contextOf(accountId, week);
  const { wrapped, epochKeys } = keysIn(sources, chains);
  for (const key of epochKeys.values()) {
    const open = opener(key);
    for (const one of wrapped.values()) {
      const secret = open(context, one);
      if (secret) return new Map([[context, secret]]);
    }
  }
  return new Map();
}

/** Returns everything in a dump that the week keys decrypt, with the users behind the respondent numbers. */
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

// What rows reveal without a key

/**
 * Returns the columns of a table that distinguish two kinds of respondents: a value of one kind never occurs in the other.
 * Unreadable values count by their length.
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
