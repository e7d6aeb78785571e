// Cuts off clients that do not read what they asked for. An unread response keeps a socket and memory, and a long one also a
// connection to the database with its snapshot, which keeps PostgreSQL from cleaning up rows that are deleted meanwhile.
//
// The socket's own timeout is not enough: it starts again with every byte, even one that the client sends. So we count the
// bytes that the operating system has taken from us, and watch the clock ourselves.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How fast a client must read, in bytes a second, unless `require` sets another rate. */
const leastBytesPerSecond = 256;

/** How many times we check within `patience`. */
const checks = 12;

export type Readers = {
  /** Watches a response until it has ended. `onCut` is called just before the connection is cut. */
  watch(response: ServerResponse, socket: Socket, onCut: () => void): void;
  /** Sets how fast the client of a watched response must read, in bytes a second. */
  require(response: ServerResponse, bytesPerSecond: number): void;
  /** Stops watching. */
  close(): void;
};

type Watch = {
  socket: Socket;
  onCut: () => void;
  bytesPerSecond: number;
  /** Returns the bytes taken so far. Undefined: an earlier response of the connection has not ended. */
  meter: (() => number) | undefined;
  taken: number;
  /** How far the client is behind one that reads `bytesPerSecond`, in ms. */
  behind: number;
};

/**
 * `patience`: how far, in ms, a client may fall behind one that reads at the required rate. Time in which there is nothing
 * to read does not count. A client that reads nothing is cut after `patience`; one that reads at half the rate, after twice
 * as long.
 */
export function watchReaders(patience: number): Readers {
  const watches = new Map<ServerResponse, Watch>();
  let checkedAt = performance.now();
  const timer = setInterval(() => {
    const passed = performance.now() - checkedAt;
    checkedAt += passed;
    // If this process was stopped or busy, the clients are not to blame.
    for (const [response, watch] of watches)
      check(response, watch, Math.min(passed, (2 * patience) / checks));
  }, patience / checks).unref();

  function check(response: ServerResponse, watch: Watch, passed: number): void {
    if (!watch.meter) return;
    const taken = watch.meter();
    const due = passed - ((taken - watch.taken) / watch.bytesPerSecond) * 1000;
    watch.taken = taken;
    watch.behind = watch.socket.writableLength === 0 ? 0 : Math.max(0, watch.behind + due);
    if (watch.behind < patience) return;
    watches.delete(response);
    watch.onCut();
    cut(watch.socket);
  }

  return {
    watch(response, socket, onCut) {
      const watch: Watch = {
        socket,
        onCut,
        bytesPerSecond: leastBytesPerSecond,
        meter: undefined,
        taken: 0,
        behind: 0,
      };
      const begin = () => {
        watch.meter = meterOf(socket);
        watch.taken = watch.meter();
      };
      if (response.socket) begin();
      else response.once('socket', begin);
      watches.set(response, watch);
      const forget = () => {
        watches.delete(response);
        socket.off('close', forget); // or a connection that goes on would keep all of its responses
      };
      response.once('close', forget);
      if (!response.socket) socket.once('close', forget); // a response that never had its turn is never closed
    },
    require(response, bytesPerSecond) {
      const watch = watches.get(response);
      if (watch) watch.bytesPerSecond = bytesPerSecond;
    },
    close: () => clearInterval(timer),
  };
}

/** Resets the connection if it can: otherwise the operating system would keep what was not read for minutes. */
function cut(socket: Socket): void {
  if ('encrypted' in socket) socket.destroy();
  else socket.resetAndDestroy();
}

/**
 * Returns a function that returns the number of bytes taken by the operating system. Node counts a write when all of it is
 * taken; of the current one, the handle knows what is left, which Node's own timeout uses as well.
 */
function meterOf(socket: Socket): () => number {
  const { _handle: handle } = socket as unknown as { _handle?: { writeQueueSize?: number } | null };
  let [whole, part, left] = [0, 0, 0];
  return () => {
    const written = socket.bytesWritten - socket.writableLength;
    const queue = handle?.writeQueueSize ?? 0;
    if (written === whole) part += Math.max(0, left - queue);
    else [whole, part] = [written, 0];
    left = queue;
    return whole + part;
  };
}
