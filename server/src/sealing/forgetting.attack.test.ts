// Attacks on closed weeks with everything that exists then (privacy.md P15): the files of the database with dead rows and log, a
// base backup, dumps of the time when the week was open, and every key that is still anywhere. On services and a PostgreSQL of
// their own, whose files are read as they are. The same attacker must win against each mutant, and while the week is open.
import { addWeeks, weekName } from '@soundings/contract/weeks.ts';
import { readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createToken } from '../accounts/tokens.ts';
import { startAnswering } from '../app.ts';
import { openLog } from '../base/log.ts';
import { tokenHash } from '../base/secrets.ts';
import { addClosing } from '../console/asking/asking.sql.ts';
import { inTransaction, openPool, type Pool } from '../db/db.ts';
import { openEmbedded } from '../db/embedded.ts';
import { closeWeek, deleteClosedData } from '../results/close-week.ts';
import {
  baseBackup,
  type Dump,
  dumpFile,
  dumpOf,
  filesBelow,
  fragmentsWithBoth,
  readWith,
  type Source,
  telltales,
  tracesOf,
  weekKeysIn,
  withoutCopies,
} from '../testing/file-attacker.ts';
import {
  type AnsweredWeek,
  answeredWeek,
  giveAnswer,
  isForgotten,
  keyPathOf,
  keysBeside,
} from '../testing/forgetting.ts';
import { bareEnvironment } from '../testing/environment.ts';
import { isSegment, logParts } from '../testing/log-segments.ts';
import { asSuperuser } from '../testing/postgres.ts';
import {
  connections,
  connectionsTo,
  databaseUrlOf,
  exec,
  home,
  newDataDir,
  type Service,
  started,
} from '../testing/processes.ts';
import { signIn } from '../testing/signed-in.ts';
import { answer, importLines, question, round } from '../testing/surveys.ts';
import { until } from '../testing/until.ts';
import { heldOpen } from '../testing/hold-open.ts';
import { AnswerKeys } from './answer-keys.ts';
import { derived, keyAt } from './epoch-keys.ts';
import { keyText, readKeyFile } from './key-file.ts';
import { encodeAnswers } from './person-answers.ts';

/** What the attacker takes while a week is open, and what the test knows from the inside. */
type Before = {
  asked: AnsweredWeek;
  dump: Dump;
  files: Source[];
  /** Secrets that must be nowhere after closing, by name. */
  secrets: Record<string, Uint8Array>;
  respondents: string[];
};

/**
 * Takes everything but the keys while the week is open. Made sure of here: with the key file, all of it can be read. `place`: the
 * directory of the cluster's files; without one, they are not taken.
 */
async function takeWhileOpen(
  pool: Pool,
  dataDir: string,
  asked: AnsweredWeek,
  place: string | undefined,
): Promise<Before> {
  const keys = keysBeside(dataDir, pool);
  const weekKey = (await keys.of(pool, asked.accountId, asked.week))!;
  const epoch = readKeyFile(keyPathOf(dataDir))!;
  const dump = await dumpOf(pool);
  const files = place === undefined ? [] : filesBelow(join(place, 'postgres'));
  const keyFile = { name: 'key file', bytes: Buffer.from(keyText(epoch)) };
  expect(readOf(asked, [dumpFile(dump), keyFile], dump)).toEqual({
    answers: asked.answers,
    comments: asked.links.length,
  });
  return {
    asked,
    dump,
    files,
    secrets: {
      'week key': weekKey.secret,
      'key of the numbers': derived(weekKey.secret, 'soundings respondent'),
      'key of the answers': derived(weekKey.secret, 'soundings answers'),
      'epoch key': epoch.secret,
    },
    respondents: asked.userIds.map((userId) => weekKey.respondentOf(userId)),
  };
}

/** How many answers and comments of a week the attacker reads by person, with every key that comes out of the sources. */
function readOf(asked: AnsweredWeek, sources: Source[], dump: Dump) {
  const read = readWith(weekKeysIn(sources, dump, asked), dump);
  return { answers: read.length, comments: read.filter(({ comment }) => comment !== null).length };
}

