// Registers the operations of the console and applies what they share: checks the session and the role, refuses requests from other
// websites, checks parameters and bodies strictly, and forbids caches from storing responses.
import {
  type ConsoleOperationName,
  type ConsoleOperations,
  consoleOperations,
} from '@soundings/contract/console/operations.ts';
import type {
  BodyOf,
  ConsoleOperation,
  ParamsOf,
  QueryOf,
  ResultOf,
} from '@soundings/contract/console/operation.ts';
import { hasRole } from '@soundings/contract/people/roles.ts';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Actor } from '../../accounts/audit.ts';
import type { SignedIn } from '../../auth/sessions.sql.ts';
import { notSignedIn, sessionOf } from '../../auth/sessions.ts';
import { Fault } from '../../base/errors.ts';
import type { Pool } from '../../db/db.ts';
import { cookieOf } from '../../http/cookies.ts';
import { acceptedEncoding, compress } from '../../http/responses/encoding.ts';
import { queryReader } from '../../http/query.ts';
import type { Server } from '../../http/server.ts';
import { bodyReader } from './bodies.ts';

/** The caller: a user who is signed in, and the address that the request comes from. */
export type Who = SignedIn & { address: string };

type Name = ConsoleOperationName;

/**
 * What a handler gets. `body` matches the operation's schema. For an operation with raw bytes it is undefined: read the bytes from
 * `request.raw`.
 */
export type OperationContext<N extends Name> = {
  params: ParamsOf<N>;
  query: QueryOf<ConsoleOperations[N]>;
  body: BodyOf<ConsoleOperations[N]>;
  request: FastifyRequest;
  reply: FastifyReply;
};

type Chunks = AsyncIterable<string | Uint8Array>;

/**
 * A file download, returned instead of a JSON response. `content`: a function if sending it takes a database connection; it is called when it is the
 * download's turn.
 */
export class Download {
  readonly name: string;
  readonly type: string;
  readonly content: string | Uint8Array | Chunks | (() => Chunks);
  constructor(name: string, type: string, content: Download['content']) {
    this.name = name;
    this.type = type;
    this.content = content;
  }
}

export type Console = {
  /** Serves an operation to users who are signed in with its role or a higher one. */
  serve<N extends Name>(
    name: N,
    handler: (who: Who, context: OperationContext<N>) => Promise<ResultOf<ConsoleOperations[N]> | Download>,
  ): void;
  /** Serves an operation to anyone. */
  serveAnyone<N extends Name>(
    name: N,
    handler: (context: OperationContext<N>) => Promise<ResultOf<ConsoleOperations[N]>>,
  ): void;
  /** Signs a browser in with the secret of a session, or signs it out. */
  setCookie(reply: FastifyReply, secret: string | undefined): void;
  /** Returns the session secret that a browser sent. The session may have ended, or may never have existed. */
  secretIn(request: FastifyRequest): string | undefined;
};

/** Throws a Fault if the caller has not confirmed the password recently. Call it before changes that could harm others. */
export function requireProof({ isProved }: Who): void {
  if (isProved) return;
  const message = 'This requires your password. Nothing was changed. Confirm your password and try again.';
  throw new Fault('forbidden', 'password required', message);
}

/** Returns the Fault for a caller who may not do something. The message says who may. */
export const missingRole = (message: string): Fault => new Fault('forbidden', 'missing role', message);

/** Returns the caller as an actor for the audit log. */
export const actorOf = ({ userId, address }: Who): Extract<Actor, { origin: 'console' }> => ({
  origin: 'console',
  userId,
  address,
});

/** The largest JSON body, in bytes. A question library in three languages is far smaller. */
const bodyLimit = 1024 * 1024;
/** The largest JSON body from a caller who is not signed in: a password, a link, the first account. */
const publicBodyLimit = 16 * 1024;

