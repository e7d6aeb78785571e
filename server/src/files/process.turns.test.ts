// Files of an account are processed one at a time and in the order of arrival, even if processes, connections or the database fail.
import { describe, expect, onTestFinished, test } from 'vitest';
import { lockAccount } from '../accounts/accounts.ts';
import { Fault } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import { inTransaction, openPool } from '../db/db.ts';
import { deleteGroupResults } from '../results/published-figures.ts';
import { listRuns } from '../sync/runs.ts';
import { until } from '../testing/until.ts';
import { isTurnFree, takeTurn } from './process.sql.ts';
import { processInTurn, processFiles } from './queue.ts';
import {
  database,
  pool,
  logged,
  log,
  type Company,
  company,
  arrive,
  send,
  lastReport,
  lines,
  groupsFile,
  peopleOf,
  useDatabase,
} from './process.fixture.ts';

useDatabase();

test('files are applied once each and in the order of arrival, even by several processes', async () => {
  const acme = await company();
  const one = (name: string) => lines('EmployeeID;FirstName;LastName', `1;${name};Ask`);
  for (const name of ['A', 'B', 'C']) {
    await arrive(acme, 'users.csv', one(name));
  }
  const others = [openPool(database.url, 2), openPool(database.url, 2)];
  await Promise.all(
    others.map((each) => processFiles(each, acme.id, deleteGroupResults, log).catch(() => {})),
  );
  await processFiles(pool, acme.id, deleteGroupResults, log);
  await Promise.all(others.map((each) => each.end()));
  const changes = await pool<{ to: string }[]>`
    select coalesce(fields->'firstName'->>'to', 'A') as to
    from   run_changes where account_id = ${acme.id} order by run_id, position`;
  expect(changes.map(({ to }) => to)).toEqual(['A', 'B', 'C']);
  expect(await peopleOf(acme)).toMatchObject([{ name: 'C Ask' }]);
});

/** Restricts a query of locks to this database, because other test files use the same server. */
const ofThisDatabase = () =>
  pool`database = (select oid from pg_database where datname = current_database())`;

