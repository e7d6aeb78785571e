// The commands backup, verify and restore, as they are typed.
import { stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Contents } from '../../backup/contents.ts';
import { openEmbedded } from '../../db/embedded.ts';
import { openPool } from '../../db/db.ts';
import { home, json, newAccount, pool, program, refused, soundings, useDatabase } from '../cli.fixture.ts';

useDatabase();

test('backup, verify and restore into a new data directory', async () => {
  await newAccount();
  const path = join(home, 'a.soundings');
  expect(await refused(['backup', path, '--secrets'])).toContain('no secrets key before the first start');
  await soundings(['keys', 'export', '--secrets']); // creates it, as the first start does
  const created = await json<Contents>(['backup', path, '--secrets']);
  expect(created).toMatchObject({ openWeeks: 0, hasSecretsKey: true });
  expect(await json<Contents>(['verify', path])).toEqual(created);
  const shown = (await soundings(['verify', path])).out;
  expect(shown).toMatch(/^The backup is complete and undamaged\.\nCreated on .* UTC by Soundings/);
  expect(shown).toMatch(/^users +1 +1 kB$/m);
  const [entry] = await pool`select origin, action from audit_entries order by entry_id desc limit 1`;
  expect({ ...entry }).toEqual({ origin: 'command', action: 'backup created' });

  expect(await refused(['restore', path])).toContain(
    'The installation is not empty. Restore into a new DATA_DIR',
  );
  const env = { DATA_DIR: join(home, 'restored') };
  const restored = await soundings(['restore', path], { env });
  expect(restored.err).toBe('');
  expect(restored.out).toMatch(
    /^Restored \d+ rows in \d+ tables, as of .*\nNo week was open\.\nThe secrets key is available\./,
  );
  const embedded = await openEmbedded(env.DATA_DIR, { role: 'command', log: () => {}, fast: true });
  const there = openPool(embedded.url, 1);
  expect([...(await there`select name from accounts`)]).toEqual([{ name: 'Acme' }]);
  await there.end();
  await embedded.stop();

  await truncate(path, 1_000);
  expect(await refused(['verify', path])).toMatch(
    /^.*a\.soundings can't be used\. The file ends in the middle of a block \(.*, at byte \d+\)/,
  );
});

test('- as FILE writes to standard output, and the summary to standard error', async () => {
  const { status, err, out } = await soundings(['backup', '-']);
  expect(status).toBe(0);
  expect(err).toMatch(/^Backup complete\.\n/);
  const path = join(home, 'piped.soundings');
  await writeFile(path, out, 'latin1');
  const { checksum } = await json<Contents>(['verify', path]);
  expect(err).toContain(checksum);
});

test('--secrets only reads the key, so it works before an update that adds what the key encrypts', async () => {
  const backUp = () => json<Contents>(['backup', join(home, 'older.soundings'), '--secrets']);
  await pool`alter table card_keys rename to later`;
  expect(await backUp()).toMatchObject({ hasSecretsKey: true });
  await pool`alter table later rename to card_keys`;
});

test('mistakes get a message that says what to do', async () => {
  expect(await refused(['verify', join(home, 'none')])).toContain(
    "none can't be read: the file or its folder does not exist.",
  );
  expect(await refused(['backup', join(home, 'none', 'a')])).toContain(
    'the file or its folder does not exist',
  );
  expect(await refused(['backup', home])).toContain('is not a regular file. Give the name of a file.');
  expect(await refused(['verify', home])).toContain('is not a regular file');
  expect(await refused(['backup'], 2)).toContain('This command needs exactly one FILE.');
});

test('as a process, writes a file that only its owner can read', async () => {
  const path = join(home, 'b.soundings');
  const { bytes } = await json<Contents>(['backup', path], { program });
  const { size, mode } = await stat(path);
  expect([size, mode & 0o777]).toEqual([bytes, 0o600]);
});
