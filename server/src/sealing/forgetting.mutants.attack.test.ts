// The attacker of closed weeks succeeds where it must: against mutants, and where a copy of the key exists, which the service and
// the answering page mention.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startAnswering } from '../app.ts';
import { openLog } from '../base/log.ts';
import { inTransaction, openPool } from '../db/db.ts';
import { openEmbedded } from '../db/embedded.ts';
import { closeWeek, deleteClosedData } from '../results/close-week.ts';
import { dumpFile, dumpOf, readWith, telltales } from '../testing/attacks/file-attacker.ts';
import { answeredWeek, keysBeside } from '../testing/attacks/forgetting.ts';
import { isSegment, logParts } from '../testing/attacks/log-segments.ts';
import { asSuperuser } from '../testing/postgres.ts';
import {
  connections,
  connectionsTo,
  newDataDir,
  started,
  useDirectory,
} from '../testing/processes/processes.ts';
import { until } from '../testing/until.ts';
import { keepOpen } from '../testing/keep-open.ts';
import { AnswerKeys } from './answer-keys.ts';
import {
  requestClose,
  attack,
  command,
  filesNow,
  nothing,
  readOf,
  takeWhileOpen,
  untilBlocked,
} from './forgetting.fixture.ts';

useDirectory();

describe('ANSWER_KEYS=database', () => {
  test('the same attack reads everything from the log, which the service and the privacy report mention', async () => {
    const dataDir = await newDataDir();
    const env = { ANSWER_KEYS: 'database' };
    const service = await started(dataDir, env);
    expect(service.said()).toContain(
      'ANSWER_KEYS=database: individual answers of a closed week can still be read',
    );
    const pool = await connectionsTo(service);
    const keys = new AnswerKeys(pool, { place: 'database', directory: join(dataDir, 'keys') });
    const asked = await answeredWeek({ pool, keys }, [service.address]);
    const dump = await dumpOf(pool);
    await requestClose(service, pool, asked);
    await until(async () => (await pool`select 1 from answer_keys where not is_spent`).length > 0);
    const after = await filesNow(pool, dataDir);
    expect(readOf(asked, [...after, dumpFile(dump)], dump)).toEqual({
      answers: asked.answers,
      comments: asked.links.length,
    });
    const report = await command(['privacy', 'report', '--account', String(asked.accountId)], {
      ...env,
      DATA_DIR: dataDir,
    });
    expect(report).toMatch(/database/);
  });
});

/** Creates a database with an open week in which everyone has answered, and takes what the attacker takes. */
async function openForMutants() {
  const dataDir = await newDataDir();
  const embedded = await openEmbedded(dataDir, { role: 'service', log: () => {}, fast: true });
  onTestFinished(() => embedded.stop());
  const pool = openPool(embedded.url, 6);
  onTestFinished(() => pool.end({ timeout: 0 }));
  const keys = keysBeside(dataDir, pool);
  const pages = await startAnswering({ pool, keys, now: Date.now }, openLog('error'));
  onTestFinished(() => pages.close());
  const asked = await answeredWeek({ pool, keys }, [pages.address]);
  const before = await takeWhileOpen(pool, dataDir, asked, dataDir);
  const close = () => inTransaction(pool, (tx) => closeWeek(tx, keys, asked.accountId, asked.week));
  const answerAnother = () => answeredWeek({ pool, keys }, [pages.address]);
  return {
    dataDir,
    url: embedded.url,
    pool,
    keys,
    asked,
    before,
    close,
    answerAnother,
    address: pages.address,
  };
}

