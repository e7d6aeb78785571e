// Sends one HTTP request to another system, over its own connection, within bounds: redirects are not followed, each step has a time
// limit, and of a response only the beginning is read. A request to an address that an administrator has entered reaches only the
// public Internet and the networks that the operator allows (OUTGOING_NETWORKS). Its host is resolved once, every address is checked,
// and the connection goes to a checked address, so that a changed DNS record can't lead elsewhere.
import { lookup as resolveHost } from 'node:dns/promises';
import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { type RequestOptions, request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { plainAddress, within } from '../network.ts';
import { isPublicAddress } from './addresses.ts';

export type OutgoingRequest = { url: URL; method: string; headers: Record<string, string>; body: string };

/**
 * Where a request may go. `anywhere`: the operator has configured its address. `networks`: apart from public addresses also these
 * addresses and ranges, and only these over plain HTTP.
 */
export type Reach = 'anywhere' | { networks: readonly string[] };

/** How long to wait, in ms, until the connection is ready, until the response begins, and until its beginning has been read. */
export type OutgoingTimes = { connect: number; response: number; body: number };

export type OutgoingOptions = {
  reach: Reach;
  times: OutgoingTimes;
  /** How much of the response is read, in bytes. */
  maxBytes: number;
  /** Accepts any certificate. */
  isTrusted?: boolean;
  /** Called when the connection is ready and before anything is sent. If it rejects, nothing is sent, and the error is thrown. */
  beforeEnd?: (() => Promise<void>) | undefined;
  /** Called just before something is sent. From then on, the receiver may have received the request. */
  onBegin?: () => void;
  /** Returns all addresses of a host. Default: asks the DNS and the hosts file of this machine. */
  resolve?: (host: string) => Promise<string[]>;
};

/** `text`: the beginning of the body. It is shorter if the rest could not be read. */
export type OutgoingResponse = { status: number; headers: IncomingMessage['headers']; text: string };

/** Thrown if a request leads to an address that the service must not send to. Nothing was sent. */
export class ForbiddenAddress extends Error {
  readonly code = 'EFORBIDDENADDRESS';
}

/**
 * Sends a request and returns the response, whatever its status is. Throws ForbiddenAddress, or an error of Node with a `code` (such as
 * ECONNREFUSED, or ETIMEDOUT for every limit of `times`).
 */
export async function exchange(
  request: OutgoingRequest,
  options: OutgoingOptions,
): Promise<OutgoingResponse> {
  const response = await begin(request, options);
  const { statusCode: status = 0, headers } = response;
  return { status, headers, text: await beginningOf(response, options.times.body, options.maxBytes) };
}

/** The whole body of a response, uncompressed. */
export type Downloaded = { status: number; headers: IncomingMessage['headers']; body: Buffer };

/** Thrown if a response is larger than allowed, as sent or uncompressed. */
export class LargeResponse extends Error {
  readonly code = 'ETOOLARGE';
}

/**
 * Like `exchange`, but returns the whole body, uncompressed if it was sent with gzip. Throws a LargeResponse if it has more than `maxBytes`,
 * and an error with a `code` if it could not be read to its end: ETIMEDOUT, ECONNRESET, EENCODING.
 */
export async function fetchWhole(request: OutgoingRequest, options: OutgoingOptions): Promise<Downloaded> {
  const response = await begin(request, options);
  const { statusCode: status = 0, headers } = response;
  try {
    const reading = wholeOf(response, options.maxBytes);
    const body = await inTime(reading, options.times.body, 'The response took too long.');
    return { status, headers, body: await plain(body, headers['content-encoding'], options.maxBytes) };
  } finally {
    response.on('error', () => {}).destroy();
  }
}

/** Sends a request to a checked address, and returns the response when it begins. */
async function begin(request: OutgoingRequest, options: OutgoingOptions): Promise<IncomingMessage> {
  const { reach, times } = options;
  const started = performance.now();
  const checked =
    reach === 'anywhere'
      ? undefined
      : await inTime(
          checkedAddresses(request.url, reach.networks, options.resolve),
          times.connect,
          slowConnection,
        );
  const connect = Math.max(1, times.connect - (performance.now() - started));
  return responseTo(request, { ...options, times: { ...times, connect } }, checked);
}

/**
 * Returns a web address, or undefined if a request could not be sent to it as it is written: it must be http: or https:, have at most 2000
 * characters, and no user, password or fragment.
 */
export function outgoingUrlOf(text: string): URL | undefined {
  const url = text.length <= 2000 ? URL.parse(text) : null;
  const isPlain = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.hash;
  return isPlain ? url : undefined;
}

const slowConnection = 'The connection took too long.';

/** Returns the addresses of the host. Throws ForbiddenAddress if one of them is not allowed: a host that also leads elsewhere is suspect. */
async function checkedAddresses(
  { protocol, hostname }: URL,
  networks: readonly string[],
  resolve: (host: string) => Promise<string[]> = resolveAll,
): Promise<string[]> {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const addresses = isIP(host) === 0 ? await resolve(host) : [host];
  const isOwn = within(networks);
  const forbidden = addresses.find((one) => !isOwn(one) && !isPublicAddress(one));
  if (forbidden !== undefined || addresses.length === 0)
    throw new ForbiddenAddress(`${host} is not an address on the public Internet.`);
  if (protocol === 'http:' && !addresses.every(isOwn))
    throw new ForbiddenAddress(`${host} is on the public Internet, so HTTPS is required.`);
  return addresses;
}

const resolveAll = async (host: string): Promise<string[]> =>
  (await resolveHost(host, { all: true, order: 'verbatim' })).map(({ address }) => address);

/** Returns a lookup that knows only these addresses. */
const knowing =
  (addresses: readonly string[]): LookupFunction =>
  (_, { all }, callback) => {
    const found = addresses.map((address) => ({ address, family: isIP(address) }));
    if (all) callback(null, found);
    else callback(null, found[0]!.address, found[0]!.family);
  };

/** Sends a request, and returns the response when it begins. `checked`: the only addresses to connect to. */
async function responseTo(
  { url, method, headers, body }: OutgoingRequest,
  { times, isTrusted = false, beforeEnd, onBegin }: OutgoingOptions,
  checked: string[] | undefined,
): Promise<IncomingMessage> {
  const options: RequestOptions = {
    method,
    headers,
    agent: false,
    rejectUnauthorized: !isTrusted,
    ...(checked && { lookup: knowing(checked) }),
  };
  const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, options);
  const failed = new Promise<never>((_, reject) => request.on('error', reject));
  failed.catch(() => {}); // reported where it is awaited
  const response = new Promise<IncomingMessage>((resolve) => request.on('response', resolve));
  try {
    await inTime(Promise.race([connected(request), failed]), times.connect, slowConnection);
    const reached = plainAddress(request.socket?.remoteAddress ?? '');
    if (checked && !checked.some((one) => isSame(one, reached)))
      throw new ForbiddenAddress(`${url.hostname} led to another address than the checked ones.`);
    await beforeEnd?.();
    // If the connection has been closed in the meantime, nothing was sent.
    if (request.destroyed) await failed;
    onBegin?.();
    request.end(body);
    return await inTime(Promise.race([response, failed]), times.response, 'The response took too long.');
  } catch (error) {
    request.destroy();
    throw error;
  }
}

