// Who can log in over SFTP, how many connections may wait for a login, and which algorithms and services are offered.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import fc from 'fast-check';
import { Client } from 'ssh2';
import { describe, expect, onTestFinished, test } from 'vitest';
import { changeAccount } from '../accounts/accounts.ts';
import { createToken, revokeToken } from '../accounts/tokens.ts';
import { inTransaction } from '../db/db.ts';
import { until } from '../testing/until.ts';
import { openLog } from '../base/log.ts';
import { hostKeys } from './host-keys.ts';
import { proxyHeader } from './proxy-header.ts';
import {
  openRawSession,
  closed,
  type Company,
  configOf,
  dial,
  unusedAddress,
  disconnected,
  logIn,
  logInBare,
  openSftpFixture,
} from './sftp.fixture.ts';
import { types } from './packets.fixture.ts';
import {
  failureMs,
  fixture,
  acme,
  users,
  openSession,
  namesOf,
  unfinished,
  put,
  useSftpServer,
} from './server.fixture.ts';

useSftpServer();

describe('logging in', () => {
  test('opens a session with a user name and a token with the "files" scope, by password or keyboard-interactive', async () => {
    const byPassword = await logIn(fixture.port, acme);
    onTestFinished(async () => void (await byPassword.end()));
    expect(await byPassword.list('/')).toEqual([]);

    const client = new Client();
    onTestFinished(() => void client.end());
    const { password, ...config } = configOf(fixture.port, acme);
    const prompted = new Promise((resolve) => {
      client.on('keyboard-interactive', (_name, _text, _language, prompts, reply) => {
        reply([String(password)]);
        resolve(prompts);
      });
    });
    const ready = once(client, 'ready');
    client.connect({ ...config, tryKeyboard: true });
    expect(await prompted).toEqual([{ prompt: 'Password: ', echo: false }]);
    await ready;
  });

  test('refuses every wrong login with the same message after the same time', async () => {
    const other = await fixture.company();
    const { token: forData } = await createToken(fixture.pool, acme.id, { name: 'x', scopes: ['data'] });
    const old = await createToken(fixture.pool, acme.id, {
      name: 'x',
      scopes: ['files'],
      expires: '2020-01-01',
    });
    const revoked = await createToken(fixture.pool, acme.id, { name: 'x', scopes: ['files'] });
    await revokeToken(fixture.pool, acme.id, revoked.id);
    const notAllowed = await fixture.company({ allow: ['192.0.2.0/24'] });
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
        notAllowed,
      ].map(async (wrong) => {
        const start = performance.now();
        const error = await logInBare(fixture.port, wrong, { from: unusedAddress() }).catch(
          (thrown: Error) => thrown,
        );
        return { message: (error as Error).message, ms: performance.now() - start };
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

  test('accepts three attempts in a connection and ignores anything sent after them', async () => {
    const { port, log } = await fixture.startServer({ limits: { failureMs: 20 } });
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

  test('offers only passwords and keyboard-interactive as methods, not keys or none', async () => {
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

  test('never logs a token, even if it was sent as the user name', async () => {
    const wrong = { ...acme, username: acme.token };
    await logInBare(fixture.port, wrong, { from: unusedAddress() }).catch(() => {});
    const session = await openSession();
    await put(session, 'logged.csv');
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
    'ends an open session within a second if %s, and deletes its unfinished upload',
    async ([, invalidate]) => {
      const company = await fixture.company();
      const session = await openRawSession(fixture.port, company);
      await session.request(types.write, await session.open('users.csv'), 0n, users);
      const ended = closed(session.client);
      await invalidate(company);
      const start = performance.now();
      await ended;
      // A margin for a busy machine: a session ends by itself only after minutes.
      expect(performance.now() - start).toBeLessThan(20_000);
      await until(async () => (await unfinished(company)) === 0);
      expect(await namesOf(company)).toEqual([]);
    },
  );
});

describe('before a login', () => {
  test('limits the number of open connections, and closes them after a time', async () => {
    const { port, log } = await fixture.startServer({ limits: { unauthenticated: 5, loginMs: 600 } });
    const six = [];
    for (let i = 0; i < 6; i++) six.push(await dial(port, `127.0.0.${10 + i}`));
    await Promise.race(six.map(disconnected));
    expect(log).toContainEqual(expect.objectContaining({ reason: 'too many connections without a login' }));
    six[0]?.write('SSH-2.0-'); // one that has sent a part of the greeting, and one that continues
    six[1]?.write('SSH-2.0-test\r\n');
    await Promise.all(six.map(disconnected));
    expect(log.filter(({ reason }) => reason === 'login timeout')).toHaveLength(5);
    await logInBare(port, acme).then((client) => client.end());
  });

  test('closes silent connections sooner than ones that have sent the greeting', async () => {
    const { port, log } = await fixture.startServer({ limits: { greetingMs: 300 } });
    const [silent, greeted] = [await dial(port, '127.0.0.2'), await dial(port, '127.0.0.3')];
    greeted.write('SSH-2.0-test\r\n');
    await disconnected(silent);
    expect(log).toContainEqual(expect.objectContaining({ reason: 'login timeout', address: '127.0.0.2' }));
    expect(greeted.destroyed).toBe(false);
    greeted.destroy();
  });

  test('lets others log in while three addresses have all the silent connections they can open', async () => {
    const { port } = await fixture.startServer({});
    const attackers = [];
    for (let i = 0; i < 120; i++) attackers.push(await dial(port, `127.0.0.${2 + (i % 3)}`));
    await expect(logInBare(port, acme).then((client) => client.end())).resolves.toBeDefined();
    for (const socket of attackers) socket.destroy();
  });

  test('limits the number of connections of each address and in total', async () => {
    const { port, log } = await fixture.startServer({ limits: { perAddress: 2, connections: 3 } });
    const here = [await dial(port), await dial(port)];
    await disconnected(await dial(port));
    const there = await dial(port, '127.0.0.2');
    await disconnected(await dial(port, '127.0.0.3'));
    expect(log.filter(({ msg }) => msg === 'SFTP connections refused')).not.toEqual([]);
    here[0]?.destroy();
    await until(async () => log.some(({ msg }) => msg === 'SFTP connection closed'));
    const again = await dial(port);
    again.write('SSH-2.0-test\r\n');
    await until(async () => again.received.length > 0);
    for (const socket of [...here, there, again]) socket.destroy();
  });

  test('serves a delayed connection after the delay', async () => {
    const { port } = await fixture.startServer({ limits: { failureMs: 1 } });
    const wrong = { ...acme, token: 'wrong' };
    for (let i = 0; i < 6; i++) await logInBare(port, wrong).catch(() => {});
    const start = performance.now();
    const client = await logInBare(port, acme);
    expect(performance.now() - start).toBeGreaterThan(490);
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

  test('uses the address that a trusted proxy sends', async () => {
    const { port } = await fixture.startServer({ trustProxy: ['127.0.0.0/8'] });
    const company = await fixture.company({ allow: ['192.0.2.9'] });
    for (const header of [v1, v2]) {
      const { sock } = configOf(port, company);
      sock.write(header);
      const client = await logInBare(port, company, { sock });
      client.end();
    }
    await expect(logInBare(port, company)).rejects.toThrow('authentication');
  });

  test('accepts an address from no one else', async () => {
    const { port, log } = await fixture.startServer({ trustProxy: ['192.0.2.0/24'] });
    const socket = await dial(port);
    socket.write(v1);
    await disconnected(socket);
    expect(log).toContainEqual(
      expect.objectContaining({ msg: 'SFTP connection opened', address: '127.0.0.1' }),
    );
  });

  test('reads a header however it is split, and does not mistake other bytes for one', () => {
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

describe('offered algorithms and services', () => {
  test('are safe, with strict key exchange and without SHA-1', async () => {
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

  test('work with each host key', async () => {
    for (const kind of ['ssh-ed25519', 'rsa-sha2-512', 'rsa-sha2-256'] as const) {
      const client = await logInBare(fixture.port, acme, { algorithms: { serverHostKey: [kind] } });
      expect(client).toBeDefined();
      client.end();
    }
  });

  test('exclude shells, commands, other subsystems, forwarding, agents and X11', async () => {
    const client = await logInBare(fixture.port, acme);
    onTestFinished(() => void client.end());
    const refused = (start: (done: (error: Error | undefined) => void) => unknown) =>
      new Promise<string | undefined>((resolve) => start((error) => resolve(error?.message)));
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

  test('use the same host keys in processes that create them at the same time', async () => {
    const own = await openSftpFixture();
    onTestFinished(() => own.close());
    await own.pool`delete from sftp_host_keys`;
    const currentKeys = () => hostKeys(own.pool, own.secrets, openLog('error'));
    const created = await Promise.all([1, 2, 3].map(currentKeys));
    expect(created[1]).toEqual(created[0]);
    expect(created[2]).toEqual(created[0]);
    expect(await currentKeys()).toEqual(created[0]);
    expect(created[0]?.map(({ kind, bits }) => [kind, bits])).toEqual([
      ['ED25519', 256],
      ['RSA', 3072],
    ]);
  });

  test('have the same fingerprints as OpenSSH prints', async ({ skip }) => {
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
