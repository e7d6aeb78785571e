// Replicas behind a load balancer are restarted one after another while people and programs use them: no request fails, and
// nothing that was acknowledged is lost. ROLLING_RESTARTS sets the number of restarts; without it, the test is skipped.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { dayIn } from '@soundings/contract/weeks.ts';
import SftpClient from 'ssh2-sftp-client';
import { expect, onTestFinished, test } from 'vitest';
import { createAccount } from './accounts/accounts.ts';
import { createToken } from './accounts/tokens.ts';
import { randomText } from './base/crypto/secrets.ts';
import { inTransaction, type Pool } from './db/db.ts';
import { createUser } from './people/users.ts';
import { weekdayOf } from './rounds/send-times.ts';
import { AnswerKeys } from './sealing/answer-keys.ts';
import { askPeople } from './testing/asking.ts';
import { openTestDatabase } from './testing/database.ts';
import { freePort } from './testing/processes/free-port.ts';
import { home, type Service, started, useDirectory } from './testing/processes/processes.ts';
import { needs, searchPath } from './testing/processes/programs.ts';
import { until } from './testing/until.ts';

useDirectory();

const restarts = Number(process.env['ROLLING_RESTARTS'] ?? 0);

async function newAccount(pool: Pool) {
  const account = await inTransaction(pool, async (tx) => {
    const created = await createAccount(tx, { name: 'Test' });
    await createUser(tx, created.id, { firstName: 'Ada', lastName: 'Admin', role: 'Administrator' });
    return created;
  });
  const scopes = ['data', 'organization', 'files'] as const;
  const { token } = await createToken(pool, account.id, { name: 'test', scopes: [...scopes] });
  return { id: account.id, username: account.sftpUsername, token };
}

type Ports = { web: number; sftp: number };

