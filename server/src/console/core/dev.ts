// Serves the console's sources during development, with Vite inside the service: one command, one port, the same cookies.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { consolePages } from '@soundings/contract/console/pages.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { projectFolder } from '../../base/places.ts';
import type { Server } from '../../http/server.ts';

const root = join(projectFolder, 'console');

/** Serves the pages with Vite, which compiles each file on request. */
export async function serveDevelopment(server: Server): Promise<void> {
  const { createServer } = await import('vite');
  const vite = await createServer({
    root,
    configFile: `${root}/vite.config.ts`,
    appType: 'custom',
    server: { middlewareMode: true, hmr: { server: server.app.server } },
  });
  const page = async (request: FastifyRequest, reply: FastifyReply) => {
    const html = await vite.transformIndexHtml(request.url, readFileSync(`${root}/index.html`, 'utf8'));
    return reply.header('content-type', 'text/html; charset=utf-8').send(html);
  };
  for (const path of consolePages.flatMap((one) => (one === '/' ? ['/'] : [one, `${one}/*`]))) {
    server.app.get(path, page);
  }
  server.app.get('/*', (request, reply) => {
    reply.hijack();
    vite.middlewares(request.raw, reply.raw, () => reply.raw.writeHead(404).end());
  });
  server.app.addHook('onClose', () => vite.close());
}
