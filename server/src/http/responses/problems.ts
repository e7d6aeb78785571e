// Turns faults into HTTP responses: the error body of §2.3 for every interface, with the status codes of each.
import type { InterfaceName } from '@soundings/contract/operation.ts';
import type { DetailType, Problem } from '@soundings/contract/problem.ts';
import type { Fault, FaultKind } from '../../base/errors.ts';

/** Without a body, the response is an empty text/plain: the upload interface reveals nothing to unknown callers (§7). */
export type ErrorResponse = { status: number; headers: Record<string, string>; body: Problem | undefined };
type WithBody = ErrorResponse & { body: Problem };

const statuses: Record<FaultKind, number> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  stale: 412,
  too_large: 413,
  too_many: 429,
  unavailable: 503,
};

/** The value of Retry-After, in seconds, for requests that can't be handled now. */
export const retryAfter = '5';

/** The interfaces that return 400 for an invalid token (§7). The others return 401. */
const with400: readonly InterfaceName[] = ['organization', 'upload'];

/** Returns the response to a fault for an interface. */
export function faultResponse(fault: Fault, id: string, face: InterfaceName): ErrorResponse {
  const status = fault.kind === 'unauthenticated' && with400.includes(face) ? 400 : statuses[fault.kind];
  const headers: Record<string, string> = {};
  if (fault.kind === 'unauthenticated' && face === 'upload') return { status, headers, body: undefined };
  if (status === 401) headers['www-authenticate'] = 'Bearer realm="soundings"';
  if (status === 429 || status === 503) headers['retry-after'] = String(fault.retryAfter ?? retryAfter);
  return { status, headers, body: problem(id, fault.code, fault.message, fault.details) };
}

/** Returns the response to an unexpected error. It contains only the request id. */
export function defectResponse(id: string): WithBody {
  const message = `Unexpected error. Try again. If it happens again, contact your server administrator and include the request ID ${id}.`;
  return { status: 500, headers: {}, body: problem(id, 'internal error', message) };
}

const protocolErrors: Record<number, { type: DetailType; message: string }> = {
  404: { type: 'not found', message: 'This address does not exist. Check the URL.' },
  408: {
    type: 'too slow',
    message: 'The request body arrived too slowly. Send it again over a faster connection, or compressed.',
  },
  413: { type: 'too large', message: 'The request body is too large. Send a smaller one.' },
  414: { type: 'bad request', message: 'The URL is too long.' },
  415: {
    type: 'unsupported media type',
    message:
      'Unsupported content type or encoding. Send JSON as application/json in UTF-8, optionally compressed with gzip. Send files as multipart/form-data, uncompressed.',
  },
  431: { type: 'bad request', message: 'The request headers are too large.' },
};

/** Returns the response to an error of the HTTP layer itself, by status code. */
export function protocolResponse(status: number, id: string): WithBody {
  const { type, message } = protocolErrors[status] ?? {
    type: 'bad request' as const,
    message: 'The request is not valid HTTP.',
  };
  return { status: status in protocolErrors ? status : 400, headers: {}, body: problem(id, type, message) };
}

/** Returns the error body. Without details, the fault itself becomes the only detail. */
export function problem(
  id: string,
  type: DetailType,
  message: string,
  details: Problem['details'] = [],
): Problem {
  return { id, message, details: details.length > 0 ? details : [{ type, message }] };
}
