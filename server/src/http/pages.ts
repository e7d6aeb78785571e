// Serves the API documentation: the OpenAPI documents, the API reference at /docs, and a page with the same content that needs no script. That
// page is rendered once from the OpenAPI documents.
import type { InterfaceName } from '@soundings/contract/operation.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { readFileSync } from 'node:fs';
import { assetAt } from '../base/places.ts';
import { escaped } from '../base/html.ts';
import { combinedDocument, publishedDocuments } from './reference/combined.ts';
import { errorsPage } from './reference/errors-page.ts';
import { readExamples } from './reference/examples.ts';
import { serveReference } from './reference/reference-page.ts';
import { acceptedEncoding, compress, type Encoding } from './responses/encoding.ts';

type Schema = {
  $ref?: string;
  type?: string;
  description?: string;
  default?: unknown;
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  items?: Schema;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  required?: string[];
};
/** The schema of a body, by content type. */
type Content = Record<string, { schema: Schema }>;
type OperationDocument = {
  summary: string;
  description: string;
  parameters: { name: string; in: string; required: boolean; schema: Schema }[];
  requestBody?: { content: Content };
  responses: Record<string, { description: string; content?: Content }>;
};
type Document = {
  info: { title: string; version: string; description: string };
  paths: Record<string, Record<string, OperationDocument>>;
  components: { schemas: Record<string, Schema> };
};

/** Serves the OpenAPI documents with their examples, the API reference at /docs, and pages that need no script. */
export function serveDocuments(app: FastifyInstance, publicUrl: string): void {
  const examples = readExamples();
  const documents = publishedDocuments(examples, publicUrl);
  const combined = { name: 'all', document: combinedDocument(documents, publicUrl) };
  for (const { name, document } of [...documents, combined]) {
    const sendDocument = openDocument(JSON.stringify(document));
    app.get(`/v1/openapi/${name}.json`, sendDocument);
  }
  const plain = documentsPage(
    documents.filter(({ name }) => name !== 'webhooks') as unknown as Parameters<typeof documentsPage>[0],
    publicUrl,
  );
  app.get('/docs/plain', sendPlain(plain));
  app.get('/docs/errors', sendPlain(errorsPage(examples)));
  if (!serveReference(app)) app.get('/docs', sendPlain(plain));
  const style = readFileSync(assetAt('http/pages.css'), 'utf8');
  app.get('/docs/style.css', async (_request, reply) =>
    reply.header('content-type', 'text/css; charset=utf-8').send(style),
  );
}

/** Returns a function that sends a document, which it compresses once for each encoding. */
function openDocument(text: string): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> {
  const compressed = new Map<Encoding, Promise<Buffer>>();
  return async (request, reply) => {
    const encoding = acceptedEncoding(request.headers['accept-encoding']);
    const bytes = compressed.get(encoding) ?? compress(encoding, Buffer.from(text));
    compressed.set(encoding, bytes);
    if (encoding !== 'identity') reply.header('content-encoding', encoding);
    return reply
      .headers({ 'content-type': 'application/json; charset=utf-8', vary: 'accept-encoding' })
      .send(await bytes);
  };
}

/** Returns a function that sends a page that needs no script and loads nothing from other servers. */
const sendPlain = (page: string) => async (_request: FastifyRequest, reply: FastifyReply) =>
  reply
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
    })
    .send(page);

