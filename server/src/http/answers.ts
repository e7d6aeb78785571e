// How the answers of the data interface travel (decision A17): packed as the client accepts, long ones in bounded
// memory, with an ETag that makes an unchanged repeat a 304, and, unless they are large, kept for whoever asks next.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline, Readable, Transform } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Fault } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { asFault } from '../db/db.ts';
import type { SentAnswer } from './cache.ts';
import { acceptedEncoding, type Encoding, pack, packer } from './encoding.ts';
import { vary } from './origins.ts';
import type { Readers } from './readers.ts';
import type { Slots } from './slots.ts';

/** Bytes up to which an answer fits a packet anyhow, and is not packed. */
const smallBytes = 1024;

/**
 * An answer too long to be held: its pieces (some KB each: every one costs a turn) are asked for as fast as the client
 * takes them. `tag` is any text that changes when the answer does; a client that has the answer gets 304, and HEAD its
 * headers, without `pieces` being called. When the client goes away, or is cut because it reads too slowly, the pieces end
 * as by `return`. If they fail before anything was sent, the error is answered; later the connection breaks, so that nobody
 * takes a part for the whole.
 */
export class LongAnswer {
  readonly tag: string;
  readonly pieces: () => AsyncIterable<string>;

  constructor(tag: string, pieces: () => AsyncIterable<string>) {
    this.tag = tag;
    this.pieces = pieces;
  }
}

/** How fast a long answer must be read, in bytes a second: it uses a connection to the database. */
const leastBytesPerSecond = 16_384;

/** Takes what was sent, to keep it; `largest`: of at most so many bytes. */
export type Keep = { add: (answer: SentAnswer) => void; largest: number };

/** Answers with a value as JSON, or with the text or bytes that it is. The ETag is made of the bytes. */
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
  const packed = await pack(encoding, bytes);
  withType(reply);
  keep.add({ etag, headers: traitsOf(reply), bytes: packed });
  return reply.send(packed);
}

/** Answers with what was sent before. */
export function sendAgain(
  request: FastifyRequest,
  reply: FastifyReply,
  { etag, headers, bytes }: SentAnswer,
): FastifyReply {
  if (announce(request, reply, etag)) return reply.code(304).send();
  return reply.headers(headers).send(bytes);
}

/** Answers with a LongAnswer, and logs it when that breaks off. */
export function sendLong(
  request: FastifyRequest,
  reply: FastifyReply,
  { log, keep, slots, readers }: { log: Log; keep: Keep; slots: Slots; readers: Readers },
  { tag, pieces }: LongAnswer,
): FastifyReply {
  // With the account: two tokens may ask from one browser, which keeps what it has by address alone.
  const { accountId } = request.caller as { accountId: number };
  const etag = etagOf(`${format}\n${accountId}\n${tag}`);
  if (announce(request, reply, etag)) return reply.code(304).send();
  const encoding = settleEncoding(request, withType(reply));
  const { socket } = request.raw;
  if (request.method === 'HEAD' || socket.destroyed) return reply.send(); // destroyed: the client has gone
  readers.require(reply.raw, leastBytesPerSecond);
  const ended = endOf(reply.raw, socket);
  const inTurn = inSlot(reply.raw, { slots, accountId, ended, pieces });
  const source = Readable.from(inTurn, { objectMode: false });
  const sent = new Sent(keep.largest, (bytes) => keep.add({ etag, headers: traitsOf(reply), bytes }));
  const packing = packer(encoding);
  // A failure of the source fails what comes after it.
  const body = packing ? pipeline(source, packing, sent, () => {}) : pipeline(source, sent, () => {});
  ended.addEventListener('abort', () => void body.destroy());
  body.once('error', (error) => {
    if (!reply.raw.headersSent) return; // answered, and logged, like any error
    const level = asFault(error) instanceof Fault ? 'warn' : 'error';
    log[level]({ requestId: request.id, err: error }, 'An answer broke off');
    // Where the end of the connection is the end of the answer (nginx asks so), only a reset tells of the failure.
    if (request.raw.httpVersion === '1.0' && !('encrypted' in socket)) socket.resetAndDestroy();
  });
  return reply.send(body);
}

/** Aborted when a response has ended, or its connection: one that waits for its turn on a connection is not closed with it. */
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

type Turn = { slots: Slots; accountId: number; ended: AbortSignal; pieces: () => AsyncIterable<string> };

/** Waits until the earlier responses of the connection have ended and a slot is free, then returns the pieces. */
async function* inSlot(response: ServerResponse, { slots, accountId, ended, pieces }: Turn) {
  if (!response.socket) await once(response, 'socket', { signal: ended });
  const release = await slots.take(accountId, ended);
  try {
    if (!ended.aborted) yield* pieces();
  } finally {
    release();
  }
}

/** What goes through, held until its end, unless it is larger than `largest` bytes. */
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

  override _transform(chunk: Buffer, _encoding: string, done: (error: null, chunk: Buffer) => void): void {
    this.length += chunk.length;
    if (this.length <= this.largest) this.chunks.push(chunk);
    else this.chunks = [];
    done(null, chunk);
  }

  override _flush(done: () => void): void {
    if (this.length <= this.largest) this.onWhole(Buffer.concat(this.chunks));
    done();
  }
}

/** What an answer says of its content. */
function traitsOf(reply: FastifyReply): Record<string, string> {
  const names = ['content-type', 'content-encoding', 'content-disposition'];
  return Object.fromEntries(
    names.filter((name) => reply.hasHeader(name)).map((name) => [name, String(reply.getHeader(name))]),
  );
}

/** Takes back what an answer has said of itself, when an error takes its place. */
export function withoutTraits(reply: FastifyReply): FastifyReply {
  for (const name of ['etag', 'cache-control', 'content-encoding', 'content-disposition'])
    reply.removeHeader(name);
  return reply;
}

/** Raised when answers of the same content are written otherwise: a client that has the old bytes must not get 304. */
const format = 1;

/** Weak: one for all encodings of the same content. */
function etagOf(content: Buffer | string): string {
  return `W/"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`;
}

/** Sets the headers that a 304 shares with the answer, and says whether the client has what the ETag names. */
function announce(request: FastifyRequest, reply: FastifyReply, etag: string): boolean {
  reply.headers({ etag, 'cache-control': 'private, no-cache' });
  vary(reply, 'Accept-Encoding');
  const held = request.headers['if-none-match'];
  if (held === undefined) return false;
  if (held.trim() === '*') return true;
  // Weak comparison: whether a tag is weak does not count.
  return held.matchAll(/"[^"]*"/g).some(([opaque]) => opaque === etag.slice(2));
}

/** The encoding to pack the answer in, which its headers then name; none for what its handler has packed. */
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
