// How services and commands start, share, restart and stop the server of an embedded database.
import { spawn } from 'node:child_process';
import * as fs from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openEmbedded } from './embedded.ts';
import { until } from '../testing/until.ts';
import {
  end,
  isPostgres,
  kill,
  killServer,
  open,
  openElsewhere,
  pool,
  query,
  root,
  serverOf,
  usedDir,
  works,
  useDirectories,
} from './embedded-directories.fixture.ts';

useDirectories();

describe('a service', () => {
  test('that was killed leaves a server running, which the next service uses and stops', async () => {
    const dir = usedDir();
    const first = await openElsewhere(dir, 'service');
    await query(first.url, 'insert into kept values (-1)');
    const server = await serverOf(dir);
    await kill(first.child);
    const second = await open(dir, 'service');
    expect(second.url).toBe(first.url);
    expect(await serverOf(dir)).toBe(server);
    expect(await query(second.url, 'select n from kept where n = -1')).toEqual([{ n: -1 }]);
    await second.stop();
    expect(await serverOf(dir)).toBeUndefined();
  });

  test('loses no acknowledged commit when its server is killed, and continues at the same address', async () => {
    const dir = usedDir();
    const { url } = await open(dir, 'service', { fast: false });
    const sql = pool(url);
    for (let round = 0; round < 3; round++) {
      await until(() => works(sql));
      const base = round * 1_000_000;
      let acknowledged = base;
      const writing = (async () => {
        for (;;) {
          await sql`insert into kept values (${acknowledged + 1})`;
          acknowledged++;
        }
      })().catch(() => {});
      await until(async () => acknowledged > base + 50);
      const dead = await killServer(dir);
      await writing;
      await until(() => works(sql));
      expect(await serverOf(dir)).not.toBe(dead);
      const [kept] =
        await sql`select count(*)::int as n from kept where n > ${base} and n <= ${acknowledged}`;
      expect(kept).toEqual({ n: acknowledged - base });
    }
  });

  test('restarts its server even if a process of the old one is too busy to notice', async () => {
    const dir = usedDir();
    const { url } = await open(dir, 'service');
    const sql = pool(url);
    const endless = sql`select count(*) from generate_series(1, 1e12::bigint) a`.catch(String);
    await until(async () => (await sql`select from pg_stat_activity where query like '%1e12%'`).length > 1);
    await killServer(dir);
    await until(() => works(sql));
    expect(await endless).not.toContain('57014');
  });

  test('restarts its server after a normal stop request from outside', async () => {
    const dir = usedDir();
    const { url } = await open(dir, 'service');
    const sql = pool(url);
    expect(await works(sql)).toBe(true);
    const old = await killServer(dir, 'SIGTERM');
    await until(async () => ![old, undefined].includes(await serverOf(dir)));
    await until(() => works(sql));
  });

  test('refuses to start while another service runs, and names its process', async () => {
    const dir = usedDir();
    const first = await openElsewhere(dir, 'service');
    await expect(open(dir, 'service')).rejects.toMatchObject({
      name: 'Fault',
      kind: 'conflict',
      message: expect.stringMatching(new RegExp(`\\b${first.child.pid}\\b.*\\bDATA_DIR\\b`)),
    });
    expect(await query(first.url, 'select 1 as n')).toEqual([{ n: 1 }]);
  });

  test('still refuses another service after its server was killed, or its connection ended', async () => {
    const dir = usedDir();
    const { url } = await open(dir, 'service');
    const holders = `select pid from pg_locks where locktype = 'advisory' and mode = 'ExclusiveLock'`;
    const sql = pool(url);
    const newHolder = async (old: number): Promise<number | undefined> => {
      const rows = await sql.unsafe<{ pid: number }[]>(holders).catch(() => []);
      return rows[0]?.pid === old ? undefined : rows[0]?.pid;
    };
    const before = await until(() => newHolder(0));
    await sql`select pg_terminate_backend(${before})`;
    const between = await until(() => newHolder(before));
    await killServer(dir);
    await until(() => newHolder(between));
    await expect(open(dir, 'service')).rejects.toMatchObject({ kind: 'conflict' });
  });

  test('waits for a server that is stopping, then starts its own', async () => {
    const dir = usedDir();
    const { child, url } = await openElsewhere(dir, 'service');
    await kill(child);
    const guest = postgres(url, { max: 1, fetch_types: false });
    await guest`select 1`;
    const old = await killServer(dir, 'SIGTERM');
    await until(async () =>
      (await fs.readFile(join(dir, 'postgres', 'postmaster.pid'), 'utf8')).includes('stopping'),
    );
    const opening = open(dir, 'service');
    await expect(query(url, 'select 1')).rejects.toMatchObject({ code: '57P03' });
    expect(await serverOf(dir)).toBe(old);
    await guest.end();
    expect(await query((await opening).url, 'select 1 as n')).toEqual([{ n: 1 }]);
    expect(await serverOf(dir)).not.toBe(old);
  });

  test('leaves nothing running when it stops, even if it is stopped several times', async () => {
    const dir = usedDir();
    const embedded = await open(dir, 'service');
    const server = (await serverOf(dir)) ?? 0;
    await Promise.all([embedded.stop(), embedded.stop()]);
    await embedded.stop();
    expect(await isPostgres(server)).toBe(false);
    expect(await serverOf(dir)).toBeUndefined();
    const { size } = await fs.stat(join(dir, 'postgres.log'));
    await open(dir, 'service');
    const log = (await fs.readFile(join(dir, 'postgres.log'))).subarray(size).toString();
    expect(log).toContain('database system was shut down at');
    expect(log).not.toContain('recovery');
  });

  test('can be stopped at any time while its server is being restarted', async () => {
    const dir = usedDir();
    for (const delayMs of [0, 6, 12, 20]) {
      let begin: (value?: unknown) => void;
      const begun = new Promise((resolve) => (begin = resolve));
      const log = (line: string): void => (line.includes('Restarting it') ? begin() : undefined);
      const embedded = await openEmbedded(dir, { role: 'service', log, fast: true });
      await killServer(dir);
      await begun;
      await sleep(delayMs);
      await embedded.stop();
      // A command stops the server that it started, and leaves the server of a service running.
      const command = await open(dir, 'command');
      await command.stop();
      expect(await serverOf(dir)).toBeUndefined();
    }
  });
});

