// Interrupted and malicious uploads leave nothing behind, and acknowledged ones survive a killed service.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { bareEnvironment } from '../testing/processes/environment.ts';
import { freePort } from '../testing/processes/free-port.ts';
import { until } from '../testing/until.ts';
import {
  listPath,
  database,
  storage,
  openStorage,
  newAccount,
  request,
  upload,
  part,
  filePart,
  end,
  field,
  refusal,
  raw,
  requestHead,
  sendWhole,
  openRequest,
  useStorage,
} from './storage.fixture.ts';
import { builtProgram } from '../testing/service-build.ts';

useStorage();

describe('an interrupted upload', () => {
  const first = filePart('a.csv', 'x'.repeat(600_000)).slice(0, -2);

  /** Starts an upload whose first bytes are in the database. */
  async function startUpload(token: string, accountId: number, at = storage.address) {
    const sending = openRequest(token, { 'transfer-encoding': 'chunked' }, at);
    sending.write(first);
    await until(
      async () => (await database.pool`select from file_chunks where account_id = ${accountId}`).length > 0,
    );
    return sending;
  }

  test('leaves nothing if the client disconnects', async () => {
    const account = await newAccount();
    const sending = await startUpload(account.token, account.id);
    expect(await account.list()).toEqual([]);
    sending.destroy();
    expect(await until(async () => (await account.rows()) === 0)).toBe(true);
    expect(await database.pool`select from file_chunks where account_id = ${account.id}`).toHaveLength(0);
  });

  test('leaves nothing if the form is invalid', async () => {
    const account = await newAccount();
    const sending = await startUpload(account.token, account.id);
    sending.end('no end');
    const [{ statusCode }] = (await once(sending, 'response')) as [IncomingMessage];
    expect([statusCode, await account.rows()]).toEqual([400, 0]);
  });

  test('leaves nothing if its length is not the declared one', async () => {
    const account = await newAccount();
    const body = filePart('a.csv') + end;
    const short = await raw(
      requestHead(account.token, `content-length: ${body.length - 20}\r\nconnection: close`),
      body,
    );
    await short.has('HTTP/1.1 400');
    const long = await raw(requestHead(account.token, `content-length: ${first.length + 100}`), first);
    await until(async () => (await account.rows()) === 1);
    long.socket.end();
    expect(await until(async () => (await account.rows()) === 0)).toBe(true);
  });

  test('leaves nothing if the service stops at once', async () => {
    const account = await newAccount();
    const own = await openStorage();
    const sending = await startUpload(account.token, account.id, own.address);
    const closed = new Promise((resolve) => sending.once('close', resolve));
    await own.server.shutDown(0);
    await closed;
    expect(await until(async () => (await account.rows()) === 0)).toBe(true);
  });

  test('can finish while the service stops, but new uploads are refused', async () => {
    const account = await newAccount();
    const own = await openStorage();
    const sending = await startUpload(account.token, account.id, own.address);
    const stopped = own.server.shutDown(30);
    // New connections are not accepted, so a proxy uses another replica and a client tries again.
    await expect(upload(account.token, 'b.csv', 'x', own.address)).rejects.toThrow('fetch failed');
    sending.end(`\r\n${end}`);
    const [{ statusCode }] = (await once(sending, 'response')) as [IncomingMessage];
    await stopped;
    expect([statusCode, await account.list()]).toEqual([200, ['a.csv']]);
  });
});

