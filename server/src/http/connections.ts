// Limits the number of connections, in total and per network, because even an idle connection takes a file handle and memory. Also
// limits how many requests a client can send on one connection without waiting for the responses.
import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from '../base/network.ts';
import type { Log } from '../base/log.ts';

/** `pendingRequests`: the maximum number of requests of one connection whose responses have not ended. */
export type ConnectionLimits = { total: number; perNetwork: number; pendingRequests: number };

/**
 * An office of a few hundred people shares one address, and each browser opens up to six connections. Almost no client sends a
 * request before it has the previous response; without a limit, a single connection had 40,000 running requests within a second.
 */
export const connectionLimits: ConnectionLimits = { total: 10_000, perNetwork: 1_000, pendingRequests: 100 };

/** How often refused connections are logged, in milliseconds. */
const logIntervalMs = 60_000;

/** Refuses connections beyond the limits and closes connections with too many requests. `isExempt`: returns whether an address is a trusted proxy, which many clients share. */
export function limitConnections(
  server: HttpServer,
  { total, perNetwork, pendingRequests }: ConnectionLimits,
  isExempt: (address: string) => boolean,
  log: Log,
): void {
  limitRequests(server, pendingRequests);
  const open = new Map<string, number>();
  server.maxConnections = total;
  let [refused, loggedAt] = [0, -Infinity];
  server.on('drop', () => {
    refused++;
    if (performance.now() - loggedAt < logIntervalMs) return;
    log.warn(
      { connections: total, refused },
      'Connections were refused because the maximum number of connections is reached',
    );
    [refused, loggedAt] = [0, performance.now()];
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
  const pendingRequests = new WeakMap<Socket, number>();
  server.on('connection', (socket) => void socket.setMaxListeners(10 + 3 * most)); // each response adds its own listeners
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const count = (pendingRequests.get(socket) ?? 0) + 1;
    pendingRequests.set(socket, count);
    if (count > most) return void socket.destroy();
    response.once('close', () => pendingRequests.set(socket, (pendingRequests.get(socket) as number) - 1));
  });
}
