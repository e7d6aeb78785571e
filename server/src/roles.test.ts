// The roles of processes: `web` serves requests and processes no job, `worker` processes jobs and serves no request, and together they
// do what one process does.
import { type FileReport, isUnderWay } from '@soundings/contract/storage.ts';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createAccount } from './accounts/accounts.ts';
import { createToken } from './accounts/tokens.ts';
import { inTransaction, type Pool } from './db/db.ts';
import { selectJobFacts } from './operating/jobs.sql.ts';
import { createUser } from './people/users.ts';
import { freePort } from './testing/processes/free-port.ts';
import { connections, home, type Service, started, useDirectory } from './testing/processes/processes.ts';
import { until } from './testing/until.ts';
import { createEmptyDatabase } from './testing/upgrades/empty-database.ts';

useDirectory();

async function newToken(pool: Pool): Promise<string> {
  const { id } = await inTransaction(pool, async (tx) => {
    const created = await createAccount(tx, { name: 'Test' });
    await createUser(tx, created.id, { firstName: 'Ada', lastName: 'Admin', role: 'Administrator' });
    return created;
  });
  return (await createToken(pool, id, { name: 'test', scopes: ['data', 'files'] })).token;
}

async function upload({ address }: Service, authorization: string, name: string): Promise<void> {
  const form = new FormData();
  form.append('file', new Blob(['EmployeeID;FirstName;LastName\n1;Eva;Ek\n']), name);
  const response = await fetch(`${address}/v1/storage/uploadFile`, {
    method: 'POST',
    headers: { authorization },
    body: form,
  });
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
}

async function isProcessed({ address }: Service, authorization: string, name: string): Promise<boolean> {
  const response = await fetch(`${address}/v1/storage/files/${name}/report`, { headers: { authorization } });
  return !isUnderWay(((await response.json()) as FileReport).outcome);
}

const statusAt = async ({ address }: Service, path: string, authorization = '') =>
  (await fetch(address + path, { headers: { authorization, accept: 'text/html' } })).status;

const listens = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true) ?? socket.destroy());
    socket.on('error', () => resolve(false));
  });

test('a web process, the first one of an installation, serves everything and leaves the jobs to workers, which serve nothing else', async () => {
  const { url, drop } = await createEmptyDatabase();
  onTestFinished(drop);
  const environment = { DATABASE_URL: url, ANSWER_KEYS: 'database', BACKUP_DIR: 'off' };
  const sftpPorts = { web: await freePort(), worker: await freePort() };
  const start = (role: 'web' | 'worker') =>
    started(join(home, role), { ...environment, ROLE: role, SFTP_PORT: String(sftpPorts[role]) });
  const web = await start('web');
  const pool = connections(url);
  const token = await newToken(pool);
  await upload(web, token, 'one.csv');
  await upload(web, token, 'two.csv');
  expect(await statusAt(web, '/')).toBe(200);
  expect(await statusAt(web, '/v1/groups', token)).toBe(200);
  expect(await listens(sftpPorts.web)).toBe(true);
  expect(await selectJobFacts(pool)).toMatchObject({ processes: 0, waiting: { count: expect.any(Number) } });
  expect(await isProcessed(web, token, 'one.csv')).toBe(false);

  const worker = await start('worker');
  for (const name of ['one.csv', 'two.csv']) await until(() => isProcessed(web, token, name));
  for (const path of ['/', '/sign-in', '/docs', '/v1/groups', '/scim/v2/Users', '/go'])
    expect([path, await statusAt(worker, path, token)]).toEqual([path, 404]);
  expect(await statusAt(worker, '/health/live')).toBe(200);
  expect(await statusAt(worker, '/metrics')).toBe(200);
  expect(await listens(sftpPorts.worker)).toBe(false);
  expect(web.said() + worker.said()).not.toMatch(/"level":[56]0/);

  // What a killed worker had begun is done by the next one.
  await upload(web, token, 'three.csv');
  worker.child.kill('SIGKILL');
  await worker.exited;
  await upload(web, token, 'four.csv');
  await start('worker');
  for (const name of ['three.csv', 'four.csv']) await until(() => isProcessed(web, token, name));
});

test('a worker alone starts on an empty database, and a process with a role needs DATABASE_URL', async () => {
  const { url, drop } = await createEmptyDatabase();
  onTestFinished(drop);
  const alone = { DATABASE_URL: url, ANSWER_KEYS: 'database', BACKUP_DIR: 'off', ROLE: 'worker' };
  const worker = await started(join(home, 'alone'), alone);
  expect(await selectJobFacts(connections(url))).toMatchObject({ processes: 1 });
  worker.child.kill('SIGTERM');
  expect(await worker.exited).toBe(0);
  await expect(started(join(home, 'embedded'), { ROLE: 'web' })).rejects.toThrow(
    /ROLE is not all.*Set DATABASE_URL/,
  );
});
