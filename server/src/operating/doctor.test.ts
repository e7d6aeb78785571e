// soundings doctor on real installations: it finds each condition that was broken, ends in time, changes nothing and prints no secret.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer as createHttpServer, request } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createAccount } from '../accounts/accounts.ts';
import { startApp } from '../app.ts';
import { readSettings } from '../base/config.ts';
import { openLog } from '../base/log.ts';
import { inTransaction, openPool } from '../db/db.ts';
import { openEmptyWeek } from '../testing/asking.ts';
import { AnswerKeys } from '../sealing/answer-keys.ts';
import { newChain } from '../sealing/epoch-keys.ts';
import { keyText } from '../sealing/key-file.ts';
import { readableHostKeys } from '../sftp/host-keys.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { openSmtp } from '../testing/smtp.ts';
import { tablesOf } from '../testing/tables.ts';
import { testConfig } from '../testing/world.ts';
import { type DoctorOptions, examine } from './doctor.ts';
import type { Finding } from './findings.ts';

let home: string;
let database: TestDatabase;
/** The data directory, with the keys of the database. */
let dataDir: string;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'soundings-doctor-'));
  database = await openTestDatabase();
  dataDir = join(home, 'data');
  const { pool } = database;
  const keys = keysOf();
  await keys.chain.advance();
  await keys.secrets.prepare();
  const { id } = await inTransaction(pool, (tx) => createAccount(tx, { name: 'Acme' }));
  await inTransaction(pool, (tx) => openEmptyWeek(tx, keys, id, '2999-11-11'));
  await readableHostKeys(pool, keys.secrets, openLog('silent'));
});
afterAll(async () => {
  await database?.close();
  rmSync(home, { recursive: true, force: true });
});

const keysOf = () => new AnswerKeys(database.pool, { place: 'file', directory: join(dataDir, 'keys') });

type Env = Record<string, string>;
const dnsServers = ['127.0.0.1:9']; // refuses each query
const run = (env: Env = {}, options: DoctorOptions = {}) =>
  examine(
    readSettings({
      DATA_DIR: dataDir,
      DATABASE_URL: database.url,
      PORT: '0',
      SFTP_PORT: '0',
      ...env,
    }),
    { dnsServers, ...options },
  );
/** Returns what is not in order in some checks, as check and code. */
const faultsIn = (findings: Finding[], ...checks: string[]) =>
  findings
    .filter(({ outcome, check }) => outcome !== 'ok' && checks.includes(check))
    .map(({ check, code }) => `${check} ${code}`);

/** Opens a server on a free port of 127.0.0.1, and closes it when the test ends. */
async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

describe('a sound installation', () => {
  test('has no problem, and is not changed: no table, no key and no file', async () => {
    const state = async () => [
      await tablesOf(database.pool),
      readFileSync(join(dataDir, 'keys/answers'), 'utf8'),
      readdirSync(dataDir, { recursive: true }),
    ];
    const before = await state();
    const found = await run();
    expect(found.filter(({ outcome }) => outcome === 'problem')).toEqual([]);
    const named = new Set(found.map(({ check }) => check));
    expect([...named]).toEqual(
      'settings database clock disk keys certificate proxy mail sftp traces jobs backup'.split(' '),
    );
    expect(found.map(({ code }) => code)).toEqual(
      expect.arrayContaining(['reachable', 'migrated', 'answersReady', 'secretsReady']),
    );
    expect(await state()).toEqual(before);
  });

  test('that has never been started is not created', async () => {
    const nowhere = join(home, 'nowhere');
    const found = await run({ DATA_DIR: nowhere, DATABASE_URL: '' });
    expect(found.filter(({ outcome }) => outcome === 'problem')).toEqual([]);
    expect(found.map(({ code }) => code)).toContain('notCreated');
    expect(existsSync(nowhere)).toBe(false);
  });
});

test('invalid settings are all reported, and the other checks run', async () => {
  const env = { PORT: 'x', TLS_CERT_FILE: join(home, 'none'), TLS_KEY_FILE: join(home, 'none') };
  const found = await run({ ...env, ANSWER_CACHE_MB: '1' });
  expect(faultsIn(found, 'settings')).toEqual([
    ...Array.from({ length: 3 }, () => 'settings invalid'),
    'settings renamed',
    'settings defaults',
  ]);
  expect(found.map(({ code }) => code)).toContain('answersReady');
});

