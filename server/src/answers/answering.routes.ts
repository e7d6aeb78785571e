// Answering over HTTP: the page that a personal link opens, with JavaScript and without, and the page on which reminders are
// stopped. Reads the wire, asks answering.ts and stops.ts, writes the wire. The link is the secret: it is never logged, and
// every link that opens nothing gets the same answer.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { maxCommentLength } from '@soundings/contract/limits.ts';
import { Fault } from '../base/errors.ts';
import { type JsonValue, parseJson } from '../base/json.ts';
import { randomText, tokenHash } from '../base/secrets.ts';
import { asFault, type Pool } from '../db/db.ts';
import { cookieOf } from '../http/cookies.ts';
import { acceptedEncoding, pack } from '../http/encoding.ts';
import { retryAfter } from '../http/problems.ts';
import type { Server } from '../http/server.ts';
import { openStop, setReminders } from '../rounds/stops.ts';
import type { AnswerKeys } from '../sealing/answer-keys.ts';
import { type Asking, type GivenAnswer, giveAnswers, openLink } from './answering.ts';
import { openDeadLinks } from './dead-links.ts';
import { answersIn, keptIn, type Said, saidIn } from './form.ts';
import {
  askingPage,
  faultWords,
  type PageFault,
  pageLanguage,
  plainPage,
  remindersPage,
  spokenLanguage,
  thanksPage,
  wordsOf,
} from './page.ts';
import type { PlainKind } from './page-words.ts';

/** A form has all comments of a person, an answer one. */
const [formLimit, answerLimit] = [1024 * 1024, 64 * 1024];

/** The lines of a file without indents and comments: each byte travels to each person. */
const linesOf = (name: string) =>
  readFileSync(new URL(name, import.meta.url), 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/^\/\/|^\/\*.*\*\/$/.test(line));

export const dress = {
  style: linesOf('page.css').join('').replaceAll(': ', ':').replaceAll(' {', '{').replaceAll(';}', '}'),
  script: linesOf('page.client.js').join('\n'),
};
const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

