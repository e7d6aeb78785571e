// Records spans with the SDK of OpenTelemetry, and sends them over OTLP. Only start.ts loads this file, and only if tracing is on. Waiting
// spans take a limited amount of memory: if the receiver can't be reached, they are dropped, and the log has one warning a minute.
import {
  type Context,
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  type Span as OtelSpan,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer,
} from '@opentelemetry/api';
import {
  createOtlpHttpExportDelegate,
  httpAgentFactoryFromOptions,
} from '@opentelemetry/otlp-exporter-base/node-http';
import {
  JsonTraceSerializer,
  ProtobufTraceSerializer,
  TraceExporterMetricsHelper,
} from '@opentelemetry/otlp-transformer';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log.ts';
import { version } from '../version.ts';
import type { Recorder, Span, SpanStart } from './spans.ts';
import type { TracingOptions } from './tracing-options.ts';

/** Opens a recorder. `close` sends what is waiting, for up to `seconds`. */
export function openRecorder(
  options: TracingOptions,
  log: Log,
): { record: Recorder; close(seconds: number): Promise<void> } {
  const warn = warnings(options.url, log);
  // What the libraries report themselves: above all, that spans were dropped.
  diag.setLogger(
    { ...silent, warn: (...parts) => warn(parts.map(String).join(' ')) },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const { delayMs, timeoutMs, waiting, size } = options.batches;
  const provider = new TracerProvider({
    resource: defaultResource().merge(
      resourceFromAttributes({ 'service.version': version, ...options.resource }),
    ),
    sampler: samplerOf(options.sampler),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: exporterTo(options, warn),
        scheduledDelayMillis: delayMs,
        exportTimeoutMillis: timeoutMs,
        maxQueueSize: waiting,
        maxExportBatchSize: size,
      }),
    ],
  });
  const tracer = provider.getTracer('soundings', version);
  return {
    record(start, traceparent) {
      const parent = parentIn(traceparent);
      const context = parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
      return begin({ tracer, now: openClock() }, context, start);
    },
    async close(seconds) {
      const ended = new AbortController();
      const late = sleep(seconds * 1000, undefined, { signal: ended.signal }).catch(() => {});
      const sent = provider.shutdown().catch(() => {}); // The exporter has reported it.
      await Promise.race([sent, late]);
      ended.abort();
      diag.disable();
    },
  };
}

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };

/** What the spans of a trace share: the tracer, and the clock in ms since 1970. */
type Trace = { tracer: Tracer; now: () => number };

/** Returns a clock that starts at the current time and never jumps. */
function openClock(): () => number {
  const [startedAt, begun] = [Date.now(), performance.now()];
  return () => startedAt + performance.now() - begun;
}

/** Returns a time in ms as seconds and nanoseconds. */
const secondsAndRest = (ms: number): [number, number] => [
  Math.floor(ms / 1000),
  Math.floor((ms % 1000) * 1e6),
];

/** Begins a span. Returns undefined if it is not sampled. */
function begin(
  own: Trace,
  parent: Context,
  { name, kind, attributes = {}, startedAt = own.now() }: SpanStart,
): Span | undefined {
  const startTime = secondsAndRest(startedAt);
  const span = own.tracer.startSpan(name, { kind: kinds[kind], attributes, startTime }, parent);
  return span.isRecording() ? spanOf(own, trace.setSpan(parent, span), span) : undefined;
}

const spanOf = (own: Trace, context: Context, span: OtelSpan): Span => ({
  traceId: span.spanContext().traceId,
  now: own.now,
  begin: (start) => (span.isRecording() ? begin(own, context, start) : undefined),
  end({ attributes = {}, endedAt = own.now() } = {}) {
    if (!span.isRecording()) return;
    span.setAttributes(attributes);
    // Without the message of the error, which could contain anything.
    if (attributes['error.type'] !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(secondsAndRest(endedAt));
  },
});

/** Reads a traceparent header of version 00 or newer (W3C Trace Context). Returns undefined if it is invalid. */
function parentIn(traceparent: string | undefined) {
  const parts = /^(?!ff)[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(?:$|-)/.exec(traceparent ?? '');
  const [, traceId = '', spanId = '', flags = ''] = parts ?? [];
  if (!parts || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED, isRemote: true };
}

function samplerOf({ of, share, followsParent }: TracingOptions['sampler']): Sampler {
  const root =
    of === 'always_off'
      ? new AlwaysOffSampler()
      : of === 'traceidratio'
        ? new TraceIdRatioBasedSampler(share)
        : new AlwaysOnSampler();
  return followsParent ? new ParentBasedSampler({ root }) : root;
}

/** Returns what sends spans. `warn` gets the reason when this fails. */
function exporterTo(options: TracingOptions, warn: (reason: string, code?: unknown) => void): SpanExporter {
  const { url, isJson, headers, timeoutMs, isCompressed, tls } = options;
  const contentType = isJson ? 'application/json' : 'application/x-protobuf';
  const sender = createOtlpHttpExportDelegate<ReadableSpan[], unknown>(
    {
      url,
      headers: async () => ({ ...headers, 'content-type': contentType }),
      timeoutMillis: timeoutMs,
      compression: isCompressed ? 'gzip' : 'none',
      concurrencyLimit: 4,
      agentFactory: httpAgentFactoryFromOptions({ keepAlive: true, ...tls }),
      userAgent: `Soundings/${version}`,
    },
    isJson ? JsonTraceSerializer : ProtobufTraceSerializer,
    'otlp_http_span_exporter',
    TraceExporterMetricsHelper,
    undefined,
  );
  return {
    export(spans, done) {
      sender.export(spans, (result) => {
        if (result.error) warn(reasonOf(result.error));
        done(result);
      });
    },
    forceFlush: () => sender.forceFlush(),
    shutdown: () => sender.shutdown(),
  };
}

/** Returns why sending failed, without the body of the response. */
function reasonOf(error: Error & { code?: unknown }): string {
  if (typeof error.code === 'number') return `HTTP ${error.code} ${error.message}`.trim();
  return typeof error.code === 'string' ? error.code : error.message;
}

const minuteMs = 60_000;
const longestReason = 300;

/** Returns a function that logs a reason, at most once a minute, with the number of those that were not logged. */
function warnings(url: string, log: Log): (reason: string) => void {
  let lastAt = -Infinity;
  let unlogged = 0;
  return (reason) => {
    if (performance.now() - lastAt < minuteMs) return void unlogged++;
    const { host } = new URL(url);
    log.warn(
      { reason: reason.slice(0, longestReason), ...(unlogged > 0 && { failures: unlogged + 1 }) },
      `Traces could not be sent to ${host}. They are dropped. Run "npx soundings doctor"`,
    );
    [lastAt, unlogged] = [performance.now(), 0];
  };
}

const silent = { error() {}, warn() {}, info() {}, debug() {}, verbose() {} };
