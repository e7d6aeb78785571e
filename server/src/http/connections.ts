// How many connections there may be at once: in all, and from one network. Each takes a file handle and memory, also one on which
// nothing is ever sent.
import type { Server as HttpServer } from 'node:http';
import { networkOf } from '../base/addresses.ts';
import type { Log } from '../base/log.ts';

export type ConnectionLimits = { total: number; perNetwork: number };

/** An office of some hundred people has one address, and browsers open up to six connections each. */
export const connectionLimits: ConnectionLimits = { total: 10_000, perNetwork: 1_000 };

/** How often refusals beyond `total` are logged, in ms. */
const tellMs = 60_000;

/** Refuses connections beyond the limits. `isExempt`: addresses of proxies, from which everybody comes. */
export function limitConnections(
  server: HttpServer,
  { total, perNetwork }: ConnectionLimits,
  isExempt: (address: string) => boolean,
  log: Log,
): void {
  const open = new Map<string, number>();
  server.maxConnections = total;
  let [refused, toldAt] = [0, -Infinity];
  server.on('drop', () => {
    refused++;
    if (performance.now() - toldAt < tellMs) return;
    log.warn(
      { connections: total, refused },
      'Connections were refused: there are as many as the service takes',
    );
    [refused, toldAt] = [0, performance.now()];
  });
  server.on('connection', (socket) => {
    const { remoteAddress: address } = socket;
    if (address === undefined) return void socket.destroy();
    if (isExempt(address)) return;
    const network = networkOf(address);
    const count = open.get(network) ?? 0;
    if (count >= perNetwork) return void socket.destroy();
    open.set(network, count + 1);
    socket.once('close', () => {
      const left = (open.get(network) as number) - 1;
      if (left > 0) open.set(network, left);
      else open.delete(network);
    });
  });
}