describe('a failed step of the epoch', () => {
  test('leaves no key with which a week that closes before the next step can be read', async () => {
    const { dataDir, pool, keys, before, close, answerAnother } = await openForMutants();
    const [first, stays] = [await answerAnother(), await answerAnother()];
    await inTransaction(pool, (tx) => closeWeek(tx, keys, first.accountId, first.week));
    // The key of the week that closes next is rewrapped. That of another week waits for a lock.
    const letGo = await keepOpen(
      pool,
      (tx) => tx`select 1 from week_keys where account_id = ${stays.accountId} for update`,
    );
    const step = keys.chain.advance();
    step.catch(() => {});
    await untilBlocked(pool, 'update week_keys');
    await pool`
      select pg_terminate_backend(pid) from pg_stat_activity
      where  datname = current_database() and wait_event_type = 'Lock' and query ilike '%update week_keys%'`;
    await expect(step).rejects.toMatchObject({ code: 'unavailable' });
    await letGo();
    await close();
    await deleteClosedData(pool, keys);
    expect(await attack(pool, before, dataDir)).toEqual(nothing);
    // The open week is unchanged.
    await takeWhileOpen(pool, dataDir, stays, undefined);
  });
});

describe('the answering page does not promise what a copy of the key would break', () => {
  const promise = 'the key that links them to you is destroyed';
  const pageAt = async (address: string, link: string) => (await fetch(`${address}/a/${link}`)).text();

  test('the key moves to the database and back during the week: the log reveals its answers, and the page mentions it', async () => {
    const { dataDir, pool, keys, asked, close, address } = await openForMutants();
    const link = asked.links[0]!;
    expect(await pageAt(address, link)).toContain(promise);
    const inDatabase = new AnswerKeys(pool, { place: 'database', directory: join(dataDir, 'keys') });
    await inDatabase.chain.advance();
    const dump = await dumpOf(pool);
    await keysBeside(dataDir, pool).chain.advance();
    const page = await pageAt(address, link);
    expect(page).toContain('Until older backups and logs of the database are gone');
    expect(page).not.toContain(promise);
    await close();
    await deleteClosedData(pool, keys);
    const files = await filesNow(pool, dataDir);
    const { answers } = readOf(asked, files, dump);
    expect(answers).toBe(asked.answers);
  });

  test('the key was exported, or a process that has it is not running', async () => {
    const { pool, keys, asked, address } = await openForMutants();
    const link = asked.links[0]!;
    const elsewhere = 'a copy of the key to the answers is kept elsewhere';
    await pool`insert into key_processes (name, epoch, seen_at) values ('gone', 1, now() - interval '11 minutes')`;
    expect(await pageAt(address, link)).toContain(elsewhere);
    await keys.chain.forgetProcess('gone');
    expect(await pageAt(address, link)).toContain(promise);
    await keys.chain.exported();
    const page = await pageAt(address, link);
    expect(page).toContain(elsewhere);
    expect(page).not.toContain(promise);
  });
});

test('the attacker reads the same records from the log segments as PostgreSQL', async () => {
  const { dataDir, url } = await openForMutants();
  const pool = connections(asSuperuser(url));
  await pool`create extension pg_walinspect`;
  const write = (count: number) => pool`
    select pg_logical_emit_message(false, 'long', repeat('x', 3000000 + i * i), true)
    from   generate_series(1, ${count}) i`;
  // What is written from here on goes to reused segments, several of them, the last of which is not full.
  await write(8);
  await pool`checkpoint`;
  await pool`select pg_switch_wal()`;
  const lsn = async () =>
    (await pool<{ lsn: string }[]>`select pg_current_wal_flush_lsn()::text as lsn`)[0]!.lsn;
  const from = await lsn();
  await write(8);
  await pool`create table many as select i, repeat('y', i % 500) from generate_series(1, 5000) i`;
  await pool`select pg_logical_emit_message(false, 'last', '', true)`;
  const wanted = await pool<{ address: string; length: number }[]>`
    select (start_lsn - '0/0')::text as address, record_length as length
    from   pg_get_wal_records_info(${from}, ${await lsn()})`;
  const directory = join(dataDir, 'postgres', 'pg_wal');
  const names = readdirSync(directory).map((name) => join(directory, name));
  const segments = names.filter(isSegment).toSorted();
  const parts = logParts(segments.map((name) => readFileSync(name)));
  const start = BigInt(wanted[0]!.address);
  const read = parts.flatMap(({ records }) =>
    records()
      .filter(({ address, isWhole }) => isWhole && address >= start)
      .map(({ address, bytes }) => ({ address: String(address), length: bytes.length })),
  );
  expect(wanted.length).toBeGreaterThan(5000);
  // Other PostgreSQL processes may have written more since.
  expect(read.slice(0, wanted.length)).toEqual([...wanted]);
  expect(parts.length).toBeGreaterThan(1);
  // Older records are read too, from segments that are not reused yet.
  expect(parts.flatMap(({ records }) => records()).some(({ address }) => address < start)).toBe(true);
});