describe('a turn', () => {
  const unavailable = new Fault('unavailable', 'unavailable', 'No database.');
  const killedReader = new Fault('unavailable', 'file not processed', 'Reading the file was stopped.');
  const outOfProcesses = Object.assign(new Error('spawn EAGAIN'), { code: 'EAGAIN', syscall: 'spawn node' });
  const ended = (code: string) => Object.assign(new Error('The thread has ended.'), { code });
  const one = lines('EmployeeID;FirstName;LastName', '1;Anna;Ask');

  /** Returns the state of the first waiting file. */
  async function firstWaiting({ id }: Company) {
    const [row] = await pool<{ turn: string | null; failures: number; interruptions: number }[]>`
      select turn, failures, interruptions from files
      where  account_id = ${id} and arrival is not null and processed_at is null order by arrival limit 1`;
    return row;
  }

  /** Starts the first waiting file like a process that is then killed, so that its turn never ends. */
  const startAndDie = async ({ id }: Company, ago = '0 s') =>
    pool`update files set turn = ${newId()}, begun_at = now() - ${ago}::interval,
                          interruptions = interruptions + (turn is not null)::integer
         where  account_id = ${id} and processed_at is null`;

  test('belongs to one process at a time in each account, and that process handles the files of the others', async () => {
    const acme = await company();
    await inTransaction(pool, async (tx) => {
      await takeTurn(tx, acme.id);
      await arrive(acme, 'a.csv', one);
      await processFiles(pool, acme.id, deleteGroupResults, log);
      expect(await firstWaiting(acme)).toMatchObject({ turn: null });
      let started = 0;
      await processInTurn(pool, acme.id, async () => void started++, log);
      expect(started).toBe(0);
    });
    await processInTurn(
      pool,
      acme.id,
      (turnId) => processFiles(pool, acme.id, deleteGroupResults, log, turnId),
      log,
    );
    expect(await firstWaiting(acme)).toBeUndefined();
  });

  test('ends with its database connection', async () => {
    const acme = await company();
    const lost = inTransaction(pool, async (tx) => {
      await pool`select pg_terminate_backend(${(await takeTurn(tx, acme.id)) as number})`;
      await new Promise(() => {});
    });
    await expect(lost).rejects.toMatchObject({ kind: 'unavailable' });
    expect(await isTurnFree(pool, acme.id)).toBe(true);
    await arrive(acme, 'a.csv', one);
    expect((await send(acme, 'b.csv', one)).outcome).toBe('applied');
    expect(await firstWaiting(acme)).toBeUndefined();
  });

  test('that is lost in the middle applies nothing and does not count as a failure of the file', async () => {
    const acme = await company();
    await arrive(acme, 'a.csv', one);
    const others = openPool(database.url, 3);
    onTestFinished(() => others.end({ timeout: 1 }));
    // The account is locked, so the file has been read and waits to be applied.
    await inTransaction(pool, async (tx) => {
      await lockAccount(tx, acme.id);
      const processing = processInTurn(
        pool,
        acme.id,
        (turnId) => processFiles(others, acme.id, deleteGroupResults, log, turnId),
        log,
      );
      await until(async () => (await firstWaiting(acme))?.turn !== null);
      await pool`
        select pg_terminate_backend(pid) from pg_locks
        where  locktype = 'advisory' and objid = ${acme.id} and objsubid = 2 and ${ofThisDatabase()}`;
      await until(() => isTurnFree(pool, acme.id));
      await startAndDie(acme); // another process has taken over
      await processing;
    });
    expect(await peopleOf(acme)).toEqual([]);
    expect(await firstWaiting(acme)).toMatchObject({ failures: 0 });
    await processFiles(pool, acme.id, deleteGroupResults, log);
    expect((await lastReport(acme)).outcome).toBe('applied');
  });

  test('that loses another connection ends and does not count as a failure of the file', async () => {
    const acme = await company();
    await arrive(acme, 'a.csv', one);
    const others = openPool(database.url, 3);
    onTestFinished(() => others.end({ timeout: 1 }));
    let processing: Promise<void> | undefined;
    await inTransaction(pool, async (tx) => {
      await tx`lock table column_mappings in access exclusive mode`; // read after the file
      processing = processInTurn(
        pool,
        acme.id,
        (turnId) => processFiles(others, acme.id, deleteGroupResults, log, turnId),
        log,
      );
      await until(async () => {
        const lost = await pool`
          select pg_terminate_backend(pid) from pg_locks
          where  relation = 'column_mappings'::regclass and not granted and ${ofThisDatabase()}`;
        return lost.length > 0;
      });
    });
    await processing;
    expect(await isTurnFree(pool, acme.id)).toBe(true);
    expect(await firstWaiting(acme)).toMatchObject({ turn: null, failures: 0 });
    await processFiles(pool, acme.id, deleteGroupResults, log);
    expect((await lastReport(acme)).outcome).toBe('applied');
  });

  test('that was killed three times does not make a valid file fail', async () => {
    const acme = await company();
    await arrive(acme, 'a.csv', one);
    for (let i = 0; i < 3; i++) await startAndDie(acme, '1 hour');
    await processFiles(pool, acme.id, deleteGroupResults, log);
    expect((await lastReport(acme)).outcome).toBe('applied');
    expect(await pool`select from runs where account_id = ${acme.id}`).toHaveLength(1);
  });

  test('that was killed repeatedly starts again after a pause, and the file is never abandoned', async () => {
    const acme = await company();
    await arrive(acme, 'a.csv', one);
    for (let i = 0; i < 3; i++) await startAndDie(acme);
    await processFiles(pool, acme.id, deleteGroupResults, log);
    expect(await firstWaiting(acme)).toMatchObject({ interruptions: 2 }); // not started during the pause
    for (let i = 0; i < 40; i++) await startAndDie(acme, '1 day');
    await startAndDie(acme, '59 minutes');
    await processFiles(pool, acme.id, deleteGroupResults, log);
    expect(await firstWaiting(acme)).toMatchObject({ interruptions: 43 });
    await letPass(acme, '1 minute');
    await processFiles(pool, acme.id, deleteGroupResults, log);
    expect((await lastReport(acme)).outcome).toBe('applied');
    expect(logged.at(-1)).toMatchObject({ accountId: acme.id, interruptions: 44 });
  });

  /** Lets time pass for the first waiting file. */
  const letPass = ({ id }: Company, time: string) =>
    pool`update files set begun_at = begun_at - ${time}::interval where account_id = ${id} and processed_at is null`;

  test.each<[string, Error, string[], string]>([
    [
      'the system kills its reader',
      killedReader,
      ['5 seconds', '5 minutes', '15 minutes', '40 minutes'],
      'Reading this file failed 5 times in about an hour. The system stopped it, probably because memory ran out. ' +
        'Give Soundings more memory, or save the file as CSV, which needs less. Then send it again.',
    ],
    [
      'there is a defect',
      new TypeError('undefined is not a function'),
      ['5 seconds', '5 minutes'],
      'Processing this file failed 3 times. See the service log for the reason, then send the file again.',
    ],
  ])(
    'makes the file fail because %s, after longer and longer pauses, and then handles the next files',
    async (_, error, pauses, message) => {
      const acme = await company();
      await arrive(acme, 'a.csv', one);
      await arrive(acme, 'groups.csv', groupsFile);
      const failing = async (turnId: string) => {
        await pool`update files set turn = ${turnId}, begun_at = now() where account_id = ${acme.id} and name = 'a.csv'`;
        throw error;
      };
      const fail = () => processInTurn(pool, acme.id, failing, log);
      /** Tries to process files, and returns whether none was processed, because the first one pauses. */
      const isPausing = async () => {
        await processFiles(pool, acme.id, deleteGroupResults, log);
        return (
          (await pool`select from files where account_id = ${acme.id} and processed_at is not null`)
            .length === 0
        );
      };
      for (const pause of pauses) {
        await fail();
        await letPass(acme, `${pause}`);
        await pool`update files set begun_at = begun_at + interval '5 s' where account_id = ${acme.id}`;
        expect(await isPausing()).toBe(true);
        await letPass(acme, '5 s');
      }
      await fail();
      const report = await lastReport(acme);
      expect([report.outcome, report.details]).toEqual(['failed', [{ type: 'file not processed', message }]]);
      expect(report.message).toContain(message);
      await processFiles(pool, acme.id, deleteGroupResults, log);
      expect(await lastReport(acme)).toMatchObject({ file: 'groups.csv', outcome: 'applied' });
    },
  );

  test.each<[string, Error, number]>([
    ['a killed reader', killedReader, 1],
    ['a thread that runs out of memory', ended('ERR_WORKER_OUT_OF_MEMORY'), 1],
    ['a defect', new TypeError('undefined is not a function'), 1],
    ['an unavailable database', unavailable, 0],
    ['a connection that the database closed', ended('57P01'), 0],
    ['a machine without free processes', outOfProcesses, 0],
  ])('counts as a failure of the file only if the file can be the cause: %s', async (_, error, failures) => {
    const acme = await company();
    await arrive(acme, 'a.csv', one);
    const failing = async (turnId: string) => {
      await pool`update files set turn = ${turnId}, begun_at = now() where account_id = ${acme.id}`;
      throw error;
    };
    await processInTurn(pool, acme.id, failing, log);
    expect(await firstWaiting(acme)).toEqual({ turn: null, failures, interruptions: 0 });
    // The file is tried again soon and succeeds.
    const jobs =
      await pool`select from graphile_worker.jobs where key = ${`files ${acme.id}`} and run_at > now()`;
    expect(jobs).toHaveLength(1);
    await letPass(acme, '1 minute');
    await processFiles(pool, acme.id, deleteGroupResults, log);
    expect((await lastReport(acme)).outcome).toBe('applied');
  });

  test('shows the file and its run as being processed, and an abandoned file ends its run', async () => {
    const acme = await company();
    await arrive(acme, 'a.csv', one);
    await pool`create table outcomes_seen as select null::text as outcome, null::text as state where false`;
    await pool.unsafe(`
      create function see() returns trigger language plpgsql as $$ begin
        insert into outcomes_seen select outcome, null from runs where account_id = ${acme.id};
        return new;
      end $$;
      create trigger see before insert on users for each row execute function see()`);
    await processFiles(pool, acme.id, deleteGroupResults, log);
    await pool.unsafe('drop trigger see on users; drop function see');
    expect((await pool`select outcome from outcomes_seen`).map((row) => row['outcome'] as string)).toEqual([
      'processing',
    ]);
    await pool`drop table outcomes_seen`;
    await arrive(acme, 'b.csv', one);
    const runId = newId();
    await pool`update files set failures = 4, run_id = ${runId} where account_id = ${acme.id} and processed_at is null`;
    await pool`insert into runs (account_id, run_id, source, validate_only, outcome)
               values (${acme.id}, ${runId}, 'file', false, 'processing')`;
    const failing = async (turnId: string) => {
      await pool`update files set turn = ${turnId} where account_id = ${acme.id} and processed_at is null`;
      throw killedReader;
    };
    await processInTurn(pool, acme.id, failing, log);
    expect(await listRuns(pool, acme.id, 1)).toMatchObject([{ id: runId, outcome: 'failed' }]);
  });
});
