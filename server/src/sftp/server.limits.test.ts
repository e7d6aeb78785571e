// What a client can send to the SFTP server, and how much, without affecting others.
import type { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { Client } from 'ssh2';
import { describe, expect, onTestFinished, test } from 'vitest';
import { cases } from '../testing/house/cases.ts';
import { until } from '../testing/until.ts';
import { sftpLimits } from './limits.ts';
import { openRawSession, closed, configOf, dial, unusedAddress, disconnected } from './sftp.fixture.ts';
import { createFlags, types, code, packet } from './packets.fixture.ts';
import { selectFiles } from '../files/store.sql.ts';
import { fixture, acme, openSession, unfinished, useSftpServer } from './server.fixture.ts';

useSftpServer();

describe('limits for a client', () => {
  test('allow at most 1 MiB of unwritten data, however fast the client sends and however slow the database is', async () => {
    const company = await fixture.company();
    const sessions = await Promise.all([1, 2].map(() => openSession(company)));
    const handles: Buffer[][] = [];
    for (const session of sessions)
      handles.push([await session.open('a.csv'), await session.open('b.csv'), await session.open('c.csv')]);
    const chunk = Buffer.alloc(32_000, 'a;b\n');
    let peak = 0;
    await fixture.pool.begin(async (tx) => {
      await tx`lock table file_chunks in exclusive mode`;
      for (const [i, session] of sessions.entries()) {
        // The first session writes to one file, the second to three files at a time.
        for (let n = 0; n < 150; n++) {
          const [handle, at] = i === 0 ? [handles[i]![0]!, n] : [handles[i]![n % 3]!, Math.floor(n / 3)];
          session.stream.write(packet(types.write, n, handle, BigInt(at * chunk.length), chunk));
        }
      }
      await until(async () => fixture.server.unwritten() > 512 * 1024);
      // Until no more data is accepted.
      for (let same = 0; same < 8;) {
        await sleep(20);
        const now = fixture.server.unwritten();
        same = now === peak ? same + 1 : 0;
        peak = Math.max(peak, now);
      }
    });
    expect(peak).toBeGreaterThan(512 * 1024);
    expect(peak).toBeLessThanOrEqual(1024 * 1024);
    for (const session of sessions)
      for (let n = 0; n < 150; n++) expect((await session.next()).code).toBe(code.ok);
    for (const [i, session] of sessions.entries()) {
      for (const handle of handles[i]!.slice(0, i === 0 ? 1 : 3)) {
        expect((await session.request(types.close, handle)).code).toBe(code.ok);
      }
    }
    const sizes = (await selectFiles(fixture.pool, company.id)).map(({ size }) => size);
    expect(sizes).toEqual([50, 50, 50].map((chunks) => chunks * chunk.length));
  });

  test('stop reading requests while the client reads no replies, and end the session after the idle time', async () => {
    const one = packet(types.realpath, 1, 'x/'.repeat(1500));
    const many = Buffer.concat(Array.from({ length: 3000 }, () => one)); // about 9 MB of requests and 18 MB of replies
    let now = Date.now();
    const { port, server, log } = await fixture.startServer({ now: () => now });
    const [slow, stuck] = await Promise.all([openRawSession(port, acme), openRawSession(port, acme)]);
    slow.socket.pause();
    stuck.stream.pause(); // the client reads, but leaves no window for replies
    for (const session of [slow, stuck]) session.stream.write(many);
    let peak = 0;
    for (let same = 0, last = -1; same < 5;) {
      await sleep(20);
      const unwritten = server.unwritten();
      same = unwritten === last ? same + 1 : 0;
      last = unwritten;
      peak = Math.max(peak, unwritten);
    }
    expect(peak).toBeLessThan(512 * 1024);
    const count = (text: string) => log.filter(({ msg, reason }) => [msg, reason].includes(text)).length;
    await until(async () => {
      // Again each time: a busy machine may still be reading requests.
      now += sftpLimits.idleMs + 1;
      return count('idle') === 2;
    });
    now += 2001; // they have a moment to disconnect
    await until(async () => count('SFTP connection closed') === 2);
    for (const session of [slow, stuck]) session.client.destroy();
  });

  test('apply to open files and channels', async () => {
    const { port } = await fixture.startServer({ limits: { handles: 3, channels: 2 } });
    const company = await fixture.company();
    const session = await openRawSession(port, company);
    onTestFinished(session.end);
    for (let i = 0; i < 3; i++) await session.open(`${i}.csv`);
    expect((await session.request(types.open, '4.csv', createFlags, 0)).text).toMatch(/Close some/);
    const channel = () =>
      new Promise<string | undefined>((resolve) =>
        session.client.subsys('sftp', (error) => resolve(error?.message)),
      );
    expect(await channel()).toBeUndefined();
    expect(await channel()).toMatch(/open/i);
    // The files of a channel are closed with it.
    session.stream.end();
    await until(async () => (await unfinished(company)) === 0);
    expect(await until(async () => (await channel()) === undefined)).toBe(true);
  });

  test('end a session without requests after the idle time', async () => {
    let now = Date.now();
    const { port, log } = await fixture.startServer({ now: () => now });
    const session = await openRawSession(port, acme);
    const ended = closed(session.client);
    now += sftpLimits.idleMs - 1000;
    await session.request(types.stat, '/');
    now += sftpLimits.idleMs - 1000;
    await session.request(types.stat, '/');
    now += sftpLimits.idleMs + 1;
    await ended;
    expect(log).toContainEqual(expect.objectContaining({ reason: 'idle' }));
  });
});

describe('arbitrary data from a client', () => {
  /** Returns whether the server still works and has logged no defect. */
  async function isHealthy(): Promise<boolean> {
    const session = await openRawSession(fixture.port, acme);
    const { mode } = await session.request(types.stat, '/');
    session.end();
    return mode === 0o040_700 && fixture.log.every(({ level }) => Number(level) < 50);
  }

  test('that is not SSH ends only its own connection', async () => {
    const greetings = [
      '',
      'SSH-2.0-x\r\n',
      'SSH-1.5-x\r\n',
      'GET / HTTP/1.1\r\n\r\n',
      '\0',
      '\r\n'.repeat(999),
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...greetings),
        fc.uint8Array({ maxLength: 3000, size: 'max' }),
        async (greeting, noise) => {
          const socket = await dial(fixture.port, unusedAddress());
          socket.write(greeting);
          socket.end(noise);
          await disconnected(socket);
        },
      ),
      cases(40),
    );
    // An impossible packet length, and a line that never ends.
    for (const bytes of ['SSH-2.0-x\r\n\xff\xff\xff\xff\xff', 'x'.repeat(100_000)]) {
      const socket = await dial(fixture.port, unusedAddress());
      socket.write(Buffer.from(bytes, 'latin1'));
      await disconnected(socket);
    }
    expect(await isHealthy()).toBe(true);
  });

  test('in SSH messages, before and after the login, ends only its own connection', async () => {
    const message = fc
      .tuple(
        fc.constantFrom(
          1,
          2,
          4,
          5,
          6,
          7,
          20,
          21,
          30,
          50,
          60,
          61,
          80,
          81,
          82,
          90,
          91,
          93,
          94,
          95,
          96,
          97,
          98,
          99,
        ),
        fc.uint8Array({ maxLength: 60 }),
      )
      .map(([type, rest]) => Buffer.from([type, ...rest]));
    await fc.assert(
      fc.asyncProperty(
        fc.array(message, { minLength: 1, maxLength: 20 }),
        fc.boolean(),
        async (messages, isIn) => {
          const client = new Client();
          client.on('error', () => {});
          const ended = closed(client);
          const { sock, username, password } = configOf(fixture.port, acme, unusedAddress());
          const ready = new Promise<void>((resolve) =>
            (client as EventEmitter).once(isIn ? 'ready' : 'handshake', () => resolve()),
          );
          client.connect({ sock, username, ...(isIn && { password }) });
          await Promise.race([ready, ended]);
          for (const one of messages) sendMessage(client, one);
          client.end();
          const late = setTimeout(() => sock.destroy(), 300);
          await ended;
          clearTimeout(late);
        },
      ),
      cases(50),
    );
    expect(await isHealthy()).toBe(true);
  });

  test('in SFTP requests gets a reply or ends only its own connection', async () => {
    const noise = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes));
    const framed = fc
      .tuple(fc.nat(25), noise)
      .map(([type, rest]) => Buffer.concat([Buffer.from([0, 0, 0, rest.length + 1, type]), rest]));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof({ weight: 9, arbitrary: framed }, noise), { maxLength: 40 }),
        async (packets) => {
          const session = await openRawSession(fixture.port, acme);
          const ended = Promise.race([closed(session.client), closed(session.stream)]);
          session.stream.end(Buffer.concat(packets));
          await ended;
          session.end();
        },
      ),
      cases(40),
    );
    expect(await isHealthy()).toBe(true);
  });

  test('with an invalid packet length ends the connection at once', async () => {
    for (const length of [0, 0x7fffffff, 0x80000000, 0xffffffff, 256 * 1024 + 1]) {
      const session = await openRawSession(fixture.port, acme);
      const ended = closed(session.client);
      const bytes = packet(types.stat, 1, '/');
      bytes.writeUInt32BE(length);
      session.stream.write(bytes);
      await ended;
    }
    expect(await isHealthy()).toBe(true);
  });

  test('gets a reply to each of many requests sent at once', async () => {
    const session = await openSession();
    const one = packet(types.stat, 7, '/');
    session.stream.write(Buffer.concat(Array.from({ length: 5000 }, () => one)));
    for (let i = 0; i < 5000; i++) expect((await session.next()).mode).toBe(0o040_700);
  });
});

/** Sends an SSH message as the client library sends its own messages, without checking its content. */
function sendMessage(client: Client, message: Buffer): void {
  type Inner = {
    _packetRW: { write: { allocStart: number; alloc(n: number): Buffer; finalize(packet: Buffer): Buffer } };
    _cipher: { encrypt(packet: Buffer): void };
  };
  try {
    const { _protocol: inner } = client as unknown as { _protocol: Inner };
    const { _packetRW: packets, _cipher: cipher } = inner;
    const start = packets.write.allocStart;
    const whole = packets.write.alloc(message.length);
    whole.set(message, start);
    cipher.encrypt(packets.write.finalize(whole));
  } catch {
    // The connection has already ended.
  }
}
