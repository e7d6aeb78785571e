// Runs organization requests on separate threads. Parsing and planning 20,000 users takes a large part of a second, which would
// block all other requests. The requests of one account run one after another; a large request of one account does not block
// other accounts.
import { maxOrganizationBodyBytes, maxPartBytes } from '@soundings/contract/limits.ts';
import type { Detail, DetailType } from '@soundings/contract/problem.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { Fault, type FaultKind } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { currentSpan, inSpan, type Span } from '../base/tracing/spans.ts';
import { addSpans, type ThreadSpan } from '../base/tracing/thread-spans.ts';
import type { AccountId } from '../db/db.ts';
import { type AdmissionLimits, type Admitted, openAdmission } from '../http/admission.ts';
import { limitConcurrency } from '../http/concurrency.ts';
import type { RunStart } from './runs.sql.ts';

/** Message to the thread: one request. The bytes are transferred, not copied. `isTraced`: the thread returns the spans of its work. */
export type Job = {
  job: number;
  accountId: AccountId;
  run: RunStart;
  bytes: ArrayBuffer;
  gzip: boolean;
  /** What to do, if it is not a request with whole lists. */
  partOf?: PartOf | undefined;
  isTraced: boolean;
};

/** Message to the thread: the client has disconnected. Nothing is applied unless the job has already begun its changes. */
export type Gone = { gone: number };

/**
 * Message from the thread: a job has decompressed this many bytes of its body so far. The message back says whether there is memory for
 * them. If not, the job ends.
 */
export type Growth = { job: number; grow: number };
export type GrowthEnd = { grown: number; isGranted: boolean };

/** Message from the thread: the report as JSON bytes, a fault, or the text of an unexpected error; and its spans, if it is traced. */
export type JobEnd = { spans?: ThreadSpan[] | undefined } & (
  | { job: number; report: Uint8Array }
  | {
      job: number;
      fault: { kind: FaultKind; code: DetailType; message: string; details: Detail[]; cause?: string };
    }
  | { job: number; defect: string }
);

/** A part of a push to store, or the commit of a push, whose bytes are the result of `beginCommit`. */
export type PartOf = { pushId: string; part: number } | 'commit';

export type SentPush = { run: RunStart; bytes: Uint8Array; gzip: boolean; partOf?: PartOf };

export type Pushes = {
  /**
   * Returns the report as JSON bytes, or throws the Fault. After `gone` aborts, a request is not applied unless its changes
   * have already begun.
   */
  push(accountId: AccountId, sent: SentPush, gone: AbortSignal): Promise<Uint8Array>;
  /** Waits up to `seconds` for running requests, then ends the threads. Unfinished requests are not applied. */
  close(seconds: number): Promise<void>;
};

export type PushLimits = AdmissionLimits & {
  /** How many requests run at the same time. Each uses a database connection. */
  running: number;
  /** How many requests of an account may wait for the one that runs, and for how long, in milliseconds. */
  waiting: number;
  timeout: number;
  /** How many commits of pushes in parts run at the same time. They take minutes, and are not counted in `running`. */
  commits: number;
};

const usual: PushLimits = {
  running: 8,
  waiting: 10,
  timeout: 60_000,
  commits: 2,
  bytes: 256 * 1024 * 1024,
  bytesOfAccount: 128 * 1024 * 1024,
};

/**
 * Runs requests on threads, which start with the first request. `thread`: the module that runs requests; it receives the database
 * URL as `workerData`.
 */
