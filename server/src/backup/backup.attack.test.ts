// Attacks with a backup (rules.md P15): an operator who keeps one from while a week was open, and everything else that exists. It must
// not contain more about the week than the database does after closing, and no key that opens anything.
import { expect, test } from 'vitest';
import { keyText, readKeyFile } from '../sealing/key-file.ts';
import { nothing, readOf } from '../sealing/forgetting.fixture.ts';
import { derived } from '../sealing/epoch-keys.ts';
import { dumpFile, dumpOf, type Source, tracesOf, weekKeysIn } from '../testing/attacks/file-attacker.ts';
import { join } from 'node:path';
import { backUp, closed, emptyInstallation, open, textOf, useInstallation, world } from './backup.fixture.ts';
import { restoreBackup } from './restore.ts';

useInstallation();

const hexOf = (text: unknown) => Buffer.from(String(text).replace(/^\\x/, ''), 'hex');

test('a backup from while a week is open has no key, answer, person or participation of it', async () => {
  const dump = await dumpOf(world.pool);
  const epoch = readKeyFile(join(world.keyPlace.directory, 'answers'))!;
  const keyFile: Source = { name: 'key file', bytes: Buffer.from(keyText(epoch)) };
  // The attacker works: with a dump of the database instead, and the key file of that time, everything can be read.
  expect(readOf(open, [dumpFile(dump), keyFile], dump).answers).toBe(open.answers);

  const { path } = await backUp(world.pool, { secretsKey: await world.keys.secrets.exported() });
  const backup: Source = { name: 'backup', bytes: await textOf(path) };
  expect(weekKeysIn([backup, keyFile], dump, open).size).toBe(0);
  expect(readOf(open, [backup, keyFile], dump).answers).toBe(nothing.read.answers);
  const weekKey = (await world.keys.of(world.pool, open.accountId, open.week))!;
  const rows = (table: string) => dump.get(table) ?? [];
  expect(rows('answers').length).toBeGreaterThan(20);
  const secrets: Record<string, Uint8Array> = {
    'week key': weekKey.secret,
    'key of the numbers': derived(weekKey.secret, 'soundings respondent'),
    'key of the answers': derived(weekKey.secret, 'soundings answers'),
    'epoch key': epoch.secret,
    'a published mark of the open week': Buffer.from(open.shownMark),
  };
  rows('week_keys').forEach((row, i) => (secrets[`wrapped key ${i}`] = hexOf(row['wrapped']).subarray(13)));
  rows('answers').forEach((row, i) => (secrets[`answers ${i}`] = hexOf(row['sealed']).subarray(0, 40)));
  rows('answers').forEach((row, i) => (secrets[`respondent ${i}`] = Buffer.from(String(row['respondent']))));
  rows('links').forEach((row, i) => (secrets[`link ${i}`] = hexOf(row['hash'])));
  // The names of people contain the mark, so it is looked for in comments only.
  delete secrets['a published mark of the open week'];
  expect(tracesOf(secrets, [dumpFile(dump)])).not.toEqual([]);
  expect(tracesOf(secrets, [backup])).toEqual([]);
});

test('with ANSWER_KEYS=database, neither the epoch key nor the secrets key is in a backup, unless it was asked for', async () => {
  const target = await emptyInstallation();
  const keyPlace = { ...target.keyPlace, place: 'database' as const };
  await restoreBackup(
    { ...target, keyPlace },
    (await backUp(world.pool, { secretsKey: await world.keys.secrets.exported() })).path,
  );
  const [row] = await target.pool<{ answers: Buffer; secrets: Buffer }[]>`
    select a.secret as answers, s.secret as secrets from answer_keys a, secrets_keys s`;
  expect(row?.secrets).toHaveLength(32);
  const { path } = await backUp(target.pool);
  const bytes = await textOf(path);
  expect(
    tracesOf({ 'epoch key': row!.answers, 'secrets key': row!.secrets }, [{ name: 'backup', bytes }]),
  ).toEqual([]);
});

test('a week that has closed cannot be opened with a backup, a restored database and every key from before', async () => {
  const { path } = await backUp(world.pool);
  const target = await emptyInstallation();
  await restoreBackup(target, path);
  const dump = await dumpOf(target.pool);
  const keyFiles = [world.keyPlace, target.keyPlace].map(({ directory }) => ({
    name: directory,
    bytes: Buffer.from(keyText(readKeyFile(join(directory, 'answers'))!)),
  }));
  const sources = [
    { name: 'backup', bytes: await textOf(path) },
    dumpFile(dump),
    dumpFile(await dumpOf(world.pool)),
    ...keyFiles,
  ];
  expect(weekKeysIn(sources, dump, closed).size).toBe(0);
  for (const table of ['answers', 'assignments', 'links', 'participants', 'week_keys'])
    expect(dump.get(table)).toEqual([]);
  // Its published comments are there.
  expect(sources[0]!.bytes.includes(closed.shownMark)).toBe(true);
});
