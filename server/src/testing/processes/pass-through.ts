// A server that passes connections to a database through.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** `join`: passes the bytes between the two ends of a connection. `url`: the address of the database there. */
export async function passThrough(
  databaseUrl: string,
  join: (client: Socket, upstream: Socket) => void,
): Promise<{ url: string; close: () => void }> {
  const address = new URL(databaseUrl);
  const { port, hostname } = address;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay().on('error', () => {});
      socket.once('close', () => void (client.destroy(), upstream.destroy()));
    }
    join(client, upstream);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  address.port = String((server.address() as AddressInfo).port);
  return {
    url: address.href,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
