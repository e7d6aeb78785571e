// Uploads over SFTP: their content, size, names and temporary names.
import { once } from 'node:events';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { cases } from '../testing/house/cases.ts';
import { until } from '../testing/until.ts';
import { openRawSession, closed, type RawSession, logIn } from './sftp.fixture.ts';
import { createFlags, type Reply, types, code, packet } from './packets.fixture.ts';
import {
  fixture,
  users,
  tenMegabytes,
  openSession,
  namesOf,
  textOf,
  unfinished,
  put,
  statusOf,
  useSftpServer,
} from './server.fixture.ts';

useSftpServer();

describe('an upload', () => {
  test('becomes a file when it is closed, with a job that processes it', async () => {
    const company = await fixture.company();
    const [session, other] = [await openSession(company), await openSession(company)];
    const handle = await session.open('users.csv');
    expect((await session.request(types.write, handle, 0n, users)).code).toBe(code.ok);
    expect(await namesOf(company)).toEqual([]);
    expect((await session.request(types.stat, '/users.csv')).size).toBe(users.length);
    expect((await session.request(types.fstat, handle)).size).toBe(users.length);
    expect((await other.request(types.stat, '/users.csv')).code).toBe(code.noFile);
    expect((await session.request(types.close, handle)).code).toBe(code.ok);
    expect(await textOf(company, 'users.csv')).toBe(users.toString());
    expect(await other.request(types.lstat, 'users.csv')).toMatchObject({
      size: users.length,
      mode: 0o100_200,
    });
    const jobs = await fixture.pool`
      select from graphile_worker.jobs where key = ${`files ${company.id}`}`;
    expect(jobs).toHaveLength(1);
  });

  test('can be sent without waiting for replies, and the replies come in the order of the requests', async () => {
    const company = await fixture.company();
    const session = await openSession(company);
    const handle = Buffer.from([0, 0, 0, 1]);
    const chunk = Buffer.alloc(32 * 1024, 'a;b\n');
    const count = 40;
    session.stream.write(
      Buffer.concat([
        packet(types.open, 1, '/sent.csv', createFlags, 0),
        ...Array.from({ length: count }, (_, i) =>
          packet(types.write, 2 + i, handle, BigInt(i * chunk.length), chunk),
        ),
        packet(types.stat, 50, '/nothing.csv'),
        packet(types.fstat, 51, handle),
        packet(types.close, 52, handle),
        packet(types.lstat, 53, '/sent.csv'),
        packet(types.realpath, 54, '.'),
      ]),
    );
    const replies: Reply[] = [];
    for (let i = 0; i < count + 6; i++) replies.push(await session.next());
    expect(replies.map(({ id }) => id)).toEqual([
      ...Array.from({ length: count + 1 }, (_, i) => 1 + i),
      50,
      51,
      52,
      53,
      54,
    ]);
    expect(replies.at(-2)?.size).toBe(count * chunk.length);
    expect((await textOf(company, 'sent.csv'))?.length).toBe(count * chunk.length);
  });

  test('can be written in any order, and then contains what was written last', async () => {
    const length = 150_000; // so that writes and chunks do not align
    const write = fc.record({ at: fc.nat(9), letter: fc.constantFrom('a', 'b', 'c', 'd') });
    await fc.assert(
      fc.asyncProperty(fc.array(write, { minLength: 1, maxLength: 14 }), async (writes) => {
        const company = await fixture.company();
        const session = await openRawSession(fixture.port, company);
        const handle = await session.open('any.csv');
        const written: Buffer[] = [];
        for (const { at, letter } of writes) {
          written[at] = Buffer.alloc(length, `${letter}\n`);
          expect((await session.request(types.write, handle, BigInt(at * length), written[at])).code).toBe(
            code.ok,
          );
        }
        const isWhole = !Array.from(written).includes(undefined as never);
        expect((await session.request(types.close, handle)).code).toBe(isWhole ? code.ok : code.failure);
        session.end();
        const expected = isWhole ? Buffer.concat(written).toString() : undefined;
        expect((await textOf(company, 'any.csv')) === expected).toBe(true);
      }),
      {
        numRuns: 2 + cases(6).numRuns, // the examples count
        examples: [
          [[9, 8, 7, 6, 5, 4, 3, 2, 1, 0].map((at) => ({ at, letter: 'a' }))],
          [[1, 0, 3, 2, 5, 4, 7, 6, 0, 5].map((at, i) => ({ at, letter: i < 8 ? 'a' : 'b' }))],
        ],
      },
    );
  });

  test('with the same name replaces the file', async () => {
    const company = await fixture.company();
    const session = await openSession(company);
    await put(session, 'users.csv', Buffer.from('a;b\n'));
    await put(session, 'users.csv', Buffer.from('c;d\n'));
    expect(await namesOf(company)).toEqual(['users.csv']);
    expect(await textOf(company, 'users.csv')).toBe('c;d\n');
  });

  test.for(['hole.csv', 'hole.tmp'])(
    'with a gap is refused on closing, whatever its name: %s',
    async (name) => {
      const company = await fixture.company();
      const session = await openSession(company);
      const handle = await session.open(name);
      await session.request(types.write, handle, 0n, users);
      await session.request(types.write, handle, BigInt(users.length + 1), users);
      const reason = `The file is incomplete: the bytes from ${users.length + 1} on were not sent. Send it again.`;
      expect(statusOf(await session.request(types.close, handle))).toEqual([code.failure, reason]);
      expect(statusOf(await session.request(types.stat, name))).toEqual([code.failure, reason]);
      expect(await unfinished(company)).toBe(0);
    },
  );

  test('with more gaps than any client leaves is refused, on every later write and on closing', async () => {
    const company = await fixture.company();
    const session = await openSession(company);
    const handle = await session.open('pieces.csv');
    for (let i = 0; i < 1100; i++) {
      session.stream.write(packet(types.write, i, handle, BigInt(2 * i), Buffer.from('x')));
    }
    const replies: Reply[] = [];
    for (let i = 0; i < 1100; i++) replies.push(await session.next());
    const reason = [code.failure, 'Too many gaps in the file. Send the bytes in order.'];
    expect(replies.map((reply) => reply.code).indexOf(code.failure)).toBe(1001);
    expect(statusOf(replies.at(-1) as Reply)).toEqual(reason);
    expect(statusOf(await session.request(types.close, handle))).toEqual(reason);
    expect(await unfinished(company)).toBe(0);
  });

  test('of more than 10 MB is refused with the reason, also in reply to STAT, and no part of it is stored', async () => {
    const company = await fixture.company();
    const session = await openSession(company);
    const handle = await session.open('large.csv');
    const chunk = Buffer.alloc(256 * 1024 - 64, 'a;b\n');
    let offset = 0;
    for (; offset + chunk.length <= tenMegabytes; offset += chunk.length) {
      expect((await session.request(types.write, handle, BigInt(offset), chunk)).code).toBe(code.ok);
    }
    const rest = Buffer.alloc(tenMegabytes - offset, 'a;b\n');
    expect((await session.request(types.write, handle, BigInt(offset), rest)).code).toBe(code.ok);
    const beyond = await session.request(types.write, handle, BigInt(tenMegabytes), Buffer.from('x'));
    expect(beyond.text).toMatch(/larger than 10 MB/);
    const reason = [code.failure, beyond.text];
    expect(statusOf(beyond)).toEqual(reason);
    expect(statusOf(await session.request(types.write, handle, 0n, users))).toEqual(reason);
    expect(statusOf(await session.request(types.fstat, handle))).toEqual(reason);
    expect(statusOf(await session.request(types.close, handle))).toEqual(reason);
    expect(statusOf(await session.request(types.stat, 'large.csv'))).toEqual(reason);
    expect(await unfinished(company)).toBe(0);
    expect(fixture.log).toContainEqual(
      expect.objectContaining({ reason: beyond.text, accountId: company.id }),
    );
    // The name can be used again.
    expect((await put(session, 'large.csv')).code).toBe(code.ok);
    expect((await session.request(types.stat, 'large.csv')).size).toBe(users.length);
  });

  test('of exactly 10 MB is accepted', async () => {
    const company = await fixture.company();
    const client = await logIn(fixture.port, company);
    onTestFinished(async () => void (await client.end()));
    const bytes = Buffer.alloc(tenMegabytes, 'EmployeeID;FirstName\n');
    await client.put(bytes, '/full.csv');
    expect((await client.stat('/full.csv')).size).toBe(tenMegabytes);
    expect((await textOf(company, 'full.csv')) === bytes.toString()).toBe(true);
  });

  test.for([
    ['is empty', 'empty.csv', Buffer.alloc(0), /empty/],
    ['does not match its name', 'book.xlsx', users, /\.xlsx/],
  ] as const)(
    'that %s is refused on closing, and in reply to a later STAT',
    async ([, name, bytes, reason]) => {
      const company = await fixture.company();
      const session = await openSession(company);
      const reply = await put(session, name, bytes);
      expect(reply).toMatchObject({ code: code.failure, text: expect.stringMatching(reason) as string });
      expect(statusOf(await session.request(types.stat, name))).toEqual(statusOf(reply));
      expect(await namesOf(company)).toEqual([]);
      expect(await unfinished(company)).toBe(0);
    },
  );

  test('leaves nothing if the connection is lost', async () => {
    const company = await fixture.company();
    const session = await openRawSession(fixture.port, company);
    const handle = await session.open('users.csv');
    const chunk = Buffer.alloc(200_000, 'x');
    for (let i = 0; i < 3; i++) await session.request(types.write, handle, BigInt(i * chunk.length), chunk);
    expect(await unfinished(company)).toBe(1);
    session.stream.write(packet(types.write, 9, handle, 600_000n, chunk).subarray(0, 5000));
    session.client.destroy();
    await until(async () => (await unfinished(company)) === 0);
    const rows = await fixture.pool`select from file_chunks where account_id = ${company.id}`;
    expect([await namesOf(company), rows.length]).toEqual([[], 0]);
  });

  test('leaves nothing if the session ends before it is closed, and the client gets an exit status', async () => {
    const company = await fixture.company();
    const session = await openRawSession(fixture.port, company);
    await session.request(types.write, await session.open('users.csv'), 0n, users);
    const [exit, end] = [once(session.stream, 'exit'), closed(session.stream)];
    session.stream.end();
    expect((await exit)[0]).toBe(0);
    await end;
    session.end();
    expect([await namesOf(company), await unfinished(company)]).toEqual([[], 0]);
  });
});

