// Runs organization requests on threads of their own: parsing and planning 20,000 users takes a good part of a second, in
// which no other request would be answered. Those of one account run one after another; a large one of one account does
// not hold up the others.
import { maxOrganizationBodyBytes } from '@soundings/contract/limits.ts';
import type { DetailType, Detail } from '@soundings/contract/problem.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { Fault, type FaultKind } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { AccountId } from '../db/db.ts';
import { openSlots } from '../http/slots.ts';
import type { RunStart } from './sync.ts';

/** To the thread: one request. The bytes are handed over, not copied. */
export type Job = { job: number; accountId: AccountId; run: RunStart; bytes: ArrayBuffer; gzip: boolean };

/** To the thread: the client of a job has gone. Unless its changes have begun, nothing of it is applied. */
export type Gone = { gone: number };

/** From the thread: the report as JSON bytes, a fault, or what is wrong with us. */
export type JobEnd =
  | { job: number; report: Uint8Array }
  | {
      job: number;
      fault: { kind: FaultKind; code: DetailType; message: string; details: Detail[]; cause?: string };
    }
  | { job: number; defect: string };

export type SentPush = { run: RunStart; bytes: Uint8Array; gzip: boolean };

export type Pushes = {
  /**
   * Returns the report as JSON bytes, or throws the Fault. Once `gone` is aborted, a request whose changes have not begun
   * is not applied.
   */
  push(accountId: AccountId, sent: SentPush, gone: AbortSignal): Promise<Uint8Array>;
  /** Waits for what is running, at most `seconds`, then ends the threads; what they had begun is not applied. */
  close(seconds: number): Promise<void>;
};

export type PushLimits = {
  /** How many requests run at once: each uses a connection to the database. */
  running: number;
  /** How many requests of an account may wait for the one that runs, and how long, in ms. */
  waiting: number;
  patience: number;
  /** The bodies that may be here at once, and those of one account. */
  bytes: number;
  bytesOfAccount: number;
};

const usual: PushLimits = {
  running: 8,
  waiting: 10,
  patience: 60_000,
  bytes: 256 * 1024 * 1024,
  bytesOfAccount: 128 * 1024 * 1024,
};

/** `thread`: the module that carries requests out, given the database's address as `workerData`. */
export function openPushes(thread: URL, databaseUrl: string, log: Log, limits: PushLimits = usual): Pushes {
  const here = new Map<number, { accountId: AccountId; size: number }>();
  let pushes = 0;
  let onIdle = () => {};
  // While one thread computes for long, the requests of other accounts go to the other one.
  const lanes = [openLane(thread, databaseUrl, log), openLane(thread, databaseUrl, log)] as const;
  const slots = openSlots(limits.running, 1, {
    patience: limits.patience,
    queue: limits.waiting,
    late: 'Other changes of the account took too long. This request was not started, and nothing of it was applied. Try again.',
    full: `The account has ${limits.waiting} organization requests waiting already. Wait for their responses before you send more.`,
  });
  lanes[0].start(); // the first push does not wait for it

  function admit(accountId: AccountId, size: number): () => void {
    const sum = (some: { size: number }[]) => some.reduce((total, one) => total + one.size, size);
    const own = [...here.values()].filter((one) => one.accountId === accountId);
    if (sum([...here.values()]) > limits.bytes || sum(own) > limits.bytesOfAccount) {
      throw new Fault(
        'unavailable',
        'unavailable',
        'Too many large requests are running. Try again in a moment.',
      );
    }
    const one = ++pushes;
    here.set(one, { accountId, size });
    return () => {
      here.delete(one);
      if (here.size === 0) onIdle();
    };
  }

  return {
    async push(accountId, sent, gone) {
      const leave = admit(accountId, sent.bytes.byteLength);
      const note = () =>
        log.info({ requestId: sent.run.id }, 'A client left: unless its changes have begun, none is applied');
      gone.addEventListener('abort', note);
      try {
        const release = await slots.take(accountId, gone);
        try {
          const [first, second] = lanes;
          const lane = first.load() < lightBytes || first.load() <= second.load() ? first : second;
          return await lane.run(accountId, sent, gone);
        } finally {
          release();
        }
      } catch (error) {
        throw gone.aborted ? clientGone(error) : error;
      } finally {
        gone.removeEventListener('abort', note);
        leave();
      }
    },

    async close(seconds) {
      if (here.size > 0) {
        const idle = new Promise<void>((resolve) => (onIdle = resolve));
        await Promise.race([idle, sleep(seconds * 1000, undefined, { ref: false })]);
      }
      await Promise.all(lanes.map((lane) => lane.stop()));
    },
  };
}

/** Nobody reads it: it is for the log. */
const clientGone = (cause: unknown) =>
  new Fault('unavailable', 'unavailable', 'The client left before its request was applied.', { cause });

/** Without work for so long, a thread ends and gives its memory back; the next push starts another. */
const restSeconds = 60;

/** Room for the young: of a large request much is made at once, and kept until it has been answered. */
const resourceLimits = { maxYoungGenerationSizeMb: 48 };

/** Up to so many bytes a thread is soon done: starting another would take longer. */
const lightBytes = 1024 * 1024;

/** How many bytes gzip makes of one, at most (RFC 1951: 258 of two bits). */
const gzipRatio = 1032;

type Waiting = {
  on: Worker;
  resolve: (report: Uint8Array) => void;
  reject: (error: unknown) => void;
  load: number;
};

/** A thread that is started when there is work, and what runs on it. */
function openLane(thread: URL, databaseUrl: string, log: Log) {
  const waiting = new Map<number, Waiting>();
  let jobs = 0;
  let worker: Worker | undefined;
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
    // It ends by itself only when it has run out of memory or by a defect: who waits is told, the next push starts another.
    started.on('error', (error) => log.error({ err: error }, 'The thread of organization requests failed'));
    started.on('exit', () => {
      if (worker === started) worker = undefined;
      for (const [job, one] of waiting) {
        if (one.on !== started) continue;
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
    if (waiting.size === 0) resting = setTimeout(() => void stop(), restSeconds * 1000).unref();
  }

  async function stop(): Promise<void> {
    clearTimeout(resting);
    const last = worker;
    worker = undefined;
    await last?.terminate();
  }

  return {
    start(): void {
      worker ??= startWorker();
    },
    /** About how many bytes it works on. */
    load: () => waiting.values().reduce((sum, { load }) => sum + load, 0),
    run(accountId: AccountId, { run, bytes: body, gzip }: SentPush, gone: AbortSignal): Promise<Uint8Array> {
      clearTimeout(resting);
      const on = (worker ??= startWorker());
      const job = ++jobs;
      const bytes = new Uint8Array(body).buffer;
      const load = Math.min(body.byteLength * (gzip ? gzipRatio : 1), maxOrganizationBodyBytes);
      const tell = () => on.postMessage({ gone: job } satisfies Gone);
      const result = new Promise<Uint8Array>((resolve, reject) => {
        waiting.set(job, { on, resolve, reject, load });
        on.postMessage({ job, accountId, run, bytes, gzip } satisfies Job, [bytes]);
        gone.addEventListener('abort', tell);
      });
      return result.finally(() => gone.removeEventListener('abort', tell));
    },
    stop,
  };
}

function faultFrom({ kind, code, message, ...more }: Extract<JobEnd, { fault: unknown }>['fault']): Fault {
  return new Fault(kind, code, message, more);
}
