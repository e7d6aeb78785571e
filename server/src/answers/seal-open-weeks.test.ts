// Migrations 0016 to 0020 on an installation with open weeks: people continue where they were, the figures at closing are the
// same, and nothing unencrypted is left.
import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Week } from '@soundings/contract/weeks.ts';
import { expect, inject, onTestFinished, test } from 'vitest';
import { tokenHash } from '../base/crypto/secrets.ts';
import { openPool, type Pool } from '../db/db.ts';
import { isMigrated, migrate, migrations } from '../db/migrate.ts';
import { closeWeekNow } from '../results/close-week.ts';
import { AnswerKeys } from '../sealing/answer-keys.ts';
import { bareEnvironment } from '../testing/processes/environment.ts';
import { storedAnswers } from '../testing/kept-answers.ts';
import { databaseAt } from '../testing/postgres.ts';
import { saveAnswers, openLink } from './answering.ts';
import { migrationSteps } from './seal-open-weeks.ts';
import { builtProgram } from '../testing/service-build.ts';

const cli = builtProgram('command');
const [week, imported]: Week[] = ['2026-11-16', '2026-11-23'] as const;
const linkOf = (i: number) => String(i).padStart(27, 'L');

/** Creates the tables of the earlier version, without rows. */
async function oldDatabase(): Promise<Pool> {
  return (await oldDatabaseAt()).pool;
}

async function oldDatabaseAt(): Promise<{ pool: Pool; url: string }> {
  const name = `old_${randomUUID().replaceAll('-', '')}`;
  const admin = openPool(inject('databaseUrl'), 1);
  await admin.unsafe(`create database ${name}`);
  const url = databaseAt(inject('databaseUrl'), name);
  const pool = openPool(url, 3);
  onTestFinished(async () => {
    await pool.end({ timeout: 1 });
    await admin.unsafe(`drop database ${name} with (force)`);
    await admin.end();
  });
  await pool.unsafe(`create table migrations (version integer primary key, name text not null, breaking boolean not null,
    applied_at timestamptz not null default now()); comment on table migrations is 'As migrate.ts makes it.'`);
  for (const { version, name: file, breaking, sql } of migrations().filter((one) => one.version <= 15)) {
    await pool.begin(async (tx) => {
      await tx.unsafe(sql);
      await tx`insert into migrations (version, name, breaking) values (${version}, ${file}, ${breaking})`;
    });
  }
  return { pool, url };
}

/**
 * Creates twelve people that a schedule asks. People 1 to 9 have answered 4 with a comment, person 11 has skipped the question, and
 * person 12 has answered 2 and was removed. Person 2 got another externalId, and person 3 has none. Also creates a week from a
 * file, with person 1 and five people who are not users.
 */
