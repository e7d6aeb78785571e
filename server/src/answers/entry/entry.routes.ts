// HTTP routes of printed cards: the page at /go, where people enter the code of their card, and kiosks. A code opens the person's
// answering page (rounds/card-links.ts). Codes and the addresses of kiosks are secrets: they are never logged, and every code that opens
// nothing gets the same response.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { parseJson } from '../../base/json.ts';
import { networkOf } from '../../base/network.ts';
import { openThrottle, retryAfterOf, type Throttle } from '../../base/throttle.ts';
import { codeIn } from '../../cards/card-code.ts';
import type { Kiosk } from '../../cards/kiosks.sql.ts';
import { kioskOf } from '../../cards/kiosks.ts';
import { type OpenedCard, openCard } from '../../rounds/card-links.ts';
import type { AnsweringDependencies } from '../answering.routes.ts';
import { browserLanguage, entryAssets, kioskAssets, openPages, plain } from '../page-responses.ts';
import type { Server } from '../../http/server.ts';
import { type CodeFault, codePage } from './code-page.ts';
import { entryTexts } from './entry-texts.ts';
import { kioskPage, versionOf } from './kiosk-page.ts';

/**
 * How many wrong codes, or wrong addresses of kiosks, a network or a kiosk can try. Further codes are not even looked up, so that
 * guessing takes forever.
 */
const wrongCodes = { free: 30, windowMs: 60_000 };
/** How many networks are remembered. */
const maxNetworks = 10_000;

/** Maximum size of a request in bytes. */
const bodyLimit = 4096;

export type EntryDependencies = Omit<AnsweringDependencies, 'isSecure'> & {
  /** Whether a mail server is configured. Cards don't work for people who get the questions by email. */
  canMail: boolean;
};

type Tried = OpenedCard | 'unknown' | { waitMs: number };

export function serveEntry(server: Server, { pool, keys, canMail, now }: EntryDependencies): void {
  const throttle = openThrottle(wrongCodes, maxNetworks, now);

  /** Looks a code up. Counts it before, so that many at the same time are counted as well, and takes it back if it is right. */
  async function tried(counted: string, code: string, kiosk?: Kiosk): Promise<Tried> {
    const waitMs = throttle.attempt(counted);
    if (waitMs > 0) return { waitMs };
    const where = kiosk ? { canMail, kiosk } : { canMail };
    const opened = await openCard(await pool, (await keys).secrets, code, where).catch((error: unknown) => {
      throttle.forgive(counted);
      throw error;
    });
    if (opened) throttle.forgive(counted);
    return opened ?? 'unknown';
  }

  openPages(server, entryAssets, (scope) => {
    scope.route({
      method: ['GET', 'HEAD'],
      url: '/go',
      handler: async (request, reply) => reply.send(codePage(entryAssets, languageOf(request))),
    });
    scope.route({
      method: 'POST',
      url: '/go',
      bodyLimit,
      handler: async (request, reply) => {
        const code = new URLSearchParams(String(request.body)).get('code') ?? '';
        return answerCode(request, reply, code, tried);
      },
    });
  });
  openPages(server, kioskAssets, (scope) => {
    scope.route({
      method: ['GET', 'HEAD'],
      url: '/k/:secret',
      handler: async (request, reply) =>
        showKiosk(request, reply, await kioskOf(await pool, secretIn(request)), throttle),
    });
    scope.route({
      method: 'POST',
      url: '/k/:secret/open',
      bodyLimit,
      handler: async (request, reply) =>
        openAtKiosk(reply, await kioskOf(await pool, secretIn(request)), request, tried),
    });
  });
}

type Try = (counted: string, code: string, kiosk?: Kiosk) => Promise<Tried>;

const secretIn = ({ params }: FastifyRequest) => (params as { secret: string }).secret;

/** Returns the language that was chosen on the page, or the browser's. */
function languageOf(request: FastifyRequest): string {
  const { language } = request.query as Record<string, unknown>;
  const chosen = String(language).toLowerCase();
  return entryTexts.languages.includes(chosen) ? chosen : browserLanguage(request);
}

/** Opens the answering page of a code, or shows what is wrong with the code. */
async function answerCode(
  request: FastifyRequest,
  reply: FastifyReply,
  code: string,
  tried: Try,
): Promise<FastifyReply> {
  const refused = (status: number, fault: CodeFault) =>
    reply.code(status).send(codePage(entryAssets, languageOf(request), fault));
  if (codeIn(code) === undefined) return refused(400, 'typo'); // a slip, which costs no attempt
  const opened = await tried(networkOf(request.address), code);
  if (opened === 'unknown') return refused(404, 'unknown');
  if ('waitMs' in opened) {
    reply.header('retry-after', String(retryAfterOf(opened.waitMs)));
    return refused(429, 'wait');
  }
  if (opened.link === null) return refused(200, 'notAsked');
  return reply.code(303).header('location', `/a/${opened.link}`).send();
}

/** Sends the page of a kiosk. A wrong address counts like a wrong code. */
function showKiosk(
  request: FastifyRequest,
  reply: FastifyReply,
  kiosk: Kiosk | undefined,
  throttle: Throttle,
): FastifyReply {
  if (kiosk) {
    return reply
      .header('permissions-policy', 'camera=(self), microphone=(), geolocation=(), payment=()')
      .send(kioskPage(kioskAssets, kiosk));
  }
  const waitMs = throttle.attempt(networkOf(request.address));
  if (waitMs > 0) reply.header('retry-after', String(retryAfterOf(waitMs)));
  return plain(request, reply, waitMs > 0 ? 429 : 404, 'dead');
}

/**
 * Returns the link of a code as JSON, for the script of a kiosk. 404: the code opens nothing. 410: the kiosk was turned off. Attempts are
 * counted for the kiosk, because all kiosks of a building may share an address.
 */
async function openAtKiosk(
  reply: FastifyReply,
  kiosk: Kiosk | undefined,
  { body, address }: FastifyRequest,
  tried: Try,
): Promise<FastifyReply> {
  reply.header('content-type', 'application/json; charset=utf-8');
  if (!kiosk) return reply.code(410).send({});
  const read = parseJson((body as Buffer | undefined) ?? Buffer.alloc(0));
  const sent = 'value' in read && read.value !== null && typeof read.value === 'object' ? read.value : {};
  const code = 'code' in sent && typeof sent.code === 'string' ? sent.code : '';
  if (codeIn(code) === undefined) return reply.code(400).send({});
  const opened = await tried(`kiosk ${kiosk.accountId} ${kiosk.id} ${networkOf(address)}`, code, kiosk);
  if (opened === 'unknown') return reply.code(404).send({});
  if ('waitMs' in opened) {
    return reply
      .code(429)
      .header('retry-after', String(retryAfterOf(opened.waitMs)))
      .send({});
  }
  return reply.send({ ...opened, version: versionOf(kioskAssets) });
}
