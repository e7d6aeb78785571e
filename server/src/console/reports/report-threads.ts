// Creates report files on a thread, because a few hundred PDFs would block all other requests for seconds. The thread is at most
// one file ahead of the client, so that a slow client doesn't fill the memory.
import { Worker } from 'node:worker_threads';
import { Fault, type FaultKind } from '../../base/errors.ts';
import type { Detail, DetailType } from '@soundings/contract/problem.ts';
import { currentSpan, errorTypeOf } from '../../base/tracing/spans.ts';
import type { AccountId } from '../../db/db.ts';
import { limitConcurrency } from '../../http/concurrency.ts';
import { threadNameOf } from '../../jobs/threads.ts';
import type { Who } from '../core/console.ts';
import type { ReportsWanted } from './read-reports.ts';
import type { ReportFile } from './report-files.ts';

/** What the thread receives. `groupId` undefined: a file for each group that the caller can see. */
export type ReportsWork = {
  databaseUrl: string;
  who: Who;
  groupId: number | undefined;
  wanted: ReportsWanted;
};

/** Message from the thread: a file, the end, or a fault. Other errors end the thread. */
export type ReportsMessage =
  | { file: ReportFile }
  | { end: true }
  | { fault: { kind: FaultKind; code: DetailType; message: string; details: Detail[] } };

/** Message to the thread: a file was taken. */
export const taken = 'taken';

/**
 * Yields report files. Ends its thread when the caller stops reading, or when `gone` aborts, also before its turn. If there is a Fault, throws it
 * before the first file.
 */
export type CreateReports = (
  accountId: AccountId,
  work: Omit<ReportsWork, 'databaseUrl'>,
  gone: AbortSignal,
) => AsyncGenerator<ReportFile>;

/** How many threads run at the same time, in total and for one account. There are few, because each thread uses a processor. */
const [threads, threadsOfAccount] = [2, 1];
const heapMb = 512;
/** The maximum time of a thread, in ms. On a slow machine, 20,000 groups take half of it. */
const longest = 20 * 60_000;

/** `thread` is the module that creates the files. */
export function openReports(thread: URL, databaseUrl: Promise<string>): CreateReports {
  const busy = 'Other reports are being created. Try again in a moment.';
  const slots = limitConcurrency(threads, threadsOfAccount, { queue: 5, late: busy, full: busy });
  return async function* create(accountId, work, gone) {
    const release = await slots.take(accountId, gone);
    try {
      yield* filesFrom(thread, { ...work, databaseUrl: await databaseUrl }, gone);
    } finally {
      release();
    }
  };
}

async function* filesFrom(thread: URL, work: ReportsWork, gone: AbortSignal): AsyncGenerator<ReportFile> {
  const worker = new Worker(thread, {
    workerData: work,
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
  });
  const messages: ReportsMessage[] = [];
  let failure: unknown;
  let wake = () => {};
  const fail = (error: unknown) => {
    failure ??= error;
    wake();
  };
  worker.on('message', (message: ReportsMessage) => {
    messages.push(message);
    wake();
  });
  worker.on('error', fail);
  worker.on('exit', () => fail(new Error('The thread for reports ended early.')));
  const leave = () => fail(gone.reason);
  gone.addEventListener('abort', leave);
  if (gone.aborted) leave();
  const late = setTimeout(() => fail(new Error('Creating the reports took too long.')), longest);
  const span = currentSpan()?.begin({ name: `thread ${threadNameOf(thread)}`, kind: 'internal' });
  try {
    for (;;) {
      const message = messages.shift();
      if (!message) {
        if (failure !== undefined) throw failure;
        await new Promise<void>((resolve) => (wake = resolve));
      } else if ('file' in message) {
        yield message.file;
        worker.postMessage(taken);
      } else if ('end' in message) return;
      else {
        const { kind, code, message: text, details } = message.fault;
        throw new Fault(kind, code, text, { details });
      }
    }
  } finally {
    clearTimeout(late);
    gone.removeEventListener('abort', leave);
    span?.end(failure === undefined ? {} : { attributes: { 'error.type': errorTypeOf(failure) } });
    await worker.terminate();
  }
}
