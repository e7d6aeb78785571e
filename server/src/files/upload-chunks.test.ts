// Uploads are written in chunks, several at a time, without blocking others from the database. An upload with chunks that were
// not written, or were lost, never becomes a file.
import { runMigrations } from 'graphile-worker';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createAccount } from '../accounts/accounts.ts';
import { createToken } from '../accounts/tokens.ts';
import { asFault, inTransaction, openPool, type Transaction } from '../db/db.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { until } from '../testing/until.ts';
import { selectFiles } from './store.sql.ts';
import { contentOf, openUpload, type Upload } from './store.ts';
import { chunkBytes } from './upload-chunks.ts';

let database: TestDatabase;
let sender: { accountId: number; tokenId: number };

beforeAll(async () => {
  database = await openTestDatabase();
  await runMigrations({ connectionString: database.url });
  const { id: accountId } = await inTransaction(database.pool, (tx) => createAccount(tx, { name: 'Test' }));
  const { id: tokenId } = await createToken(database.pool, accountId, { name: 'test', scopes: ['files'] });
  sender = { accountId, tokenId };
});
afterAll(() => database.close());

const open = (name = 'users.csv', pool = database.pool): Promise<Upload> =>
  openUpload(pool, { ...sender, via: 'https', address: '192.0.2.1' }, name);

const letters = (count: number, letter = 'a'): Buffer => Buffer.alloc(count, `${letter}\n`);

/** Returns the database processes that copy chunks and wait for a lock. */
async function waitingBackends(): Promise<number[]> {
  const rows = await database.pool<{ pid: number }[]>`
    select pid
    from   pg_stat_activity
    where  datname = current_database() and wait_event_type = 'Lock' and query like '%copy file_chunks%'`;
  return rows.map(({ pid }) => pid);
}

/** Runs the work while a transaction of another pool has a lock. */
async function withLock(
  lock: (tx: Transaction) => Promise<unknown>,
  work: () => Promise<void>,
): Promise<void> {
  const other = openPool(database.url, 1);
  onTestFinished(() => other.end({ timeout: 1 }));
  await other.begin(async (tx) => {
    await lock(tx);
    await work();
  });
}

describe('chunks', () => {
  test('are written two at a time for each upload and four at a time in total, so that others can still use the database', async () => {
    const uploads = await Promise.all(['1.csv', '2.csv', '3.csv'].map((name) => open(name)));
    const lock = (tx: Transaction) => tx`lock table file_chunks in exclusive mode`;
    await withLock(lock, async () => {
      await uploads[0]?.write(0, letters(2 * chunkBytes));
      await until(async () => (await waitingBackends()).length === 2);
      for (const upload of uploads.slice(1)) await upload.write(0, letters(2 * chunkBytes));
      await until(async () => (await waitingBackends()).length === 4);
      expect(uploads.map(({ unwritten }) => unwritten)).toEqual([1, 1, 1].map(() => 2 * chunkBytes));
    });
    for (const [i, upload] of uploads.entries()) {
      await upload.write(2 * chunkBytes, letters(100_000, 'b'));
      await upload.finish(`${i}.csv`);
      const content = Buffer.concat([letters(2 * chunkBytes), letters(100_000, 'b')]);
      expect((await contentOf(database.pool, sender.accountId, upload.id)).equals(content)).toBe(true);
    }
  });

  test('of many simultaneous uploads are stored completely while other queries use the same connections', async () => {
    const uploads = await Promise.all(Array.from({ length: 8 }, (_, i) => open(`many ${i}.csv`)));
    const state = { isOver: false };
    const keepQuerying = async () => {
      while (!state.isOver) expect(await database.pool`select 1 as one`).toMatchObject([{ one: 1 }]);
    };
    const others = Array.from({ length: 20 }, keepQuerying);
    const contentOfUpload = (i: number) => letters(4 * chunkBytes + i, String.fromCharCode(97 + i));
    await Promise.all(
      uploads.map(async (upload, i) => {
        const content = contentOfUpload(i);
        for (let at = 0; at < content.length; at += 32_768) {
          await upload.write(at, content.subarray(at, at + 32_768));
        }
        await upload.finish(`many-${i}.csv`);
      }),
    );
    state.isOver = true;
    await Promise.all(others);
    for (const [i, upload] of uploads.entries()) {
      const stored = await contentOf(database.pool, sender.accountId, upload.id);
      expect(stored.equals(contentOfUpload(i))).toBe(true);
    }
  });

  test('are written with synchronous_commit off, which is on again for later queries of the connection', async () => {
    await database.pool.unsafe(`
      create table settings_seen (value text);
      create function see_setting() returns trigger language plpgsql as
        $$ begin insert into settings_seen values (current_setting('synchronous_commit')); return null; end $$;
      create trigger see_setting after insert on file_chunks execute function see_setting();`);
    const pool = openPool(database.url, 1);
    onTestFinished(() => pool.end({ timeout: 1 }));
    const upload = await open('users.csv', pool);
    await upload.write(0, letters(chunkBytes));
    await upload.finish('users.csv');
    const seen = await pool`select value from settings_seen`;
    const [now] = await pool`select current_setting('synchronous_commit') as value`;
    expect([[...seen], now]).toEqual([[{ value: 'off' }], { value: 'on' }]);
    await pool.unsafe('drop trigger see_setting on file_chunks');
  });
});