/** Returns whether two notations mean the same address. */
const isSame = (one: string, other: string): boolean => within([one.replace(/%.*$/, '')])(other);

/** Resolves when the connection of a request is ready, including TLS. */
const connected = (request: ClientRequest): Promise<void> =>
  new Promise((resolve) => {
    request.on('socket', (socket: Socket & { encrypted?: boolean }) => {
      const event = socket.encrypted ? 'secureConnect' : 'connect';
      if (socket.connecting || socket.encrypted) socket.once(event, () => resolve());
      else resolve();
    });
  });

async function inTime<T>(work: Promise<T>, ms: number, message: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(Object.assign(new Error(message), { code: 'ETIMEDOUT' })), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the beginning of a response as text, and closes the connection. The status counts, even if the rest can't be read. */
async function beginningOf(response: IncomingMessage, ms: number, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  const reading = (async () => {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= maxBytes) return;
    }
  })();
  await inTime(reading, ms, 'The response took too long.').catch(() => {});
  reading.catch(() => {});
  response.destroy();
  return Buffer.concat(chunks).subarray(0, maxBytes).toString('utf8');
}

/** Returns the body of a response as it was sent. */
async function wholeOf(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  if (Number(response.headers['content-length']) > maxBytes) throw tooLargeResponse();
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw tooLargeResponse();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Returns a body uncompressed. A small body can become very large, so the result is bounded as well. */
async function plain(body: Buffer, encoding: string | undefined, maxBytes: number): Promise<Buffer> {
  const name = (encoding ?? 'identity').trim().toLowerCase();
  if (name === 'identity' || name === '') return body;
  if (name !== 'gzip' && name !== 'x-gzip')
    throw Object.assign(new Error('The response has an unsupported encoding.'), { code: 'EENCODING' });
  try {
    return await unzip(body, { maxOutputLength: maxBytes });
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === 'ERR_BUFFER_TOO_LARGE') throw tooLargeResponse();
    throw Object.assign(new Error('The compressed response is damaged.'), { code: 'EENCODING' });
  }
}

const unzip = promisify(gunzip);

const tooLargeResponse = () => new LargeResponse('The response is larger than allowed.');