async function askedInTheOldWay(
  pool: Pool,
): Promise<{ comments: string[]; numbers: string[]; secrets: string[] }> {
  const [key, other] = [randomBytes(32), randomBytes(32)];
  await pool.unsafe(`
    insert into accounts (name, timezone, language, threshold) values ('Old', 'UTC', 'en', 5);
    insert into sftp_usernames (username, account_id) values ('old', 1);
    insert into groups (account_id, managed, name) values (1, false, 'Everybody');
    insert into users (account_id, external_id, managed, first_name, last_name, email, email_key, active, role)
    select 1, case i when 2 then 'renamed' when 3 then null else 'p' || i end, false, 'P' || i, 'Person',
           'p' || i || '@example.org', 'p' || i || '@example.org', true, 'User'
    from   generate_series(1, 11) i;
    insert into memberships (account_id, user_id, kind, group_id) select 1, user_id, 'memberOf', 1 from users;
    insert into questions (account_id, key, type, text, language) values (1, 'scale', 1, 'Scale?', 'en');`);
  for (const [of, secret] of [
    [week, key],
    [imported, other],
  ] as const) {
    await pool`insert into weeks (account_id, week, threshold, spread_threshold, comment_threshold, respondent_key)
               values (1, ${of as string}, 5, 10, 5, ${secret})`;
  }
  await pool`insert into rounds (account_id, week, group_id, question_ids, above_ids, schedule_id)
             values (1, ${week as string}, 1, '{1}', '{}', 7), (1, ${imported as string}, 1, '{1}', '{}', null)`;
  await pool`insert into asked select 1, 1, week, '{1}' from weeks`;
  await pool`
    insert into assignments (account_id, week, respondent, round_id, group_ids)
    select 1, ${week as string}, respondent_of(${key}, person), 1, '{1}'
    from   (select person_of(external_id, user_id) as person from users union all select 'p12') p`;
  await pool`
    insert into answers (account_id, week, question_id, respondent, value, comment, skipped)
    select 1, ${week as string}, 1, respondent_of(${key}, person), case i when 12 then 2 when 11 then null else 4 end,
           case when i < 11 then 'Old words of ' || i end, i = 11
    from   (select user_id as i, person_of(external_id, user_id) as person from users where user_id <> 10
            union all select 12, 'p12') p`;
  await pool`
    insert into assignments (account_id, week, respondent, round_id, group_ids)
    select 1, ${imported as string}, respondent_of(${other}, 'p' || i), 2, '{1}' from (values (1), (101), (102), (103), (104), (105)) v(i)`;
  await pool`
    insert into answers (account_id, week, question_id, respondent, value, skipped)
    select 1, week, 1, respondent, 3, false from assignments where week = ${imported as string}`;
  await pool`insert into participants (account_id, user_id, week) select 1, user_id, ${week as string} from users`;
  for (let i = 1; i <= 11; i++) {
    await pool`insert into links (hash, account_id, user_id, week) values (${tokenHash(linkOf(i))}, 1, ${i}, ${week as string})`;
  }
  const rows = await pool<{ respondent: string }[]>`select distinct respondent::text from assignments`;
  return {
    comments: Array.from({ length: 9 }, (_, i) => `Old words of ${i + 1}`),
    numbers: rows.map(({ respondent }) => respondent),
    secrets: [key, other].map((one) => one.toString('hex')),
  };
}

async function keysOf(pool: Pool): Promise<AnswerKeys> {
  const directory = join(tmpdir(), `soundings-old-keys-${randomUUID()}`);
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return new AnswerKeys(pool, { place: 'file', directory });
}

async function dumpOf(pool: Pool): Promise<string> {
  const tables = await pool<{ name: string }[]>`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`;
  const rows = await Promise.all(
    tables.map(({ name }) => pool.unsafe(`select '${name} ' || to_jsonb(t)::text as row from ${name} t`)),
  );
  return rows
    .flat()
    .map((one) => one['row'] as string)
    .join('\n');
}

test('open weeks are encrypted: links still work, figures are the same, and nothing unencrypted is left', async () => {
  const pool = await oldDatabase();
  const { comments, numbers, secrets } = await askedInTheOldWay(pool);
  const before = await dumpOf(pool);
  for (const one of [...comments, ...numbers, ...secrets]) expect(before).toContain(one);
  const keys = await keysOf(pool);
  await migrate(pool, migrationSteps(keys));
  expect(await isMigrated(pool)).toBe(true);

  const after = await dumpOf(pool);
  expect([...comments, ...secrets].filter((one) => after.includes(one))).toEqual([]);
  expect(numbers.filter((one) => new RegExp(`\\b${one}\\b`).test(after))).toEqual([]);
  const left = await pool`select from pg_class where relname like '%unsealed%'`;
  expect(left).toHaveLength(0);
  const stored = await storedAnswers({ pool, keys }, 1, week as Week);
  expect(stored.map(({ value, skipped }) => (skipped ? 'skip' : value)).toSorted()).toEqual([
    2,
    ...Array(9).fill(4),
    'skip',
  ]);
  const key = (await keys.of(pool, 1, week as Week))!;
  const numbersNow = Array.from({ length: 11 }, (_, i) => key.respondentOf(i + 1));
  expect(stored.filter(({ respondent }) => numbersNow.includes(respondent))).toHaveLength(10);

  // Links still work. Earlier answers are kept but shown nowhere, because it is unknown which link they were given with.
  for (const i of [1, 2, 3]) {
    const by = { link: linkOf(i), visit: 'a browser' };
    expect(await openLink(pool, keys, by)).toMatchObject({
      firstName: `P${i}`,
      answers: new Map(),
      fixed: new Map([[1, 'elsewhere']]),
    });
    await expect(saveAnswers(pool, keys, by, [{ questionId: 1, value: 1 }])).rejects.toMatchObject({
      code: 'already answered',
    });
  }
  const tenth = { link: linkOf(10), visit: 'a browser' };
  expect(await saveAnswers(pool, keys, tenth, [{ questionId: 1, value: 4 }])).toBe('kept');

  await closeWeekNow(pool, keys, 1, week, Date.now());
  const figures = async (of: Week) => [
    ...(await pool`select r.value, r.answers, q.value as rate from results r left join response_rates q using (account_id, group_id, week)
                   where r.account_id = 1 and r.week = ${of}`),
  ];
  // The answer of person 12, who was removed, counts. In the response rate, this person counts as never asked.
  expect(await figures(week as Week)).toEqual([
    { value: expect.closeTo((10 * 0.75 + 0.25) / 11), answers: 11, rate: 1 },
  ]);
  const published = await pool<
    { text: string }[]
  >`select text from comments where account_id = 1 order by text`;
  expect(published.map(({ text }) => text)).toEqual(comments);
  const first = await storedAnswers({ pool, keys }, 1, imported as Week);
  expect(first).toHaveLength(6);
  const other = (await keys.of(pool, 1, imported as Week))!;
  expect(first.map(({ respondent }) => respondent)).toContain(other.respondentOf(1));
  await closeWeekNow(pool, keys, 1, imported, Date.now());
  expect(await figures(imported as Week)).toEqual([{ value: 0.5, answers: 6, rate: 1 }]);
  const rows =
    await pool`select (select count(*) from answers)::int as answers, (select count(*) from assignments)::int as assignments,
                                 (select count(*) from week_keys)::int as keys`;
  expect(rows[0]).toEqual({ answers: 0, assignments: 0, keys: 0 });
});

