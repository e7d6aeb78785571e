// The examples of the API reference: requests and the responses that the service really sent (testing/examples records them).
import { readFileSync } from 'node:fs';
import { assetAt } from '../../base/places.ts';

/** A request. Only one of `body` and `file` is set, and neither for requests without a body. */
export type ExampleRequest = {
  method: string;
  /** With its parameters and query, such as /v1/groups?kind=segment. */
  path: string;
  /** Headers besides the token and the type of the body. */
  headers?: Record<string, string>;
  /** A JSON value or, if it is sent as it is, a text. */
  body?: unknown;
  file?: { name: string; text: string };
};

export type ExampleResponse = {
  status: number;
  /** Undefined if the response has no body. */
  contentType?: string;
  /** A JSON value, or a text for CSV, NDJSON and plain text. */
  body?: unknown;
  /** What was left out to keep the example readable, such as "the list has 60 entries". */
  shortened?: string[];
};

export type Example = {
  /** What the example shows. */
  title: string;
  /** The values of the parameters, by name. */
  params?: Record<string, string>;
  query?: Record<string, string>;
  request: ExampleRequest;
  response: ExampleResponse;
};

/** An error, by its type. `operationId` is undefined for addresses that no operation has. */
export type ErrorExample = {
  operationId?: string;
  /** What is special about the request or the account, if the request does not show it. */
  note?: string;
  /** Undefined if the request is too large to be shown, or is not valid HTTP. */
  request?: ExampleRequest;
  response: ExampleResponse;
};

/** The body of a webhook, by the type of its event. */
export type WebhookExample = { headers: Record<string, string>; body: unknown };

export type Examples = {
  /** By operationId. */
  operations: Record<string, Example>;
  errors: Record<string, ErrorExample>;
  webhooks: Record<string, WebhookExample>;
};

const read = <T>(name: string): Record<string, T> =>
  JSON.parse(readFileSync(assetAt(`http/reference/examples/${name}.json`), 'utf8')) as Record<string, T>;

/** Returns all examples. */
export const readExamples = (): Examples => ({
  operations: read('operations'),
  errors: read('errors'),
  webhooks: read('webhooks'),
});
