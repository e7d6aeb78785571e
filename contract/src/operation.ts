// Describes an operation of an interface once: for the server, for the OpenAPI documents and for clients.
import type { TSchema } from 'typebox';

/** The scopes of tokens: which interfaces a token may use (decision E3). */
export type Scope = 'data' | 'organization' | 'files' | 'audit' | 'scim';
export const scopes: readonly Scope[] = ['data', 'organization', 'files', 'audit', 'scim'];

/**
 * How the data interface writes the numbers of KPI values and response rates for a token. `quoted` writes numbers as texts
 * and dates with a time, for clients written for the original service (decision F2).
 */
export type Numbers = 'plain' | 'quoted';
export const numberForms: readonly Numbers[] = ['plain', 'quoted'];

/** The three interfaces (§1), the audit log, and SCIM. */
export type InterfaceName = 'data' | 'organization' | 'upload' | 'audit' | 'scim';

export type Operation = {
  interface: InterfaceName;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With parameters in braces: `/v1/kpis/{kpiId}/values`. */
  path: string;
  operationId: string;
  summary: string;
  description: string;
  scope: Scope;
  /** An object schema of the path parameters. */
  params?: TSchema;
  /** An object schema of the query parameters. Others are rejected (decision E6). */
  query: TSchema;
  /** The handler reads the query: SCIM ignores unknown parameters, and the case of known ones. */
  readsQuery?: true;
  body?: TSchema;
  /** Set if the body is a form instead of JSON. Its fields are those of `body`. */
  bodyType?: 'multipart/form-data';
  /** The body of a 200 response: JSON, or one of `contentTypes`. */
  response: TSchema;
  contentTypes?: string[];
  /** The status codes of errors, each with its meaning. */
  /** The status of success; 200 by default. */
  success?: 201 | 202 | 204 | 501;
  errors: Record<number, string>;
};
