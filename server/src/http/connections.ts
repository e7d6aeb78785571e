// How many connections there may be at once: in all, and from one network. Each takes a file handle and memory, also one on which
// nothing is ever sent. And how many requests a client may send on one without waiting for the responses.
import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from '../base/addresses.ts';
import type { Log } from '../base/log.ts';

/** `unanswered`: requests of one connection whose responses have not ended. */
export type ConnectionLimits = { total: number; perNetwork: number; unanswered: number };

/**
 * An office of some hundred people has one address, and browsers open up to six connections each. Hardly any client sends a request
 * before it has the response to the one before; without a limit a single connection had 40,000 under way in a second.
 */
export const connectionLimits: ConnectionLimits = { total: 10_000, perNetwork: 1_000, unanswered: 100 };

/** How often refusals beyond `total` are logged, in ms. */
const tellMs = 60_000;

/** Refuses connections beyond the limits, and closes those with more requests. `isExempt`: addresses of proxies, from which everybody comes. */
export function limitConnections(
  server: HttpServer,
  { total, perNetwork, unanswered }: ConnectionLimits,
  isExempt: (address: string) => boolean,
  log: Log,
): void {
  limitRequests(server, unanswered);
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

function limitRequests(server: HttpServer, most: number): void {
  const unanswered = new WeakMap<Socket, number>();
  server.on('connection', (socket) => void socket.setMaxListeners(10 + 3 * most)); // each response has listeners of its own
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const count = (unanswered.get(socket) ?? 0) + 1;
    unanswered.set(socket, count);
    if (count > most) return void socket.destroy();
    response.once('close', () => unanswered.set(socket, (unanswered.get(socket) as number) - 1));
  });
}
