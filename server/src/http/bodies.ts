// Reads whole request bodies, with limits on their total memory and on how slowly they may arrive. Without these limits, clients
// that start large bodies and never finish them could fill the memory of the process.
import type { IncomingMessage } from 'node:http';
import { Fault } from '../base/errors.ts';

/** Limits in bytes: for all bodies together, and for the bodies from one source. */
type Room = { total: number; perSource: number };

export type BodyLimits = {
  /** For callers without a token or session. A source is a network. */
  strangers: Room;
  /** For callers with a token or session. A source is an account, which can send two bodies of the maximum size. */
  callers: Room;
  /** How far a client may fall behind `bytesPerSecond`, in milliseconds. Time in which we don't read doesn't count. */
  timeout: number;
  bytesPerSecond: number;
};

const mb = 1024 * 1024;
export const bodyLimits: BodyLimits = {
  strangers: { total: 64 * mb, perSource: 16 * mb },
  callers: { total: 256 * mb, perSource: 128 * mb },
  timeout: 15_000,
  bytesPerSecond: 8 * 1024,
};

/** The sender of a body: an account for callers with a token or session, otherwise a network. */
export type BodySource = { kind: 'strangers' | 'callers'; name: string };

export type Bodies = {
  /**
   * Reads a whole body. Throws a Fault (unavailable) if there is no memory for it, or an error with a statusCode: 413 if it is larger
   * than `limit`, 408 if it arrives too slowly, 400 if it is interrupted. Its bytes count until `release`.
   */
  read(request: IncomingMessage, limit: number, source: BodySource): Promise<Buffer>;
  /** Watches how fast the body of a request arrives, even if another reader reads it. Disconnects clients that are too slow. */
  watch(request: IncomingMessage): void;
  /** Call it when the response to a request has ended. */
  release(request: IncomingMessage): void;
  /** Stops watching. */
  close(): void;
};

/** A body that is being read. `fail`: stops reading; undefined once the body is complete. */
type Body = { source: string; buffered: number; fail: ((error: Error) => void) | undefined };

/** The number of checks within `timeout`. */
const checks = 12;

export function openBodies(limits: BodyLimits): Bodies {
  const rooms = { strangers: openRoom(limits.strangers), callers: openRoom(limits.callers) };
  const read = new Map<IncomingMessage, { body: Body; leave: () => void }>();
  const pace = watchPace(limits, (request) => read.get(request)?.body.fail);

  return {
    read(request, limit, { kind, name }) {
      const announced = Number(request.headers['content-length'] ?? Number.NaN);
      if (announced > limit) return Promise.reject(httpError(413));
      const room = rooms[kind];
      const body: Body = { source: name, buffered: 0, fail: undefined };
      const reading = readWhole(request, { announced, limit, body, take: (bytes) => room.take(body, bytes) });
      room.enter(body);
      read.set(request, { body, leave: () => room.leave(body) });
      // A body that could not be read stops counting immediately, before its response has ended.
      reading.catch(() => room.leave(body));
      return reading;
    },
    watch: pace.watch,
    release(request) {
      read.get(request)?.leave();
      read.delete(request);
      pace.release(request);
    },
    close: pace.close,
  };
}

/** Reads a body into one buffer, because a list of thousands of small chunks would take many times the memory. */
function readWhole(
  request: IncomingMessage,
  {
    announced,
    limit,
    body,
    take,
  }: { announced: number; limit: number; body: Body; take: (bytes: number) => void },
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let bytes = bufferFor(Number.isNaN(announced) ? Math.min(limit, 4096) : announced);
    let size = 0;
    function end(settle: () => void): void {
      request.off('data', onData).off('end', onEnd).off('error', onBreak).off('close', onBreak);
      body.fail = undefined;
      settle();
    }
    const fail = (error: Error) =>
      end(() => {
        bytes = Buffer.alloc(0);
        reject(error);
      });
    function onData(chunk: Buffer): void {
      const needed = size + chunk.length;
      if (needed > limit) return fail(httpError(413));
      try {
        take(chunk.length);
      } catch (error) {
        return fail(error as Error);
      }
      if (needed > bytes.length) {
        const larger = Buffer.allocUnsafeSlow(Math.min(limit, Math.max(needed, 2 * bytes.length)));
        bytes.copy(larger, 0, 0, size);
        bytes = larger;
      }
      chunk.copy(bytes, size);
      size = needed;
    }
    const onEnd = () => end(() => resolve(bytes.subarray(0, size)));
    const onBreak = () => fail(httpError(400));
    body.fail = fail;
    request.on('data', onData).on('end', onEnd).on('error', onBreak).on('close', onBreak);
  });
}

