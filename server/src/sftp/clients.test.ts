// Common SFTP programs can upload and list files, and everything else is refused. A program that is not installed is skipped
// with the name of its Debian package.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openPool } from '../db/db.ts';
import { openLog } from '../base/log.ts';
import { needs, searchPath } from '../testing/processes/programs.ts';
import { hostKeys } from './host-keys.ts';
import { type Company, type SftpFixture, logIn, openSftpFixture } from './sftp.fixture.ts';
import { contentOf } from '../files/store.ts';
import { selectFiles } from '../files/store.sql.ts';

let fixture: SftpFixture;
let folder: string;
/** Larger than a chunk, a window, and what any client sends ahead. */
const large = Buffer.alloc(3 * 1024 * 1024 + 7, 'EmployeeID;FirstName;LastName\r\n1;Åsa;Öberg\r\n');
const small = Buffer.from('EmployeeID;FirstName\r\n1;Åsa\r\n');

beforeAll(async () => {
  fixture = await openSftpFixture();
  folder = await mkdtemp(join(tmpdir(), 'soundings-sftp-'));
  await writeFile(join(folder, 'users.csv'), large);
  await writeFile(join(folder, 'small.csv'), small);
  await writeFile(join(folder, 'askpass'), '#!/bin/sh\nprintf "%s\\n" "$TOKEN"\n', { mode: 0o700 });
});
afterAll(async () => {
  await fixture.close();
  await rm(folder, { recursive: true });
});

type RunResult = { code: number; out: string };

/** Runs a program in the folder, without a terminal. `out` is everything that it prints. */
function run(program: string, args: string[], { env = {}, input = '' } = {}): Promise<RunResult> {
  return new Promise((resolve, reject) => {
    const options = {
      cwd: folder,
      env: { PATH: searchPath, HOME: folder, LC_ALL: 'C.UTF-8', ...env },
      timeout: 30_000,
    };
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      if (error && typeof error.code !== 'number') return reject(error);
      resolve({ code: error ? Number(error.code) : 0, out: stdout + stderr });
    });
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}

async function expectFiles({ id }: Company, expected: Record<string, Buffer>): Promise<void> {
  const files = await selectFiles(fixture.pool, id);
  expect(files.map(({ name }) => name)).toEqual(Object.keys(expected));
  for (const file of files) {
    const content = await contentOf(fixture.pool, id, file.id);
    expect(content.equals(expected[file.name] as Buffer)).toBe(true);
  }
}

const wrongType = /must end in \.csv, \.xls or \.xlsx/;

