// Counts running requests, so that a shutdown can wait for them.
import { setTimeout } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';

export type Traffic = ReturnType<typeof openTraffic>;

/** Returns a counter of running requests. `leave` and `drain` begin a shutdown: first not ready, then no new requests. */
export function openTraffic() {
  let running = 0;
  let leaving = false;
  let draining = false;
  let onIdle = () => {};
  return {
    isLeaving: () => leaving,
    leave(): void {
      leaving = true;
    },
    isDraining: () => draining,
    begin(reply: FastifyReply): void {
      running++;
      // 'close' is emitted once for every response, even if the client has disconnected.
      reply.raw.once('close', () => {
        if (--running === 0) onIdle();
      });
    },
    async drain(seconds: number): Promise<void> {
      draining = true;
      if (running === 0) return;
      const timeout = new AbortController();
      const idle = new Promise<void>((resolve) => {
        onIdle = resolve;
      });
      await Promise.race([
        idle,
        setTimeout(seconds * 1000, undefined, { signal: timeout.signal }).catch(() => {}),
      ]);
      timeout.abort();
    },
  };
}
