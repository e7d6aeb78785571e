// Sends text messages through the gateway of the installation: one HTTP request each, over its own connection, so that a connection that
// the gateway has just closed can't make the status of a message unknown. Redirects are not followed, and of a response only the
// beginning is read.
import { createHash } from 'node:crypto';
import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { type RequestOptions, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { filled, filledJson, type SmsGateway, type Values } from '../base/messages/sms.ts';
import { version } from '../base/version.ts';
import { Deferred, Rejected, Throttled, Unconfirmed } from '../sending/outcomes.ts';
import { withoutSecrets } from './gateway-reasons.ts';
import { signatureHeaders } from './signature.ts';
import type { Gateway, Sms } from './sms.ts';

/** How many messages are sent at the same time. */
const connections = 4;

/** How long to wait, in ms, until the connection is ready, until the response begins, and until its beginning has been read. */
const timeouts = { connect: 15_000, response: 60_000, body: 5_000 };

/** How much of a response is read, in bytes. */
const maxResponseBytes = 16 * 1024;

/** The longest pause that a gateway can ask for, in ms. */
const maxWaitMs = 24 * 3_600_000;

export type GatewayOptions = Partial<typeof timeouts> & { now?: () => number };

/** Opens the gateway that the settings describe. Connects only when there is something to send. */
export function openGateway(settings: SmsGateway, options: GatewayOptions = {}): Gateway {
  const times = { ...timeouts, ...options };
  const { now = Date.now } = options;
  let isClosed = false;
  return {
    provider: settings.provider,
    connections,
    async send(sms, beforeEnd) {
      if (isClosed) throw new Error('The service is stopping.');
      const written = requestFor(settings, sms, now());
      const sent: Progress = { hasBegun: false, withdrawn: undefined };
      try {
        const response = await exchange(settings, written, { times, beforeEnd, sent });
        const { statusCode: status = 0, headers } = response;
        const text = await beginningOf(response, times.body);
        if (status >= 200 && status < 300) return;
        const reason = withoutSecrets(`HTTP ${status}: ${text}`, sms, settings);
        throw errorFor(status, reason, waitIn(headers['retry-after'], now()));
      } catch (error) {
        throw sent.withdrawn ? sent.withdrawn.reason : outcomeOf(error, sent.hasBegun, settings.isIdempotent);
      }
    },
    close: () => void (isClosed = true),
  };
}

type WrittenRequest = { method: string; headers: Record<string, string>; body: string };

function requestFor(settings: SmsGateway, sms: Sms, now: number): WrittenRequest {
  const { request, user, password, from, signingKey } = settings;
  const key = createHash('sha256').update(sms.id).digest('hex').slice(0, 32);
  const { to, text, kind, language, externalId, email } = sms;
  const own = { key, user, password, from };
  const values = { ...own, phone: to, phoneDigits: to.replace(/^\+/, ''), text, kind, language };
  const all: Values = { ...values, externalId, email };
  const isForm = 'form' in request.body;
  const body =
    'form' in request.body
      ? formOf(request.body.form, all)
      : JSON.stringify(filledJson(request.body.json, all));
  const headers = Object.entries(request.headers).map(([name, one]) => [
    name.toLowerCase(),
    filled(one, own) ?? '',
  ]);
  return {
    method: request.method,
    headers: {
      accept: 'application/json',
      'user-agent': `Soundings/${version}`,
      ...Object.fromEntries(headers),
      ...(request.auth && { authorization: authorization(request.auth, user, password) }),
      'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      ...(signingKey && signatureHeaders(signingKey, { id: key, body, now })),
    },
    body,
  };
}

function formOf(form: Record<string, string>, values: Values): string {
  const fields = Object.entries(form).flatMap(([name, one]) => {
    const value = filled(one, values);
    return value === null ? [] : [[name, value] as [string, string]];
  });
  return new URLSearchParams(fields).toString();
}

const authorization = (auth: 'basic' | 'bearer', user: string, password: string) =>
  auth === 'bearer' ? `Bearer ${password}` : `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

/** `hasBegun`: the gateway may have received something. `withdrawn`: why the message was not sent, although the connection was ready. */
type Progress = { hasBegun: boolean; withdrawn: { reason: unknown } | undefined };

type ExchangeOptions = {
  times: typeof timeouts;
  beforeEnd: (() => Promise<void>) | undefined;
  sent: Progress;
};

/** Sends a request, and returns the response when it begins. */
async function exchange(
  { url, isTrusted }: SmsGateway,
  { method, headers, body }: WrittenRequest,
  { times, beforeEnd, sent }: ExchangeOptions,
): Promise<IncomingMessage> {
  const options: RequestOptions = { method, headers, agent: false, rejectUnauthorized: !isTrusted };
  const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, options);
  const failed = new Promise<never>((_, reject) => request.on('error', reject));
  failed.catch(() => {}); // reported where it is awaited
  const response = new Promise<IncomingMessage>((resolve) => request.on('response', resolve));
  try {
    await inTime(Promise.race([connected(request), failed]), times.connect, 'The connection took too long.');
    await beforeEnd?.().catch((reason: unknown) => {
      sent.withdrawn = { reason };
      throw reason;
    });
    // If the connection has been closed in the meantime, nothing was sent.
    if (request.destroyed) await failed;
    sent.hasBegun = true;
    request.end(body);
    return await inTime(Promise.race([response, failed]), times.response, 'The response took too long.');
  } catch (error) {
    request.destroy();
    throw error;
  }
}

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
async function beginningOf(response: IncomingMessage, ms: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  const reading = (async () => {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= maxResponseBytes) return;
    }
  })();
  await inTime(reading, ms, 'The response took too long.').catch(() => {});
  reading.catch(() => {});
  response.destroy();
  return Buffer.concat(chunks).subarray(0, maxResponseBytes).toString('utf8');
}

/** Thrown if the gateway may have passed the message on, although it didn't say so. */
class MaybeAccepted extends Error {}

/**
 * Returns what a status that is not a success means for the message. A proxy in front of a gateway responds with 502 or 504 after it has
 * passed the request on, so the gateway may have accepted it. Statuses about our login, the balance or the address of the gateway can be
 * fixed, and the message sent again. Other statuses from 400 to 499 reject the message.
 */
function errorFor(status: number, reason: string, waitMs: number | undefined): Error {
  if (status === 429) return new Throttled(reason, waitMs);
  if (status === 503 && waitMs !== undefined) return new Throttled(reason, waitMs);
  if (status === 502 || status === 504) return new MaybeAccepted(reason);
  if (status >= 500) return new Error(`The gateway for text messages is not available: ${reason}`);
  if (status === 408 || status === 425) return new Deferred(reason);
  if (status < 400)
    return new Error(
      `The gateway for text messages redirects, which is not followed. Correct SMS_URL: ${reason}`,
    );
  if ([401, 402, 403, 404, 405, 407].includes(status))
    return new Error(`The gateway for text messages does not accept the settings SMS_…: ${reason}`);
  return new Rejected(reason);
}

/** Returns what an error means for the message. `hasBegun`: the gateway may have received the request. */
function outcomeOf(error: unknown, hasBegun: boolean, isIdempotent: boolean): unknown {
  if (error instanceof MaybeAccepted)
    return isIdempotent
      ? new Error(`The gateway for text messages is not available: ${error.message}`)
      : new Unconfirmed(`The gateway may have accepted the message: ${error.message}`);
  const { code } = error as { code?: unknown };
  if (!(error instanceof Error) || typeof code !== 'string') return error;
  // A new error, because the message of the original one contains the address.
  return hasBegun && !isIdempotent
    ? new Unconfirmed(`The gateway did not confirm whether it accepted the message: ${code}`)
    : Object.assign(new Error(`The gateway for text messages can't be reached: ${code}`), { code });
}

/** Returns for how long a Retry-After header asks to wait, in ms: seconds or a date (RFC 9110 §10.2.3). */
function waitIn(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), maxWaitMs) : undefined;
}
