// Interface C over HTTPS: what is taken and what is refused, in which words, and that a file is there whole or not at all.
import { maxUploadBytes } from '@soundings/contract/limits.ts';
import { Problem } from '@soundings/contract/problem.ts';
import { FileReport, uploadOperations } from '@soundings/contract/storage.ts';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { runMigrations } from 'graphile-worker';
import { pino } from 'pino';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { changeAccount, createAccount } from '../accounts/accounts.ts';
import { callerOf, senderOf } from '../accounts/callers.ts';
import { createToken } from '../accounts/tokens.ts';
import { openLog } from '../base/log.ts';
import { newToken } from '../base/secrets.ts';
import { inTransaction } from '../db/db.ts';
import { openResponseCache } from '../http/response-cache.ts';
import { createServer, type ServerOptions } from '../http/server.ts';
import { limitConcurrency } from '../http/concurrency.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { bareEnvironment } from '../testing/environment.ts';
import { freePort } from '../testing/free-port.ts';
import { until } from '../testing/until.ts';
import { serveStorage } from './storage.routes.ts';
import { contentOf, selectFiles, openUpload } from './store.ts';
import { workbookOf, zipOf } from '../sheets/zip.fixture.ts';
import { addProcessing } from './store.sql.ts';

const exec = promisify(execFile);
const uploadPath = '/v1/storage/uploadFile';
const listPath = '/v1/storage/files';
const isProblem = Compile(Problem);
let database: TestDatabase;
let door: Awaited<ReturnType<typeof openSftpFixture>>;

beforeAll(async () => {
  database = await openTestDatabase();
  // There is room for jobs and nobody who does them: nothing is processed.
  await runMigrations({ connectionString: database.url });
  door = await openSftpFixture();
});
afterAll(async () => {
  await door.server.shutDown(0);
  await database.close();
});

/** The routes of the interface on a server of their own. */
async function openSftpFixture(options: Partial<ServerOptions> = {}) {
  const server = createServer({
    log: openLog('error'),
    tls: undefined,
    trustProxy: [],
    authenticate: (authorization, scope, address) =>
      scope === 'files'
        ? senderOf(database.pool, authorization, address)
        : callerOf(database.pool, authorization, scope),
    count: async () => {},
    cache: openResponseCache(0),
    concurrency: limitConcurrency(1, 1),
    readTimeout: 60_000,
    now: Date.now,
    corsOrigins: [],
    isStarted: () => true,
    isReady: async () => true,
    ...options,
  });
  serveStorage(server, Promise.resolve(database.pool));
  return { server, address: await server.app.listen({ host: '127.0.0.1', port: 0 }) };
}

async function newAccount(pool = database.pool) {
  const { id } = await inTransaction(pool, (tx) => createAccount(tx, { name: 'Test' }));
  const { id: tokenId, token } = await createToken(pool, id, { name: 'test', scopes: ['files'] });
  const list = async () => {
    const listed = await ask('GET', listPath, token);
    expect([listed.status, listed.type]).toEqual([200, 'application/json; charset=utf-8']);
    return listed.body as string[];
  };
  /** All there is of uploads, also of those that were never finished. */
  const rows = async () => (await pool`select from files where account_id = ${id} and not is_refused`).length;
  const contents = async () => {
    const files = await selectFiles(pool, id);
    const bytes = await Promise.all(files.map((file) => contentOf(pool, id, file.id)));
    return Object.fromEntries(files.map(({ name }, i) => [name, bytes[i]!.toString('latin1')]));
  };
  return { id, token, tokenId, list, rows, contents };
}

const allowOnly = (accountId: number, ...ranges: string[]) =>
  inTransaction(database.pool, (tx) => changeAccount(tx, accountId, { allow: ranges }));

type Asked = { status: number; type: string | null; headers: Headers; text: string; body: unknown };

async function ask(method: string, path: string, token?: string, init: RequestInit = {}, at = door.address) {
  const headers = { ...(token !== undefined && { authorization: token }), ...init.headers };
  return answerOf(await fetch(at + path, { ...init, method, headers }));
}

async function answerOf(answer: Response): Promise<Asked> {
  const { status, headers } = answer;
  const text = await answer.text();
  const type = headers.get('content-type');
  const body =
    type?.startsWith('application/json') && text !== '' ? (JSON.parse(text) as unknown) : undefined;
  return { status, type, headers, text, body };
}

/** Uploads what a browser would send. */
function upload(token: string, name: string, content: string | Buffer = 'a,b\n', at = door.address) {
  const form = new FormData();
  form.append('file', new File([content as string], name));
  return ask('POST', uploadPath, token, { body: form }, at);
}

const limited = { 'content-type': 'multipart/form-data; boundary=limit' };
const part = (headers: string, content: string) => `--limit\r\n${headers}\r\n\r\n${content}\r\n`;
const filePart = (name: string, content = 'a,b\n') =>
  part(`Content-Disposition: form-data; name="file"; filename="${name}"`, content);
const end = '--limit--\r\n';
const field = part('Content-Disposition: form-data; name="other"', 'x');

/** Uploads these very bytes. */
const post = (token: string, body: string | Uint8Array, headers: Record<string, string> = {}) =>
  ask('POST', uploadPath, token, { body: body as string, headers: { ...limited, ...headers } });

/** The message of a refusal with the error body; else what is amiss. */
function refusal({ status, type, headers, body, text }: Asked): string {
  if (type !== 'application/json; charset=utf-8' || !isProblem.Check(body))
    return `${status} ${type} ${text}`;
  if (headers.get('x-request-id') !== body.id) return `${status} without its id`;
  return `${status} ${body.details[0]?.type}: ${body.details[0]?.message}`;
}