describe('OpenSSH', () => {
  const options = [
    '-oStrictHostKeyChecking=no',
    '-oUserKnownHostsFile=/dev/null',
    '-oPubkeyAuthentication=no',
    '-oBatchMode=no',
  ];
  const environment = (company: Company) => ({
    TOKEN: company.token,
    SSH_ASKPASS: './askpass',
    SSH_ASKPASS_REQUIRE: 'force',
  });
  const target = (company: Company) => `${company.username}@127.0.0.1`;

  test('sftp uploads and lists, and everything else is refused', async (context) => {
    needs(context, 'sftp', 'openssh-client');
    const company = await fixture.company();
    const input = [
      '-put users.csv',
      '-put small.csv renamed.csv',
      '-ls -l',
      '-put -p small.csv renamed.csv',
      '-get renamed.csv got.csv',
      '-put small.csv small.exe',
      '-rm users.csv',
      '-rename users.csv old.csv',
      '-mkdir sub',
      '-df',
      'put small.csv last.csv',
    ].join('\n');
    const args = ['-P', `${fixture.port}`, ...options, '-b', '-', target(company)];
    const { code, out } = await run('sftp', args, {
      env: environment(company),
      input,
    });
    expect(code).toBe(0);
    expect(out).toMatch(new RegExp(`^--w-------.* ${large.length} .* users\\.csv$`, 'm'));
    expect(out).toMatch(/open "\/renamed\.csv": Permission denied/);
    expect(out).toMatch(/open "\/small\.exe": Failure/);
    expect(out).toMatch(wrongType); // printed in addition to the code of the status
    expect(out).toMatch(/mkdir "\/sub": Permission denied/);
    await expectFiles(company, { 'last.csv': small, 'renamed.csv': small, 'users.csv': large });
  });

  test('sftp works with sshpass, as in a nightly job', async (context) => {
    needs(context, 'sftp', 'openssh-client');
    needs(context, 'sshpass', 'sshpass');
    const company = await fixture.company();
    const args = ['-e', 'sftp', '-P', `${fixture.port}`, ...options, '-b', 'batch', target(company)];
    await writeFile(join(folder, 'batch'), 'put users.csv\n');
    expect(await run('sshpass', args, { env: { SSHPASS: company.token } })).toMatchObject({ code: 0 });
    await writeFile(join(folder, 'batch'), 'put small.csv small.exe\n');
    expect(await run('sshpass', args, { env: { SSHPASS: company.token } })).toMatchObject({ code: 1 });
    await expectFiles(company, { 'users.csv': large });
  });

  test('scp uploads, but its old protocol is refused, because it needs a command', async (context) => {
    needs(context, 'scp', 'openssh-client');
    const company = await fixture.company();
    const env = environment(company);
    const scp = (...args: string[]) => run('scp', ['-P', `${fixture.port}`, ...options, ...args], { env });
    expect(await scp('users.csv', `${target(company)}:`)).toMatchObject({ code: 0 });
    expect(await scp('-p', 'small.csv', `${target(company)}:/named.csv`)).toMatchObject({ code: 0 });
    expect((await scp('small.csv', `${target(company)}:small.exe`)).code).not.toBe(0);
    expect((await scp(`${target(company)}:users.csv`, 'got.csv')).code).not.toBe(0);
    expect((await scp('-O', 'small.csv', `${target(company)}:old.csv`)).code).not.toBe(0);
    await expectFiles(company, { 'named.csv': small, 'users.csv': large });
  });

  test('sftp shows why no one can log in without the database', async (context) => {
    needs(context, 'sftp', 'openssh-client');
    const company = await fixture.company();
    const pool = openPool(fixture.databaseUrl, 1);
    const { port } = await fixture.startServer({ pool });
    await pool.end();
    const { code, out } = await run(
      'sftp',
      ['-P', `${port}`, ...options, '-b', '/dev/null', target(company)],
      {
        env: environment(company),
      },
    );
    expect(code).not.toBe(0);
    expect(out).toContain("The service can't check tokens at the moment. Try again later.");
  });
});

test('lftp uploads, also with a temporary name', async (context) => {
  needs(context, 'lftp', 'lftp');
  const company = await fixture.company();
  const lftp = (commands: string) =>
    run('lftp', [
      '-c',
      'set sftp:auto-confirm yes; set net:max-retries 1; set cmd:fail-exit yes; ' +
        `open -u ${company.username},${company.token} sftp://127.0.0.1:${fixture.port}; ${commands}`,
    ]);
  expect(await lftp('put users.csv; put small.csv -o other.csv')).toMatchObject({ code: 0 });
  const listed = await lftp('cls -l');
  expect(listed.out).toMatch(new RegExp(`^--w-------.* ${large.length} .* users\\.csv$`, 'm'));
  expect(await lftp('set xfer:use-temp-file yes; put small.csv -o users.csv')).toMatchObject({ code: 0 });
  expect((await lftp('put small.csv -o small.exe')).out).toMatch(wrongType);
  expect((await lftp('get users.csv -o got.csv')).out).toMatch(/Access failed/);
  expect((await lftp('rm users.csv')).out).toMatch(/Files can only be uploaded and listed/);
  await expectFiles(company, { 'other.csv': small, 'users.csv': small });
});

