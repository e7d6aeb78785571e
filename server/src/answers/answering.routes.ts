// HTTP routes of the answering page, with and without JavaScript, and of the pages on which people turn survey messages or digests off.
// The work is done in answering.ts and rounds/messages/opt-outs.ts. A link is a secret: it is never logged, and every invalid link
// gets the same response.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { maxCommentLength } from '@soundings/contract/limits.ts';
import { Fault } from '../base/errors.ts';
import { type JsonValue, parseJson } from '../base/json/json.ts';
import { networkOf } from '../base/network.ts';
import { randomText, tokenHash } from '../base/crypto/secrets.ts';
import { openThrottle, retryAfterOf } from '../base/throttle.ts';
import type { Pool } from '../db/db.ts';
import { cookieOf } from '../http/cookies.ts';
import type { Server } from '../http/server.ts';
import { openOptOut, type OptOutKind } from '../rounds/messages/opt-outs.ts';
import { openPersonTokens, type PersonKey } from '../rounds/messages/person-tokens.ts';
import { setDigests, setSurveyEmails, type WantedEmails } from '../rounds/messages/opt-outs.sql.ts';
import type { AnswerKeys } from '../sealing/answer-keys.ts';
import { type Asking, type SubmittedAnswer, saveAnswers, openLink } from './answering.ts';
import { answersIn, storedValuesIn, type SubmittedValue, submittedIn } from './form.ts';
import { askingPage, optOutPage, thanksPage } from './page.ts';
import { browserLanguage, openPages, pageAssets, plain, sendMessage } from './page-responses.ts';
import { faultText, type PageFault } from './question-card.ts';
import { pageLanguage } from './page-language.ts';
import { type OptOutPageKind, pageTexts } from './page-texts.ts';

/** Maximum sizes in bytes. A form contains all comments of a person, an answer only one. */
const [formLimit, answerLimit] = [1024 * 1024, 64 * 1024];

/** How many invalid links a network can try. Links that work are never slowed down. */
const deadLinksLimit = { free: 30, windowMs: 60_000 };
/** How many networks are remembered. */
const maxNetworks = 10_000;

type HandlerContext = {
  pool: Pool;
  keys: AnswerKeys;
  isSecure: boolean;
  /** Returns the token with which a person turns survey messages off. */
  optOutTokenOf: (person: PersonKey) => Promise<string>;
};

