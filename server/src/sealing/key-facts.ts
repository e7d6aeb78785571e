// Facts about the keys for operators: whether they are here, and whether they open what is stored. Only reads: no key is created or moved.
import { lstat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Sealer } from '../base/crypto/sealer.ts';
import type { Pool } from '../db/db.ts';
import { secretIn, selectChain, selectProcesses, selectWeekKeys } from './answer-keys.sql.ts';
import type { KeyPlace } from './epoch-chain.ts';
import { follows, isSameChain, keyAt, unwrap, wrappedBy } from './epoch-keys.ts';
import { readKeyFile, readName } from './key-file.ts';
import { selectSecretsKey } from './secrets.sql.ts';
import { keptKey } from './secrets.ts';
import { contextOf } from './week-key.ts';

/**
 * `none`: it doesn't exist yet. `ready`: it is here. `moving`: it is in the other place, and the next start replaces it. `missing`: it
 * exists, but not here.
 */
export type KeyPresence = 'none' | 'ready' | 'moving' | 'missing';

export type KeyFacts = {
  answers: KeyPresence;
  secrets: KeyPresence;
  /** Open weeks of all accounts, and how many of them no key here can open. */
  openWeeks: { count: number; lost: number };
  /** Processes on other machines whose copy of the answer key is out of date. */
  outOfDate: string[];
  /** Opens stored secrets, if the secrets key is here. It seals nothing. */
  opener: Pick<Sealer, 'open'> | undefined;
};

/** Returns the facts. Throws a Fault if a key file can't be read. `pool`: a migrated database. */
export async function keyFacts(pool: Pool, { place, directory }: KeyPlace): Promise<KeyFacts> {
  const path = join(resolve(directory), 'answers');
  const [chain, weeks] = [await selectChain(pool), await selectWeekKeys(pool)];
  const file = readKeyFile(path);
  const inDatabase = secretIn(chain);
  const isOurs = chain && file && (isSameChain(file, chain) || follows(file, chain));
  const kept = inDatabase ?? (isOurs ? file : undefined);
  const present = chain && kept && isSameChain(kept, chain) ? keyAt(kept, chain.epoch) : kept;
  const lost = weeks.filter(({ accountId, week, wrapped }) => {
    const by = wrappedBy(wrapped);
    const isOfKey = present && isSameChain(by, present) && by.epoch === present.epoch;
    return !isOfKey || !unwrap(present, contextOf(accountId, week), wrapped);
  });
  const secrets = await secretsKey(pool, { place, directory });
  const name = readName(path);
  return {
    answers: presenceOf(chain !== undefined, kept && (inDatabase ? 'database' : 'file'), place),
    secrets: secrets.presence,
    openWeeks: { count: weeks.length, lost: present ? lost.length : 0 },
    outOfDate: (await selectProcesses(pool))
      .filter((one) => chain && one.epoch < chain.epoch && one.name !== name)
      .map((one) => one.name),
    opener: secrets.opener,
  };
}

/** `found`: where the key is; undefined: not here. `wanted`: where it belongs by the settings. */
function presenceOf(
  exists: boolean,
  found: KeyPlace['place'] | undefined,
  wanted: KeyPlace['place'],
): KeyPresence {
  if (!exists) return 'none';
  if (found === undefined) return 'missing';
  return found === wanted ? 'ready' : 'moving';
}

async function secretsKey(
  pool: Pool,
  { place, directory }: KeyPlace,
): Promise<{ presence: KeyPresence; opener: KeyFacts['opener'] }> {
  const row = await selectSecretsKey(pool);
  const file = row?.secret ? undefined : readKeyFile(join(resolve(directory), 'secrets'));
  const key = keptKey(row, file);
  const found = key && (row?.secret ? 'database' : 'file');
  const opener = key && { open: async (context: string, sealed: Buffer) => unwrap(key, context, sealed) };
  return { presence: presenceOf(row !== undefined, found, place), opener };
}

/** A key file or its directory: who can read it. `isForeign`: it belongs to another user than this process. */
export type KeyFileFacts = { path: string; mode: number; isForeign: boolean };

/** Returns the directory of the keys and the files in it that exist. */
export async function keyFileFacts(directory: string): Promise<KeyFileFacts[]> {
  const names = ['', 'answers', 'secrets'];
  const found = await Promise.all(
    names.map(async (name): Promise<KeyFileFacts[]> => {
      const path = join(resolve(directory), name);
      const stats = await lstat(path).catch((error: NodeJS.ErrnoException) => {
        if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(error.code ?? '')) return undefined;
        throw error;
      });
      const own = process.getuid?.();
      return stats
        ? [{ path, mode: stats.mode & 0o777, isForeign: own !== undefined && stats.uid !== own }]
        : [];
    }),
  );
  return found.flat();
}
