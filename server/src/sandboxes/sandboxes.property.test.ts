// Any order of requests, resets, deletions, new tokens and losses of the role, done at the same time and with processes that are killed at any
// moment, leaves each administrator either without a sandbox or with a whole one, and leaves nothing behind.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAccount } from '../accounts/accounts.ts';
import { callerOf } from '../accounts/callers.ts';
import { openLog } from '../base/log.ts';
import { selectAccountTables } from '../db/account-rows.ts';
import { type AccountId, inTransaction, openPool, type Pool } from '../db/db.ts';
import { startJobs } from '../jobs/jobs.ts';
import { createUser } from '../people/users.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { cases } from '../testing/house/cases.ts';
import { until } from '../testing/until.ts';
import { removeSandbox, replaceSandboxToken, requestReset, requestSandbox } from './sandboxes.ts';
import type { Owner } from './sandboxes.sql.ts';
import { recordTemplate } from './template.ts';
import { tendSandboxes } from './tend.ts';

const log = openLog('silent' as never);
const [most, peopleOfTemplate] = [2, 6];
const settings = { most, by: { origin: 'service' } as const };

let database: TestDatabase;
let owners: Owner[];
beforeAll(async () => {
  database = await openTestDatabase();
  await (await startJobs(database.url, { recurring: [], tasks: {} }, log)).stop(); // installs the queue
  owners = [];
  for (const company of ['Acme', 'Acme', 'Beta']) owners.push(await newOwner(company));
});
afterAll(() => database.close());

const accounts = new Map<string, AccountId>();
async function newOwner(company: string): Promise<Owner> {
  return inTransaction(database.pool, async (tx) => {
    const accountId = accounts.get(company) ?? (await createAccount(tx, { name: company })).id;
    accounts.set(company, accountId);
    const email = `${Math.random()}@example.org`;
    const person = { firstName: 'A', lastName: 'B', email, role: 'Administrator' as const };
    return { accountId, userId: await createUser(tx, accountId, person) };
  });
}

/** Creates a template of a few people, half of them only after its row is there, as the real one. */
async function makeTemplate(pool: Pool): Promise<void> {
  const people = async (id: AccountId) => {
    for (let i = 0; i < peopleOfTemplate / 2; i++)
      await inTransaction(pool, (tx) => createUser(tx, id, { firstName: 'P', lastName: 'Q', role: 'User' }));
  };
  await recordTemplate(
    pool,
    { program: 'test', weeks: 1 },
    {
      create: async (tx) => (await createAccount(tx, { name: 'Template', kind: 'template' })).id,
      fill: async (id, onWeek) => {
        await people(id);
        await onWeek(0);
        await people(id);
      },
    },
  );
}

/** Does what is due as a process of its own, which is killed after some milliseconds; undefined: never. */
async function tend(killedAfter?: number): Promise<void> {
  const name = `tending ${Math.random()}`;
  const pool = openPool(database.url, 4, { settings: { application_name: name } });
  // All connections are open before any is ended: the driver reports the end of one that is being opened to no one.
  await Promise.all([1, 2, 3, 4].map(() => pool`select pg_sleep(0.02)`));
  await database.pool`update sandboxes set retry_at = null`;
  const template = { program: 'test', weeks: 1, monday: '2026-01-05' };
  const parts = { pool, log, most, template, now: Date.now, graceSeconds: 0 };
  const tending = tendSandboxes({ ...parts, makeTemplate: () => makeTemplate(pool) }).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (killedAfter !== undefined) {
    await new Promise((resolve) => setTimeout(resolve, killedAfter));
    await database.pool`
      select pg_terminate_backend(pid) from pg_stat_activity where application_name = ${name}`;
  }
  const error = await tending;
  await pool.end({ timeout: 1 });
  if (error !== undefined && killedAfter === undefined) throw error;
}

type Token = { owner: Owner; text: string };
type Command =
  | { kind: 'create' | 'reset' | 'token' | 'delete' | 'role' | 'write'; who: number }
  | { kind: 'tend' }
  | { kind: 'kill'; after: number };

const who = fc.integer({ min: 0, max: 2 });
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('create' as const), who }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constantFrom('reset', 'token', 'delete', 'role', 'write'), who }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('tend' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('kill' as const), after: fc.integer({ min: 0, max: 90 }) }),
  },
);

