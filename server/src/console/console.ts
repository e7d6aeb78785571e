// The console's doors: what holds for each of its operations. Who is signed in, whether the role may, that the request comes
// from the console's own pages, strict parameters and bodies; and that nothing of an answer is kept on the way.
import {
  type ConsoleOperationName,
  type ConsoleOperations,
  consoleOperations,
} from '@soundings/contract/console.ts';
import type {
  AnswerOf,
  BodyOf,
  ConsoleOperation,
  ParamsOf,
  QueryOf,
} from '@soundings/contract/console.operation.ts';
import { hasRole } from '@soundings/contract/words.ts';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Actor } from '../accounts/audit.ts';
import { sessionOf, type SignedIn } from '../accounts/sessions.ts';
import { Fault } from '../base/errors.ts';
import type { Pool } from '../db/db.ts';
import { cookieOf } from '../http/cookies.ts';
import { acceptedEncoding, pack } from '../http/encoding.ts';
import { queryReader } from '../http/query.ts';
import type { Server } from '../http/server.ts';
import { bodyReader } from './bodies.ts';

/** Who asks: somebody signed in, and the address that the request comes from. */
export type Who = SignedIn & { address: string };

type Name = ConsoleOperationName;

/** What a handler is given. `body` is what the operation's schema says; of bytes it is undefined: they are in `request.raw`. */
export type Ask<N extends Name> = {
  params: ParamsOf<N>;
  query: QueryOf<ConsoleOperations[N]>;
  body: BodyOf<ConsoleOperations[N]>;
  request: FastifyRequest;
  reply: FastifyReply;
};

/** A file to be saved, in place of an answer in JSON. */
export class Download {
  readonly name: string;
  readonly type: string;
  readonly content: string | AsyncIterable<string>;
  constructor(name: string, type: string, content: string | AsyncIterable<string>) {
    this.name = name;
    this.type = type;
    this.content = content;
  }
}

export type Console = {
  /** Serves an operation to whoever is signed in with its role, or with one above. */
  serve<N extends Name>(
    name: N,
    handler: (who: Who, ask: Ask<N>) => Promise<AnswerOf<ConsoleOperations[N]> | Download>,
  ): void;
  /** Serves an operation to anybody. */
  serveAnybody<N extends Name>(
    name: N,
    handler: (ask: Ask<N>) => Promise<AnswerOf<ConsoleOperations[N]>>,
  ): void;
  /** Signs a browser in by the secret of a session, or out. */
  setCookie(reply: FastifyReply, secret: string | undefined): void;
  /** The secret of the session that a browser says it has: it may have ended, or never have been. */
  secretIn(request: FastifyRequest): string | undefined;
};

/** Throws a Fault for whoever has not given the password lately: before an act by which another could be harmed. */
export function requireProof({ isProved }: Who): void {
  if (isProved) return;
  const message = 'This needs your password again. Nothing was changed.';
  throw new Fault('forbidden', 'password needed', message);
}

/** Who did it, for the audit log. */
export const actorOf = ({ userId, address }: Who): Actor => ({ origin: 'console', userId, address });

/** The largest body of JSON, in bytes: a library of questions in three languages is far below it. */
const bodyLimit = 1024 * 1024;
/** The same of someone who has not signed in: a password, a link, the first account. */
const strangersBodyLimit = 16 * 1024;

