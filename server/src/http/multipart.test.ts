// Forms with files: whatever their content and chunks, the files arrive as they were sent, or a Fault is thrown.
import fc from 'fast-check';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { Fault } from '../base/errors.ts';
import { filesIn, maxFormBytes } from './multipart.ts';
import { cases } from '../testing/house/cases.ts';

type Chunks = Iterable<Buffer> | AsyncIterable<Buffer>;

function formOf(chunks: Chunks, contentType?: string): IncomingMessage {
  const headers = contentType === undefined ? {} : { 'content-type': contentType };
  return Object.assign(Readable.from(chunks, { objectMode: false }), {
    headers,
  }) as unknown as IncomingMessage;
}

const type = 'multipart/form-data; boundary=limit';
const part = (headers: string, content = 'x') => `--limit\r\n${headers}\r\n\r\n${content}\r\n`;
const filePart = (name: string, content = 'x') =>
  part(`Content-Disposition: form-data; name="file"; filename="${name}"`, content);
const end = '--limit--\r\n';

/** Returns name and content of each file of a form. */
async function filesOf(chunks: Chunks, contentType?: string) {
  const files: { name: string; content: Buffer }[] = [];
  for await (const { name, content } of filesIn(formOf(chunks, contentType))) {
    const taken: Buffer[] = [];
    for await (const bytes of content) taken.push(bytes);
    files.push({ name, content: Buffer.concat(taken) });
  }
  return files;
}

/** Like `filesOf`, for a form as text. */
const filesInText = async (text: string, contentType = type) =>
  (await filesOf([Buffer.from(text)], contentType)).map(({ name, content }) => [name, content.toString()]);

/** Returns the kind, code and message of the Fault that a form gets. */
async function faultOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => new Error('It was accepted.'),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Fault)) throw error;
  return `${error.kind} ${error.code}: ${error.message}`;
}

describe('a file of a form', () => {
  test('is the one that was sent, byte for byte, whatever its content and surroundings, and however it is split', async () => {
    const boundary = fc.stringMatching(/^[a-zA-Z0-9'()+_,./:=? -]{0,69}[a-zA-Z0-9'()+_,./:=?-]$/);
    const text = fc.string().map((one) => one.replaceAll('\r', ''));
    const content = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      // Content that looks like the end of the part.
      fc
        .array(fc.constantFrom('\r', '\n', '-', '--', '\r\n', '\r\n-', '\r\n--', 'limi', '--limi'), {
          maxLength: 60,
        })
        .map((parts) => Buffer.from(parts.join(''))),
      fc.nat(300_000).map((size) => Buffer.alloc(size, 'ab\r\n')),
    );
    const cuts = fc.array(fc.nat(), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(boundary, content, cuts, text, async (limit, sent, places, other) => {
        const bytes = Buffer.from(sent);
        fc.pre(
          !`\r\n${bytes.toString('latin1')}`.includes(`\r\n--${limit}`) && !other.includes(`--${limit}`),
        );
        const field = `--${limit}\r\nContent-Disposition: form-data; name="other"\r\n\r\n${other}\r\n`;
        const body = Buffer.concat([
          Buffer.from(`${field}--${limit}\r\nContent-Disposition: form-data; name="f"; filename="a"\r\n\r\n`),
          bytes,
          Buffer.from(`\r\n${field}--${limit}--\r\n${other}`),
        ]);
        const at = [0, ...places.map((place) => place % body.length).toSorted((a, b) => a - b), body.length];
        const chunks = at.slice(1).map((to, i) => body.subarray(at[i], to));
        const found = await filesOf(
          chunks.filter(({ length }) => length > 0),
          `multipart/form-data; boundary="${limit}"`,
        );
        expect(found.map(({ name }) => name)).toEqual(['a']);
        expect(found[0]?.content.equals(bytes)).toBe(true);
      }),
      cases(75),
    );
  });

  test('is found in any field, with headers in any letter case, and with everything around it that RFC 2046 allows', async () => {
    const disposition = 'CONTENT-DISPOSITION:form-data;name=whatever;FileName="users.csv"';
    const text = `A preamble\r\n${part(disposition, 'a,b')}--limit--  \r\nAn epilogue`;
    expect(await filesInText(text, 'Multipart/Form-Data; charset=utf-8; Boundary=limit')).toEqual([
      ['users.csv', 'a,b'],
    ]);
  });

  test('may be empty, or contain what looks like a form', async () => {
    expect(await filesInText(filePart('a.csv', '') + end)).toEqual([['a.csv', '']]);
    const inner =
      '--other\r\nContent-Disposition: form-data; name="x"; filename="b.csv"\r\n\r\n1\r\n--other--';
    expect(await filesInText(filePart('a.csv', inner) + end)).toEqual([['a.csv', inner]]);
  });

  test('is read no faster than it is consumed', async () => {
    let given = 0;
    async function* chunks() {
      yield Buffer.from('--limit\r\nContent-Disposition: form-data; name="f"; filename="a"\r\n\r\n');
      for (; given < 10_000_000; given += 65_536) yield Buffer.alloc(65_536);
      yield Buffer.from(`\r\n${end}`);
    }
    let taken = 0;
    for await (const { content } of filesIn(formOf(chunks(), type))) {
      for await (const bytes of content) {
        await new Promise((resolve) => setImmediate(resolve));
        taken += bytes.length;
        expect(given - taken).toBeLessThan(300_000);
      }
    }
    expect(taken).toBe(given);
  });
});

