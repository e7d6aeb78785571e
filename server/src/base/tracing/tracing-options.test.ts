// The settings of traces: what they turn on, and that invalid ones are reported by their names.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig, readSettings } from '../config.ts';

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };
const tracingOf = (env: Record<string, string>) => readConfig(env).tracing;
const faultsOf = (env: Record<string, string>) => readSettings({ ...endpoint, ...env }).faults;

test('nothing is traced without an endpoint, and with one unless it is turned off', () => {
  expect(tracingOf({})).toBeUndefined();
  expect(tracingOf({ OTEL_TRACES_EXPORTER: 'otlp', OTEL_SERVICE_NAME: 'x' })).toBeUndefined();
  expect(tracingOf({ ...endpoint, OTEL_SDK_DISABLED: 'TRUE' })).toBeUndefined();
  expect(tracingOf({ ...endpoint, OTEL_TRACES_EXPORTER: 'none' })).toBeUndefined();
  expect(tracingOf(endpoint)).toEqual({
    url: 'http://127.0.0.1:4318/v1/traces',
    isJson: false,
    headers: {},
    timeoutMs: 10_000,
    isCompressed: false,
    tls: {},
    resource: { 'service.name': 'soundings' },
    sampler: { of: 'always_on', share: 1, followsParent: true },
    batches: { delayMs: 5000, timeoutMs: 30_000, waiting: 2048, size: 512 },
  });
});

test('settings for traces take precedence over those for everything', () => {
  const options = tracingOf({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://other:4318/',
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.example.com/otlp?key=1',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_TIMEOUT: '1',
    OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '2',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'none',
    OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: 'gzip',
    OTEL_EXPORTER_OTLP_HEADERS: 'a=1,b=2',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'b=3',
    OTEL_TRACES_SAMPLER: 'traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.25',
    OTEL_SERVICE_NAME: 'own',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=x, a = b%2Cc ,',
  });
  expect(options).toMatchObject({
    url: 'https://traces.example.com/otlp?key=1',
    isJson: true,
    timeoutMs: 2,
    isCompressed: true,
    headers: { a: '1', b: '3' },
    sampler: { of: 'traceidratio', share: 0.25, followsParent: false },
    resource: { 'service.name': 'own', a: 'b,c' },
  });
  expect(tracingOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://other:4318/' })?.url).toBe(
    'http://other:4318/v1/traces',
  );
});

test('certificates and secrets are read from files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'soundings-tracing-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = (name: string) => {
    writeFileSync(join(folder, name), name);
    return join(folder, name);
  };
  const options = tracingOf({
    ...endpoint,
    OTEL_EXPORTER_OTLP_CERTIFICATE: file('every'),
    OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE: file('traces'),
    OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: file('cert'),
    OTEL_EXPORTER_OTLP_CLIENT_KEY: file('key'),
    OTEL_EXPORTER_OTLP_HEADERS_FILE: file('name=secret'),
  });
  expect(options).toMatchObject({
    tls: { ca: 'traces', cert: 'cert', key: 'key' },
    headers: { name: 'secret' },
  });
  expect(faultsOf({ OTEL_EXPORTER_OTLP_CERTIFICATE: join(folder, 'none') })).toEqual([
    expect.stringContaining('OTEL_EXPORTER_OTLP_CERTIFICATE: cannot read the file'),
  ]);
});

test.each([
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: '127.0.0.1:4318' }, 'OTEL_EXPORTER_OTLP_ENDPOINT must be an address'],
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://user:secret@host' },
    'OTEL_EXPORTER_OTLP_ENDPOINT must be an address',
  ],
  [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'gRPC is not supported'],
  [{ OTEL_EXPORTER_OTLP_HEADERS: 'secret' }, 'OTEL_EXPORTER_OTLP_HEADERS must be headers'],
  [{ OTEL_EXPORTER_OTLP_HEADERS: 'a b=secret' }, 'OTEL_EXPORTER_OTLP_HEADERS must be headers'],
  [{ OTEL_EXPORTER_OTLP_HEADERS: 'a=secret%0d%0ab' }, 'OTEL_EXPORTER_OTLP_HEADERS must be headers'],
  [{ OTEL_EXPORTER_OTLP_HEADERS: 'a=%zz' }, 'OTEL_EXPORTER_OTLP_HEADERS must be headers'],
  [{ OTEL_EXPORTER_OTLP_TIMEOUT: '0' }, 'OTEL_EXPORTER_OTLP_TIMEOUT must be a number of milliseconds'],
  [{ OTEL_EXPORTER_OTLP_COMPRESSION: 'zstd' }, 'OTEL_EXPORTER_OTLP_COMPRESSION must be gzip or none'],
  [{ OTEL_EXPORTER_OTLP_CLIENT_KEY: '/dev/null' }, 'must be set together, but one is missing'],
  [{ OTEL_RESOURCE_ATTRIBUTES: 'a' }, 'OTEL_RESOURCE_ATTRIBUTES must be attributes'],
  [{ OTEL_TRACES_SAMPLER: 'xray' }, 'OTEL_TRACES_SAMPLER must be always_on, always_off, traceidratio'],
  [{ OTEL_TRACES_SAMPLER_ARG: '1.5' }, 'OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1'],
  [{ OTEL_TRACES_EXPORTER: 'zipkin' }, 'OTEL_TRACES_EXPORTER must be otlp or none'],
  [{ OTEL_SDK_DISABLED: 'yes' }, 'OTEL_SDK_DISABLED must be true or false'],
  [{ OTEL_BSP_MAX_QUEUE_SIZE: '100' }, 'must not be larger than OTEL_BSP_MAX_QUEUE_SIZE'],
])('%j is refused', (env, expected) => {
  const faults = faultsOf(env);
  expect(faults).toEqual([expect.stringContaining(expected)]);
  expect(faults.join()).not.toContain('secret');
});