/** `isSecure`: people come by HTTPS, and the cookie is for it alone. */
export function openConsole(server: Server, pool: Promise<Pool>, isSecure: boolean): Console {
  const cookieName = isSecure ? '__Host-soundings' : 'soundings';

  async function whoAsks(request: FastifyRequest): Promise<Who> {
    const secret = cookieOf(request, cookieName);
    const session = secret === undefined ? undefined : await sessionOf(await pool, secret);
    if (!session) {
      throw new Fault('unauthenticated', 'not signed in', 'You are not signed in, or no longer. Sign in.');
    }
    return { ...session, address: request.address };
  }

  return {
    serve(name, handler) {
      const { least, proof } = consoleOperations[name] as ConsoleOperation;
      if (least === 'anybody') throw new Error(`${name} is for anybody.`);
      const read = readerOf(name);
      const asking = new WeakMap<FastifyRequest, Who>();
      const admit = async (request: FastifyRequest): Promise<void> => {
        const who = await whoAsks(request);
        if (!hasRole(who, least)) {
          throw new Fault(
            'forbidden',
            'missing role',
            `This is for the role ${least}. Ask an administrator.`,
          );
        }
        if (proof) requireProof(who);
        request.accountId = who.accountId;
        asking.set(request, who);
      };
      register(server, name, admit, async (request, reply) =>
        handler(asking.get(request) as Who, askOf(request, reply, read(request))),
      );
    },
    serveAnybody(name, handler) {
      if ((consoleOperations[name] as ConsoleOperation).least !== 'anybody')
        throw new Error(`${name} is not for anybody.`);
      const read = readerOf(name);
      register(
        server,
        name,
        async () => {},
        async (request, reply) => handler(askOf(request, reply, read(request))),
      );
    },
    secretIn: (request) => cookieOf(request, cookieName),
    setCookie(reply, secret) {
      const age = secret === undefined ? 0 : 30 * 24 * 3600;
      reply.header(
        'set-cookie',
        `${cookieName}=${secret ?? ''}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`,
      );
    },
  };
}

type Handle = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** `admit` throws a Fault for whoever may not send the request. It comes before the body: no stranger can make us read a large one. */
function register(
  server: Server,
  name: Name,
  admit: (request: FastifyRequest) => Promise<void>,
  handle: Handle,
): void {
  const operation = consoleOperations[name] as ConsoleOperation;
  const [method, path] = name.split(' ') as [string, string];
  server.app.route({
    method: method as 'GET',
    url: `/api${path.replace(/\{(\w+)\}/g, ':$1')}`,
    config: { isForm: operation.body === 'bytes' },
    bodyLimit: operation.least === 'anybody' ? strangersBodyLimit : bodyLimit,
    onRequest: async (request) => {
      refuseForeign(request);
      await admit(request);
    },
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store').header('vary', 'accept-encoding, cookie');
      return sendAnswer(request, reply, await handle(request, reply));
    },
  });
}

/** Reads the parameters and the body of an operation; the reader returns the body. */
function readerOf(name: Name): (request: FastifyRequest) => unknown {
  const { query, body } = consoleOperations[name] as ConsoleOperation;
  const readQuery = queryReader(query ?? Type.Object({}));
  const readBody = body === undefined || body === 'bytes' ? undefined : bodyReader(body);
  return (request) => {
    readQuery(request.query as Record<string, unknown>);
    return readBody?.(request.body as Buffer | undefined);
  };
}

const askOf = (request: FastifyRequest, reply: FastifyReply, body: unknown) =>
  ({ params: request.params, query: request.query, body, request, reply }) as never;

/**
 * Refuses a write that a page of another website sends: by what the browser says of it, or, of an older one, by the origin
 * of the page. What is no browser sends neither, and has no cookie that it was not given.
 */
function refuseForeign({ method, headers }: FastifyRequest): void {
  if (method === 'GET') return;
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  const isOwn =
    site === undefined
      ? origin === undefined || URL.parse(origin)?.host === host
      : site === 'same-origin' || site === 'none';
  if (!isOwn)
    throw new Fault('forbidden', 'foreign page', 'This request comes from a page of another website.');
}

async function sendAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: unknown,
): Promise<FastifyReply> {
  if (answer === undefined) return reply.code(204).send();
  if (answer instanceof Download) {
    const { name, type, content } = answer;
    reply.header('content-type', type).header('content-disposition', dispositionOf(name));
    return reply.send(typeof content === 'string' ? content : streamOf(content));
  }
  const encoding = acceptedEncoding(request.headers['accept-encoding']);
  const bytes = Buffer.from(JSON.stringify(answer));
  const isPacked = encoding !== 'identity' && bytes.length > 1000;
  if (isPacked) reply.header('content-encoding', encoding);
  reply.header('content-type', 'application/json; charset=utf-8');
  return reply.send(isPacked ? await pack(encoding, bytes) : bytes);
}

const streamOf = (content: AsyncIterable<string>) => Readable.from(content, { objectMode: false });

/** RFC 6266: in ASCII for old browsers, and as it is. */
const dispositionOf = (name: string) =>
  `attachment; filename="${name.replace(/[^\w.-]/g, '_')}"; filename*=UTF-8''${encodeURIComponent(name)}`;
