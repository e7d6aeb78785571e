// The documents of the interfaces: OpenAPI for programs, and the same as a page for people.
import { interfaceNames, openApiDocument } from '@soundings/contract/openapi.ts';
import type { FastifyInstance } from 'fastify';

export function serveDocuments(app: FastifyInstance, publicUrl: string): void {
  for (const name of interfaceNames) {
    const document = JSON.stringify(openApiDocument(name, publicUrl), null, 2);
    app.get(`/v1/openapi/${name}.json`, async (_request, reply) =>
      reply.header('content-type', 'application/json; charset=utf-8').send(document),
    );
  }
}
