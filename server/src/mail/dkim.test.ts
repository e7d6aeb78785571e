// Emails signed with DKIM, checked by a program that others wrote (dkimpy).
import { execFileSync, spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { dkimKeyOf } from '../base/messages/smtp.ts';
import { openSmtp } from '../testing/smtp.ts';
import { openMailer } from './mailer.ts';

const key = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
}).privateKey;
const record = `v=DKIM1; k=rsa; p=${dkimKeyOf(key)}`;

const hasDkimpy = spawnSync('/usr/bin/python3', ['-c', 'import dkim']).status === 0;
const program = `
import dkim, sys
record, raw = sys.argv[1].encode(), sys.stdin.buffer.read()
asked = []
def dns(name, timeout=5):
    asked.append(name.decode())
    return record
print(dkim.verify(raw, dnsfunc=dns), *asked)`;
/** Returns whether dkimpy accepts the signature of an email, and which DNS record it reads. */
const verified = (raw: string, own = record) =>
  execFileSync('/usr/bin/python3', ['-c', program, own], { input: Buffer.from(raw, 'latin1') })
    .toString()
    .trim();

async function signedMail(headers: Record<string, string> = {}): Promise<string> {
  const smtp = await openSmtp();
  onTestFinished(() => smtp.close());
  const dkim = { domain: 'example.com', selector: 's1', key };
  const mailer = openMailer(smtp.url, 'Soundings <soundings@example.com>', { dkim });
  onTestFinished(() => mailer.close());
  const text = `Hallå Åsa 🙂\n.\n..\n   spaces   \n\n${'long '.repeat(300)}`;
  await mailer.send({ to: 'anna@example.org', subject: 'Hallå 🙂', text, html: `<p>${text}</p>`, headers });
  return smtp.mails[0]!.raw;
}

const unsubscribe = {
  'List-Unsubscribe': '<https://soundings.example/r/x>',
  'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
};

test('a signed email is accepted by another program, and no changed one is', async (context) => {
  if (!hasDkimpy) return context.skip('SKIPPED: needs dkimpy (Debian: python3-dkim)');
  const raw = await signedMail(unsubscribe);
  expect(verified(raw)).toBe('True s1._domainkey.example.com.');
  for (const changed of [
    raw.replace('Subject: ', 'Subject: x'),
    raw.replace('<https://soundings.example/r/x>', '<https://evil.example/r/x>'),
    raw.replace('List-Unsubscribe=One-Click', 'List-Unsubscribe=Two-Clicks'),
    raw.replace('spaces', 'places'),
    raw.replace('From: Soundings', 'From: Boss'),
  ]) {
    expect(changed).not.toBe(raw);
    expect(verified(changed)).toMatch(/^False/);
  }
  const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({
    type: 'spki',
    format: 'der',
  });
  expect(verified(raw, `v=DKIM1; k=rsa; p=${other.toString('base64')}`)).toMatch(/^False/);
});

test('the signature covers each header that we write, including those for one-click unsubscribing', async () => {
  const raw = await signedMail(unsubscribe);
  const [head = ''] = raw.replaceAll(/\r\n(?=[ \t])/g, '').split('\r\n\r\n');
  const signed = /; h=([^;]*)/.exec(head)![1]!.replaceAll(/\s/g, '').toLowerCase().split(':');
  const names = head.split('\r\n').map((line) => line.slice(0, line.indexOf(':')).toLowerCase());
  const unsigned = names.filter((name) => !signed.includes(name));
  expect(unsigned.toSorted()).toEqual(['dkim-signature', 'x-auto-response-suppress']);
});
