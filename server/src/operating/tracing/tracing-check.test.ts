// What soundings doctor says about the receiver of traces.
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../base/config.ts';
import { certificate } from '../../mail/certificate.fixture.ts';
import { freePort } from '../../testing/processes/free-port.ts';
import { openReceiver } from '../../testing/tracing/receiver.ts';
import { checkTracing } from './tracing-check.ts';

async function found(env: Record<string, string>, ms = 3000): Promise<string[]> {
  const findings = await checkTracing(readConfig(env).tracing, ms);
  return findings.map(({ outcome, code }) => `${outcome} ${code}`);
}

async function receiving(...parameters: Parameters<typeof openReceiver>) {
  const receiver = await openReceiver(...parameters);
  onTestFinished(() => receiver.close());
  return receiver;
}

test('without an endpoint, nothing is contacted', async () => {
  expect(await found({})).toEqual(['ok off']);
});

test.each(['http/protobuf', 'http/json'])('a receiver accepts an empty list as %s', async (protocol) => {
  const receiver = await receiving();
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=secret',
  };
  expect(await found(env)).toEqual(['ok accepted']);
  expect(receiver.exports).toMatchObject([{ path: '/v1/traces', headers: { authorization: 'secret' } }]);
  expect(receiver.spans).toEqual([]);
});

test('a receiver that refuses, is not there, or does not respond is a problem with a remedy', async () => {
  const receiver = await receiving();
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url };
  for (const [status, remedy] of [
    [401, 'OTEL_EXPORTER_OTLP_HEADERS'],
    [404, 'nothing to OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'],
    [500, 'log'],
  ] as const) {
    receiver.respond(status);
    const [finding] = await checkTracing(readConfig(env).tracing, 3000);
    expect(finding).toMatchObject({ outcome: 'problem', code: 'refused' });
    expect(finding?.text).toContain(remedy);
  }
  receiver.respond(undefined);
  expect(await found(env, 200)).toEqual(['problem unreachable']);
  expect(await found({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}` })).toEqual([
    'problem unreachable',
  ]);
});

test('a certificate that can’t be verified is a problem', async ({ skip }) => {
  const tls = await certificate({ name: 'IP:127.0.0.1' });
  if (!tls) return skip('SKIPPED: needs openssl');
  const receiver = await receiving({ tls });
  expect(await found({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url })).toEqual(['problem certificate']);
});

test('headers over plain HTTP to another machine are a warning', async () => {
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://192.0.2.1:4318',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=secret',
  };
  expect(await found(env, 100)).toEqual(['problem unreachable', 'warning plain']);
});
