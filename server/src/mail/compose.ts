// Writes an email as the bytes that a mail server receives (RFC 5322, 2045 and 2047). nodemailer does the same with a chain of streams for each
// part, which takes three quarters of the time of sending an email. The encoding of headers and texts is nodemailer's own,
// from files that it doesn't document (docs/decisions/0037-writing-emails.md). Pure.
import { foldLines } from 'nodemailer/lib/mime-funcs';
import MimeNode from 'nodemailer/lib/mime-node';
import { encode, wrap } from 'nodemailer/lib/qp';

/** The parts of an email. `boundary`: a text that occurs in no email. `hasSharedLines`: see mail.ts. */
export type EmailParts = {
  headers: readonly (readonly [name: string, value: string | { name: string; address: string }])[];
  text: string;
  html: string;
  date: Date;
  boundary: string;
  hasSharedLines: boolean;
};

/** The longest line, without its end. */
const lineLength = 76;

/** Returns the email: ASCII, except for the part of an address before its @, with lines of at most 76 characters where they can be folded. */
export function composeEmail({ headers, text, html, date, boundary, hasSharedLines }: EmailParts): Buffer {
  const head = [
    ...headers.flatMap(([name, value]) => headerOf(name, value)),
    `Date: ${date.toUTCString().replace(/GMT/, '+0000')}`,
    'MIME-Version: 1.0',
    `Content-Type: multipart/alternative;\r\n boundary="${boundary}"`,
  ];
  const part = (type: string, content: string) =>
    `--${boundary}\r\nContent-Type: text/${type}; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n${quoted(content, hasSharedLines)}\r\n`;
  return Buffer.from(
    `${head.join('\r\n')}\r\n\r\n${part('plain', text)}${part('html', html)}--${boundary}--\r\n`,
  );
}

/** Values that are written as they are: printable ASCII without quotes that can’t be taken for an encoded word. */
const plain = /^(?!.*=\?)[ !#-~]*$/;
const plainAddress = /^[\w.+-]+@[\w.-]+$/;

/** Returns a header; none if it would be empty, because a line of spaces could be taken for the end of the headers. */
function headerOf(name: string, value: string | { name: string; address: string }): string[] {
  const isPlain =
    typeof value === 'string'
      ? plain.test(value)
      : value.name === '' && plainAddress.test(value.address) && !/[^ -~]/.test(value.address);
  const written = isPlain
    ? typeof value === 'string'
      ? value
      : value.address
    : MimeNode.encodeHeaderValue(name, value, { textEncoding: 'Q' });
  return written.trim() === '' ? [] : [foldLines(`${name}: ${written}`, lineLength)];
}

/** The lines that many emails share, and how they are written; the first emails of a language fill it. */
const knownLines = new Map<string, string>();
const mostKnown = { lines: 1000, length: 4000 };

/** Returns a text as quoted-printable with line ends as in emails. What is written for a line doesn't depend on the other lines. */
function quoted(text: string, hasSharedLines: boolean): string {
  const lines = text.split(/\r\n|\r|\n/);
  const last = lines.pop() as string;
  const quotedLine = hasSharedLines ? knownLine : newLine;
  return lines.map((line) => quotedLine(`${line}\r\n`)).join('') + quotedLine(last);
}

const newLine = (line: string): string => wrap(encode(line), lineLength);

function knownLine(line: string): string {
  const known = knownLines.get(line);
  if (known !== undefined) return known;
  const written = newLine(line);
  // Lines with an address are not kept, because the address can be secret.
  if (line.length <= mostKnown.length && !line.includes('://')) {
    if (knownLines.size >= mostKnown.lines) knownLines.clear();
    knownLines.set(line, written);
  }
  return written;
}
