// Uploads over SFTP with OpenSSH's client (floor: OpenSSH's server): one session that uploads a list of people, one that uploads an
// incompressible file, and twenty sessions at a time. Also the memory of a thousand idle sessions, and how many connections stay
// open without signing in. Run one at a time, because parallel runs would affect each other's times.
import { accountById, createAccount } from '@soundings/server/src/accounts/accounts.ts';
import { createToken } from '@soundings/server/src/accounts/tokens.ts';
import { sizeText } from '@soundings/server/src/base/sizes.ts';
import { inTransaction } from '@soundings/server/src/db/db.ts';
import { freePort } from '@soundings/server/src/testing/processes/free-port.ts';
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
import { median, ratioText, type BenchRow, timed } from './measuring/measure.ts';
import type { Plans, Say, Sized } from './measuring/plans.ts';
import type { ServiceProcess, Service } from './measuring/service.ts';

type Plan = {
  /** The size of a file, in MiB. */
  file: number;
  /**
   * The time of a session that uploads `few` files is subtracted from the time of a session that uploads `many` files, so that only
   * uploading counts. If `few` is 0, nothing is subtracted.
   */
  few: number;
  many: number;
  /** Sessions that upload at the same time. */
  parallel: number;
  rounds: number;
  idleSessions: number;
  /** How many seconds silent connections are watched, after the first two. */
  silent: number;
  /** A factor for other pauses. */
  timeScale: number;
};

export const sftpPlans: Plans<Plan> = {
  whole: {
    file: 10,
    few: 2,
    many: 12,
    parallel: 20,
    rounds: 5,
    idleSessions: 1000,
    silent: 90,
    timeScale: 1,
  },
  smoke: {
    file: 1,
    few: 0,
    many: 1,
    parallel: 3,
    rounds: 1,
    idleSessions: 20,
    silent: 0,
    timeScale: 0.02,
  },
};

const megabyte = 1024 * 1024;
/** A server, and how the client signs in to it. */
type Target = { port: number; user: string; options: string[]; env: Record<string, string>; folder: string };
type Scene = {
  service: Service;
  plan: Plan;
  own: ServiceProcess;
  target: Target;
  floor: Target | undefined;
  say: Say;
};

/** The reason if there is no sftp program. */
export const noSftp = 'This needs sftp (Debian: openssh-client)';

export const hasSftp = (): boolean => isProgram('/usr/bin/sftp');

/** Measures uploads, idle sessions and silent connections. Throws if there is no sftp program. */
export const benchSftp: Sized<Plan> = (plan) => async (say, start) => {
  if (!hasSftp()) throw new Error(noSftp);
  const service = await start();
  try {
    const port = await freePort();
    const own = await service.another({ SFTP_PORT: String(port) });
    await writeFile(join(service.dataDir, 'people.csv'), listOfPeople(plan.file * megabyte));
    // The content of an XLSX is already compressed.
    await writeFile(join(service.dataDir, 'workbook.xlsx'), randomBytes(plan.file * megabyte));
    const target = await ownTarget(service, port);
    const openSsh = await startOpenSsh(service.dataDir);
    if (!openSsh) say('No floor: it needs sshd and sftp-server (Debian: openssh-server)');
    const scene = { service, plan, own, target, floor: openSsh?.target, say };
    try {
      const rows = [
        await measureOne(scene, 'people.csv', `Uploading ${plan.file} MiB of people as CSV in one session`),
        await measureOne(scene, 'workbook.xlsx', '– of incompressible bytes'),
        await measureParallel(scene),
      ];
      openSsh?.server.kill();
      return {
        rows: [...rows, await measureIdle(scene), await measureSilent(scene)],
        postgres: service.postgres,
      };
    } finally {
      openSsh?.server.kill();
    }
  } finally {
    await service.stop();
  }
};

