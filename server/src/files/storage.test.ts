// Uploading a file over HTTPS: which requests are accepted or refused, and with which message.
import { maxUploadBytes } from '@soundings/contract/limits.ts';
import { uploadOperations } from '@soundings/contract/storage.ts';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createToken } from '../accounts/tokens.ts';
import { newToken } from '../base/crypto/secrets.ts';
import { until } from '../testing/until.ts';
import { contentOf } from './store.ts';
import { addProcessing, selectFiles } from './store.sql.ts';
import { workbookOf, zipOf } from '../sheets/zip.fixture.ts';
import {
  uploadPath,
  listPath,
  database,
  storage,
  openStorage,
  newAccount,
  allowOnly,
  type Received,
  request,
  upload,
  formHeaders,
  part,
  filePart,
  end,
  field,
  post,
  refusal,
  raw,
  requestHead,
  sendWhole,
  useStorage,
} from './storage.fixture.ts';

useStorage();

const exec = promisify(execFile);

describe(`POST ${uploadPath}`, () => {
  describe('200', () => {
    test('responds with the name as text/plain, stores every byte of the file and queues its processing', async () => {
      const account = await newAccount();
      const response = await upload(account.token, 'användare.csv', 'id;name\r\n1;Å\r\n');
      expect([response.status, response.type, response.text]).toEqual([
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

    test('accepts the file in any field, with other fields before and after it', async () => {
      const account = await newAccount();
      const file = part(
        'Content-Type: text/csv\r\nContent-Disposition: form-data; name="x"; filename="a.csv"',
        '1,2',
      );
      const response = await post(account.token, `${field}${file}${field}${end}`);
      expect([response.status, response.text]).toEqual([200, 'a.csv']);
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
    ])('stores %j as %j', async (sent, stored) => {
      const account = await newAccount();
      const response = await upload(account.token, sent);
      expect([response.status, response.text]).toEqual([200, stored]);
      expect(await account.list()).toEqual([stored]);
    });

    test('accepts the supported kinds of files by name and first bytes', async () => {
      const account = await newAccount();
      const ole = Buffer.alloc(1024);
      ole.write('d0cf11e0a1b11ae1', 'hex');
      ole.writeUInt16LE(9, 30); // sectors of 512 bytes, with the directory in the first one
      ole[512 + 66] = 5; // the root entry of the directory
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

    test('accepts 10 MB but not one byte more, with a declared length and in chunks', async () => {
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
        const response = await sendWhole(account.token, headers, whole);
        expect(response.status).toBe(400);
        expect(response.body).toEqual({
          id: response.headers.get('x-request-id'),
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

    test('stores all files of simultaneous uploads', async () => {
      const account = await newAccount();
      const names = Array.from({ length: 10 }, (_, i) => `${i}.csv`);
      const responses = await Promise.all(names.map((name) => upload(account.token, name, name)));
      expect(responses.map(({ text }) => text)).toEqual(names);
      expect(await account.contents()).toEqual(Object.fromEntries(names.map((name) => [name, name])));
    });

    test('gets its place in the queue only after uploads of the account that are being committed, so that the order is kept', async () => {
      const account = await newAccount();
      const lastArrival = async () =>
        (await database.pool`select last_value, is_called from file_arrivals`)[0];
      const [queued, committed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const before = database.pool.begin(async (tx) => {
        await addProcessing(tx, account.id);
        queued.resolve();
        await committed.promise;
      });
      await queued.promise;
      const arrivalBefore = await lastArrival();
      const uploading = upload(account.token, 'a.csv');
      await until(async () => {
        const rows = await database.pool`
          select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
        return rows.length > 0;
      });
      expect([await lastArrival(), await account.list()]).toEqual([arrivalBefore, []]);
      committed.resolve();
      await before;
      expect((await uploading).status).toBe(200);
      expect(await lastArrival()).not.toEqual(arrivalBefore);
    });

    test('accepts a file in many small chunks', async () => {
      const account = await newAccount();
      const { socket, has } = await raw(requestHead(account.token, 'transfer-encoding: chunked'));
      for (const character of filePart('slow.csv', 'a,b\r\n-\r\n--limi\r\n') + end) {
        socket.write(`1\r\n${character}\r\n`);
        await new Promise((resolve) => setImmediate(resolve));
      }
      socket.write('0\r\n\r\n');
      await has('200 OK');
      expect(await account.contents()).toEqual({ 'slow.csv': 'a,b\r\n-\r\n--limi\r\n' });
    });
  });

  describe('400 without a body, as text/plain', () => {
    const summaryOf = ({ status, type, text, headers }: Received) => [
      status,
      type,
      text,
      headers.get('content-length'),
      headers.get('x-request-id')?.length,
    ];
    const emptyRefusal = [400, 'text/plain', '', '0', 36];

    test.each(uploadOperations.map(({ method, path }) => [method, path.replace('{name}', 'a.csv')] as const))(
      '%s %s: a missing token, or one that is invalid for any reason',
      async (method, path) => {
        const account = await newAccount();
        const { token: old } = await createToken(database.pool, account.id, {
          name: 'o',
          scopes: ['files'],
          expires: '2020-01-01',
        });
        for (const token of [undefined, '', 'nonsense', newToken(), old, account.token.slice(0, -1)]) {
          expect(summaryOf(await request(method, path, token))).toEqual(emptyRefusal);
          expect(summaryOf(await request(method, `${path}?x=1`, token))).toEqual(emptyRefusal);
        }
      },
    );

    test.each(uploadOperations.map(({ method, path }) => [method, path.replace('{name}', 'a.csv')] as const))(
      '%s %s: an address that is not allowed, whatever the scope, with the reason in the log',
      async (method, path) => {
        const account = await newAccount();
        await allowOnly(account.id, '192.0.2.0/24', '2001:db8::1');
        const { token: other } = await createToken(database.pool, account.id, {
          name: 'd',
          scopes: ['data'],
        });
        const lines: string[] = [];
        const own = await openStorage({
          log: pino({ base: null }, { write: (line) => void lines.push(line) }),
        });
        onTestFinished(() => own.server.shutDown(0));
        for (const token of [account.token, other]) {
          expect(summaryOf(await request(method, path, token, {}, own.address))).toEqual(emptyRefusal);
        }
        expect(lines.join('')).toContain('This account does not accept files from the IP address 127.0.0.1.');
        await allowOnly(account.id, '192.0.2.0/24', '127.0.0.0/8');
        expect(summaryOf(await request(method, path, account.token, {}, own.address))).not.toEqual(
          emptyRefusal,
        );
      },
    );

    test('an address forwarded by a proxy counts only if the proxy is trusted', async () => {
      const account = await newAccount();
      await allowOnly(account.id, '192.0.2.7');
      const [trusting, other] = [
        await openStorage({ trustProxy: ['127.0.0.1'] }),
        await openStorage({ trustProxy: ['10.0.0.0/8'] }),
      ];
      onTestFinished(() =>
        Promise.all([trusting.server.shutDown(0), other.server.shutDown(0)]).then(() => {}),
      );
      const statusOf = async (at: string, forwarded: string) =>
        (await request('GET', listPath, account.token, { headers: { 'x-forwarded-for': forwarded } }, at))
          .status;
      expect(await statusOf(trusting.address, '192.0.2.7')).toBe(200);
      expect(await statusOf(trusting.address, '::ffff:192.0.2.7')).toBe(200);
      expect(await statusOf(trusting.address, '192.0.2.8')).toBe(400);
      // Addresses that a client claims come before the one that the proxy has seen.
      expect(await statusOf(trusting.address, '192.0.2.7, 198.51.100.1')).toBe(400);
      expect(await statusOf(trusting.address, 'nonsense')).toBe(400);
      for (const at of [storage.address, other.address]) {
        expect(await statusOf(at, '192.0.2.7')).toBe(400);
        expect(await statusOf(at, '192.0.2.7, 127.0.0.1')).toBe(400);
      }
    });

    test('is sent without waiting for the body', async () => {
      const refused = await raw(requestHead('nonsense', 'content-length: 1000000'));
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
      ['\u3164.csv', 'a', 'The file name contains invisible characters. Rename the file.'],
      ['\u202evsc.exe.csv', 'a', 'The file name contains invisible characters. Rename the file.'],
      [' .csv', 'a', 'The file name must not begin or end with a space.'],
      [`${'n'.repeat(197)}.csv`, 'a', 'The file name is longer than 200 bytes. Use a shorter name.'],
      ['a.csv', '', 'The file is empty.'],
    ])('refuses the file %j with the content %j', async (name, content, message) => {
      const account = await newAccount();
      expect(refusal(await upload(account.token, name, content))).toBe(`400 file validation: ${message}`);
      expect(await account.rows()).toBe(0);
    });

    test('refuses a file whose content does not match its name', async () => {
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

    test('refuses a workbook that is cut off, or only begins like one', async () => {
      const { token, list } = await newAccount();
      const whole = zipOf(workbookOf([{ rows: '' }]));
      for (const [name, bytes] of [
        ['a.xlsx', whole.subarray(0, 4)],
        ['b.xlsx', whole.subarray(0, -30)],
        ['c.xlsx', Buffer.concat([whole.subarray(0, 30), Buffer.alloc(70_000)])],
        ['d.xls', Buffer.from('d0cf11e0a1b11ae1', 'hex')],
        ['e.xls', Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(4096)])],
      ] as const) {
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

    test('refuses a form without a file', async () => {
      const { token } = await newAccount();
      const expected = '400 file validation: The form contains no file. Send a part with a file name.';
      expect(refusal(await post(token, field + end))).toBe(expected);
      expect(refusal(await post(token, filePart('', '') + end))).toBe(expected);
      const form = new FormData();
      form.append('file', 'text');
      expect(refusal(await request('POST', uploadPath, token, { body: form }))).toBe(expected);
      const withoutBoundary =
        '400 file validation: Send the file as multipart/form-data, with a boundary of 1 to 70 characters.';
      const headers = { 'content-type': 'multipart/form-data' };
      expect(refusal(await request('POST', uploadPath, token, { headers }))).toBe(withoutBoundary);
    });

    test('refuses two files and stores neither', async () => {
      const account = await newAccount();
      for (const second of [filePart('b.csv'), filePart('a.csv'), filePart('../b')]) {
        expect(refusal(await post(account.token, filePart('a.csv') + field + second + end))).toBe(
          '400 file validation: The form contains more than one file. Send one file per request.',
        );
      }
      expect(await account.rows()).toBe(0);
    });

    test('refuses a file with too large a declared size before any of it is sent', async () => {
      const { token } = await newAccount();
      for (const length of [12 * 1024 * 1024, 1e15]) {
        const refused = await raw(requestHead(token, `content-length: ${length}`));
        await refused.has('}]}');
        expect(refused.text()).toMatch(
          /^HTTP\/1\.1 400 [^]*"Incorrect file size\. The file is larger than 10 MB\."/,
        );
      }
    });

    test('keeps the existing file if a new one is refused', async () => {
      const account = await newAccount();
      await upload(account.token, 'a.csv', 'first');
      await upload(account.token, 'a.csv', '');
      await post(account.token, filePart('a.csv', 'second'));
      expect(await account.contents()).toEqual({ 'a.csv': 'first' });
      expect(await account.rows()).toBe(1);
    });

    test('refuses a query parameter', async () => {
      const { token } = await newAccount();
      const response = await request('POST', `${uploadPath}?name=x`, token, {
        body: filePart('a.csv') + end,
        headers: formHeaders,
      });
      expect(refusal(response)).toMatch(/^400 unknown parameter/);
    });
  });

  test('403: a token without the scope', async () => {
    const account = await newAccount();
    const { token } = await createToken(database.pool, account.id, {
      name: 'd',
      scopes: ['data', 'organization'],
    });
    for (const { method, path } of uploadOperations) {
      expect(refusal(await request(method, path, token))).toMatch(/^403 missing scope/);
    }
  });

  test('405: other methods, with the allowed ones', async () => {
    for (const [path, allow] of [
      [uploadPath, 'POST'],
      [listPath, 'GET, HEAD'],
      ['/v1/storage/files/a.csv/report', 'GET, HEAD'],
    ] as const) {
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']) {
        if (allow.split(', ').includes(method)) continue;
        const { status, headers } = await request(method, path);
        expect([method, path, status, headers.get('allow')]).toEqual([method, path, 405, allow]);
      }
    }
  });

  test('404: a file cannot be downloaded, changed or deleted, and the response names its report', async () => {
    const account = await newAccount();
    for (const method of ['GET', 'DELETE', 'PUT', 'POST']) {
      const init = method === 'GET' ? {} : { body: 'a,b', headers: { 'content-type': 'text/csv' } };
      const response = await request(method, '/v1/storage/files/x.csv', account.token, init);
      expect(refusal(response)).toMatch(
        /^404 not downloadable: Files can be uploaded and listed, but not downloaded.*\/report/,
      );
    }
  });

  test('415: no content type, with or without a body', async () => {
    const { token } = await newAccount();
    const begin = `POST /v1/storage/uploadFile HTTP/1.1\r\nhost: x\r\nauthorization: ${token}\r\n`;
    const chunked = 'transfer-encoding: chunked\r\n\r\n3\r\na,b\r\n0\r\n\r\n';
    for (const rest of ['\r\n', 'content-length: 0\r\n\r\n', 'content-length: 3\r\n\r\na,b', chunked]) {
      const connection = await raw(begin + rest);
      await connection.has('\r\n\r\n{');
      expect(connection.text()).toMatch(/^HTTP\/1\.1 415 [^]*"unsupported media type"/);
    }
  });

  test('415: another content type or a compressed body, and the response arrives although the body follows', async () => {
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

describe('Expect: 100-continue', () => {
  const body = filePart('a.csv') + end;

  test('requests the body if only the body can still be wrong', async () => {
    const account = await newAccount();
    const connection = await raw(
      requestHead(account.token, `expect: 100-continue\r\ncontent-length: ${body.length}`),
    );
    await connection.has('HTTP/1.1 100 Continue\r\n\r\n');
    connection.socket.write(body);
    await connection.has('200 OK');
    expect(await account.list()).toEqual(['a.csv']);
  });

  test('otherwise refuses at once', async () => {
    const { token } = await newAccount();
    for (const [authorization, length] of [
      ['nonsense', body.length],
      [token, 99_999_999],
    ] as const) {
      const connection = await raw(
        requestHead(authorization, `expect: 100-continue\r\ncontent-length: ${length}`),
      );
      await connection.has('HTTP/1.1 400');
      expect(connection.text()).not.toContain('100 Continue');
    }
  });
});

describe('clients', () => {
  test('curl uploads a small and a large file, and is refused for one that is too large', async ({
    skip,
  }) => {
    const curl = await exec('curl', ['--version']).catch(() => undefined);
    skip(!curl, 'needs curl');
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
        storage.address + uploadPath,
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

test('an account at its storage limit is refused until it has space again', async () => {
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

test('replaced files make room for new ones, except those that are waiting or awaiting approval', async () => {
  const { pool } = database;
  const account = await newAccount();
  const [pendingRun] = await pool<{ id: string }[]>`
    insert into runs (run_id, account_id, source, file, outcome, settings, validate_only)
    values (gen_random_uuid(), ${account.id}, 'file', 'a.csv', 'pending', '{}', false)
    returning run_id as "id"`;
  const fill = (name: string, from: number, count: number, runId: string | null = null) => pool`
    insert into files (account_id, name, size, via, token_id, arrival, arrived_at, processed_at, run_id)
    select ${account.id}, ${name}, 1, 'https', ${account.tokenId}, nextval('file_arrivals'), now(),
           case when i % 10 > 0 then now() end, ${runId}::uuid
    from   generate_series(${from}::integer, ${from + count - 1}::integer) i`;
  const idsOf = async (isWaiting: boolean) => {
    const rows = await pool<{ id: number }[]>`
      select file_id as "id" from files
      where  account_id = ${account.id} and (processed_at is null or run_id is not null) = ${isWaiting}`;
    return rows.map(({ id }) => id);
  };
  const countOf = async (ids: number[]) =>
    (await pool`select 1 from files where account_id = ${account.id} and file_id = any(${ids})`).length;
  // PostgreSQL expects few files in this account.
  const other = await newAccount();
  await pool`
    insert into files (account_id, name, size, via, token_id, arrival, arrived_at, processed_at)
    select ${other.id}, 'b.csv', 1, 'https', ${other.tokenId}, nextval('file_arrivals'), now(), now()
    from   generate_series(1, 20000)`;
  await pool`analyze files`;
  await fill('once.csv', 1, 1);
  await fill('a.csv', 1, 1, pendingRun!.id);
  await fill('a.csv', 1, 4_998);
  const [waiting, others] = [await idsOf(true), await idsOf(false)];
  expect([waiting.length, others.length]).toEqual([500, 4_500]);
  expect((await upload(account.token, 'a.csv')).status).toBe(200);
  // The service may already have begun to process those that wait.
  expect([await countOf(waiting), await countOf(others)]).toEqual([500, 4_480]);
  expect(await account.list()).toEqual(['a.csv', 'once.csv']);

  // None has replaced another one.
  await pool`update files set name = file_id || '.csv' where account_id = ${account.id}`;
  await pool`
    insert into files (account_id, name, size, via, token_id, arrival, arrived_at, processed_at)
    select ${account.id}, 'c' || i || '.csv', 1, 'https', ${account.tokenId}, nextval('file_arrivals'), now(), now()
    from   generate_series(1, 19) i`;
  expect(refusal(await upload(account.token, 'a.csv'))).toMatch(
    /storage limit of 5000 files or 4 GB\. .*Use the same file name each time/,
  );
});
