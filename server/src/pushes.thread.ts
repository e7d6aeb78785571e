// The thread of organization requests. Requests of one account wait for each other here, before they take a
// connection; those of different accounts do not.
import { parentPort, workerData } from 'node:worker_threads';
import { Fault } from './base/errors.ts';
import { asFault, forWholeLists, openPool, surviveLostConnections } from './db/db.ts';
import { forgetGroups } from './results/publish.ts';
import type { Job, JobEnd } from './sync/pushes.ts';
import { pushOrganization } from './sync/sync.ts';

const pool = openPool((workerData as { databaseUrl: string }).databaseUrl, 8, forWholeLists);
surviveLostConnections(() => {});
const lastOf = new Map<number, Promise<void>>();

parentPort?.on('message', (job: Job) => {
  const before = lastOf.get(job.accountId) ?? Promise.resolve();
  const done = before.then(() => carryOut(job));
  lastOf.set(job.accountId, done);
  void done.then(() => {
    if (lastOf.get(job.accountId) === done) lastOf.delete(job.accountId);
  });
});

async function carryOut({ job, accountId, run, bytes, gzip }: Job): Promise<void> {
  let end: JobEnd;
  try {
    const body = { bytes: new Uint8Array(bytes), gzip };
    const report = await pushOrganization(pool, accountId, run, body, forgetGroups);
    end = { job, report: new TextEncoder().encode(JSON.stringify(report)) };
  } catch (thrown) {
    end = endByError(job, asFault(thrown));
  }
  if ('report' in end) parentPort?.postMessage(end, [end.report.buffer as ArrayBuffer]);
  else parentPort?.postMessage(end);
}

function endByError(job: number, error: unknown): JobEnd {
  if (error instanceof Fault) {
    const { kind, code, message, details } = error;
    return { job, fault: { kind, code, message, details } };
  }
  return { job, defect: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}
