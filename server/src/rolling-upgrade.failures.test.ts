// An upgrade whose migrations are not breaking: the program of the older version serves while the newer one migrates the database, and
// beside it afterwards. No request to either fails, and each sees what the other has stored.
import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import SftpClient from 'ssh2-sftp-client';
import { expect, onTestFinished, test } from 'vitest';
import { openPool, type Pool } from './db/db.ts';
import { isMigrated, migrations } from './db/migrate.ts';
import { openTestDatabase } from './testing/database.ts';
import { createEmptyDatabase } from './testing/upgrades/empty-database.ts';
import { freePort } from './testing/processes/free-port.ts';
import { home, isReady, started, useDirectory } from './testing/processes/processes.ts';
import { type Company, organization, visitOf } from './testing/upgrades/company.ts';
import { restore } from './testing/upgrades/dump.ts';
import { type KeptSet, keptSets, readKeptSet } from './testing/upgrades/kept-sets.ts';
import { checkOut, hasCommit, startProgram } from './testing/upgrades/older-program.ts';
import { until } from './testing/until.ts';

useDirectory();

/** Returns the oldest kept set from which all migrations to this version can be applied while its program runs. */
async function oldestCompatible(): Promise<KeptSet | undefined> {
  for (const name of keptSets()) {
    const set = await readKeptSet(name);
    const missing = migrations().filter((migration) => migration.name > set.about.schema);
    if (missing.length > 0 && !missing.some(({ breaking }) => breaking)) return set;
  }
  return undefined;
}

/** Where a program can be reached, and the personal links with which people answer there. */
type Target = { address: string; sftpPort: number; links: string[] };

/** What was acknowledged: the last answer of each link, and the files. */
type Stored = { answers: Map<string, string>; files: string[] };

/** Sends one request of every kind, and throws if one fails. `turn` makes them different. */
async function sendAll({ address, sftpPort, links }: Target, company: Company, turn: string, stored: Stored) {
  const authorization = company.tokens.all;
  const send = async (expected: number, path: string, init: RequestInit) => {
    const response = await fetch(address + path, init);
    const text = await response.text();
    if (response.status !== expected) throw new Error(`${path.slice(0, 12)} ${response.status} ${text}`);
  };
  await send(200, '/v1/groups', { headers: { authorization } });
  await send(200, '/v1/feed', { headers: { authorization } });
  const json = { 'content-type': 'application/json' };
  const body = JSON.stringify({ settings: { validateOnly: false }, data: organization(40, turn) });
  await send(200, '/v1/organization', { method: 'POST', headers: { ...json, authorization }, body });
  const { questions } = company.open;
  for (const [i, link] of links.entries()) {
    const comment = `${turn} by ${i}`;
    await send(204, `/a/${link}/answers`, {
      method: 'POST',
      headers: { ...json, cookie: `soundings_visit=${visitOf(i)}` },
      body: JSON.stringify({ question: questions.find(({ type }) => type === 7)!.id, comment }),
    });
    stored.answers.set(link, comment);
  }
  const csv = new Blob([`EmployeeID;FirstName;LastName\nf1;Eva;${turn}\n`]);
  const form = new FormData();
  form.append('file', csv, `web ${turn}.csv`);
  await send(200, '/v1/storage/uploadFile', { method: 'POST', headers: { authorization }, body: form });
  stored.files.push(`web ${turn}.csv`);
  const client = new SftpClient('test', { error: () => {}, end: () => {}, close: () => {} });
  const sock = connect({ host: '127.0.0.1', port: sftpPort, noDelay: true });
  await client.connect({ sock, username: company.sftpUsername, password: authorization });
  await client.put(Buffer.from(await csv.arrayBuffer()), `sftp ${turn}.csv`);
  await client.end();
  stored.files.push(`sftp ${turn}.csv`);
}

/** Sends requests, one after another, until it is over or one fails. Returns how often, and the failure. */
async function sendUntil(
  state: { isOver: boolean },
  send: (turn: number) => Promise<void>,
): Promise<{ turns: number; failure: unknown }> {
  for (let turns = 0; ; turns++) {
    if (state.isOver && turns > 2) return { turns, failure: undefined };
    const failure = await send(turns).catch((error: unknown) => error);
    if (failure !== undefined) {
      state.isOver = true;
      return { turns, failure };
    }
  }
}

