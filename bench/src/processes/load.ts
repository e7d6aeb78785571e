// A separate process that sends requests to one address over several connections, each as soon as the previous response has
// arrived. It uses bare sockets, because node:http takes longer to read a small response than the service takes to send it.
// Each message is an order, and the reply is its result.
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';

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

type HttpResponse = { status: number; bytes: number };

process.on('message', (order: Order) => {
  void carryOut(order)
    .catch((error: unknown): LoadResult => ({ error: String(error) }))
    .then((loaded) => process.send?.(loaded));
});
process.once('disconnect', () => process.exit()); // the parent process has ended
process.send?.('ready');

async function carryOut(order: Order): Promise<LoadResult> {
  const { hostname, port, pathname, search } = new URL(order.address);
  const lines = Object.entries({ host: hostname, ...order.headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  const request = [`GET ${pathname}${search} HTTP/1.1`, ...lines, '', ''].join('\r\n');
  const sockets = await Promise.all(
    Array.from({ length: order.connections }, async () => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true });
      await once(socket, 'connect');
      return socket;
    }),
  );
  const times: number[] = [];
  let [started, bytes] = [0, 0];
  const start = performance.now();
  async function requestOn(socket: Socket): Promise<void> {
    while (started < order.atLeast || performance.now() - start < order.seconds * 1000) {
      started++;
      const from = performance.now();
      const response = await send(socket, request);
      times.push(performance.now() - from);
      if (response.status !== order.status) throw new Error(`${order.address}: ${response.status}`);
      bytes = response.bytes;
    }
  }
  try {
    await Promise.all(sockets.map(requestOn));
    return { times, ms: performance.now() - start, bytes };
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

function send(socket: Socket, request: string): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const read = responseReader();
    const done = (end: () => void) => {
      socket.off('data', onData).off('close', onClose).off('error', reject);
      end();
    };
    const onClose = () => done(() => reject(new Error('The connection was closed')));
    const onData = (chunk: Buffer) => {
      const response = read(chunk);
      if (response) done(() => resolve(response));
    };
    socket.on('data', onData).once('close', onClose).once('error', reject);
    socket.write(request);
  });
}

/** Reads a response in chunks. Returns it when it is complete. */
function responseReader(): (chunk: Buffer) => HttpResponse | undefined {
  let head = '';
  let [status, length, bytes] = [0, -1, 0];
  let tail = '';
  return (chunk) => {
    let body = chunk;
    if (status === 0) {
      head += chunk.toString('latin1');
      const end = head.indexOf('\r\n\r\n') + 4;
      if (end < 4) return undefined;
      body = chunk.subarray(chunk.length - (head.length - end));
      status = Number(head.slice(9, 12));
      length = status === 304 ? 0 : Number(/^content-length: *(\d+)/im.exec(head.slice(0, end))?.[1] ?? -1);
    }
    bytes += body.length;
    if (length >= 0) return bytes >= length ? { status, bytes } : undefined;
    // With chunked encoding, only the last chunk is followed by an empty line: JSON and our CSV contain none.
    tail = (tail + body.subarray(-5).toString('latin1')).slice(-5);
    return tail === '0\r\n\r\n' ? { status, bytes } : undefined;
  };
}
