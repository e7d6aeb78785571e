// The console's pages: the files that were built, held in memory, packed at building, kept by browsers for ever where their
// name carries their content; and the one page that every address of the console gets.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { consolePages } from '@soundings/contract/console.pages.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptedEncoding } from '../http/encoding.ts';
import type { Server } from '../http/server.ts';

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.json': 'application/json; charset=utf-8',
};

/** What every page of the console carries: it runs nothing and shows nothing that is not its own. */
export const pageHeaders = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "style-src-attr 'none'",
    "font-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=()',
  'referrer-policy': 'no-referrer',
};

/** Where `npm run build -w console` writes. */
export const builtConsole: string = fileURLToPath(new URL('../../../console/dist', import.meta.url));

type Asset = { type: string; plain: Buffer; br: Buffer | undefined; gzip: Buffer | undefined };

/** Serves what was built; nothing, and a page that says so, when nothing was. */
export function servePages(server: Server): void {
  const assets = existsSync(join(builtConsole, 'index.html'))
    ? readAssets(builtConsole)
    : new Map<string, Asset>();
  const index = assets.get('/index.html');
  for (const [path, asset] of assets) {
    if (asset === index) continue;
    const isForEver = path.startsWith('/assets/');
    server.app.get(path, async (request, reply) => {
      reply.header('cache-control', isForEver ? 'public, max-age=31536000, immutable' : 'no-cache');
      return sendAsset(request, reply, asset);
    });
  }
  for (const path of consolePages.flatMap((page) => (page === '/' ? ['/'] : [page, `${page}/*`]))) {
    server.app.get(path, async (request, reply) => sendPage(request, reply, index));
  }
  server.onMissingPage((request, reply) => sendPage(request, reply, index));
}

/** The one page, which shows what its address stands for, or that there is no such page. */
function sendPage(request: FastifyRequest, reply: FastifyReply, index: Asset | undefined): FastifyReply {
  reply.headers(pageHeaders).header('cache-control', 'no-cache');
  if (index) return sendAsset(request, reply, index);
  return reply
    .code(503)
    .header('content-type', 'text/plain; charset=utf-8')
    .send('The console was not built. Run: npm run build -w console\n');
}

function readAssets(folder: string): Map<string, Asset> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const bytesOf = (path: string) =>
    existsSync(join(folder, path)) ? readFileSync(join(folder, path)) : undefined;
  return new Map(
    paths
      .filter((path) => types[extname(path)] !== undefined)
      .map((path) => [
        `/${path.replaceAll('\\', '/')}`,
        {
          type: types[extname(path)] as string,
          plain: readFileSync(join(folder, path)),
          br: bytesOf(`${path}.br`),
          gzip: bytesOf(`${path}.gz`),
        },
      ]),
  );
}

function sendAsset(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, plain, br, gzip }: Asset,
): FastifyReply {
  const wanted = acceptedEncoding(request.headers['accept-encoding']);
  const packed = wanted === 'br' ? br : wanted === 'gzip' ? gzip : undefined;
  if (packed) reply.header('content-encoding', wanted);
  return reply
    .header('content-type', type)
    .header('vary', 'accept-encoding')
    .header('cross-origin-resource-policy', 'same-origin')
    .send(packed ?? plain);
}
