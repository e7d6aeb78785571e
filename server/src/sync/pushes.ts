// Runs organization requests on a thread of their own: parsing and planning 20,000 users takes a good part of a
// second, in which no other request would be answered.
import type { DetailType, Detail } from '@soundings/contract/problem.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { Fault, type FaultKind } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { AccountId } from '../db/db.ts';
import type { RunStart } from './sync.ts';

/** To the thread: one request. The bytes are handed over, not copied. */
export type Job = { job: number; accountId: AccountId; run: RunStart; bytes: ArrayBuffer; gzip: boolean };

/** From the thread: the report as JSON bytes, a fault, or what is wrong with us. */
export type JobEnd =
  | { job: number; report: Uint8Array }
  | { job: number; fault: { kind: FaultKind; code: DetailType; message: string; details: Detail[] } }
  | { job: number; defect: string };

export type Pushes = {
  /** Returns the report as JSON bytes, or throws the Fault. */
  push(accountId: AccountId, run: RunStart, bytes: Uint8Array, gzip: boolean): Promise<Uint8Array>;
  /** Waits for what is running, at most `seconds`, then ends the thread; what it had begun is not applied. */
  close(seconds: number): Promise<void>;
};

/** The bodies that may wait at once: beyond it a push is told to come again. */
const maxWaitingBytes = 256 * 1024 * 1024;

/** Without work for so long, the thread ends and gives its memory back; the next push starts another. */
const restSeconds = 60;

/** Room for the young: of a large request much is made at once, and kept until it has been answered. */
const resourceLimits = { maxYoungGenerationSizeMb: 48 };

type Waiting = { resolve: (report: Uint8Array) => void; reject: (error: unknown) => void; size: number };

/** `thread`: the module that carries requests out, given the database's address as `workerData`. */
export function openPushes(thread: URL, databaseUrl: string, log: Log): Pushes {
  const waiting = new Map<number, Waiting>();
  let jobs = 0;
  let worker: Worker | undefined;
  let onIdle = () => {};
  let resting: NodeJS.Timeout | undefined;

  function startWorker(): Worker {
    const started = new Worker(thread, { workerData: { databaseUrl }, resourceLimits });
    started.on('message', (end: JobEnd) => {
      const one = waiting.get(end.job);
      settle(end.job);
      if ('report' in end) one?.resolve(end.report);
      else if ('fault' in end) one?.reject(faultFrom(end.fault));
      else one?.reject(new Error(end.defect));
    });
    // It ends by itself only when it has run out of memory or by a defect: whoever waits learns, the next push
    // starts another.
    started.on('error', (error) => log.error({ err: error }, 'The thread of organization requests failed'));
    started.on('exit', () => {
      if (worker === started) worker = undefined;
      for (const [job, one] of waiting) {
        settle(job);
        one.reject(
          new Fault('unavailable', 'unavailable', 'The request could not be finished. Nothing was applied.'),
        );
      }
    });
    return started;
  }

  function settle(job: number): void {
    waiting.delete(job);
    if (waiting.size > 0) return;
    onIdle();
    resting = setTimeout(endThread, restSeconds * 1000).unref();
  }

  async function endThread(): Promise<void> {
    const last = worker;
    worker = undefined;
    await last?.terminate();
  }

  worker = startWorker();
  return {
    push(accountId, run, body, gzip) {
      const held = [...waiting.values()].reduce((sum, { size }) => sum + size, 0);
      if (held + body.byteLength > maxWaitingBytes) {
        throw new Fault(
          'unavailable',
          'unavailable',
          'Too many large requests are running. Try again in a moment.',
        );
      }
      clearTimeout(resting);
      worker ??= startWorker();
      const job = ++jobs;
      const bytes = new Uint8Array(body).buffer;
      return new Promise((resolve, reject) => {
        waiting.set(job, { resolve, reject, size: body.byteLength });
        worker?.postMessage({ job, accountId, run, bytes, gzip } satisfies Job, [bytes]);
      });
    },

    async close(seconds) {
      if (waiting.size > 0) {
        const idle = new Promise<void>((resolve) => (onIdle = resolve));
        await Promise.race([idle, sleep(seconds * 1000, undefined, { ref: false })]);
      }
      clearTimeout(resting);
      await endThread();
    },
  };
}

function faultFrom({ kind, code, message, details }: Extract<JobEnd, { fault: unknown }>['fault']): Fault {
  return new Fault(kind, code, message, { details });
}