test('curl uploads and lists', async (context) => {
  needs(context, 'curl', 'curl');
  const company = await fixture.company();
  const url = `sftp://127.0.0.1:${fixture.port}/`;
  const curl = (...args: string[]) =>
    run('curl', ['-sS', '-k', '-u', `${company.username}:${company.token}`, ...args]);
  const { out, code } = await curl('-T', 'users.csv', url);
  if (/not supported/.test(out)) context.skip('needs a curl that knows SFTP (Debian: curl)');
  expect([code, out]).toEqual([0, '']);
  expect(await curl('-T', 'small.csv', `${url}named.csv`)).toMatchObject({ code: 0 });
  expect((await curl(url)).out).toMatch(new RegExp(`^--w-------.* ${large.length} .* users\\.csv$`, 'm'));
  expect((await curl('-T', 'small.csv', `${url}small.exe`)).code).not.toBe(0);
  expect((await curl(`${url}users.csv`)).code).not.toBe(0);
  await expectFiles(company, { 'named.csv': small, 'users.csv': large });
});

test('rclone uploads and lists', async (context) => {
  needs(context, 'rclone', 'rclone');
  const company = await fixture.company();
  const obscuredToken = (await run('rclone', ['obscure', company.token])).out.trim();
  const env = {
    RCLONE_CONFIG: '/dev/null',
    RCLONE_CONFIG_HERE_TYPE: 'sftp',
    RCLONE_CONFIG_HERE_HOST: '127.0.0.1',
    RCLONE_CONFIG_HERE_PORT: String(fixture.port),
    RCLONE_CONFIG_HERE_USER: company.username,
    RCLONE_CONFIG_HERE_PASS: obscuredToken,
  };
  const rclone = (...args: string[]) => run('rclone', [...args, '--retries', '1'], { env });
  expect(await rclone('copy', 'users.csv', 'here:')).toMatchObject({ code: 0 });
  expect(await rclone('copyto', 'small.csv', 'here:users.csv')).toMatchObject({ code: 0 });
  expect(await rclone('copyto', 'users.csv', 'here:other.csv')).toMatchObject({ code: 0 });
  expect((await rclone('lsl', 'here:')).out).toMatch(new RegExp(`^ *${large.length} .* other\\.csv$`, 'm'));
  expect((await rclone('copyto', 'small.csv', 'here:small.exe')).out).toMatch(wrongType);
  expect((await rclone('deletefile', 'here:users.csv')).out).toMatch(
    /permission denied|Files can only be uploaded and listed/i,
  );
  expect((await rclone('cat', 'here:users.csv')).code).not.toBe(0);
  await expectFiles(company, { 'other.csv': large, 'users.csv': small });
});

test('psftp and pscp of PuTTY upload and list', async (context) => {
  needs(context, 'psftp', 'putty-tools');
  const company = await fixture.company();
  const [{ fingerprint } = { fingerprint: '' }] = await hostKeys(
    fixture.pool,
    fixture.secrets,
    openLog('error'),
  );
  const args = ['-P', `${fixture.port}`, '-batch', '-hostkey', fingerprint, '-pw', company.token];
  const target = `${company.username}@127.0.0.1`;
  const commands = [
    'put users.csv',
    'put small.csv named.csv',
    'ls',
    'put small.csv small.exe',
    'get users.csv got.csv',
    'rm users.csv',
  ];
  await writeFile(join(folder, 'commands'), `${commands.join('\n')}\n`);
  const { out } = await run('psftp', [...args, '-b', 'commands', '-be', target]);
  expect(out).toMatch(new RegExp(`^--w-------.* ${large.length} .* users\\.csv$`, 'm'));
  expect(out).toMatch(/small\.exe: open for write: failure/);
  expect(out).toMatch(/users\.csv: open for read: permission denied/);
  expect(out).toMatch(/users\.csv: permission denied/);
  expect(await run('pscp', [...args, 'small.csv', `${target}:copied.csv`])).toMatchObject({ code: 0 });
  expect((await run('pscp', [...args, 'small.csv', `${target}:small.exe`])).code).not.toBe(0);
  await expectFiles(company, { 'copied.csv': small, 'named.csv': small, 'users.csv': large });
});