/** Does one step. Refused ones are part of the game. */
async function act(one: Command, tokens: Token[]): Promise<void> {
  if (one.kind === 'tend') return tend();
  if (one.kind === 'kill') return tend(one.after);
  const owner = owners[one.who] as Owner;
  const { pool } = database;
  const keep = (text: string) => void tokens.push({ owner, text });
  if (one.kind === 'create')
    keep(await inTransaction(pool, (tx) => requestSandbox(tx, owner, ['data', 'files'], settings)));
  if (one.kind === 'token')
    keep(await inTransaction(pool, (tx) => replaceSandboxToken(tx, owner, ['data'], settings)));
  if (one.kind === 'reset') await inTransaction(pool, (tx) => requestReset(tx, owner, settings));
  if (one.kind === 'delete') await inTransaction(pool, (tx) => removeSandbox(tx, owner, settings.by));
  if (one.kind === 'role')
    await pool`
      update users set role = case role when 'User' then 'Administrator' else 'User' end
      where  account_id = ${owner.accountId} and user_id = ${owner.userId}`;
  if (one.kind === 'write') {
    const token = tokens.findLast((issued) => issued.owner === owner);
    const caller = token && (await callerOf(pool, token.text, 'data'));
    if (caller)
      await inTransaction(pool, (tx) =>
        createUser(tx, caller.accountId, { firstName: 'N', lastName: 'N', role: 'User' }),
      );
  }
}

/** Every token that works is the last one of its administrator, and leads to a whole sandbox of their own. */
async function expectWhole(tokens: Token[]): Promise<void> {
  const { pool } = database;
  for (const { owner, text } of tokens) {
    const caller = await callerOf(pool, text, 'data').catch(() => undefined);
    if (!caller) continue;
    const [row] = await pool<{ people: number; isOwn: boolean; kind: string }[]>`
      select (select count(*)::integer from users u where u.account_id = a.account_id and u.first_name = 'P') as "people",
             exists (select from sandboxes s join users o using (account_id, user_id)
                     where  s.sandbox_id = a.account_id and s.account_id = ${owner.accountId}
                       and  s.user_id = ${owner.userId} and o.role = 'Administrator') as "isOwn",
             a.kind as "kind"
      from   accounts a where a.account_id = ${caller.accountId}`;
    expect(row).toEqual({ people: peopleOfTemplate, isOwn: true, kind: 'sandbox' });
    expect(tokens.findLast((issued) => issued.owner === owner)?.text).toBe(text);
  }
  const [{ count } = { count: 0 }] = await pool<{ count: number }[]>`
    select count(*)::integer as "count" from sandboxes`;
  expect(count).toBeLessThanOrEqual(most);
}

/** When everything is done, each sandbox is ready, and there is no account and no row that belongs to none. */
async function expectClean(): Promise<void> {
  const { pool } = database;
  await until(async () => {
    await tend();
    const rows = await pool`select 1 from sandboxes where state <> 'ready'`;
    return rows.length === 0;
  });
  await tend(); // deletes what the last one has ended
  const left = await pool`
    select account_id, kind from accounts a
    where  kind = 'sandbox' and (ended_at is not null
                                 or not exists (select from sandboxes s where s.sandbox_id = a.account_id))
       or  kind = 'template' and not exists (select from sandbox_templates t
                                             where t.account_id = a.account_id and t.ready_at is not null)`;
  expect([...left]).toEqual([]);
  for (const { name } of await selectAccountTables(pool)) {
    const rows = await pool`
      select 1 from ${pool(name)} t where not exists (select from accounts a where a.account_id = t.account_id) limit 1`;
    expect([name, rows.length]).toEqual([name, 0]);
  }
}

test('a sandbox is whole or does not exist, and nothing is left over', { timeout: 600_000 }, async () => {
  const { pool } = database;
  // Another company, which has no sandbox: everything that is written or deleted in the wrong account would show here.
  const other = await newOwner('Other');
  const rowsOfOther = async () =>
    pool`select (select json_agg(u) from users u where u.account_id = a.account_id)         as users,
                (select json_agg(e) from audit_entries e where e.account_id = a.account_id) as entries,
                a.*
         from   accounts a where a.account_id = ${other.accountId}`;
  const before = await rowsOfOther();
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(command, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 12 }),
      async (steps) => {
        const tokens: Token[] = [];
        for (const step of steps) {
          await Promise.allSettled(step.map((one) => act(one, tokens)));
          await expectWhole(tokens);
        }
        await expectClean();
        await expectWhole(tokens);
        // The next case begins without sandboxes, and without the requests of this one.
        for (const owner of owners) {
          await inTransaction(pool, (tx) => removeSandbox(tx, owner, settings.by)).catch(() => {});
          await pool`update users set role = 'Administrator' where user_id = ${owner.userId}`;
        }
        owners = await Promise.all(owners.map((_, i) => newOwner(i < 2 ? 'Acme' : 'Beta')));
      },
    ),
    cases(20),
  );
  expect(await rowsOfOther()).toEqual(before);
});
