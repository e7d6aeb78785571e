// A process of its own that sends hostile inputs, several at a time. Arguments: address, SFTP port, seed, and the keys as JSON.
// Asked by a number it sends so many, and sends back what came of them.
import { connect, type Socket } from 'node:net';
import { hostileInputs, type Input, type Keys } from './hostile.inputs.ts';

/** How many answers had each status, how many inputs had none, and the first inputs that failed in the service. */
export type Survived = { statuses: Record<string, number>; unanswered: number; failures: string[] };

const [address = '', sftpPort = '', seed = '', keys = '{}'] = process.argv.slice(2);
const { hostname, port } = new URL(address);
const next = hostileInputs(Number(seed), JSON.parse(keys) as Keys);
const [atOnce, patience] = [12, 15_000];
/** From many addresses, as no one may have so many connections. */
let sources = 0;
const source = () => `127.0.${3 + Number(seed)}.${1 + (sources++ % 200)}`;

let survived: Survived;
process.once('disconnect', () => process.exit()); // who started us is gone
process.on('message', (count: number) => {
  survived = { statuses: {}, unanswered: 0, failures: [] };
  let left = count;
  const goOn = async () => {
    let socket: Socket | undefined;
    while (left-- > 0) {
      const input = next();
      // oxlint-disable-next-line no-await-in-loop -- one after another on each connection
      if (input.door === 'http') socket = await ask(socket, input);
      // oxlint-disable-next-line no-await-in-loop -- the same
      else await throwAt(input);
    }
    socket?.destroy();
  };
  void Promise.all(Array.from({ length: atOnce }, goOn)).then(() => process.send?.(survived));
});
process.send?.('ready');

function note(status: string, { what }: Input): void {
  survived.statuses[status] = (survived.statuses[status] ?? 0) + 1;
  if (status.startsWith('5') && survived.failures.length < 20)
    survived.failures.push(`${status}: ${what.slice(0, 300)}`);
}

async function opened(to: number): Promise<Socket> {
  const socket = connect({ host: hostname, port: to, localAddress: source(), noDelay: true });
  socket.on('error', () => {}); // a connection that is cut says so by its end
  socket.setTimeout(patience, () => socket.destroy());
  await new Promise<void>((resolve) => socket.once('connect', resolve).once('close', () => resolve()));
  return socket;
}

/** Sends a request, and returns the connection if another may follow. */
async function ask(before: Socket | undefined, input: Input): Promise<Socket | undefined> {
  const socket = before && !before.destroyed ? before : await opened(Number(port));
  const isHead = input.bytes.subarray(0, 5).toString('latin1') === 'HEAD ';
  const status = await new Promise<number | undefined>((resolve) => {
    const chunks: Buffer[] = [];
    const done = (found: number | undefined) => {
      socket.off('data', onData).off('close', onClose);
      resolve(found);
    };
    const onData = (chunk: Buffer) => {
      chunks.push(chunk);
      const found = endOf(chunks, isHead);
      if (found !== undefined) done(found);
    };
    const onClose = () => done(statusIn(Buffer.concat(chunks)));
    socket.on('data', onData).once('close', onClose);
    if (socket.destroyed) done(undefined);
    else socket.write(input.bytes);
  });
  if (status === undefined) survived.unanswered++;
  else note(String(status), input);
  // What was not read as its sender meant may have left something on the connection.
  if (status === undefined || status === 400 || status >= 411) socket.destroy();
  return socket.destroyed ? undefined : socket;
}

const statusIn = (bytes: Buffer): number | undefined => {
  const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(bytes.toString('latin1', 0, 20)) ?? [];
  return status === undefined ? undefined : Number(status);
};

/** The status of an answer that has ended; of one that lets go on (100) it is the next. */
function endOf(chunks: Buffer[], isHead: boolean): number | undefined {
  const all = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
  if (chunks.length > 1) chunks.splice(0, chunks.length, all);
  const end = all.indexOf('\r\n\r\n') + 4;
  if (end < 4) return undefined;
  const [status, head] = [statusIn(all), all.toString('latin1', 0, end)];
  if (status === 100) {
    chunks.splice(0, chunks.length, all.subarray(end));
    return endOf(chunks, isHead);
  }
  if (isHead || status === 204 || status === 304) return status;
  const length = /^content-length: *(\d+)/im.exec(head)?.[1];
  if (length !== undefined) return all.length - end >= Number(length) ? status : undefined;
  return all.subarray(-5).toString('latin1') === '0\r\n\r\n' ? status : undefined;
}

/** Sends bytes, and no more; what comes back is read to its end. */
async function throwAt(input: Input): Promise<void> {
  const socket = await opened(Number(input.door === 'sftp' ? sftpPort : port));
  let first = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    if (first.length < 20) first = Buffer.concat([first, chunk]);
  });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.end(input.bytes);
  if (!socket.destroyed) await closed;
  const status = input.door === 'raw' ? statusIn(first) : undefined;
  if (status !== undefined) note(String(status), input);
  else survived.unanswered++;
}
