// The body of an error of the SCIM interface (RFC 7644 §3.12), made from our own.
import type { DetailType, Problem } from '@soundings/contract/problem.ts';

export const scimErrorSchema = 'urn:ietf:params:scim:api:messages:2.0:Error';

/** The kinds of errors that RFC 7644 names, by our types. */
const scimTypes: Partial<Record<DetailType, string>> = {
  'invalid filter': 'invalidFilter',
  'too many results': 'tooMany',
  'already exists': 'uniqueness',
  'read-only attribute': 'mutability',
  'invalid path': 'invalidPath',
  'no target': 'noTarget',
  'invalid value': 'invalidValue',
  'missing field': 'invalidValue',
  'wrong type': 'invalidValue',
  'too long': 'invalidValue',
  'invalid syntax': 'invalidSyntax',
  'invalid json': 'invalidSyntax',
  'invalid utf-8': 'invalidSyntax',
  'invalid text': 'invalidSyntax',
  'duplicate key': 'invalidSyntax',
  'too deep': 'invalidSyntax',
  'too many values': 'invalidSyntax',
};

export type ScimErrorBody = { schemas: string[]; status: string; scimType?: string; detail: string };

/** Returns the body of an error with this status. The request id is in the x-request-id header. */
export function scimErrorOf(status: number, { message, details }: Problem): ScimErrorBody {
  const scimType = status === 400 || status === 409 ? scimTypes[details[0]?.type as DetailType] : undefined;
  return {
    schemas: [scimErrorSchema],
    status: String(status),
    ...(scimType !== undefined && { scimType }),
    detail: message,
  };
}