/** Bodies up to this size share memory with other buffers, because allocating it would take longer than reading them. */
const smallBody = 1024;

/** The operating system allocates the memory of a large buffer only as it is filled. */
const bufferFor = (size: number): Buffer =>
  size <= smallBody ? Buffer.allocUnsafe(size) : Buffer.allocUnsafeSlow(size);

/**
 * Accounts for the memory of bodies. When it is full, the source that uses the most loses its largest incomplete body, so that no
 * source can use up the memory of the others.
 */
function openRoom({ total, perSource }: Room) {
  const bodies = new Set<Body>();
  let all = 0;

  function bufferedBySource(): Map<string, number> {
    const buffered = new Map<string, number>();
    for (const body of bodies) buffered.set(body.source, (buffered.get(body.source) ?? 0) + body.buffered);
    return buffered;
  }

  function leave(body: Body): void {
    if (!bodies.delete(body)) return;
    all -= body.buffered;
  }

  /** Returns the body that must make room for a body of `source`, if any. */
  function nextToGo(source: string): Body | undefined {
    const buffered = bufferedBySource();
    const weigh = (body: Body) => buffered.get(body.source) as number;
    const [first] = [...bodies]
      .filter((body) => body.fail !== undefined && weigh(body) > (buffered.get(source) ?? 0))
      .toSorted((a, b) => weigh(b) - weigh(a) || b.buffered - a.buffered);
    return first;
  }

  return {
    enter: (body: Body) => void bodies.add(body),
    leave,
    take(body: Body, bytes: number): void {
      // Adding up per source is only needed once the total could exceed the limit of one source.
      if (all + bytes > perSource && (bufferedBySource().get(body.source) ?? 0) + bytes > perSource)
        throw tooManyLarge();
      while (all + bytes > total) {
        const victim = nextToGo(body.source);
        if (!victim) throw tooManyLarge();
        victim.fail?.(tooManyLarge());
        leave(victim);
      }
      body.buffered += bytes;
      all += bytes;
    },
  };
}

/** Returns the Fault for a request whose body would take more memory than is left. */
export const tooManyLarge = (): Fault =>
  new Fault(
    'unavailable',
    'unavailable',
    'Too many large requests are being processed. Try again in a moment.',
  );

const httpError = (statusCode: 400 | 408 | 413) => Object.assign(new Error('body'), { statusCode });

/**
 * Ends bodies that arrive too slowly. `failOf` returns the function that stops the reader of a body with an error. The
 * reader then sends a response.
 */
function watchPace(
  { timeout, bytesPerSecond }: BodyLimits,
  failOf: (request: IncomingMessage) => ((error: Error) => void) | undefined,
) {
  const watched = new Map<IncomingMessage, { received: number; behind: number }>();
  let checkedAt = performance.now();
  const timer = setInterval(() => {
    const passed = performance.now() - checkedAt;
    checkedAt += passed;
    // If this process was paused or busy, that time doesn't count against the clients.
    for (const [request, pace] of watched) check(request, pace, Math.min(passed, (2 * timeout) / checks));
  }, timeout / checks).unref();

  function check(request: IncomingMessage, pace: { received: number; behind: number }, passed: number): void {
    if (request.complete || request.socket.destroyed) return void watched.delete(request);
    const received = request.socket.bytesRead;
    const due = passed - ((received - pace.received) / bytesPerSecond) * 1000;
    pace.received = received;
    pace.behind = request.readableLength > 0 ? 0 : Math.max(0, pace.behind + due);
    if (pace.behind < timeout) return;
    watched.delete(request);
    const fail = failOf(request);
    if (fail) fail(httpError(408));
    else request.socket.destroy();
  }

  return {
    watch: (request: IncomingMessage) =>
      void watched.set(request, { received: request.socket.bytesRead, behind: 0 }),
    /** An incomplete body that no one reads, such as after an error, is still watched, because it keeps the connection open. */
    release: (request: IncomingMessage) => void (request.complete && watched.delete(request)),
    close: () => clearInterval(timer),
  };
}
