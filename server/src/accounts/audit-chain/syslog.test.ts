// The audit log over syslog: a real TLS server gets every entry at least once and in order, whatever breaks.
import type { AuditRecord } from '@soundings/contract/audit/audit.ts';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openLog } from '../../base/log.ts';
import { syslogAddressOf } from '../../base/messages/syslog.ts';
import { certificate } from '../../mail/certificate.fixture.ts';
import { cases } from '../../testing/house/cases.ts';
import { openLogLines } from '../../testing/log-lines.ts';
import { openTestDatabase, type TestDatabase } from '../../testing/database.ts';
import { createAccount } from '../accounts.ts';
import { inTransaction } from '../../db/db.ts';
import { audit } from '../audit.ts';
import { chainAllEntries } from './chain.ts';
import { start } from './record.ts';
import { sendAuditEntries } from './syslog.ts';
import { selectUnsent } from './syslog.sql.ts';
import { chainFault } from './verify.ts';

type Pair = { cert: string; key: string };
let database: TestDatabase;
let right: Pair;
let wrong: Pair;
beforeAll(async () => {
  database = await openTestDatabase();
  right = (await certificate({ name: 'IP:127.0.0.1' })) as Pair;
  wrong = (await certificate({ name: 'IP:127.0.0.2' })) as Pair;
});
afterAll(() => database.close());

/** How the receiver treats a connection: reads all, resets it immediately or after some messages, as if it were killed, or stays silent. */
type Behaviour = { reset?: number; isRefused?: boolean; isSilent?: boolean };
type Receiver = { port: number; messages: string[]; close(): Promise<void> };

