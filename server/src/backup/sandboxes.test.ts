// Backups leave sandboxes out: everything of companies is restored, and nothing of a sandbox.
import { expect, test } from 'vitest';
import { createAccount } from '../accounts/accounts.ts';
import { selectAccountTables } from '../db/account-rows.ts';
import { inTransaction } from '../db/db.ts';
import { newAdministrator, newSandbox } from '../sandboxes/sandboxes.fixture.ts';
import { emptyInstallation, useInstallation, world, backUpQuietly } from './backup.fixture.ts';
import { restoreBackup } from './restore.ts';

useInstallation();

test('a restored installation has no sandbox and no row of one, and a new one can be created', async () => {
  const administrator = await newAdministrator(world);
  await newSandbox(administrator);
  await inTransaction(world.pool, (tx) => createAccount(tx, { name: 'Unfinished', kind: 'template' }));
  const { path } = await backUpQuietly();
  const target = await emptyInstallation();
  await restoreBackup(target, path);
  const kinds = await target.pool`select kind, count(*)::integer as "count" from accounts group by kind`;
  const companies = await world.pool`select 1 from accounts where kind = 'company'`;
  expect([...kinds]).toEqual([{ kind: 'company', count: companies.length }]);
  for (const { name } of await selectAccountTables(target.pool)) {
    const rows = await target.pool`
      select 1 from ${target.pool(name)} t
      where  not exists (select from accounts a where a.account_id = t.account_id) limit 1`;
    expect([name, rows.length]).toEqual([name, 0]);
  }
  const left = await target.pool`select 1 from sandboxes union all select 1 from sandbox_templates`;
  expect(left).toHaveLength(0);
});
