// The thread for organization requests. It gets one request of an account at a time (sync/pushes.ts).
import { parentPort, workerData } from 'node:worker_threads';
import { readJson } from './base/json/escaped-keys.ts';
import { Fault } from './base/errors.ts';
import { collectSpans, type ThreadSpan } from './base/tracing/thread-spans.ts';
import { asFault, forWholeLists, openPool, retryLostConnections } from './db/db.ts';
import { deleteGroupResults } from './results/published-figures.ts';
import type { Gone, Growth, GrowthEnd, Job, JobEnd } from './sync/pushes.ts';
import type { CommitOfPush } from './sync/parts/commit-scene.ts';
import { commitPush } from './sync/parts/commit.ts';
import { storePart } from './sync/parts/store-part.ts';
import { pushOrganization } from './sync/push.ts';

const pool = openPool((workerData as { databaseUrl: string }).databaseUrl, 8, forWholeLists);
retryLostConnections(() => {});
type Client = { isGone: boolean; onGrowth: (isGranted: boolean) => void };
const running = new Map<number, Client>();

parentPort?.on('message', (message: Job | Gone | GrowthEnd) => {
  if ('grown' in message) return running.get(message.grown)?.onGrowth(message.isGranted);
  if (!('gone' in message)) return void runJob(message);
  const one = running.get(message.gone);
  if (one) one.isGone = true;
});

/** Returns whether there is memory for the decompressed bytes of a job, which then count. */
const growJob = (job: number, client: Client, grow: number): Promise<boolean> =>
  new Promise((resolve) => {
    client.onGrowth = resolve;
    parentPort?.postMessage({ job, grow } satisfies Growth);
  });

async function runJob({ job, accountId, run, bytes, gzip, partOf, isTraced }: Job): Promise<void> {
  const client: Client = { isGone: false, onGrowth: () => {} };
  const spans: ThreadSpan[] | undefined = isTraced ? [] : undefined;
  running.set(job, client);
  let end: JobEnd;
  try {
    const body = {
      bytes: new Uint8Array(bytes),
      gzip,
      grow: (size: number) => growJob(job, client, size),
    };
    const report = await collectSpans(spans, async () => {
      if (partOf === 'commit') {
        const begun = readJson(Buffer.from(bytes).toString()) as Omit<CommitOfPush, 'run'>;
        return commitPush(pool, accountId, { ...begun, run }, deleteGroupResults);
      }
      if (partOf) return storePart(pool, accountId, partOf, body);
      return pushOrganization(pool, accountId, run, body, {
        deleteGroupResults,
        isGone: () => client.isGone,
      });
    });
    end = { job, spans, report: new TextEncoder().encode(JSON.stringify(report ?? null)) };
  } catch (thrown) {
    end = { ...endByError(job, asFault(thrown)), spans };
  }
  running.delete(job);
  if ('report' in end) parentPort?.postMessage(end, [end.report.buffer as ArrayBuffer]);
  else parentPort?.postMessage(end);
}

function endByError(job: number, error: unknown): JobEnd {
  if (error instanceof Fault) {
    const { kind, code, message, details, cause } = error;
    return {
      job,
      fault: { kind, code, message, details, ...(cause instanceof Error && { cause: String(cause) }) },
    };
  }
  return { job, defect: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}
