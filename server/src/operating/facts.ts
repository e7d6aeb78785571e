// What monitoring systems read about an installation, for all accounts together: waiting work, the disk, the database, backups, keys.
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { selectUnsent } from '../accounts/audit-chain/syslog.sql.ts';
import { selectLastBackup } from '../backup/last-backup.sql.ts';
import { type Channels, channelsOf } from '../base/messages/channels.ts';
import type { Db, Pool } from '../db/db.ts';
import type { AnswerKeys } from '../sealing/answer-keys.ts';
import { selectDatabaseSize, selectPendingRuns } from './facts.sql.ts';
import { selectJobFacts } from './jobs.sql.ts';
import { overdueWeeks, type Waiting, waitingWork } from './waiting.ts';

/** Sizes in bytes. `disk`: of DATA_DIR; undefined if it doesn't exist. */
export type OperatingFacts = {
  waiting: Record<string, Waiting>;
  /** Weeks that ended more than an hour ago and are not closed. */
  overdueWeeks: number;
  disk: { free: number; total: number } | undefined;
  database: number;
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
  return {
    waiting: await allWaiting(pool, channelsOf(config), { hasSyslog: config.auditSyslog !== undefined, now }),
    overdueWeeks: await overdueWeeks(pool, now),
    disk: await diskOf(config),
    database: await selectDatabaseSize(pool),
    lastBackup: (await selectLastBackup(pool)) ?? null,
    missingKeys: { answer: chain.state === 'missing', secrets: secrets === 'missing' },
  };
}

async function allWaiting(
  db: Db & Pool,
  channels: Channels,
  { hasSyslog, now }: { hasSyslog: boolean; now: number },
): Promise<Record<string, Waiting>> {
  const jobs = await selectJobFacts(db);
  return {
    ...(await waitingWork(db, channels, now)),
    ...(jobs && { jobs: jobs.waiting }),
    'pending runs': await selectPendingRuns(db),
    ...(hasSyslog && { 'audit entries': await selectUnsent(db) }),
  };
}

/** Returns the free and total space of DATA_DIR, where the keys are; undefined if this installation has no such directory. */
export async function diskOf({
  answerKeys,
}: Pick<FactsConfig, 'answerKeys'>): Promise<OperatingFacts['disk']> {
  const found = await statfs(dirname(answerKeys.directory)).catch(() => undefined);
  return found && { free: found.bavail * found.bsize, total: found.blocks * found.bsize };
}
