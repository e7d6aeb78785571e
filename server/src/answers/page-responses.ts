// What the answering pages and those where people enter the code of a card have in common: their headers, reading forms, compressing, and
// the short pages for requests that fail.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Fault } from '../base/errors.ts';
import { assetAt } from '../base/places.ts';
import { asFault } from '../db/db.ts';
import { acceptedEncoding, compress } from '../http/responses/encoding.ts';
import { retryAfter } from '../http/responses/problems.ts';
import type { Server } from '../http/server.ts';
import { type PageAssets, plainPage } from './page.ts';
import { spokenLanguage } from './page-language.ts';
import { type PlainKind, pageTexts } from './page-texts.ts';

/** Returns the lines of a file without indentation and comments, to keep the page small. */
const linesOf = (name: string) =>
  readFileSync(assetAt(`answers/${name}`), 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/^\/\/|^\/\*.*\*\/$/.test(line));

/** Returns style sheets as one small text. */
const styleOf = (...names: string[]) =>
  names.flatMap(linesOf).join('').replaceAll(': ', ':').replaceAll(' {', '{').replaceAll(';}', '}');

/** Returns scripts as one small text. Line breaks are dropped only where they never end a statement. */
const scriptOf = (...names: string[]) =>
  names
    .flatMap(linesOf)
    .join('\n')
    .replaceAll(/([;{,(])\n/g, '$1');

const answeringScript = scriptOf('page.client.js');

/** The style and script of the answering page. */
export const pageAssets: PageAssets = {
  style: styleOf('page.css', 'page.questions.css'),
  script: `${answeringScript}\nanswering();`,
};

/** The style and script of the page where people enter the code of a card. */
export const entryAssets: PageAssets = {
  style: styleOf('page.css', 'page.questions.css', 'entry/entry.css'),
  script: scriptOf('entry/card-code.client.js', 'entry/entry.client.js'),
};

/** The style and script of a kiosk, which shows the questions as well. */
export const kioskAssets: PageAssets = {
  style: styleOf('page.css', 'page.questions.css', 'entry/entry.css', 'entry/kiosk.css'),
  script: scriptOf(
    'page.client.js',
    'entry/card-code.client.js',
    'entry/camera.client.js',
    'entry/kiosk.client.js',
  ),
};
const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

const html = 'text/html; charset=utf-8';
const headersOf = ({ style, script }: PageAssets) => ({
  'content-type': html,
  vary: 'accept-encoding, accept-language, cookie',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex, nofollow',
  'content-security-policy': [
    "default-src 'none'",
    `style-src ${hashOf(style)}`,
    `script-src ${hashOf(script)}`,
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
});

/** The short pages have the style of the answering page, wherever they are. */
const plainHeaders = headersOf(pageAssets);

/** The headers of responses to the page's script, which contain no page. They are shorter, because there is one for each answer. */
const headersForScript = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex, nofollow',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

/** Adds routes that respond with pages. `assets`: the style and script that the pages may have. */
export function openPages(
  server: Server,
  assets: PageAssets,
  addRoutes: (scope: FastifyInstance) => void,
): void {
  const headers = headersOf(assets);
  server.app.register(async (scope) => {
    readForms(scope);
    scope.addHook('onRequest', (request, reply, done) => {
      reply.headers(isScript(request) ? headersForScript : headers);
      if (request.method === 'POST' && isForeign(request)) plain(request, reply, 403, 'foreign');
      else done();
    });
    scope.addHook('onSend', compressPage);
    scope.setErrorHandler((error, request, reply) => {
      reply.headers(isScript(request) ? headersForScript : headers);
      return refuse(error, request, reply);
    });
    addRoutes(scope);
  });
}

/** Reads form bodies as bytes. A one-click request of a mail program can use either of the two types (RFC 8058). */
function readForms(scope: FastifyInstance): void {
  const types = ['application/x-www-form-urlencoded', 'multipart/form-data'];
  scope.addContentTypeParser(types, async (request: FastifyRequest) => scope.readBody(request));
}

/** Compresses a page, because 50 questions are more than 30 KB uncompressed. */
async function compressPage(request: FastifyRequest, reply: FastifyReply, page: unknown): Promise<unknown> {
  if (typeof page !== 'string' || reply.getHeader('content-type') !== html) return page;
  const encoding = acceptedEncoding(request.headers['accept-encoding']);
  if (encoding !== 'identity') reply.header('content-encoding', encoding);
  return compress(encoding, Buffer.from(page));
}

/** Returns whether another website sent the request. Old browsers don't say, but the request needs the secret link anyway. */
function isForeign({ headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site'];
  return site !== undefined && site !== 'same-origin' && site !== 'none';
}

/** Returns the language for a person who is not known yet. */
export const browserLanguage = ({ headers }: FastifyRequest) => spokenLanguage(headers['accept-language']);

/** Returns whether the page's script sent the request, rather than the browser itself. */
const isScript = ({ routeOptions }: FastifyRequest) => /\/(?:answers|open)$/.test(routeOptions.url ?? '');

/** Responds to the page's script with a message to show. */
export const sendMessage = (reply: FastifyReply, status: number, message: string) =>
  reply.code(status).header('content-type', 'application/json; charset=utf-8').send({ message });

/** Responds with a short page, or with only its heading if the page's script asked. */
export function plain(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  kind: PlainKind,
  more: Parameters<typeof plainPage>[3] = {},
): FastifyReply {
  const language = browserLanguage(request);
  if (isScript(request)) return sendMessage(reply, status, pageTexts.in(language)(`plain.${kind}.heading`));
  return reply
    .code(status)
    .headers(plainHeaders)
    .send(plainPage(pageAssets, language, kind, more));
}

/** Responds to a failed request. The fields of a form are returned with the page, so that the person can send them again. */
function refuse(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = asFault(thrown);
  if (error instanceof Fault && error.kind === 'unavailable') {
    request.server.log.warn({ requestId: request.id, cause: error.cause }, error.message);
    reply.header('retry-after', retryAfter);
    return plain(request, reply, 503, 'away', { fields: sentFields(request) });
  }
  const status = (error as { statusCode?: unknown }).statusCode;
  if (typeof status === 'number' && status >= 400 && status < 500) {
    // Otherwise the rest of the body would be read as the next request.
    if (status === 413 || status === 415) reply.header('connection', 'close');
    return plain(request, reply, status, status === 413 ? 'tooLarge' : 'defect');
  }
  request.server.log.error({ requestId: request.id, err: error }, 'Unexpected error in a request');
  return plain(request, reply, 500, 'defect', { fields: sentFields(request), id: request.id });
}

/** Returns the fields of the page's form, if they were read. */
const sentFields = ({ body, routeOptions }: FastifyRequest) =>
  Buffer.isBuffer(body) && routeOptions.url === '/a/:link' ? new URLSearchParams(String(body)) : [];