describe('the attacker succeeds', () => {
  test('against an epoch that never ends, and fails when it ends', async () => {
    const { dataDir, pool, keys, asked, before, close } = await openForMutants();
    await close();
    const { read, traces } = await attack(pool, before, dataDir);
    expect(read).toEqual({ answers: asked.answers, comments: asked.links.length });
    expect(traces).toContainEqual(expect.stringMatching(/^epoch key in .*\/keys\/answers$/));
    await deleteClosedData(pool, keys);
    expect(await attack(pool, before, dataDir)).toEqual(nothing);
  });

  test('against a plain-text week key, a stored comment, and a comment stored with its respondent number', async () => {
    const { dataDir, pool, keys, asked, before, close } = await openForMutants();
    const weekKey = (await keys.of(pool, asked.accountId, asked.week))!.secret;
    await pool`create table clear (week_key bytea, text text, respondent uuid)`;
    await pool`insert into clear (week_key) values (${weekKey})`;
    await pool`insert into clear (text) values (${`${asked.hiddenMark} number 25`})`;
    await pool`
      insert into clear (text, respondent)
      values (${`${asked.shownMark} number 1`}, ${before.respondents[1] as string})`;
    await pool`delete from clear`;
    await pool`drop table clear`;
    await close();
    await deleteClosedData(pool, keys);
    const { traces, hidden, linked } = await attack(pool, before, dataDir);
    expect(traces).toContainEqual(expect.stringMatching(/^week key in .*\/pg_wal\//));
    expect(hidden).toContainEqual(expect.stringMatching(/\/pg_wal\//));
    expect(linked).not.toEqual([]);
    // The found key decrypts the rows of the dump.
    const found = new Map([[`${asked.accountId} ${asked.week}`, weekKey]]);
    expect(readWith(found, before.dump)).toHaveLength(asked.answers);
  });
});

test('what is stored about a person outside of the encrypted part does not reveal whether they skipped, answered or commented', async () => {
  const { asked, before } = await openForMutants();
  const rows = (before.dump.get('answers') ?? []).filter((row) => row['account_id'] === asked.accountId);
  expect(rows).toHaveLength(asked.links.length);
  const skippers = new Set(
    before.respondents.filter((_, i) => asked.skippers.has(asked.userIds[i] as number)),
  );
  const isSkipper = (respondent: string) => skippers.has(respondent);
  expect(skippers.size).toBe(9);
  expect(telltales(rows, isSkipper)).toEqual([]);
  // The mutants: a column next to the encrypted part, and an encrypted part as long as its content.
  const withFlag = rows.map((row) => ({ ...row, skipped: isSkipper(row['respondent'] as string) }));
  expect(telltales(withFlag, isSkipper)).toEqual(['skipped']);
  const notPadded = rows.map((row) => ({
    ...row,
    sealed: isSkipper(row['respondent'] as string) ? `${String(row['sealed']).slice(0, -8)}` : row['sealed'],
  }));
  expect(telltales(notPadded, isSkipper)).toEqual(['sealed']);
});