describe('a file name', () => {
  test.for([
    ['users.exe', /\.csv, \.xls or \.xlsx/],
    ['users', /\.csv, \.xls or \.xlsx/],
    ['.users.csv', /dot/],
    [`${'x'.repeat(300)}.csv`, /200 bytes/],
    ['a\u0007b.csv', /invisible characters/],
    ['\u202Evsc.exe.csv', /invisible characters/],
    ['..\\..\\users.csv', /must not contain/],
    ['a|b.csv', /must not contain/],
    [' users.csv', /space/],
    [`${'x'.repeat(300)}.tmp`, /200 bytes/],
  ] as const)('%j is refused with the reason, also in reply to STAT', async ([name, reason]) => {
    const session = await openSession();
    const opened = await session.request(types.open, `/${name}`, createFlags, 0);
    expect(opened).toMatchObject({ code: code.failure, text: expect.stringMatching(reason) as string });
    expect(statusOf(await session.request(types.stat, `/${name}`))).toEqual(statusOf(opened));
    // The quoted part of the name contains no invisible characters.
    expect(opened.text).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });

  test('that is not UTF-8 is refused with the reason', async () => {
    const session = await openSession();
    const latin = Buffer.from('Löner.csv', 'latin1');
    expect(statusOf(await session.request(types.open, latin, createFlags, 0))).toEqual([
      code.failure,
      'The file name is not valid UTF-8.',
    ]);
  });

  test('is found in any Unicode normalization that the client uses', async () => {
    const company = await fixture.company();
    const session = await openSession(company);
    expect((await put(session, 'Löner.csv'.normalize('NFD'))).code).toBe(code.ok);
    expect(await namesOf(company)).toEqual(['Löner.csv'.normalize('NFC')]);
    expect((await session.request(types.stat, 'Löner.csv'.normalize('NFD'))).size).toBe(users.length);
  });

  test('of another account is not found', async () => {
    const [one, other] = [await fixture.company(), await fixture.company()];
    await put(await openSession(one), 'secret.csv');
    await put(await openSession(one), 'secret.tmp');
    const session = await openSession(other);
    expect((await session.request(types.stat, 'secret.csv')).code).toBe(code.noFile);
    expect((await session.request(types.stat, 'secret.tmp')).code).toBe(code.noFile);
    expect((await session.request(types.rename, 'secret.tmp', 'mine.csv')).code).toBe(code.noFile);
    expect((await session.request(types.remove, 'secret.tmp')).code).toBe(code.noFile);
  });
});

