// A TCP proxy that cuts connections in the middle of responses, for tests of lost connections.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** How a connection ends: after this many bytes of its response, by a reset or by closing. Undefined: it stays. */
export type Cut = { bytes: number; how: 'reset' | 'close' } | undefined;

export type CuttingProxy = {
  address: string;
  /** How the next connections end, one after another. Later connections stay. */
  cuts: Cut[];
  /** The number of connections so far. */
  connections: () => number;
  close: () => Promise<void>;
};

/** Starts a proxy in front of an address such as http://127.0.0.1:8080. */
export async function cuttingProxy(target: () => string): Promise<CuttingProxy> {
  const cuts: Cut[] = [];
  const open = new Set<Socket>();
  let count = 0;
  const server = createServer((from) => {
    count++;
    const { hostname, port } = new URL(target());
    const to = connect(Number(port), hostname);
    for (const socket of [from, to]) {
      open.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => {
        open.delete(socket);
        from.destroy();
        to.destroy();
      });
    }
    from.pipe(to);
    pass(to, from, cuts.shift());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cuts,
    connections: () => count,
    async close() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function pass(to: Socket, from: Socket, cut: Cut): void {
  if (!cut) return void to.pipe(from);
  let left = cut.bytes;
  const end = () => {
    if (cut.how === 'reset') from.resetAndDestroy();
    else from.end();
    to.destroy();
  };
  to.on('data', (chunk: Buffer) => {
    const part = chunk.subarray(0, left);
    left -= part.length;
    from.write(part, () => left === 0 && end());
  });
}
