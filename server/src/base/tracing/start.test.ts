// Recording and sending, without a service: limits of memory and time, samplers, and what belongs to a trace.
import { expect, onTestFinished, test } from 'vitest';
import type { Log } from '../log.ts';
import { openReceiver } from '../../testing/tracing/receiver.ts';
import { until } from '../../testing/until.ts';
import { readConfig } from '../config.ts';
import { beginTrace, currentSpan, inSpan, inTrace, outsideOfSpans, asPartOf } from './spans.ts';
import { startTracing } from './start.ts';

/** Starts tracing to a receiver. `warnings`: what is logged. */
async function tracing(env: Record<string, string> = {}) {
  const receiver = await openReceiver();
  onTestFinished(() => receiver.close());
  const warnings: unknown[] = [];
  const log = { warn: (facts: unknown) => void warnings.push(facts) } as unknown as Log;
  const options = readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...env }).tracing;
  const { close } = await startTracing(options, log);
  onTestFinished(() => close(0));
  return { receiver, warnings, close };
}
const nothing = async () => {};
const root = { name: 'whole', kind: 'internal' as const };
const part = { name: 'part', kind: 'internal' as const };

test('more spans than can wait are dropped, and the log says how many', async () => {
  const limits = { OTEL_BSP_MAX_QUEUE_SIZE: '20', OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '10' };
  const { receiver, warnings } = await tracing({ ...limits, OTEL_BSP_SCHEDULE_DELAY: '1' });
  for (let i = 0; i < 500; i++) beginTrace(root)?.end();
  await until(async () => receiver.spans.length === 30);
  await inTrace(root, nothing);
  await until(async () => receiver.spans.length === 31);
  expect(warnings).toEqual([{ reason: 'Dropped 470 spans because maxQueueSize reached' }]);
});

test('closing ends after the given time, even if the receiver does not respond', async () => {
  const { receiver, close } = await tracing();
  receiver.respond(undefined);
  await inTrace(root, nothing);
  const begun = Date.now();
  await close(0.2);
  expect(Date.now() - begun).toBeLessThan(5000); // the receiver would have ten seconds
});

test('nothing is recorded before the start and after the end', async () => {
  await inTrace(root, nothing);
  const { receiver, close } = await tracing();
  await close(5);
  await inTrace(root, async () => expect(currentSpan()).toBeUndefined());
  expect(receiver.exports).toEqual([]);
});

test.each([
  ['always_on', '', 100, true],
  ['always_off', '', 0, false],
  ['traceidratio', '0', 0, false],
  ['parentbased_always_off', '', 0, true],
  ['parentbased_traceidratio', '0', 0, true],
  ['traceidratio', '1', 100, true],
])('the sampler %s %s', async (sampler, share, expected, takesPart) => {
  const { receiver, close } = await tracing({ OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: share });
  for (let i = 0; i < 100; i++) await inTrace(root, () => inSpan(part, nothing));
  const traceId = 'ab'.repeat(16);
  beginTrace({ ...root, name: 'continued' }, `00-${traceId}-${'cd'.repeat(8)}-01`)?.end();
  await close(5);
  const count = (name: string) => receiver.spans.filter((one) => one.name === name).length;
  expect([count('whole'), count('part'), count('continued')]).toEqual([
    expected,
    expected,
    takesPart ? 1 : 0,
  ]);
});

test('what runs after the end of a trace, or outside of it, is not part of it', async () => {
  const { receiver, close } = await tracing();
  const later = Promise.withResolvers<void>();
  let late: Promise<void> | undefined;
  await inTrace(root, async () => {
    late = later.promise.then(() => inSpan({ ...part, name: 'late' }, nothing));
    await outsideOfSpans(() => inSpan({ ...part, name: 'outside' }, nothing));
    await inSpan(part, nothing);
  });
  later.resolve();
  await late;
  asPartOf(undefined, () => expect(currentSpan()).toBeUndefined());
  await close(5);
  expect(receiver.spans.map(({ name }) => name)).toEqual(['part', 'whole']);
});

test('an error marks its span by its type, and is thrown on', async () => {
  const { receiver, close } = await tracing();
  const failing = inTrace(root, async () => {
    throw new RangeError('secret');
  });
  await expect(failing).rejects.toThrow('secret');
  await close(5);
  expect(receiver.spans).toMatchObject([
    { status: 2, statusMessage: '', events: 0, attributes: { 'error.type': 'RangeError' } },
  ]);
});
