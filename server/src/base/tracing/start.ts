// Turns tracing on. The libraries of OpenTelemetry are loaded only then.
import type { Log } from '../log.ts';
import { recordSpans } from './spans.ts';
import type { TracingOptions } from './tracing-options.ts';

export type Tracing = {
  /** Stops recording, and sends what is waiting, for up to `seconds`. */
  close(seconds: number): Promise<void>;
};

/** Records spans from now on, and sends them as `options` say. Without options, nothing is recorded. */
export async function startTracing(options: TracingOptions | undefined, log: Log): Promise<Tracing> {
  if (!options) return { close: async () => {} };
  const { openRecorder } = await import('./otlp.ts');
  const { record, close } = openRecorder(options, log);
  const stop = recordSpans(record);
  return {
    close(seconds) {
      stop();
      return close(seconds);
    },
  };
}