describe('the name of a file is read', () => {
  const latin1 = (text: string) => Buffer.from(text, 'latin1');
  test.each<[string, string | Buffer, string]>([
    ['in quotes', 'filename="users.csv"', 'users.csv'],
    ['without', 'filename=users.csv', 'users.csv'],
    ['in UTF-8', 'filename="användare 🌊.csv"', 'användare 🌊.csv'],
    ['in UTF-8 without quotes', 'filename=användare.csv', 'användare.csv'],
    ['in Windows-1252, which is not UTF-8', latin1('filename="anv\xe4ndare\x80.csv"'), 'användare€.csv'],
    ['with an escaped quote (curl)', 'filename="a\\"b.csv"', 'a"b.csv'],
    ['with a quote and a line break as browsers write them', 'filename="a%22b%0D%0Ac.csv"', 'a"b\r\nc.csv'],
    ['with its own percent signs', 'filename="100%25 %C3%A5.csv"', '100%25 %C3%A5.csv'],
    ['as the path that old browsers send', 'filename="C:\\Users\\me\\users.csv"', 'C:\\Users\\me\\users.csv'],
    ['as that path, escaped', 'filename="C:\\\\Users\\\\users.csv"', 'C:\\Users\\users.csv'],
    ['with a semicolon', 'filename="a;b; filename=c.csv"', 'a;b; filename=c.csv'],
    ['in the form of RFC 5987', "filename*=UTF-8''anv%C3%A4ndare.csv", 'användare.csv'],
    [
      'in the form of RFC 5987, in Latin-1, with a language',
      "filename*=iso-8859-1'sv'anv%E4ndare.csv",
      'användare.csv',
    ],
    ['in the form of RFC 5987 after the plain one', "filename=a.csv; filename*=utf-8''%C3%A5.csv", 'å.csv'],
    ['in the form of RFC 5987 before the plain one', "filename*=utf-8''%C3%A5.csv; filename=a.csv", 'å.csv'],
    ['plain, if the other has an unknown charset', "filename=a.csv; filename*=utf-7''b.csv", 'a.csv'],
    ['plain, if the other is invalid', 'filename=a.csv; filename*=b', 'a.csv'],
    ['in the form of RFC 5987, with a zero', "filename*=utf-8''a%00.csv", 'a\0.csv'],
    ['unquoted to the end', 'filename="users.csv', '"users.csv'],
  ])('%s', async (_, parameter, name) => {
    const body = Buffer.concat([
      Buffer.from('--limit\r\nContent-Disposition: form-data; name="f"; '),
      Buffer.from(parameter as string),
      Buffer.from(`\r\n\r\nx\r\n${end}`),
    ]);
    expect((await filesOf([body], type))[0]?.name).toBe(name);
  });
});