describe('the content of a file', () => {
  const chunksOf = ({ id }: { id: number }) =>
    database.pool`select from file_chunks where account_id = ${sender.accountId} and file_id = ${id}`;

  test.each([
    ['in one statement', 1000],
    ['by COPY', chunkBytes],
  ])('is refused if the file does not exist, when written %s', async (_, length) => {
    const upload = await open();
    await upload.abort();
    await upload.write(0, letters(length)).catch(() => {});
    await expect(upload.finish('gone.csv')).rejects.toThrow('This file does not exist.');
    expect(await chunksOf(upload)).toHaveLength(0);
  });

  test('is deleted with the file, even chunks that are just being written', async () => {
    const upload = await open();
    await upload.write(0, letters(chunkBytes));
    await upload.park('users.csv.part');
    expect(await chunksOf(upload)).toHaveLength(32);
    let removed: Promise<unknown> = Promise.resolve();
    await inTransaction(database.pool, async (tx) => {
      await tx`
        insert into file_chunks (account_id, file_id, position, bytes)
        values (${sender.accountId}, ${upload.id}, 64, ${letters(10)})`;
      removed = upload.abort();
      await until(async () => {
        const [row] = await database.pool`
          select from pg_stat_activity
          where  datname = current_database() and wait_event_type = 'Lock' and query like '%delete from files%'`;
        return row !== undefined;
      });
    });
    await removed;
    expect(await chunksOf(upload)).toHaveLength(0);
  });
});

describe('an upload', () => {
  test.each([
    ['before', (tx: Transaction) => tx`lock table file_chunks in exclusive mode`],
    ['after', (tx: Transaction, id: number) => tx`select from files where file_id = ${id} for update`],
  ])(
    'fails permanently if its database connection is lost %s the bytes of a chunk are sent',
    async (_, lock) => {
      const upload = await open();
      await withLock(
        (tx) => lock(tx, upload.id),
        async () => {
          await upload.write(0, letters(chunkBytes));
          const [pid = 0] = (await until(async () => {
            const pids = await waitingBackends();
            return pids.length > 0 && pids;
          })) as number[];
          await database.pool`select pg_terminate_backend(${pid}, 5000)`;
        },
      );
      const unavailable = { kind: 'unavailable' };
      expect(asFault(await upload.finish('lost.csv').catch((error: unknown) => error))).toMatchObject(
        unavailable,
      );
      const more = upload.write(chunkBytes, letters(chunkBytes)).catch((error: unknown) => error);
      expect(asFault(await more)).toMatchObject(unavailable);
      await upload.abort();
      expect((await selectFiles(database.pool, sender.accountId)).map(({ name }) => name)).not.toContain(
        'lost.csv',
      );
    },
  );

  test('does not become a file if the database has lost one of its chunks', async () => {
    const upload = await open();
    await upload.write(0, letters(3 * chunkBytes));
    await upload.park('users.csv.part');
    await database.pool`delete from file_chunks where account_id = ${sender.accountId} and file_id = ${upload.id} and position = 1`;
    await expect(upload.finish('gap.csv')).rejects.toThrow(/some of its data was lost/);
    expect((await selectFiles(database.pool, sender.accountId)).map(({ name }) => name)).not.toContain(
      'gap.csv',
    );
  });
});
