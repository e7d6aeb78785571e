// Reports of undeliverable emails: those of common mail servers are understood, and no text makes reading fail.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formNames, reportOf } from './delivery-reports.fixture.ts';
import { bounceIn, bounceMessageId } from './delivery-status.ts';
import { cases } from '../../testing/house/cases.ts';

const token = 'AAAAAQAAAAIxYz-_AAAAAAAAAAAAAAAA';
const to = 'gone@example.org';
const id = `<${bounceMessageId('3f'.repeat(16), token)}@example.com>`;
const headers = ['From: Soundings <soundings@example.com>', `To: ${to}`, `Message-ID: ${id}`, 'Subject: x'];

describe.each(formNames)('a report of %s', (form) => {
  test('names the token, the address and the reason, without addresses and links', async () => {
    const bounce = await bounceIn(reportOf(form, to, headers));
    expect(bounce).toMatchObject({ token, to });
    expect(bounce?.reason).toMatch(/^550.*5\.1\.1 .*(mailbox|lookup|exist)/);
    expect(bounce?.reason).not.toMatch(/@|https|secret/);
  });

  test('of a delay, or of an email without a token, is not a bounce', async () => {
    expect(await bounceIn(reportOf(form, to, headers, '4.4.7'))).toBeUndefined();
    const others = headers.map((line) =>
      line.startsWith('Message-ID') ? 'Message-ID: <3f@example.com>' : line,
    );
    expect(await bounceIn(reportOf(form, to, others))).toBeUndefined();
    expect(await bounceIn(reportOf(form, to, others.toSpliced(2, 1)))).toBeUndefined();
  });

  test('that is cut anywhere never fails', async () => {
    const whole = reportOf(form, to, headers);
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length), fc.uint8Array({ maxLength: 40 }), async (end, more) => {
        const bounce = await bounceIn(Buffer.concat([whole.subarray(0, end), more]));
        expect([undefined, token]).toContain(bounce?.token);
      }),
      cases(50),
    );
  });
});

test('a Message-ID with a token stays below 64 characters before the "@"', () => {
  expect(bounceMessageId('3f'.repeat(16), token).length).toBeLessThan(64);
});

test('an ordinary email, and any bytes, are not a bounce', async () => {
  expect(
    await bounceIn(Buffer.from(`From: a@example.org\r\nIn-Reply-To: ${id}\r\n\r\nI am away.`)),
  ).toBeUndefined();
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
      expect(await bounceIn(bytes)).toBeUndefined();
    }),
    cases(100),
  );
});
