// A separate process that sends malicious inputs, several at a time. Arguments: address, SFTP port, seed, and the keys as JSON.
// When the process receives a number as a message, it sends that many inputs and replies with the result.
import { connect, type Socket } from 'node:net';
import { hostileInputs, type Input, type Keys } from '../hostile.inputs.ts';

/** The number of responses by status, the number of inputs that got no response, and the first inputs that caused 5xx errors. */
export type Survived = { statuses: Record<string, number>; withoutResponse: number; failures: string[] };

const [address = '', sftpPort = '', seed = '', keys = '{}'] = process.argv.slice(2);
const { hostname, port } = new URL(address);
const next = hostileInputs(Number(seed), JSON.parse(keys) as Keys);
const [atOnce, timeout] = [12, 15_000];
/** Uses many addresses, because connections per address are limited. */
let sources = 0;
const source = () => `127.0.${3 + Number(seed)}.${1 + (sources++ % 200)}`;

let survived: Survived;
process.once('disconnect', () => process.exit()); // the parent process has ended
process.on('message', (count: number) => {
  survived = { statuses: {}, withoutResponse: 0, failures: [] };
  let left = count;
  const sendInputs = async () => {
    let socket: Socket | undefined;
    while (left-- > 0) {
      const input = next();
      if (input.kind === 'http') socket = await sendRequest(socket, input);
      else await sendBytes(input);
    }
    socket?.destroy();
  };
  void Promise.all(Array.from({ length: atOnce }, sendInputs)).then(() => process.send?.(survived));
});
process.send?.('ready');

function note(status: string, { what }: Input): void {
  survived.statuses[status] = (survived.statuses[status] ?? 0) + 1;
  if (status.startsWith('5') && survived.failures.length < 20)
    survived.failures.push(`${status}: ${what.slice(0, 300)}`);
}

async function open(to: number): Promise<Socket> {
  const socket = connect({ host: hostname, port: to, localAddress: source(), noDelay: true });
  socket.on('error', () => {}); // the close event handles it
  socket.setTimeout(timeout, () => socket.destroy());
  await new Promise<void>((resolve) => socket.once('connect', resolve).once('close', () => resolve()));
  return socket;
}

/** Sends a request. Returns the connection if it can be used again. */
async function sendRequest(before: Socket | undefined, input: Input): Promise<Socket | undefined> {
  const socket = before && !before.destroyed ? before : await open(Number(port));
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
  if (status === undefined) survived.withoutResponse++;
  else note(String(status), input);
  // After a rejected request there may be unread bytes on the connection.
  if (status === undefined || status === 400 || status >= 411) socket.destroy();
  return socket.destroyed ? undefined : socket;
}

const statusIn = (bytes: Buffer): number | undefined => {
  const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(bytes.toString('latin1', 0, 20)) ?? [];
  return status === undefined ? undefined : Number(status);
};

/** Returns the status of a complete response. A 100 response is skipped. */
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

/** Sends bytes, and reads the response until the connection closes. */
async function sendBytes(input: Input): Promise<void> {
  const socket = await open(Number(input.kind === 'sftp' ? sftpPort : port));
  let first = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    if (first.length < 20) first = Buffer.concat([first, chunk]);
  });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.end(input.bytes);
  if (!socket.destroyed) await closed;
  const status = input.kind === 'raw' ? statusIn(first) : undefined;
  if (status !== undefined) note(String(status), input);
  else survived.withoutResponse++;
}
