// Reads a form with files (multipart/form-data, RFC 7578) as a stream, keeping only the last chunk in memory. Errors are Faults
// (`file validation`).
//
// Our own parser, because busboy creates a stream for every part, even beyond its limits: a body of 650 KB blocked the process for
// 2.2 s.
import type { IncomingMessage } from 'node:http';
import { maxUploadBytes } from '@soundings/contract/limits.ts';
import { Fault, uploadRefusal } from '../base/errors.ts';

/** The maximum size of a form, in bytes: a file and other fields. */
export const maxFormBytes = maxUploadBytes + 1024 * 1024;

/** The maximum number of parts, and the maximum length of a part's headers and of the boundary (RFC 2046 §5.1.1) in bytes. */
const maxParts = 100;
const maxHeaderBytes = 16 * 1024;
const maxBoundaryBytes = 70;

/** How many bytes of a refused form are still read, so that the response reaches a client that keeps sending. */
const maxDroppedBytes = 64 * 1024 * 1024;

export type FormFile = {
  /** The name as sent, which may be a path or not a valid file name. */
  name: string;
  /** The content as a stream. Read it before requesting the next file. */
  content: AsyncIterable<Buffer>;
};

/** Yields the files of a form as they arrive. Throws a Fault if the form is invalid, too large or incomplete. */
export async function* filesIn(form: IncomingMessage): AsyncGenerator<FormFile, void> {
  const source = bytesOf(form);
  const reader = readerOf(source);
  try {
    const delimiter = delimiterIn(form.headers['content-type'] ?? '');
    await dropped(reader.upTo(delimiter));
    for (let parts = 0; (await reader.peek(2)) !== '--'; parts++) {
      if (parts === maxParts) throw uploadRefusal(`The form has more than ${maxParts} parts. Send fewer.`);
      const headers = headersIn(await reader.textUpTo('\r\n\r\n', maxHeaderBytes));
      const name = fileNameIn(headers);
      const content = reader.upTo(delimiter);
      if (name !== undefined && isCompressed(headers))
        throw uploadRefusal('The file is encoded as base64 or quoted-printable. Send it without encoding.');
      if (name !== undefined) yield { name, content };
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
      if (size > maxFormBytes) throw uploadRefusal('The form is too large. A file can have at most 10 MB.');
      yield chunk;
    }
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw endedEarly(error);
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

/** Reads bytes up to given marks. */
function readerOf(source: AsyncGenerator<Buffer, void>) {
  let unread: Buffer = Buffer.from('\r\n'); // the first delimiter may be without its line break

  async function readOn(): Promise<void> {
    const { value } = await source.next();
    if (!value) throw uploadRefusal('The form is incomplete or invalid. Send it again.');
    unread = unread.length > 0 ? Buffer.concat([unread, value]) : value;
  }

  /** Yields the bytes before the mark as they arrive. The next read continues after the mark. */
  async function* upTo(mark: string): AsyncGenerator<Buffer, void> {
    for (;;) {
      const at = unread.indexOf(mark, 0, 'latin1');
      // A part of the mark may already have arrived.
      const end = at >= 0 ? at : Math.max(0, unread.length - mark.length + 1);
      const before = unread.subarray(0, end);
      unread = unread.subarray(at >= 0 ? at + mark.length : end);
      if (before.length > 0) yield before;
      if (at >= 0) return;
      await readOn();
    }
  }

  return {
    upTo,

    /** Returns the text before the mark, with one character per byte. */
    async textUpTo(mark: string, max: number): Promise<string> {
      let text = '';
      for await (const bytes of upTo(mark)) {
        text += bytes.toString('latin1');
        if (text.length > max) throw uploadRefusal('The headers of a part of the form are too long.');
      }
      return text;
    },

    /** Returns the next bytes without consuming them. */
    async peek(length: number): Promise<string> {
      while (unread.length < length) await readOn();
      return unread.toString('latin1', 0, length);
    },
  };
}

/** Returns the delimiter that precedes each part and the end. */
function delimiterIn(contentType: string): string {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]*)"|([^;\s"]*))/i.exec(contentType) ?? [];
  const boundary = quoted ?? plain ?? '';
  if (boundary !== '' && boundary.length <= maxBoundaryBytes) return `\r\n--${boundary}`;
  throw uploadRefusal('Send the file as multipart/form-data, with a boundary of 1 to 70 characters.');
}

/** The headers by name in lower case, with one character per byte. */
type PartHeaders = Map<string, string>;

/** Parses the headers of a part from the text after the delimiter. The line of the delimiter may end with padding. */
function headersIn(text: string): PartHeaders {
  const [padding = '', ...lines] = text.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n');
  if (padding.trim() !== '')
    throw uploadRefusal('The form is invalid: a part does not start correctly. Send it again.');
  return new Map(
    lines.map((line) => {
      const [name = '', ...value] = line.split(':');
      return [name.trim().toLowerCase(), value.join(':')];
    }),
  );
}

/**
 * Returns whether the content of a part is encoded as in emails, which RFC 7578 §4.7 deprecates for forms. The encoded
 * bytes would be stored as the file.
 */
const isCompressed = (headers: PartHeaders) =>
  /base64|quoted-printable/i.test(headers.get('content-transfer-encoding') ?? '');

/** Returns the file name from the headers of a part, or undefined if the part is not a file. */
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
  // If a file field is left empty, browsers send a part with an empty name (HTML).
  return extendedName(parameters.get('filename*') ?? '') || parameters.get('filename') || undefined;
}

/**
 * Decodes a quoted name, in which browsers write quotes and line breaks as %22, %0D and %0A (HTML). A backslash is literal, as in
 * the paths of old browsers, except before a quote or another backslash.
 */
const unquoted = (text: string) =>
  decoded(Buffer.from(text.replace(/\\(["\\])/g, '$1'), 'latin1')).replace(/%(22|0D|0A)/g, (code) =>
    decodeURIComponent(code),
  );

/** Decodes a name in the format of RFC 5987 (UTF-8''%C3%A5.csv). Returns an empty text if it is not in that format. */
function extendedName(text: string): string {
  const [, charset = '', value = ''] = /^(utf-8|iso-8859-1)'[^']*'(.*)$/i.exec(text) ?? [];
  const bytes = Buffer.from(
    value.replace(/%([\da-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16))),
    'latin1',
  );
  return charset.toLowerCase() === 'utf-8' ? decoded(bytes) : bytes.toString('latin1');
}

/** Decodes bytes as UTF-8 or, if that is invalid, as Windows-1252, in the same order as the content of CSV files. */
function decoded(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

/** Returns the Fault for a request that ended before its whole body was received. */
export const endedEarly = (cause?: unknown): Fault =>
  new Fault(
    'invalid',
    'bad request',
    'The request ended before the whole body was received. Send it again.',
    { cause },
  );