test('paramiko uploads and lists', async (context) => {
  needs(context, 'python3', 'python3-paramiko');
  const python = '/usr/bin/python3'; // Debian's own Python, which has the packages of Debian
  const installed = await run(python, ['-c', 'import paramiko']).catch(() => ({ code: 1 }));
  if (installed.code !== 0) context.skip('needs paramiko (Debian: python3-paramiko)');
  const company = await fixture.company();
  const program = `
import paramiko, sys
transport = paramiko.Transport(('127.0.0.1', int(sys.argv[1])))
transport.connect(username=sys.argv[2], password=sys.argv[3])
sftp = paramiko.SFTPClient.from_transport(transport)
print(sftp.put('users.csv', 'users.csv').st_size)
print(sftp.put('small.csv', 'small.tmp').st_size)
sftp.rename('small.tmp', 'small.csv')
sftp.utime('small.csv', (1, 1700000000))
print(int(sftp.stat('small.csv').st_mtime), sftp.listdir('.'), sftp.normalize('.'))
for attempt in [lambda: sftp.put('small.csv', 'small.exe'), lambda: sftp.open('users.csv').read(),
                lambda: sftp.remove('users.csv'), lambda: sftp.mkdir('sub'),
                lambda: sftp.posix_rename('small.csv', 'x.csv'), lambda: sftp.truncate('users.csv', 3)]:
    try:
        attempt()
        print('done')
    except Exception as error:
        print(error)
transport.close()
`;
  const { out, code } = await run(python, [
    '-c',
    program,
    `${fixture.port}`,
    company.username,
    company.token,
  ]);
  expect([code, ...out.trim().split('\n')]).toEqual([
    0,
    String(large.length),
    String(small.length),
    "1700000000 ['small.csv', 'users.csv'] /",
    expect.stringMatching(wrongType),
    '[Errno 13] Files can only be uploaded and listed',
    '[Errno 13] Files can only be uploaded and listed',
    '[Errno 13] Files can only be uploaded and listed',
    'Operation unsupported',
    "[Errno 13] The size of a file can't be set. Upload the whole file.",
  ]);
  await expectFiles(company, { 'small.csv': small, 'users.csv': large });
});

test('ssh2-sftp-client uploads and lists', async () => {
  const company = await fixture.company();
  const client = await logIn(fixture.port, company);
  onTestFinished(async () => void (await client.end()));
  await client.put(large, '/users.csv');
  await client.fastPut(join(folder, 'users.csv'), '/fast.csv');
  await Promise.all(['a', 'b', 'c', 'd'].map((name) => client.put(large, `/${name}.csv`)));
  expect(await client.exists('/users.csv')).toBe('-');
  expect(await client.exists('/other.csv')).toBe(false);
  expect((await client.list('/')).map(({ name, size }) => [name, size])).toEqual(
    ['a', 'b', 'c', 'd', 'fast', 'users'].map((name) => [`${name}.csv`, large.length]),
  );
  await expect(client.put(small, '/small.exe')).rejects.toThrow(wrongType);
  await expect(client.get('/users.csv')).rejects.toThrow('Files can only be uploaded and listed');
  await expect(client.delete('/users.csv')).rejects.toThrow('Files can only be uploaded and listed');
  await expect(client.append(small, '/users.csv')).rejects.toThrow('Upload the whole file');
  await expectFiles(
    company,
    Object.fromEntries(['a', 'b', 'c', 'd', 'fast', 'users'].map((name) => [`${name}.csv`, large])),
  );
});

test('ssh-audit finds no failures', async (context) => {
  needs(context, 'ssh-audit', 'ssh-audit');
  const { port } = await fixture.startServer();
  const { out } = await run('ssh-audit', ['-n', '-p', `${port}`, '127.0.0.1']);
  expect(out).toMatch(/\(kex\) curve25519-sha256 /);
  expect(out).not.toContain('[fail]');
  expect(out).toContain('kex-strict-s-v00@openssh.com');
});
