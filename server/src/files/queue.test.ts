// The queue of files with random uploads, kills and restarts of real processes: each file is processed once, in the order of
// arrival, and no valid file is abandoned.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAccount } from '../accounts/accounts.ts';
import { createToken } from '../accounts/tokens.ts';
import { inTransaction } from '../db/db.ts';
import { createUser } from '../people/users.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { caseCount } from '../testing/house/cases.ts';
import { bareEnvironment } from '../testing/processes/environment.ts';
import { until } from '../testing/until.ts';
import { openUpload } from './store.ts';
import { addLostProcessing } from './store.sql.ts';

// QUEUE_UPLOADS=1000 takes about ten minutes and also prints statistics.
const uploads = caseCount('QUEUE_UPLOADS', 12);
// A new seed for each run. QUEUE_SEED repeats a run.
const seed = Number(process.env['QUEUE_SEED'] ?? Date.now() % 2 ** 31);

/** The longest wait for something, in ms, even on a busy machine. */
const waitMs = 60_000 + uploads * 3_000;

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
  // Records the start of each turn and whether another was running, because a killed process cannot report it.
  await database.pool.unsafe(`
    create table started_turns (at bigint generated always as identity, account_id integer, file_id integer, turn uuid,
                        is_second boolean);
    create function record_start() returns trigger language plpgsql as $$ begin
      insert into started_turns (account_id, file_id, turn, is_second)
      values (new.account_id, new.file_id, new.turn,
              exists (select 1
                      from   files other
                      where  other.account_id = new.account_id and other.file_id <> new.file_id
                        and  other.turn is not null and other.processed_at is null));
      return new;
    end $$;
    create trigger record_start after update of turn on files for each row
    when (new.turn is not null and new.turn is distinct from old.turn) execute function record_start()`);
});
afterAll(() => database.close());

// The processes end before the database is closed, because hooks run in reverse order.
const exits: Promise<unknown>[] = [];
const workers: ChildProcess[] = [];
afterAll(async () => {
  for (const worker of workers) worker.kill('SIGKILL');
  await Promise.all(exits);
});

function startWorker(): ChildProcess {
  const module = fileURLToPath(new URL('queue.fixture.ts', import.meta.url));
  const child = spawn(process.execPath, [module, database.url], {
    env: bareEnvironment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  exits.push(once(child, 'exit'));
  return child;
}

/**
 * One step: an upload to one of two accounts with a number of people, a kill of one of two workers, or a wait until a number of
 * further files have been started.
 */
type Step = { upload: { account: 0 | 1; people: number } } | { kill: 0 | 1 } | { starts: number };

const steps = fc
  .array(
    fc.oneof(
      {
        weight: 12,
        arbitrary: fc.record({ account: fc.constantFrom(0 as const, 1 as const), people: fc.nat(3) }),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          account: fc.constant(0 as const),
          people: fc.integer({ min: 500, max: 1500 }),
        }),
      },
      { weight: 4, arbitrary: fc.record({ starts: fc.nat(5) }) },
      { weight: 2, arbitrary: fc.record({ kill: fc.constantFrom(0 as const, 1 as const) }) },
    ),
    { minLength: 2 * uploads, maxLength: 2 * uploads },
  )
  .map((all): Step[] => {
    let left = uploads;
    return all
      .map((step): Step => ('people' in step ? { upload: step } : step))
      .filter((step) => !('upload' in step) || left-- > 0);
  });

async function newCompany() {
  const { pool } = database;
  const id = await inTransaction(pool, async (tx) => {
    const account = await createAccount(tx, { name: 'Acme' });
    await createUser(tx, account.id, { firstName: 'Ada', lastName: 'Admin', role: 'Administrator' });
    return account.id;
  });
  // The limits allow for lists that change completely.
  await pool`update accounts set max_users_created = 20000, max_users_updated = 20000, max_users_deleted = 20000
             where account_id = ${id}`;
  const { id: tokenId } = await createToken(pool, id, { name: 'nightly', scopes: ['files'] });
  return { id, tokenId };
}

async function send(
  { id, tokenId }: { id: number; tokenId: number },
  number: number,
  people: number,
): Promise<void> {
  const name = `${number}.csv`;
  const rows = Array.from({ length: people + 1 }, (_, i) => `${i};File${number};Ask`);
  const text = ['EmployeeID;FirstName;LastName', ...rows].join('\n');
  const { pool } = database;
  const upload = await openUpload(pool, { accountId: id, via: 'https', tokenId, address: '192.0.2.1' }, name);
  await upload.write(0, Buffer.from(text));
  await upload.finish(name);
}

