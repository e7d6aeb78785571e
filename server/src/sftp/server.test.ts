// SFTP as a client sees it: who may come in, what each request gets, and what no client can do to the service.
import { execFileSync } from 'node:child_process';
import { type EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { Client } from 'ssh2';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { changeAccount } from '../accounts/accounts.ts';
import { createToken, revokeToken } from '../accounts/tokens.ts';
import { inTransaction, openPool } from '../db/db.ts';
import { until } from '../testing/until.ts';
import { openLog } from '../base/log.ts';
import { type Entry, openSftpLimiter, sftpLimits } from './limits.ts';
import { hostKeys } from './host-keys.ts';
import { proxyHeader } from './proxy-header.ts';
import {
  createFlags,
  type Answer,
  ask,
  openRawSession,
  closed,
  code,
  type Company,
  configOf,
  dial,
  type SftpFixture,
  unusedAddress,
  gone,
  type RawSession,
  logIn,
  logInBare,
  openSftpFixture,
  packet,
} from './sftp.fixture.ts';
import { packetReader, type Request } from './packets.ts';
import { contentOf, selectFiles } from '../files/store.ts';

const failureMs = 250;

let fixture: SftpFixture;
let acme: Company;
beforeAll(async () => {
  fixture = await openSftpFixture({ limits: { failureMs } });
  acme = await fixture.company();
});
afterAll(() => fixture.close());

const users = Buffer.from('EmployeeID;FirstName\r\n1;Åsa\r\n');
const tenMegabytes = 10 * 1024 * 1024;

async function session(company = acme): Promise<RawSession> {
  const hand = await openRawSession(fixture.port, company);
  onTestFinished(hand.end);
  return hand;
}

const namesOf = async ({ id }: Company) => (await selectFiles(fixture.pool, id)).map(({ name }) => name);

async function textOf({ id }: Company, name: string): Promise<string | undefined> {
  const file = (await selectFiles(fixture.pool, id)).find((one) => one.name === name);
  return file && (await contentOf(fixture.pool, id, file.id)).toString();
}

/** Uploads that have not become files. */
async function unfinished({ id }: Company): Promise<number> {
  const rows = await fixture.pool`select from files where account_id = ${id} and arrival is null`;
  return rows.length;
}

async function put(hand: RawSession, name: string, bytes: Buffer = users): Promise<Answer> {
  const handle = await hand.open(name);
  await hand.ask(ask.write, handle, 0n, bytes);
  return hand.ask(ask.close, handle);
}

const told = ({ code: status, text }: Answer) => [status, text];
const refusal = 'Files can only be uploaded and listed';

describe('logging in', () => {
  test('a user name and a token with the scope files open a session, by password or as an answer', async () => {
    const byPassword = await logIn(fixture.port, acme);
    onTestFinished(() => void byPassword.end());
    expect(await byPassword.list('/')).toEqual([]);

    const client = new Client();
    onTestFinished(() => void client.end());
    const { password, ...config } = configOf(fixture.port, acme);
    const asked = new Promise((resolve) => {
      client.on('keyboard-interactive', (_name, _text, _language, prompts, answer) => {
        answer([String(password)]);
        resolve(prompts);
      });
    });
    const ready = once(client, 'ready');
    client.connect({ ...config, tryKeyboard: true });
    expect(await asked).toEqual([{ prompt: 'Password: ', echo: false }]);
    await ready;
  });

  test('every refusal has the same words and takes the same time', async () => {
    const other = await fixture.company();
    const { token: forData } = await createToken(fixture.pool, acme.id, { name: 'x', scopes: ['data'] });
    const old = await createToken(fixture.pool, acme.id, {
      name: 'x',
      scopes: ['files'],
      expires: '2020-01-01',
    });
    const revoked = await createToken(fixture.pool, acme.id, { name: 'x', scopes: ['files'] });
    await revokeToken(fixture.pool, acme.id, revoked.id);
    const fenced = await fixture.company({ allow: ['192.0.2.0/24'] });
    const refused = await Promise.all(
      [
        { ...acme, username: 'nobody' },
        { ...acme, username: 'null\0byte' },
        { ...acme, token: `${acme.token.slice(0, -1)}_` },
        { ...acme, token: '' },
        { ...acme, token: other.token },
        { ...acme, token: forData },
        { ...acme, token: old.token },
        { ...acme, token: revoked.token },
        fenced,
      ].map(async (wrong) => {
        const begun = performance.now();
        const error = await logInBare(fixture.port, wrong, { from: unusedAddress() }).catch(
          (thrown: Error) => thrown,
        );
        return { message: (error as Error).message, ms: performance.now() - begun };
      }),
    );
    expect(new Set(refused.map(({ message }) => message))).toEqual(
      new Set(['All configured authentication methods failed']),
    );
    for (const { ms } of refused) expect(ms).toBeGreaterThan(failureMs - 2);
    const reasons = fixture.log.filter(({ msg }) => msg === 'SFTP login refused');
    expect(reasons.map(({ reason }) => reason).toSorted()).toEqual([
      'address not allowed',
      ...Array.from({ length: 8 }, () => 'user name or token'),
    ]);
  });

  test('three tokens may be tried on a connection; whatever is sent after them is not looked at', async () => {
    const { port, log } = await fixture.another({ limits: { failureMs: 20 } });
    const client = new Client();
    client.on('error', () => {});
    let tries = 0;
    const { sock, username } = configOf(port, acme);
    client.connect({
      sock,
      username,
      authHandler: () => ({
        type: 'password',
        username,
        password: ++tries > 3 ? acme.token : `wrong ${tries}`,
      }),
    });
    await closed(client);
    expect(log.filter(({ msg }) => msg === 'SFTP login refused')).toHaveLength(3);
    expect(log.some(({ msg }) => msg === 'SFTP login')).toBe(false);
  });

  test('neither keys nor nothing open a session, and both are told what does', async () => {
    const client = new Client();
    const methods: unknown[] = [];
    const { sock, username } = configOf(fixture.port, acme, unusedAddress());
    client.on('error', () => {});
    client.connect({
      sock,
      username,
      authHandler: (left, _partial, next) => {
        methods.push(left);
        next(methods.length === 1 ? 'none' : (false as never));
      },
    });
    await closed(client);
    expect(methods).toEqual([null, ['password', 'keyboard-interactive']]);
  });

  test('a token is in no line of the log, not even where it was sent as the user name', async () => {
    const wrong = { ...acme, username: acme.token };
    await logInBare(fixture.port, wrong, { from: unusedAddress() }).catch(() => {});
    const hand = await session();
    await put(hand, 'logged.csv');
    const text = JSON.stringify(fixture.log);
    expect(text).not.toContain(acme.token);
    expect(fixture.log).toContainEqual(
      expect.objectContaining({ msg: 'SFTP login', accountId: acme.id, tokenId: acme.tokenId }),
    );
    expect(fixture.log).toContainEqual(
      expect.objectContaining({ msg: 'File received', address: '127.0.0.1', size: users.length }),
    );
  });

  test.for([
    ['the token is revoked', (one: Company) => revokeToken(fixture.pool, one.id, one.tokenId)],
    [
      'the token expires',
      (one: Company) => fixture.pool`update tokens set expires_at = now() where account_id = ${one.id}`,
    ],
    [
      'the token loses its scope',
      (one: Company) => fixture.pool`update tokens set scopes = '{data}' where account_id = ${one.id}`,
    ],
    [
      'the address is no longer allowed',
      (one: Company) =>
        inTransaction(fixture.pool, (tx) => changeAccount(tx, one.id, { allow: ['2001:db8::/32'] })),
    ],
  ] as const)(
    'an open session ends within a second when %s, and nothing is left of its upload',
    async ([, spoil]) => {
      const company = await fixture.company();
      const hand = await openRawSession(fixture.port, company);
      await hand.ask(ask.write, await hand.open('users.csv'), 0n, users);
      const ended = closed(hand.client);
      await spoil(company);
      const begun = performance.now();
      await ended;
      expect(performance.now() - begun).toBeLessThan(1500); // a second, and a busy machine
      await until(async () => (await unfinished(company)) === 0);
      expect(await namesOf(company)).toEqual([]);
    },
  );
});

describe('before a log-in', () => {
  test('so many may wait and no more, and all are gone after their time', async () => {
    const { port, log } = await fixture.another({ limits: { unauthenticated: 5, loginMs: 600 } });
    const six = [];
    // oxlint-disable-next-line no-await-in-loop -- one after another
    for (let i = 0; i < 6; i++) six.push(await dial(port, `127.0.0.${10 + i}`));
    await Promise.race(six.map(gone));
    expect(log).toContainEqual(expect.objectContaining({ reason: 'too many not logged in' }));
    six[0]?.write('SSH-2.0-'); // one that has begun, and one that goes on
    six[1]?.write('SSH-2.0-test\r\n');
    await Promise.all(six.map(gone));
    expect(log.filter(({ reason }) => reason === 'login timeout')).toHaveLength(5);
    await logInBare(port, acme).then((client) => client.end());
  });

  test('who says nothing at all is gone sooner than who has begun', async () => {
    const { port, log } = await fixture.another({ limits: { greetingMs: 300 } });
    const [silent, begun] = [await dial(port, '127.0.0.2'), await dial(port, '127.0.0.3')];
    begun.write('SSH-2.0-test\r\n');
    await gone(silent);
    expect(log).toContainEqual(expect.objectContaining({ reason: 'login timeout', address: '127.0.0.2' }));
    expect(begun.destroyed).toBe(false);
    begun.destroy();
  });

  test('silent connections of three addresses, as many as they can open, keep no one else out', async () => {
    const { port } = await fixture.another({});
    const attackers = [];
    for (let i = 0; i < 120; i++)
      // oxlint-disable-next-line no-await-in-loop -- one after another
      attackers.push(await dial(port, `127.0.0.${2 + (i % 3)}`));
    await expect(logInBare(port, acme).then((client) => client.end())).resolves.toBeDefined();
    for (const socket of attackers) socket.destroy();
  });

  test('so many may come from one address, and so many in all', async () => {
    const { port, log } = await fixture.another({ limits: { perAddress: 2, connections: 3 } });
    const here = [await dial(port), await dial(port)];
    await gone(await dial(port));
    const there = await dial(port, '127.0.0.2');
    await gone(await dial(port, '127.0.0.3'));
    expect(log.filter(({ msg }) => msg === 'SFTP connections refused')).not.toEqual([]);
    here[0]?.destroy();
    await until(async () => log.some(({ msg }) => msg === 'SFTP connection closed'));
    const again = await dial(port);
    again.write('SSH-2.0-test\r\n');
    await until(async () => again.received.length > 0);
    for (const socket of [...here, there, again]) socket.destroy();
  });

  test('one address cannot take all places, and after failures it waits longer and longer, for a while', () => {
    let now = 1e9;
    const limiter = openSftpLimiter(
      { ...sftpLimits, unauthenticated: 10, unauthenticatedPerAddress: 4 },
      () => now,
    );
    const enter = (address: string) => limiter.enter(address, () => {}) as Entry;
    const waitOf = (address: string) => {
      const entry = enter(address);
      entry.left();
      return entry.waitMs;
    };
    for (let i = 0; i < 4; i++) expect(enter(`2001:db8::${i}`).waitMs).toBe(0);
    expect(enter('2001:0db8:0:0:ffff::')).toBe('too many from this address'); // the same /64
    expect(waitOf('2001:db8:0:1::1')).toBe(0);

    const bad = enter('192.0.2.1');
    for (let i = 0; i < 5; i++) bad.failed();
    expect(waitOf('192.0.2.1')).toBe(0);
    for (let i = 0; i < 2; i++) bad.failed();
    expect(waitOf('::ffff:192.0.2.1')).toBe(1000);
    for (let i = 0; i < 1000; i++) bad.failed();
    expect(waitOf('192.0.2.1')).toBe(10_000);
    expect(waitOf('192.0.2.2')).toBe(0);
    now += 10 * 60_000 + 1;
    expect(waitOf('192.0.2.1')).toBe(0);
    expect([limiter.open, limiter.unauthenticated]).toEqual([5, 5]);
  });

  test('early drops fall on the sources with most connections, ever more often, and never on others', () => {
    const limits = { ...sftpLimits, unauthenticated: 100, earlyDropFrom: 50, unauthenticatedPerAddress: 100 };
    let chance = 0.99;
    const limiter = openSftpLimiter(
      limits,
      () => 0,
      () => chance,
    );
    const dropped: string[] = [];
    const enter = (address: string) => limiter.enter(address, () => dropped.push(address));
    for (let i = 0; i < 99; i++) enter('192.0.2.1');
    expect([dropped.length, limiter.unauthenticated]).toEqual([0, 99]);
    chance = 0.5;
    expect(enter('192.0.2.2')).toBeTypeOf('object');
    expect([dropped, limiter.unauthenticated]).toEqual([['192.0.2.1'], 99]);
    chance = 0;
    expect(enter('192.0.2.2')).toBeTypeOf('object');
    expect(dropped).toEqual(['192.0.2.1', '192.0.2.1']);
    chance = 0.999;
    expect(enter('192.0.2.1')).toBeTypeOf('object'); // there is a place
    expect(limiter.unauthenticated).toBe(100);
    expect(enter('192.0.2.1')).toBe('too many not logged in'); // it is of the source with most, and was chosen
    expect(dropped).toHaveLength(2);
    // Of two hundred addresses with one connection each, every one may have to go.
    const even = openSftpLimiter(
      limits,
      () => 0,
      () => chance,
    );
    for (let i = 0; i < 100; i++) even.enter(`198.51.100.${i}`, () => dropped.push('even'));
    chance = 0.5;
    expect(even.enter('203.0.113.1', () => {})).toBeTypeOf('object');
    expect(dropped.at(-1)).toBe('even');
  });

  test('an address whose connections run out of time is refused for a while, unless there was a log-in from it', () => {
    let now = 1e9;
    const limiter = openSftpLimiter(sftpLimits, () => now);
    const enter = (address: string) => limiter.enter(address, () => {}) as Entry;
    const timedOut = (address: string, times: number) => {
      const entries = Array.from({ length: times }, () => enter(address));
      for (const entry of entries) {
        entry.timedOut();
        entry.left();
      }
    };
    timedOut('192.0.2.1', 1);
    expect(enter('192.0.2.1')).toBeTypeOf('object');
    timedOut('192.0.2.1', 4);
    expect(enter('192.0.2.1')).toBe('too many ran out of time');
    expect(enter('192.0.2.2')).toBeTypeOf('object');
    now += 36_000;
    expect(enter('192.0.2.1')).toBeTypeOf('object');
    timedOut('192.0.2.1', 38);
    now += 5 * 60_000;
    expect(enter('192.0.2.1')).toBeTypeOf('object');

    enter('192.0.2.3').loggedIn();
    timedOut('192.0.2.3', 30);
    expect(enter('192.0.2.3')).toBeTypeOf('object');
  });

  test('what is held against an address is not forgotten because others come', () => {
    const limiter = openSftpLimiter(
      { ...sftpLimits, unauthenticated: 1e6, earlyDropFrom: 1e6, connections: 1e6 },
      () => 1e9,
    );
    const fail = (address: string, times: number) => {
      const entry = limiter.enter(address, () => {}) as Entry;
      for (let i = 0; i < times; i++) entry.failed();
      entry.left();
    };
    fail('192.0.2.1', 20);
    for (let i = 0; i < 70_000; i++) fail(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`, 1);
    expect((limiter.enter('192.0.2.1', () => {}) as Entry).waitMs).toBe(7500);
  });

  test('whoever waits is served when the time has come', async () => {
    const { port } = await fixture.another({ limits: { failureMs: 1 } });
    const wrong = { ...acme, token: 'wrong' };
    for (let i = 0; i < 6; i++) await logInBare(port, wrong).catch(() => {});
    const begun = performance.now();
    const client = await logInBare(port, acme);
    expect(performance.now() - begun).toBeGreaterThan(490);
    client.end();
  });
});

describe('behind a proxy', () => {
  const v1 = Buffer.from('PROXY TCP4 192.0.2.9 127.0.0.1 1234 22\r\n');
  const v2 = Buffer.concat([
    Buffer.from('0d0a0d0a000d0a515549540a', 'hex'),
    Buffer.from('2111000c', 'hex'),
    Buffer.from([192, 0, 2, 9, 127, 0, 0, 1, 4, 210, 0, 22]),
  ]);

  test('the address that a trusted proxy tells is the one that counts', async () => {
    const { port } = await fixture.another({ trustProxy: ['127.0.0.0/8'] });
    const company = await fixture.company({ allow: ['192.0.2.9'] });
    for (const header of [v1, v2]) {
      const { sock } = configOf(port, company);
      sock.write(header);
      const client = await logInBare(port, company, { sock });
      client.end();
    }
    await expect(logInBare(port, company)).rejects.toThrow('authentication');
  });

  test('nobody else can tell an address', async () => {
    const { port, log } = await fixture.another({ trustProxy: ['192.0.2.0/24'] });
    const socket = await dial(port);
    socket.write(v1);
    await gone(socket);
    expect(log).toContainEqual(
      expect.objectContaining({ msg: 'SFTP connection opened', address: '127.0.0.1' }),
    );
  });

  test('a header is read however it is cut, and nothing else is taken for one', () => {
    const address = (bytes: Buffer) => {
      const header = proxyHeader(bytes);
      return typeof header === 'string' ? header : [header.length, header.address];
    };
    for (const header of [v1, v2]) {
      for (let i = 0; i < header.length; i++) expect(address(header.subarray(0, i))).toBe('more');
      expect(address(Buffer.concat([header, Buffer.from('SSH-')]))).toEqual([header.length, '192.0.2.9']);
    }
    const v6 = Buffer.concat([
      v2.subarray(0, 12),
      Buffer.from('21210024', 'hex'),
      Buffer.from('20010db8000000000000000000000001', 'hex'),
      Buffer.alloc(20),
    ]);
    expect(address(v6)).toEqual([52, '2001:db8:0:0:0:0:0:1']);
    expect(address(Buffer.from('PROXY UNKNOWN\r\n'))).toEqual([15, undefined]);
    expect(address(Buffer.from('SSH-2.0-OpenSSH_9.2\r\n'))).toBe('none');
    expect(address(Buffer.from(`PROXY ${'x'.repeat(200)}`))).toBe('none');
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), fc.constantFrom(v1, v2, v6), (tail, header) => {
        address(Buffer.from(tail));
        address(Buffer.concat([header.subarray(0, 12), tail]));
      }),
    );
  });
});

describe('what is offered', () => {
  test('only what is safe, with strict key exchange, and never SHA-1', async () => {
    const socket = await dial(fixture.port, unusedAddress());
    onTestFinished(() => void socket.destroy());
    socket.write('SSH-2.0-test\r\n');
    const offer = await until(async () => {
      const begin = socket.received.indexOf('\r\n') + 2;
      const bytes = socket.received.subarray(begin);
      return begin > 1 && bytes.length > 4 && bytes.length >= 4 + bytes.readUInt32BE(0) && bytes;
    });
    expect(socket.received.toString('latin1').split('\r\n')[0]).toBe('SSH-2.0-Soundings');
    let at = 5 + 1 + 16; // length, padding, type, cookie
    const lists = Array.from({ length: 8 }, () => {
      const length = offer.readUInt32BE(at);
      at += 4 + length;
      return offer.toString('latin1', at - length, at).split(',');
    });
    const ciphers = [
      'aes256-gcm@openssh.com',
      'aes128-gcm@openssh.com',
      'aes256-ctr',
      'aes192-ctr',
      'aes128-ctr',
    ];
    const macs = [
      'hmac-sha2-256-etm@openssh.com',
      'hmac-sha2-512-etm@openssh.com',
      'hmac-sha2-256',
      'hmac-sha2-512',
    ];
    expect(lists).toEqual([
      [
        'curve25519-sha256',
        'curve25519-sha256@libssh.org',
        'diffie-hellman-group16-sha512',
        'diffie-hellman-group18-sha512',
        'diffie-hellman-group14-sha256',
        'kex-strict-s-v00@openssh.com',
      ],
      ['ssh-ed25519', 'rsa-sha2-512', 'rsa-sha2-256'],
      ciphers,
      ciphers,
      macs,
      macs,
      ['none'],
      ['none'],
    ]);
  });

  test('each of the host keys signs', async () => {
    for (const kind of ['ssh-ed25519', 'rsa-sha2-512', 'rsa-sha2-256'] as const) {
      const client = await logInBare(fixture.port, acme, { algorithms: { serverHostKey: [kind] } });
      expect(client).toBeDefined();
      client.end();
    }
  });

  test('shell, commands, other subsystems, forwarding, agent and X11 are refused', async () => {
    const client = await logInBare(fixture.port, acme);
    onTestFinished(() => void client.end());
    const refused = (begin: (done: (error: Error | undefined) => void) => unknown) =>
      new Promise<string | undefined>((resolve) => begin((error) => resolve(error?.message)));
    const replies = [
      await refused((done) => client.exec('scp -t /', done)),
      await refused((done) => client.exec('ls', { env: { A: '1' }, x11: true }, done)),
      await refused((done) => client.shell(done)),
      await refused((done) => client.subsys('netconf', done)),
      await refused((done) => client.forwardOut('127.0.0.1', 1, '127.0.0.1', 5432, done)),
      await refused((done) => client.forwardIn('127.0.0.1', 0, done)),
      await refused((done) => client.openssh_forwardOutStreamLocal('/run/x', done)),
    ];
    for (const message of replies) expect(message).toMatch(/unable|fail|open/i);
  });

  test('of processes that make host keys at the same time one makes both', async () => {
    const own = await openSftpFixture();
    onTestFinished(() => own.close());
    await own.pool`delete from sftp_host_keys`;
    const keysNow = () => hostKeys(own.pool, own.secrets, openLog('error'));
    const made = await Promise.all([1, 2, 3].map(keysNow));
    expect(made[1]).toEqual(made[0]);
    expect(made[2]).toEqual(made[0]);
    expect(await keysNow()).toEqual(made[0]);
    expect(made[0]?.map(({ kind, bits }) => [kind, bits])).toEqual([
      ['ED25519', 256],
      ['RSA', 3072],
    ]);
  });

  test('fingerprints are those that OpenSSH prints', async ({ skip }) => {
    const keys = await hostKeys(fixture.pool, fixture.secrets, openLog('error'));
    for (const { fingerprint, bits, publicKey, kind } of keys) {
      let printed: string;
      try {
        printed = execFileSync('ssh-keygen', ['-lf', '-'], { input: publicKey }).toString();
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
        return skip('needs ssh-keygen (Debian: openssh-client)');
      }
      expect(printed.trim()).toMatch(new RegExp(`^${bits} .*\\(${kind}\\)$`));
      expect(printed).toContain(fingerprint);
    }
  });
});

describe('an upload', () => {
  test('appears whole, when it is closed, with the job that processes it', async () => {
    const company = await fixture.company();
    const [hand, other] = [await session(company), await session(company)];
    const handle = await hand.open('users.csv');
    expect((await hand.ask(ask.write, handle, 0n, users)).code).toBe(code.ok);
    expect(await namesOf(company)).toEqual([]);
    expect((await hand.ask(ask.stat, '/users.csv')).size).toBe(users.length);
    expect((await hand.ask(ask.fstat, handle)).size).toBe(users.length);
    expect((await other.ask(ask.stat, '/users.csv')).code).toBe(code.noFile);
    expect((await hand.ask(ask.close, handle)).code).toBe(code.ok);
    expect(await textOf(company, 'users.csv')).toBe(users.toString());
    expect(await other.ask(ask.lstat, 'users.csv')).toMatchObject({ size: users.length, mode: 0o100_200 });
    const jobs = await fixture.pool`
      select from graphile_worker.jobs where key = ${`files ${company.id}`}`;
    expect(jobs).toHaveLength(1);
  });

  test('may be sent without waiting for an answer; the answers come in the order of the requests', async () => {
    const company = await fixture.company();
    const hand = await session(company);
    const handle = Buffer.from([0, 0, 0, 1]);
    const piece = Buffer.alloc(32 * 1024, 'a;b\n');
    const count = 40;
    hand.stream.write(
      Buffer.concat([
        packet(ask.open, 1, '/sent.csv', createFlags, 0),
        ...Array.from({ length: count }, (_, i) =>
          packet(ask.write, 2 + i, handle, BigInt(i * piece.length), piece),
        ),
        packet(ask.stat, 50, '/nothing.csv'),
        packet(ask.fstat, 51, handle),
        packet(ask.close, 52, handle),
        packet(ask.lstat, 53, '/sent.csv'),
        packet(ask.realpath, 54, '.'),
      ]),
    );
    const replies: Answer[] = [];
    for (let i = 0; i < count + 6; i++) replies.push(await hand.next());
    expect(replies.map(({ id }) => id)).toEqual([
      ...Array.from({ length: count + 1 }, (_, i) => 1 + i),
      50,
      51,
      52,
      53,
      54,
    ]);
    expect(replies.at(-2)?.size).toBe(count * piece.length);
    expect((await textOf(company, 'sent.csv'))?.length).toBe(count * piece.length);
  });

  test('may be written in any order, and holds then what was written last', async () => {
    const piece = 150_000; // so that pieces and parts do not meet
    const write = fc.record({ at: fc.nat(9), letter: fc.constantFrom('a', 'b', 'c', 'd') });
    await fc.assert(
      fc.asyncProperty(fc.array(write, { minLength: 1, maxLength: 14 }), async (writes) => {
        const company = await fixture.company();
        const hand = await openRawSession(fixture.port, company);
        const handle = await hand.open('any.csv');
        const pieces: Buffer[] = [];
        for (const { at, letter } of writes) {
          pieces[at] = Buffer.alloc(piece, `${letter}\n`);
          expect((await hand.ask(ask.write, handle, BigInt(at * piece), pieces[at])).code).toBe(code.ok);
        }
        const isWhole = !Array.from(pieces).includes(undefined as never);
        expect((await hand.ask(ask.close, handle)).code).toBe(isWhole ? code.ok : code.failure);
        hand.end();
        const expected = isWhole ? Buffer.concat(pieces).toString() : undefined;
        expect((await textOf(company, 'any.csv')) === expected).toBe(true);
      }),
      {
        numRuns: 8,
        examples: [
          [[9, 8, 7, 6, 5, 4, 3, 2, 1, 0].map((at) => ({ at, letter: 'a' }))],
          [[1, 0, 3, 2, 5, 4, 7, 6, 0, 5].map((at, i) => ({ at, letter: i < 8 ? 'a' : 'b' }))],
        ],
      },
    );
  });

  test('of the same name replaces the file', async () => {
    const company = await fixture.company();
    const hand = await session(company);
    await put(hand, 'users.csv', Buffer.from('a;b\n'));
    await put(hand, 'users.csv', Buffer.from('c;d\n'));
    expect(await namesOf(company)).toEqual(['users.csv']);
    expect(await textOf(company, 'users.csv')).toBe('c;d\n');
  });

  test.for(['hole.csv', 'hole.tmp'])(
    'with a hole is refused on closing, by whatever name: %s',
    async (name) => {
      const company = await fixture.company();
      const hand = await session(company);
      const handle = await hand.open(name);
      await hand.ask(ask.write, handle, 0n, users);
      await hand.ask(ask.write, handle, BigInt(users.length + 1), users);
      const reason = `The file is incomplete: the bytes from ${users.length + 1} on were not sent. Send it again.`;
      expect(told(await hand.ask(ask.close, handle))).toEqual([code.failure, reason]);
      expect(told(await hand.ask(ask.stat, name))).toEqual([code.failure, reason]);
      expect(await unfinished(company)).toBe(0);
    },
  );

  test('in more pieces than any client sends is refused, on this and every later write and on closing', async () => {
    const company = await fixture.company();
    const hand = await session(company);
    const handle = await hand.open('pieces.csv');
    for (let i = 0; i < 1100; i++) {
      hand.stream.write(packet(ask.write, i, handle, BigInt(2 * i), Buffer.from('x')));
    }
    const replies: Answer[] = [];
    for (let i = 0; i < 1100; i++) replies.push(await hand.next());
    const reason = [code.failure, 'Too many gaps in the file. Send the bytes in order.'];
    expect(replies.map((answer) => answer.code).indexOf(code.failure)).toBe(1001);
    expect(told(replies.at(-1) as Answer)).toEqual(reason);
    expect(told(await hand.ask(ask.close, handle))).toEqual(reason);
    expect(await unfinished(company)).toBe(0);
  });

  test('of more than 10 MB is refused with that reason, told again by STAT, and nothing of it is kept', async () => {
    const company = await fixture.company();
    const hand = await session(company);
    const handle = await hand.open('large.csv');
    const piece = Buffer.alloc(256 * 1024 - 64, 'a;b\n');
    let offset = 0;
    for (; offset + piece.length <= tenMegabytes; offset += piece.length) {
      expect((await hand.ask(ask.write, handle, BigInt(offset), piece)).code).toBe(code.ok);
    }
    const rest = Buffer.alloc(tenMegabytes - offset, 'a;b\n');
    expect((await hand.ask(ask.write, handle, BigInt(offset), rest)).code).toBe(code.ok);
    const beyond = await hand.ask(ask.write, handle, BigInt(tenMegabytes), Buffer.from('x'));
    expect(beyond.text).toMatch(/larger than 10 MB/);
    const reason = [code.failure, beyond.text];
    expect(told(beyond)).toEqual(reason);
    expect(told(await hand.ask(ask.write, handle, 0n, users))).toEqual(reason);
    expect(told(await hand.ask(ask.fstat, handle))).toEqual(reason);
    expect(told(await hand.ask(ask.close, handle))).toEqual(reason);
    expect(told(await hand.ask(ask.stat, 'large.csv'))).toEqual(reason);
    expect(await unfinished(company)).toBe(0);
    expect(fixture.log).toContainEqual(
      expect.objectContaining({ reason: beyond.text, accountId: company.id }),
    );
    // The name is not spoilt.
    expect((await put(hand, 'large.csv')).code).toBe(code.ok);
    expect((await hand.ask(ask.stat, 'large.csv')).size).toBe(users.length);
  });

  test('of exactly 10 MB is taken', async () => {
    const company = await fixture.company();
    const client = await logIn(fixture.port, company);
    onTestFinished(() => void client.end());
    const bytes = Buffer.alloc(tenMegabytes, 'EmployeeID;FirstName\n');
    await client.put(bytes, '/full.csv');
    expect((await client.stat('/full.csv')).size).toBe(tenMegabytes);
    expect((await textOf(company, 'full.csv')) === bytes.toString()).toBe(true);
  });

  test.for([
    ['is empty', 'empty.csv', Buffer.alloc(0), /empty/],
    ['is not what its name says', 'book.xlsx', users, /\.xlsx/],
  ] as const)('that %s is refused on closing, and by STAT after it', async ([, name, bytes, reason]) => {
    const company = await fixture.company();
    const hand = await session(company);
    const answer = await put(hand, name, bytes);
    expect(answer).toMatchObject({ code: code.failure, text: expect.stringMatching(reason) as string });
    expect(told(await hand.ask(ask.stat, name))).toEqual(told(answer));
    expect(await namesOf(company)).toEqual([]);
    expect(await unfinished(company)).toBe(0);
  });

  test('that breaks off leaves nothing', async () => {
    const company = await fixture.company();
    const hand = await openRawSession(fixture.port, company);
    const handle = await hand.open('users.csv');
    const piece = Buffer.alloc(200_000, 'x');
    for (let i = 0; i < 3; i++) await hand.ask(ask.write, handle, BigInt(i * piece.length), piece);
    expect(await unfinished(company)).toBe(1);
    hand.stream.write(packet(ask.write, 9, handle, 600_000n, piece).subarray(0, 5000));
    hand.client.destroy();
    await until(async () => (await unfinished(company)) === 0);
    const parts = await fixture.pool`select from file_parts where account_id = ${company.id}`;
    expect([await namesOf(company), parts.length]).toEqual([[], 0]);
  });

  test('that ends without being closed leaves nothing; the client gets an exit status', async () => {
    const company = await fixture.company();
    const hand = await openRawSession(fixture.port, company);
    await hand.ask(ask.write, await hand.open('users.csv'), 0n, users);
    const [exit, end] = [once(hand.stream, 'exit'), closed(hand.stream)];
    hand.stream.end();
    expect((await exit)[0]).toBe(0);
    await end;
    hand.end();
    expect([await namesOf(company), await unfinished(company)]).toEqual([[], 0]);
  });
});

describe('a name', () => {
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
  ] as const)('%j is refused with the reason, and told it again by STAT', async ([name, reason]) => {
    const hand = await session();
    const opened = await hand.ask(ask.open, `/${name}`, createFlags, 0);
    expect(opened).toMatchObject({ code: code.failure, text: expect.stringMatching(reason) as string });
    expect(told(await hand.ask(ask.stat, `/${name}`))).toEqual(told(opened));
    // What is repeated of it can do no harm where it is shown.
    expect(opened.text).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });

  test('that is not UTF-8 is refused with that reason', async () => {
    const hand = await session();
    const latin = Buffer.from('Löner.csv', 'latin1');
    expect(told(await hand.ask(ask.open, latin, createFlags, 0))).toEqual([
      code.failure,
      'The file name is not valid UTF-8.',
    ]);
  });

  test('is found again in whatever form of Unicode the client writes it', async () => {
    const company = await fixture.company();
    const hand = await session(company);
    expect((await put(hand, 'Löner.csv'.normalize('NFD'))).code).toBe(code.ok);
    expect(await namesOf(company)).toEqual(['Löner.csv'.normalize('NFC')]);
    expect((await hand.ask(ask.stat, 'Löner.csv'.normalize('NFD'))).size).toBe(users.length);
  });

  test('of another account is not there', async () => {
    const [one, other] = [await fixture.company(), await fixture.company()];
    await put(await session(one), 'secret.csv');
    await put(await session(one), 'secret.tmp');
    const hand = await session(other);
    expect((await hand.ask(ask.stat, 'secret.csv')).code).toBe(code.noFile);
    expect((await hand.ask(ask.stat, 'secret.tmp')).code).toBe(code.noFile);
    expect((await hand.ask(ask.rename, 'secret.tmp', 'mine.csv')).code).toBe(code.noFile);
    expect((await hand.ask(ask.remove, 'secret.tmp')).code).toBe(code.noFile);
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

  test.for(names)('%s becomes a file by a new name, from any session of the token', async (name) => {
    const company = await fixture.company();
    const [hand, other] = [await session(company), await session(company)];
    expect((await put(hand, name)).code).toBe(code.ok);
    expect(await namesOf(company)).toEqual([]);
    const listed = async (one: RawSession) => {
      const { handle } = await one.ask(ask.opendir, '/');
      return (await one.ask(ask.readdir, handle as Buffer)).names?.map((entry) => entry.name);
    };
    expect(await listed(hand)).toContain(name);
    expect(await listed(other)).toEqual(['.', '..']);
    expect((await other.ask(ask.stat, name)).size).toBe(users.length);
    // WinSCP and lftp remove the old file just before.
    expect((await hand.ask(ask.remove, 'users.csv')).code).toBe(code.ok);
    expect((await hand.ask(ask.remove, 'groups.csv')).code).toBe(name === uuid ? code.ok : code.denied);
    expect((await other.ask(ask.rename, name, '/users.csv')).code).toBe(code.ok);
    expect(await textOf(company, 'users.csv')).toBe(users.toString());
    expect((await other.ask(ask.stat, name)).code).toBe(code.noFile);
  });

  test('may be given a new temporary name, or be removed', async () => {
    const company = await fixture.company();
    const hand = await session(company);
    await put(hand, 'one.tmp');
    expect((await hand.ask(ask.rename, 'one.tmp', 'two.tmp')).code).toBe(code.ok);
    expect((await hand.ask(ask.stat, 'one.tmp')).code).toBe(code.noFile);
    expect((await hand.ask(ask.stat, 'two.tmp')).size).toBe(users.length);
    expect((await hand.ask(ask.remove, 'two.tmp')).code).toBe(code.ok);
    expect(await unfinished(company)).toBe(0);
  });

  test('written again holds what was written last', async () => {
    const company = await fixture.company();
    const hand = await session(company);
    await put(hand, 'users.csv.part', Buffer.from('a;b\n'));
    await put(hand, 'users.csv.part', Buffer.from('c;d\n'));
    expect(await unfinished(company)).toBe(1);
    await hand.ask(ask.rename, 'users.csv.part', 'users.csv');
    expect(await textOf(company, 'users.csv')).toBe('c;d\n');
    expect((await hand.ask(ask.stat, 'users.csv.part')).code).toBe(code.noFile);
  });

  test('cannot become what is no file: it is refused with the reason, and kept for a better name', async () => {
    const company = await fixture.company();
    const hand = await session(company);
    await put(hand, 'users.tmp');
    const renamed = await hand.ask(ask.rename, 'users.tmp', 'users.exe');
    expect(renamed.text).toMatch(/\.csv, \.xls or \.xlsx/);
    expect(told(await hand.ask(ask.stat, 'users.exe'))).toEqual(told(renamed));
    expect((await hand.ask(ask.rename, 'users.tmp', 'users.csv')).code).toBe(code.ok);
  });

  test('of what is not what its final name says: it is refused, and nothing is kept', async () => {
    const company = await fixture.company();
    const hand = await session(company);
    await put(hand, 'users.tmp');
    const renamed = await hand.ask(ask.rename, 'users.tmp', 'users.xlsx');
    expect(renamed).toMatchObject({ code: code.failure, text: expect.stringMatching(/\.xlsx/) as string });
    expect((await hand.ask(ask.rename, 'users.tmp', 'users.csv')).code).toBe(code.noFile);
    expect(await unfinished(company)).toBe(0);
  });

  test('is not renamed or removed while it is written', async () => {
    const hand = await session();
    const handle = await hand.open('busy.tmp');
    expect((await hand.ask(ask.rename, 'busy.tmp', 'busy.csv')).text).toMatch(/still being written/);
    expect((await hand.ask(ask.remove, 'busy.tmp')).text).toMatch(/still being written/);
    await hand.ask(ask.close, handle);
  });
});

describe('other requests', () => {
  test('paths are told from the root, the only folder', async () => {
    const hand = await session();
    for (const [path, real] of [
      ['.', '/'],
      ['', '/'],
      ['..', '/'],
      ['a/./b/../c.csv', '/a/c.csv'],
      ['//x', '/x'],
    ]) {
      expect((await hand.ask(ask.realpath, path as string)).names).toMatchObject([{ name: real }]);
    }
    expect((await hand.ask(ask.stat, '/')).mode).toBe(0o040_700);
    expect((await hand.ask(ask.opendir, '/sub')).code).toBe(code.noFile);
    expect((await hand.ask(ask.open, '/sub/users.csv', createFlags, 0)).code).toBe(code.noFile);
    expect((await hand.ask(ask.open, '../../../etc/users.csv', createFlags, 0)).code).toBe(code.noFile);
    expect((await hand.ask(ask.open, '/', createFlags, 0)).code).toBe(code.failure);
    expect((await hand.ask(ask.stat, 'x'.repeat(100_000))).code).toBe(code.noFile);
  });

  test('the folder is listed with all names and how ls shows them, then it is at its end', async () => {
    const company = await fixture.company();
    const hand = await session(company);
    const files = Array.from({ length: 60 }, (_, i) => `file${String(i).padStart(2, '0')}.csv`);
    for (const name of files) await put(hand, name);
    const { handle } = await hand.ask(ask.opendir, '/');
    const replies = [];
    for (;;) {
      const answer = await hand.ask(ask.readdir, handle as Buffer);
      if (answer.code === code.eof) break;
      replies.push(...(answer.names as NonNullable<Answer['names']>));
    }
    expect(replies.map(({ name }) => name)).toEqual(['.', '..', ...files]);
    expect(replies[0]?.long).toMatch(/^drwx------ .* \.$/);
    expect(replies[2]?.long).toMatch(
      /^--w------- +1 \S+ +\S+ +30 (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d file00\.csv$/,
    );
    expect((await hand.ask(ask.close, handle as Buffer)).code).toBe(code.ok);
    expect((await hand.ask(ask.readdir, handle as Buffer)).code).toBe(code.failure);
  });

  test('nothing can be read, and a name that is not there is told from one that is', async () => {
    const hand = await session(await fixture.company());
    await put(hand, 'users.csv');
    expect(told(await hand.ask(ask.open, 'users.csv', 1, 0))).toEqual([code.denied, refusal]);
    expect((await hand.ask(ask.open, 'other.csv', 1, 0)).code).toBe(code.noFile);
    expect((await hand.ask(ask.open, 'users.csv', 1 | 2, 0)).code).toBe(code.denied);
    expect((await hand.ask(ask.open, 'other.csv', 2 | 4 | 8, 0)).code).toBe(code.denied);
    const handle = await hand.open('users.csv');
    expect(told(await hand.ask(ask.read, handle, 0n, 100))).toEqual([code.denied, refusal]);
  });

  test('a file is made anew or not at all', async () => {
    const hand = await session(await fixture.company());
    await put(hand, 'users.csv');
    expect((await hand.ask(ask.open, 'users.csv', 2 | 8, 0)).text).toMatch(/can't be changed/);
    expect((await hand.ask(ask.open, 'users.csv', 2 | 8 | 16 | 32, 0)).text).toMatch(/already/);
    expect((await hand.ask(ask.open, 'other.csv', 2, 0)).code).toBe(code.noFile);
    const { handle } = await hand.ask(ask.open, 'new.csv', 2 | 8 | 32, 0);
    expect(handle).toBeDefined();
  });

  test('times are kept and modes taken; a size other than the present one is refused', async () => {
    const hand = await session(await fixture.company());
    const handle = await hand.open('users.csv');
    await hand.ask(ask.write, handle, 0n, users);
    const times = [8, 1_000_000, 1_700_000_000];
    expect((await hand.ask(ask.fsetstat, handle, 4, 0o644)).code).toBe(code.ok);
    expect((await hand.ask(ask.fsetstat, handle, ...times)).code).toBe(code.ok);
    expect((await hand.ask(ask.fsetstat, handle, 1, BigInt(users.length))).code).toBe(code.ok);
    expect((await hand.ask(ask.fsetstat, handle, 1, 5n)).code).toBe(code.denied);
    await hand.ask(ask.close, handle);
    expect((await hand.ask(ask.stat, 'users.csv')).modified).toBe(1_700_000_000);
    expect((await hand.ask(ask.setstat, 'users.csv', 8, 5, 6)).code).toBe(code.ok);
    expect((await hand.ask(ask.stat, 'users.csv')).modified).toBe(6);
    expect((await hand.ask(ask.setstat, 'users.csv', 1, 0n)).code).toBe(code.denied);
    expect((await hand.ask(ask.setstat, 'other.csv', 8, 5, 6)).code).toBe(code.noFile);
  });

  test('nothing is removed, renamed, made, linked or read that is there', async () => {
    const company = await fixture.company();
    const hand = await session(company);
    await put(hand, 'users.csv');
    const replies = [
      await hand.ask(ask.remove, 'users.csv'),
      await hand.ask(ask.remove, 'other.csv'),
      await hand.ask(ask.rename, 'users.csv', 'old.csv'),
      await hand.ask(ask.mkdir, '/sub', 0),
      await hand.ask(ask.rmdir, '/'),
      await hand.ask(ask.readlink, 'users.csv'),
      await hand.ask(ask.symlink, 'users.csv', 'link.csv'),
    ];
    for (const answer of replies) expect(told(answer)).toEqual([code.denied, refusal]);
    expect(await namesOf(company)).toEqual(['users.csv']);
  });

  test('no extension is offered, and none is served', async () => {
    const hand = await session();
    for (const name of [
      'statvfs@openssh.com',
      'posix-rename@openssh.com',
      'fsync@openssh.com',
      'copy-data',
    ]) {
      expect((await hand.ask(ask.extended, name, '/', '/')).code).toBe(code.unsupported);
    }
    expect((await hand.ask(99)).code).toBe(code.unsupported);
  });

  test('a handle is good for its session and while it is open', async () => {
    const [hand, other] = [await session(), await session()];
    const handle = await hand.open('users.csv');
    for (const wrong of [
      Buffer.alloc(0),
      Buffer.from('abc'),
      Buffer.from([255, 255, 255, 255]),
      Buffer.alloc(300),
    ]) {
      expect((await hand.ask(ask.write, wrong, 0n, users)).code).toBe(code.failure);
    }
    expect((await other.ask(ask.close, handle)).code).toBe(code.failure);
    await hand.ask(ask.write, handle, 0n, users);
    await hand.ask(ask.close, handle);
    expect((await hand.ask(ask.close, handle)).code).toBe(code.failure);
  });
});

describe('what a client can make the service hold', () => {
  test('at most 1 MiB that is not written, however fast it sends and however slow the database is', async () => {
    const company = await fixture.company();
    const hands = await Promise.all([1, 2].map(() => session(company)));
    const handles: Buffer[][] = [];
    for (const hand of hands)
      handles.push([await hand.open('a.csv'), await hand.open('b.csv'), await hand.open('c.csv')]);
    const piece = Buffer.alloc(32_000, 'a;b\n');
    let peak = 0;
    await fixture.pool.begin(async (tx) => {
      await tx`lock table file_parts in exclusive mode`;
      for (const [i, hand] of hands.entries()) {
        // The first into one file, the second into three at a time.
        for (let n = 0; n < 150; n++) {
          const [handle, at] = i === 0 ? [handles[i]![0]!, n] : [handles[i]![n % 3]!, Math.floor(n / 3)];
          hand.stream.write(packet(ask.write, n, handle, BigInt(at * piece.length), piece));
        }
      }
      // Until no more is taken.
      for (let same = 0; same < 8;) {
        await sleep(20);
        const now = fixture.server.unwritten();
        same = now === peak ? same + 1 : 0;
        peak = Math.max(peak, now);
      }
    });
    expect(peak).toBeGreaterThan(512 * 1024);
    expect(peak).toBeLessThanOrEqual(1024 * 1024);
    for (const hand of hands) for (let n = 0; n < 150; n++) expect((await hand.next()).code).toBe(code.ok);
    for (const [i, hand] of hands.entries()) {
      for (const handle of handles[i]!.slice(0, i === 0 ? 1 : 3)) {
        expect((await hand.ask(ask.close, handle)).code).toBe(code.ok);
      }
    }
    const sizes = (await selectFiles(fixture.pool, company.id)).map(({ size }) => size);
    expect(sizes).toEqual([50, 50, 50].map((pieces) => pieces * piece.length));
  });

  test('no more answers than it reads; when it reads none, the session ends after its time', async () => {
    const one = packet(ask.realpath, 1, 'x/'.repeat(1500));
    const many = Buffer.concat(Array.from({ length: 3000 }, () => one)); // some 9 MB of requests, 18 of answers
    let now = Date.now();
    const { port, server, log } = await fixture.another({ now: () => now });
    const [slow, stuck] = await Promise.all([openRawSession(port, acme), openRawSession(port, acme)]);
    slow.socket.pause();
    stuck.stream.pause(); // it reads, and gives us no room for answers
    for (const hand of [slow, stuck]) hand.stream.write(many);
    let peak = 0;
    for (let same = 0, last = -1; same < 5;) {
      await sleep(20);
      const unwritten = server.unwritten();
      same = unwritten === last ? same + 1 : 0;
      last = unwritten;
      peak = Math.max(peak, unwritten);
    }
    expect(peak).toBeLessThan(512 * 1024);
    now += sftpLimits.idleMs + 1;
    const count = (text: string) => log.filter(({ msg, reason }) => [msg, reason].includes(text)).length;
    await until(async () => count('idle') === 2);
    now += 2001; // they are given a moment to go
    await until(async () => count('SFTP connection closed') === 2);
    for (const hand of [slow, stuck]) hand.client.destroy();
  });

  test('so many files open, and so many channels', async () => {
    const { port } = await fixture.another({ limits: { handles: 3, channels: 2 } });
    const company = await fixture.company();
    const hand = await openRawSession(port, company);
    onTestFinished(hand.end);
    for (let i = 0; i < 3; i++) await hand.open(`${i}.csv`);
    expect((await hand.ask(ask.open, '4.csv', createFlags, 0)).text).toMatch(/Close some/);
    const channel = () =>
      new Promise<string | undefined>((resolve) =>
        hand.client.subsys('sftp', (error) => resolve(error?.message)),
      );
    expect(await channel()).toBeUndefined();
    expect(await channel()).toMatch(/open/i);
    // What belongs to a channel goes with it.
    hand.stream.end();
    await until(async () => (await unfinished(company)) === 0);
    expect(await until(async () => (await channel()) === undefined)).toBe(true);
  });

  test('a session without requests ends after its time', async () => {
    let now = Date.now();
    const { port, log } = await fixture.another({ now: () => now });
    const hand = await openRawSession(port, acme);
    const ended = closed(hand.client);
    now += sftpLimits.idleMs - 1000;
    await hand.ask(ask.stat, '/');
    now += sftpLimits.idleMs - 1000;
    await hand.ask(ask.stat, '/');
    now += sftpLimits.idleMs + 1;
    await ended;
    expect(log).toContainEqual(expect.objectContaining({ reason: 'idle' }));
  });
});

describe('whatever a client sends', () => {
  /** Whether the server works as before, and has logged no defect. */
  async function isWell(): Promise<boolean> {
    const hand = await openRawSession(fixture.port, acme);
    const { mode } = await hand.ask(ask.stat, '/');
    hand.end();
    return mode === 0o040_700 && fixture.log.every(({ level }) => Number(level) < 50);
  }

  test('bytes that are no SSH end their own connection only', async () => {
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
          await gone(socket);
        },
      ),
      { numRuns: 40 },
    );
    // A length that no packet has, and a line without end.
    for (const bytes of ['SSH-2.0-x\r\n\xff\xff\xff\xff\xff', 'x'.repeat(100_000)]) {
      const socket = await dial(fixture.port, unusedAddress());
      socket.write(Buffer.from(bytes, 'latin1'));
      await gone(socket);
    }
    expect(await isWell()).toBe(true);
  });

  test('messages of SSH that make no sense, before and after the log-in, end their own connection only', async () => {
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
      { numRuns: 50 },
    );
    expect(await isWell()).toBe(true);
  });

  test('requests of SFTP that make no sense are answered or end their own connection', async () => {
    const noise = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes));
    const framed = fc
      .tuple(fc.nat(25), noise)
      .map(([type, rest]) => Buffer.concat([Buffer.from([0, 0, 0, rest.length + 1, type]), rest]));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof({ weight: 9, arbitrary: framed }, noise), { maxLength: 40 }),
        async (packets) => {
          const hand = await openRawSession(fixture.port, acme);
          const ended = Promise.race([closed(hand.client), closed(hand.stream)]);
          hand.stream.end(Buffer.concat(packets));
          await ended;
          hand.end();
        },
      ),
      { numRuns: 40 },
    );
    expect(await isWell()).toBe(true);
  });

  test('a length beyond all measure ends the connection at once', async () => {
    for (const length of [0, 0x7fffffff, 0x80000000, 0xffffffff, 256 * 1024 + 1]) {
      const hand = await openRawSession(fixture.port, acme);
      const ended = closed(hand.client);
      const bytes = packet(ask.stat, 1, '/');
      bytes.writeUInt32BE(length);
      hand.stream.write(bytes);
      await ended;
    }
    expect(await isWell()).toBe(true);
  });

  test('a flood of requests is answered, one after another', async () => {
    const hand = await session();
    const one = packet(ask.stat, 7, '/');
    hand.stream.write(Buffer.concat(Array.from({ length: 5000 }, () => one)));
    for (let i = 0; i < 5000; i++) expect((await hand.next()).mode).toBe(0o040_700);
  });

  test('any bytes, cut anywhere, are read the same, and none throw', () => {
    const requests = fc.array(
      fc.oneof(
        fc
          .tuple(fc.nat(25), fc.nat(2 ** 31), fc.string({ maxLength: 30 }))
          .map(([type, id, text]) => packet(type, id, text)),
        fc
          .tuple(fc.nat(9), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.uint8Array({ maxLength: 50 }))
          .map(([id, offset, bytes]) => packet(ask.write, id, Buffer.alloc(4), offset, Buffer.from(bytes))),
        fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes)),
      ),
      { maxLength: 20 },
    );
    const readAll = (chunks: Buffer[]) => {
      const reader = packetReader();
      const read: (Request | 'unreadable')[] = [];
      for (const chunk of chunks) {
        for (const request of reader.read(chunk)) {
          if (request === 'unreadable') return [...read, request];
          read.push(request);
        }
      }
      return read;
    };
    fc.assert(
      fc.property(requests, fc.array(fc.nat(2000), { maxLength: 30 }), (packets, cuts) => {
        const bytes = Buffer.concat(packets);
        const ends = [...cuts.map((cut) => Math.min(cut, bytes.length)), bytes.length].toSorted(
          (a, b) => a - b,
        );
        const chunks = ends.map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end));
        expect(readAll(chunks)).toEqual(readAll([bytes]));
      }),
      { numRuns: 300 },
    );
  });
});

test('a path with a NUL is refused in words, whatever is asked with it', async () => {
  const { port, log } = await fixture.another();
  const hand = await openRawSession(port, acme);
  onTestFinished(hand.end);
  const path = 'us\0ers.csv';
  const refused = [code.failure, 'The file name contains a NUL character.'];
  for (const verb of [ask.stat, ask.lstat, ask.opendir, ask.remove, ask.realpath]) {
    // oxlint-disable-next-line no-await-in-loop -- a few
    expect(told(await hand.ask(verb, path))).toEqual(refused);
  }
  for (const flags of [1, 2, createFlags]) {
    // oxlint-disable-next-line no-await-in-loop -- a few
    expect(told(await hand.ask(ask.open, path, flags, 0))).toEqual(refused);
  }
  expect(told(await hand.ask(ask.setstat, path, 0))).toEqual(refused);
  expect(told(await hand.ask(ask.rename, path, 'users.csv'))).toEqual(refused);
  expect(told(await hand.ask(ask.rename, 'users.csv.part', `${path}.part`))).toEqual(refused);
  expect(log.filter(({ level }) => Number(level) >= 40)).toEqual([]);
});

describe('when the service or its database goes', () => {
  test('without the database an upload fails in words, a log-in as well, and nothing else happens', async () => {
    const pool = openPool(fixture.databaseUrl, 3);
    const { port, log } = await fixture.another({ pool });
    const hand = await openRawSession(port, acme);
    onTestFinished(hand.end);
    const handle = await hand.open('users.csv');
    await pool.end({ timeout: 0 });
    const words = 'The database cannot be reached. Try again.';
    await hand.ask(ask.write, handle, 0n, users);
    expect(told(await hand.ask(ask.close, handle))).toEqual([code.failure, words]);
    expect(told(await hand.ask(ask.open, 'other.csv', createFlags, 0))).toEqual([code.failure, words]);
    expect(told(await hand.ask(ask.opendir, '/'))).toEqual([code.failure, words]);

    // That the token is wrong is not said: the connection ends. OpenSSH shows why (clients.test.ts).
    for (const tryKeyboard of [false, true]) {
      const client = new Client();
      const errors: (Error & { code?: unknown })[] = [];
      client.on('error', (error) => errors.push(error));
      const ended = closed(client);
      client.connect({ ...configOf(port, acme), tryKeyboard });
      // oxlint-disable-next-line no-await-in-loop -- two
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

  test('a stop lets a running upload end, takes no new one, and ends all other sessions at once', async () => {
    const company = await fixture.company();
    const { server, port } = await fixture.another();
    const [busy, idle] = [await openRawSession(port, company), await openRawSession(port, company)];
    const handle = await busy.open('users.csv.part');
    const [busyEnd, idleEnd] = [closed(busy.client), closed(idle.client)];
    const stopped = server.close(20);
    await idleEnd;
    expect((await busy.ask(ask.open, 'next.csv', createFlags, 0)).text).toMatch(/stopping/);
    await busy.ask(ask.write, handle, 0n, users);
    expect((await busy.ask(ask.close, handle)).code).toBe(code.ok);
    expect((await busy.ask(ask.rename, 'users.csv.part', 'users.csv')).code).toBe(code.ok);
    await stopped;
    await busyEnd;
    expect(await namesOf(company)).toEqual(['users.csv']);
    await expect(logInBare(port, company)).rejects.toThrow('ECONNREFUSED');
  });

  test('a stop ends sessions between two operations, and says why', async () => {
    const company = await fixture.company();
    const { server, port } = await fixture.another();
    const [listing, idle] = [await openRawSession(port, company), await openRawSession(port, company)];
    const idleEnd = once(idle.client, 'error') as Promise<[Error]>;
    const { handle } = await listing.ask(ask.opendir, '/');
    const listingEnd = closed(listing.client);
    const stopped = server.close(20);
    expect((await idleEnd)[0].message).toBe('The service is stopping. Connect again in a moment.');
    expect((await listing.ask(ask.readdir, handle!)).names).toBeDefined();
    expect((await listing.ask(ask.close, handle!)).code).toBe(code.ok);
    await Promise.all([stopped, listingEnd]);
  });

  test('a stop does not wait longer than it was told, and leaves nothing of what was under way', async () => {
    const company = await fixture.company();
    const { server, port } = await fixture.another();
    const hand = await openRawSession(port, company);
    await hand.ask(ask.write, await hand.open('users.csv'), 0n, users);
    await dial(port);
    const begun = performance.now();
    await server.close(0.3);
    expect(performance.now() - begun).toBeLessThan(2000);
    await until(async () => (await unfinished(company)) === 0);
    expect(await namesOf(company)).toEqual([]);
  });
});

/** Sends a message as the library's client sends its own: what it is in, it does not look at. */
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
    // It has ended already.
  }
}
