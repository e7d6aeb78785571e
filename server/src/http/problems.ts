// How faults look over HTTP: the error body of §2.3 for every interface, and each interface's own statuses.
import type { InterfaceName } from '@soundings/contract/operation.ts';
import type { DetailType, Problem } from '@soundings/contract/problem.ts';
import type { Fault, FaultKind } from '../base/errors.ts';

/** Without a body it is text/plain: the upload interface has nothing to say to whom it does not know (§7). */
export type Answer = { status: number; headers: Record<string, string>; body: Problem | undefined };
type Spoken = Answer & { body: Problem };

const statuses: Record<FaultKind, number> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  too_large: 413,
  too_many: 429,
  unavailable: 503,
};

/** Seconds after which a client may try again when the service cannot answer now. */
export const retryAfter = '5';

/** A fault as the given interface shows it. An invalid token gets 400 from all but the data interface (§7). */
export function faultAnswer(fault: Fault, id: string, face: InterfaceName): Answer {
  const status = fault.kind === 'unauthenticated' && face !== 'data' ? 400 : statuses[fault.kind];
  const headers: Record<string, string> = {};
  if (fault.kind === 'unauthenticated' && face === 'upload') return { status, headers, body: undefined };
  if (status === 401) headers['www-authenticate'] = 'Bearer realm="soundings"';
  if (status === 429 || status === 503) headers['retry-after'] = String(fault.retryAfter ?? retryAfter);
  return { status, headers, body: problem(id, fault.code, fault.message, fault.details) };
}

/** A defect: whoever asked learns nothing but the id to ask about. */
export function defectAnswer(id: string): Spoken {
  const message = `Something went wrong on our side. If it happens again, report it with the id ${id}.`;
  return { status: 500, headers: {}, body: problem(id, 'internal error', message) };
}

const protocolErrors: Record<number, { type: DetailType; message: string }> = {
  404: { type: 'not found', message: 'There is nothing at this address.' },
  408: {
    type: 'too slow',
    message: 'The body came too slowly. Send it again over a faster connection, or compressed.',
  },
  413: { type: 'too large', message: 'The body is larger than allowed here.' },
  414: { type: 'bad request', message: 'The address is too long.' },
  415: {
    type: 'unsupported media type',
    message:
      'Send JSON as application/json in UTF-8, plain or packed by gzip; a file as multipart/form-data, not packed.',
  },
  431: { type: 'bad request', message: 'The headers are too large.' },
};

/** A refusal of the HTTP layer itself, by its status. */
export function protocolAnswer(status: number, id: string): Spoken {
  const { type, message } = protocolErrors[status] ?? {
    type: 'bad request' as const,
    message: 'The request is not valid HTTP.',
  };
  return { status: status in protocolErrors ? status : 400, headers: {}, body: problem(id, type, message) };
}

/** The error body. Without details of its own, the fault itself is the one detail. */
export function problem(
  id: string,
  type: DetailType,
  message: string,
  details: Problem['details'] = [],
): Problem {
  return { id, message, details: details.length > 0 ? details : [{ type, message }] };
}