const nothing = { read: { answers: 0, comments: 0 }, traces: [], hidden: [], linked: [] };

/**
 * Takes the log, then a base backup, then every file as it is. The checkpoint of the backup writes to the files what was still
 * in memory, and may remove segments of the log. `hasBackup`: false where the files alone are to do, for they have all that is
 * in a backup.
 */
async function filesNow(pool: Pool, dataDir: string, hasBackup = true): Promise<Source[]> {
  const log = filesBelow(join(dataDir, 'postgres', 'pg_wal'));
  if (!hasBackup) {
    await pool`checkpoint`;
    return [...log, ...filesBelow(dataDir)];
  }
  const place = await mkdtemp(join(home, 'backup'));
  await chmod(place, 0o777); // PostgreSQL may run as another user
  const backup = await baseBackup(pool, join(place, 'files'));
  await rm(place, { recursive: true });
  return [...log, ...backup, ...filesBelow(dataDir)];
}

/** All that the attacker finds after a week has closed. `said`: what the service has logged. */
async function attack(pool: Pool, before: Before, dataDir: string, said = '') {
  return foundIn(before, [...(await filesNow(pool, dataDir)), ...(await textsNow(pool, said))]);
}

/** A dump, and what the service has logged. */
const textsNow = async (pool: Pool, said: string): Promise<Source[]> => [
  dumpFile(await dumpOf(pool)),
  { name: 'log of the service', bytes: Buffer.from(said) },
];

/** What the attacker finds in what there is after closing, and in what was taken before. */
function foundIn(before: Before, after: Source[]) {
  const sources = withoutCopies([...before.files, dumpFile(before.dump), ...after]);
  const { asked } = before;
  const mark = Buffer.from(asked.shownMark);
  expect(after.some(({ bytes }) => bytes.includes(mark))).toBe(true); // it is published
  const traces = tracesOf({ ...before.secrets, hidden: Buffer.from(asked.hiddenMark) }, sources);
  return {
    read: readOf(asked, sources, before.dump),
    traces: traces.filter((one) => !one.startsWith('hidden ')),
    hidden: traces.filter((one) => one.startsWith('hidden ')),
    linked: linkedPieces(before, mark, sources),
  };
}

/** Records of the log, and pages, in which a published comment stands beside something that leads to a person. */
function linkedPieces({ asked, respondents }: Before, mark: Buffer, sources: Source[]): string[] {
  const names = [
    ...respondents.map((one) => Buffer.from(one)),
    ...respondents.map((one) => Buffer.from(one.replaceAll('-', ''), 'hex')),
    ...asked.links.map((link) => Buffer.from(link)),
    ...asked.links.map(tokenHash),
    ...['Large', 'large'].map((name) => Buffer.from(asked.shownMark.replace('shown', `${name}-`))),
  ];
  return fragmentsWithBoth(
    [mark],
    names,
    sources.filter(({ name }) => name.includes('/postgres/')),
  );
}

/** Asks the service to close a week, as an administrator does in the console. */
async function askToClose(service: Service, pool: Pool, { accountId, adminId, week }: AnsweredWeek) {
  const ask = await signIn({ pool, address: service.address }, accountId, adminId);
  expect((await ask(`POST /rounds/${week}/close`)).status).toBe(204);
}

const forgottenBy = (pool: Pool, asked: AnsweredWeek, ...dataDirs: string[]) =>
  until(() => isForgotten(pool, asked, dataDirs));

/** The same without the console, which would wait for locks that the test has. */
const addClosingOf = (pool: Pool, { accountId, week }: AnsweredWeek) =>
  inTransaction(pool, (tx) => addClosing(tx, accountId, week));

/** A week after this one, of the same account, that is imported and stays open. */
async function importNextWeek(pool: Pool, dataDir: string, { accountId, week }: AnsweredWeek) {
  const next = weekName(addWeeks(week, 1));
  const people = Array.from({ length: 6 }, (_, i) => `stranger ${i}`);
  await importLines(
    { pool, keys: keysBeside(dataDir, pool) },
    accountId,
    [
      question('mood', 1),
      round(next, 'Large', ['mood'], Object.fromEntries(people.map((one) => [one, ['Large']]))),
      ...people.map((one) => answer(next, 'Large', one, 'mood', 3, 'imported comment')),
    ],
    Date.now(),
  );
}