/** `isSecure`: the console is served over HTTPS, and the cookie is sent only over HTTPS. */
export function openConsole(server: Server, pool: Promise<Pool>, isSecure: boolean): Console {
  const cookieName = isSecure ? '__Host-soundings' : 'soundings';

  async function callerOf(request: FastifyRequest): Promise<Who> {
    const secret = cookieOf(request, cookieName);
    const session = secret === undefined ? undefined : await sessionOf(await pool, secret);
    if (!session) {
      throw notSignedIn();
    }
    return { ...session, address: request.address };
  }

  return {
    serve(name, handler) {
      const { minimumRole, proof } = consoleOperations[name] as ConsoleOperation;
      if (minimumRole === 'anyone') throw new Error(`${name} is open to anyone.`);
      const read = readerOf(name);
      const callers = new WeakMap<FastifyRequest, Who>();
      const admit = async (request: FastifyRequest): Promise<void> => {
        const who = await callerOf(request);
        if (!hasRole(who, minimumRole)) {
          throw missingRole(`This requires the ${minimumRole} role. Ask an administrator.`);
        }
        if (proof) requireProof(who);
        request.accountId = who.accountId;
        callers.set(request, who);
      };
      register(server, name, admit, async (request, reply) =>
        handler(callers.get(request) as Who, contextOf(request, reply, read(request))),
      );
    },
    serveAnyone(name, handler) {
      if ((consoleOperations[name] as ConsoleOperation).minimumRole !== 'anyone')
        throw new Error(`${name} is not open to anyone.`);
      const read = readerOf(name);
      register(
        server,
        name,
        async () => {},
        async (request, reply) => handler(contextOf(request, reply, read(request))),
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

/** `admit` throws a Fault if the caller may not send the request. It runs before the body is read. */
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
    bodyLimit: operation.minimumRole === 'anyone' ? publicBodyLimit : bodyLimit,
    onRequest: async (request) => {
      refuseForeign(request);
      await admit(request);
    },
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store').header('vary', 'accept-encoding, cookie');
      const result = await handle(request, reply);
      return result instanceof Download
        ? sendDownload(server, request, reply, result)
        : sendResult(request, reply, result);
    },
  });
}

/** Returns the reader of an operation's requests. The reader checks the parameters and returns the body. */
function readerOf(name: Name): (request: FastifyRequest) => unknown {
  const { query, body } = consoleOperations[name] as ConsoleOperation;
  const readQuery = queryReader(query ?? Type.Object({}));
  const readBody = body === undefined || body === 'bytes' ? undefined : bodyReader(body);
  return (request) => {
    readQuery(request.query as Record<string, unknown>);
    return readBody?.(request.body as Buffer | undefined);
  };
}

const contextOf = (request: FastifyRequest, reply: FastifyReply, body: unknown) =>
  ({ params: request.params, query: request.query, body, request, reply }) as never;

/**
 * Refuses writes sent by a page of another website. Browsers report the website in sec-fetch-site; older browsers only send the
 * origin of the page. Clients that are not browsers send neither, and have no cookie that they were not given.
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
    throw new Fault(
      'forbidden',
      'foreign page',
      'This request came from another website. Open the console at its own address.',
    );
}

async function sendResult(
  request: FastifyRequest,
  reply: FastifyReply,
  result: unknown,
): Promise<FastifyReply> {
  if (result === undefined) return reply.code(204).send();
  const encoding = acceptedEncoding(request.headers['accept-encoding']);
  const bytes = Buffer.from(JSON.stringify(result));
  const isCompressed = encoding !== 'identity' && bytes.length > 1000;
  if (isCompressed) reply.header('content-encoding', encoding);
  reply.header('content-type', 'application/json; charset=utf-8');
  return reply.send(isCompressed ? await compress(encoding, bytes) : bytes);
}

function sendDownload(
  server: Server,
  request: FastifyRequest,
  reply: FastifyReply,
  { name, type, content }: Download,
): FastifyReply {
  reply.header('content-type', type).header('content-disposition', dispositionOf(name));
  if (typeof content === 'string' || content instanceof Uint8Array) return reply.send(content);
  return reply.send(
    typeof content === 'function'
      ? server.inTurn(request, reply, request.accountId as number, content)
      : Readable.from(content, { objectMode: false }),
  );
}

/** Returns the header with the file name (RFC 6266): in ASCII for old browsers, and in UTF-8. */
const dispositionOf = (name: string) =>
  `attachment; filename="${name.replace(/[^\w.-]/g, '_')}"; filename*=UTF-8''${encodeURIComponent(name)}`;
