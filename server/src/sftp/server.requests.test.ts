// All other SFTP requests, and what happens when the service stops or the database is unavailable.
import { once } from 'node:events';
import { Client } from 'ssh2';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openPool } from '../db/db.ts';
import { until } from '../testing/until.ts';
import { openRawSession, closed, configOf, dial, logInBare } from './sftp.fixture.ts';
import { createFlags, type Reply, types, code } from './packets.fixture.ts';
import {
  fixture,
  acme,
  users,
  openSession,
  namesOf,
  unfinished,
  put,
  statusOf,
  refusal,
  useSftpServer,
} from './server.fixture.ts';

useSftpServer();

describe('other requests', () => {
  test('resolve paths from the root, which is the only folder', async () => {
    const session = await openSession();
    for (const [path, real] of [
      ['.', '/'],
      ['', '/'],
      ['..', '/'],
      ['a/./b/../c.csv', '/a/c.csv'],
      ['//x', '/x'],
    ]) {
      expect((await session.request(types.realpath, path as string)).names).toMatchObject([{ name: real }]);
    }
    expect((await session.request(types.stat, '/')).mode).toBe(0o040_700);
    expect((await session.request(types.opendir, '/sub')).code).toBe(code.noFile);
    expect((await session.request(types.open, '/sub/users.csv', createFlags, 0)).code).toBe(code.noFile);
    expect((await session.request(types.open, '../../../etc/users.csv', createFlags, 0)).code).toBe(
      code.noFile,
    );
    expect((await session.request(types.open, '/', createFlags, 0)).code).toBe(code.failure);
    expect((await session.request(types.stat, 'x'.repeat(100_000))).code).toBe(code.noFile);
  });

  test('list all names of the folder in the format of ls, and then the end', async () => {
    const company = await fixture.company();
    const session = await openSession(company);
    const files = Array.from({ length: 60 }, (_, i) => `file${String(i).padStart(2, '0')}.csv`);
    for (const name of files) await put(session, name);
    const { handle } = await session.request(types.opendir, '/');
    const replies = [];
    for (;;) {
      const reply = await session.request(types.readdir, handle as Buffer);
      if (reply.code === code.eof) break;
      replies.push(...(reply.names as NonNullable<Reply['names']>));
    }
    expect(replies.map(({ name }) => name)).toEqual(['.', '..', ...files]);
    expect(replies[0]?.long).toMatch(/^drwx------ .* \.$/);
    expect(replies[2]?.long).toMatch(
      /^--w------- +1 \S+ +\S+ +30 (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d file00\.csv$/,
    );
    expect((await session.request(types.close, handle as Buffer)).code).toBe(code.ok);
    expect((await session.request(types.readdir, handle as Buffer)).code).toBe(code.failure);
  });

  test('cannot read files, and distinguish names that exist from others', async () => {
    const session = await openSession(await fixture.company());
    await put(session, 'users.csv');
    expect(statusOf(await session.request(types.open, 'users.csv', 1, 0))).toEqual([code.denied, refusal]);
    expect((await session.request(types.open, 'other.csv', 1, 0)).code).toBe(code.noFile);
    expect((await session.request(types.open, 'users.csv', 1 | 2, 0)).code).toBe(code.denied);
    expect((await session.request(types.open, 'other.csv', 2 | 4 | 8, 0)).code).toBe(code.denied);
    const handle = await session.open('users.csv');
    expect(statusOf(await session.request(types.read, handle, 0n, 100))).toEqual([code.denied, refusal]);
  });

  test('can create or replace a file, but not change one', async () => {
    const session = await openSession(await fixture.company());
    await put(session, 'users.csv');
    expect((await session.request(types.open, 'users.csv', 2 | 8, 0)).text).toMatch(/can't be changed/);
    expect((await session.request(types.open, 'users.csv', 2 | 8 | 16 | 32, 0)).text).toMatch(/already/);
    expect((await session.request(types.open, 'other.csv', 2, 0)).code).toBe(code.noFile);
    const { handle } = await session.request(types.open, 'new.csv', 2 | 8 | 32, 0);
    expect(handle).toBeDefined();
  });

  test('store times, ignore modes, and refuse a size other than the current one', async () => {
    const session = await openSession(await fixture.company());
    const handle = await session.open('users.csv');
    await session.request(types.write, handle, 0n, users);
    const times = [8, 1_000_000, 1_700_000_000];
    expect((await session.request(types.fsetstat, handle, 4, 0o644)).code).toBe(code.ok);
    expect((await session.request(types.fsetstat, handle, ...times)).code).toBe(code.ok);
    expect((await session.request(types.fsetstat, handle, 1, BigInt(users.length))).code).toBe(code.ok);
    expect((await session.request(types.fsetstat, handle, 1, 5n)).code).toBe(code.denied);
    await session.request(types.close, handle);
    expect((await session.request(types.stat, 'users.csv')).modified).toBe(1_700_000_000);
    expect((await session.request(types.setstat, 'users.csv', 8, 5, 6)).code).toBe(code.ok);
    expect((await session.request(types.stat, 'users.csv')).modified).toBe(6);
    expect((await session.request(types.setstat, 'users.csv', 1, 0n)).code).toBe(code.denied);
    expect((await session.request(types.setstat, 'other.csv', 8, 5, 6)).code).toBe(code.noFile);
  });

  test('cannot remove, rename, create, link or read anything', async () => {
    const company = await fixture.company();
    const session = await openSession(company);
    await put(session, 'users.csv');
    const replies = [
      await session.request(types.remove, 'users.csv'),
      await session.request(types.remove, 'other.csv'),
      await session.request(types.rename, 'users.csv', 'old.csv'),
      await session.request(types.mkdir, '/sub', 0),
      await session.request(types.rmdir, '/'),
      await session.request(types.readlink, 'users.csv'),
      await session.request(types.symlink, 'users.csv', 'link.csv'),
    ];
    for (const reply of replies) expect(statusOf(reply)).toEqual([code.denied, refusal]);
    expect(await namesOf(company)).toEqual(['users.csv']);
  });

  test('do not support extensions', async () => {
    const session = await openSession();
    for (const name of [
      'statvfs@openssh.com',
      'posix-rename@openssh.com',
      'fsync@openssh.com',
      'copy-data',
    ]) {
      expect((await session.request(types.extended, name, '/', '/')).code).toBe(code.unsupported);
    }
    expect((await session.request(99)).code).toBe(code.unsupported);
  });

  test('accept a handle only in its session and while it is open', async () => {
    const [session, other] = [await openSession(), await openSession()];
    const handle = await session.open('users.csv');
    for (const wrong of [
      Buffer.alloc(0),
      Buffer.from('abc'),
      Buffer.from([255, 255, 255, 255]),
      Buffer.alloc(300),
    ]) {
      expect((await session.request(types.write, wrong, 0n, users)).code).toBe(code.failure);
    }
    expect((await other.request(types.close, handle)).code).toBe(code.failure);
    await session.request(types.write, handle, 0n, users);
    await session.request(types.close, handle);
    expect((await session.request(types.close, handle)).code).toBe(code.failure);
  });
});

test('a path with a NUL character is refused with a message in every request', async () => {
  const { port, log } = await fixture.startServer();
  const session = await openRawSession(port, acme);
  onTestFinished(session.end);
  const path = 'us\0ers.csv';
  const refused = [code.failure, 'The file name contains a NUL character.'];
  for (const type of [types.stat, types.lstat, types.opendir, types.remove, types.realpath]) {
    expect(statusOf(await session.request(type, path))).toEqual(refused);
  }
  for (const flags of [1, 2, createFlags]) {
    expect(statusOf(await session.request(types.open, path, flags, 0))).toEqual(refused);
  }
  expect(statusOf(await session.request(types.setstat, path, 0))).toEqual(refused);
  expect(statusOf(await session.request(types.rename, path, 'users.csv'))).toEqual(refused);
  expect(statusOf(await session.request(types.rename, 'users.csv.part', `${path}.part`))).toEqual(refused);
  expect(log.filter(({ level }) => Number(level) >= 40)).toEqual([]);
});

describe('when the service stops or the database is unavailable', () => {
  test('uploads and logins fail with a message and nothing else if the database is unavailable', async () => {
    const pool = openPool(fixture.databaseUrl, 3);
    const { port, log } = await fixture.startServer({ pool });
    const session = await openRawSession(port, acme);
    onTestFinished(session.end);
    const handle = await session.open('users.csv');
    await pool.end({ timeout: 0 });
    const message = 'The database cannot be reached. Try again.';
    await session.request(types.write, handle, 0n, users);
    expect(statusOf(await session.request(types.close, handle))).toEqual([code.failure, message]);
    expect(statusOf(await session.request(types.open, 'other.csv', createFlags, 0))).toEqual([
      code.failure,
      message,
    ]);
    expect(statusOf(await session.request(types.opendir, '/'))).toEqual([code.failure, message]);

    // The connection ends without a reply that the token is wrong. OpenSSH shows the reason (clients.test.ts).
    for (const tryKeyboard of [false, true]) {
      const client = new Client();
      const errors: (Error & { code?: unknown })[] = [];
      client.on('error', (error) => errors.push(error));
      const ended = closed(client);
      client.connect({ ...configOf(port, acme), tryKeyboard });
      await ended;
      expect(errors[0]).toMatchObject({
        message: "The service can't check tokens at the moment. Try again later.",
        code: 7,
      });
    }
    expect(log).toContainEqual(
      expect.objectContaining({
        msg: 'SFTP login could not be checked',
        connectionId: expect.anything() as string,
      }),
    );
    expect(log.filter(({ msg }) => msg === 'SFTP login refused')).toEqual([]);
    expect(log.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  });

  test('a stopping service finishes a running upload, accepts no new one, and ends all other sessions at once', async () => {
    const company = await fixture.company();
    const { server, port } = await fixture.startServer();
    const [busy, idle] = [await openRawSession(port, company), await openRawSession(port, company)];
    const handle = await busy.open('users.csv.part');
    const [busyEnd, idleEnd] = [closed(busy.client), closed(idle.client)];
    const stopped = server.close(20);
    await idleEnd;
    expect((await busy.request(types.open, 'next.csv', createFlags, 0)).text).toMatch(/stopping/);
    await busy.request(types.write, handle, 0n, users);
    expect((await busy.request(types.close, handle)).code).toBe(code.ok);
    expect((await busy.request(types.rename, 'users.csv.part', 'users.csv')).code).toBe(code.ok);
    await stopped;
    await busyEnd;
    expect(await namesOf(company)).toEqual(['users.csv']);
    await expect(logInBare(port, company)).rejects.toThrow('ECONNREFUSED');
  });

  test('a stopping service ends sessions between two operations, with the reason', async () => {
    const company = await fixture.company();
    const { server, port } = await fixture.startServer();
    const [listing, idle] = [await openRawSession(port, company), await openRawSession(port, company)];
    const idleEnd = once(idle.client, 'error') as Promise<[Error]>;
    const { handle } = await listing.request(types.opendir, '/');
    const listingEnd = closed(listing.client);
    const stopped = server.close(20);
    expect((await idleEnd)[0].message).toBe('The service is stopping. Connect again in a moment.');
    expect((await listing.request(types.readdir, handle!)).names).toBeDefined();
    expect((await listing.request(types.close, handle!)).code).toBe(code.ok);
    await Promise.all([stopped, listingEnd]);
  });

  test('a stopping service does not wait longer than its limit, and deletes unfinished uploads', async () => {
    const company = await fixture.company();
    const { server, port } = await fixture.startServer();
    const session = await openRawSession(port, company);
    await session.request(types.write, await session.open('users.csv'), 0n, users);
    await dial(port);
    const start = performance.now();
    await server.close(0.3);
    // Sessions end by themselves only after minutes.
    expect(performance.now() - start).toBeLessThan(20_000);
    await until(async () => (await unfinished(company)) === 0);
    expect(await namesOf(company)).toEqual([]);
  });
});
