// What docs/integrators/webhooks.md says: its programs verify real signatures, and its lists are those of the code.
import { eventTypes, retryDelays, testEvent } from '@soundings/contract/webhooks/events.ts';
import { webhookBodies } from '@soundings/contract/webhooks/webhooks.ts';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Value } from 'typebox/value';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signatureHeaders } from '../base/outgoing/signature.ts';

const text = readFileSync(new URL('../../../docs/integrators/webhooks.md', import.meta.url), 'utf8');
const blockOf = (language: string) =>
  new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(text)?.[1] as string;

// The example of the specification and of its libraries.
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const example = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', body: '{"test": 2432232314}', now: 1_614_265_330_000 };
const keyOf = (one: string) => Buffer.from(one.replace('whsec_', ''), 'base64');

test('signatures are those of the vectors of the libraries of Standard Webhooks', () => {
  const signed = signatureHeaders([keyOf(secret)], example)['webhook-signature'];
  expect(signed).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  expect(signed).toBe(new Webhook(secret).sign(example.id, new Date(example.now), example.body));
});

test('the library accepts what is signed now, by one of several keys, and nothing that was changed or is old', () => {
  const own = { id: 'msg_1', body: '{"type":"week.opened","data":{"week":"2026-11-16"},"é":1}' };
  const other = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const accepts = (by: string[], { body = own.body, at = Date.now(), more = {} } = {}) => {
    const headers = { ...signatureHeaders(by.map(keyOf), { ...own, now: at }), ...more };
    try {
      new Webhook(secret).verify(body, headers);
      return true;
    } catch {
      return false;
    }
  };
  expect([accepts([secret]), accepts([other, secret]), accepts([secret, other])]).toEqual([true, true, true]);
  expect(accepts([other])).toBe(false);
  expect(accepts([secret], { body: `${own.body} ` })).toBe(false);
  expect(accepts([secret], { more: { 'webhook-id': 'msg_2' } })).toBe(false);
  expect(accepts([secret], { at: Date.now() - 301_000 })).toBe(false);
  expect(accepts([secret], { at: Date.now() + 301_000 })).toBe(false);
});

let home: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'soundings-webhooks-'));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));
const programs: [string, string, (file: string) => [string, ...string[]]][] = [
  ['bash', 'verify.sh', (file) => ['bash', file]],
  ['ts', 'verify.ts', (file) => [process.execPath, file]],
  ['python', 'verify.py', (file) => ['python3', file]],
  ['csharp', 'verify.cs', (file) => ['dotnet', 'run', file]],
  ['java', 'Verify.java', (file) => ['java', '-XX:TieredStopAtLevel=1', file]],
  ['powershell', 'verify.ps1', (file) => ['pwsh', file]],
];

test.for(programs)(
  'the program in %s accepts a valid request and refuses a changed one',
  ([language, name, commandOf], context) => {
    const file = join(home, name);
    writeFileSync(file, blockOf(language));
    const [command, ...rest] = commandOf(file);
    const keys = [Buffer.alloc(32, 7), keyOf(secret)];
    const headers = signatureHeaders(keys, example);
    const run = (input: string) =>
      spawnSync(command, rest, {
        input,
        env: {
          PATH: process.env['PATH'],
          HOME: home,
          WEBHOOK_SECRET: secret,
          WEBHOOK_ID: headers['webhook-id'],
          WEBHOOK_TIMESTAMP: headers['webhook-timestamp'],
          WEBHOOK_SIGNATURE: headers['webhook-signature'],
        },
      });
    const valid = run(example.body);
    if (valid.error) return context.skip(`SKIPPED: ${command} is missing`);
    expect([valid.stderr.toString(), valid.status]).toEqual(['', 0]);
    expect(run(`${example.body} `).status).toBe(1);
  },
);

test('every type of event is listed, with an example that matches its schema', () => {
  const listed = [...text.matchAll(/^\| `([a-z]+\.[a-z]+)` /gm)].map(([, type]) => type);
  expect(listed).toEqual([...Object.keys(eventTypes), testEvent]);
  const bodies = blockOf('json')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string });
  expect(bodies.map(({ type }) => type)).toEqual(listed);
  for (const { type, body } of webhookBodies()) {
    const one = bodies.find((sent) => sent.type === type);
    expect([type, [...Value.Errors(body, one)]]).toEqual([type, []]);
  }
});

test('the table of attempts is the schedule', () => {
  const rows = [...text.matchAll(/^\| (\d+) +\| [^|]+ \| (\d+):(\d\d):(\d\d) +\|$/gm)];
  const seconds = rows.map(([, , h, m, s]) => Number(h) * 3600 + Number(m) * 60 + Number(s));
  let total = 0;
  expect(seconds).toEqual([0, ...retryDelays.map((delay) => (total += delay))]);
});