const a = filePart('a.csv');
const field = part('Content-Disposition: form-data; name="f"');
const disposition = 'Content-Disposition: form-data; name="f"; filename="a.csv"';

test('several files are read one after another, with fields between them; unread content is skipped', async () => {
  const body = field + filePart('a.csv', '1') + field + filePart('b.csv', '2') + field + end;
  expect(await filesInText(body)).toEqual([
    ['a.csv', '1'],
    ['b.csv', '2'],
  ]);
  const names: string[] = [];
  for await (const { name } of filesIn(formOf([Buffer.from(body)], type))) names.push(name);
  expect(names).toEqual(['a.csv', 'b.csv']);
});

describe('no file is found', () => {
  test.each<[string, string]>([
    ['in a form with fields only', field],
    ['in a form without parts', ''],
    ['in an empty file field', filePart('', '')],
    [
      'in a field whose name looks like that of a file',
      part('Content-Disposition: form-data; name="x; filename=a.csv"'),
    ],
    ['in a part with another disposition', part('Content-Disposition: attachment; filename="a.csv"')],
    ['in a part without headers', '--limit\r\n\r\nx\r\n'],
    ['in a part with a zero in its headers', part(disposition.replace('form-data', 'form\0data'))],
    ['in a part with a header after a bare line feed', part(`X: a\n${disposition}`)],
    [
      'in a nested form',
      part(
        'Content-Disposition: form-data; name="f"\r\nContent-Type: multipart/mixed; boundary=in',
        `--in\r\nContent-Disposition: file; filename="a.csv"\r\n\r\nx\r\n--in--`,
      ),
    ],
  ])('%s', async (_, body) => {
    expect(await filesInText(body + end)).toEqual([]);
  });
});

