// Sends the responses of the data interface (decision A17): compressed as the client accepts, long ones streamed in limited memory,
// with an ETag that turns an unchanged repeat into a 304. Responses that are not too large are cached.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline, Readable, Transform } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Fault } from '../../base/errors.ts';
import { freeGiven } from '../../base/given-memory.ts';
import type { Log } from '../../base/log.ts';
import { asFault } from '../../db/db.ts';
import type { SentResponse } from './response-cache.ts';
import { acceptedEncoding, type Encoding, compress, compressor } from './encoding.ts';
import { vary } from '../origins.ts';
import type { Readers } from '../readers.ts';
import type { Concurrency } from '../concurrency.ts';

/** Responses up to this size fit into one packet anyway and are not compressed. */
const smallBytes = 1024;

/**
 * A response that is too long for memory. Its chunks (of some KB, because each has a cost) are requested as fast as the client
 * reads them, and no one keeps them, because their memory may be freed when they are sent. `tag` is any text that changes when the
 * response does. A client that already has the response gets a 304, and HEAD only the headers, without calling `chunks`. If the client
 * disconnects, or is disconnected because it reads too slowly, the iterator is ended with `return`. If it fails before anything was
 * sent, the client gets an error response; if it fails later, the connection is aborted, so that no client mistakes a part for the whole.
 */
export class StreamedResponse {
  readonly tag: string;
  readonly chunks: () => AsyncIterable<string | Uint8Array>;

  constructor(tag: string, chunks: () => AsyncIterable<string | Uint8Array>) {
    this.tag = tag;
    this.chunks = chunks;
  }
}

/** How fast a client must read a streamed response, in bytes per second, because it uses a database connection. */
const minimumBytesPerSecond = 16_384;

/** Caches a response that was sent. `largest`: the maximum size in bytes. */
export type Keep = { add: (response: SentResponse) => void; largest: number };

/** Sends a value as JSON, or text or bytes as they are. The ETag is computed from the bytes. */
export async function sendValue(
  request: FastifyRequest,
  reply: FastifyReply,
  keep: Keep,
  value: unknown,
): Promise<FastifyReply> {
  const isText = typeof value === 'string' || value instanceof Uint8Array;
  const bytes = Buffer.from((isText ? value : JSON.stringify(value)) as string);
  const etag = etagOf(bytes);
  if (announce(request, reply, etag)) return reply.code(304).send();
  const encoding = bytes.length <= smallBytes ? 'identity' : settleEncoding(request, reply);
  const body = await compress(encoding, bytes);
  withType(reply);
  keep.add({ etag, headers: traitsOf(reply), bytes: body });
  return reply.send(body);
}

/** Sends a cached response. */
export function sendAgain(
  request: FastifyRequest,
  reply: FastifyReply,
  { etag, headers, bytes }: SentResponse,
): FastifyReply {
  if (announce(request, reply, etag)) return reply.code(304).send();
  return reply.headers(headers).send(bytes);
}

/** Sends a streamed response, and logs if it is interrupted. */
export function sendLong(
  request: FastifyRequest,
  reply: FastifyReply,
  { log, keep, concurrency, readers }: { log: Log; keep: Keep; concurrency: Concurrency; readers: Readers },
  { tag, chunks }: StreamedResponse,
): FastifyReply {
  // Includes the account, because one browser may use two tokens and caches responses by address alone.
  const { accountId } = request.caller as { accountId: number };
  const etag = etagOf(`${format}\n${accountId}\n${tag}`);
  if (announce(request, reply, etag)) return reply.code(304).send();
  const encoding = settleEncoding(request, withType(reply));
  const { socket } = request.raw;
  if (request.method === 'HEAD' || socket.destroyed) return reply.send(); // destroyed: the client has disconnected
  const { source, ended } = streamInTurn(request, reply, { concurrency, readers, accountId }, chunks);
  const sent = new Sent(keep.largest, (bytes) => keep.add({ etag, headers: traitsOf(reply), bytes }));
  const compression = compressor(encoding);
  // Chunks that are compressed are not written themselves, so they are left to the garbage collector.
  if (!compression) freeWhenSent(reply.raw, () => sent.isTooLong());
  // An error of the source also fails the streams after it.
  const body = compression ? pipeline(source, compression, sent, () => {}) : pipeline(source, sent, () => {});
  ended.addEventListener('abort', () => void body.destroy());
  body.once('error', (error) => {
    if (!reply.raw.headersSent) return; // handled and logged like any error
    const level = asFault(error) instanceof Fault ? 'warn' : 'error';
    log[level]({ requestId: request.id, err: error }, 'A response was interrupted');
    // In HTTP/1.0 (which nginx uses), closing the connection ends the response normally. Only a reset shows the failure.
    if (request.raw.httpVersion === '1.0' && !('encrypted' in socket)) socket.resetAndDestroy();
  });
  return reply.send(body);
}

/**
 * Returns the chunks of a response as a stream that waits for its turn, because reading them takes a database connection. Its client has to read it
 * fast enough. `ended`: aborts when the response or its connection ends.
 */
