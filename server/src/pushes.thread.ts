// The thread for organization requests. It gets one request of an account at a time (sync/pushes.ts).
import { parentPort, workerData } from 'node:worker_threads';
import { readJson } from './base/json/escaped-keys.ts';
import { Fault } from './base/errors.ts';
import { collectSpans, type ThreadSpan } from './base/tracing/thread-spans.ts';
import { asFault, forWholeLists, openPool, retryLostConnections } from './db/db.ts';
import { deleteGroupResults } from './results/published-figures.ts';
import type { Gone, Job, JobEnd } from './sync/pushes.ts';
import type { CommitOfPush } from './sync/parts/commit-scene.ts';
import { commitPush } from './sync/parts/commit.ts';
import { storePart } from './sync/parts/store-part.ts';
import { pushOrganization } from './sync/push.ts';

const pool = openPool((workerData as { databaseUrl: string }).databaseUrl, 8, forWholeLists);
retryLostConnections(() => {});
const running = new Map<number, { isGone: boolean }>();

parentPort?.on('message', (message: Job | Gone) => {
  if (!('gone' in message)) return void runJob(message);
  const one = running.get(message.gone);
  if (one) one.isGone = true;
});

async function runJob({ job, accountId, run, bytes, gzip, partOf, isTraced }: Job): Promise<void> {
  const client = { isGone: false };
  const spans: ThreadSpan[] | undefined = isTraced ? [] : undefined;
  running.set(job, client);
  let end: JobEnd;
  try {
    const body = { bytes: new Uint8Array(bytes), gzip };
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
