// A customer's nightly job: the script from docs/examples uses the sftp program of OpenSSH against the whole service.
import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type FileReport, isUnderWay } from '@soundings/contract/storage.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accountById, changeAccount } from '../accounts/accounts.ts';
import { openLog } from '../base/log.ts';
import { inTransaction } from '../db/db.ts';
import { deleteGroupResults } from '../results/published-figures.ts';
import { listRuns } from '../sync/runs.ts';
import { freePort } from '../testing/processes/free-port.ts';
import { openSmtp, type TestSmtp } from '../testing/smtp.ts';
import { until } from '../testing/until.ts';
import { openWorld, type TestAccount, type World } from '../testing/world.ts';
import { approveRun } from './approval.ts';
import { refuseOutdated } from '../scim/applying/removals.ts';

const exec = promisify(execFile);
const script = fileURLToPath(new URL('../../../docs/examples/nightly-upload.sh', import.meta.url));
const missing = ['sftp', 'sshpass', 'ssh-keyscan'].filter((program) => spawnSync(program, ['-V']).error);

let home: string;
let world: World;
let smtp: TestSmtp;
let account: TestAccount;
let port: number;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'soundings-nightly-'));
  smtp = await openSmtp();
  port = await freePort();
  world = await openWorld(openLog('error'), { sftpPort: port, smtpUrl: smtp.url });
  account = await world.account();
  const settings = { createGroupsFromUsers: true, notify: ['hr@example.com'], maxUsersCreated: 1000 };
  await inTransaction(world.pool, (tx) => changeAccount(tx, account.id, settings));
});

afterAll(async () => {
  await world?.close();
  await smtp?.close();
  await rm(home, { recursive: true, force: true });
});

const peopleOf = (count: number, departmentOf: (i: number) => string) =>
  [
    'EmployeeID;FirstName;LastName;Department',
    ...Array.from(
      { length: count },
      (_, i) => `${String(i).padStart(5, '0')};First ${i};Last;${departmentOf(i)}`,
    ),
  ].join('\r\n');

/** Runs one night: exports the list, runs the script and returns the report of the file. */
async function night(list: string): Promise<FileReport> {
  const file = join(home, 'export of tonight.csv');
  await writeFile(file, list);
  const before = (await listRuns(world.pool, account.id, 50)).length;
  const { sftpUsername } = await accountById(world.pool, account.id);
  await exec(script, [file], {
    env: {
      PATH: process.env['PATH'],
      SOUNDINGS_HOST: '127.0.0.1',
      SOUNDINGS_PORT: String(port),
      SOUNDINGS_USER: sftpUsername,
      SOUNDINGS_TOKEN_FILE: join(home, 'token'),
      SOUNDINGS_KNOWN_HOSTS: join(home, 'known_hosts'),
    },
  });
  await until(async () => (await listRuns(world.pool, account.id, 50)).length > before);
  return until(async () => {
    const { body } = await world.request<FileReport>('GET', '/v1/storage/files/users.csv/report', {
      headers: { authorization: account.token },
    });
    return !isUnderWay(body.outcome) && body;
  });
}

test.skipIf(missing.length > 0)(
  `creates, updates, waits for approval and is approved, with a readable message for each step${missing.length > 0 ? ` (absent: ${missing.join(', ')}; Debian: openssh-client, sshpass)` : ''}`,
  async () => {
    await writeFile(join(home, 'token'), account.token, { mode: 0o600 });
    const { stdout: keys } = await exec('ssh-keyscan', ['-p', String(port), '127.0.0.1']);
    await writeFile(join(home, 'known_hosts'), keys);

    const first = await night(peopleOf(400, (i) => `d${i % 4}`));
    expect(first).toMatchObject({
      outcome: 'applied',
      summary: { users: { created: 400 }, groups: { created: 4 } },
    });
    expect(first.message).toBe('users.csv was applied: 400 people created; 4 groups created.');

    const second = await night(peopleOf(400, (i) => `d${(i < 10 ? i + 1 : i) % 4}`));
    expect(second).toMatchObject({ outcome: 'applied', summary: { users: { updated: 10, unchanged: 390 } } });
    expect(smtp.mails).toHaveLength(0);

    const third = await night(peopleOf(100, (i) => `d${i % 4}`));
    expect(third).toMatchObject({ outcome: 'pending', summary: { users: { deleted: 300 } } });
    expect(third.message).toContain('300 people');
    expect(third.message).toContain(`npx soundings run approve --account ${account.id} --id ${third.runId}`);
    expect(await world.pool`select from users where account_id = ${account.id} and managed`).toHaveLength(
      400,
    );
    const [mail] = await smtp.arrived(1);
    expect(mail).toMatchObject({ to: ['hr@example.com'] });
    expect(mail?.text).toContain('300');

    await approveRun(world.pool, account.id, third.runId as string, { deleteGroupResults, refuseOutdated });
    expect(await world.pool`select from users where account_id = ${account.id} and managed`).toHaveLength(
      100,
    );
    const outcomes = (await listRuns(world.pool, account.id, 50)).map(({ source, outcome }) => [
      source,
      outcome,
    ]);
    expect(outcomes).toEqual([['file', 'applied'], ['file', 'applied'], ['file', 'applied']]); // prettier-ignore
  },
);
