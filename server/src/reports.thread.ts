// The thread for reports: creates the PDFs of one request, two ahead of what the service has sent.
import { on } from 'node:events';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { Fault } from './base/errors.ts';
import { asFault, openPool, retryLostConnections } from './db/db.ts';
import { readReports } from './console/reports/read-reports.ts';
import { reportFile, reportFiles, type ReportFile } from './console/reports/report-files.ts';
import type { ReportsMessage, ReportsWork } from './console/reports/report-threads.ts';

const { databaseUrl, who, groupId, wanted } = workerData as ReportsWork;
const port = parentPort as MessagePort;
const send = (message: ReportsMessage) => port.postMessage(message);
retryLostConnections(() => {});
const pool = openPool(databaseUrl, 3);
const ahead = 2;

async function* files(): AsyncGenerator<ReportFile> {
  const { language } = wanted;
  if (groupId === undefined) return yield* reportFiles(readReports(pool, who, undefined, wanted), language);
  for await (const report of readReports(pool, who, [groupId], wanted)) yield reportFile(report, language);
}

try {
  const taken = on(port, 'message');
  let sent = 0;
  for await (const file of files()) {
    if (++sent > ahead) await taken.next();
    send({ file });
  }
  send({ end: true });
} catch (thrown) {
  const error = asFault(thrown);
  if (!(error instanceof Fault)) throw error;
  const { kind, code, message, details } = error;
  send({ fault: { kind, code, message, details } });
} finally {
  await pool.end({ timeout: 5 });
  port.close();
}