export function openPushes(thread: URL, databaseUrl: string, log: Log, limits: PushLimits = usual): Pushes {
  const admission = openAdmission(limits);
  // Two threads, so that while one is busy with a large request, other accounts can use the second one.
  const lanes = [openLane(thread, databaseUrl, log), openLane(thread, databaseUrl, log)] as const;
  const requests = limitRequests(limits);
  const commits = limitCommits(limits);

  return {
    async push(accountId, sent, gone) {
      const isCommit = sent.partOf === 'commit';
      const size = isCommit ? maxPartBytes : sent.bytes.byteLength;
      const ended = new AbortController();
      // A commit has been accepted before, and its parts are not in memory: ending it would help no one.
      const end = isCommit ? undefined : (fault: Fault) => ended.abort(fault);
      const { begin, grow, leave } = admission.admit(accountId, size, end);
      const note = () =>
        log.info(
          { requestId: sent.run.id },
          'A client disconnected. Its request is not applied unless its changes have already begun',
        );
      gone.addEventListener('abort', note);
      try {
        const signal = AbortSignal.any([gone, ended.signal]);
        const release = await (isCommit ? commits : requests).take(accountId, signal);
        begin();
        try {
          const [first, second] = lanes;
          const lane = first.load() < lightBytes || first.load() <= second.load() ? first : second;
          return await inSpan({ name: 'thread pushes', kind: 'internal' }, () =>
            lane.run(accountId, { ...sent, grow }, gone),
          );
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
      await Promise.race([admission.idle(), sleep(seconds * 1000, undefined, { ref: false })]);
      await Promise.all(lanes.map((lane) => lane.stop()));
    },
  };
}

const limitRequests = ({ running, waiting, timeout }: PushLimits) =>
  limitConcurrency(running, 1, {
    timeout,
    queue: waiting,
    late: 'Timed out waiting for other changes to this account. This request was not started and nothing was applied. Try again.',
    full: `This account already has ${waiting} organization requests waiting. Wait for their responses before you send more.`,
  });

const limitCommits = ({ commits, timeout }: PushLimits) =>
  limitConcurrency(commits, 1, {
    timeout,
    late: 'Timed out waiting for the commits of other accounts. Nothing was applied. Commit the push again in a few minutes.',
  });

/** Returns the fault for a client that disconnected. Only the log sees it. */
const clientGone = (cause: unknown) =>
  new Fault('unavailable', 'unavailable', 'The client disconnected before its request was applied.', {
    cause,
  });

/** A thread ends after this many seconds without work, to free its memory. The next push starts a new one. */
const idleSeconds = 60;

/** A larger young generation: a large request allocates many objects at the same time and keeps them until its response is sent. */
const resourceLimits = { maxYoungGenerationSizeMb: 48 };

/** Below this load, it is faster to wait for a thread than to start another one. */
const lightBytes = 1024 * 1024;

/** The maximum compression ratio of gzip (RFC 1951: 258 bytes from two bits). */
const gzipRatio = 1032;

type Growing = Pick<Admitted, 'grow'>;

type Waiting = Growing & {
  on: Worker;
  resolve: (report: Uint8Array) => void;
  reject: (error: unknown) => void;
  load: number;
  span: Span | undefined;
  sentAt: number;
};

function growJob(on: Worker, one: Growing | undefined, { job, grow }: Growth): void {
  const isGranted = one?.grow(grow) ?? false;
  on.postMessage({ grown: job, isGranted } satisfies GrowthEnd);
}

function endJob({ resolve, reject, span, sentAt }: Waiting, end: JobEnd): void {
  if (span && end.spans) addSpans(span, end.spans, sentAt);
  if ('report' in end) resolve(end.report);
  else if ('fault' in end) reject(faultFrom(end.fault));
  else reject(new Error(end.defect));
}

/** Returns roughly how many bytes of lists a job works on. A commit has none in its body, but as much work as any request. */
const loadOf = (size: number, gzip: boolean, partOf: PartOf | undefined) =>
  partOf === 'commit'
    ? maxOrganizationBodyBytes
    : Math.min(size * (gzip ? gzipRatio : 1), maxOrganizationBodyBytes);

/** Returns the memory of a body, which the body loses when a thread gets it. Memory that others may use is copied. */
const transferable = (body: Uint8Array): ArrayBuffer =>
  body.buffer instanceof ArrayBuffer && body.byteLength === body.buffer.byteLength
    ? body.buffer
    : new Uint8Array(body).buffer;

/** Manages one thread, which is started when there is work, and the jobs that run on it. */
function openLane(thread: URL, databaseUrl: string, log: Log) {
  const waiting = new Map<number, Waiting>();
  let jobs = 0;
  let worker: Worker | undefined;
  let idleTimer: NodeJS.Timeout | undefined;

  function startWorker(): Worker {
    const started = new Worker(thread, { workerData: { databaseUrl }, resourceLimits });
    started.on('message', (message: JobEnd | Growth) => {
      const one = waiting.get(message.job);
      if ('grow' in message) return growJob(started, one, message);
      settle(message.job);
      if (one) endJob(one, message);
    });
    // A thread ends by itself only if it runs out of memory or has a bug. Its jobs are rejected; the next push starts a new thread.
    started.on('error', (error) =>
      log.error({ err: error }, 'A thread for organization requests failed unexpectedly'),
    );
    started.on('exit', () => {
      if (worker === started) worker = undefined;
      for (const [job, one] of waiting) {
        if (one.on !== started) continue;
        settle(job);
        one.reject(
          new Fault(
            'unavailable',
            'unavailable',
            'The request could not be completed. Nothing was applied. Try again.',
          ),
        );
      }
    });
    return started;
  }

  function settle(job: number): void {
    waiting.delete(job);
    if (waiting.size === 0) idleTimer = setTimeout(() => void stop(), idleSeconds * 1000).unref();
  }

  async function stop(): Promise<void> {
    clearTimeout(idleTimer);
    const last = worker;
    worker = undefined;
    await last?.terminate();
  }

  return {
    /** Returns roughly how many bytes the thread is working on. */
    load: () => waiting.values().reduce((sum, { load }) => sum + load, 0),
    run(accountId: AccountId, sent: SentPush & Growing, gone: AbortSignal): Promise<Uint8Array> {
      const { run, bytes: body, gzip, partOf, grow } = sent;
      clearTimeout(idleTimer);
      const on = (worker ??= startWorker());
      const job = ++jobs;
      const bytes = transferable(body);
      const load = loadOf(body.byteLength, gzip, partOf);
      const [span, isTraced] = [currentSpan(), currentSpan() !== undefined];
      const notifyGone = () => on.postMessage({ gone: job } satisfies Gone);
      const result = new Promise<Uint8Array>((resolve, reject) => {
        waiting.set(job, { on, resolve, reject, load, grow, span, sentAt: span?.now() ?? 0 });
        on.postMessage({ job, accountId, run, bytes, gzip, partOf, isTraced } satisfies Job, [bytes]);
        gone.addEventListener('abort', notifyGone);
      });
      return result.finally(() => gone.removeEventListener('abort', notifyGone));
    },
    stop,
  };
}

function faultFrom({ kind, code, message, ...more }: Extract<JobEnd, { fault: unknown }>['fault']): Fault {
  return new Fault(kind, code, message, more);
}