/** Returns a typical nightly file: as many different people as fit into the size. */
function listOfPeople(bytes: number): Buffer {
  const { users, groups } = makeCompany({ users: Math.ceil(bytes / 100), groups: 2000, oneTop: true });
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
  if (list.length < bytes) throw new Error('The list of people is too short');
  return list.subarray(0, bytes);
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

/**
 * Starts OpenSSH's server with its default settings, except that it accepts twenty sign-ins at a time. Undefined if it is not installed.
 */
async function startOpenSsh(dataDir: string): Promise<{ server: ChildProcess; target: Target } | undefined> {
  const sftpServer = ['/usr/lib/openssh/sftp-server', '/usr/libexec/openssh/sftp-server'].find(isProgram);
  if (!isProgram('/usr/sbin/sshd') || sftpServer === undefined) return undefined;
  const folder = join(dataDir, 'openssh');
  mkdirSync(folder);
  if (userInfo().uid === 0) mkdirSync('/run/sshd', { recursive: true }); // used for privilege separation
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

/** Uploads a file several times in one session. */
async function upload(
  { dataDir }: Service,
  target: Target,
  file: string,
  times: number,
  as = 'bench',
): Promise<void> {
  const { port, user, options, env, folder } = target;
  // A temporary name, so that the service does not begin to process the file.
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
  if (status !== 0) throw new Error(`${child.spawnfile} ended with ${status}`);
}

async function measureOne(scene: Scene, file: string, what: string): Promise<BenchRow> {
  const { service, plan } = scene;
  const { few, many } = plan;
  async function oneFile(target: Target): Promise<number> {
    const [short] = few > 0 ? await timed(() => upload(service, target, file, few)) : [0];
    const [long] = await timed(() => upload(service, target, file, many));
    await deleteUploads(service);
    return (long - short) / (many - few);
  }
  await oneFile(scene.target); // warms up the code
  return speed(scene, what, await alternately(scene, oneFile), plan.file, 0.6);
}

async function measureParallel(scene: Scene): Promise<BenchRow> {
  const { service, plan } = scene;
  const { file, parallel } = plan;
  const times = await alternately(scene, async (target) => {
    const uploads = Array.from({ length: parallel }, (_, i) => i);
    const [ms] = await timed(() =>
      Promise.all(uploads.map((i) => upload(service, target, 'people.csv', 1, `bench${i}`))),
    );
    await deleteUploads(service);
    return ms;
  });
  const what = `Signing in and uploading ${file} MiB, ${parallel} sessions at a time`;
  return speed(scene, what, times, parallel * file, 1.5);
}

/** The times of the service and of the floor, in milliseconds. */
type Times = { own: number[]; floor: number[] };

/** Measures both alternately, so that other load on the machine affects both. */
async function alternately(
  { target, floor, plan }: Scene,
  measure: (target: Target) => Promise<number>,
): Promise<Times> {
  const times: Times = { own: [], floor: [] };
  for (let round = 0; round < plan.rounds; round++) {
    if (floor) times.floor.push(await measure(floor));
    times.own.push(await measure(target));
  }
  return times;
}

/** Deletes the uploads, which wait for their final name. */
async function deleteUploads({ pool }: Service): Promise<void> {
  await pool`delete from files where arrival is null`;
}

/**
 * Returns a row. `size`: how many MiB were uploaded in each of the times. `atLeast`: the target, as a share of the floor's rate.
 */
function speed({ say }: Scene, what: string, { own, floor }: Times, size: number, atLeast: number): BenchRow {
  const rate = (times: number[]) => size / (median(times) / 1000);
  const show = (times: number[]) => `${rate(times).toFixed(rate(times) < 10 ? 2 : 0)} MiB/s`;
  const row: BenchRow = { what, measured: show(own) };
  say(`${what}: ${row.measured}`);
  if (floor.length === 0) return { ...row, floor: 'no sshd' };
  const ratio = rate(own) / rate(floor);
  return {
    ...row,
    floor: show(floor),
    ratio: ratioText(ratio),
    target: `≥ ${atLeast.toFixed(1)}×`,
    met: ratio >= atLeast,
  };
}

/** Measures the memory of idle sessions. Uses a fresh process, because memory freed by earlier uploads would distort the result. */
async function measureIdle({ service, plan, target, say }: Scene): Promise<BenchRow> {
  const { TOKEN: token = '' } = target.env;
  const port = String(await freePort());
  const own = await service.another({ SFTP_PORT: port });
  const clients = await service.beside('idle.ts', port, target.user, token);
  await clients.request({ open: 20 }); // allocates everything that is needed just once
  await sleep(5000 * plan.timeScale);
  const before = own.memory.now();
  await clients.request({ open: plan.idleSessions });
  await sleep(5000 * plan.timeScale);
  const after = own.memory.now();
  await clients.request({ close: true });
  await own.stop();
  const what = `${plan.idleSessions} idle sessions`;
  if (before === undefined || after === undefined) return { what, measured: 'not available on this system' };
  const measured = sizeText(after - before);
  say(`${what}: ${measured}`);
  return { what, measured, target: '≤ 40 MB', met: after - before <= 40e6 };
}

async function measureSilent({ own, plan, target, say }: Scene): Promise<BenchRow> {
  const before = own.memory.now() ?? 0;
  const sockets: Socket[] = [];
  for (let i = 0; i < 150; i++) {
    const localAddress = `127.0.1.${1 + (i % 10)}`;
    const socket = connect({ host: '127.0.0.1', port: target.port, localAddress });
    socket.on('error', () => {});
    socket.resume();
    sockets.push(socket);
  }
  await sleep(2000 * plan.timeScale);
  const open = () => sockets.filter((socket) => !socket.closed).length;
  const [accepted, after] = [open(), own.memory.now() ?? 0];
  const [ms] = await timed(async () => {
    const until = performance.now() + plan.silent * 1000;
    while (open() > 0 && performance.now() < until) await sleep(100);
  });
  const left = open();
  for (const socket of sockets) socket.destroy();
  const what = '150 connections that send nothing';
  const end = Math.round(ms / 1000 + 2 * plan.timeScale);
  const measured = `${accepted} accepted, ${left > 0 ? `${left} still open` : 'closed'} after ${end} s`;
  say(`${what}: ${measured}`);
  const memory = sizeText(Math.max(0, after - before));
  return {
    what,
    measured,
    memory,
    target: '≤ 100, ≤ 61 s',
    met: accepted <= 100 && left === 0 && ms + 2000 <= 61_000,
  };
}

async function untilListening(port: number): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const socket = connect({ host: '127.0.0.1', port });
    const isListening = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isListening) return;
    await sleep(50);
  }
  throw new Error('sshd did not start listening');
}