const html = 'text/html; charset=utf-8';
const pageHeaders = {
  'content-type': html,
  vary: 'accept-encoding, accept-language, cookie',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex, nofollow',
  'content-security-policy': [
    "default-src 'none'",
    `style-src ${hashOf(dress.style)}`,
    `script-src ${hashOf(dress.script)}`,
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
};

/** What answers are read and written by. */
type Means = { pool: Pool; keys: AnswerKeys; isSecure: boolean };

type Handler = (
  means: Means,
  link: string,
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<FastifyReply>;

export type AnsweringParts = {
  pool: Promise<Pool>;
  keys: Promise<AnswerKeys>;
  /** People come by HTTPS, and cookies are for it alone. */
  isSecure: boolean;
  /** The clock, in ms. */
  now: () => number;
};

export function serveAnswering(server: Server, { pool, keys, isSecure, now }: AnsweringParts): void {
  const deadLinks = openDeadLinks(now);

  /** The answer to a link that opens nothing, counted against the address that it comes from. */
  function dead(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const seconds = deadLinks.count(request.address);
    if (seconds !== undefined) reply.header('retry-after', String(seconds));
    return plain(request, reply, seconds === undefined ? 404 : 429, 'dead');
  }

  const routes: [method: 'GET' | 'POST', url: string, handler: Handler, bodyLimit?: number][] = [
    ['GET', '/a/:link', showPage],
    ['POST', '/a/:link', takeForm, formLimit],
    ['POST', '/a/:link/answers', takeAnswer, answerLimit],
    ['GET', '/r/:token', showReminders],
    ['POST', '/r/:token', changeReminders],
    // A link that was cut or added to is one that opens nothing.
    ['GET', '/a/*', showPage],
    ['GET', '/r/*', showReminders],
  ];

  server.app.register(async (scope) => {
    readForms(scope);
    scope.addHook('onRequest', async (request, reply) => {
      reply.headers(pageHeaders);
      if (request.method === 'POST' && isForeign(request)) return plain(request, reply, 403, 'foreign');
    });
    scope.addHook('onSend', packPage);
    scope.setErrorHandler((error, request, reply) => refuse(error, request, reply));
    for (const [method, url, handler, bodyLimit = answerLimit] of routes) {
      scope.route({
        method: method === 'GET' ? ['GET', 'HEAD'] : method,
        url,
        bodyLimit,
        handler: async (request, reply) => {
          const [link = ''] = Object.values(request.params as Record<string, string>);
          const means = { pool: await pool, keys: await keys, isSecure };
          return handler(means, link, request, reply).catch((error: unknown) => {
            if (error === opensNothing) return dead(request, reply);
            throw error;
          });
        },
      });
    }
  });
}

/** Thrown by whoever finds that the link opens nothing. */
const opensNothing = new Error('The link opens nothing.');

/** Bodies of forms, as bytes: one click of a mail program (RFC 8058) may come in either of the two. */
function readForms(scope: FastifyInstance): void {
  const types = ['application/x-www-form-urlencoded', 'multipart/form-data'];
  scope.addContentTypeParser(types, async (request: FastifyRequest) => scope.readBody(request));
}

/** A page travels packed: 50 questions take more than 30 KB as they are. */
async function packPage(request: FastifyRequest, reply: FastifyReply, page: unknown): Promise<unknown> {
  if (typeof page !== 'string' || reply.getHeader('content-type') !== html) return page;
  const encoding = acceptedEncoding(request.headers['accept-encoding']);
  if (encoding !== 'identity') reply.header('content-encoding', encoding);
  return pack(encoding, Buffer.from(page));
}

/** Whether a page of another website sends this. Browsers too old to say have the link, which is the secret, all the same. */
function isForeign({ headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site'];
  return site !== undefined && site !== 'same-origin' && site !== 'none';
}

async function opened({ pool, keys }: Means, link: string, visit: string | null): Promise<Asking> {
  const asking = await openLink(pool, keys, { link, visit });
  if (!asking) throw opensNothing;
  return asking;
}

/**
 * The name of the cookie of a visit. By HTTPS a browser takes it from this host alone: else another host of the same domain could
 * set one that it knows, and read by it what is answered (RFC 6265bis, __Host-). Such a cookie has no path, so the link is in its
 * name.
 */
const visitCookie = (link: string, isSecure: boolean) =>
  isSecure ? `__Host-soundings_visit_${tokenHash(link).toString('hex').slice(0, 12)}` : 'soundings_visit';
const visitForm = /^[0-9A-Za-z]{27}$/;

/**
 * The secret of the browser session in which a link is used, where it has one: only there its answers are shown (P13). Of a
 * browser that keeps no cookies the page's script says one of its own, as long as the page is open.
 */
function visitOf(request: FastifyRequest, link: string, isSecure: boolean): string | null {
  const value = cookieOf(request, visitCookie(link, isSecure)) ?? request.headers['soundings-visit'];
  return typeof value === 'string' && visitForm.test(value) ? value : null;
}

/** The same; a browser that has none gets one, for this link alone and until the browser is closed. */
function beginVisit(request: FastifyRequest, reply: FastifyReply, link: string, isSecure: boolean): string {
  const before = visitOf(request, link, isSecure);
  if (before !== null) return before;
  const visit = randomText(27);
  const traits = `Path=${isSecure ? '/' : `/a/${link}`}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  reply.header('set-cookie', `${visitCookie(link, isSecure)}=${visit}; ${traits}`);
  return visit;
}

const queryOf = (request: FastifyRequest) => request.query as Record<string, unknown>;
const languageFor = (asking: Asking, request: FastifyRequest) =>
  pageLanguage(asking, queryOf(request)['language']);

async function showPage(means: Means, link: string, request: FastifyRequest, reply: FastifyReply) {
  const asking = await opened(means, link, visitOf(request, link, means.isSecure));
  beginVisit(request, reply, link, means.isSecure);
  const language = languageFor(asking, request);
  const { saved, empty } = queryOf(request);
  const isSent = saved !== undefined || empty !== undefined;
  // By a link that was handed out nothing shows whether there are answers; a browser without cookies finds its own fixed.
  const hasAnswers =
    asking.answers.size > 0 || (saved !== undefined && (asking.isExported || asking.fixed.size > 0));
  if (isSent && hasAnswers) return reply.send(thanksPage(dress, asking, language));
  return reply.send(askingPage(dress, asking, language, keptIn(asking), isSent ? 'empty' : undefined));
}

/** The whole form, without JavaScript: all of it is kept, or nothing. */
async function takeForm(means: Means, link: string, request: FastifyRequest, reply: FastifyReply) {
  const form = formOf(request);
  const asking = await opened(means, link, visitOf(request, link, means.isSecure));
  const visit = beginVisit(request, reply, link, means.isSecure);
  const language = languageFor(asking, request);
  const said = saidIn(form);
  const answers = answersIn(said, asking);
  try {
    const came = await giveAnswers(means.pool, means.keys, { link, visit }, answers);
    if (came === 'closed') throw opensNothing;
  } catch (error) {
    if (!(error instanceof Fault) || error.kind !== 'invalid') throw error;
    const now = await opened(means, link, visit); // some may have been answered elsewhere since
    const wrong = new Map(error.details.map(({ path, type }) => [Number(path?.slice(1)), type]));
    const faults = [...wrong].map(
      ([id, type]) =>
        [id, type === 'already answered' ? refusalAt(id, now) : faultAt(id, now, said.get(id))] as const,
    );
    return reply.code(400).send(askingPage(dress, now, language, said, new Map(faults)));
  }
  return reply
    .code(303)
    .header('location', `?language=${encodeURIComponent(language)}&${answers.length > 0 ? 'saved' : 'empty'}`)
    .send();
}

function formOf({ headers, body }: FastifyRequest): URLSearchParams {
  const type = (headers['content-type'] ?? '').replace(/;.*/s, '').trim().toLowerCase();
  if (type !== 'application/x-www-form-urlencoded') throw unsupported;
  return new URLSearchParams(String(body));
}

const unsupported = Object.assign(new Error('content type'), { statusCode: 415 });

/** What the page says of an answer that was refused. */
function faultAt(id: number, { questions }: Asking, said: Said | undefined): PageFault {
  if (!said || !questions.some((question) => question.id === id)) return 'notAsked';
  if ([...said.comment].length > maxCommentLength) return 'tooLong';
  return said.values.length === 0 ? 'choose' : 'wrong';
}

/** Why an answer cannot be changed. */
const refusalAt = (id: number, { fixed }: Asking): PageFault => fixed.get(id) ?? 'elsewhere';

/** One answer, as JSON. */
async function takeAnswer(means: Means, link: string, request: FastifyRequest, reply: FastifyReply) {
  const answer = answerIn(request.body as Buffer | undefined);
  const refused = (status: number, fault: PageFault) => {
    const language = queryOf(request)['language'];
    const words = wordsOf(typeof language === 'string' ? language : spoken(request));
    return speak(reply, status, faultWords(words, fault));
  };
  // Looked up all the same: whoever tries links learns nothing from what else is wrong.
  if (answer === undefined) {
    await opened(means, link, visitOf(request, link, means.isSecure));
    return refused(400, 'wrong');
  }
  const visit = visitOf(request, link, means.isSecure) ?? randomText(27);
  try {
    const came = await giveAnswers(means.pool, means.keys, { link, visit }, [answer]);
    if (came === 'closed') throw opensNothing;
  } catch (error) {
    if (!(error instanceof Fault) || error.kind !== 'invalid') throw error;
    if (error.code === 'already answered') {
      const now = await opened(means, link, visit);
      return refused(409, refusalAt(answer.questionId, now));
    }
    return refused(400, [...(answer.comment ?? '')].length > maxCommentLength ? 'tooLong' : 'wrong');
  }
  return reply.code(204).removeHeader('content-type').send();
}

/** The answer that a body has; undefined when it has none. Its value is read with the question. */
function answerIn(body: Buffer | undefined): GivenAnswer | undefined {
  const read = parseJson(body ?? Buffer.alloc(0));
  if ('fault' in read) return undefined;
  const { value: sent } = read;
  if (sent === null || typeof sent !== 'object' || Array.isArray(sent)) return undefined;
  const { question, value, comment = null, skipped = false, ...others } = sent as Record<string, JsonValue>;
  if (Object.keys(others).length > 0 || typeof question !== 'number') return undefined;
  if (comment !== null && typeof comment !== 'string') return undefined;
  if (typeof skipped !== 'boolean') return undefined;
  return { questionId: question, comment, skipped, ...(value !== undefined && { value }) };
}

async function showReminders({ pool }: Means, token: string, _request: FastifyRequest, reply: FastifyReply) {
  const stop = await openStop(pool, token);
  if (!stop) throw opensNothing;
  return reply.send(remindersPage(dress, stop, stop.isStopped ? 'stopped' : 'asked'));
}

/** Stops reminders, as one click of a mail program does too (RFC 8058), whatever the body; by ?again they are wanted. */
async function changeReminders({ pool }: Means, token: string, request: FastifyRequest, reply: FastifyReply) {
  const stop = await openStop(pool, token);
  const isWanted = queryOf(request)['again'] !== undefined;
  if (!stop || !(await setReminders(pool, stop.accountId, stop.userId, isWanted))) throw opensNothing;
  return reply.send(remindersPage(dress, stop, isWanted ? 'resumed' : 'stopped'));
}

const spoken = ({ headers }: FastifyRequest) => spokenLanguage(headers['accept-language']);

/** Whether the page's script asks, rather than a browser for a page. */
const isScript = ({ routeOptions }: FastifyRequest) => routeOptions.url?.endsWith('/answers') ?? false;

const speak = (reply: FastifyReply, status: number, message: string) =>
  reply.code(status).header('content-type', 'application/json; charset=utf-8').send({ message });

/** A page of a sentence or two, or to the script that sentence. */
function plain(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  kind: PlainKind,
  more: Parameters<typeof plainPage>[3] = {},
): FastifyReply {
  const language = spoken(request);
  if (isScript(request)) return speak(reply, status, wordsOf(language).plain[kind].heading);
  return reply.code(status).send(plainPage(dress, language, kind, more));
}

/** What could not be done. What a form had comes back with the page, to be sent again. */
function refuse(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = asFault(thrown);
  reply.headers(pageHeaders);
  if (error instanceof Fault && error.kind === 'unavailable') {
    request.server.log.warn({ requestId: request.id, cause: error.cause }, error.message);
    reply.header('retry-after', retryAfter);
    return plain(request, reply, 503, 'away', { fields: sentFields(request) });
  }
  const status = (error as { statusCode?: unknown }).statusCode;
  if (typeof status === 'number' && status >= 400 && status < 500) {
    // The rest of the body would be read as the next request.
    if (status === 413 || status === 415) reply.header('connection', 'close');
    return plain(request, reply, status, status === 413 ? 'tooLarge' : 'defect');
  }
  request.server.log.error({ requestId: request.id, err: error }, 'A request failed by a defect');
  return plain(request, reply, 500, 'defect', { fields: sentFields(request), id: request.id });
}

/** What the form of a page had, as far as it was read. */
const sentFields = ({ body, routeOptions }: FastifyRequest) =>
  Buffer.isBuffer(body) && routeOptions.url === '/a/:link' ? new URLSearchParams(String(body)) : [];
