// Spans: how long a request, a job and their parts take. Nothing is recorded until a recorder is set (start.ts); until then, these
// functions only call the work. What is never recorded, because it would reveal who has answered, is in what-is-traced.ts.
import { AsyncLocalStorage } from 'node:async_hooks';
import { Fault } from '../errors.ts';

/**
 * The attributes that spans can have. There are no others, so that no identifier, address or value of a person can become one. Values are
 * names from our code, methods, and codes of statuses and errors.
 */
export type Attributes = Partial<{
  'http.request.method': string;
  'http.response.status_code': number;
  /** The pattern of the route. The path itself contains identifiers. */
  'http.route': string;
  'url.scheme': string;
  'db.system.name': string;
  'db.operation.name': string;
  /** The function that sends the statement. */
  'db.query.summary': string;
  'db.response.status_code': string;
  'error.type': string;
}>;

export type SpanStart = {
  name: string;
  kind: 'server' | 'client' | 'internal';
  attributes?: Attributes;
  /** By the clock of the trace. Default: now. */
  startedAt?: number;
};

export type SpanEnd = { attributes?: Attributes; endedAt?: number };

export type Span = {
  /** The ID of the trace, which is also in the log. */
  traceId: string;
  /** The time of its trace, in ms since 1970. This clock never jumps, so that parts never end after their whole. */
  now(): number;
  /** Begins a part. Returns undefined once this span has ended: what runs later, in a timer for example, is not part of it. */
  begin(start: SpanStart): Span | undefined;
  /** `error.type` marks the span as failed. */
  end(how?: SpanEnd): void;
};

/** Begins a trace. `traceparent`: the W3C header of a caller whose trace it continues. Returns undefined if it is not sampled. */
export type Recorder = (start: SpanStart, traceparent?: string) => Span | undefined;

let recorder: Recorder | undefined;
const current = new AsyncLocalStorage<Span | undefined>();

/** Records from now on. Returns a function that ends this. */
export function recordSpans(record: Recorder): () => void {
  recorder = record;
  return () => {
    if (recorder === record) recorder = undefined;
  };
}

/** Begins a trace, if spans are recorded and it is sampled. */
export const beginTrace: Recorder = (start, traceparent) => recorder?.(start, traceparent);

/** Returns the span that the running code is part of. */
export const currentSpan = (): Span | undefined => (recorder ? current.getStore() : undefined);

/** Runs work as part of a span, if there is one. The caller ends it. */
export const asPartOf = <T>(span: Span | undefined, work: () => T): T =>
  span ? current.run(span, work) : work();

/**
 * Runs work that is part of no span. For what opens connections that others use later: whatever their events call would otherwise be part
 * of the span in which they were opened.
 */
export const outsideOfSpans = <T>(work: () => T): T =>
  recorder && current.getStore() ? current.run(undefined, work) : work();

/** Runs work as a trace. */
export const inTrace = <T>(start: SpanStart, work: () => Promise<T>): Promise<T> =>
  untilDone(beginTrace(start), work);

/** Runs work as a part of the current span, if there is one. */
export const inSpan = <T>(start: SpanStart, work: () => Promise<T>): Promise<T> =>
  untilDone(currentSpan()?.begin(start), work);

async function ended<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    const result = await asPartOf(span, work);
    span.end();
    return result;
  } catch (error) {
    span.end({ attributes: { 'error.type': errorTypeOf(error) } });
    throw error;
  }
}

const untilDone = <T>(span: Span | undefined, work: () => Promise<T>): Promise<T> =>
  span ? ended(span, work) : work();

/** Returns the type of an error: that of a Fault, a code such as ECONNREFUSED or 40001, or the name of its class. Never its message. */
export function errorTypeOf(error: unknown): string {
  if (error instanceof Fault) return error.code;
  if (!(error instanceof Error)) return typeof error;
  const code = 'code' in error ? String(error.code) : '';
  return /^[A-Z0-9_]{1,40}$/.test(code) ? code : error.constructor.name || 'Error';
}
