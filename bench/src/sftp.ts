// Uploads by SFTP, from OpenSSH's own client, beside OpenSSH's own server: one session, with a list of people and with a file
// that does not pack, and twenty at a time. What a
// thousand idle sessions cost, and how many sockets can be held open without a log-in.
// oxlint-disable no-await-in-loop -- one after another, or they would measure each other
import { accountById, createAccount } from '@soundings/server/src/accounts/accounts.ts';
import { createToken } from '@soundings/server/src/accounts/tokens.ts';
import { inTransaction } from '@soundings/server/src/db/db.ts';
import { freePort } from '@soundings/server/src/testing/free-port.ts';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { attribute, makeCompany } from './company.ts';
import { median, megabytes, type Row, timed } from './measure.ts';
import { type Another, type Service, startService } from './service.ts';

const megabyte = 1024 * 1024;
const fileBytes = 10 * megabyte;
/** A session that uploads `few` files is taken from one that uploads `many`: what is left is uploading alone. */
const [few, many] = [2, 12];
const parallel = 20;
const rounds = 5;
const idleSessions = 1000;

type Say = (progress: string) => void;
/** A server, and how the client is told to log in there. */
type Target = { port: number; user: string; options: string[]; env: Record<string, string>; folder: string };
type Bench = { service: Service; own: Another; target: Target; floor: Target | undefined; say: Say };

export async function benchSftp(say: Say): Promise<{ rows: Row[]; postgres: string }> {
  if (!isProgram('/usr/bin/sftp')) throw new Error('This needs sftp (Debian: openssh-client)');
  const service = await startService();
  try {
    const port = await freePort();
    const own = await service.another({ SFTP_PORT: String(port) });
    await writeFile(join(service.dataDir, 'people.csv'), listOfPeople());
    // What an XLSX holds is packed already: to pack it again makes it no smaller.
    await writeFile(join(service.dataDir, 'workbook.xlsx'), randomBytes(fileBytes));
    const target = await ownTarget(service, port);
    const openSsh = await startOpenSsh(service.dataDir);
    if (!openSsh) say('No floor: it needs sshd and sftp-server (Debian: openssh-server)');
    const bench = { service, own, target, floor: openSsh?.target, say };
    try {
      const rows = [
        await measureOne(bench, 'people.csv', 'Uploading 10 MiB of people as CSV by one session'),
        await measureOne(bench, 'workbook.xlsx', '– of bytes that do not pack'),
        await measureParallel(bench),
      ];
      openSsh?.server.kill();
      return {
        rows: [...rows, await measureIdle(bench), await measureSilent(bench)],
        postgres: service.postgres,
      };
    } finally {
      openSsh?.server.kill();
    }
  } finally {
    await service.stop();
  }
}

/** What a customer sends each night: as many different people as there are in 10 MiB. */
function listOfPeople(): Buffer {
  const { users, groups } = makeCompany({ users: 100_000, groups: 2000, oneTop: true });
  const names = new Map(groups.map(({ externalId, name }) => [externalId, name]));
  const rows = users.map((user) => {
    const { role, memberOf = [], adminOf = [] } = user.accessInfo ?? {};
    const { externalId, firstName, lastName, email, phone, language, externalProperties } = user;
    const workplace = externalProperties?.[attribute.name];
    const department = names.get(memberOf[0] ?? '');
    const person = [externalId, firstName, lastName, email, phone, language, workplace, role];
    return [...person, memberOf.join(','), department, adminOf.join(',')].join(';');
  });
  const headers =
    'EmployeeID;FirstName;LastName;Email;Phone;Language;Workplace;Role;Department;DepartmentName;AdminOf';
  const list = Buffer.from([headers, ...rows].join('\r\n'));
  if (list.length < fileBytes) throw new Error('The list of people is too short');
  return list.subarray(0, fileBytes);
}

