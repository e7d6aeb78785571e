// The emails that we write are those that nodemailer would write, whatever their parts contain: see docs/decisions/0037-writing-emails.md.
import * as fc from 'fast-check';
import MailComposer from 'nodemailer/lib/mail-composer';
import { expect, test } from 'vitest';
import { cases } from '../testing/house/cases.ts';
import { composeEmail } from './compose.ts';
import { oneLine } from '../sending/reasons.ts';

const texts = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.string({ unit: 'binary', maxLength: 100 }),
  fc.constantFrom(
    '',
    'a\r\nBcc: x@example.com',
    '=?utf-8?Q?a?=',
    '.\n..\n',
    'long '.repeat(60),
    'å'.repeat(200),
    'a \n b\t\n',
  ),
);
const addresses = fc.constantFrom(
  'p1@example.org',
  'åsa@example.org',
  'p@exämple.org',
  "o'neill+x@example.org",
  '"a b"@example.org',
);

/**
 * Returns the email without its boundary, which nodemailer chooses itself, the blank lines around parts, and the soft line breaks of
 * quoted-printable, which nodemailer puts elsewhere near the end of a text, because it reads texts in chunks.
 */
const comparable = (email: Buffer) => {
  // When it sends them, nodemailer completes line ends.
  const written = email.toString().replace(/\r\n|\r|\n/g, '\r\n');
  const boundary = /boundary="(.*?)"/.exec(written)?.[1] as string;
  return written
    .replaceAll(boundary, 'B')
    .replaceAll('\r\n--B', '--B')
    .replaceAll('=\r\n', '')
    .replace(/\s+$/, '')
    .split(/\r\n(?![ \t])/);
};

test('have the same headers and the same encoded texts', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        subject: texts,
        text: texts,
        html: texts,
        name: texts,
        to: addresses,
        link: texts,
        hasSharedLines: fc.boolean(),
      }),
      async ({ subject, text, html, name, to, link, hasSharedLines }) => {
        const date = new Date(1_700_000_000_000);
        const from = { name: oneLine(name), address: 'soundings@example.com' };
        const recipient = () => ({ name: '', address: to });
        const theirs = new MailComposer({
          from,
          to: recipient(),
          subject: oneLine(subject),
          text: `å${text}`,
          html: `å${html}`,
          textEncoding: 'quoted-printable',
          messageId: '<a@example.com>',
          date,
          headers: { 'List-Unsubscribe': oneLine(link) },
        });
        const ours = composeEmail({
          headers: [
            ['List-Unsubscribe', oneLine(link)],
            ['From', { ...from }],
            ['To', recipient()],
            ['Subject', oneLine(subject)],
            ['Message-ID', '<a@example.com>'],
          ],
          text: `å${text}`,
          html: `å${html}`,
          date,
          boundary: '--=_boundary',
          hasSharedLines,
        });
        const [, ...bodies] = ours.toString().split('\r\n\r\n');
        expect(
          bodies
            .join('\r\n')
            .split('\r\n')
            .filter((line) => line.length > 76),
        ).toEqual([]);
        const built = comparable(await theirs.compile().build());
        const own = comparable(ours);
        expect(own.toSorted()).toEqual(built.toSorted());
      },
    ),
    cases(150),
  );
});
