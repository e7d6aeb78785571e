// The database of each earlier release is upgraded to this version without losing anything: the data interface responds as the
// program of that release did, byte for byte, and people sign in, answer and upload as before. testing/upgrades has the databases,
// and CONTRIBUTING.md says how a release adds its own.
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { weekNamed } from '@soundings/contract/weeks.ts';
import SftpClient from 'ssh2-sftp-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type App, startApp } from './app.ts';
import { openLog } from './base/log.ts';
import { openPool, type Pool } from './db/db.ts';
import { isMigrated, migrations } from './db/migrate.ts';
import { closeWeekNow } from './results/close-week.ts';
import { buildAllFragments } from './results/fragments/build-fragments.ts';
import { computeStatistics } from './results/statistics/statistics.ts';
import { AnswerKeys } from './sealing/answer-keys.ts';
import { createEmptyDatabase, type EmptyDatabase } from './testing/upgrades/empty-database.ts';
import { freePort } from './testing/processes/free-port.ts';
import { password, visitOf } from './testing/upgrades/company.ts';
import { readAll, type Responses, withoutErrorId } from './testing/upgrades/data-requests.ts';
import { intendedChanges } from './testing/upgrades/intended-changes.ts';
import { type KeptSet, keptSets, readKeptSet } from './testing/upgrades/kept-sets.ts';
import { restore } from './testing/upgrades/dump.ts';
import { testConfig } from './testing/world.ts';

describe.each(keptSets())('the database that version %s has left', (name) => {
  let set: KeptSet;
  let database: EmptyDatabase;
  let folder: string;
  let pool: Pool;
  let app: App;
  let sftpPort: number;

  beforeAll(async () => {
    set = await readKeptSet(name);
    database = await createEmptyDatabase();
    await restore(database.url, set.sql);
    folder = await mkdtemp(join(tmpdir(), 'soundings-upgrade-'));
    for (const [file, content] of Object.entries(set.about.keys))
      await writeFile(join(folder, file), Buffer.from(content, 'base64'), { mode: 0o600 });
    sftpPort = await freePort();
    const config = { ...testConfig, sftpPort, answerKeys: { place: 'file' as const, directory: folder } };
    const now = () => set.about.at;
    app = await startApp(config, Promise.resolve(database.url), openLog('error'), now, async () => now());
    await app.started;
    pool = openPool(database.url, 2);
  });
  afterAll(async () => {
    await app?.stop(5);
    await pool?.end({ timeout: 5 });
    await database?.drop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Returns the responses that are not as they were, except for intended changes. */
  const differences = async (recording: 'open' | 'closed') => {
    const { tokens } = set.about.company;
    const found: unknown[] = [];
    for (const [numbers, token] of [
      ['plain', tokens.all],
      ['quoted', tokens.quoted],
    ] as const) {
      const before = set.responses[recording][numbers];
      const now = await readAll(app.address, token, before);
      expect(Object.keys(before).length).toBeGreaterThan(40);
      for (const path of Object.keys(before)) {
        const expected = whatIsLeft(path, withoutErrorId(before[path] as Responses[string]));
        const compared = asBefore(path, withoutErrorId(now[path] as Responses[string]));
        if (!isDeepStrictEqual(compared, expected)) found.push({ path, expected, compared });
      }
    }
    return found;
  };
  const changesOf = (path: string) =>
    intendedChanges.filter((one) => one.since > set.about.schema && one.path.test(path));
  const asBefore = (path: string, response: Responses[string]) => ({
    ...response,
    body: changesOf(path).reduce((body, { earlier }) => earlier?.(body) ?? body, response.body),
  });
  const whatIsLeft = (path: string, response: Responses[string]) => ({
    ...response,
    body: changesOf(path).reduce((body, { left }) => left?.(body) ?? body, response.body),
  });

  test('has all migrations afterwards', async () => {
    expect(migrations().some((migration) => migration.name === set.about.schema)).toBe(true);
    expect(await isMigrated(pool)).toBe(true);
  });

  test('gives the same responses on the data interface', async () => {
    await buildAllFragments(pool);
    expect(await differences('open')).toEqual([]);
  });

  test('keeps tokens and the host keys of SFTP', async () => {
    const { sftpUsername: username, tokens } = set.about.company;
    const client = new SftpClient();
    let hostKey = '';
    const hostVerifier = (key: Buffer) => {
      hostKey = `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;
      return true;
    };
    await client.connect({ host: '127.0.0.1', port: sftpPort, username, password: tokens.all, hostVerifier });
    const names = (await client.list('/')).map((file) => file.name);
    await client.end();
    expect(set.about.hostKeys).toContain(hostKey);
    expect(names).toEqual(expect.arrayContaining(['new.csv', 'empty.csv', 'unknown.csv']));
  });

  test('keeps passwords, and asks for the second factor as before', async () => {
    const signIn = async (email: string) => {
      const response = await fetch(`${app.address}/api/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email, password }),
      });
      return ((await response.json()) as { state: string }).state;
    };
    expect(await signIn('ada@nordal.example')).toBe('signed in');
    expect(await signIn('ola@nordal.example')).toBe('code needed');
  });

  test('still knows what people have answered in the open week, and closes it with the same figures', async () => {
    const { company } = set.about;
    // The last links were emailed, and every third person has written comments. Links that were handed out show no answers.
    const at = company.open.answered.findLastIndex((_link, i) => i % 3 === 0);
    const page = await fetch(`${app.address}/a/${company.open.answered[at]}`, {
      headers: { cookie: `soundings_visit=${visitOf(at)}` },
    });
    expect(page.status).toBe(200);
    expect((await page.text()).includes(`Comment ${at} – “`)).toBe(true);
    const keys = new AnswerKeys(pool, { place: 'file', directory: folder });
    await closeWeekNow(pool, keys, company.account, weekNamed(company.open.week), set.about.at);
    await computeStatistics(pool, company.account);
    expect(await differences('closed')).toEqual([]);
  });
});