describe('a Fault is thrown for', () => {
  const broken = 'The form is incomplete or invalid. Send it again.';
  const tooMany = 'The form has more than 100 parts. Send fewer.';
  const longHeaders = 'The headers of a part of the form are too long.';
  const noBoundary = 'Send the file as multipart/form-data, with a boundary of 1 to 70 characters.';

  test.each<[string, string, string]>([
    ['an empty body', '', broken],
    ['something else', 'a,b\n1,2\n', broken],
    ['a form without its end', a, broken],
    ['a form that ends in the file', a.slice(0, -3), broken],
    ['a form that ends in the headers', '--limit\r\nContent-Dispo', broken],
    ['a form that ends in the delimiter', `${a}--limit-`, broken],
    ['line feeds instead of line breaks', (a + end).replaceAll('\r', ''), broken],
    ['endless headers', `--limit\r\n${'X-Header: y\r\n'.repeat(100_000)}`, longHeaders],
    ['one endless header', `--limit\r\nX-Header: ${'y'.repeat(1_000_000)}`, longHeaders],
    ['a name of 100 KB', filePart('n'.repeat(100_000)) + end, longHeaders],
    ['101 parts', field.repeat(100) + a + end, tooMany],
    ['10,000 parts', field.repeat(10_000) + a + end, tooMany],
    ['10,000 files', a.repeat(10_000) + end, tooMany],
    ['delimiters alone', '--limit\r\n\r\n\r\n'.repeat(10_000), tooMany],
    [
      'a part that begins with something else',
      `--limit, or not\r\n${disposition}\r\n\r\nx\r\n${end}`,
      'The form is invalid: a part does not start correctly. Send it again.',
    ],
    [
      'a base64 file, as in mail',
      part(`${disposition}\r\nContent-Transfer-Encoding: BASE64`) + end,
      'The file is encoded as base64 or quoted-printable. Send it without encoding.',
    ],
  ])('%s', async (_, body, fault) => {
    const cut = body.match(/[^]{1,65536}/g) ?? [];
    expect(
      await faultOf(
        filesOf(
          cut.map((text) => Buffer.from(text)),
          type,
        ),
      ),
    ).toBe(`invalid file validation: ${fault}`);
  });

  test.each([
    'multipart/form-data',
    'multipart/form-data; boundary',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary=""',
    'multipart/form-data; boundary="limit',
    `multipart/form-data; boundary=${'b'.repeat(71)}`,
    `multipart/form-data; boundary=${'b'.repeat(10_000)}`,
    '',
  ])('the content type %.60s', async (contentType) => {
    expect(await faultOf(filesInText(a + end, contentType))).toBe(`invalid file validation: ${noBoundary}`);
  });

  test('no content type', async () => {
    expect(await faultOf(filesOf([Buffer.from(a + end)]))).toBe(`invalid file validation: ${noBoundary}`);
  });

  test('a boundary that differs from that of the body, even only in its end or its letter case', async () => {
    for (const other of ['limi', 'limits', 'Limit', 'lim\xef']) {
      const { kind } = (await filesInText(a + end, `multipart/form-data; boundary=${other}`).catch(
        (error: unknown) => error,
      )) as Fault;
      expect([other, kind]).toEqual([other, 'invalid']);
    }
  });

  test('a form above the maximum size: before the parts, in a field, or after the last part', async () => {
    const much = Buffer.alloc(maxFormBytes, 'x');
    for (const [before = '', behind = ''] of [
      ['', `\r\n${a}${end}`],
      [field.slice(0, -3), `\r\n${a}${end}`],
      [a.slice(0, -3), `\r\n${end}`],
    ]) {
      expect(await faultOf(filesOf([Buffer.from(before), much, Buffer.from(behind)], type))).toBe(
        'invalid file validation: The form is too large. A file can have at most 10 MB.',
      );
    }
  });

  test('a body that is cut off', async () => {
    async function* chunks() {
      yield Buffer.from(a.slice(0, -2));
      throw Object.assign(new Error('aborted'), { code: 'ECONNRESET' });
    }
    expect(await faultOf(filesOf(chunks(), type))).toBe(
      'invalid bad request: The request ended before the whole body was received. Send it again.',
    );
  });
});

describe('the rest of a form', () => {
  const rest = [Buffer.alloc(200_000), Buffer.alloc(200_000), Buffer.alloc(200_000)];
  const ended = (form: IncomingMessage) => new Promise((resolve) => form.once('end', resolve));

  test('after its end is read and discarded', async () => {
    const form = formOf([Buffer.from(a + end), ...rest], type);
    for await (const { content } of filesIn(form)) for await (const _ of content);
    await ended(form);
    expect(form.destroyed).toBe(true);
  });

  test.each<[string, string, string, string]>([
    ['if the form is invalid', 'x', type, 'The form is incomplete'],
    ['if it has no boundary', a + end, 'multipart/form-data', 'with a boundary'],
    ['if the reader stops early', a + end, type, 'is enough.'],
  ])('is read and discarded %s', async (_, body, contentType, message) => {
    const form = formOf([Buffer.from(body), ...rest], contentType);
    const reading = async () => {
      for await (const { content } of filesIn(form)) {
        for await (const bytes of content) throw new Error(`${bytes.length} is enough.`);
      }
    };
    await Promise.all([expect(reading()).rejects.toThrow(message), ended(form)]);
  });

  test('is read up to 64 MB; then the connection is closed', async () => {
    let given = 0;
    async function* chunks() {
      for (const chunk = Buffer.alloc(1024 * 1024); given < 1e9; given += chunk.length) yield chunk;
    }
    const form = formOf(chunks(), 'multipart/form-data');
    const reading = async () => {
      for await (const _ of filesIn(form)) expect.unreachable();
    };
    await Promise.all([
      expect(reading()).rejects.toThrow('boundary'),
      new Promise((resolve) => form.once('close', resolve)),
    ]);
    expect([form.destroyed, given > 60e6, given < 70e6]).toEqual([true, true, true]);
  });
});