describe('a stale postmaster.pid', () => {
  test('with the number of a process that has ended is ignored, and its port is reused', async () => {
    const dir = usedDir();
    const { child, url } = await openElsewhere(dir, 'service');
    await kill(child);
    const dead = await killServer(dir);
    await until(async () => !(await isPostgres(dead)));
    expect(await serverOf(dir)).toBe(dead);
    expect((await open(dir, 'service')).url).toBe(url);
  });

  test('with the number of another process is ignored, and that process keeps running', async () => {
    const dir = usedDir();
    const { uid, gid } = await fs.stat(join(dir, 'postgres'));
    // PostgreSQL itself does not start while any process of its own user runs.
    const other = spawn('sleep', ['60'], { cwd: '/', ...(root && { uid, gid }) });
    onTestFinished(() => void other.kill());
    const file = join(dir, 'postgres', 'postmaster.pid');
    const rest = `${dir}/postgres\n1700000000\n28123\n\n127.0.0.1\n  1 1\nready   \n`;
    await fs.writeFile(file, `${other.pid}\n${rest}`, { mode: 0o600 });
    await fs.chown(file, uid, gid);
    const embedded = await open(dir, 'service');
    expect(await query(embedded.url, 'select 1 as n')).toEqual([{ n: 1 }]);
    await embedded.stop();
    expect([other.exitCode, other.signalCode]).toEqual([null, null]);
  });

  test('that a power failure left empty is ignored', async () => {
    const dir = usedDir();
    const file = join(dir, 'postgres', 'postmaster.pid');
    await fs.writeFile(file, '');
    await fs.utimes(file, 1_700_000_000, 1_700_000_000);
    expect(await query((await open(dir, 'service')).url, 'select 1 as n')).toEqual([{ n: 1 }]);
  });
});

describe('a command', () => {
  test('without a service starts the server and stops it', async () => {
    const dir = usedDir();
    const command = await open(dir, 'command');
    await query(command.url, 'insert into kept values (-2)');
    const server = (await serverOf(dir)) ?? 0;
    await command.stop();
    expect(await isPostgres(server)).toBe(false);
    expect(await query((await open(dir, 'command')).url, 'select n from kept where n = -2')).toEqual([
      { n: -2 },
    ]);
  });

  test('while a service runs, uses its server and leaves it running', async () => {
    const dir = usedDir();
    const service = await openElsewhere(dir, 'service');
    const command = await open(dir, 'command');
    expect(command.url).toBe(service.url);
    await command.stop();
    expect(await query(service.url, 'select 1 as n')).toEqual([{ n: 1 }]);
  });

  test('does not stop the server that it started if a service has started in the meantime', async () => {
    const dir = usedDir();
    const command = await openElsewhere(dir, 'command');
    const service = await open(dir, 'service');
    await end(command.child);
    expect(await query(service.url, 'select 1 as n')).toEqual([{ n: 1 }]);
  });

  test('leaves the server of a killed service running', async () => {
    const dir = usedDir();
    const service = await openElsewhere(dir, 'service');
    await kill(service.child);
    const command = await open(dir, 'command');
    await command.stop();
    expect(await query(service.url, 'select 1 as n')).toEqual([{ n: 1 }]);
  });

  test('while another command runs, finishes its work, whichever of the two started the server; the last one stops it', async () => {
    const dir = usedDir();
    const [first, second] = await Promise.all([openElsewhere(dir, 'command'), openElsewhere(dir, 'command')]);
    expect(first.url).toBe(second.url);
    const server = (await serverOf(dir)) ?? 0;
    await end(first.child);
    expect(await query(second.url, 'select 1 as n')).toEqual([{ n: 1 }]);
    await end(second.child);
    expect(await isPostgres(server)).toBe(false);
  });

  test('leaves nothing running when it ends at the same time as other commands', async () => {
    const dir = usedDir();
    for (let round = 0; round < 4; round++) {
      const commands = await Promise.all(
        [1, 2, 3, 4].map(() => openEmbedded(dir, { role: 'command', log: () => {}, fast: true })),
      );
      const server = (await serverOf(dir)) ?? 0;
      await Promise.all(commands.map((command) => command.stop()));
      expect(await isPostgres(server)).toBe(false);
    }
  });
});
