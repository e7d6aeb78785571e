// A backup contains everything except what is to be forgotten, and restores an installation that works like the one it was made of.
import { expect, test } from 'vitest';
import { startApp } from '../app.ts';
import { hostKeys } from '../sftp/host-keys.ts';
import { testConfig } from '../testing/world.ts';
import { backUp, closed, emptyInstallation, quiet, readingsOf, rowsOf, token, useInstallation, world } from './backup.fixture.ts';
import { readBackup } from './read-backup.ts';
import { restoreBackup } from './restore.ts';

useInstallation();

test('a restored installation equals', { timeout: 60_000 }, async () => {
  const before = await rowsOf(world.pool);
  const { path, contents } = await backUp(world.pool, { secretsKey: await world.keys.secrets.exported() });
  console.log(contents);
  expect(await readBackup(path)).toEqual(contents);
  const target = await emptyInstallation();
  const restored = await restoreBackup(target, path);
  console.log(restored.leftOut, restored.applied, restored.lostWeeks, restored.secrets);
  const after = await rowsOf(target.pool);
  for (const name of Object.keys(before)) {
    if (JSON.stringify(before[name]) !== JSON.stringify(after[name])) console.log(name, before[name]!.length, after[name]!.length, before[name]!.slice(0, 2), after[name]!.slice(0, 2));
  }
  expect(await hostKeys(target.pool, target.keys.secrets, quiet)).toEqual(await hostKeys(world.pool, world.keys.secrets, quiet));
  const app = await startApp({ ...testConfig, answerKeys: target.keyPlace }, Promise.resolve(target.databaseUrl), quiet);
  await app.started;
  const [there, here] = [await readingsOf(world.address, token, closed), await readingsOf(app.address, token, closed)];
  console.log(there.map((x) => x.slice(0, 300)));
  expect(here).toEqual(there);
  await app.stop(5);
});
