// Spans of threads. A thread loads no library for them: it collects its spans as plain objects and returns them with its result, and
// the main thread adds them to its own span.
import { recordSpans, type Span, type SpanEnd, type SpanStart, asPartOf } from './spans.ts';

/**
 * A span of a thread. Its times are in ms since the thread got its work. `parent`: the position of the span that it is a part of; undefined:
 * the span of the thread itself.
 */
export type ThreadSpan = {
  start: SpanStart & { startedAt: number };
  parent: number | undefined;
  end: (SpanEnd & { endedAt: number }) | undefined;
};

/** How many spans of a thread are kept. Further ones are left out. */
const most = 500;

/** On a thread: runs work, and adds its spans to `spans`. Without `spans`, nothing is recorded. */
export function collectSpans<T>(spans: ThreadSpan[] | undefined, work: () => Promise<T>): Promise<T> {
  if (!spans) return work();
  recordSpans(() => undefined); // What does not belong to this work begins no trace.
  const begun = performance.now();
  return asPartOf(
    collector(spans, undefined, () => performance.now() - begun),
    work,
  );
}

function collector(spans: ThreadSpan[], own: number | undefined, now: () => number): Span {
  return {
    traceId: '',
    now,
    begin(start) {
      if (spans.length >= most) return undefined;
      const at = spans.push({ start: { ...start, startedAt: now() }, parent: own, end: undefined }) - 1;
      return collector(spans, at, now);
    },
    end(how = {}) {
      const one = own === undefined ? undefined : spans[own];
      if (one) one.end = { ...how, endedAt: now() };
    },
  };
}

/** Adds the spans of a thread to the span of the thread, except those that have not ended. `sentAt`: when the thread was sent its work. */
export function addSpans(span: Span, spans: readonly ThreadSpan[], sentAt: number): void {
  const added: (Span | undefined)[] = [];
  for (const { start, parent } of spans) {
    const of = parent === undefined ? span : added[parent];
    added.push(of?.begin({ ...start, startedAt: sentAt + start.startedAt }));
  }
  spans.forEach(({ end }, i) => end && added[i]?.end({ ...end, endedAt: sentAt + end.endedAt }));
}
