// The page of the API reference: Scalar's program with the combined OpenAPI document, under a policy that allows only files of the service.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompress, gzip } from 'node:zlib';
import { promisify } from 'node:util';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { assetAt, projectFolder } from '../../base/places.ts';
import { acceptedEncoding } from '../responses/encoding.ts';
import { pageHeaders } from '../responses/page-headers.ts';

/** Scalar's program, which `npm run build -w console` writes. */
const scalarFile = join(projectFolder, 'console/dist/reference/scalar.js.br');

/** As in the console: nothing inline, and only files of the service. policy.client.js runs before Scalar so that it keeps to this. */
const headers = {
  ...pageHeaders(),
  'cache-control': 'no-cache',
  'content-type': 'text/html; charset=utf-8',
};

/**
 * Serves the page at /docs with its files, of which browsers keep the large one. Returns false, and serves nothing, if the console has not been
 * built.
 */
export function serveReference(app: FastifyInstance): boolean {
  if (!existsSync(scalarFile)) return false;
  const scalar = readFileSync(scalarFile);
  const name = `scalar-${createHash('sha256').update(scalar).digest('hex').slice(0, 16)}`;
  const html = pageOf(name);
  app.get('/docs', async (_request, reply) => reply.headers(headers).send(html));
  app.get(`/docs/${name}.js`, openScalar(scalar));
  app.get('/docs/policy.js', sendFile('policy.client.js', 'text/javascript'));
  app.get('/docs/reference.js', sendFile('page.client.js', 'text/javascript'));
  app.get('/docs/reference.css', sendFile('reference.css', 'text/css'));
  return true;
}

/** Returns a function that sends a file from the folder of this one. */
function sendFile(file: string, type: string) {
  const text = readFileSync(assetAt(`http/reference/${file}`), 'utf8');
  return async (_request: FastifyRequest, reply: FastifyReply) =>
    reply.headers({ 'content-type': `${type}; charset=utf-8`, 'cache-control': 'no-cache' }).send(text);
}

/**
 * Returns a function that sends the program, which is compressed with brotli, in the encoding that the browser accepts. Over plain HTTP, browsers
 * don't accept brotli: for them, it is compressed again with the first request. No request decompresses it a second time.
 */
export function openScalar(
  scalar: Buffer,
): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> {
  const plain = kept(() => promisify(brotliDecompress)(scalar));
  const gzipped = kept(async () => promisify(gzip)(await plain()));
  return async (request, reply) => {
    const encoding = acceptedEncoding(request.headers['accept-encoding']);
    if (encoding !== 'identity') reply.header('content-encoding', encoding);
    reply.headers({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'cross-origin-resource-policy': 'same-origin',
      vary: 'accept-encoding',
    });
    if (encoding === 'br') return reply.send(scalar);
    if (encoding === 'identity') return reply.send(await plain());
    return reply.send(await gzipped());
  };
}

/** Returns a function that creates a value with the first call, and again if that has failed. */
function kept<T>(create: () => Promise<T>): () => Promise<T> {
  let value: Promise<T> | undefined;
  return () => {
    value ??= create().catch((error: unknown) => {
      value = undefined;
      throw error;
    });
    return value;
  };
}

const pageOf = (scalar: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Soundings API</title>
<link rel="preload" as="fetch" href="/v1/openapi/all.json" crossorigin>
<link rel="stylesheet" href="/docs/reference.css">
<script defer src="/docs/policy.js"></script>
<script defer src="/docs/${scalar}.js"></script>
<script defer src="/docs/reference.js"></script>
</head>
<body>
<noscript>This page needs JavaScript. The same <a href="/docs/plain">without JavaScript</a>.</noscript>
<div id="reference"></div>
</body>
</html>
`;
