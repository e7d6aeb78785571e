// A real IMAP server with one mailbox, for tests: Dovecot, if it is installed.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../testing/processes/free-port.ts';
import { until } from '../../testing/until.ts';

export type Mailbox = {
  /** For the setting IMAP_URL. */
  url: string;
  /** Delivers emails, in this order. */
  deliver(emails: Uint8Array[]): Promise<void>;
  /** How many emails there are, and how many of them are unread. */
  counts(): Promise<{ all: number; unread: number }>;
  close(): Promise<void>;
};

/** The user that owns the emails: the one without rights, with number 65534 on all systems. */
const owner = '65534';

/** Starts the server. It must run as root, because Dovecot gives each of its processes another user. */
export async function openMailbox(): Promise<Mailbox> {
  const home = await mkdtemp(join(tmpdir(), 'soundings-imap-'));
  await chmod(home, 0o755);
  const [port, mail] = [await freePort(), join(home, 'mail')];
  for (const folder of ['new', 'cur', 'tmp']) await mkdir(join(mail, folder), { recursive: true });
  await promisify(execFile)('chown', ['-R', owner, mail]);
  const configuration = join(home, 'dovecot.conf');
  await writeFile(
    configuration,
    `base_dir = ${home}/run
log_path = ${home}/log
protocols = imap
listen = 127.0.0.1
ssl = no
first_valid_uid = 1
mail_location = maildir:${mail}
passdb {
  driver = static
  args = password=sec/ret
}
userdb {
  driver = static
  args = uid=${owner} gid=nogroup home=${home}
}
service imap-login {
  inet_listener imap {
    port = ${port}
  }
  inet_listener imaps {
    port = 0
  }
}
`,
  );
  const server = spawn('dovecot', ['-F', '-c', configuration], { stdio: 'ignore' });
  const ended = once(server, 'exit');
  let arrived = 0;
  const names = async () => [...(await readdir(join(mail, 'new'))), ...(await readdir(join(mail, 'cur')))];
  await until(async () =>
    (await readdir(join(home, 'run')).catch((): string[] => [])).includes('master.pid'),
  );
  return {
    url: `imap://bounces:sec%2Fret@127.0.0.1:${port}`,
    async deliver(emails) {
      for (const email of emails) {
        const file = join(mail, 'new', `${1_000 + arrived++}.test`);
        await writeFile(file, email, { mode: 0o644 });
        await promisify(execFile)('chown', [owner, file]);
      }
    },
    async counts() {
      const all = await names();
      return { all: all.length, unread: all.filter((name) => !/:2,\w*S/.test(name)).length };
    },
    async close() {
      server.kill();
      await ended;
      await rm(home, { recursive: true, force: true });
    },
  };
}
