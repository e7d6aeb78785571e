// A separate process that sends requests to one address over several connections, each as soon as the previous response has
// arrived. Each message is an order, and the reply is its result.
import type { Socket } from 'node:net';
import { openSocket, requestOn } from '../measuring/bare-http.ts';

export type Order = {
  /** Such as http://127.0.0.1:8080/v1/groups. */
  address: string;
  headers: Record<string, string>;
  /** The expected status of every response. */
  status: number;
  connections: number;
  /** No request starts after this time, if at least `atLeast` have started. */
  seconds: number;
  atLeast: number;
};

/** The milliseconds that each response took and that all took together, and the size of a response body in bytes. */
export type LoadResult = { times: number[]; ms: number; bytes: number } | { error: string };

process.on('message', (order: Order) => {
  void carryOut(order)
    .catch((error: unknown): LoadResult => ({ error: String(error) }))
    .then((loaded) => process.send?.(loaded));
});
process.once('disconnect', () => process.exit()); // the parent process has ended
process.send?.('ready');

async function carryOut(order: Order): Promise<LoadResult> {
  const { hostname, pathname, search } = new URL(order.address);
  const lines = Object.entries({ host: hostname, ...order.headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  const request = [`GET ${pathname}${search} HTTP/1.1`, ...lines, '', ''].join('\r\n');
  const sockets = await Promise.all(
    Array.from({ length: order.connections }, () => openSocket(order.address)),
  );
  const times: number[] = [];
  let [started, bytes] = [0, 0];
  const start = performance.now();
  async function keepRequesting(socket: Socket): Promise<void> {
    while (started < order.atLeast || performance.now() - start < order.seconds * 1000) {
      started++;
      const from = performance.now();
      const response = await requestOn(socket, request);
      times.push(performance.now() - from);
      if (response.status !== order.status) throw new Error(`${order.address}: ${response.status}`);
      bytes = response.bytes;
    }
  }
  try {
    await Promise.all(sockets.map(keepRequesting));
    return { times, ms: performance.now() - start, bytes };
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}