export function streamInTurn(
  request: FastifyRequest,
  reply: FastifyReply,
  { concurrency, readers, accountId }: { concurrency: Concurrency; readers: Readers; accountId: number },
  chunks: Turn['chunks'],
): { source: Readable; ended: AbortSignal } {
  readers.require(reply.raw, minimumBytesPerSecond);
  const ended = endOf(reply.raw, request.raw.socket);
  const inTurn = inSlot(reply.raw, { concurrency, accountId, ended, chunks });
  return { source: Readable.from(inTurn, { objectMode: false }), ended };
}

/** Returns a signal that aborts when the response or its connection ends. A response that waits for its turn is not closed with its connection. */
function endOf(response: ServerResponse, socket: Socket): AbortSignal {
  const ended = new AbortController();
  const end = () => {
    socket.off('close', end);
    ended.abort();
  };
  response.once('close', end);
  socket.once('close', end);
  return ended.signal;
}

type Turn = {
  concurrency: Concurrency;
  accountId: number;
  ended: AbortSignal;
  chunks: () => AsyncIterable<string | Uint8Array>;
};

/** Waits until earlier responses of the connection have ended and a slot is free, then yields the chunks. */
async function* inSlot(response: ServerResponse, { concurrency, accountId, ended, chunks }: Turn) {
  if (!response.socket) await once(response, 'socket', { signal: ended });
  const release = await concurrency.take(accountId, ended);
  try {
    if (!ended.aborted) yield* chunks();
  } finally {
    release();
  }
}

/**
 * Frees the memory of a response's chunks that was given away, as soon as the operating system has them. Only the callback of a write says that it has.
 * `mayFree`: whether nothing else needs what was written until then.
 */
function freeWhenSent(response: ServerResponse, mayFree: () => boolean): void {
  const write = response.write.bind(response);
  type Done = (error: Error | null | undefined) => void;
  response.write = (chunk: Uint8Array, encoding?: BufferEncoding | Done, done?: Done) => {
    const isEncoding = typeof encoding === 'string';
    const then = isEncoding ? done : encoding;
    return write(chunk, isEncoding ? encoding : 'utf8', (error) => {
      if (!error && mayFree()) freeGiven(chunk);
      then?.(error);
    });
  };
}

/** Passes bytes through and collects them until the end, unless there are more than `largest`. */
class Sent extends Transform {
  private readonly largest: number;
  private readonly onWhole: (bytes: Buffer) => void;
  private chunks: Buffer[] = [];
  private length = 0;

  constructor(largest: number, onWhole: (bytes: Buffer) => void) {
    super();
    this.largest = largest;
    this.onWhole = onWhole;
  }

  /** Whether there were too many bytes, so that none of them are kept. */
  isTooLong(): boolean {
    return this.length > this.largest;
  }

  override _transform(chunk: Buffer, _encoding: string, done: (error: null, chunk: Buffer) => void): void {
    this.length += chunk.length;
    if (this.isTooLong()) this.chunks = [];
    else this.chunks.push(chunk);
    done(null, chunk);
  }

  override _flush(done: () => void): void {
    if (!this.isTooLong()) this.onWhole(Buffer.concat(this.chunks));
    done();
  }
}

/** Returns the headers that describe the content of a response. */
function traitsOf(reply: FastifyReply): Record<string, string> {
  const names = ['content-type', 'content-encoding', 'content-disposition'];
  return Object.fromEntries(
    names.filter((name) => reply.hasHeader(name)).map((name) => [name, String(reply.getHeader(name))]),
  );
}

/** Removes the headers that describe the content, when an error response is sent instead. */
export function withoutTraits(reply: FastifyReply): FastifyReply {
  for (const name of ['etag', 'cache-control', 'content-encoding', 'content-disposition'])
    reply.removeHeader(name);
  return reply;
}

/**
 * Increase it when the format of responses or the order of their rows changes, so that clients with the old bytes don't get a 304, and none
 * goes on with the rest of a response in the other order.
 */
const format = 2;

/** Returns a weak ETag, which is the same for all encodings of the same content. */
function etagOf(content: Buffer | string): string {
  return `W/"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`;
}

/** Sets the headers that a 304 shares with the full response. Returns whether the client already has this version. */
function announce(request: FastifyRequest, reply: FastifyReply, etag: string): boolean {
  reply.headers({ etag, 'cache-control': 'private, no-cache' });
  vary(reply, 'Accept-Encoding');
  const known = request.headers['if-none-match'];
  if (known === undefined) return false;
  if (known.trim() === '*') return true;
  // Weak comparison, which ignores whether a tag is weak.
  return known.matchAll(/"[^"]*"/g).some(([opaque]) => opaque === etag.slice(2));
}

/** Chooses the encoding of a response and sets its header. Returns `identity` if the handler has already compressed it. */
function settleEncoding(request: FastifyRequest, reply: FastifyReply): Encoding {
  if (reply.hasHeader('content-encoding')) return 'identity';
  const encoding = acceptedEncoding(request.headers['accept-encoding']);
  if (encoding !== 'identity') reply.header('content-encoding', encoding);
  return encoding;
}

function withType(reply: FastifyReply): FastifyReply {
  if (reply.hasHeader('content-type')) return reply;
  return reply.header('content-type', 'application/json; charset=utf-8');
}
