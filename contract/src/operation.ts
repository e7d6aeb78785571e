// How an operation of an interface is described: once, for the server, for the documents and for clients.
import type { TSchema } from 'typebox';

/** What a token may be used for (decision 3). */
export type Scope = 'data' | 'organization' | 'files';
export const scopes: readonly Scope[] = ['data', 'organization', 'files'];

/**
 * How the data interface writes the numbers of KPI values and response rates for a token. `quoted`: as texts, and dates with
 * a time, as the live original service does, for clients written against it (decision F2).
 */
export type Numbers = 'plain' | 'quoted';
export const numberForms: readonly Numbers[] = ['plain', 'quoted'];

/** The three interfaces of §1; each has its own face for errors. */
export type InterfaceName = 'data' | 'organization' | 'upload';

export type Operation = {
  interface: InterfaceName;
  method: 'GET' | 'POST';
  /** What varies in it stands in braces: `/v1/kpis/{kpiId}/values`. */
  path: string;
  operationId: string;
  summary: string;
  description: string;
  scope: Scope;
  /** The parts of the path in braces: an object schema with each of their names. */
  params?: TSchema;
  /** The query parameters: an object schema that allows nothing else (decision 6). */
  query: TSchema;
  body?: TSchema;
  /** What the body is, where it is not JSON: a form, each of whose fields is one of `body`'s. */
  bodyType?: 'multipart/form-data';
  /** The body of 200: JSON, or of the content types that `contentTypes` names. */
  response: TSchema;
  contentTypes?: string[];
  /** The other statuses that this operation answers with the error body. */
  errors: Record<number, string>;
};
