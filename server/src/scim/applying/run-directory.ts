// Runs of the directory: like those of files, but in one transaction, because they are short.
import { newId } from '../../base/ids.ts';
import type { AccountId, Transaction } from '../../db/db.ts';
import type { Findings } from '../../sync/findings.ts';
import { beginRun } from '../../sync/runs.ts';
import { type SentByFile, synchronizeFile, type Synchronized, type Wanted } from '../../sync/sync.ts';

type DirectoryRun = {
  sent: SentByFile;
  tokenId: number | null;
  wanted: Omit<Wanted, 'organization' | 'runId'>;
  runId?: string;
};

/** Starts and ends a run of the directory, in the caller's transaction. */
export async function runDirectory(
  tx: Transaction,
  accountId: AccountId,
  { sent, tokenId, wanted, runId = newId() }: DirectoryRun,
  findings: Findings,
): Promise<Synchronized & { runId: string }> {
  const run = { id: runId, source: 'scim' as const, tokenId, file: null, address: null };
  await beginRun(tx, accountId, run, sent.settings);
  return { ...(await synchronizeFile(tx, accountId, sent, { ...wanted, runId }, findings)), runId };
}