let lastPassed = 0;

/**
 * Lets an hour pass for paused files, and queues files again that a killed process has left, as the service does every
 * minute. Does so at most four times a second.
 */
async function passAnHour(): Promise<void> {
  if (performance.now() < lastPassed + 250) return;
  lastPassed = performance.now();
  await database.pool`
    update files set begun_at = begun_at - interval '1 hour', arrived_at = arrived_at - interval '1 hour'
    where  account_id in (select account_id from accounts) and processed_at is null and arrival is not null`;
  await addLostProcessing(database.pool);
}

/** Waits until the number of further files have been started, or no file waits. */
async function untilStarted(more: number): Promise<void> {
  const { pool } = database;
  const countOf = async () => {
    const [row] = await pool<{ started: number; waiting: number }[]>`
      select (select count(*)::integer from started_turns) as started,
             (select count(*)::integer from files where processed_at is null) as waiting`;
    return row!;
  };
  const { started } = await countOf();
  await until(async () => {
    await passAnHour();
    const now = await countOf();
    return now.waiting === 0 || now.started >= started + more;
  }, waitMs);
}

test(
  `processes each of ${uploads} uploads once and in order, and abandons none, while processes are killed (QUEUE_SEED=${seed})`,
  { timeout: 2 * waitMs },
  async () => {
    const { pool } = database;
    const plan = fc.sample(steps, { seed, numRuns: 1 })[0] as Step[];
    const companies = [await newCompany(), await newCompany()];
    workers.push(startWorker(), startWorker());
    let [sent, kills] = [0, 0];
    const start = performance.now();
    for (const step of plan) {
      if ('upload' in step) await send(companies[step.upload.account]!, sent++, step.upload.people);
      else if ('starts' in step) await untilStarted(step.starts);
      else {
        workers[step.kill]!.kill('SIGKILL');
        kills++;
        workers[step.kill] = startWorker();
      }
    }
    await until(async () => {
      await passAnHour();
      return (await pool`select from files where processed_at is null`).length === 0;
    }, waitMs);
    const seconds = (performance.now() - start) / 1000;
    for (const { id } of companies) {
      const files = await pool<{ name: string; outcome: string; runs: number; failures: number }[]>`
        select name, report ->> 'outcome' as outcome, failures,
               (select count(*)::integer from runs r
                where r.account_id = f.account_id and r.file = f.name and r.outcome = 'applied') as runs
        from   files f where account_id = ${id} order by processed_at`;
      const arrivals = await pool<{ name: string }[]>`
        select name from files where account_id = ${id} order by arrival`;
      expect(files.map(({ name }) => name)).toEqual(arrivals.map(({ name }) => name));
      expect(
        files.filter((file) => file.outcome !== 'applied' || file.runs !== 1 || file.failures > 0),
      ).toEqual([]);
      expect(await pool`select from runs where account_id = ${id}`).toHaveLength(files.length);
      expect(
        await pool`select from audit_entries where account_id = ${id} and action = 'file abandoned'`,
      ).toHaveLength(0);
      // The last file decides who the people are.
      const people = await pool<{ name: string }[]>`
        select distinct first_name as name from users where account_id = ${id} and managed`;
      const last = arrivals.at(-1)?.name.replace('.csv', '');
      expect(people.map(({ name }) => name)).toEqual(last === undefined ? [] : [`File${last}`]);
      // No file was started while another was being processed, or before a file that arrived earlier.
      expect(await pool`select from started_turns where account_id = ${id} and is_second`).toEqual([]);
      const order = await pool<{ arrival: number }[]>`
        select f.arrival from started_turns b join files f using (account_id, file_id) where account_id = ${id} order by b.at`;
      const starts = order.map(({ arrival }) => arrival);
      expect(starts).toEqual(starts.toSorted((a, b) => a - b));
    }
    const [counts] = await pool<{ starts: number; interrupted: number; most: number }[]>`
      select (select count(*)::integer from started_turns) as starts, sum(interruptions)::integer as interrupted,
             max(interruptions) as most from files`;
    if (uploads > 100) {
      // oxlint-disable-next-line no-console -- a run with this many uploads prints its statistics
      console.log({ seed, uploads: sent, kills, seconds: Math.round(seconds), ...counts });
    }
  },
);
