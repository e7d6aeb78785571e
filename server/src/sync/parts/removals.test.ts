// A commit that removes many people needs no more memory than one that removes few.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { changeAccount, createAccount } from '../../accounts/accounts.ts';
import { newId } from '../../base/ids.ts';
import { moduleAt } from '../../base/places.ts';
import { inTransaction } from '../../db/db.ts';
import { createUser } from '../../people/users.ts';
import { openTestDatabase, type TestDatabase } from '../../testing/database.ts';
import { person } from '../../testing/organizations.ts';
import type { Job, JobEnd } from '../pushes.ts';
import { beginCommit, openPush, readPush, readPushChanges } from './parts.ts';
import { storePart } from './store-part.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

const people = 300_000;
/** What the thread of the service may use. The removed people, their changes and the digest of the plan would be more. */
const memoryMb = 64;

const runOf = () => ({ id: newId(), source: 'api' as const, tokenId: null, address: null, file: null });

test(
  `${people} people to be removed are planned in the memory of a small request`,
  { timeout: 240_000 },
  async () => {
    const { pool, url } = database;
    const id = await inTransaction(pool, async (tx) => {
      const account = await createAccount(tx, { name: 'Large' });
      await changeAccount(tx, account.id, { largestPush: people });
      await createUser(tx, account.id, { firstName: 'Ada', email: 'ada@example.org', role: 'Administrator' });
      return account.id;
    });
    await pool`
    insert into users (account_id, managed, external_id, first_name, last_name, active, role, timezone, language)
    select ${id}, true, 'employee number ' || n, 'First', 'Last', true, 'User', 'UTC', 'en' from generate_series(1, ${people}::integer) n`;
    const { id: pushId } = await openPush(pool, id, newId());
    const data = { users: [person('new')] };
    const body = { bytes: new TextEncoder().encode(JSON.stringify({ data })), gzip: false };
    await storePart(pool, id, { pushId, part: 1 }, body);
    const thread = new Worker(moduleAt('pushes.thread'), {
      workerData: { databaseUrl: url },
      resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 8 },
    });
    onTestFinished(async () => void (await thread.terminate()));
    const run = runOf();
    const settings = { validateOnly: true, maxUsersDeleted: people };
    const begun = await beginCommit(pool, id, { id: pushId, run, body: { parts: 1, settings } });
    const bytes = new TextEncoder().encode(JSON.stringify(begun));
    const job: Job = {
      job: 1,
      accountId: id,
      run,
      bytes: bytes.buffer,
      gzip: false,
      partOf: 'commit',
      isTraced: false,
    };
    thread.postMessage(job);
    const [end] = (await once(thread, 'message')) as [JobEnd];
    expect(end).toMatchObject({ job: 1, report: expect.any(Uint8Array) });
    const push = await readPush(pool, id, pushId);
    expect(push.run?.summary?.users).toMatchObject({ created: 1, deleted: people });
    const { changes } = await readPushChanges(pool, id, { id: pushId, from: people });
    expect(changes).toEqual([{ entity: 'user', externalId: `employee number ${people}`, action: 'delete' }]);
  },
);
