// A form with files (multipart/form-data, RFC 7578), read as it comes: no more of it is held than what was received last.
// Whatever is wrong with it is a Fault (`file validation`).
//
// By hand: busboy makes a stream of every part, also beyond its limits. A body of 650 KB held the process up for 2.2 s.
import type { IncomingMessage } from 'node:http';
import { maxUploadBytes } from '@soundings/contract/limits.ts';
import { Fault } from '../base/errors.ts';

/** The largest form, in bytes: a file, and what there may be beside it. */
export const maxFormBytes = maxUploadBytes + 1024 * 1024;

/** The most parts of a form, the longest headers of one, and the longest boundary (RFC 2046 §5.1.1), in bytes. */
const maxParts = 100;
const maxHeaderBytes = 16 * 1024;
const maxBoundaryBytes = 70;

/** So much of a form that was refused is still read, in bytes, so that the answer reaches a client that goes on sending. */
const maxDroppedBytes = 64 * 1024 * 1024;

export type FormFile = {
  /** As it was sent: perhaps a path, or what no file can be called. */
  name: string;
  /** As it comes, to be read before the next file is asked for. */
  content: AsyncIterable<Buffer>;
};

/** The files of a form, as they come. Throws a Fault where the form is broken or too large, or breaks off. */
export async function* filesIn(form: IncomingMessage): AsyncGenerator<FormFile, void> {
  const source = bytesOf(form);
  const reader = readerOf(source);
  try {
    const delimiter = delimiterIn(form.headers['content-type'] ?? '');
    await dropped(reader.upTo(delimiter));
    // oxlint-disable-next-line no-await-in-loop -- one part after another, as they come
    for (let parts = 0; (await reader.peek(2)) !== '--'; parts++) {
      if (parts === maxParts) throw refusal(`The form has more than ${maxParts} parts.`);
      // oxlint-disable-next-line no-await-in-loop -- likewise
      const headers = headersIn(await reader.textUpTo('\r\n\r\n', maxHeaderBytes));
      const name = fileNameIn(headers);
      const content = reader.upTo(delimiter);
      if (name !== undefined && isPacked(headers))
        throw refusal('The file is packed as in mail. Send it as it is.');
      if (name !== undefined) yield { name, content };
      // oxlint-disable-next-line no-await-in-loop -- likewise
      await dropped(content);
    }
  } finally {
    await source.return();
    dropRest(form);
  }
}

async function* bytesOf(form: IncomingMessage): AsyncGenerator<Buffer, void> {
  let size = 0;
  try {
    for await (const chunk of form.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxFormBytes) throw refusal('The form is too large for one file of at most 10 MB.');
      yield chunk;
    }
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw new Fault('invalid', 'bad request', 'The body has broken off.', { cause: error });
  }
}

function dropRest(form: IncomingMessage): void {
  let left = maxDroppedBytes;
  form.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) form.destroy();
  });
  form.resume();
}

async function dropped(bytes: AsyncIterable<Buffer>): Promise<void> {
  for await (const _ of bytes);
}

/** Reads bytes up to marks that stand in them. */
function readerOf(source: AsyncGenerator<Buffer, void>) {
  let held: Buffer = Buffer.from('\r\n'); // the first delimiter may be without its line break

  async function readOn(): Promise<void> {
    const { value } = await source.next();
    if (!value) throw refusal('The form has no end, or is broken. Send it again.');
    held = held.length > 0 ? Buffer.concat([held, value]) : value;
  }

  /** What comes before the mark, as it comes; what is read next comes after it. */
  async function* upTo(mark: string): AsyncGenerator<Buffer, void> {
    for (;;) {
      const at = held.indexOf(mark, 0, 'latin1');
      // The mark may have come in part.
      const end = at >= 0 ? at : Math.max(0, held.length - mark.length + 1);
      const before = held.subarray(0, end);
      held = held.subarray(at >= 0 ? at + mark.length : end);
      if (before.length > 0) yield before;
      if (at >= 0) return;
      // oxlint-disable-next-line no-await-in-loop -- one chunk after another
      await readOn();
    }
  }

  return {
    upTo,

    /** A character for each byte. */
    async textUpTo(mark: string, most: number): Promise<string> {
      let text = '';
      for await (const bytes of upTo(mark)) {
        text += bytes.toString('latin1');
        if (text.length > most) throw refusal('The headers of a part of the form are too long.');
      }
      return text;
    },

    /** The bytes that come next, which stay to be read. */
    async peek(length: number): Promise<string> {
      // oxlint-disable-next-line no-await-in-loop -- likewise
      while (held.length < length) await readOn();
      return held.toString('latin1', 0, length);
    },
  };
}

