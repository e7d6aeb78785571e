// HTTP over bare sockets, because node:http takes longer to read a small response than the service takes to send it.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export type HttpResponse = { status: number; bytes: number };

/** Opens a connection to the host and port of an address. */
export async function openSocket(address: string): Promise<Socket> {
  const { hostname, port } = new URL(address);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await once(socket, 'connect');
  socket.on('error', () => {}); // the request that runs at this moment reports it
  return socket;
}

/** Sends a request and reads its response. The connection must have no other request. */
export function requestOn(socket: Socket, request: string): Promise<HttpResponse> {
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

/** Statuses whose responses have no body. */
const withoutBody = new Set([204, 304]);

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
      const announced = () => Number(/^content-length: *(\d+)/im.exec(head.slice(0, end))?.[1] ?? -1);
      length = withoutBody.has(status) ? 0 : announced();
    }
    bytes += body.length;
    if (length >= 0) return bytes >= length ? { status, bytes } : undefined;
    // With chunked encoding, only the last chunk is followed by an empty line: JSON and our CSV contain none.
    tail = (tail + body.subarray(-5).toString('latin1')).slice(-5);
    return tail === '0\r\n\r\n' ? { status, bytes } : undefined;
  };
}
