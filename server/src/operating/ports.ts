// Facts about the ports of the service: who responds on them, or whether they are free. Every step ends within a given time.
import { connect, createServer } from 'node:net';

/** `refused`: nothing listens there. Otherwise the first line that the program sent, which is empty if it waits for the client. */
export type PortAnswer = 'refused' | 'silent' | { line: string };

/** The address at which this machine reaches a service that listens on `host`. */
export const reachableHost = (host: string): string =>
  ({ '0.0.0.0': '127.0.0.1', '::': '::1' })[host] ?? host;

/** Connects to a port and reads the first line. `silent`: something accepts connections but sends nothing in time. */
export function askPort(host: string, port: number, ms: number): Promise<PortAnswer> {
  return new Promise((resolve) => {
    const socket = connect({ host: reachableHost(host), port });
    let isConnected = false;
    const end = (answer: PortAnswer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(ms, () => end(isConnected ? 'silent' : 'refused'));
    socket.once('connect', () => (isConnected = true));
    socket.once('data', (bytes) => end({ line: String(bytes.subarray(0, 200)).split(/\r?\n/)[0] ?? '' }));
    socket.once('error', () => end(isConnected ? 'silent' : 'refused'));
    socket.once('close', () => end(isConnected ? 'silent' : 'refused'));
  });
}

/** Returns the error code of listening on a port, such as EADDRINUSE or EACCES; undefined if it worked. It stops listening immediately. */
export function listenFault(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'UNKNOWN'));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
