// The attack of forgetting.attack.test.ts after the service was killed at any point of closing a week: after a restart,
// nothing can be read by person, and nothing is lost.
import { writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import type { Pool } from '../db/db.ts';
import { type AnsweredWeek, answeredWeek, keyPathOf, keysBeside } from '../testing/attacks/forgetting.ts';
import { caseCount } from '../testing/house/cases.ts';
import { asSuperuser } from '../testing/postgres.ts';
import {
  connections,
  databaseUrlOf,
  newDataDir,
  type Service,
  started,
  useDirectory,
} from '../testing/processes/processes.ts';
import { until } from '../testing/until.ts';
import { keepOpen } from '../testing/keep-open.ts';
import { keyAt } from './epoch-keys.ts';
import { keyText, readKeyFile } from './key-file.ts';
import { encodeAnswers } from './person-answers.ts';
import {
  addClosingOf,
  requestClose,
  type Before,
  filesNow,
  foundIn,
  nothing,
  takeWhileOpen,
  textsNow,
  untilBlocked,
  untilForgotten,
} from './forgetting.fixture.ts';

useDirectory();

type Interrupted = {
  pool: Pool;
  service: Service;
  asked: AnsweredWeek;
  /** Another open week. */
  other: AnsweredWeek;
};

/** Brings a week to the point where the service is killed. Returns a function that releases the lock. */
type Interruption = (scene: Interrupted) => Promise<() => Promise<void>>;

/** Points within the transaction that closes a week, or shows a live week. Each waits for a row of its own account. */
const pointsWithin: Record<string, Interruption> = {
  'with 2,000 rows of answers decrypted and others not': async ({ pool, service, asked }) => {
    await addEmptyRows(pool, service, asked);
    // Reading a row that is stored outside of the table's pages needs this index.
    const letGo = await keepOpen(pool, async (tx) => {
      const [toast] = await tx<{ index: string }[]>`
        select indexrelid::regclass::text as index
        from   pg_index join pg_class on indrelid = reltoastrelid
        where  pg_class.oid = 'answers'::regclass`;
      await tx.unsafe(`reindex index ${toast?.index}`);
    });
    await addClosingOf(pool, asked);
    await untilBlocked(pool, 'select respondent%from%answers');
    return letGo;
  },

  'with all answers decrypted, before any figure is written': async (scene) =>
    closingAt(scene, accountOf(scene), 'accounts'),

  'with a batch of a live week marked as counted, before it is added to the figures': async (scene) => {
    const { pool } = scene;
    await goLive(scene);
    const letGo = await keepOpen(pool, accountOf(scene));
    await pool`select graphile_worker.add_job('show live weeks')`;
    await untilBlocked(pool, 'accounts');
    return letGo;
  },

  'with the figures of a live week replaced, before its comments are written': async (scene) => {
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

/** Points from the commit of that transaction on. One week at a time locks the epoch. */
const pointsAfter: Record<string, Interruption> = {
  'when everything is written, before the commit': async (scene) => beforeCommit(scene),

  'after the commit, before the epoch ends': async (scene) => {
    const { pool } = scene;
    const commit = await beforeCommit(scene);
    // The epoch may be marked as spent, but can't end.
    const letGo = await keepOpen(pool, (tx) => tx`select 1 from answer_keys for key share`);
    await commit();
    await until(async () => (await pool`select 1 from answer_keys where is_spent`).length > 0);
    await untilBlocked(pool, 'answer_keys');
    return letGo;
  },

  'while the keys of other weeks are rewrapped': async (scene) => {
    const { accountId } = scene.other;
    const lock = (tx: Pool) => tx`select 1 from week_keys where account_id = ${accountId} for update`;
    return closingAt(scene, lock, 'update week_keys');
  },

  'when the epoch has ended in the database, and the file has the previous key': async (scene) =>
    beforeFile(scene),

  'while the next key is written to its file': async (scene) => {
    const letGo = await beforeFile(scene);
    const { path, next } = await killedWithFiles(scene);
    await writeFile(`${path}.next`, next.slice(0, 100));
    return letGo;
  },

  'when the next key is written, before the previous key is overwritten': async (scene) => {
    const letGo = await beforeFile(scene);
    const { path, next } = await killedWithFiles(scene);
    await writeFile(`${path}.next`, next);
    return letGo;
  },

  'while the previous key is overwritten': async (scene) => {
    const letGo = await beforeFile(scene);
    const { path, next } = await killedWithFiles(scene);
    await writeFile(`${path}.next`, next);
    await writeFile(path, '0'.repeat(90), { flag: 'r+' });
    return letGo;
  },

  'after the previous key is erased, with some tables vacuumed and others not': async (scene) =>
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
  const letGo = await keepOpen(pool, lock);
  await addClosingOf(pool, asked);
  await untilBlocked(pool, statement);
  return letGo;
}

const beforeCommit = (scene: Interrupted) =>
  closingAt(
    scene,
    (tx) => tx`select 1 from week_keys where account_id = ${scene.asked.accountId} for update`,
    'delete from week_keys',
  );

/** Stops before the file is written, by taking the lock that its writer needs. */
async function beforeFile(scene: Interrupted): Promise<() => Promise<void>> {
  const { pool, service } = scene;
  const [before] = await pool<{ epoch: number }[]>`select epoch from answer_keys`;
  const lock = (tx: Pool) => tx`select pg_advisory_xact_lock(7302)`;
  const letGo = await closingAt(scene, lock, 'pg_advisory_xact_lock');
  expect(readKeyFile(keyPathOf(service.dataDir))?.epoch).toBeLessThanOrEqual(before?.epoch as number);
  return letGo;
}

/** Kills the service. A test can then put the key files into the state of the step. `next`: the text of the next key. */
async function killedWithFiles({ pool, service }: Interrupted): Promise<{ path: string; next: string }> {
  const path = keyPathOf(service.dataDir);
  const key = readKeyFile(path)!;
  const [row] = await pool<{ epoch: number }[]>`select epoch from answer_keys`;
  service.child.kill('SIGKILL');
  await service.exited;
  return { path, next: keyText(keyAt(key, row!.epoch)!) };
}

/**
 * Adds 2,000 rows without answers to a week, which are read first, and one row that is read last and is so long that it is stored
 * outside of the table's pages.
 */
async function addEmptyRows(pool: Pool, { dataDir }: Service, { accountId, week }: AnsweredWeek) {
  const key = (await keysBeside(dataDir, pool).of(pool, accountId, week))!;
  const [first, last] = ['0', 'f'].map((digit) =>
    '00000000-0000-0000-0000-000000000000'.replaceAll('0', digit),
  );
  const empty = encodeAnswers(new Map());
  const long = Buffer.concat([empty, Buffer.alloc(3000, ' ')]);
  await pool`
    insert into answers (account_id, week, respondent, import_batch, sealed)
    select ${accountId}, ${week}, ${first!}, i, ${key.seal(first!, empty)} from generate_series(1, 2000) i`;
  await pool`
    insert into answers (account_id, week, respondent, sealed)
    values (${accountId}, ${week}, ${last!}, ${key.seal(last!, long)})`;
}

/** How many of the interruptions are tried, beginning with another one each hour. KILLS=9: all of them. */
const kills = caseCount('KILLS', 3);

const chosenOf = (count: number): number[] =>
  Array.from(
    { length: Math.min(kills, count) },
    (_, i) => (Math.floor(Date.now() / 3_600_000) * kills + i) % count,
  );

describe('the service is killed while it closes a week', () => {
  test('at any point: after a restart nothing can be read by person, and nothing is lost', async () => {
    let service = await started(await newDataDir());
    const { dataDir } = service;
    // As the superuser, who can block what PostgreSQL does internally.
    const pool = connections(asSuperuser(await databaseUrlOf(service)));
    const data = { pool, keys: keysBeside(dataDir, pool) };
    const other = await answeredWeek(data, [service.address]);
    // Two weeks are closing each time: one is in the middle of its transaction, the other at its end or later.
    const within = Object.entries(pointsWithin);
    const after = Object.entries(pointsAfter);
    for (const i of chosenOf(after.length)) {
      const weeks: { point: string; asked: AnsweredWeek; before: Before; goTo: Interruption }[] = [];
      for (const [point, goTo] of [within[i] ?? [], after[i] ?? []]) {
        if (!point || !goTo) continue;
        const asked = await answeredWeek(data, [service.address]);
        // Here no files are taken: the tests above search the files from before the week closed.
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
          await requestClose(service, pool, asked);
        await untilForgotten(pool, asked, dataDir);
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
    expect(within.length).toBeLessThanOrEqual(after.length);
    // The week that was open all the time has all its answers.
    await takeWhileOpen(pool, dataDir, other, undefined);
  });
});
