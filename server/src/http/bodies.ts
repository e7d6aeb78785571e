// Bodies that come whole: how much memory they may take together, and how slowly they may come. Without these limits, clients
// that begin large bodies and never end them fill the memory of the process.
import type { IncomingMessage } from 'node:http';
import { Fault } from '../base/errors.ts';

/** In bytes: of all bodies together, and of those from one source. */
type Room = { total: number; perSource: number };

export type BodyLimits = {
  /** For callers without a token or session. A source is a network. */
  strangers: Room;
  /** For callers with one. A source is an account: two of the largest bodies. */
  callers: Room;
  /** How far a client may fall behind one that sends `bytesPerSecond`, in ms. Time in which we don't read doesn't count. */
  patience: number;
  bytesPerSecond: number;
};

const mb = 1024 * 1024;
export const bodyLimits: BodyLimits = {
  strangers: { total: 64 * mb, perSource: 16 * mb },
  callers: { total: 256 * mb, perSource: 128 * mb },
  patience: 15_000,
  bytesPerSecond: 8 * 1024,
};

/** Who sends a body: a caller by the account, a stranger by the network. */
export type BodySource = { kind: 'strangers' | 'callers'; name: string };

export type Bodies = {
  /**
   * Reads a body whole. Throws a Fault (unavailable) when there is no room for it, and an error with a statusCode: 413 when
   * it is larger than `limit`, 408 when it comes too slowly, 400 when it breaks off. Its bytes count until `release`.
   */
  read(request: IncomingMessage, limit: number, source: BodySource): Promise<Buffer>;
  /** Watches how fast the body of a request comes, whoever reads it. A client that is too slow is disconnected. */
  watch(request: IncomingMessage): void;
  /** The response to a request has ended. */
  release(request: IncomingMessage): void;
  /** Stops watching. */
  close(): void;
};

/** A body that is read. `fail`: ends the reading; undefined when it has come whole. */
type Body = { source: string; held: number; fail: ((error: Error) => void) | undefined };

/** How many times we check within `patience`. */
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
      const body: Body = { source: name, held: 0, fail: undefined };
      const reading = readWhole(request, { announced, limit, body, take: (bytes) => room.take(body, bytes) });
      room.enter(body);
      read.set(request, { body, leave: () => room.leave(body) });
      // What could not be read counts no longer, even before its response has ended.
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

/** Reads into one buffer: a list of thousands of small pieces would take many times their bytes. */
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
    // The system gives a large buffer memory only as it is filled.
    let bytes = Buffer.allocUnsafeSlow(Number.isNaN(announced) ? Math.min(limit, 4096) : announced);
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

/**
 * Room for so many bytes. When it is full, it is the source with most that has to give: its largest body that has not come
 * whole is refused. So no source can take all of it from the others.
 */
function openRoom({ total, perSource }: Room) {
  const bodies = new Set<Body>();
  let all = 0;

  function heldBySource(): Map<string, number> {
    const held = new Map<string, number>();
    for (const body of bodies) held.set(body.source, (held.get(body.source) ?? 0) + body.held);
    return held;
  }

  function leave(body: Body): void {
    if (!bodies.delete(body)) return;
    all -= body.held;
  }

  /** The body that has to give way to one of a source, if there is any. */
  function nextToGo(source: string): Body | undefined {
    const held = heldBySource();
    const weigh = (body: Body) => held.get(body.source) as number;
    const [first] = [...bodies]
      .filter((body) => body.fail !== undefined && weigh(body) > (held.get(source) ?? 0))
      .toSorted((a, b) => weigh(b) - weigh(a) || b.held - a.held);
    return first;
  }

  return {
    enter: (body: Body) => void bodies.add(body),
    leave,
    take(body: Body, bytes: number): void {
      // Only large amounts are worth adding up, and no source can have too much before there is much.
      if (all + bytes > perSource && (heldBySource().get(body.source) ?? 0) + bytes > perSource)
        throw tooMuch();
      while (all + bytes > total) {
        const victim = nextToGo(body.source);
        if (!victim) throw tooMuch();
        victim.fail?.(tooMuch());
        leave(victim);
      }
      body.held += bytes;
      all += bytes;
    },
  };
}

const tooMuch = () =>
  new Fault('unavailable', 'unavailable', 'Too many large requests are running. Try again in a moment.');

const httpError = (statusCode: 400 | 408 | 413) => Object.assign(new Error('body'), { statusCode });

/** Ends what comes too slowly. `failOf`: how a reader is told of it, who then responds. */
function watchPace(
  { patience, bytesPerSecond }: BodyLimits,
  failOf: (request: IncomingMessage) => ((error: Error) => void) | undefined,
) {
  const watched = new Map<IncomingMessage, { received: number; behind: number }>();
  let checkedAt = performance.now();
  const timer = setInterval(() => {
    const passed = performance.now() - checkedAt;
    checkedAt += passed;
    // If this process was stopped or busy, the clients are not to blame.
    for (const [request, pace] of watched) check(request, pace, Math.min(passed, (2 * patience) / checks));
  }, patience / checks).unref();

  function check(request: IncomingMessage, pace: { received: number; behind: number }, passed: number): void {
    if (request.complete || request.socket.destroyed) return void watched.delete(request);
    const received = request.socket.bytesRead;
    const due = passed - ((received - pace.received) / bytesPerSecond) * 1000;
    pace.received = received;
    pace.behind = request.readableLength > 0 ? 0 : Math.max(0, pace.behind + due);
    if (pace.behind < patience) return;
    watched.delete(request);
    const fail = failOf(request);
    if (fail) fail(httpError(408));
    else request.socket.destroy();
  }

  return {
    watch: (request: IncomingMessage) =>
      void watched.set(request, { received: request.socket.bytesRead, behind: 0 }),
    /** A body that no one reads, as after a refusal, is watched on: it keeps the connection. */
    release: (request: IncomingMessage) => void (request.complete && watched.delete(request)),
    close: () => clearInterval(timer),
  };
}