/** Opens a connection and sends bytes; what comes is in `text`. */
async function raw(...parts: (string | Buffer)[]) {
  const socket = connect(Number(new URL(door.address).port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  let text = '';
  socket
    .setEncoding('latin1')
    .on('data', (chunk: string) => (text += chunk))
    .on('error', () => {});
  for (const one of parts) socket.write(one);
  return { socket, text: () => text, has: (wanted: string) => until(async () => text.includes(wanted)) };
}

const head = (token: string, more: string) =>
  `POST ${uploadPath} HTTP/1.1\r\nhost: x\r\nauthorization: ${token}\r\n` +
  `content-type: multipart/form-data; boundary=limit\r\n${more}\r\n\r\n`;

describe(`POST ${uploadPath}`, () => {
  describe('200', () => {
    test('answers the name as text/plain; the file is there, byte by byte, and its processing is asked for', async () => {
      const account = await newAccount();
      const answer = await upload(account.token, 'användare.csv', 'id;name\r\n1;Å\r\n');
      expect([answer.status, answer.type, answer.text]).toEqual([
        200,
        'text/plain; charset=utf-8',
        'användare.csv',
      ]);
      expect(await account.contents()).toEqual({
        'användare.csv': Buffer.from('id;name\r\n1;Å\r\n').toString('latin1'),
      });
      const jobs = await database.pool`
        select from graphile_worker.jobs where task_identifier = 'process files' and key = ${`files ${account.id}`}`;
      expect(jobs).toHaveLength(1);
      const [row] = await database.pool`
        select size, via, token_id as token from files where account_id = ${account.id}`;
      expect(row).toEqual({ size: 15, via: 'https', token: account.tokenId });
    });

    test('takes the file from any field, with other fields before and behind it', async () => {
      const account = await newAccount();
      const file = part(
        'Content-Type: text/csv\r\nContent-Disposition: form-data; name="x"; filename="a.csv"',
        '1,2',
      );
      const answer = await post(account.token, `${field}${file}${field}${end}`);
      expect([answer.status, answer.text]).toEqual([200, 'a.csv']);
      expect(await account.contents()).toEqual({ 'a.csv': '1,2' });
    });

    test.each([
      ['../../etc/passwd.csv', 'passwd.csv'],
      ['/var/tmp/users.csv', 'users.csv'],
      ['C:\\Users\\Ada\\users.csv', 'users.csv'],
      ['..\\..\\users.csv', 'users.csv'],
      ['USERS.CSV', 'USERS.CSV'],
      ['anva\u0308ndare.csv', 'anv\u00e4ndare.csv'],
      ['名簿 2024.csv', '名簿 2024.csv'],
      ["O'Brien & sons; 100%.csv", "O'Brien & sons; 100%.csv"],
      ['%2e%2e%2fusers.csv', '%2e%2e%2fusers.csv'],
      [`${'n'.repeat(196)}.csv`, `${'n'.repeat(196)}.csv`],
    ])('keeps %j as %j', async (sent, kept) => {
      const account = await newAccount();
      const answer = await upload(account.token, sent);
      expect([answer.status, answer.text]).toEqual([200, kept]);
      expect(await account.list()).toEqual([kept]);
    });

    test('takes the kinds that there are, told by name and first bytes', async () => {
      const account = await newAccount();
      const ole = Buffer.alloc(1024);
      ole.write('d0cf11e0a1b11ae1', 'hex');
      ole.writeUInt16LE(9, 30); // sectors of 512 bytes; the directory is in the first
      ole[512 + 66] = 5; // and begins with its root
      const zip = zipOf(workbookOf([{ rows: '' }]));
      for (const [name, bytes] of [
        ['a.csv', Buffer.from('x')],
        ['a.xls', ole],
        ['a.XlsX', zip],
      ] as const) {
        expect((await upload(account.token, name, bytes)).status).toBe(200);
      }
      expect(await account.list()).toEqual(['a.XlsX', 'a.csv', 'a.xls']);
    });

    test('takes 10 MB and not a byte more, with its length told and in chunks', async () => {
      const account = await newAccount();
      const bytes = Buffer.alloc(maxUploadBytes + 1, 'Soundings, ');
      expect((await upload(account.token, 'a.csv', bytes.subarray(1))).status).toBe(200);
      const [file] = await selectFiles(database.pool, account.id);
      expect((await contentOf(database.pool, account.id, file!.id)).equals(bytes.subarray(1))).toBe(true);
      const whole = Buffer.concat([
        Buffer.from(filePart('a.csv', '').slice(0, -2)),
        bytes,
        Buffer.from(`\r\n${end}`),
      ]);
      for (const headers of [
        { 'content-length': String(whole.length) },
        { 'transfer-encoding': 'chunked' },
      ]) {
        const answer = await sendWhole(account.token, headers, whole);
        expect(answer.status).toBe(400);
        expect(answer.body).toEqual({
          id: answer.headers.get('x-request-id'),
          message: 'Incorrect file size. The file is larger than 10 MB.',
          details: [{ type: 'file validation', message: 'The file is larger than 10 MB.' }],
        });
      }
      expect(await account.rows()).toBe(1);
    });

    test('replaces a file of the same name', async () => {
      const account = await newAccount();
      for (const content of ['one', 'two', 'three'])
        expect((await upload(account.token, 'a.csv', content)).status).toBe(200);
      expect(await account.contents()).toEqual({ 'a.csv': 'three' });
    });

    test('keeps both of two at once', async () => {
      const account = await newAccount();
      const names = Array.from({ length: 10 }, (_, i) => `${i}.csv`);
      const answers = await Promise.all(names.map((name) => upload(account.token, name, name)));
      expect(answers.map(({ text }) => text)).toEqual(names);
      expect(await account.contents()).toEqual(Object.fromEntries(names.map((name) => [name, name])));
    });

    test('takes its turn only after those of the account that are being committed: none arrives before an earlier one', async () => {
      const account = await newAccount();
      const turns = async () => (await database.pool`select last_value, is_called from file_arrivals`)[0];
      const [asked, committed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const before = database.pool.begin(async (tx) => {
        await addProcessing(tx, account.id);
        asked.resolve();
        await committed.promise;
      });
      await asked.promise;
      const taken = await turns();
      const uploading = upload(account.token, 'a.csv');
      await until(async () => {
        const rows = await database.pool`
          select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
        return rows.length > 0;
      });
      expect([await turns(), await account.list()]).toEqual([taken, []]);
      committed.resolve();
      await before;
      expect((await uploading).status).toBe(200);
      expect(await turns()).not.toEqual(taken);
    });

    test('takes what comes in many small pieces', async () => {
      const account = await newAccount();
      const { socket, has } = await raw(head(account.token, 'transfer-encoding: chunked'));
      for (const letter of filePart('slow.csv', 'a,b\r\n-\r\n--limi\r\n') + end) {
        socket.write(`1\r\n${letter}\r\n`);
        await new Promise((resolve) => setImmediate(resolve));
      }
      socket.write('0\r\n\r\n');
      await has('200 OK');
      expect(await account.contents()).toEqual({ 'slow.csv': 'a,b\r\n-\r\n--limi\r\n' });
    });
  });

  describe('400 without a body, as text/plain', () => {
    const silence = ({ status, type, text, headers }: Asked) => [
      status,
      type,
      text,
      headers.get('content-length'),
      headers.get('x-request-id')?.length,
    ];
    const nothing = [400, 'text/plain', '', '0', 36];

    test.each(uploadOperations.map(({ method, path }) => [method, path.replace('{name}', 'a.csv')] as const))(
      '%s %s: no token, or an invalid one, for every reason',
      async (method, path) => {
        const account = await newAccount();
        const { token: old } = await createToken(database.pool, account.id, {
          name: 'o',
          scopes: ['files'],
          expires: '2020-01-01',
        });
        for (const token of [undefined, '', 'nonsense', newToken(), old, account.token.slice(0, -1)]) {
          expect(silence(await ask(method, path, token))).toEqual(nothing);
          expect(silence(await ask(method, `${path}?x=1`, token))).toEqual(nothing);
        }
      },
    );

    test.each(uploadOperations.map(({ method, path }) => [method, path.replace('{name}', 'a.csv')] as const))(
      '%s %s: an address that is not allowed, whatever the scope; the log says why',
      async (method, path) => {
        const account = await newAccount();
        await allowOnly(account.id, '192.0.2.0/24', '2001:db8::1');
        const { token: other } = await createToken(database.pool, account.id, {
          name: 'd',
          scopes: ['data'],
        });
        const lines: string[] = [];
        const own = await openSftpFixture({
          log: pino({ base: null }, { write: (line) => void lines.push(line) }),
        });
        onTestFinished(() => own.server.shutDown(0));
        for (const token of [account.token, other]) {
          expect(silence(await ask(method, path, token, {}, own.address))).toEqual(nothing);
        }
        expect(lines.join('')).toContain('This account does not accept files from the IP address 127.0.0.1.');
        await allowOnly(account.id, '192.0.2.0/24', '127.0.0.0/8');
        expect(silence(await ask(method, path, account.token, {}, own.address))).not.toEqual(nothing);
      },
    );

    test('an address that a proxy tells counts only when the proxy is trusted', async () => {
      const account = await newAccount();
      await allowOnly(account.id, '192.0.2.7');
      const [trusting, other] = [
        await openSftpFixture({ trustProxy: ['127.0.0.1'] }),
        await openSftpFixture({ trustProxy: ['10.0.0.0/8'] }),
      ];
      onTestFinished(() =>
        Promise.all([trusting.server.shutDown(0), other.server.shutDown(0)]).then(() => {}),
      );
      const statusOf = async (at: string, forwarded: string) =>
        (await ask('GET', listPath, account.token, { headers: { 'x-forwarded-for': forwarded } }, at)).status;
      expect(await statusOf(trusting.address, '192.0.2.7')).toBe(200);
      expect(await statusOf(trusting.address, '::ffff:192.0.2.7')).toBe(200);
      expect(await statusOf(trusting.address, '192.0.2.8')).toBe(400);
      // Whatever a client claims stands before what the proxy has seen.
      expect(await statusOf(trusting.address, '192.0.2.7, 198.51.100.1')).toBe(400);
      expect(await statusOf(trusting.address, 'nonsense')).toBe(400);
      for (const at of [door.address, other.address]) {
        expect(await statusOf(at, '192.0.2.7')).toBe(400);
        expect(await statusOf(at, '192.0.2.7, 127.0.0.1')).toBe(400);
      }
    });

    test('is answered before the body is waited for, and nothing of it is kept', async () => {
      const refused = await raw(head('nonsense', 'content-length: 1000000'));
      await refused.has('\r\n\r\n');
      expect(refused.text()).toMatch(/^HTTP\/1\.1 400 /);
      expect(refused.text()).toMatch(/\r\ncontent-type: text\/plain\r\n/);
    });
  });

  describe('400 with the error body', () => {
    test.each<[string, string, string]>([
      [
        'users.txt',
        'a',
        '"users.txt" has an unsupported file type. The name must end in .csv, .xls or .xlsx.',
      ],
      ['users', 'a', '"users" has an unsupported file type. The name must end in .csv, .xls or .xlsx.'],
      [
        'users.csv.exe',
        'a',
        '"users.csv.exe" has an unsupported file type. The name must end in .csv, .xls or .xlsx.',
      ],
      ['.users.csv', 'a', 'The file name must not begin with a dot.'],
      ['.csv', 'a', 'The file name must not begin with a dot.'],
      ['folder/', 'a', 'The file has no name.'],
      ['..', 'a', 'The file has no name.'],
      ['a"b.csv', 'a', 'The file name must not contain any of these characters: \\ / : * ? " < > |'],
      ['a:b.csv', 'a', 'The file name must not contain any of these characters: \\ / : * ? " < > |'],
      ['a\nb.csv', 'a', 'The file name contains invisible characters. Rename the file.'],
      ['a\0.csv', 'a', 'The file name contains invisible characters. Rename the file.'],
      ['\u202evsc.exe.csv', 'a', 'The file name contains invisible characters. Rename the file.'],
      [' .csv', 'a', 'The file name must not begin or end with a space.'],
      [`${'n'.repeat(197)}.csv`, 'a', 'The file name is longer than 200 bytes. Use a shorter name.'],
      ['a.csv', '', 'The file is empty.'],
    ])('the file %j of %j', async (name, content, message) => {
      const account = await newAccount();
      expect(refusal(await upload(account.token, name, content))).toBe(`400 file validation: ${message}`);
      expect(await account.rows()).toBe(0);
    });

    test('a file whose content is not what its name says', async () => {
      const account = await newAccount();
      for (const [name, content] of [
        ['a.xlsx', 'a,b'],
        ['a.csv', 'PK\x03\x04'],
      ] as const) {
        expect(refusal(await upload(account.token, name, content))).toMatch(
          /^400 file validation: The name ends in /,
        );
      }
      expect(await account.rows()).toBe(0);
    });

    test('a workbook that is cut off, or only begins like one', async () => {
      const { token, list } = await newAccount();
      const whole = zipOf(workbookOf([{ rows: '' }]));
      for (const [name, bytes] of [
        ['a.xlsx', whole.subarray(0, 4)],
        ['b.xlsx', whole.subarray(0, -30)],
        ['c.xlsx', Buffer.concat([whole.subarray(0, 30), Buffer.alloc(70_000)])],
        ['d.xls', Buffer.from('d0cf11e0a1b11ae1', 'hex')],
        ['e.xls', Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(4096)])],
      ] as const) {
        // oxlint-disable-next-line no-await-in-loop -- a few
        expect(refusal(await upload(token, name, bytes))).toMatch(
          /^400 file validation: The workbook is damaged/,
        );
      }
      const archive = zipOf([{ name: 'a.csv', data: 'a,b' }]);
      expect(refusal(await upload(token, 'f.xlsx', archive))).toMatch(
        /the file is a compressed file \(zip\)/,
      );
      expect(await list()).toEqual([]);
    });

    test('no file, in whatever form', async () => {
      const { token } = await newAccount();
      const words = '400 file validation: The form contains no file. Send a part with a file name.';
      expect(refusal(await post(token, field + end))).toBe(words);
      expect(refusal(await post(token, filePart('', '') + end))).toBe(words);
      const form = new FormData();
      form.append('file', 'text');
      expect(refusal(await ask('POST', uploadPath, token, { body: form }))).toBe(words);
      const bare =
        '400 file validation: Send the file as multipart/form-data, with a boundary of 1 to 70 characters.';
      const headers = { 'content-type': 'multipart/form-data' };
      expect(refusal(await ask('POST', uploadPath, token, { headers }))).toBe(bare);
    });

    test('two files: neither is kept', async () => {
      const account = await newAccount();
      for (const second of [filePart('b.csv'), filePart('a.csv'), filePart('../b')]) {
        expect(refusal(await post(account.token, filePart('a.csv') + field + second + end))).toBe(
          '400 file validation: The form contains more than one file. Send one file per request.',
        );
      }
      expect(await account.rows()).toBe(0);
    });

    test('a file whose size is told to be too large, before any of it is sent', async () => {
      const { token } = await newAccount();
      for (const length of [12 * 1024 * 1024, 1e15]) {
        const refused = await raw(head(token, `content-length: ${length}`));
        await refused.has('}]}');
        expect(refused.text()).toMatch(
          /^HTTP\/1\.1 400 [^]*"Incorrect file size\. The file is larger than 10 MB\."/,
        );
      }
    });

    test('a refused file does not replace the one that is there', async () => {
      const account = await newAccount();
      await upload(account.token, 'a.csv', 'first');
      await upload(account.token, 'a.csv', '');
      await post(account.token, filePart('a.csv', 'second'));
      expect(await account.contents()).toEqual({ 'a.csv': 'first' });
      expect(await account.rows()).toBe(1);
    });

    test('a query parameter: there are none', async () => {
      const { token } = await newAccount();
      const asked = await ask('POST', `${uploadPath}?name=x`, token, {
        body: filePart('a.csv') + end,
        headers: limited,
      });
      expect(refusal(asked)).toMatch(/^400 unknown parameter/);
    });
  });

  test('403: a token without the scope', async () => {
    const account = await newAccount();
    const { token } = await createToken(database.pool, account.id, {
      name: 'd',
      scopes: ['data', 'organization'],
    });
    for (const { method, path } of uploadOperations) {
      expect(refusal(await ask(method, path, token))).toMatch(/^403 missing scope/);
    }
  });

  test('405: other methods, with Allow', async () => {
    for (const [path, allow] of [
      [uploadPath, 'POST'],
      [listPath, 'GET, HEAD'],
      ['/v1/storage/files/a.csv/report', 'GET, HEAD'],
    ] as const) {
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']) {
        if (allow.split(', ').includes(method)) continue;
        const { status, headers } = await ask(method, path);
        expect([method, path, status, headers.get('allow')]).toEqual([method, path, 405, allow]);
      }
    }
  });

  test('404: a file cannot be downloaded, changed or deleted, and the response names its report', async () => {
    const account = await newAccount();
    for (const method of ['GET', 'DELETE', 'PUT', 'POST']) {
      const init = method === 'GET' ? {} : { body: 'a,b', headers: { 'content-type': 'text/csv' } };
      const asked = await ask(method, '/v1/storage/files/x.csv', account.token, init);
      expect(refusal(asked)).toMatch(
        /^404 not downloadable: Files can be uploaded and listed, but not downloaded.*\/report/,
      );
    }
  });

  test('415: no content type, with a body or without', async () => {
    const { token } = await newAccount();
    const begin = `POST /v1/storage/uploadFile HTTP/1.1\r\nhost: x\r\nauthorization: ${token}\r\n`;
    const chunked = 'transfer-encoding: chunked\r\n\r\n3\r\na,b\r\n0\r\n\r\n';
    for (const rest of ['\r\n', 'content-length: 0\r\n\r\n', 'content-length: 3\r\n\r\na,b', chunked]) {
      const answered = await raw(begin + rest);
      await answered.has('\r\n\r\n{');
      expect(answered.text()).toMatch(/^HTTP\/1\.1 415 [^]*"unsupported media type"/);
    }
  });

  test('415: another content type, or a packed body; the answer arrives although the body follows', async () => {
    const account = await newAccount();
    const body = Buffer.alloc(1024 * 1024, 'a,b\n');
    for (const headers of [
      { 'content-type': 'text/csv' },
      { 'content-type': 'application/json' },
      { 'content-type': 'application/x-www-form-urlencoded' },
      { 'content-type': 'multipart/mixed; boundary=limit' },
      { 'content-type': 'multipart' },
      { 'content-encoding': 'gzip' },
    ]) {
      expect(refusal(await post(account.token, body, headers as Record<string, string>))).toMatch(
        /^415 unsupported media type/,
      );
    }
    expect(await account.rows()).toBe(0);
  });
});

/** Sends a body, all of it, also when the answer comes before its end. */
async function sendWhole(
  token: string,
  headers: Record<string, string>,
  body: Buffer,
  at = door.address,
): Promise<Asked> {
  const sending = openRequest(token, headers, at);
  sending.end(body);
  const [response] = (await once(sending, 'response')) as [IncomingMessage];
  const text = (await response.setEncoding('utf8').toArray()).join('');
  await once(sending, 'close');
  return answerOf(
    new Response(text, { status: response.statusCode!, headers: response.headers as Record<string, string> }),
  );
}

function openRequest(token: string, headers: Record<string, string> = {}, at = door.address): ClientRequest {
  const sending = httpRequest(at + uploadPath, {
    method: 'POST',
    agent: false,
    headers: { authorization: token, ...limited, ...headers },
  });
  onTestFinished(() => void sending.destroy());
  return sending.on('error', () => {});
}

describe('Expect: 100-continue', () => {
  const body = filePart('a.csv') + end;

  test('the body is asked for when nothing but the body can be wrong', async () => {
    const account = await newAccount();
    const asking = await raw(head(account.token, `expect: 100-continue\r\ncontent-length: ${body.length}`));
    await asking.has('HTTP/1.1 100 Continue\r\n\r\n');
    asking.socket.write(body);
    await asking.has('200 OK');
    expect(await account.list()).toEqual(['a.csv']);
  });

  test('else the refusal comes at once', async () => {
    const { token } = await newAccount();
    for (const [authorization, length] of [
      ['nonsense', body.length],
      [token, 99_999_999],
    ] as const) {
      const asking = await raw(head(authorization, `expect: 100-continue\r\ncontent-length: ${length}`));
      await asking.has('HTTP/1.1 400');
      expect(asking.text()).not.toContain('100 Continue');
    }
  });
});

describe('clients', () => {
  test('curl, with a small file, a large one and one that is too large', async ({ skip }) => {
    const curl = await exec('curl', ['--version']).catch(() => undefined);
    skip(!curl, 'there is no curl here');
    const folder = await mkdtemp(join(tmpdir(), 'soundings-curl-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const account = await newAccount();
    const send = async (name: string, bytes: number) => {
      await writeFile(join(folder, name), Buffer.alloc(bytes, 'a,b\n'));
      const file = `file=@"${join(folder, name).replaceAll(/["\\]/g, '\\$&')}"`;
      const format = ' %{http_code} %{content_type}';
      const authorization = `Authorization: ${account.token}`;
      const { stdout } = await exec('curl', [
        '-sS',
        '-w',
        format,
        '-F',
        file,
        '-H',
        authorization,
        door.address + uploadPath,
      ]);
      return stdout;
    };
    expect(await send('users.csv', 10)).toBe('users.csv 200 text/plain; charset=utf-8');
    expect(await send('anställda ä;,=.csv', 3_000_000)).toBe(
      'anställda ä;,=.csv 200 text/plain; charset=utf-8',
    );
    expect(await send('large.csv', maxUploadBytes + 1)).toMatch(
      /"Incorrect file size\. .* 400 application\/json/,
    );
    expect(await send('a"b.csv', 10)).toMatch(
      /The file name must not contain any of.* 400 application\/json/,
    );
    expect(await account.list()).toEqual(['anställda ä;,=.csv', 'users.csv']);
  });
});

describe(`GET ${listPath}`, () => {
  test('200: the names, ascending, each once, of the own account and of whole files alone', async () => {
    const [account, other] = [await newAccount(), await newAccount()];
    expect(await account.list()).toEqual([]);
    for (const name of ['b.csv', 'B.csv', 'å.csv', 'a10.csv', 'a2.csv', '🌊.csv', '\uff21.csv', 'b.csv']) {
      expect((await upload(account.token, name)).status).toBe(200);
    }
    await upload(other.token, 'theirs.csv');
    const open = await openUpload(
      database.pool,
      { accountId: account.id, via: 'https', tokenId: account.tokenId, address: '192.0.2.1' },
      'open.csv',
    );
    await open.write(0, Buffer.from('x'));
    expect(await account.list()).toEqual([
      'B.csv',
      'a10.csv',
      'a2.csv',
      'b.csv',
      'å.csv',
      '\uff21.csv',
      '🌊.csv',
    ]);
    expect(await other.list()).toEqual(['theirs.csv']);
    const { status, headers, text } = await ask('HEAD', listPath, account.token);
    expect([status, text, headers.get('content-type')]).toEqual([200, '', 'application/json; charset=utf-8']);
  });

  test('400: a query parameter', async () => {
    const { token } = await newAccount();
    expect(refusal(await ask('GET', `${listPath}?all`, token))).toMatch(/^400 unknown parameter/);
  });
});

describe('GET /v1/storage/files/{name}/report', () => {
  const report = (token: string, name: string) =>
    ask('GET', `${listPath}/${encodeURIComponent(name)}/report`, token);
  const isReport = Compile(FileReport);
  const summary = { created: 1, updated: 1, deleted: 0, unchanged: 0 };

  /** As processing ends. */
  async function settle(accountId: number, name: string, outcome: string, more: object) {
    const told = {
      file: name,
      receivedAt: new Date().toISOString(),
      outcome,
      message: `${outcome}.`,
      details: [],
      warnings: [],
      ...more,
    };
    const runId = crypto.randomUUID();
    await database.pool`
      insert into runs (account_id, run_id, source, file, validate_only, outcome)
      values (${accountId}, ${runId}, 'file', ${name}, false, ${outcome})`;
    await database.pool`
      insert into run_changes (account_id, run_id, position, entity, external_id, action, fields)
      values (${accountId}, ${runId}, 1, 'user', 'u', 'update', ${database.pool.json({ email: { from: null, to: 'u@example.org' } })}),
             (${accountId}, ${runId}, 0, 'group', 'g', 'create', null)`;
    await database.pool`
      update files set processed_at = now(), run_id = ${runId}, report = ${database.pool.json(told)}
      where account_id = ${accountId} and name = ${name} and processed_at is null`;
    return { ...told, runId };
  }

  test('200: a file that waits', async () => {
    const { id, token } = await newAccount();
    await upload(token, 'ä b.csv');
    const { status, body } = await report(token, 'ä b.csv');
    expect(status).toBe(200);
    expect(body).toEqual({
      file: 'ä b.csv',
      receivedAt: expect.any(String),
      outcome: 'waiting',
      place: 1,
      message: 'The file is waiting to be processed. It is number 1 in the queue.',
      details: [],
      warnings: [],
    });
    expect([...isReport.Errors(body)]).toEqual([]);
    expect(Math.abs(Date.now() - Date.parse((body as FileReport).receivedAt))).toBeLessThan(60_000);
    expect((await report(token, 'a\u0308 b.csv')).body).toEqual(body);
    await upload(token, 'next.csv');
    expect((await report(token, 'next.csv')).body).toMatchObject({ outcome: 'waiting', place: 2 });
    await database.pool`update files set turn = gen_random_uuid() where account_id = ${id} and name = 'ä b.csv'`;
    const first = (await report(token, 'ä b.csv')).body;
    expect(first).toEqual({
      ...(body as object),
      outcome: 'processing',
      message: 'The file is being processed.',
      place: undefined,
    });
    expect([...isReport.Errors(first)]).toEqual([]);
    expect((await report(token, 'next.csv')).body).toMatchObject({ outcome: 'waiting', place: 1 });
  });

  test('200: why an upload was refused; the file that was accepted before stays as it is', async () => {
    const { id, token, list, contents } = await newAccount();
    await upload(token, 'a.csv', 'a,b');
    await upload(token, 'a.csv', '%PDF-1.7');
    const { status, body } = await report(token, 'a.csv');
    expect([status, body]).toMatchObject([
      200,
      {
        outcome: 'refused',
        details: [{ type: 'file validation', message: expect.stringContaining('a PDF') }],
      },
    ]);
    expect([...isReport.Errors(body)]).toEqual([]);
    expect(await list()).toEqual(['a.csv']);
    expect(await contents()).toEqual({ 'a.csv': 'a,b' });
    await upload(token, 'b.exe', 'x');
    expect((await report(token, 'b.exe')).body).toMatchObject({ outcome: 'refused' });
    // The last of each name, and not more than a hundred of an account.
    for (let i = 0; i < 105; i++) await upload(token, `${i}.exe`, 'x'); // oxlint-disable-line no-await-in-loop -- in order
    await upload(token, '104.exe', 'x');
    const kept =
      await database.pool`select name from files where account_id = ${id} and is_refused order by arrival`;
    expect(kept.length).toBeLessThanOrEqual(100);
    expect(kept.filter(({ name }) => name === '104.exe')).toHaveLength(1);
    expect((await report(token, 'b.exe')).status).toBe(404);
    await upload(token, 'a.csv', 'c,d');
    expect((await report(token, 'a.csv')).body).toMatchObject({ outcome: 'waiting' });
  });

  test('200: what came of it, with the changes of its run; of the last file of the name', async () => {
    const { id, token } = await newAccount();
    await upload(token, 'a.csv');
    const { runId: _, ...told } = await settle(id, 'a.csv', 'applied', {
      summary: { users: summary, groups: summary },
    });
    const { body } = await report(token, 'a.csv');
    expect(body).toEqual({
      ...told,
      changes: [
        { entity: 'group', externalId: 'g', action: 'create' },
        {
          entity: 'user',
          externalId: 'u',
          action: 'update',
          fields: { email: { from: null, to: 'u@example.org' } },
        },
      ],
    });
    expect([...isReport.Errors(body)]).toEqual([]);
    await upload(token, 'a.csv');
    expect((await report(token, 'a.csv')).body).toMatchObject({ outcome: 'waiting' });
    const details = [
      { type: 'missing field', message: 'm', sheet: 's', row: 2, column: 'c', value: '<b>"\u2028' },
    ];
    await settle(id, 'a.csv', 'refused', { details });
    const refused = (await report(token, 'a.csv')).body as FileReport;
    expect([refused.outcome, refused.details, refused.changes]).toEqual(['refused', details, undefined]);
    expect([...isReport.Errors(refused)]).toEqual([]);
  });

  test("404: no such file, another account's and one that is not whole, in the same words", async () => {
    const [account, other] = [await newAccount(), await newAccount()];
    await upload(other.token, 'a.csv');
    await openUpload(
      database.pool,
      { accountId: account.id, via: 'https', tokenId: account.tokenId, address: '192.0.2.1' },
      'a.csv',
    );
    expect(refusal(await report(account.token, 'a.csv'))).toBe(
      '404 file not found: File "a.csv" does not exist.',
    );
    for (const name of ['b.csv', '../a.csv', '.', 'x'.repeat(5000), "' or 1=1"]) {
      expect(refusal(await report(account.token, name))).toMatch(/^404 (file )?not (found|downloadable)/);
    }
    expect(refusal(await report(account.token, 'a\0.csv'))).toMatch(/^400 invalid parameter/);
  });
});

test('an account that has stored as much as it may is refused, and stores again when there is room', async () => {
  const account = await newAccount();
  const fill = (name: string, count: number, size: number) => database.pool`
    insert into files (account_id, name, size, via, token_id, started_at)
    select ${account.id}, ${name} || i, ${size}, 'https', ${account.tokenId}, now() from generate_series(1, ${count}) i`;
  const clear = () => database.pool`delete from files where account_id = ${account.id} and name <> 'a.csv'`;
  for (const [count, size] of [
    [5_000, 1],
    [410, 10 * 1024 * 1024],
  ] as const) {
    await fill('full', count, size);
    expect(refusal(await upload(account.token, 'a.csv'))).toMatch(
      /^400 file validation: The account has reached its storage limit/,
    );
    await clear();
    expect((await upload(account.token, 'a.csv')).status).toBe(200);
  }
});

describe('an upload that breaks off', () => {
  const first = filePart('a.csv', 'x'.repeat(600_000)).slice(0, -2);

  /** An upload whose beginning is in the database, and not its end. */
  async function begun(token: string, accountId: number, at = door.address) {
    const sending = openRequest(token, { 'transfer-encoding': 'chunked' }, at);
    sending.write(first);
    await until(
      async () => (await database.pool`select from file_parts where account_id = ${accountId}`).length > 0,
    );
    return sending;
  }

  test('because the client is gone, leaves nothing', async () => {
    const account = await newAccount();
    const sending = await begun(account.token, account.id);
    expect(await account.list()).toEqual([]);
    sending.destroy();
    expect(await until(async () => (await account.rows()) === 0)).toBe(true);
    expect(await database.pool`select from file_parts where account_id = ${account.id}`).toHaveLength(0);
  });

  test('because the form is broken, leaves nothing', async () => {
    const account = await newAccount();
    const sending = await begun(account.token, account.id);
    sending.end('no end');
    const [{ statusCode }] = (await once(sending, 'response')) as [IncomingMessage];
    expect([statusCode, await account.rows()]).toEqual([400, 0]);
  });

  test('because its length is not as it was told, leaves nothing', async () => {
    const account = await newAccount();
    const body = filePart('a.csv') + end;
    const short = await raw(
      head(account.token, `content-length: ${body.length - 20}\r\nconnection: close`),
      body,
    );
    await short.has('HTTP/1.1 400');
    const long = await raw(head(account.token, `content-length: ${first.length + 100}`), first);
    await until(async () => (await account.rows()) === 1);
    long.socket.end();
    expect(await until(async () => (await account.rows()) === 0)).toBe(true);
  });

  test('because the service stops before its end, leaves nothing', async () => {
    const account = await newAccount();
    const own = await openSftpFixture();
    const sending = await begun(account.token, account.id, own.address);
    const closed = new Promise((resolve) => sending.once('close', resolve));
    await own.server.shutDown(0);
    await closed;
    expect(await until(async () => (await account.rows()) === 0)).toBe(true);
  });

  test('does not, because the service stops: it comes to its end, and what is new is refused', async () => {
    const account = await newAccount();
    const own = await openSftpFixture();
    const sending = await begun(account.token, account.id, own.address);
    const stopped = own.server.shutDown(30);
    // A new connection is not taken: a proxy goes to another replica, and a client tries again.
    await expect(upload(account.token, 'b.csv', 'x', own.address)).rejects.toThrow('fetch failed');
    sending.end(`\r\n${end}`);
    const [{ statusCode }] = (await once(sending, 'response')) as [IncomingMessage];
    await stopped;
    expect([statusCode, await account.list()]).toEqual([200, ['a.csv']]);
  });
});

describe('the service, as a process of its own', () => {
  let own: TestDatabase;
  beforeAll(async () => {
    own = await openTestDatabase();
  });
  afterAll(() => own.close());

  async function start() {
    const port = await freePort();
    const env = {
      ...bareEnvironment,
      DATABASE_URL: own.url,
      PORT: String(port),
      SFTP_PORT: '0',
      LOG_LEVEL: 'warn',
      NODE_OPTIONS: '--max-old-space-size=64',
    };
    const main = fileURLToPath(new URL('../main.ts', import.meta.url));
    const child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += String(chunk)));
    const exited = once(child, 'exit');
    onTestFinished(async () => {
      child.kill('SIGKILL');
      await exited;
    });
    const address = `http://127.0.0.1:${port}`;
    const isReady = () =>
      fetch(`${address}/health/ready`).then(
        ({ status }) => status === 200,
        () => false,
      );
    await until(isReady);
    /** The most memory that it has had, in MB. */
    const peak = async () =>
      Number(/VmHWM:\s+(\d+)/.exec(await readFile(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024;
    return { child, address, exited, peak, said: () => said };
  }

  test('answers every hostile body with 400, keeps nothing of it, and needs no memory for it', async () => {
    const service = await start();
    const account = await newAccount(own.pool);
    // As much as can be sent, so that what this needs is there. A whole file would be processed, meanwhile.
    const large = Buffer.from(filePart('b.csv', 'x'.repeat(10e6)));
    expect((await sendWhole(account.token, {}, large, service.address)).status).toBe(400);
    const before = await service.peak();
    const much = (text: string, bytes = 4e6) => text.repeat(Math.ceil(bytes / text.length));
    const type = (boundary: string) => ({ 'content-type': `multipart/form-data; boundary=${boundary}` });
    const inner = 'Content-Disposition: form-data; name="x"\r\nContent-Type: multipart/mixed; boundary=';
    const named = (parameter: string) =>
      part(`Content-Disposition: form-data; name="f"; ${parameter}`, 'x') + end;
    const hostile: [string, string, Record<string, string>?][] = [
      ['no boundary', filePart('b.csv') + end, { 'content-type': 'multipart/form-data' }],
      ['a boundary of 10 KB', filePart('b.csv') + end, type('b'.repeat(10_000))],
      ['never closed', filePart('b.csv', much('x'))],
      ['closed by another boundary', `${filePart('b.csv', much('x'))}--limits--\r\n`],
      ['nothing but a beginning', much('x')],
      ['nothing but delimiters', much('\r\n--limit')],
      ['nothing but what looks like delimiters', much('\r\n--limi')],
      ['10,000 parts', field.repeat(10_000) + filePart('b.csv') + end],
      ['10,000 files', filePart('b.csv').repeat(10_000) + end],
      ['a large field', part('Content-Disposition: form-data; name="f"', much('x')) + end],
      ['a form that is too large', part('Content-Disposition: form-data; name="f"', much('x', 12e6)) + end],
      ['a file that is too large', filePart('b.csv', much('x', 12e6)) + end],
      ['headers without end', `--limit\r\n${much('X-Header: y\r\n')}`],
      ['a header without end', `--limit\r\nX-Header: ${much('y')}`],
      ['headers folded without end', `--limit\r\nX-Header:${much('\r\n y')}`],
      [
        'a part nested 1,000 times',
        Array.from({ length: 1000 }, (_, i) => `--${i}\r\n${inner}${i + 1}\r\n\r\n`).join(''),
        type('0'),
      ],
      ['a name of 100 KB', filePart(`${'n'.repeat(100_000)}.csv`) + end],
      ['a name of 15 KB', filePart(`${'n'.repeat(15_000)}.csv`) + end],
      ['a name of backslashes', filePart('\\'.repeat(15_000)) + end],
      ['a name of 1,000 parameters', named(`${'filename="a";'.repeat(1_000)} filename="`)],
      ['a name with zeros', filePart('b\0.csv') + end],
      ['a name in an unknown charset', named("filename*=utf-7''b.csv")],
      ['a name in base64', named("filename*=base64''Yi5jc3Y=")],
      ['a name that is no UTF-8', named("filename*=utf-8''%ff%00%c0%ae")],
      ['zeros', much('\0')],
      ['a form in UTF-16', Buffer.from(filePart('b.csv') + end, 'utf16le').toString('latin1')],
      ['two large files', filePart('b.csv', much('x')) + filePart('c.csv', much('x')) + end],
    ];
    const sent = hostile.flatMap(([name, body, headers = {}]) => {
      const bytes = Buffer.from(body, 'latin1');
      const framings = [{ 'content-length': `${bytes.length}` }, { 'transfer-encoding': 'chunked' }];
      return framings.map((framing) => ({ name, bytes, headers: { ...headers, ...framing } }));
    });
    await Promise.all(
      sent.map(async ({ name, bytes, headers }) => {
        const answer = await sendWhole(
          account.token,
          headers as Record<string, string>,
          bytes,
          service.address,
        );
        expect([name, refusal(answer)]).toEqual([name, expect.stringMatching(/^400 file validation: ./)]);
      }),
    );
    expect(await account.rows()).toBe(0);
    expect((await service.peak()) - before).toBeLessThan(60);
    expect(service.said()).not.toMatch(/"level":[56]0/);
    expect((await upload(account.token, 'a.csv', 'a,b', service.address)).status).toBe(200);
  });

  test('killed in the middle of an upload: nothing is there after the restart, and what was answered is', async () => {
    const service = await start();
    const account = await newAccount(own.pool);
    expect((await upload(account.token, 'before.csv', 'a,b', service.address)).status).toBe(200);
    const sending = openRequest(account.token, { 'transfer-encoding': 'chunked' }, service.address);
    sending.write(filePart('a.csv', 'x'.repeat(600_000)).slice(0, -2));
    await until(async () => (await account.rows()) === 2);
    service.child.kill('SIGKILL');
    await service.exited;
    const again = await start();
    const list = await ask('GET', listPath, account.token, {}, again.address);
    expect(list.body).toEqual(['before.csv']);
    expect((await upload(account.token, 'a.csv', 'whole', again.address)).status).toBe(200);
    expect(await account.contents()).toMatchObject({ 'a.csv': 'whole' });
  });
});