describe('the service in its own process', () => {
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
    const main = builtProgram('main');
    const child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => (output += String(chunk)));
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
    /** Returns the peak memory of the process, in MB. */
    const peak = async () =>
      Number(/VmHWM:\s+(\d+)/.exec(await readFile(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024;
    return { child, address, exited, peak, output: () => output };
  }

  test('responds to every malicious body with 400, stores no part of it and needs little memory for it', async () => {
    const service = await start();
    const account = await newAccount(own.pool);
    // The largest possible body first, so that its memory is already counted. A complete file would be processed.
    const large = Buffer.from(filePart('b.csv', 'x'.repeat(10e6)));
    expect((await sendWhole(account.token, {}, large, service.address)).status).toBe(400);
    const before = await service.peak();
    const repeated = (text: string, bytes = 4e6) => text.repeat(Math.ceil(bytes / text.length));
    const type = (boundary: string) => ({ 'content-type': `multipart/form-data; boundary=${boundary}` });
    const inner = 'Content-Disposition: form-data; name="x"\r\nContent-Type: multipart/mixed; boundary=';
    const named = (parameter: string) =>
      part(`Content-Disposition: form-data; name="f"; ${parameter}`, 'x') + end;
    const hostile: [string, string, Record<string, string>?][] = [
      ['no boundary', filePart('b.csv') + end, { 'content-type': 'multipart/form-data' }],
      ['a boundary of 10 KB', filePart('b.csv') + end, type('b'.repeat(10_000))],
      ['a form that is never closed', filePart('b.csv', repeated('x'))],
      ['a form closed by another boundary', `${filePart('b.csv', repeated('x'))}--limits--\r\n`],
      ['only text before the first part', repeated('x')],
      ['only delimiters', repeated('\r\n--limit')],
      ['only text that looks like delimiters', repeated('\r\n--limi')],
      ['10,000 parts', field.repeat(10_000) + filePart('b.csv') + end],
      ['10,000 files', filePart('b.csv').repeat(10_000) + end],
      ['a large field', part('Content-Disposition: form-data; name="f"', repeated('x')) + end],
      [
        'a form that is too large',
        part('Content-Disposition: form-data; name="f"', repeated('x', 12e6)) + end,
      ],
      ['a file that is too large', filePart('b.csv', repeated('x', 12e6)) + end],
      ['headers without end', `--limit\r\n${repeated('X-Header: y\r\n')}`],
      ['a header without end', `--limit\r\nX-Header: ${repeated('y')}`],
      ['headers folded without end', `--limit\r\nX-Header:${repeated('\r\n y')}`],
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
      ['zeros', repeated('\0')],
      ['a form in UTF-16', Buffer.from(filePart('b.csv') + end, 'utf16le').toString('latin1')],
      ['two large files', filePart('b.csv', repeated('x')) + filePart('c.csv', repeated('x')) + end],
    ];
    const sent = hostile.flatMap(([name, body, headers = {}]) => {
      const bytes = Buffer.from(body, 'latin1');
      const framings = [{ 'content-length': `${bytes.length}` }, { 'transfer-encoding': 'chunked' }];
      return framings.map((framing) => ({ name, bytes, headers: { ...headers, ...framing } }));
    });
    await Promise.all(
      sent.map(async ({ name, bytes, headers }) => {
        const response = await sendWhole(
          account.token,
          headers as Record<string, string>,
          bytes,
          service.address,
        );
        expect([name, refusal(response)]).toEqual([name, expect.stringMatching(/^400 file validation: ./)]);
      }),
    );
    expect(await account.rows()).toBe(0);
    expect((await service.peak()) - before).toBeLessThan(60);
    expect(service.output()).not.toMatch(/"level":[56]0/);
    expect((await upload(account.token, 'a.csv', 'a,b', service.address)).status).toBe(200);
  });

  test('keeps acknowledged files but no part of an unfinished upload after it is killed', async () => {
    const service = await start();
    const account = await newAccount(own.pool);
    expect((await upload(account.token, 'before.csv', 'a,b', service.address)).status).toBe(200);
    const sending = openRequest(account.token, { 'transfer-encoding': 'chunked' }, service.address);
    sending.write(filePart('a.csv', 'x'.repeat(600_000)).slice(0, -2));
    await until(async () => (await account.rows()) === 2);
    service.child.kill('SIGKILL');
    await service.exited;
    const again = await start();
    const list = await request('GET', listPath, account.token, {}, again.address);
    expect(list.body).toEqual(['before.csv']);
    expect((await upload(account.token, 'a.csv', 'whole', again.address)).status).toBe(200);
    expect(await account.contents()).toMatchObject({ 'a.csv': 'whole' });
  });
});