describe('a temporary name', () => {
  const uuid = '123e4567-e89b-12d3-a456-426614174000';
  const names = [
    'users.csv.filepart',
    'users.csv.partial',
    'users.csv.1a2b3c4d.partial',
    '.in.users.csv',
    'users.csv.part',
    'users.csv.tmp',
    `users.csv-${uuid}`,
    uuid,
  ];

  test.for(names)('%s becomes a file when it is renamed, in any session of the token', async (name) => {
    const company = await fixture.company();
    const [session, other] = [await openSession(company), await openSession(company)];
    expect((await put(session, name)).code).toBe(code.ok);
    expect(await namesOf(company)).toEqual([]);
    const listed = async (one: RawSession) => {
      const { handle } = await one.request(types.opendir, '/');
      return (await one.request(types.readdir, handle as Buffer)).names?.map((entry) => entry.name);
    };
    expect(await listed(session)).toContain(name);
    expect(await listed(other)).toEqual(['.', '..']);
    expect((await other.request(types.stat, name)).size).toBe(users.length);
    // WinSCP and lftp remove the old file right before.
    expect((await session.request(types.remove, 'users.csv')).code).toBe(code.ok);
    expect((await session.request(types.remove, 'groups.csv')).code).toBe(
      name === uuid ? code.ok : code.denied,
    );
    expect((await other.request(types.rename, name, '/users.csv')).code).toBe(code.ok);
    expect(await textOf(company, 'users.csv')).toBe(users.toString());
    expect((await other.request(types.stat, name)).code).toBe(code.noFile);
  });

  test('can be changed to another temporary name, or be removed', async () => {
    const company = await fixture.company();
    const session = await openSession(company);
    await put(session, 'one.tmp');
    expect((await session.request(types.rename, 'one.tmp', 'two.tmp')).code).toBe(code.ok);
    expect((await session.request(types.stat, 'one.tmp')).code).toBe(code.noFile);
    expect((await session.request(types.stat, 'two.tmp')).size).toBe(users.length);
    expect((await session.request(types.remove, 'two.tmp')).code).toBe(code.ok);
    expect(await unfinished(company)).toBe(0);
  });

  test('contains what was written last', async () => {
    const company = await fixture.company();
    const session = await openSession(company);
    await put(session, 'users.csv.part', Buffer.from('a;b\n'));
    await put(session, 'users.csv.part', Buffer.from('c;d\n'));
    expect(await unfinished(company)).toBe(1);
    await session.request(types.rename, 'users.csv.part', 'users.csv');
    expect(await textOf(company, 'users.csv')).toBe('c;d\n');
    expect((await session.request(types.stat, 'users.csv.part')).code).toBe(code.noFile);
  });

  test('cannot be changed to an invalid name, and stays available for a valid one', async () => {
    const company = await fixture.company();
    const session = await openSession(company);
    await put(session, 'users.tmp');
    const renamed = await session.request(types.rename, 'users.tmp', 'users.exe');
    expect(renamed.text).toMatch(/\.csv, \.xls or \.xlsx/);
    expect(statusOf(await session.request(types.stat, 'users.exe'))).toEqual(statusOf(renamed));
    expect((await session.request(types.rename, 'users.tmp', 'users.csv')).code).toBe(code.ok);
  });

  test('is refused and deleted if the content does not match the final name', async () => {
    const company = await fixture.company();
    const session = await openSession(company);
    await put(session, 'users.tmp');
    const renamed = await session.request(types.rename, 'users.tmp', 'users.xlsx');
    expect(renamed).toMatchObject({ code: code.failure, text: expect.stringMatching(/\.xlsx/) as string });
    expect((await session.request(types.rename, 'users.tmp', 'users.csv')).code).toBe(code.noFile);
    expect(await unfinished(company)).toBe(0);
  });

  test('cannot be renamed or removed while it is being written', async () => {
    const session = await openSession();
    const handle = await session.open('busy.tmp');
    expect((await session.request(types.rename, 'busy.tmp', 'busy.csv')).text).toMatch(/still being written/);
    expect((await session.request(types.remove, 'busy.tmp')).text).toMatch(/still being written/);
    await session.request(types.close, handle);
  });
});