function documentsPage(documents: { name: InterfaceName; document: Document }[], publicUrl: string): string {
  const links = documents
    .map(({ name, document }) => `<a href="#${name}">${shortTitle(document)}</a>`)
    .join('');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Soundings API</title>
<link rel="stylesheet" href="/docs/style.css">
</head>
<body>
<header><b>Soundings</b><nav aria-label="Interfaces">${links}</nav></header>
<main>
<h1>Interfaces</h1>
<p class="lead">Send an API token with every request, in the <code>Authorization</code> header, alone or after
<code>Bearer</code>. Every error response has the body <code>{ id, message, details }</code>. The ID is also in the
<code>x-request-id</code> header.</p>
<p><a href="/docs">The API reference</a> has examples, code samples and a way to try requests. <a href="/docs/errors">Errors</a> has an
example of each type.</p>
<p>Soundings can also notify your systems of events: <a href="/v1/openapi/webhooks.json">OpenAPI document of webhooks</a>.</p>
${documents.map(({ name, document }) => interfaceSection(name, document, publicUrl)).join('\n')}
</main>
</body>
</html>
`;
}

const shortTitle = ({ info }: Document) =>
  escaped(info.title.replace(/^Soundings /, '').replace(/^./, (letter) => letter.toUpperCase()));

function interfaceSection(name: InterfaceName, document: Document, publicUrl: string): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      operationArticle(method, path, operation, publicUrl),
    ),
  );
  const schemas = Object.entries(document.components.schemas).map(([title, schema]) =>
    schemaTable(name, title, schema),
  );
  return `<section id="${name}">
<h2>${shortTitle(document)} <small>version ${escaped(document.info.version)}</small></h2>
<p>${escaped(document.info.description)} <a href="/v1/openapi/${name}.json">OpenAPI document</a></p>
${operations.join('\n').replaceAll('href="#', `href="#${name}-`)}
${schemas.length > 0 ? '<h3>Schemas</h3>' : ''}
${schemas.join('\n')}
</section>`;
}

function operationArticle(
  method: string,
  path: string,
  operation: OperationDocument,
  publicUrl: string,
): string {
  const verb = method.toUpperCase();
  const sent = operation.requestBody?.content;
  const jsonType = Object.keys(sent ?? {}).find((type) => type.endsWith('json'));
  const data = !sent
    ? ''
    : jsonType
      ? ` \\\n  -H 'Content-Type: ${jsonType}' --data-binary @request.json`
      : ' \\\n  -F file=@users.csv';
  const parameters = operation.parameters.map(
    ({ name, required, schema }) =>
      `<tr><td><code>${escaped(name)}</code>${required ? ' <i>required</i>' : ''}</td><td>${typeOf(schema)}</td>` +
      `<td>${prose(schema.description)}</td></tr>`,
  );
  const responses = Object.entries(operation.responses).map(
    ([status, { description, content }]) =>
      `<tr><td><code>${status}</code></td><td>${bodyOf(content)}</td>` +
      `<td>${prose(description)}</td></tr>`,
  );
  return `<article>
<h3 class="operation"><span class="verb">${verb}</span> <code>${escaped(path)}</code></h3>
<p><b>${escaped(operation.summary)}.</b> ${prose(operation.description)}</p>
<pre>curl ${requestOption(verb)}${escaped(exampleAddress(publicUrl + path, operation))} -H "Authorization: $TOKEN"${data}</pre>
${parameters.length > 0 ? table(['Parameter', 'Type', 'Meaning'], parameters) : ''}
${sent ? `<p>Request body: ${bodyOf(sent)}</p>` : ''}
${table(['Status', 'Body', 'When'], responses)}
</article>`;
}

/** Returns the option of curl for methods that it does not choose by itself. */
const requestOption = (verb: string) => (['GET', 'POST'].includes(verb) ? '' : `-X ${verb} `);

/** Describes a body: JSON by its schema, other types by their content type and, if it has fields, the schema. */
function bodyOf(content: Content | undefined): string {
  if (!content) return ''; // a response without a body
  const kinds = Object.entries(content).map(([type, { schema }]) => {
    const name = type === 'application/json' ? '' : `<code>${escaped(type)}</code>`;
    return name === '' || schema.$ref ? `${name} ${typeOf(schema)}`.trim() : name;
  });
  return kinds.join(' or ');
}

/** Returns an example URL with the required parameters. */
function exampleAddress(address: string, { parameters }: OperationDocument): string {
  const needed = parameters
    .filter((one) => one.in === 'query' && one.required)
    .map(({ name }) => `${name}=1`);
  return needed.length > 0 ? `'${address}?${needed.join('&')}'` : address;
}

function schemaTable(name: InterfaceName, title: string, schema: Schema): string {
  const rows = Object.entries(schema.properties ?? {}).map(([field, one]) => {
    const required = schema.required?.includes(field) ? ' <i>required</i>' : '';
    const fallback =
      one.default !== undefined ? ` Default <code>${escaped(JSON.stringify(one.default))}</code>.` : '';
    const meaning = `${prose(one.description)}${fallback}`;
    return `<tr><td><code>${escaped(field)}</code>${required}</td><td>${typeOf(one)}</td><td>${meaning}</td></tr>`;
  });
  const described = schema.description ? `<p>${prose(schema.description)}</p>` : '';
  const text = table(['Field', 'Type', 'Meaning'], rows).replaceAll('href="#', `href="#${name}-`);
  return `<h4 id="${name}-${escaped(title)}">${escaped(title)}</h4>\n${described}${text}`;
}

function typeOf(schema: Schema): string {
  if (schema.$ref) {
    const title = escaped(schema.$ref.split('/').at(-1) ?? '');
    return `<a href="#${title}">${title}</a>`;
  }
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' or ');
  if (schema.items) return `array of ${typeOf(schema.items)}`;
  if (schema.enum) return schema.enum.map((one) => `<code>${escaped(String(one))}</code>`).join(' or ');
  const values = schema.additionalProperties;
  if (typeof values === 'object') return `object of name → ${typeOf(values)}`;
  const range = schema.maximum !== undefined ? ` ${schema.minimum}–${schema.maximum}` : '';
  return escaped(`${schema.type ?? 'any'}${range}`);
}

const table = (heads: string[], rows: string[]) =>
  `<div class="scroll"><table><thead><tr>${heads.map((head) => `<th>${head}</th>`).join('')}</tr></thead>` +
  `<tbody>${rows.join('\n')}</tbody></table></div>`;

/** Returns plain text as HTML, with text in backticks as code. */
const prose = (text = '') => escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>');
