// Serves the console's built files from memory, compressed at build time. Browsers cache files with a content hash in their name
// permanently. Every path of the console gets the same HTML page.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { consolePages } from '@soundings/contract/console/pages.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { projectFolder } from '../../base/places.ts';
import { acceptedEncoding } from '../../http/responses/encoding.ts';
import { pageHeaders } from '../../http/responses/page-headers.ts';
import type { Server } from '../../http/server.ts';

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.json': 'application/json; charset=utf-8',
};

const headers = pageHeaders({ 'font-src': "'self'", 'img-src': "'self'", 'form-action': "'self'" });

/** The folder that `npm run build -w console` writes to. */
export const builtConsole: string = join(projectFolder, 'console/dist');

type Asset = { type: string; plain: Buffer; br: Buffer | undefined; gzip: Buffer | undefined };

/** Serves the built files. Without a build, every path gets a page that says how to build the console. */
export function servePages(server: Server): void {
  const assets = existsSync(join(builtConsole, 'index.html'))
    ? readAssets(builtConsole)
    : new Map<string, Asset>();
  const index = assets.get('/index.html');
  for (const [path, asset] of assets) {
    if (asset === index) continue;
    const isImmutable = path.startsWith('/assets/');
    server.app.get(path, async (request, reply) => {
      reply.header('cache-control', isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache');
      return sendAsset(request, reply, asset);
    });
  }
  for (const path of consolePages.flatMap((page) => (page === '/' ? ['/'] : [page, `${page}/*`]))) {
    server.app.get(path, async (request, reply) => sendPage(request, reply, index));
  }
  server.onMissingPage((request, reply) => sendPage(request, reply, index));
}

/** Sends the single HTML page. The browser shows the content for the path, or "Page not found". */
function sendPage(request: FastifyRequest, reply: FastifyReply, index: Asset | undefined): FastifyReply {
  reply.headers(headers).header('cache-control', 'no-cache');
  if (index) return sendAsset(request, reply, index);
  return reply
    .code(503)
    .header('content-type', 'text/plain; charset=utf-8')
    .send('The console has not been built. Run: npm run build -w console\n');
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
  const compressed = wanted === 'br' ? br : wanted === 'gzip' ? gzip : undefined;
  if (compressed) reply.header('content-encoding', wanted);
  return reply
    .header('content-type', type)
    .header('vary', 'accept-encoding')
    .header('cross-origin-resource-policy', 'same-origin')
    .send(compressed ?? plain);
}