test('if open weeks could not be encrypted, nothing is dropped, and the next migration encrypts them', async () => {
  const pool = await oldDatabase();
  await askedInTheOldWay(pool);
  const failing = { 20: () => Promise.reject(new Error('no key')) };
  await expect(migrate(pool, failing)).rejects.toThrow('no key');
  expect(await pool`select from unsealed_answers where value is not null`).toHaveLength(16);
  const keys = await keysOf(pool);
  await migrate(pool, migrationSteps(keys));
  expect(await storedAnswers({ pool, keys }, 1, week as Week)).toHaveLength(11);
});

test('migrations that ran without encrypting stop before anything is lost, and their advice then encrypts the weeks', async () => {
  const { pool, url } = await oldDatabaseAt();
  await askedInTheOldWay(pool);
  await expect(migrate(pool)).rejects.toThrow('Start the service or run "npx soundings migrate"');
  expect(await pool`select from unsealed_answers where value is not null`).toHaveLength(16);
  expect(await isMigrated(pool)).toBe(false);
  const directory = join(tmpdir(), `soundings-old-data-${randomUUID()}`);
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const { stdout } = await promisify(execFile)(process.execPath, [cli, 'migrate', '--json'], {
    env: { ...bareEnvironment, DATABASE_URL: url, DATA_DIR: directory },
  });
  expect(JSON.parse(stdout)).toEqual({
    applied: migrations()
      .slice(19)
      .map(({ name }) => name),
  });
  const keys = new AnswerKeys(pool, { place: 'file', directory: join(directory, 'keys') });
  expect(await storedAnswers({ pool, keys }, 1, week as Week)).toHaveLength(11);
});

test('weeks that are already encrypted stay as they are', async () => {
  const pool = await oldDatabase();
  await askedInTheOldWay(pool);
  const keys = await keysOf(pool);
  const sealing = migrationSteps(keys)[20]!;
  const stop = new Error('stop');
  // An earlier version encrypted weeks right after 0016.
  const early = { 17: sealing, 18: () => Promise.reject(stop) };
  await expect(migrate(pool, early)).rejects.toBe(stop);
  const sealed = await pool`select * from answers order by week, respondent`;
  expect(sealed).toHaveLength(17);
  await migrate(pool, migrationSteps(keys));
  // Migration 0038 renames a column.
  const renamed = sealed.map(({ part, ...row }) => ({ ...row, import_batch: part }));
  expect([...(await pool`select * from answers order by week, respondent`)]).toEqual(renamed);
  expect(await storedAnswers({ pool, keys }, 1, week as Week)).toHaveLength(11);
});
