// Runs long computations on a separate thread. On the main thread they would block all requests.
import { basename } from 'node:path';
import { parentPort, Worker } from 'node:worker_threads';
import { Fault } from '../base/errors.ts';
import { currentSpan, inSpan } from '../base/tracing/spans.ts';
import { addSpans, collectSpans, type ThreadSpan } from '../base/tracing/thread-spans.ts';
import { tracedThreads } from '../base/tracing/what-is-traced.ts';

/**
 * The limits of a computation. A missing value means no limit. `isKept`: false if the thread must end after its work, because it has
 * secrets in its memory.
 */
export type ThreadLimits = { heapMb?: number; milliseconds?: number; isKept?: boolean };

/** The limits of a computation whose result a request waits for. */
export const computationLimits: ThreadLimits = { heapMb: 512, milliseconds: 60_000 };

/** A thread was ended because it took too long. */
export class ThreadTimeout extends Error {
  override name = 'ThreadTimeout';
}

/**
 * How long an idle thread is kept, in milliseconds. Starting a thread takes longer than most of what it then computes, but
 * idle threads need memory.
 */
const keptFor = 10_000;
/** Message to a thread. `isTraced`: it returns the spans of its work. */
type Message<Work> = { work: Work; isTraced: boolean };
type Reply<Result> = { result: Result; spans: ThreadSpan[] | undefined };

/** The idle thread of each module with the same limits. */
const idle = new Map<string, { thread: Worker; timer: NodeJS.Timeout }>();

/**
 * On a thread: handles what `runOnThread` sends, and returns the result. `handle` runs once at a time. If it throws, the
 * thread ends.
 */
export function serveThread<Work>(handle: (work: Work) => unknown): void {
  parentPort!.on('message', ({ work, isTraced }: Message<Work>) => {
    void (async () => {
      const spans: ThreadSpan[] | undefined = isTraced ? [] : undefined;
      try {
        const result = await collectSpans(spans, async () => handle(work));
        parentPort!.postMessage({ result, spans } satisfies Reply<unknown>);
      } catch (error) {
        // Outside of the promise, so that the service gets the error with its fields.
        setImmediate(() => {
          throw error;
        });
      }
    })();
  });
}

/**
 * Has a module that calls `serveThread` handle `work` on its own thread: an idle one, or a new one. Resolves to the result.
 * Rejects with the error it threw (a Fault stays a Fault), with a ThreadTimeout if it took too long, or if it ran out of
 * memory or exited. In each of these cases, the thread has ended.
 */
export const runOnThread = <Result = void>(
  module: URL,
  work: unknown,
  limits: ThreadLimits = {},
): Promise<Result> =>
  inSpan({ name: `thread ${threadNameOf(module)}`, kind: 'internal' }, () =>
    onThread<Result>(module, work, limits),
  );

async function onThread<Result>(
  module: URL,
  work: unknown,
  { heapMb, milliseconds, isKept = true }: ThreadLimits,
): Promise<Result> {
  const kind = `${module.href} ${heapMb}`;
  const thread = takeIdle(kind) ?? startThread(module, heapMb);
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  let failure: Error | undefined;
  const stop = () => {
    failure ??= new ThreadTimeout(`${nameOf(module)} took longer than ${milliseconds} ms.`);
    void thread.terminate();
  };
  const late = milliseconds === undefined ? undefined : setTimeout(stop, milliseconds);
  thread.once('error', (error: Error) => (failure ??= error));
  thread.once('exit', (code) => {
    reject(failure ? asThrown(failure) : new Error(`${nameOf(module)} exited with code ${code}.`));
  });
  const span = currentSpan();
  const sentAt = span?.now() ?? 0;
  thread.once('message', ({ result, spans }: Reply<Result>) => {
    if (failure) return;
    if (span && spans) addSpans(span, spans, sentAt);
    removeListeners(thread);
    if (isKept) keepIdle(kind, thread);
    else void thread.terminate();
    resolve(result);
  });
  const isTraced = span !== undefined && tracedThreads.has(threadNameOf(module));
  thread.postMessage({ work, isTraced } satisfies Message<unknown>);
  return promise.finally(() => clearTimeout(late));
}

const startThread = (module: URL, heapMb: number | undefined) =>
  new Worker(module, { resourceLimits: heapMb === undefined ? {} : { maxOldGenerationSizeMb: heapMb } });

function takeIdle(kind: string): Worker | undefined {
  const found = idle.get(kind);
  if (!found) return undefined;
  forget(kind);
  removeListeners(found.thread);
  found.thread.ref();
  return found.thread;
}

/** Keeps a thread for the next time, unless one is kept already. It doesn't keep the process from ending. */
function keepIdle(kind: string, thread: Worker): void {
  const end = () => {
    forget(kind);
    void thread.terminate();
  };
  if (idle.has(kind)) return void thread.terminate();
  idle.set(kind, { thread, timer: setTimeout(end, keptFor).unref() });
  thread.on('error', end);
  thread.on('exit', end);
  thread.unref();
}

/** Removes our listeners. Without names, those of Node for its channel would be removed too. */
function removeListeners(thread: Worker): void {
  for (const event of ['message', 'error', 'exit']) thread.removeAllListeners(event);
}

function forget(kind: string): void {
  clearTimeout(idle.get(kind)?.timer);
  idle.delete(kind);
}

/** Returns an error as it was thrown on the thread. Between threads, a Fault loses its class. */
function asThrown(error: Error): Error {
  if (error.name !== 'Fault') return error;
  const { kind, code, message, details } = error as Fault;
  return new Fault(kind, code, message, { details });
}

/** Returns the name of a thread for error messages: its file, without the folder. */
const nameOf = (module: URL) => `Thread ${basename(module.pathname)}`;

/** Returns the name of a thread, such as "files". */
export const threadNameOf = (module: URL): string => basename(module.pathname).replace(/\..*$/, '');

/**
 * Returns a function that computes what a key stands for, one computation at a time, and keeps the last `mostKept` results. Callers
 * with a key that is being computed get the same result. A failure is not kept.
 */
export function keepResults<Result>(
  mostKept: number,
): (key: string, compute: () => Promise<Result>) => Promise<Result> {
  const kept = new Map<string, Promise<Result>>();
  let last: Promise<unknown> = Promise.resolve();
  return (key, compute) => {
    const known = kept.get(key);
    if (known) return known;
    const result = last.then(compute);
    last = result.catch(() => kept.delete(key));
    kept.set(key, result);
    if (kept.size > mostKept) kept.delete(kept.keys().next().value!);
    return result;
  };
}