/** Starts the program of the set on its database, with the clock of the day on which the set was created. */
async function openOlder({ about, sql }: KeptSet) {
  const { url, drop } = await createEmptyDatabase();
  onTestFinished(drop);
  await restore(url, sql);
  const dataDir = join(home, 'data');
  await mkdir(join(dataDir, 'keys'), { recursive: true, mode: 0o700 });
  for (const [file, content] of Object.entries(about.keys))
    await writeFile(join(dataDir, 'keys', file), Buffer.from(content, 'base64'), { mode: 0o600 });
  const clock = new URL('./testing/upgrades/clock.ts', import.meta.url);
  const settings = async () => ({
    DATABASE_URL: url,
    DATA_DIR: dataDir,
    PORT: String(await freePort()),
    SFTP_PORT: String(await freePort()),
    RATE_LIMIT: '0',
    DRAIN_SECONDS: '0',
    LOG_LEVEL: 'error',
    NODE_OPTIONS: `--import=${clock.href}`,
    CLOCK_OFFSET_MS: String(about.at - Date.now()),
  });
  const folder = join(home, 'older');
  await checkOut(about.commit, folder);
  const environment = await settings();
  const older = await startProgram({ folder, environment });
  onTestFinished(() => older.stop());
  return {
    older,
    sftpPort: Number(environment.SFTP_PORT),
    url,
    dataDir,
    settings,
  };
}

async function storedFiles(pool: Pool, accountId: number): Promise<string[]> {
  const rows = await pool<{ name: string }[]>`select name from files where account_id = ${accountId}`;
  return rows.map(({ name }) => name);
}

test('the program of the older version serves while the newer one migrates, and beside it: no request fails, and nothing is lost', async (context) => {
  const set = await oldestCompatible();
  if (!set)
    return context.skip(
      'SKIPPED: every kept set is as new as this version, or is followed by a breaking migration',
    );
  const { commit, company, schema } = set.about;
  if (!hasCommit(commit))
    return context.skip(
      `SKIPPED: this clone has no commit ${commit}. Fetch the whole history (git fetch --unshallow)`,
    );
  const { older, sftpPort, url, dataDir, settings } = await openOlder(set);
  const pool = openPool(url, 1);
  onTestFinished(() => pool.end({ timeout: 5 }));
  expect(await isMigrated(pool)).toBe(false);
  const stored: Stored = { answers: new Map(), files: [] };
  const state = { isOver: false };
  const under = (to: Target, name: string) =>
    sendUntil(state, (turn) => sendAll(to, company, `${name} ${turn}`, stored));
  const untilSent = (files: number) => until(async () => state.isOver || stored.files.length >= files);
  const { unused: links } = company.open;
  const onOlder = under({ address: older.address, sftpPort, links: links.slice(0, 2) }, 'older');
  await untilSent(1);

  const environment = await settings();
  const newer = await started(dataDir, environment);
  expect(await isMigrated(pool)).toBe(true);
  const at = { address: newer.address, sftpPort: Number(environment.SFTP_PORT) };
  const onNewer = under({ ...at, links: links.slice(2) }, 'newer');
  await untilSent(stored.files.length + 8);
  state.isOver = true;
  expect(await Promise.all([onOlder, onNewer])).toEqual([
    { turns: expect.any(Number), failure: undefined },
    { turns: expect.any(Number), failure: undefined },
  ]);
  const ready = await fetch(`${older.address}/health/ready`);
  expect({ status: ready.status, said: older.said() + newer.said() }).toEqual({ status: 200, said: '' });

  for (const address of [older.address, newer.address]) {
    for (const [i, link] of links.entries()) {
      const cookie = `soundings_visit=${visitOf(i % 2)}`;
      const page = await fetch(`${address}/a/${link}`, { headers: { cookie } });
      expect(await page.text()).toContain(stored.answers.get(link));
    }
  }
  const names = await storedFiles(pool, company.account);
  expect({ schema, missing: stored.files.filter((name) => !names.includes(name)) }).toEqual({
    schema,
    missing: [],
  });
});

test('a process stops when a newer version migrates the database so that it can’t use it any more, and says what to do', async () => {
  const database = await openTestDatabase();
  onTestFinished(() => database.close());
  const service = await started(join(home, 'superseded'), { DATABASE_URL: database.url });
  await database.pool`insert into migrations (version, name, breaking) values (9998, '9998_more.sql', false)`;
  expect(await isReady(service)).toBe(true);
  await database.pool`insert into migrations (version, name, breaking) values (9999, '9999_other.sql', true)`;
  expect(await isReady(service)).toBe(false);
  expect(await service.exited).toBe(78); // systemd doesn't try again
  expect(service.said()).toMatch(
    /newer version of Soundings \(9999_other\.sql\).*Start the newer version, or restore a backup/,
  );
});
