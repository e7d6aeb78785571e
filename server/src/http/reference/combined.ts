// One OpenAPI document of everything that Soundings serves and sends, for the API reference: one search and one list of contents.
import { interfaceNames, openApiDocument, webhooksDocument } from '@soundings/contract/openapi.ts';
import type { InterfaceName } from '@soundings/contract/operation.ts';
import { withExamples, withWebhookExamples } from './describe.ts';
import type { Examples } from './examples.ts';

type Json = Record<string, unknown>;
type Part = { tags: Json[]; paths: Json; components: { schemas: Json } };

/** Returns the OpenAPI documents of the interfaces and of webhooks with examples, by name. `server`: the address without a path. */
export const publishedDocuments = (
  examples: Examples,
  server: string,
): { name: string; document: Json }[] => [
  ...interfaceNames.map((name) => ({
    name,
    document: withExamples(openApiDocument(name, server), examples, server),
  })),
  { name: 'webhooks', document: withWebhookExamples(webhooksDocument(server), examples) },
];

const titles: Record<InterfaceName, string> = {
  data: 'Data',
  organization: 'Organization',
  upload: 'Files',
  audit: 'Audit log',
  scim: 'SCIM',
};

const introduction = `
Everything that other programs can do with Soundings: read results, push people and groups, upload files, read the audit log, provision
from a directory, and receive webhooks.

## Tokens

Send an API token with every request, in the \`Authorization\` header, alone or after \`Bearer\`. An administrator creates tokens in the
console, under API tokens. Each has scopes, which say what it can be used for.

## Try it

Enter a token on this page, and choose **Test Request** at an operation. The request goes to this service and is a real one. The token is
kept only in the memory of this page: it is gone when you close or reload it.

## Examples

The requests and responses are real: they are recorded from the demo company and from new companies. Long lists are shortened. The code
samples read the token from \`SOUNDINGS_TOKEN\`.

## Errors

Every error response has the body \`{ id, message, details }\`. The ID is also in the \`x-request-id\` header. [Errors](/docs/errors) lists
each type with an example.

The OpenAPI documents: ${[...interfaceNames, 'webhooks'].map((name) => `[${name}](/v1/openapi/${name}.json)`).join(', ')}. This reference
[without JavaScript](/docs/plain).
`.trim();

/** Returns one document with the content of all documents. */
export function combinedDocument(
  documents: readonly { name: string; document: Json }[],
  server: string,
): Json {
  const parts = documents.map(({ document }) => document as unknown as Part);
  const merged = (values: (Json | undefined)[]): Json => Object.assign({}, ...values) as Json;
  const tags = parts.flatMap(({ tags: own }) => own ?? []);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Soundings API',
      version: '1',
      description: introduction,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: server }],
    security: [{ token: [] }],
    tags: tags.map((tag) => ({ ...tag, 'x-displayName': titles[tag['name'] as InterfaceName] })),
    paths: merged(parts.map(({ paths }) => paths)),
    webhooks: merged(documents.map(({ document }) => document['webhooks'] as Json | undefined)),
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'An API token.' } },
      schemas: merged(parts.map(({ components }) => components.schemas)),
    },
  };
}