type Handler = (
  context: HandlerContext,
  link: string,
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<FastifyReply>;

export type AnsweringDependencies = {
  pool: Promise<Pool>;
  keys: Promise<AnswerKeys>;
  /** Whether the public address uses HTTPS, so that cookies are sent over HTTPS only. */
  isSecure: boolean;
  /** The clock, in ms since 1970. */
  now: () => number;
};

export function serveAnswering(server: Server, { pool, keys, isSecure, now }: AnsweringDependencies): void {
  const deadLinks = openThrottle(deadLinksLimit, maxNetworks, now);
  const optOutTokenOf = openPersonTokens('reminders', pool);

  /** Responds to an invalid link, and counts it for the client's network. */
  function dead(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const wait = deadLinks.attempt(networkOf(request.address));
    if (wait > 0) reply.header('retry-after', String(retryAfterOf(wait)));
    return plain(request, reply, wait > 0 ? 429 : 404, 'dead');
  }

  const routes: [method: 'GET' | 'POST', url: string, handler: Handler, bodyLimit?: number][] = [
    ['GET', '/a/:link', showPage],
    ['POST', '/a/:link', takeForm, formLimit],
    ['POST', '/a/:link/answers', takeAnswer, answerLimit],
    ['GET', '/r/:token', showOptOut('reminders')],
    ['POST', '/r/:token', changeOptOut('reminders')],
    ['GET', '/d/:token', showOptOut('digests')],
    ['POST', '/d/:token', changeOptOut('digests')],
    // A link with missing or additional characters is invalid.
    ['GET', '/a/*', showPage],
    ['GET', '/r/*', showOptOut('reminders')],
    ['GET', '/d/*', showOptOut('digests')],
  ];

  openPages(server, pageAssets, (scope) => {
    for (const [method, url, handler, bodyLimit = answerLimit] of routes) {
      scope.route({
        method: method === 'GET' ? ['GET', 'HEAD'] : method,
        url,
        bodyLimit,
        handler: async (request, reply) => {
          const [link = ''] = Object.values(request.params as Record<string, string>);
          const context = { pool: await pool, keys: await keys, isSecure, optOutTokenOf };
          return handler(context, link, request, reply).catch((error: unknown) => {
            if (error === invalidLink) return dead(request, reply);
            throw error;
          });
        },
      });
    }
  });
}

/** Thrown if a link is invalid, replaced, or of a week that has closed. */
const invalidLink = new Error('The link is invalid or no longer works.');

async function opened({ pool, keys }: HandlerContext, link: string, visit: string | null): Promise<Asking> {
  const asking = await openLink(pool, keys, { link, visit });
  if (!asking) throw invalidLink;
  return asking;
}

/**
 * Returns the name of the session cookie. With HTTPS, the prefix __Host- makes browsers accept it from this host only (RFC 6265bis).
 * Otherwise another host of the same domain could set a cookie whose value it knows, and use it to read the answers. Such a cookie
 * can't have a path, so a hash of the link is part of its name.
 */
const visitCookie = (link: string, isSecure: boolean) =>
  isSecure ? `__Host-soundings_visit_${tokenHash(link).toString('hex').slice(0, 12)}` : 'soundings_visit';
const visitForm = /^[0-9A-Za-z]{27}$/;

/**
 * Returns the secret of the browser session, or null if there is none. Answers are shown only in the session in which they were given
 * (P13). If the browser has no cookies, the page's script sends a secret of its own as long as the page is open.
 */
function visitOf(request: FastifyRequest, link: string, isSecure: boolean): string | null {
  const value = cookieOf(request, visitCookie(link, isSecure)) ?? request.headers['soundings-visit'];
  return typeof value === 'string' && visitForm.test(value) ? value : null;
}

/** Returns the secret of the browser session. Sets a cookie if there is none, valid for this link until the browser is closed. */
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

async function showPage(context: HandlerContext, link: string, request: FastifyRequest, reply: FastifyReply) {
  const asking = await opened(context, link, visitOf(request, link, context.isSecure));
  const language = languageFor(asking, request);
  const { saved, empty, kiosk } = queryOf(request);
  // A kiosk has a style and script of its own, and gets no cookie.
  if (kiosk !== undefined) {
    return reply.send(
      askingPage({ style: '', script: '' }, { ...asking, isAtKiosk: true }, language, new Map()),
    );
  }
  beginVisit(request, reply, link, context.isSecure);
  // Links that are handed out were not sent to the person, and don't lead to the page on which messages are turned off.
  const optOutToken = asking.isExported ? undefined : await context.optOutTokenOf(asking);
  const shown = { ...asking, optOutToken };
  const isSent = saved !== undefined || empty !== undefined;
  // A handed-out link does not show whether there are answers. A browser without cookies finds its own answers in `fixed`.
  const hasAnswers =
    asking.answers.size > 0 || (saved !== undefined && (asking.isExported || asking.fixed.size > 0));
  if (isSent && hasAnswers) return reply.send(thanksPage(pageAssets, shown, language));
  return reply.send(
    askingPage(pageAssets, shown, language, storedValuesIn(asking), isSent ? 'empty' : undefined),
  );
}

/** Saves the whole form, sent without JavaScript: all answers or none. */
async function takeForm(context: HandlerContext, link: string, request: FastifyRequest, reply: FastifyReply) {
  const form = formOf(request);
  const asking = await opened(context, link, visitOf(request, link, context.isSecure));
  const visit = beginVisit(request, reply, link, context.isSecure);
  const language = languageFor(asking, request);
  const fields = submittedIn(form);
  const answers = answersIn(fields, asking);
  try {
    const outcome = await saveAnswers(context.pool, context.keys, { link, visit }, answers);
    if (outcome === 'closed') throw invalidLink;
  } catch (error) {
    if (!(error instanceof Fault) || error.kind !== 'invalid') throw error;
    const now = await opened(context, link, visit); // some may have been answered elsewhere in the meantime
    const wrong = new Map(error.details.map(({ path, type }) => [Number(path?.slice(1)), type]));
    const faults = [...wrong].map(
      ([id, type]) =>
        [id, type === 'already answered' ? refusalAt(id, now) : faultAt(id, now, fields.get(id))] as const,
    );
    return reply.code(400).send(askingPage(pageAssets, now, language, fields, new Map(faults)));
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

/** Returns the page's message for an answer that was refused. */
function faultAt(id: number, { questions }: Asking, fields: SubmittedValue | undefined): PageFault {
  if (!fields || !questions.some((question) => question.id === id)) return 'notAsked';
  if ([...fields.comment].length > maxCommentLength) return 'tooLong';
  return fields.values.length === 0 ? 'choose' : 'wrong';
}

/** Returns why an answer can't be changed. */
const refusalAt = (id: number, { fixed }: Asking): PageFault => fixed.get(id) ?? 'elsewhere';

/** Saves one answer, sent as JSON by the page's script. */
async function takeAnswer(
  context: HandlerContext,
  link: string,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const answer = answerIn(request.body as Buffer | undefined);
  const refused = (status: number, fault: PageFault) => {
    const language = queryOf(request)['language'];
    const t = pageTexts.in(typeof language === 'string' ? language : browserLanguage(request));
    return sendMessage(reply, status, faultText(t, fault));
  };
  // The link is checked first, so that other faults reveal nothing about it.
  if (answer === undefined) {
    await opened(context, link, visitOf(request, link, context.isSecure));
    return refused(400, 'wrong');
  }
  const visit = visitOf(request, link, context.isSecure) ?? randomText(27);
  try {
    const outcome = await saveAnswers(context.pool, context.keys, { link, visit }, [answer]);
    if (outcome === 'closed') throw invalidLink;
  } catch (error) {
    if (!(error instanceof Fault) || error.kind !== 'invalid') throw error;
    if (error.code === 'already answered') {
      const now = await opened(context, link, visit);
      return refused(409, refusalAt(answer.questionId, now));
    }
    return refused(400, [...(answer.comment ?? '')].length > maxCommentLength ? 'tooLong' : 'wrong');
  }
  return reply.code(204).send();
}

/** Returns the answer in a body; undefined if it is malformed. The value is checked later, together with the question. */
function answerIn(body: Buffer | undefined): SubmittedAnswer | undefined {
  const read = parseJson(body ?? Buffer.alloc(0));
  if ('fault' in read) return undefined;
  const { value: sent } = read;
  if (sent === null || typeof sent !== 'object' || Array.isArray(sent)) return undefined;
  const fields = sent as Record<string, JsonValue>;
  const { question, value, comment = null, skipped = false, notApplicable = false, ...others } = fields;
  if (Object.keys(others).length > 0 || typeof question !== 'number') return undefined;
  if (comment !== null && typeof comment !== 'string') return undefined;
  if (typeof skipped !== 'boolean' || typeof notApplicable !== 'boolean') return undefined;
  return { questionId: question, comment, skipped, notApplicable, ...(value !== undefined && { value }) };
}

const showOptOut =
  (kind: OptOutKind): Handler =>
  async ({ pool }, token, _request, reply) => {
    const optOut = await openOptOut(pool, kind, token);
    if (!optOut) throw invalidLink;
    return reply.send(optOutPage(pageAssets, pageFor(kind, optOut.wanted), optOut));
  };

/** Returns the page for what a person now gets. `isResumed`: they have just turned the emails on again. */
function pageFor(kind: OptOutKind, wanted: WantedEmails, isResumed = false): OptOutPageKind {
  if (wanted === 'all') return { kind, state: isResumed ? 'resumed' : 'asked' };
  if (kind === 'digests' || wanted === 'invitations') return { kind, state: 'optedOut' };
  return { kind, state: 'stopped' };
}

/**
 * Turns emails of a kind off, or on again with ?again. With ?none, a link about reminders turns off all survey messages. A mail program's
 * one-click request (RFC 8058) turns them off, and its address says what, so the body is ignored.
 */
const changeOptOut =
  (kind: OptOutKind): Handler =>
  async ({ pool }, token, request, reply) => {
    const optOut = await openOptOut(pool, kind, token);
    if (!optOut) throw invalidLink;
    const { accountId, userId } = optOut;
    const query = queryOf(request);
    const isWanted = query['again'] !== undefined;
    const less = query['none'] !== undefined || kind === 'digests' ? 'none' : 'invitations';
    const wanted = isWanted ? 'all' : less;
    const isThere =
      kind === 'reminders'
        ? await setSurveyEmails(pool, accountId, userId, wanted)
        : (await setDigests(pool, accountId, userId, isWanted)) !== undefined;
    if (!isThere) throw invalidLink;
    return reply.send(optOutPage(pageAssets, pageFor(kind, wanted, true), optOut));
  };
