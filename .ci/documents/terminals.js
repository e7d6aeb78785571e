// Machines of their own (machine), and terminals on them.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

/** Returns the result of the condition once it is truthy. Throws after `seconds`. */
export async function until(what, seconds, condition) {
  for (const deadline = Date.now() + seconds * 1000; Date.now() < deadline; await wait(250)) {
    const met = await condition();
    if (met) return met;
  }
  throw new Error(`${what} did not happen within ${seconds} seconds.`);
}

/** Boots a machine whose changes are in a folder. */
export async function boot(folder) {
  const spaces = '--mount --pid --fork --kill-child --net --uts --ipc --cgroup'.split(' ');
  // It ends with this process, however that ends.
  const words = ['--pdeathsig', 'KILL', 'unshare', ...spaces, '.ci/documents/machine', folder];
  const child = spawn('setpriv', words, { stdio: ['ignore', 'ignore', 'inherit'] });
  let hasEnded = false;
  child.on('exit', () => (hasEnded = true));
  const inside = await until('The machine', 60, () => {
    if (hasEnded) throw new Error('The machine did not start.');
    try {
      return execFileSync('pgrep', ['--parent', String(child.pid), '--exact', 'systemd'], {
        encoding: 'utf8',
      }).trim();
    } catch {
      return undefined;
    }
  });
  const enter = [
    '--target',
    inside,
    '--mount',
    '--pid',
    '--net',
    '--uts',
    '--ipc',
    '--cgroup',
    '--root',
    '--wd',
  ];
  const terminals = [];
  const machine = {
    /** Opens a terminal in a directory. `user`: whose; `environment`: what this user has set. */
    terminal(directory, { user = 'root', environment = {} } = {}) {
      const opened = openTerminal(enter, directory, { user, environment });
      terminals.push(opened);
      return opened;
    },
    async stop() {
      for (const one of terminals) one.close();
      child.kill('SIGKILL'); // and with it everything inside
      await until('The end of the machine', 60, () => hasEnded && !existsSync(`/proc/${inside}`));
    },
  };
  try {
    await until('Starting systemd', 120, async () => {
      const { output } = await machine.terminal('/').run('systemctl is-system-running');
      return /running|degraded/.test(output);
    });
    return machine;
  } catch (error) {
    await machine.stop();
    throw error;
  }
}

const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

function openTerminal(enter, directory, { user, environment }) {
  const variables = Object.entries({
    PATH: path,
    LANG: 'C.UTF-8',
    HOME: user === 'root' ? '/root' : directory,
    ...environment,
  }).map((pair) => pair.join('='));
  const shell = [
    'runuser',
    '-u',
    user,
    '--',
    'env',
    '-i',
    ...variables,
    'sh',
    '-c',
    `cd ${directory} && exec bash --norc`,
  ];
  const child = spawn('nsenter', [...enter, ...shell], { stdio: 'pipe', detached: true });
  let [text, hasEnded] = ['', false];
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk) => (text += chunk));
  child.on('exit', () => (hasEnded = true));
  child.stdin.on('error', () => {});
  child.stdin.write('set -o pipefail\n');
  let count = 0;
  const terminal = {
    /** Everything that was printed so far. */
    printed: () => text,
    hasEnded: () => hasEnded,
    /** Types a command without waiting for its end. `input`: what the command reads. Later commands see what it has set. */
    type(command, input = '') {
      const encoded = (one) => `"$(base64 -d <<<'${Buffer.from(one).toString('base64')}')"`;
      const reads = input === '' ? '</dev/null' : `<<<${encoded(input)}`;
      child.stdin.write(
        `{ eval ${encoded(command)}; } ${reads} 2>&1; printf '\\n<%s ended: %s>\\n' ${++count} $?\n`,
      );
      return count;
    },
    /** Runs a command, and returns its exit status and output. */
    async run(command, { input, seconds = 400 } = {}) {
      const start = text.length;
      const end = new RegExp(`\\n<${terminal.type(command, input)} ended: (\\d+)>\\n`);
      await until(command, seconds, () => hasEnded || end.test(text.slice(start)));
      const [whole, status] = end.exec(text.slice(start)) ?? ['', NaN];
      return { status: Number(status), output: text.slice(start).replace(whole, '').trim() };
    },
    /** Presses Ctrl-C, and waits until what runs has ended. */
    async interrupt() {
      process.kill(-child.pid, 'SIGINT');
      await until('Stopping', 200, () => hasEnded || /<\d+ ended: \d+>\n$/.test(text));
    },
    close() {
      if (!hasEnded) process.kill(-child.pid, 'SIGKILL');
    },
  };
  return terminal;
}
