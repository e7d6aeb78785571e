// A process of its own that asks for one address over some connections, on each again as soon as the answer is there. On
// bare sockets: node:http takes longer to read a small answer than the service takes to make it, and there are two cores.
// Each message is an order; what it sends back is what came of it.
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';

export type Order = {
  /** Such as http://127.0.0.1:8080/v1/groups. */
  address: string;
  headers: Record<string, string>;
  /** What every answer must have. */
  status: number;
  connections: number;
  /** No request begins later than this, once there have been `atLeast`. */
  seconds: number;
  atLeast: number;
};

/** The milliseconds of each answer; those in which all were given; the bytes of an answer's body. */
export type Loaded = { times: number[]; ms: number; bytes: number } | { error: string };

type Answer = { status: number; bytes: number };

process.on('message', (order: Order) => {
  void carryOut(order)
    .catch((error: unknown): Loaded => ({ error: String(error) }))
    .then((loaded) => process.send?.(loaded));
});
process.once('disconnect', () => process.exit()); // who started us is gone
process.send?.('ready');

async function carryOut(order: Order): Promise<Loaded> {
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
  let [begunCount, bytes] = [0, 0];
  const begun = performance.now();
  async function askOn(socket: Socket): Promise<void> {
    while (begunCount < order.atLeast || performance.now() - begun < order.seconds * 1000) {
      begunCount++;
      const from = performance.now();
      // oxlint-disable-next-line no-await-in-loop -- one after another on each connection
      const answer = await ask(socket, request);
      times.push(performance.now() - from);
      if (answer.status !== order.status) throw new Error(`${order.address}: ${answer.status}`);
      bytes = answer.bytes;
    }
  }
  try {
    await Promise.all(sockets.map(askOn));
    return { times, ms: performance.now() - begun, bytes };
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

function ask(socket: Socket, request: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const read = answerReader();
    const done = (end: () => void) => {
      socket.off('data', onData).off('close', onClose).off('error', reject);
      end();
    };
    const onClose = () => done(() => reject(new Error('The connection has broken')));
    const onData = (chunk: Buffer) => {
      const answer = read(chunk);
      if (answer) done(() => resolve(answer));
    };
    socket.on('data', onData).once('close', onClose).once('error', reject);
    socket.write(request);
  });
}

/** Takes an answer as it comes, and returns it when it has ended. */
function answerReader(): (chunk: Buffer) => Answer | undefined {
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
    // Of chunks, which are not counted, only the last is followed by an empty line: JSON and our CSV have none.
    tail = (tail + body.subarray(-5).toString('latin1')).slice(-5);
    return tail === '0\r\n\r\n' ? { status, bytes } : undefined;
  };
}
