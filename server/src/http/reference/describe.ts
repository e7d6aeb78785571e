// Adds to the OpenAPI documents what makes a reference of them: examples of requests, responses and errors, and code samples.
import { codeSamples } from './code-samples.ts';
import type { ErrorExample, Example, Examples } from './examples.ts';

type Media = { examples?: Record<string, object> };
type Described = {
  operationId: string;
  parameters: { name: string; in: string; example?: unknown }[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, { content?: Record<string, Media> }>;
  'x-codeSamples'?: object[];
};
type Document = {
  paths?: Record<string, Record<string, Described>>;
  webhooks?: Record<string, Record<string, Described>>;
};

/** Errors that are the same for all operations with their status. */
const general = ['invalid token', 'too many requests', 'unavailable'];

/** Adds the examples to a document of an interface, and returns it. `server`: the address that serves it, without a path. */
export function withExamples<T extends object>(document: T, examples: Examples, server: string): T {
  const { paths = {} } = document as Document;
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    const example = examples.operations[operation.operationId];
    if (example) addExample(operation, example, server);
    for (const [type, one] of Object.entries(examples.errors))
      if (one.operationId === operation.operationId || general.includes(type)) addError(operation, type, one);
  }
  return document;
}

function addExample(operation: Described, example: Example, server: string): void {
  const { title, params = {}, query = {}, request, response } = example;
  for (const one of operation.parameters) {
    const value = (one.in === 'path' ? params : query)[one.name];
    if (value !== undefined) one.example = value === 'true' || value === 'false' ? value === 'true' : value;
  }
  const [bodyType, body] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  if (body && request.body !== undefined)
    body.examples = { example: { summary: title, value: request.body } };
  const ofResponse = operation.responses[response.status]?.content?.[response.contentType ?? ''];
  if (ofResponse) {
    const note = response.shortened && `Shortened: ${response.shortened.join(', ')}.`;
    ofResponse.examples = {
      example: { summary: title, ...(note && { description: note }), value: response.body },
    };
  }
  if (response.status < 400) operation['x-codeSamples'] = codeSamples(example, server, bodyType);
}

/** Adds an error or a warning to the response with its status. */
function addError(operation: Described, type: string, { note, response }: ErrorExample): void {
  const media = operation.responses[response.status]?.content?.[response.contentType ?? ''];
  if (!media) return;
  const name = type.replaceAll(' ', '-');
  media.examples = {
    ...media.examples,
    [name]: { summary: type, ...(note && { description: note }), value: response.body },
  };
}

/** Adds the examples to the document of webhooks, and returns it. */
export function withWebhookExamples<T extends object>(document: T, { webhooks }: Examples): T {
  for (const [type, { post }] of Object.entries((document as Document).webhooks ?? {})) {
    const example = webhooks[type];
    const media = post?.requestBody?.content['application/json'];
    if (!example || !post || !media) continue;
    media.examples = { example: { summary: type, value: example.body } };
    for (const one of post.parameters) one.example = example.headers[one.name];
  }
  return document;
}