/** What stands before each part, and at the end. */
function delimiterIn(contentType: string): string {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]*)"|([^;\s"]*))/i.exec(contentType) ?? [];
  const boundary = quoted ?? plain ?? '';
  if (boundary !== '' && boundary.length <= maxBoundaryBytes) return `\r\n--${boundary}`;
  throw refusal('Send the file as multipart/form-data, with a boundary of 1 to 70 characters.');
}

/** By name, in lower case; each byte a character. */
type PartHeaders = Map<string, string>;

/** The headers of a part, from behind the delimiter on: the rest of its line is padding. */
function headersIn(text: string): PartHeaders {
  const [padding = '', ...lines] = text.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n');
  if (padding.trim() !== '') throw refusal('The form is broken: a part does not begin as it should.');
  return new Map(
    lines.map((line) => {
      const [name = '', ...value] = line.split(':');
      return [name.trim().toLowerCase(), value.join(':')];
    }),
  );
}

/** Forms once could be (RFC 7578 §4.7). It would be kept so, and read as something else. */
const isPacked = (headers: PartHeaders) =>
  /base64|quoted-printable/i.test(headers.get('content-transfer-encoding') ?? '');

/** The name of a file as the headers of its part have it; undefined: the part is no file. */
function fileNameIn(headers: PartHeaders): string | undefined {
  const disposition = headers.get('content-disposition') ?? '';
  if (!/^\s*form-data\s*;/i.test(disposition)) return undefined;
  const pattern = /;\s*([^\s;=]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;]*))/g;
  const parameters = new Map(
    [...disposition.matchAll(pattern)].map(([, key = '', quoted, plain = '']) => [
      key.toLowerCase(),
      quoted === undefined ? decoded(Buffer.from(plain.trim(), 'latin1')) : unquoted(quoted),
    ]),
  );
  // A form whose field for a file is left empty has a part without a name (HTML).
  return extendedName(parameters.get('filename*') ?? '') || parameters.get('filename') || undefined;
}

/**
 * A quoted name, of which browsers write quotes and line breaks as %22, %0D and %0A (HTML). A backslash is one, as in the
 * paths of old browsers, but for before a quote or another backslash.
 */
const unquoted = (text: string) =>
  decoded(Buffer.from(text.replace(/\\(["\\])/g, '$1'), 'latin1')).replace(/%(22|0D|0A)/g, (code) =>
    decodeURIComponent(code),
  );

/** A name as RFC 5987 writes it: UTF-8''%C3%A5.csv. Empty: it is none. */
function extendedName(text: string): string {
  const [, charset = '', value = ''] = /^(utf-8|iso-8859-1)'[^']*'(.*)$/i.exec(text) ?? [];
  const bytes = Buffer.from(
    value.replace(/%([\da-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16))),
    'latin1',
  );
  return charset.toLowerCase() === 'utf-8' ? decoded(bytes) : bytes.toString('latin1');
}

/** UTF-8 or, where it is none, Windows-1252: the same order as for the content of CSV files. */
function decoded(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

const refusal = (message: string): Fault =>
  new Fault('invalid', 'file validation', message, { details: [{ type: 'file validation', message }] });