/** Starts HAProxy with a health check each half second: HTTP on one port, SFTP on another. */
async function openBalancer(replicas: Ports[]) {
  const [web, sftp, statistics] = [await freePort(), await freePort(), await freePort()];
  const servers = (line: (ports: Ports) => string) =>
    replicas.map((ports, i) => `  server replica${i} ${line(ports)}`).join('\n');
  const file = join(home, 'haproxy.cfg');
  const settings = `
defaults
  timeout connect 2s
  timeout client 30s
  timeout server 30s
  option httpchk GET /health/ready
  default-server check inter 500ms fall 2 rise 2
listen web
  mode http
  option forwardfor
  bind 127.0.0.1:${web}
${servers((one) => `127.0.0.1:${one.web}`)}
listen sftp
  mode tcp
  bind 127.0.0.1:${sftp}
${servers((one) => `127.0.0.1:${one.sftp} port ${one.web} send-proxy-v2`)}
listen statistics
  mode http
  bind 127.0.0.1:${statistics}
  stats enable
  stats uri /
`;
  await writeFile(file, settings);
  const child = spawn('haproxy', ['-db', '-f', file], {
    env: { PATH: searchPath },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  onTestFinished(() => end(child));
  /** Returns how many servers of a kind receive requests. */
  const up = async (kind: 'web' | 'sftp') => {
    const response = await fetch(`http://127.0.0.1:${statistics}/;csv`).catch(() => undefined);
    const lines = (await response?.text())?.split('\n') ?? [];
    return lines.filter((line) => line.startsWith(`${kind},replica`) && line.split(',')[17] === 'UP').length;
  };
  const allUp = async () => (await up('web')) === replicas.length && (await up('sftp')) === replicas.length;
  return {
    address: `http://127.0.0.1:${web}`,
    sftpPort: sftp,
    untilAllUp: () =>
      until(allUp).catch((error: unknown) => Promise.reject(new Error(`${error}\n${errors}`))),
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** A repeated action: `done` is how often it ran, `failures` are its errors. */
type Load = { done: number; failures: string[] };

/** Repeats an action, with a pause between, until `isOver`. `act` returns an error message if it fails. */
async function repeat(
  act: (turn: number) => Promise<string | undefined>,
  pause: number,
  isOver: () => boolean,
): Promise<Load> {
  const load: Load = { done: 0, failures: [] };
  for (let turn = 0; !isOver(); turn++) {
    const failure = await act(turn).catch((error: unknown) => {
      const { cause } = error as { cause?: unknown };
      return `${error} ${cause ?? ''}`;
    });
    load.done++;
    if (failure !== undefined) load.failures.push(failure);
    await wait(pause);
  }
  return load;
}

test(
  `${restarts} rolling restarts of two replicas behind HAProxy, under reads, pushes, answers, uploads and SFTP: no request fails`,
  { timeout: 300_000 + restarts * 20_000 },
  async (context) => {
    if (restarts === 0)
      context.skip('SKIPPED: it takes minutes; ROLLING_RESTARTS says how many there are (.ci/run: 30)');
    needs(context, 'haproxy', 'haproxy');
    const database = await openTestDatabase();
    onTestFinished(() => database.close());
    const { pool } = database;
    const dataDir = join(home, 'rolling');
    const ports = [
      { web: await freePort(), sftp: await freePort() },
      { web: await freePort(), sftp: await freePort() },
    ];
    const open = ({ web, sftp }: Ports) =>
      started(dataDir, {
        DATABASE_URL: database.url,
        PORT: String(web),
        SFTP_PORT: String(sftp),
        PUBLIC_URL: 'http://surveys.example.com',
        TRUST_PROXY: '127.0.0.1',
        RATE_LIMIT: '0',
        DRAIN_SECONDS: '2',
      });
    const replicas: Service[] = [await open(ports[0]!), await open(ports[1]!)];
    const balancer = await openBalancer(ports);
    const account = await newAccount(pool);
    const asking = await newAccount(pool);
    const today = dayIn('UTC', Date.now());
    const keys = new AnswerKeys(pool, { place: 'file', directory: join(dataDir, 'keys') });
    const { links, questionIds } = await askPeople({ pool, keys }, asking.id, {
      count: 20,
      now: Date.now(),
      weekday: weekdayOf(today),
      hour: 0,
      anyHour: true,
      fromDay: today,
      reminderDays: null,
      reminderHour: null,
    });
    const question = questionIds.get('workload-amount') as number;
    const visit = randomText(27);
    const uploaded: string[] = [];
    const csv = (turn: number) => `EmployeeID;FirstName;LastName\nf1;Bo;Turn ${turn}\n`;

    const send = async (expected: number, path: string, init: RequestInit = {}) => {
      const response = await fetch(balancer.address + path, init);
      const text = await response.text();
      return response.status === expected ? undefined : `${path.slice(0, 12)} ${response.status} ${text}`;
    };
    const authorization = account.token;
    const json = { authorization, 'content-type': 'application/json' };
    const acts = {
      read: () => send(200, '/v1/groups', { headers: { authorization } }),
      push: (turn: number) => {
        const users = [{ externalId: 'a', firstName: 'Ann', lastName: `Turn ${turn}` }];
        const body = JSON.stringify({ settings: { validateOnly: false }, data: { users } });
        return send(200, '/v1/organization', { method: 'POST', headers: json, body });
      },
      answer: (turn: number) =>
        send(204, `/a/${links[turn % links.length]}/answers`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', cookie: `soundings_visit=${visit}` },
          body: JSON.stringify({ question, value: 1 + (turn % 5) }),
        }),
      upload: async (turn: number) => {
        const form = new FormData();
        form.append('file', new Blob([csv(turn)]), `web${turn}.csv`);
        const failure = await send(200, '/v1/storage/uploadFile', {
          method: 'POST',
          headers: { authorization },
          body: form,
        });
        if (failure === undefined) uploaded.push(`web${turn}.csv`);
        return failure;
      },
      sftp: async (turn: number) => {
        const client = new SftpClient('test', { error: () => {}, end: () => {}, close: () => {} });
        const { username, token: password } = account;
        const sock = connect({ host: '127.0.0.1', port: balancer.sftpPort, noDelay: true });
        await client.connect({ sock, username, password });
        await client.put(Buffer.from(csv(turn)), `sftp${turn}.csv`);
        uploaded.push(`sftp${turn}.csv`);
        await client.list('/');
        await client.end();
        return undefined;
      },
    };
    await balancer.untilAllUp();

    const state = { isOver: false };
    const under = (act: (turn: number) => Promise<string | undefined>, pause: number) =>
      repeat(act, pause, () => state.isOver);
    const loads = {
      reads: under(acts.read, 20),
      pushes: under(acts.push, 100),
      answers: under(acts.answer, 40),
      uploads: under(acts.upload, 1000),
      sftp: under(acts.sftp, 700),
    };
    for (let i = 0; i < restarts; i++) {
      const replica = replicas[i % 2] as Service;
      replica.child.kill('SIGTERM');
      expect(await replica.exited).toBe(0);
      replicas[i % 2] = await open(ports[i % 2]!);
      await balancer.untilAllUp();
    }
    state.isOver = true;
    const failures: Record<string, string[]> = {};
    for (const [name, load] of Object.entries(loads)) {
      const { done, failures: some } = await load;
      failures[name] = done > 2 * restarts ? some : [`only ${done} were sent`];
    }
    expect(failures).toEqual({ reads: [], pushes: [], answers: [], uploads: [], sftp: [] });
    const kept = await pool<{ name: string }[]>`select name from files where account_id = ${account.id}`;
    expect(kept.map(({ name }) => name).toSorted()).toEqual(uploaded.toSorted());
  },
);
