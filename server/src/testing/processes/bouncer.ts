// PgBouncer in front of the database of a test.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { until } from '../until.ts';
import { freePort } from './free-port.ts';
import { searchPath } from './programs.ts';

/** Starts PgBouncer with these settings until the test ends, and returns the address of a database through it. */
export async function openBouncer(databaseUrl: string, settings: string): Promise<string> {
  const { hostname, port: target, username, password, pathname } = new URL(databaseUrl);
  const port = await freePort();
  const directory = await mkdtemp(join(tmpdir(), 'soundings-bouncer-'));
  await chmod(directory, 0o755); // it runs as another user
  const file = join(directory, 'pgbouncer.ini');
  await writeFile(
    file,
    `[databases]
* = host=${hostname} port=${target} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
${settings}
`,
  );
  const isRoot = process.getuid?.() === 0;
  const child = spawn('pgbouncer', [...(isRoot ? ['-u', 'nobody'] : []), file], {
    env: { PATH: searchPath },
    stdio: 'ignore',
  });
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await rm(directory, { recursive: true, force: true });
  });
  await until(() => canConnect(port));
  return `postgres://${username}:${password}@127.0.0.1:${port}${pathname}`;
}

const canConnect = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