const longAgo = '1970-01-05';

/** What was published long ago: more than the operating system takes of responses that no one reads. */
async function publishMuch(pool: Pool, feed: AnsweredWeek, results: AnsweredWeek): Promise<void> {
  await pool`
    insert into kpi_values (account_id, kpi_id, group_id, week, value)
    select ${feed.accountId}, encode(sha512(i::text::bytea), 'hex'), group_id, ${longAgo}, 0.5
    from   generate_series(1, 80000) i, groups where account_id = ${feed.accountId} and name = 'Large'`;
  await pool`
    insert into results (account_id, group_id, week, question_id, value, answers)
    select g.account_id, group_id, ${longAgo}::date + 7 * i, question_id, 0.123456789 + i / 10000.0, 4000
    from   groups g join questions q on q.account_id = g.account_id, generate_series(0, 2500) i
    where  g.account_id = ${results.accountId} and g.name = 'Large'`;
}

/** Five clients that ask for long answers and read nothing of them. */
async function openSlowReaders(
  service: Service,
  pool: Pool,
  [one, other]: [AnsweredWeek, AnsweredWeek],
): Promise<Socket[]> {
  await publishMuch(pool, one, other);
  const tokens = await Promise.all(
    [one, one, one, other, other].map(({ accountId }) =>
      createToken(pool, accountId, { name: 'slow', scopes: ['data'] }),
    ),
  );
  const [group] = await pool<{ id: number }[]>`
    select group_id as id from groups where account_id = ${other.accountId} and name = 'Large'`;
  const results = `/v1/results?groupId=${group?.id}&includeSubgroups=true&fromDate=${longAgo}&toDate=2020-01-05`;
  return tokens.map(({ token }, i) => {
    const socket = connect(service.port, '127.0.0.1').pause();
    socket.on('error', () => {});
    const path = i < 3 ? '/v1/feed' : results;
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: ${token}\r\n\r\n`);
    onTestFinished(() => void socket.destroy());
    return socket;
  });
}

/** How many connections stand in the middle of a statement whose rows no one takes, with a snapshot. */
async function snapshots(pool: Pool): Promise<number> {
  const rows = await pool`
    select 1 from pg_stat_activity
    where  datname = current_database() and backend_xmin is not null and pid <> pg_backend_pid()
      and  query ilike '%scope%'`;
  return rows.length;
}

describe('after a week has closed', () => {
  test(
    'no answer and no comment of it can be read by person: of a single week, of one of several, with readers that read nothing',
    { timeout: 120_000 },
    async () => {
      const service = await started(await newDataDir());
      const { dataDir } = service;
      const pool = await connectionsTo(service);
      const data = { pool, keys: keysBeside(dataDir, pool) };
      const single = await answeredWeek(data, [service.address]);
      const beforeSingle = await takeWhileOpen(pool, dataDir, single, dataDir);
      await askToClose(service, pool, single);
      await forgottenBy(pool, single, dataDir);
      expect(await attack(pool, beforeSingle, dataDir, service.said())).toEqual(nothing);

      const asked = await answeredWeek(data, [service.address]);
      const other = await answeredWeek(data, [service.address]);
      await importNextWeek(pool, dataDir, asked);
      expect(await pool`select 1 from week_keys`).toHaveLength(3);
      const sockets = await openSlowReaders(service, pool, [asked, other]);
      await until(async () => (await snapshots(pool)) === 5);
      // Only those readers see it from here on.
      await pool`delete from kpi_values where week = ${longAgo}`;
      await pool`delete from results where week < '2020-01-06'`;
      const before = await takeWhileOpen(pool, dataDir, asked, dataDir);
      await askToClose(service, pool, asked);
      await forgottenBy(pool, asked, dataDir);
      expect(await snapshots(pool)).toBe(5);
      expect(await attack(pool, before, dataDir, service.said())).toEqual(nothing);
      for (const socket of sockets) socket.destroy();
      // What is still open is as it was: it can be read by its key, and answered.
      const open = await takeWhileOpen(pool, dataDir, other, undefined);
      await giveAnswer(service.address, other.links[1] as string, {
        question: other.questionIds[1],
        value: 2,
      });
      await askToClose(service, pool, other);
      await forgottenBy(pool, other, dataDir);
      const after = [...(await filesNow(pool, dataDir, false)), ...(await textsNow(pool, service.said()))];
      expect(foundIn(open, after)).toEqual(nothing);
    },
  );
});

/** Waits until a connection of the service, as a user of the database, waits for a lock in a statement like this one. */
const untilStuck = (pool: Pool, statement: string, user = 'soundings') =>
  until(async () => {
    const rows = await pool`
      select 1 from pg_stat_activity
      where  wait_event_type = 'Lock' and application_name = 'soundings' and usename = ${user}
        and  query ilike ${`%${statement}%`}`;
    return rows.length > 0;
  });

type Interrupted = {
  pool: Pool;
  service: Service;
  asked: AnsweredWeek;
  /** Another week that is open. */
  other: AnsweredWeek;
};

/** Brings a week to where the service is killed; returns what lets go. */
type GoTo = (scene: Interrupted) => Promise<() => Promise<void>>;

/** Within the transaction that closes a week, or shows one. Each waits for a row of its own account. */
const pointsWithin: Record<string, GoTo> = {
  'with 2,000 rows of answers open, and others not': async ({ pool, service, asked }) => {
    await addEmptyRows(pool, service, asked);
    // To read a row that lies outside of the table's pages, this index is needed.
    const letGo = await heldOpen(pool, async (tx) => {
      const [toast] = await tx<{ index: string }[]>`
        select indexrelid::regclass::text as index
        from   pg_index join pg_class on indrelid = reltoastrelid
        where  pg_class.oid = 'answers'::regclass`;
      await tx.unsafe(`reindex index ${toast?.index}`);
    });
    await addClosingOf(pool, asked);
    await untilStuck(pool, 'select respondent%from%answers');
    return letGo;
  },

  'with all answers open, before any figure is written': async (scene) =>
    closingAt(scene, accountOf(scene), 'accounts'),

  'with a batch of a live week marked as counted, before it is added to the figures': async (scene) => {
    const { pool } = scene;
    await goLive(scene);
    const letGo = await heldOpen(pool, accountOf(scene));
    await pool`select graphile_worker.add_job('show live weeks')`;
    await untilStuck(pool, 'accounts');
    return letGo;
  },

  'of a live week, with what was shown replaced, before its comments are written': async (scene) => {
    const { pool, asked } = scene;
    await goLive(scene);
    await pool`select graphile_worker.add_job('show live weeks')`;
    await until(async () => {
      const [row] = await pool`select shown_at from weeks where account_id = ${asked.accountId}`;
      return row?.['shown_at'] !== null;
    });
    // As if none of its KPIs had values yet.
    await pool`update kpis set has_values = false where account_id = ${asked.accountId}`;
    const lock = (tx: Pool) => tx`select 1 from kpis where account_id = ${asked.accountId} for update`;
    return closingAt(scene, lock, 'update kpis');
  },

  'with results copied, before the response rates are': async (scene) => {
    const { accountId, week } = scene.asked;
    const lock = (tx: Pool) => tx`
      insert into response_rates (account_id, group_id, week, value)
      select account_id, group_id, ${week}, 0 from groups where account_id = ${accountId}`;
    return closingAt(scene, lock, 'copy response_rates');
  },

  'with comments copied, before their groups are': async (scene) => {
    const { accountId, week } = scene.asked;
    const lock = (tx: Pool) => tx`
      insert into comment_groups (account_id, group_id, week, question_id, position)
      select account_id, group_id, ${week}, ${scene.asked.questionIds[0]!}, 0
      from   groups where account_id = ${accountId}`;
    return closingAt(scene, lock, 'copy comment_groups');
  },

  'with answers deleted, before their links are': async (scene) => {
    const { accountId } = scene.asked;
    const lock = (tx: Pool) => tx`select 1 from links where account_id = ${accountId} for update`;
    return closingAt(scene, lock, 'delete from links');
  },
};

/** From the commit of that transaction on, which the epoch is locked in by one week at a time. */
const pointsAfter: Record<string, GoTo> = {
  'when everything is written, before the commit': async (scene) => beforeCommit(scene),

  'after the commit, before the epoch ends': async (scene) => {
    const { pool } = scene;
    const commit = await beforeCommit(scene);
    // It may be spent, but no one may end it.
    const letGo = await heldOpen(pool, (tx) => tx`select 1 from answer_keys for key share`);
    await commit();
    await until(async () => (await pool`select 1 from answer_keys where is_spent`).length > 0);
    await untilStuck(pool, 'answer_keys');
    return letGo;
  },

  'while the keys of other weeks are wrapped again': async (scene) => {
    const { accountId } = scene.other;
    const lock = (tx: Pool) => tx`select 1 from week_keys where account_id = ${accountId} for update`;
    return closingAt(scene, lock, 'update week_keys');
  },

  'when the epoch has ended in the database, and the file has the key before': async (scene) =>
    beforeFile(scene),

  'while the next key is written to its file': async (scene) => {
    const letGo = await beforeFile(scene);
    const { path, next } = await killedWithFiles(scene);
    await writeFile(`${path}.next`, next.slice(0, 100));
    return letGo;
  },

  'when the next key is written, before the one before is overwritten': async (scene) => {
    const letGo = await beforeFile(scene);
    const { path, next } = await killedWithFiles(scene);
    await writeFile(`${path}.next`, next);
    return letGo;
  },

  'while the key before is overwritten': async (scene) => {
    const letGo = await beforeFile(scene);
    const { path, next } = await killedWithFiles(scene);
    await writeFile(`${path}.next`, next);
    await writeFile(path, '0'.repeat(90), { flag: 'r+' });
    return letGo;
  },

  'after the key before is erased, with some tables tidied and others not': async (scene) =>
    closingAt(scene, (tx) => tx`lock table links in share update exclusive mode`, 'vacuum'),
};

const accountOf =
  ({ asked }: Interrupted) =>
  (tx: Pool) =>
    tx`select 1 from accounts where account_id = ${asked.accountId} for update`;

const goLive = ({ pool, asked }: Interrupted) =>
  pool`update weeks set is_live = true where account_id = ${asked.accountId}`;

/** Closes the week up to a statement that waits for a lock. */
async function closingAt(
  { pool, asked }: Interrupted,
  lock: (tx: Pool) => Promise<unknown>,
  statement: string,
): Promise<() => Promise<void>> {
  const letGo = await heldOpen(pool, lock);
  await addClosingOf(pool, asked);
  await untilStuck(pool, statement);
  return letGo;
}

const beforeCommit = (scene: Interrupted) =>
  closingAt(
    scene,
    (tx) => tx`select 1 from week_keys where account_id = ${scene.asked.accountId} for update`,
    'delete from week_keys',
  );

/** Stands before the file is written: who writes it has this lock. */
async function beforeFile(scene: Interrupted): Promise<() => Promise<void>> {
  const { pool, service } = scene;
  const [before] = await pool<{ epoch: number }[]>`select epoch from answer_keys`;
  const lock = (tx: Pool) => tx`select pg_advisory_xact_lock(7302)`;
  const letGo = await closingAt(scene, lock, 'pg_advisory_xact_lock');
  expect(readKeyFile(keyPathOf(service.dataDir))?.epoch).toBeLessThanOrEqual(before?.epoch as number);
  return letGo;
}

/** Kills the service; then a test may leave its key files as the step would have. `next`: the text of the next key. */
async function killedWithFiles({ pool, service }: Interrupted): Promise<{ path: string; next: string }> {
  const path = keyPathOf(service.dataDir);
  const key = readKeyFile(path)!;
  const [row] = await pool<{ epoch: number }[]>`select epoch from answer_keys`;
  service.child.kill('SIGKILL');
  await service.exited;
  return { path, next: keyText(keyAt(key, row!.epoch)!) };
}

/**
 * Adds to a week 2,000 rows without answers, which are read first, and one that is read last and is so long that it lies outside
 * of the table's pages.
 */
async function addEmptyRows(pool: Pool, { dataDir }: Service, { accountId, week }: AnsweredWeek) {
  const key = (await keysBeside(dataDir, pool).of(pool, accountId, week))!;
  const [first, last] = ['0', 'f'].map((digit) =>
    '00000000-0000-0000-0000-000000000000'.replaceAll('0', digit),
  );
  const empty = encodeAnswers(new Map());
  const long = Buffer.concat([empty, Buffer.alloc(3000, ' ')]);
  await pool`
    insert into answers (account_id, week, respondent, part, sealed)
    select ${accountId}, ${week}, ${first!}, i, ${key.seal(first!, empty)} from generate_series(1, 2000) i`;
  await pool`
    insert into answers (account_id, week, respondent, sealed)
    values (${accountId}, ${week}, ${last!}, ${key.seal(last!, long)})`;
}

describe('the service is killed in the middle of closing', () => {
  test(
    'at any point: when it has started again, nothing can be read by person, and nothing is lost',
    { timeout: 240_000 },
    async () => {
      let service = await started(await newDataDir());
      const { dataDir } = service;
      // As the superuser, who may hold up what PostgreSQL does within.
      const pool = connections(asSuperuser(await databaseUrlOf(service)));
      const data = { pool, keys: keysBeside(dataDir, pool) };
      const other = await answeredWeek(data, [service.address]);
      // Each time two weeks are closing: one is in the middle of its transaction, the other at its end or later.
      const within = Object.entries(pointsWithin);
      for (const [i, after] of Object.entries(pointsAfter).entries()) {
        const weeks: { point: string; asked: AnsweredWeek; before: Before; goTo: GoTo }[] = [];
        // oxlint-disable no-await-in-loop -- one after another is the point
        for (const [point, goTo] of [within[i] ?? [], after]) {
          if (!point || !goTo) continue;
          const asked = await answeredWeek(data, [service.address]);
          // The files of before are searched in the tests above.
          const before = await takeWhileOpen(pool, dataDir, asked, undefined);
          weeks.push({ point, asked, before, goTo });
        }
        const letGo: (() => Promise<void>)[] = [];
        for (const { asked, goTo } of weeks) letGo.push(await goTo({ pool, service, asked, other }));
        service.child.kill('SIGKILL');
        await service.exited;
        for (const one of letGo) await one();
        service = await started(dataDir);
        for (const { asked } of weeks) {
          if ((await pool`select 1 from week_keys where account_id = ${asked.accountId}`).length > 0)
            await askToClose(service, pool, asked);
          await forgottenBy(pool, asked, dataDir);
        }
        const files = [...(await filesNow(pool, dataDir, false)), ...(await textsNow(pool, service.said()))];
        for (const { point, asked, before } of weeks) {
          expect({ point, ...foundIn(before, files) }).toEqual({ point, ...nothing });
          const [published] = await pool<{ answers: number; comments: number }[]>`
            select max(answers)                                                          as answers,
                   (select count(*)::integer from comments where account_id = ${asked.accountId}) as comments
            from   results where account_id = ${asked.accountId}`;
          expect({ point, ...published }).toEqual({ point, answers: 24, comments: 24 });
        }
      }
      expect(within.length).toBeLessThanOrEqual(Object.keys(pointsAfter).length);
      // The week that was open all the time has all of its answers.
      await takeWhileOpen(pool, dataDir, other, undefined);
    },
  );
});

describe('a step of the epoch that failed', () => {
  test('has written keys by which no week can be read that closes before the next step', async () => {
    const { dataDir, pool, keys, before, close, answerAnother } = await openForMutants();
    const [first, stays] = [await answerAnother(), await answerAnother()];
    await inTransaction(pool, (tx) => closeWeek(tx, keys, first.accountId, first.week));
    // The key of the week that closes next is wrapped again; that of another one waits for a lock.
    const letGo = await heldOpen(
      pool,
      (tx) => tx`select 1 from week_keys where account_id = ${stays.accountId} for update`,
    );
    const step = keys.chain.advance();
    step.catch(() => {});
    await untilStuck(pool, 'update week_keys');
    await pool`
      select pg_terminate_backend(pid) from pg_stat_activity
      where  wait_event_type = 'Lock' and query ilike '%update week_keys%'`;
    await expect(step).rejects.toMatchObject({ code: 'unavailable' });
    await letGo();
    await close();
    await deleteClosedData(pool, keys);
    expect(await attack(pool, before, dataDir)).toEqual(nothing);
    // The week that is open is as it was.
    await takeWhileOpen(pool, dataDir, stays, undefined);
  });
});

describe('two services with one database', () => {
  test('answers come by both, one closes: the other forgets as well', { timeout: 120_000 }, async () => {
    const place = await newDataDir();
    const embedded = await openEmbedded(place, { role: 'service', log: () => {}, fast: true });
    onTestFinished(() => embedded.stop());
    const pool = openPool(asSuperuser(embedded.url), 6);
    onTestFinished(() => pool.end({ timeout: 0 }));
    const [one, other] = [join(place, 'one'), join(place, 'other')];
    // As another user of the database, so that its connections can be told from those of the first.
    await pool`create role other superuser login password 'other'`;
    const otherUrl = embedded.url.replace(/\/\/.*@/, '//other:other@');
    const env = (dataDir: string) => ({
      DATABASE_URL: dataDir === one ? embedded.url : otherUrl,
      DATA_DIR: dataDir,
    });
    const first = await started(one, env(one));
    const key = await command(['keys', 'export'], env(one));
    await command(['keys', 'import'], env(other), key);
    const second = await started(other, env(other));
    const asked = await answeredWeek({ pool, keys: keysBeside(one, pool) }, [first.address, second.address]);
    const open = await answeredWeek({ pool, keys: keysBeside(one, pool) }, [second.address, first.address]);
    const before = await takeWhileOpen(pool, one, asked, place);
    await askToClose(first, pool, asked);
    await forgottenBy(pool, asked, one, other);
    const said = () => first.said() + second.said();
    expect(await attack(pool, before, place, said())).toEqual(nothing);
    // Both go on with what is open.
    const [, questionId] = open.questionIds;
    for (const { address } of [first, second]) {
      // oxlint-disable-next-line no-await-in-loop -- two
      await giveAnswer(address, open.links[2] as string, { question: questionId, value: 3 });
    }
    // The other is killed when it is about to do the same: it does so when it starts again.
    const beforeOpen = await takeWhileOpen(pool, one, open, place);
    const letGo = await heldOpen(pool, (tx) => tx`select pg_advisory_xact_lock(7302)`);
    await askToClose(first, pool, open);
    await untilStuck(pool, 'pg_advisory_xact_lock', 'other');
    second.child.kill('SIGKILL');
    await second.exited;
    await letGo();
    await forgottenBy(pool, open, one);
    expect(await isForgotten(pool, open, [other])).toBe(false);
    const again = await started(other, env(other));
    expect(await isForgotten(pool, open, [one, other])).toBe(true);
    expect(await attack(pool, beforeOpen, place, said() + again.said())).toEqual(nothing);
  });
});

const cli = fileURLToPath(new URL('../cli/cli.ts', import.meta.url));

/** Runs a command of the service; returns what it prints. */
async function command(words: string[], env: Record<string, string>, input = ''): Promise<string> {
  const done = exec(process.execPath, [cli, ...words], { env: { ...bareEnvironment, ...env } });
  done.child.stdin?.end(input);
  return (await done).stdout;
}

describe('ANSWER_KEYS=database', () => {
  test('the same attack reads everything from the log: the service and the privacy report say so', async () => {
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
    await askToClose(service, pool, asked);
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

/** A database of its own, an open week in which everyone has answered, and what the attacker takes of it meanwhile. */
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

describe('the answering page does not promise what a copy of the key breaks', () => {
  const promise = 'the key that links them to you is destroyed';
  const saidAt = async (address: string, link: string) => (await fetch(`${address}/a/${link}`)).text();

  test('the key goes to the database and back in the middle of a week: the log opens its answers, and the page says so', async () => {
    const { dataDir, pool, keys, asked, close, address } = await openForMutants();
    const link = asked.links[0]!;
    expect(await saidAt(address, link)).toContain(promise);
    const inDatabase = new AnswerKeys(pool, { place: 'database', directory: join(dataDir, 'keys') });
    await inDatabase.chain.advance();
    const dump = await dumpOf(pool);
    await keysBeside(dataDir, pool).chain.advance();
    const page = await saidAt(address, link);
    expect(page).toContain('Until older backups and logs of the database are gone');
    expect(page).not.toContain(promise);
    await close();
    await deleteClosedData(pool, keys);
    const files = await filesNow(pool, dataDir);
    const { answers } = readOf(asked, files, dump);
    expect(answers).toBe(asked.answers);
  });

  test('the key was exported, or a process that has it does not run', async () => {
    const { pool, keys, asked, address } = await openForMutants();
    const link = asked.links[0]!;
    const elsewhere = 'a copy of the key to the answers is kept elsewhere';
    await pool`insert into key_processes (name, epoch, seen_at) values ('gone', 1, now() - interval '11 minutes')`;
    expect(await saidAt(address, link)).toContain(elsewhere);
    await keys.chain.forgetProcess('gone');
    expect(await saidAt(address, link)).toContain(promise);
    await keys.chain.exported();
    const page = await saidAt(address, link);
    expect(page).toContain(elsewhere);
    expect(page).not.toContain(promise);
  });
});

test('the attacker reads the same records from the segments of the log as PostgreSQL', async () => {
  const { dataDir, url } = await openForMutants();
  const pool = connections(asSuperuser(url));
  await pool`create extension pg_walinspect`;
  const write = (count: number) => pool`
    select pg_logical_emit_message(false, 'long', repeat('x', 3000000 + i * i), true)
    from   generate_series(1, ${count}) i`;
  // What is written from here on lies in segments that are used again, over several of them, the last of which is not full.
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
  // Other processes of PostgreSQL may have written more since.
  expect(read.slice(0, wanted.length)).toEqual([...wanted]);
  expect(parts.length).toBeGreaterThan(1);
  // And of what was there before, in segments that are not used again yet.
  expect(parts.flatMap(({ records }) => records()).some(({ address }) => address < start)).toBe(true);
});

describe('the attacker wins', () => {
  test('against an epoch that never ends, and no more when it ends', async () => {
    const { dataDir, pool, keys, asked, before, close } = await openForMutants();
    await close();
    const { read, traces } = await attack(pool, before, dataDir);
    expect(read).toEqual({ answers: asked.answers, comments: asked.links.length });
    expect(traces).toContainEqual(expect.stringMatching(/^epoch key in .*\/keys\/answers$/));
    await deleteClosedData(pool, keys);
    expect(await attack(pool, before, dataDir)).toEqual(nothing);
  });

  test('against a week key in clear, a comment that is kept, and one that is kept with its number', async () => {
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
    // The key that was found opens the rows of the dump.
    const found = new Map([[`${asked.accountId} ${asked.week}`, weekKey]]);
    expect(readWith(found, before.dump)).toHaveLength(asked.answers);
  });
});

test('what is stored of a person outside of the sealed part does not tell a skip from an answer or a comment', async () => {
  const { asked, before } = await openForMutants();
  const rows = (before.dump.get('answers') ?? []).filter((row) => row['account_id'] === asked.accountId);
  expect(rows).toHaveLength(asked.links.length);
  const skippers = new Set(
    before.respondents.filter((_, i) => asked.skippers.has(asked.userIds[i] as number)),
  );
  const isSkipper = (respondent: string) => skippers.has(respondent);
  expect(skippers.size).toBe(9);
  expect(telltales(rows, isSkipper)).toEqual([]);
  // The mutants: a column beside the sealed part, and a sealed part that is as long as what is in it.
  const withFlag = rows.map((row) => ({ ...row, skipped: isSkipper(row['respondent'] as string) }));
  expect(telltales(withFlag, isSkipper)).toEqual(['skipped']);
  const notPadded = rows.map((row) => ({
    ...row,
    sealed: isSkipper(row['respondent'] as string) ? `${String(row['sealed']).slice(0, -8)}` : row['sealed'],
  }));
  expect(telltales(notPadded, isSkipper)).toEqual(['sealed']);
});
