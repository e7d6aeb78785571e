// Sends requests to a running service and keeps them with their responses, as the examples of the API reference.
import type { Operation } from '@soundings/contract/operation.ts';
import type {
  ErrorExample,
  Example,
  ExampleRequest,
  ExampleResponse,
} from '../../http/reference/examples.ts';
import { shortened, shortenedText } from './shorten.ts';

export type Sent = {
  token?: string | undefined;
  headers?: Record<string, string>;
  /** A JSON value, or a text or bytes that are sent as they are. */
  body?: unknown;
  bodyType?: string;
  file?: { name: string; text: string | Uint8Array };
};

/** Sends a request to the service at an address, and returns the response with the JSON that it contains. */
export async function sendTo(
  address: string,
  method: string,
  path: string,
  { token, headers = {}, body, bodyType = 'application/json', file }: Sent,
): Promise<ExampleResponse> {
  const form = new FormData();
  if (file) form.set('file', new Blob([file.text as string]), file.name);
  const isRaw = typeof body === 'string' || body instanceof Uint8Array;
  const response = await fetch(address + path, {
    method,
    headers: {
      ...(token !== undefined && { authorization: token }),
      ...(body !== undefined && { 'content-type': bodyType }),
      ...headers,
    },
    ...(body !== undefined && { body: isRaw ? (body as string) : JSON.stringify(body) }),
    ...(file && { body: form }),
  });
  const text = await response.text();
  const contentType = response.headers.get('content-type')?.replace(/;.*/, '');
  return {
    status: response.status,
    ...(text !== '' && contentType !== undefined && { contentType, body: contentOf(contentType, text) }),
  };
}

const contentOf = (type: string, text: string): unknown => (/[/+]json$/.test(type) ? JSON.parse(text) : text);

/** Returns a response that is short enough to read. */
export function shortResponse(response: ExampleResponse): ExampleResponse {
  if (response.body === undefined) return response;
  const { value, left } =
    typeof response.body === 'string' ? shortenedText(response.body) : shortened(response.body);
  return { ...response, body: value, ...(left.length > 0 && { shortened: left }) };
}

export type Recorder = {
  /** The examples so far, by operationId. */
  operations: Record<string, Example>;
  errors: Record<string, ErrorExample>;
  /** Records a successful request to an operation, and returns the whole response. Throws if it fails. */
  record(
    operation: Operation,
    title: string,
    sent: Sent & {
      params?: Record<string, string>;
      query?: Record<string, string>;
      /** Brings what has no order into one. */
      arrange?: (body: unknown) => unknown;
    },
  ): Promise<ExampleResponse>;
};

/** Returns the address of an operation with its parameters. */
export function pathOf(
  { path }: Pick<Operation, 'path'>,
  params: Record<string, string> = {},
  query: Record<string, string> = {},
): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] as string));
  const search = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return search.length > 0 ? `${filled}?${search.join('&')}` : filled;
}

/** Returns the part of a request that an example shows. */
export const shownRequest = (
  method: string,
  path: string,
  { headers, body, file }: Sent,
): ExampleRequest => ({
  method,
  path,
  ...(headers && { headers }),
  ...(body !== undefined && { body }),
  ...(file && { file: { name: file.name, text: String(file.text) } }),
});

export function openRecorder(address: string): Recorder {
  const recorder: Recorder = {
    operations: {},
    errors: {},
    async record(operation, title, { params, query, arrange = (body) => body, ...sent }) {
      const path = pathOf(operation, params, query);
      const bodyType = operation.interface === 'scim' ? 'application/scim+json' : 'application/json';
      const response = await sendTo(address, operation.method, path, { bodyType, ...sent });
      if (response.status !== (operation.success ?? 200))
        throw new Error(`${operation.operationId}: ${response.status} ${JSON.stringify(response.body)}`);
      recorder.operations[operation.operationId] = {
        title,
        ...(params && { params }),
        ...(query && { query }),
        request: shownRequest(operation.method, path, sent),
        response: shortResponse({ ...response, body: arrange(response.body) }),
      };
      return response;
    },
  };
  return recorder;
}
