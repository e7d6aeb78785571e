// Fails when an update of Node changes the internals that we use. docs/decisions/0026-unsent-bytes-of-a-socket.md says what to do then.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { unsentBytes } from './socket-internals.ts';

test('a socket knows how many bytes of a write the operating system has not accepted', async () => {
  const server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const connected = once(server, 'connection') as Promise<[Socket]>;
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  const unsent = unsentBytes(socket);
  socket.write(Buffer.alloc(32 * 1024 * 1024)); // more than the buffers of both sides
  const see =
    'Node has changed what we use of its sockets: see docs/decisions/0026-unsent-bytes-of-a-socket.md';
  expect(unsent(), see).toBeGreaterThan(0);
  const [other] = await connected;
  socket.destroy();
  other.destroy();
  server.close();
});
