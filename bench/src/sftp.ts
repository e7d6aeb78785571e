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
import { median, megabytes, ratioText, type Row, timed } from './measure.ts';
import type { Plans, Say, Sized } from './plans.ts';
import type { Another, Service } from './service.ts';

type Plan = {
  /** MiB. */
  file: number;
  /**
   * The time of a session that uploads `few` files is subtracted from that of one that uploads `many`: what is left is
   * uploading alone. With 0 nothing is subtracted.
   */
  few: number;
  many: number;
  /** Sessions that upload at the same time. */
  parallel: number;
  rounds: number;
  idleSessions: number;
  /** Seconds for which sockets that say nothing are watched, after the first two. */
  silence: number;
  /** What other pauses are multiplied by. */
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
    silence: 90,
    timeScale: 1,
  },
  smoke: {
    file: 1,
    few: 0,
    many: 1,
    parallel: 3,
    rounds: 1,
    idleSessions: 20,
    silence: 0,
    timeScale: 0.02,
  },
};

const megabyte = 1024 * 1024;
/** A server, and how the client is told to log in there. */
type Target = { port: number; user: string; options: string[]; env: Record<string, string>; folder: string };
type Scene = {
  service: Service;
  plan: Plan;
  own: Another;
  target: Target;
  floor: Target | undefined;
  say: Say;
};

/** Why it can't run, where there is no sftp. */
export const noSftp = 'This needs sftp (Debian: openssh-client)';

export const hasSftp = (): boolean => isProgram('/usr/bin/sftp');

/** Uploads beside OpenSSH's server, idle sessions, and sockets that say nothing. Throws where there is no sftp. */
export const benchSftp: Sized<Plan> = (plan) => async (say, start) => {
  if (!hasSftp()) throw new Error(noSftp);
  const service = await start();
  try {
    const port = await freePort();
    const own = await service.another({ SFTP_PORT: String(port) });
    await writeFile(join(service.dataDir, 'people.csv'), listOfPeople(plan.file * megabyte));
    // What an XLSX holds is packed already: to pack it again makes it no smaller.
    await writeFile(join(service.dataDir, 'workbook.xlsx'), randomBytes(plan.file * megabyte));
    const target = await ownTarget(service, port);
    const openSsh = await startOpenSsh(service.dataDir);
    if (!openSsh) say('No floor: it needs sshd and sftp-server (Debian: openssh-server)');
    const scene = { service, plan, own, target, floor: openSsh?.target, say };
    try {
      const rows = [
        await measureOne(scene, 'people.csv', `Uploading ${plan.file} MiB of people as CSV by one session`),
        await measureOne(scene, 'workbook.xlsx', '– of bytes that do not pack'),
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

/** What a customer sends each night: as many different people as there are in so many bytes. */
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

async function measureOne(scene: Scene, file: string, what: string): Promise<Row> {
  const { service, plan } = scene;
  const { few, many } = plan;
  async function oneFile(target: Target): Promise<number> {
    const [short] = few > 0 ? await timed(() => upload(service, target, file, few)) : [0];
    const [long] = await timed(() => upload(service, target, file, many));
    await forget(service);
    return (long - short) / (many - few);
  }
  await oneFile(scene.target); // or the first would be measured while it is being compiled
  return speed(scene, what, await alternately(scene, oneFile), plan.file, 0.6);
}

async function measureParallel(scene: Scene): Promise<Row> {
  const { service, plan } = scene;
  const { file, parallel } = plan;
  const times = await alternately(scene, async (target) => {
    const uploads = Array.from({ length: parallel }, (_, i) => i);
    const [ms] = await timed(() =>
      Promise.all(uploads.map((i) => upload(service, target, 'people.csv', 1, `bench${i}`))),
    );
    await forget(service);
    return ms;
  });
  const what = `Logging in and uploading ${file} MiB by ${parallel} sessions at a time`;
  return speed(scene, what, times, parallel * file, 1.5);
}

/** Milliseconds. */
type Times = { own: number[]; floor: number[] };

/** Measures both in turn, so that what else the machine does meets both. */
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

/** What waits for its final name would be removed within the hour. */
async function forget({ pool }: Service): Promise<void> {
  await pool`delete from files where arrival is null`;
}

/** `size`: MiB that were uploaded in each of the times. `atLeast`: the target, as a share of the floor's rate. */
function speed({ say }: Scene, what: string, { own, floor }: Times, size: number, atLeast: number): Row {
  const rate = (times: number[]) => size / (median(times) / 1000);
  const show = (times: number[]) => `${rate(times).toFixed(rate(times) < 10 ? 2 : 0)} MiB/s`;
  const row: Row = { what, measured: show(own) };
  say(`${what}: ${row.measured}`);
  if (floor.length === 0) return { ...row, floor: 'no sshd' };
  const ratio = rate(own) / rate(floor);
  return {
    ...row,
    floor: show(floor),
    ratio: ratioText(ratio),
    demand: `≥ ${atLeast.toFixed(1)}×`,
    holds: ratio >= atLeast,
  };
}

/** In a process that has done nothing yet: in one that has taken uploads, what they have left would make room. */
async function measureIdle({ service, plan, target, say }: Scene): Promise<Row> {
  const { TOKEN: token = '' } = target.env;
  const port = String(await freePort());
  const own = await service.another({ SFTP_PORT: port });
  const clients = await service.beside('idle.ts', port, target.user, token);
  await clients.ask({ open: 20 }); // what is made once is made
  await sleep(5000 * plan.timeScale);
  const before = own.memory.now();
  await clients.ask({ open: plan.idleSessions });
  await sleep(5000 * plan.timeScale);
  const after = own.memory.now();
  await clients.ask({ close: true });
  await own.stop();
  const what = `${plan.idleSessions} idle sessions`;
  if (before === undefined || after === undefined) return { what, measured: 'the system does not tell' };
  const measured = megabytes(after - before);
  say(`${what}: ${measured}`);
  return { what, measured, demand: '≤ 40 MB', holds: after - before <= 40e6 };
}

async function measureSilent({ own, plan, target, say }: Scene): Promise<Row> {
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
  const [held, after] = [open(), own.memory.now() ?? 0];
  const [ms] = await timed(async () => {
    const until = performance.now() + plan.silence * 1000;
    while (open() > 0 && performance.now() < until) await sleep(100);
  });
  const left = open();
  for (const socket of sockets) socket.destroy();
  const what = '150 sockets that say nothing';
  const end = Math.round(ms / 1000 + 2 * plan.timeScale);
  const measured = `${held} held, ${left > 0 ? `${left} still there` : 'gone'} after ${end} s`;
  say(`${what}: ${measured}`);
  const memory = megabytes(Math.max(0, after - before));
  return {
    what,
    measured,
    memory,
    demand: '≤ 100, ≤ 61 s',
    holds: held <= 100 && left === 0 && ms + 2000 <= 61_000,
  };
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
