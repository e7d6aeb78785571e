// `soundings sms test`: what it sends and prints, its exit status, and that it needs no database.
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Manner, openTestGateway } from '../sms/gateway.fixture.ts';
import { runHere } from './cli.fixture.ts';

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'soundings-sms-'));
});
afterAll(() => rm(home, { recursive: true }));

async function run(manner: Manner, ...args: string[]) {
  const gateway = await openTestGateway(() => manner);
  onTestFinished(() => gateway.close());
  const env = {
    DATA_DIR: join(home, 'none'),
    PUBLIC_URL: 'https://surveys.example.com',
    SMS_PROVIDER: 'webhook',
    SMS_URL: gateway.url,
    SMS_PASSWORD: 'hunter2-hunter2',
  };
  return { gateway, ...(await runHere(['sms', 'test', ...args], env)) };
}

test('sends a message without a working link, and prints it with its segments; the exit status is 0', async () => {
  const { gateway, status, out, err } = await run('takes', '--to', '+46 70-174 06 05', '--language', 'sv');
  expect([status, err]).toEqual([0, '']);
  expect(gateway.got.map(({ json }) => [json.kind, json.phone])).toEqual([['test', '+46701740605']]);
  expect(out).toContain(gateway.got[0]!.json.text);
  expect(out).toMatch(
    /^Soundings har frågor till dig.*\n1 segment: \d+ characters of GSM-7\.\nAccepted by the gateway \(webhook\)\.\n$/,
  );
  expect(existsSync(join(home, 'none'))).toBe(false);
});

test('prints what the gateway says, without number and secrets, and the exit status is 1; with --json as well', async () => {
  const manner = { status: 401, body: 'bad token hunter2-hunter2 for +46701740605' };
  const { status, out } = await run(manner, '--to', '+46701740605');
  expect(status).toBe(1);
  expect(out).toMatch(/^Not accepted: .*does not accept the settings SMS_…: HTTP 401: bad token … for …$/m);
  const json = await run({ status: 422 }, '--to', '+46701740605', '--json');
  expect([json.status, JSON.parse(json.out)]).toEqual([
    1,
    expect.objectContaining({ outcome: 'HTTP 422:', segments: 1 }),
  ]);
});

test('names the missing setting, and refuses anything that is not a phone number', async () => {
  const env = { DATA_DIR: join(home, 'none') };
  const missing = await runHere(['sms', 'test', '--to', '+46701740605'], env);
  expect([missing.status, missing.err]).toEqual([1, expect.stringContaining('Set SMS_PROVIDER')]);
  for (const to of ['070-174 06 05', 'kim@example.org', '+46701740605, +46701740606']) {
    const { gateway, ...wrong } = await run('takes', '--to', to);
    expect([wrong.status, wrong.err, gateway.got]).toEqual([
      2,
      expect.stringMatching(/--to must be a phone number/),
      [],
    ]);
  }
});
