// Disconnects clients that don't read their responses. An unread response keeps a socket and memory, and a streamed one also a
// database connection with its snapshot, which prevents PostgreSQL from cleaning up deleted rows.
//
// The socket's own timeout is not enough, because every byte resets it, even one that the client sends. So this file counts the
// bytes that the operating system has accepted and measures the time itself.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { unsentBytes } from './socket-internals.ts';

/** How fast a client must read, in bytes per second, unless `require` sets another rate. */
const minimumBytesPerSecond = 256;

/** The number of checks within `timeout`. */
const checks = 12;

export type Readers = {
  /** Watches a response until it has ended. Calls `onCut` just before closing the connection. */
  watch(response: ServerResponse, socket: Socket, onCut: () => void): void;
  /** Sets how fast the client of a watched response must read, in bytes per second. */
  require(response: ServerResponse, bytesPerSecond: number): void;
  /** Stops watching. */
  close(): void;
};

type Watch = {
  socket: Socket;
  onCut: () => void;
  bytesPerSecond: number;
  /** Returns the number of bytes sent so far. Undefined while an earlier response of the connection has not ended. */
  meter: (() => number) | undefined;
  taken: number;
  /** How far the client has fallen behind `bytesPerSecond`, in milliseconds. */
  behind: number;
};

/**
 * Starts watching. `timeout`: how far, in milliseconds, a client may fall behind the required rate. Time in which there is nothing
 * to read doesn't count. A client that reads nothing is disconnected after `timeout`, and one that reads at half the rate after
 * twice as long.
 */
export function watchReaders(timeout: number): Readers {
  const watches = new Map<ServerResponse, Watch>();
  let checkedAt = performance.now();
  const timer = setInterval(() => {
    const passed = performance.now() - checkedAt;
    checkedAt += passed;
    // If this process was paused or busy, that time doesn't count against the clients.
    for (const [response, watch] of watches) check(response, watch, Math.min(passed, (2 * timeout) / checks));
  }, timeout / checks).unref();

  function check(response: ServerResponse, watch: Watch, passed: number): void {
    if (!watch.meter) return;
    const taken = watch.meter();
    const due = passed - ((taken - watch.taken) / watch.bytesPerSecond) * 1000;
    watch.taken = taken;
    watch.behind = watch.socket.writableLength === 0 ? 0 : Math.max(0, watch.behind + due);
    if (watch.behind < timeout) return;
    watches.delete(response);
    watch.onCut();
    cut(watch.socket);
  }

  return {
    watch(response, socket, onCut) {
      const watch: Watch = {
        socket,
        onCut,
        bytesPerSecond: minimumBytesPerSecond,
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
        socket.off('close', forget); // otherwise a long-lived connection would keep all of its responses in memory
      };
      response.once('close', forget);
      if (!response.socket) socket.once('close', forget); // a response that never had its turn doesn't emit 'close'
    },
    require(response, bytesPerSecond) {
      const watch = watches.get(response);
      if (watch) watch.bytesPerSecond = bytesPerSecond;
    },
    close: () => clearInterval(timer),
  };
}

/** Closes a connection, with a reset if possible, because otherwise the operating system would keep the unread bytes for minutes. */
function cut(socket: Socket): void {
  if ('encrypted' in socket) socket.destroy();
  else socket.resetAndDestroy();
}

/**
 * Returns a function that returns the number of bytes accepted by the operating system. Node counts a write only when it is
 * complete. For the current write, the handle knows the remaining bytes, which Node's own timeout uses as well.
 */
function meterOf(socket: Socket): () => number {
  const unsent = unsentBytes(socket);
  let [whole, part, left] = [0, 0, 0];
  return () => {
    const written = socket.bytesWritten - socket.writableLength;
    const queue = unsent();
    if (written === whole) part += Math.max(0, left - queue);
    else [whole, part] = [written, 0];
    left = queue;
    return whole + part;
  };
}
