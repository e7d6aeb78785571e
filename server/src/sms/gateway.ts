// Sends text messages through the gateway of the installation: one HTTP request each, over its own connection, so that a connection that
// the gateway has just closed can't make the status of a message unknown.
import { createHash } from 'node:crypto';
import { filled, filledJson, type SmsGateway, type Values } from '../base/messages/sms.ts';
import { exchange, type OutgoingRequest, type OutgoingTimes } from '../base/outgoing/exchange.ts';
import { signatureHeaders } from '../base/outgoing/signature.ts';
import { version } from '../base/version.ts';
import { Deferred, Rejected, Throttled, Unconfirmed } from '../sending/outcomes.ts';
import { withoutSecrets } from './gateway-reasons.ts';
import type { Gateway, Sms } from './sms.ts';

/** How many messages are sent at the same time. */
const connections = 4;

const timeouts: OutgoingTimes = { connect: 15_000, response: 60_000, body: 5_000 };

/** How much of a response is read, in bytes. */
const maxResponseBytes = 16 * 1024;

/** The longest pause that a gateway can ask for, in ms. */
const maxWaitMs = 24 * 3_600_000;

export type GatewayOptions = Partial<OutgoingTimes> & { now?: () => number };

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
        const { status, headers, text } = await exchange(written, {
          reach: 'anywhere', // the operator has configured the address, which may be on the same machine
          times,
          maxBytes: maxResponseBytes,
          isTrusted: settings.isTrusted,
          beforeEnd: beforeEnd && withdrawable(beforeEnd, sent),
          onBegin: () => void (sent.hasBegun = true),
        });
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

function requestFor(settings: SmsGateway, sms: Sms, now: number): OutgoingRequest {
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
    url: settings.url,
    method: request.method,
    headers: {
      accept: 'application/json',
      'user-agent': `Soundings/${version}`,
      ...Object.fromEntries(headers),
      ...(request.auth && { authorization: authorization(request.auth, user, password) }),
      'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      ...(signingKey && signatureHeaders([signingKey], { id: key, body, now })),
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

/** Returns `beforeEnd`, noting why it rejects. */
const withdrawable = (beforeEnd: () => Promise<void>, sent: Progress) => () =>
  beforeEnd().catch((reason: unknown) => {
    sent.withdrawn = { reason };
    throw reason;
  });

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

/** Returns how long a Retry-After header asks to wait, in ms: seconds or a date (RFC 9110 §10.2.3). */
function waitIn(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), maxWaitMs) : undefined;
}