async function ownTarget({ pool, dataDir }: Service, port: number): Promise<Target> {
  const account = await inTransaction(pool, async (tx) => {
    const { id } = await createAccount(tx, { name: 'Bench' });
    return accountById(tx, id);
  });
  const { token } = await createToken(pool, account.id, { name: 'bench', scopes: ['files'] });
  const askpass = join(dataDir, 'askpass');
  await writeFile(askpass, '#!/bin/sh\nprintf "%s\\n" "$TOKEN"\n', { mode: 0o700 });
  return {
    port,
    user: account.sftpUsername,
    options: ['-oPubkeyAuthentication=no', '-oBatchMode=no'],
    env: { TOKEN: token, SSH_ASKPASS: askpass, SSH_ASKPASS_REQUIRE: 'force' },
    folder: '/',
  };
}

/** OpenSSH's server as it comes, save that it lets twenty in at a time. Undefined: it is not installed. */
async function startOpenSsh(dataDir: string): Promise<{ server: ChildProcess; target: Target } | undefined> {
  const sftpServer = ['/usr/lib/openssh/sftp-server', '/usr/libexec/openssh/sftp-server'].find(isProgram);
  if (!isProgram('/usr/sbin/sshd') || sftpServer === undefined) return undefined;
  const folder = join(dataDir, 'openssh');
  mkdirSync(folder);
  if (userInfo().uid === 0) mkdirSync('/run/sshd', { recursive: true }); // where it goes when it gives up being root
  const [hostKey, key] = [join(folder, 'host'), join(folder, 'key')];
  for (const file of [hostKey, key]) {
    await ended(spawn('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file], { stdio: 'inherit' }));
  }
  const port = await freePort();
  const settings = {
    ListenAddress: `127.0.0.1:${port}`,
    HostKey: hostKey,
    AuthorizedKeysFile: `${key}.pub`,
    PidFile: 'none',
    StrictModes: 'no',
    UsePAM: 'no',
    PermitRootLogin: 'yes',
    MaxStartups: '100',
    Subsystem: `sftp ${sftpServer}`,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} ${value}\n`);
  await writeFile(join(folder, 'config'), lines.join(''));
  const server = spawn('/usr/sbin/sshd', ['-D', '-e', '-f', join(folder, 'config')], {
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  await untilListening(port);
  const target = { port, user: userInfo().username, options: ['-i', key], env: {}, folder };
  return { server, target };
}

function isProgram(file: string): boolean {
  if (!existsSync(file)) return false;
  accessSync(file, constants.X_OK);
  return true;
}

/** Uploads a file so many times in one session. */
async function upload(
  { dataDir }: Service,
  target: Target,
  file: string,
  times: number,
  as = 'bench',
): Promise<void> {
  const { port, user, options, env, folder } = target;
  // A temporary name: the service would begin to process what has its final one, and that is not measured here.
  const commands = Array.from({ length: times }, () => `put ${join(dataDir, file)} ${folder}/${as}.part\n`);
  const anyHost = ['-oStrictHostKeyChecking=no', '-oUserKnownHostsFile=/dev/null', '-oLogLevel=ERROR'];
  const args = ['-q', ...options, ...anyHost, '-b', '-', '-P', String(port), `${user}@127.0.0.1`];
  const child = spawn('/usr/bin/sftp', args, {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  child.stdin.end(commands.join(''));
  await ended(child);
}

async function ended(child: ChildProcess): Promise<void> {
  const [status] = (await once(child, 'exit')) as [number | null];
  if (status !== 0) throw new Error(`${child.spawnfile} has ended with ${status}`);
}

async function measureOne(bench: Bench, file: string, what: string): Promise<Row> {
  const { service, say } = bench;
  async function once10MB(target: Target): Promise<number> {
    const [short] = await timed(() => upload(service, target, file, few));
    const [long] = await timed(() => upload(service, target, file, many));
    await forget(service);
    return (long - short) / (many - few);
  }
  await once10MB(bench.target); // or the first would be measured while it is being compiled
  const { own, floor } = await alternately(bench, once10MB);
  return speed(what, own, floor, 1, 0.6, say);
}

async function measureParallel(bench: Bench): Promise<Row> {
  const { service, say } = bench;
  const { own, floor } = await alternately(bench, async (target) => {
    const uploads = Array.from({ length: parallel }, (_, i) => i);
    const [ms] = await timed(() =>
      Promise.all(uploads.map((i) => upload(service, target, 'people.csv', 1, `bench${i}`))),
    );
    await forget(service);
    return ms;
  });
  return speed(
    `Logging in and uploading 10 MiB by ${parallel} sessions at a time`,
    own,
    floor,
    parallel,
    1.5,
    say,
  );
}

/** Measures both in turn, so that what else the machine does meets both. */
async function alternately(
  { target, floor }: Bench,
  measure: (target: Target) => Promise<number>,
): Promise<{ own: number[]; floor: number[] }> {
  const times: { own: number[]; floor: number[] } = { own: [], floor: [] };
  for (let round = 0; round < rounds; round++) {
    if (floor) times.floor.push(await measure(floor));
    times.own.push(await measure(target));
  }
  return times;
}

/** What waits for its final name would be removed within the hour. */
async function forget({ pool }: Service): Promise<void> {
  await pool`delete from files where arrival is null`;
}

function speed(what: string, own: number[], floor: number[], files: number, atLeast: number, say: Say): Row {
  const rate = (times: number[]) => (files * fileBytes) / megabyte / (median(times) / 1000);
  const show = (times: number[]) => `${rate(times).toFixed(0)} MiB/s`;
  const row: Row = { what, measured: show(own) };
  say(`${what}: ${row.measured}`);
  if (floor.length === 0) return { ...row, floor: 'no sshd' };
  const ratio = rate(own) / rate(floor);
  return {
    ...row,
    floor: show(floor),
    ratio: `${ratio.toFixed(2)}×`,
    demand: `≥ ${atLeast.toFixed(1)}×`,
    holds: ratio >= atLeast,
  };
}

/** In a process that has done nothing yet: in one that has taken uploads, what they have left would make room. */
async function measureIdle({ service, target, say }: Bench): Promise<Row> {
  const { TOKEN: token = '' } = target.env;
  const port = String(await freePort());
  const own = await service.another({ SFTP_PORT: port });
  const clients = await service.beside('idle.ts', port, target.user, token);
  await clients.ask({ open: 20 }); // what is made once is made
  await sleep(5000);
  const before = own.memory.now();
  await clients.ask({ open: idleSessions });
  await sleep(5000);
  const after = own.memory.now();
  await clients.ask({ close: true });
  await own.stop();
  const what = `${idleSessions} idle sessions`;
  if (before === undefined || after === undefined) return { what, measured: 'the system does not tell' };
  const measured = megabytes(after - before);
  say(`${what}: ${measured}`);
  return { what, measured, demand: '≤ 40 MB', holds: after - before <= 40e6 };
}

async function measureSilent({ own, target, say }: Bench): Promise<Row> {
  const before = own.memory.now() ?? 0;
  const sockets: Socket[] = [];
  for (let i = 0; i < 150; i++) {
    const localAddress = `127.0.1.${1 + (i % 10)}`;
    const socket = connect({ host: '127.0.0.1', port: target.port, localAddress });
    socket.on('error', () => {});
    socket.resume();
    sockets.push(socket);
  }
  await sleep(2000);
  const open = () => sockets.filter((socket) => !socket.closed).length;
  const [held, after] = [open(), own.memory.now() ?? 0];
  const [ms] = await timed(async () => {
    while (open() > 0) await sleep(100);
  });
  const what = '150 sockets that say nothing';
  const measured = `${held} held, gone after ${Math.round(ms / 1000) + 2} s`;
  say(`${what}: ${measured}`);
  const memory = megabytes(Math.max(0, after - before));
  return { what, measured, memory, demand: '≤ 100, ≤ 61 s', holds: held <= 100 && ms + 2000 <= 61_000 };
}

async function untilListening(port: number): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const socket = connect({ host: '127.0.0.1', port });
    const isThere = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isThere) return;
    await sleep(50);
  }
  throw new Error('sshd does not listen');
}
