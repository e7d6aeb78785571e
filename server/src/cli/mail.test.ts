// `soundings mail test`: what it prints, its exit status, and that it needs no database.
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MailFinding } from '@soundings/contract/console/mail-findings.ts';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openSmtp, type SmtpOptions } from '../testing/smtp.ts';
import { runHere } from './cli.fixture.ts';

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'soundings-mail-'));
});
afterAll(() => rm(home, { recursive: true }));

async function run(options: SmtpOptions, ...args: string[]) {
  const smtp = await openSmtp(options);
  onTestFinished(() => smtp.close());
  const env = { DATA_DIR: join(home, 'none'), SMTP_URL: smtp.url };
  return { smtp, ...(await runHere(['mail', 'test', '--to', 'it@example.org', ...args], env)) };
}

test('sends a test email and prints each step; without a problem the exit status is 0', async () => {
  const { smtp, status, out, err } = await run({});
  expect([status, err]).toEqual([0, '']);
  expect(out).toMatch(/^OK +Recipient +The server accepts the recipient it@example\.org\.$/m);
  expect(out).toMatch(/^Note +MX +The sender address soundings@\S+ is not in a domain of the Internet/m);
  expect(smtp.mails.map(({ to }) => to)).toEqual([['it@example.org']]);
  expect(existsSync(join(home, 'none'))).toBe(false);
});

test('prints the problem with its remedy, and the exit status is 1; with --json as well', async () => {
  const refuseSender = () => '550 5.7.60 not yours';
  const { smtp, status, out } = await run({ refuseSender });
  expect(status).toBe(1);
  expect(out).toMatch(/^Problem +Sender .*550 5\.7\.60 not yours\. Set MAIL_FROM/m);
  expect(smtp.mails).toEqual([]);
  const json = await run({ refuseSender }, '--json');
  expect(json.status).toBe(1);
  const findings = JSON.parse(json.out) as MailFinding[];
  expect(findings.filter(({ outcome }) => outcome === 'problem')).toEqual([
    {
      step: 'sender',
      outcome: 'problem',
      code: 'senderRefused',
      values: { address: expect.stringContaining('@'), said: '550 5.7.60 not yours' },
    },
  ]);
});

test('names the missing setting, and refuses a recipient that is not an address', async () => {
  const env = { DATA_DIR: join(home, 'none') };
  const missing = await runHere(['mail', 'test', '--to', 'it@example.org'], env);
  expect([missing.status, missing.err]).toEqual([1, expect.stringContaining('Set SMTP_URL')]);
  for (const to of ['it', 'it@example.org\r\nRCPT TO:<x@example.org>', 'a@example.org, b@example.org']) {
    const { smtp, ...wrong } = await run({}, '--to', to);
    expect([wrong.status, wrong.err, smtp.mails]).toEqual([2, expect.stringMatching(/--to must be/), []]);
  }
});
