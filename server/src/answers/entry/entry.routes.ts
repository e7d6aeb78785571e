// HTTP routes of printed cards: the page at /go, where people enter the code of their card, and kiosks. A code opens the person's
// answering page (rounds/card-links.ts). Codes and the addresses of kiosks are secrets: they are never logged, and every code that opens
// nothing gets the same response.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Channels } from '../../base/messages/channels.ts';
import { parseJson } from '../../base/json/json.ts';
import { networkOf } from '../../base/network.ts';
import { openThrottle, retryAfterOf, type Throttle } from '../../base/throttle.ts';
import { codeIn } from '../../cards/card-code.ts';
import type { Kiosk } from '../../cards/kiosks.sql.ts';
import { kioskOf } from '../../cards/kiosks.ts';
import { type OpenedCard, openCard } from '../../rounds/card-links.ts';
import type { Pool } from '../../db/db.ts';
import type { AnswerKeys } from '../../sealing/answer-keys.ts';
import type { PageAssets } from '../page.ts';
import { browserLanguage, entryAssets, kioskAssets, openPages, plain } from '../page-responses.ts';
import type { Server } from '../../http/server.ts';
import { type CodeFault, codePage } from './code-page.ts';
import { pageTexts } from '../page-texts.ts';
import { kioskPage, pageVersionOf } from './kiosk-page.ts';

/**
 * How many wrong codes, or wrong addresses of kiosks, a network or a kiosk can try. Further codes are not even looked up, so that
 * guessing takes forever.
 */
const wrongCodes = { free: 30, windowMs: 60_000 };
/** How many networks are remembered. */
const maxNetworks = 10_000;

/** Maximum size of a request in bytes. */
const bodyLimit = 4096;

export type EntryDependencies = {
  pool: Promise<Pool>;
  keys: Promise<AnswerKeys>;
  /** The clock, in ms since 1970. */
  now: () => number;
  /** What is configured. Cards don't work for people who get the questions by email or text message. */
  channels: Channels;
};

type Tried = OpenedCard | 'unknown' | { waitMs: number };

export function serveEntry(server: Server, { pool, keys, channels, now }: EntryDependencies): void {
  const throttle = openThrottle(wrongCodes, maxNetworks, now);

  /** Looks a code up. Counts it before, so that many at the same time are counted as well, and takes it back if it is right. */
  async function tried(counted: string, code: string, kiosk?: Kiosk): Promise<Tried> {
    const waitMs = throttle.attempt(counted);
    if (waitMs > 0) return { waitMs };
    const where = kiosk ? { channels, kiosk } : { channels };
    const opened = await openCard(await pool, (await keys).secrets, code, where).catch((error: unknown) => {
      throttle.forgive(counted);
      throw error;
    });
    if (opened) throttle.forgive(counted);
    return opened ?? 'unknown';
  }

  const atGo: Route[] = [
    ['GET', '/go', showForm],
    ['POST', '/go', takeCode],
  ];
  const atKiosks: Route[] = [
    ['GET', '/k/:secret', showKiosk],
    ['POST', '/k/:secret/open', openAtKiosk],
  ];
  const add = (assets: PageAssets, routes: Route[]) =>
    openPages(server, assets, (scope) => {
      for (const [method, url, handler] of routes) {
        scope.route({
          method: method === 'GET' ? ['GET', 'HEAD'] : method,
          url,
          bodyLimit,
          handler: async (request, reply) => {
            const { secret } = request.params as { secret?: string };
            const kiosk = secret === undefined ? undefined : await kioskOf(await pool, secret);
            return handler({ request, reply, kiosk, tried, throttle });
          },
        });
      }
    });
  add(entryAssets, atGo);
  add(kioskAssets, atKiosks);
}

/** `kiosk`: the kiosk of the address, if there is one. */
type EntryContext = {
  request: FastifyRequest;
  reply: FastifyReply;
  kiosk: Kiosk | undefined;
  tried: (counted: string, code: string, kiosk?: Kiosk) => Promise<Tried>;
  throttle: Throttle;
};

type Handler = (context: EntryContext) => Promise<FastifyReply>;
type Route = [method: 'GET' | 'POST', url: string, handler: Handler];

const showForm: Handler = async ({ request, reply }) =>
  reply.send(codePage(entryAssets, languageOf(request)));

/** Returns the language that was chosen on the page, or the browser's. */
function languageOf(request: FastifyRequest): string {
  const { language } = request.query as Record<string, unknown>;
  const chosen = String(language).toLowerCase();
  return pageTexts.languages.includes(chosen) ? chosen : browserLanguage(request);
}

/** Opens the answering page of a code, or shows what is wrong with the code. */
async function takeCode({ request, reply, tried }: EntryContext): Promise<FastifyReply> {
  const refused = (status: number, fault: CodeFault) =>
    reply.code(status).send(codePage(entryAssets, languageOf(request), fault));
  const code = new URLSearchParams(String(request.body)).get('code') ?? '';
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
async function showKiosk({ request, reply, kiosk, throttle }: EntryContext): Promise<FastifyReply> {
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
 * Returns the link of a code as JSON, for the script of a kiosk. 404: the code opens nothing. 410: the kiosk was turned off. Wrong codes
 * are counted for the kiosk as well, because all devices of a building may share an address.
 */
async function openAtKiosk({ request, reply, kiosk, tried }: EntryContext): Promise<FastifyReply> {
  reply.header('content-type', 'application/json; charset=utf-8');
  if (!kiosk) return reply.code(410).send({});
  const read = parseJson((request.body as Buffer | undefined) ?? Buffer.alloc(0));
  const sent = 'value' in read && read.value !== null && typeof read.value === 'object' ? read.value : {};
  const code = 'code' in sent && typeof sent.code === 'string' ? sent.code : '';
  if (codeIn(code) === undefined) return reply.code(400).send({});
  const opened = await tried(`kiosk ${kiosk.id} ${networkOf(request.address)}`, code, kiosk);
  if (opened === 'unknown') return reply.code(404).send({});
  if ('waitMs' in opened) {
    return reply
      .code(429)
      .header('retry-after', String(retryAfterOf(opened.waitMs)))
      .send({});
  }
  return reply.send({ ...opened, version: pageVersionOf(kioskAssets) });
}
