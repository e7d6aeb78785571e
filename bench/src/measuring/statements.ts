// Counts the statements that some work sends to the database, by the spans of traces.
import { asPartOf, recordSpans, type Span } from '@soundings/server/src/base/tracing/spans.ts';

/** Runs work, and returns its result and how many statements it has sent. */
export async function countStatements<T>(work: () => Promise<T>): Promise<{ result: T; statements: number }> {
  let statements = 0;
  const span: Span = {
    traceId: '',
    now: () => performance.now(),
    begin({ attributes }) {
      if (attributes?.['db.system.name'] !== undefined) statements++;
      return span;
    },
    end() {},
  };
  const end = recordSpans(() => undefined);
  try {
    const result = await asPartOf(span, work);
    return { result, statements };
  } finally {
    end();
  }
}
