// Reads headers of the PROXY protocol, versions 1 and 2, with which a proxy sends the address of the client
// (haproxy.org, proxy-protocol.txt).
import { isIP, type Socket } from 'node:net';

/** How long a proxy may take to send the client address. Proxies send it immediately. */
const proxyMs = 2000;

/**
 * Reads the client address that a proxy sends, and leaves the following bytes on the socket. Passes the address on, or undefined
 * if the proxy sends none. Passes nothing on if the socket closes.
 */
export function readProxyHeader(socket: Socket, then: (address: string | undefined) => void): void {
  let bytes = Buffer.alloc(0);
  const late = setTimeout(() => finish(undefined, 0), proxyMs);
  function finish(address: string | undefined, length: number): void {
    clearTimeout(late);
    socket.off('data', onData).pause();
    socket.off('close', onClose);
    if (bytes.length > length) socket.unshift(bytes.subarray(length));
    then(address);
  }
  function onData(chunk: Buffer): void {
    bytes = Buffer.concat([bytes, chunk]);
    const header = proxyHeader(bytes);
    if (header === 'more') return;
    if (header === 'none') return finish(undefined, 0);
    const isAddress = header.address !== undefined && isIP(header.address) !== 0;
    finish(isAddress ? header.address : undefined, header.length);
  }
  const onClose = () => clearTimeout(late);
  socket.on('data', onData);
  socket.once('close', onClose);
  socket.resume();
}

/** `length` is the length of the header in bytes. Without an address, the connection comes from the proxy itself, as in health checks. */
export type ProxyHeader = { length: number; address: string | undefined };

const signature = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');
/** The longest header of version 1. Headers of version 2 may have further fields, which we ignore. */
const maxTextBytes = 107;
const maxBinaryBytes = 16 + 2048;

/** Parses the header at the start of a connection. Returns `more` if more bytes are needed, and `none` if there is no header. */
export function proxyHeader(bytes: Buffer): ProxyHeader | 'more' | 'none' {
  if (begins(bytes, signature)) return bytes.length < 16 ? 'more' : binaryHeader(bytes);
  if (begins(bytes, Buffer.from('PROXY '))) return textHeader(bytes);
  return 'none';
}

/** Whether the bytes so far match the beginning of the mark. */
const begins = (bytes: Buffer, mark: Buffer) =>
  bytes.subarray(0, mark.length).equals(mark.subarray(0, bytes.length));

function textHeader(bytes: Buffer): ProxyHeader | 'more' | 'none' {
  const end = bytes.subarray(0, maxTextBytes).indexOf('\r\n');
  if (end === -1) return bytes.length < maxTextBytes ? 'more' : 'none';
  const [, family, source] = bytes.toString('latin1', 0, end).split(' ');
  return { length: end + 2, address: family === 'TCP4' || family === 'TCP6' ? source : undefined };
}

function binaryHeader(bytes: Buffer): ProxyHeader | 'more' | 'none' {
  const length = 16 + bytes.readUInt16BE(14);
  const version = bytes[12] as number;
  if (version >> 4 !== 2 || length > maxBinaryBytes) return 'none';
  if (bytes.length < length) return 'more';
  const isProxied = (version & 15) === 1;
  const family = (bytes[13] as number) >> 4;
  if (isProxied && family === 1 && length >= 28) {
    return { length, address: bytes.subarray(16, 20).join('.') };
  }
  if (isProxied && family === 2 && length >= 52) {
    const groups = Array.from({ length: 8 }, (_, i) => bytes.readUInt16BE(16 + 2 * i).toString(16));
    return { length, address: groups.join(':') };
  }
  return { length, address: undefined };
}