async function receive(pair: Pair, port = 0, behaviours: Behaviour[] = []): Promise<Receiver> {
  const messages: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((raw) => {
    sockets.add(raw.on('error', () => {}));
    const { reset, isRefused, isSilent } = behaviours.shift() ?? {};
    if (isSilent) return;
    if (isRefused) return void raw.resetAndDestroy();
    const socket = new TLSSocket(raw, { isServer: true, ...pair }).on('error', () => {});
    let bytes: Buffer = Buffer.alloc(0);
    let count = 0;
    socket.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      for (let frame = nextFrame(bytes); frame; frame = nextFrame(bytes)) {
        if (count === reset) return void raw.resetAndDestroy();
        messages.push(frame.message);
        bytes = frame.rest;
        count++;
      }
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    messages,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Returns the first message of RFC 5425: its length in octets, a space, and the message. */
function nextFrame(bytes: Buffer): { message: string; rest: Buffer } | undefined {
  const length = /^[1-9]\d* /.exec(bytes.subarray(0, 12).toString('latin1'))?.[0];
  if (length === undefined) return undefined;
  const end = length.length + Number(length);
  if (bytes.length < end) return undefined;
  return { message: bytes.subarray(length.length, end).toString(), rest: bytes.subarray(end) };
}

const rfc5424 =
  /^<110>1 (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z) surveys\.example\.com soundings - audit - (\{.*\})$/s;
const recordIn = (message: string) => {
  const [, at, json = ''] = rfc5424.exec(message) ?? [message];
  const record = JSON.parse(json) as AuditRecord;
  expect(record.at).toBe(at);
  return record;
};

const newAccount = async () =>
  (await inTransaction(database.pool, (tx) => createAccount(tx, { name: 'Test' }))).id;
const write = (accountId: number, subject: string) =>
  audit(database.pool, accountId, { origin: 'service' }, 'run applied', {
    subject,
    details: { text: 'é…😀' },
  });
const send = async (port: number, ca = right.cert, log = openLog('silent')) => {
  await chainAllEntries(database.pool);
  const target = { server: { host: '127.0.0.1', port, ca }, sender: 'surveys.example.com', timeoutMs: 500 };
  await sendAuditEntries(database.pool, target, log);
};
const unsent = async () => (await selectUnsent(database.pool)).count;

test('every entry of every account is sent once if nothing breaks, and a later run sends only new ones', async () => {
  const receiver = await receive(right);
  const [one, other] = [await newAccount(), await newAccount()];
  for (let n = 0; n < 600; n++) await write(one, String(n));
  await write(other, 'ä');
  expect(await unsent()).toBeGreaterThan(600);
  await send(receiver.port);
  expect(await unsent()).toBe(0);
  const records = receiver.messages.map(recordIn);
  for (const account of [one, other]) {
    const own = records.filter(({ accountId }) => accountId === account);
    expect(own.map((record, i) => chainFault(own[i - 1] ?? start, record)).every((fault) => !fault)).toBe(
      true,
    );
    expect(own.at(-1)?.subject).toBe(account === one ? '599' : 'ä');
  }
  await write(one, 'new');
  await send(receiver.port);
  expect(recordIn(receiver.messages.at(-1) as string).subject).toBe('new');
  expect(receiver.messages).toHaveLength(records.length + 1);
  await receiver.close();
});

test.each([
  ['has a certificate that is not trusted', () => wrong, () => right.cert],
  ['has a certificate for another address', () => wrong, () => wrong.cert],
])('nothing is sent to a server that %s, and the log says so', async (_, served, trusted) => {
  const receiver = await receive(served());
  await write(await newAccount(), 'secret');
  const before = await unsent();
  const { log, lines } = openLogLines();
  await send(receiver.port, trusted(), log);
  expect(receiver.messages).toEqual([]);
  expect(await unsent()).toBe(before);
  expect(JSON.stringify(lines)).toContain(`127.0.0.1:${receiver.port}`);
  await receiver.close();
});

test('a server that is silent delays nothing but the entries: the job ends, and they are sent later', async () => {
  const silent = await receive(right, 0, [{ isSilent: true }]);
  const account = await newAccount();
  await write(account, 'late');
  await send(silent.port);
  expect(await unsent()).toBeGreaterThan(0);
  await send(silent.port);
  expect(await unsent()).toBe(0);
  await silent.close();
});

test('an account whose log was changed in the database delays no other account, and the log of the service names it', async () => {
  const receiver = await receive(right);
  const [broken, other] = [await newAccount(), await newAccount()];
  await write(broken, 'first');
  await send(receiver.port);
  const { pool } = database;
  await pool.begin(async (tx) => {
    await tx`alter table audit_entries disable trigger user`;
    await tx`delete from audit_entries where account_id = ${broken}`;
    await tx`alter table audit_entries enable trigger user`;
  });
  await write(broken, 'after the change');
  await write(other, 'unharmed');
  const { log, lines } = openLogLines();
  await send(receiver.port, right.cert, log);
  const subjects = receiver.messages.map(recordIn).map(({ subject }) => subject);
  expect(subjects).toContain('unharmed');
  expect(subjects).not.toContain('after the change');
  expect(lines).toEqual([
    expect.objectContaining({ accountId: broken, msg: expect.stringContaining('soundings audit verify') }),
  ]);
  // So that it doesn't disturb the other tests.
  await pool`update audit_syslog_cursors set position = (select position from audit_heads where account_id = ${broken})
             where account_id = ${broken}`;
  expect(await unsent()).toBe(0);
  await receiver.close();
});

test('whatever breaks and restarts, every entry arrives at least once, and first arrivals are in order', async () => {
  const behaviour: fc.Arbitrary<Behaviour> = fc.oneof(
    fc.constant({}),
    fc.record({ reset: fc.nat(20) }),
    fc.constant({ isRefused: true }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(15), fc.array(behaviour, { maxLength: 3 })), { minLength: 1, maxLength: 4 }),
      async (starts) => {
        const account = await newAccount();
        const [written, messages]: [string[], string[]] = [[], []];
        for (const [entries, behaviours] of [...starts, [1, []] as const]) {
          const receiver = await receive(right, 0, [...behaviours]);
          for (let n = 0; n < entries; n++) {
            written.push(String(written.length));
            await write(account, written.at(-1) as string);
          }
          // Two processes send at the same time.
          await Promise.all([send(receiver.port), send(receiver.port)]);
          messages.push(...receiver.messages);
          await receiver.close();
        }
        const last = await receive(right);
        await send(last.port);
        messages.push(...last.messages);
        await last.close();
        expect(await unsent()).toBe(0);
        const subjects = messages
          .map(recordIn)
          .filter((record) => record.accountId === account && record.action === 'run applied')
          .map(({ subject }) => subject);
        expect([...new Set(subjects)]).toEqual(written);
      },
    ),
    cases(12),
  );
});

test.each([
  ['tls://logs.example.com', { host: 'logs.example.com', port: 6514 }],
  ['tls://[::1]:7000/', { host: '::1', port: 7000 }],
  ['tcp://logs.example.com', undefined],
  ['tls://user:x@logs.example.com', undefined],
  ['tls://logs.example.com/path', undefined],
  ['logs.example.com:6514', undefined],
])('the address %s', (text, expected) => expect(syslogAddressOf(text)).toEqual(expected));
