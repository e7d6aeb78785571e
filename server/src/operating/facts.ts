// What monitoring systems read about an installation, for all accounts together: waiting work, the disk, the database, backups, keys.
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { selectUnsent } from '../accounts/audit-chain/syslog.sql.ts';
import { selectLastBackup } from '../backup/last-backup.sql.ts';
import { channelsOf } from '../base/messages/channels.ts';
import type { Pool } from '../db/db.ts';
import type { AnswerKeys } from '../sealing/answer-keys.ts';
import { selectDatabase, selectPendingRuns } from './facts.sql.ts';
import { selectJobFacts } from './jobs.sql.ts';
import { overdueWeeks, type Waiting, waitingWork } from './waiting.ts';

/** Sizes in bytes. `disk`: of DATA_DIR; undefined if it doesn't exist. */
export type OperatingFacts = {
  waiting: Record<string, Waiting>;
  /** How many jobs have failed permanently. */
  deadJobs: number;
  /** Weeks that ended more than an hour ago and are not closed. */
  overdueWeeks: number;
  disk: { free: number; total: number } | undefined;
  /** The version of PostgreSQL, such as "18.4", and the size of the database. */
  database: { version: string; bytes: number };
  /** When Soundings created the last backup; null: never. */
  lastBackup: Date | null;
  missingKeys: { answer: boolean; secrets: boolean };
};

/** The settings that decide what is read. */
export type FactsConfig = Parameters<typeof channelsOf>[0] & {
  answerKeys: { directory: string };
  auditSyslog: object | undefined;
};

export async function operatingFacts(
  pool: Pool,
  { config, keys, now }: { config: FactsConfig; keys: AnswerKeys; now: number },
): Promise<OperatingFacts> {
  const [chain, secrets] = [await keys.chain.state(), await keys.secrets.state()];
  const jobs = await selectJobFacts(pool);
  const hasSyslog = config.auditSyslog !== undefined;
  return {
    waiting: {
      ...(await waitingWork(pool, channelsOf(config), now)),
      ...(jobs && { jobs: jobs.waiting }),
      'pending runs': await selectPendingRuns(pool),
      ...(hasSyslog && { 'audit entries': await selectUnsent(pool) }),
    },
    deadJobs: jobs?.dead ?? 0,
    overdueWeeks: await overdueWeeks(pool, now),
    disk: await diskOf(config),
    database: await selectDatabase(pool),
    lastBackup: (await selectLastBackup(pool)) ?? null,
    missingKeys: { answer: chain.state === 'missing', secrets: secrets === 'missing' },
  };
}

/** Returns the free and total space of DATA_DIR, where the keys are; undefined if this installation has no such directory. */
export async function diskOf({
  answerKeys,
}: Pick<FactsConfig, 'answerKeys'>): Promise<OperatingFacts['disk']> {
  const found = await statfs(dirname(answerKeys.directory)).catch(() => undefined);
  return found && { free: found.bavail * found.bsize, total: found.blocks * found.bsize };
}