describe('the database', () => {
  test('that refuses the password is named without it', async () => {
    const wrong = new URL(database.url);
    wrong.password = 'hunter2%2Fhunter2';
    const found = await run({ DATABASE_URL: wrong.href });
    expect(faultsIn(found, 'database', 'keys', 'jobs')).toEqual([
      'database failed',
      'keys notChecked',
      'jobs notChecked',
    ]);
    const text = found.map((one) => one.text).join('\n');
    expect(text).toContain(`at ${wrong.host}`);
    expect(text).toContain('refuses the user or the password');
    expect(text).not.toMatch(/hunter2/);
  });

  test('that accepts connections but does not respond ends the check in time', async () => {
    const sockets = new Set<{ destroy(): void }>();
    const silent = createServer((socket) => sockets.add(socket.on('error', () => {})));
    onTestFinished(() => sockets.forEach((one) => one.destroy()));
    const port = await listening(silent);
    const began = performance.now();
    const found = await run({ DATABASE_URL: `postgres://x:y@127.0.0.1:${port}/z` }, { ms: 300 });
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(faultsIn(found, 'database')).toEqual(['database late']);
    expect(new Set(found.map(({ check }) => check)).size).toBe(12);
  });

  test('that lacks rights, connections or migrations, or refuses changes, is reported', async () => {
    const own = await openTestDatabase();
    onTestFinished(() => own.close());
    const { pool } = own;
    const name = new URL(own.url).pathname.slice(1);
    // Other tests may use connections of the same server.
    const faults = async () =>
      faultsIn(await run({ DATABASE_URL: own.url }), 'database').filter(
        (one) => one !== 'database connectionsUsed',
      );
    expect(await faults()).toEqual([]);
    const [latest] = await pool<{ version: number }[]>`select max(version) as version from migrations`;
    await pool`delete from migrations where version = ${latest!.version}`;
    expect(await faults()).toEqual(['database notMigrated']);
    // The backup before the update needs a folder that can be written to.
    await inTransaction(pool, (tx) => createAccount(tx, { name: 'Acme' }));
    const file = join(home, 'no-folder');
    writeFileSync(file, '');
    const disk = async (BACKUP_DIR: string) =>
      faultsIn(await run({ DATABASE_URL: own.url, BACKUP_DIR }), 'disk');
    expect(await disk(file)).toContain('disk notWritable');
    for (const other of [join(home, 'backups'), 'off'])
      expect(await disk(other)).not.toContain('disk notWritable');
    await pool`insert into migrations (version, name, breaking) values (${latest!.version}, 'x', false)`;
    await pool`insert into migrations (version, name, breaking) values (9998, '9998_y.sql', false)`;
    expect(await faults()).toEqual(['database newer']);
    await pool`update migrations set breaking = true where version = 9998`;
    expect(await faults()).toEqual(['database tooNew']);
    await pool`delete from migrations where version = 9998`;
    await pool`revoke create on schema public from pg_database_owner`;
    expect(await faults()).toEqual(['database rights']);
    await pool`grant create on schema public to pg_database_owner`;
    await pool.unsafe(`revoke temporary on database ${name} from public, current_user`);
    expect(await faults()).toEqual(['database temporaryTables']);
    await pool.unsafe(`grant temporary on database ${name} to current_user`);
    await pool.unsafe(`alter database ${name} connection limit 20`);
    expect(await faults()).toEqual(['database fewConnections']);
    await pool.unsafe(`alter database ${name} connection limit -1`);
    await pool.unsafe(`alter database ${name} set default_transaction_read_only = on`);
    expect(await faults()).toEqual(['database readOnly']);
  });

  test('with another time is reported', async () => {
    const at = async (ms: number) => faultsIn(await run({}, { now: () => Date.now() + ms }), 'clock');
    expect((await at(600_000)).filter((one) => one !== 'clock notSynchronized')).toEqual(['clock differs']);
    expect((await at(-20_000)).filter((one) => one !== 'clock notSynchronized')).toEqual([
      'clock differsSlightly',
    ]);
  });
});

describe('keys', () => {
  /** Runs with another text in a key file, which is restored afterwards. */
  async function runWith(name: string, change: (path: string) => void, env: Env = {}) {
    const path = join(dataDir, 'keys', name);
    const before = readFileSync(path, 'utf8');
    try {
      change(path);
      return await run(env);
    } finally {
      writeFileSync(path, before, { mode: 0o600 });
      chmodSync(path, 0o600);
    }
  }

  test('that are missing, or belong to another installation, are reported', async () => {
    for (const change of [rmSync, (path: string) => writeFileSync(path, keyText(newChain()))]) {
      expect(faultsIn(await runWith('answers', change), 'keys')).toEqual(['keys answersMissing']);
      const found = await runWith('secrets', change, { SFTP_PORT: '1' });
      expect(faultsIn(found, 'keys')).toEqual(['keys secretsMissing']);
      expect(faultsIn(found, 'sftp')).toContain('sftp hostKeysSealed');
    }
    expect(faultsIn(await run({ SFTP_PORT: '1' }), 'sftp', 'keys')).toEqual([]);
  });

  test('that do not open an open week are reported', async () => {
    const { pool } = database;
    const flip = () => pool`
      update week_keys set wrapped = set_byte(wrapped, 30, 255 - get_byte(wrapped, 30))`;
    await flip();
    expect(faultsIn(await run(), 'keys')).toEqual(['keys weeksLost']);
    await flip();
    expect(faultsIn(await run(), 'keys')).toEqual([]);
  });

  test('that another user can read are reported', async () => {
    const found = await runWith('answers', (path) => chmodSync(path, 0o644));
    expect(faultsIn(found, 'keys')).toEqual(['keys readable']);
  });
});

