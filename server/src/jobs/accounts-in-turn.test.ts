// Work on many accounts: two at a time, in the order of each account, large ones alone, and nothing waits for a connection forever.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inTransaction, openPool, type Pool } from '../db/db.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { runForAccounts } from './accounts-in-turn.ts';

let database: TestDatabase;
let pool: Pool;
beforeAll(async () => {
  database = await openTestDatabase();
  pool = database.pool;
});
afterAll(() => database.close());

const item = (accountId: number, name: string) => ({ accountId, name });

/**
 * Runs items. Each name in `meeting` goes on only when all of these have begun. Returns the order in which the items began, and which ones ran at
 * the same time as each, itself included.
 */
async function together(
  items: { accountId: number; name: string }[],
  { large = [], meeting }: { large?: number[]; meeting: string[] },
): Promise<{ order: string[]; seen: Record<string, string[]> }> {
  const begun = new Map(items.map(({ name }) => [name, Promise.withResolvers<void>()]));
  const running = new Set<string>();
  const seen = new Map(items.map(({ name }) => [name, new Set<string>()]));
  const order: string[] = [];
  await runForAccounts(
    pool,
    items,
    async () => new Set(large),
    async (tx, { name }) => {
      running.add(name);
      order.push(name);
      begun.get(name)?.resolve();
      for (const one of running) for (const other of running) seen.get(one)?.add(other);
      if (meeting.includes(name)) await Promise.all(meeting.map((other) => begun.get(other)?.promise));
      await tx`select 1`;
      running.delete(name);
    },
  );
  return { order, seen: Object.fromEntries([...seen].map(([name, all]) => [name, [...all].toSorted()])) };
}

describe('work on many accounts', () => {
  test('runs two accounts at a time, and the items of one account one after another in their order', async () => {
    const { order, seen } = await together(
      [item(1, 'a1'), item(2, 'b1'), item(1, 'a2'), item(1, 'a3'), item(2, 'b2')],
      { meeting: ['a2', 'b2'] },
    );
    const of = (account: string, names: string[] = []) => names.filter((name) => name.startsWith(account));
    expect(of('a', order)).toEqual(['a1', 'a2', 'a3']);
    expect(of('b', order)).toEqual(['b1', 'b2']);
    expect(seen['a2']).toContain('b2');
    for (const name of order) expect(of(name.slice(0, 1), seen[name])).toEqual([name]);
  });

  test('runs large accounts last, each alone', async () => {
    const all = await together([item(1, 'large'), item(2, 'b'), item(3, 'other large'), item(4, 'd')], {
      large: [1, 3],
      meeting: ['b', 'd'],
    });
    expect({ ...all, order: all.order.slice(2) }).toEqual({
      order: ['large', 'other large'],
      seen: { b: ['b', 'd'], d: ['b', 'd'], large: ['large'], 'other large': ['other large'] },
    });
  });

  test.each([1, 2, 3])(
    'ends on a pool of %i connections although each transaction needs another one',
    async (max) => {
      const small = openPool(database.url, max);
      const own = openPool(database.url, 1);
      const done = await runForAccounts(
        small,
        [1, 2, 3, 4].map((accountId) => ({ accountId })),
        async () => new Set(),
        async (tx, { accountId }) => {
          await tx`select 1`;
          await inTransaction(max === 1 ? own : small, (other) => other`select 1`);
          return accountId;
        },
      );
      expect([...done.values()].toSorted()).toEqual([1, 2, 3, 4]);
      await Promise.all([small.end(), own.end()]);
    },
  );

  test('throws the error of the first failed item in the list at the end, whichever failed first', async () => {
    const late = Promise.withResolvers<void>();
    const ran: string[] = [];
    const working = runForAccounts(
      pool,
      [item(1, 'first'), item(2, 'second'), item(1, 'third'), item(3, 'fourth')],
      async () => new Set(),
      async (tx, { name }) => {
        await tx`select 1`;
        ran.push(name);
        if (name === 'first') await late.promise;
        if (name === 'fourth') late.resolve();
        if (name !== 'third') throw new Error(name);
      },
    );
    await expect(working).rejects.toThrow('first');
    expect(ran.toSorted()).toEqual(['first', 'fourth', 'second', 'third']);
  });

  test('returns only what was committed, and skips what lost a race for a lock', async () => {
    const other = openPool(database.url, 1);
    const [locked, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const holding = inTransaction(other, async (tx) => {
      await tx`lock table users in access exclusive mode`;
      locked.resolve();
      await end.promise;
    });
    await locked.promise;
    const items = [item(1, 'waits'), item(2, 'goes on')];
    const done = await runForAccounts(
      pool,
      items,
      async () => new Set(),
      async (tx, { name }) => {
        await tx`set local lock_timeout = 50`;
        if (name === 'waits') await tx`select 1 from users where account_id = 1`;
        return name;
      },
    );
    end.resolve();
    await holding;
    await other.end();
    expect([...done]).toEqual([[items[1], 'goes on']]);
  });
});