test('jobs that wait too long are reported, and those that have failed', async () => {
  const { pool, url } = database;
  await pool`select graphile_worker.add_job('never', run_at := now() - interval '20 minutes')`;
  onTestFinished(async () => {
    await pool`select graphile_worker.complete_jobs(array_agg(id)) from graphile_worker.jobs`;
  });
  expect(faultsIn(await run(), 'jobs')).toEqual(['jobs stopped']);
  // A running service, as the checks see it.
  const service = openPool(url, 1);
  await service`set application_name = 'soundings jobs test'`;
  onTestFinished(() => service.end());
  expect(faultsIn(await run(), 'jobs')).toEqual(['jobs late']);
  await pool`select graphile_worker.permanently_fail_jobs(array_agg(id)) from graphile_worker.jobs`;
  expect(faultsIn(await run(), 'jobs')).toEqual(['jobs dead']);
});

describe('the disk', () => {
  test('that is full or read-only is reported', async ({ skip }) => {
    const small = mkdtempSync(join(tmpdir(), 'soundings-small-'));
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=128k', 'soundings-test', small], { stdio: 'ignore' });
    } catch {
      skip('SKIPPED: needs the right to mount a small file system (root)');
    }
    onTestFinished(() => void execFileSync('umount', [small]));
    /** The data directory of tests may be in memory. */
    const faults = async (options: DoctorOptions, env: Env = {}) =>
      faultsIn(await run(env, options), 'disk').filter((one) => one !== 'disk temporary');
    writeFileSync(join(small, 'file'), Buffer.alloc(100 * 1024));
    expect(await faults({ temporary: small })).toEqual(['disk notWritable']);
    rmSync(join(small, 'file'));
    expect(await faults({ temporary: small })).toEqual(['disk full']);
    const inMemory = await run({ DATA_DIR: join(small, 'data') });
    expect(faultsIn(inMemory, 'disk')).toEqual(['disk full', 'disk temporary']);
    execFileSync('mount', ['-o', 'remount,ro', small]);
    expect(await faults({ temporary: small })).toEqual(['disk notWritable']);
  });
});

test('the mail server is checked up to the sender, and nothing is sent', async () => {
  const options = { refuseSender: () => '550 5.7.60 not yours', login: { user: 'u', password: 'geheim-1' } };
  const smtp = await openSmtp(options);
  onTestFinished(() => smtp.close());
  const at = (password: string) => smtp.url.replace(/^smtp:\/\/(.*@)?/, `smtp://u:${password}@`);
  const refused = await run({ SMTP_URL: at('geheim-1') });
  expect(faultsIn(refused, 'mail')).toContain('mail senderRefused');
  const wrong = await run({ SMTP_URL: at('geheim-2') });
  expect(faultsIn(wrong, 'mail')).toContain('mail loginRefused');
  expect(JSON.stringify([refused, wrong])).not.toContain('geheim');
  expect([smtp.mails, smtp.receiving()]).toEqual([[], 0]);
});

describe('ports and PUBLIC_URL', () => {
  test('ports that other programs use are reported', async () => {
    const port = String(await listening(createServer((socket) => socket.end('SSH-2.0-Other\r\n'))));
    expect(faultsIn(await run({ PORT: port }), 'proxy')).toEqual(['proxy portTaken']);
    expect(faultsIn(await run({ SFTP_PORT: port }), 'sftp')).toEqual(['sftp portTaken']);
  });

  test('a proxy that the service does not notice is reported, and one that leads elsewhere', async () => {
    const answerKeys = { place: 'file' as const, directory: join(dataDir, 'keys') };
    const app = await startApp(
      { ...testConfig, answerKeys },
      Promise.resolve(database.url),
      openLog('silent'),
    );
    await app.started;
    onTestFinished(() => app.stop(5));
    const PORT = new URL(app.address).port;
    const proxy = async (headers: Record<string, string>) => {
      const server = createHttpServer((from, to) => {
        const sent = request(app.address + from.url, { headers: { ...from.headers, ...headers } }, (got) => {
          to.writeHead(got.statusCode ?? 0, got.headers);
          got.pipe(to);
        });
        from.pipe(sent);
      });
      return `http://127.0.0.1:${await listening(server)}`;
    };
    const faults = async (PUBLIC_URL: string) => faultsIn(await run({ PORT, PUBLIC_URL }), 'proxy', 'jobs');
    expect(await faults(app.address)).toEqual([]);
    expect(await faults(await proxy({}))).toEqual(['proxy metricsPublic']);
    expect(await faults(await proxy({ 'x-forwarded-for': '192.0.2.1' }))).toEqual([]);
    const elsewhere = createHttpServer((_from, to) => to.end('Hello'));
    expect(await faults(`http://127.0.0.1:${await listening(elsewhere)}`)).toEqual(['proxy otherService']);
    const moved = createHttpServer((_from, to) => to.writeHead(301, { location: app.address }).end());
    expect(await faults(`http://127.0.0.1:${await listening(moved)}`)).toEqual(['proxy redirected']);
    expect(await faults('http://127.0.0.1:9')).toEqual(['proxy unreachable']);
  });
});
