// Migrations 0034, 0036, 0038 and 0039 on an installation with data: stored names get their new values, and everything else stays unchanged.
import { runMigrations } from 'graphile-worker';
import { randomUUID } from 'node:crypto';
import { expect, inject, onTestFinished, test } from 'vitest';
import type { Account } from '../accounts/accounts.sql.ts';
import { contentOf } from '../files/store.ts';
import { knowledgeOf } from '../files/mappings.ts';
import { lay } from '../layout/layout.fixture.ts';
import { databaseAt } from '../testing/postgres.ts';
import { openPool, type Pool } from './db.ts';
import { migrate, migrations } from './migrate.ts';

/** Creates a database with the tables before a migration. */
async function databaseBefore(migration: number): Promise<{ pool: Pool; url: string }> {
  const name = `earlier_${randomUUID().replaceAll('-', '')}`;
  const admin = openPool(inject('databaseUrl'), 1);
  await admin.unsafe(`create database ${name}`);
  const url = databaseAt(inject('databaseUrl'), name);
  const pool = openPool(url, 2);
  onTestFinished(async () => {
    await pool.end({ timeout: 1 });
    await admin.unsafe(`drop database ${name} with (force)`);
    await admin.end();
  });
  await pool.unsafe(`create table migrations (version integer primary key, name text not null, breaking boolean not null,
    applied_at timestamptz not null default now())`);
  for (const { version, name: file, breaking, sql } of migrations().filter(
    (one) => one.version < migration,
  )) {
    await pool.begin(async (tx) => {
      await tx.unsafe(sql);
      await tx`insert into migrations (version, name, breaking) values (${version}, ${file}, ${breaking})`;
    });
  }
  return { pool, url };
}

test('renames reasons of missed weeks, actions of the audit log, outcomes and error types of reports, and waiting jobs', async () => {
  const { pool, url } = await databaseBefore(34);
  await pool`insert into accounts (name, timezone, language, threshold) values ('Earlier', 'UTC', 'en', 5)`;
  await pool.unsafe(`
    insert into schedules (account_id, name, question_ids, group_ids, repeat, weekday, hour, from_day)
    values (1, 'Pulse', '{1}', '{1}', 'weeks', 1, 9, '2026-01-05')`);
  const reasons = {
    late: 'It was not opened while the week ran: the service did not run, it was paused, or nobody could be written to any more.',
    noQuestion: 'No question was due.',
    noGroup: 'None of its groups is there any more.',
    noPeople: 'There was nobody to ask.',
    closed: 'The week 2026-W09 was closed.',
    imported:
      'A history file was imported into the week: whoever made it knows answers that would count together with others.',
    lost: 'The key of the week was lost, and with it its answers.',
    sameText: 'Another round of the week asks some of the same people a question with the same words.',
    nearlySame:
      'Another round of the week asks the same question, and only a few people are asked by just one of the two.',
    other: 'A reason of a version that no one remembers.',
  };
  for (const [i, text] of [...Object.values(reasons), null].entries()) {
    await pool`
      insert into schedule_weeks (account_id, schedule_id, week, outcome, reason, question_ids, people)
      values (1, 1, date '2026-01-05' + ${i * 7}::integer, ${text === null ? 'opened' : 'missed'}, ${text}, '{}', 0)`;
  }
  await pool`insert into audit_entries (account_id, origin, action, subject, at)
             values (1, 'service', 'run held', 'one', '2026-02-01Z'), (1, 'console', 'token created', 'two', '2026-02-02Z')`;
  await pool`
    insert into runs (account_id, run_id, source, validate_only, outcome, details)
    values (1, ${randomUUID()}, 'api', true, 'refused', '[{"type":"made by hand","message":"He was made by hand"}]')`;
  await pool`
    insert into runs (account_id, run_id, source, validate_only, outcome)
    values (1, ${randomUUID()}, 'file', false, 'held'), (1, ${randomUUID()}, 'file', false, 'applied')`;
  await pool`
    insert into files (account_id, name, size, via, report)
    values (1, 'held.csv', 1, 'console', ${pool.json({ file: 'held.csv', outcome: 'held', message: 'It is "held".' })})`;
  await runMigrations({ connectionString: url });
  await pool`select graphile_worker.add_job('forget old runs'), graphile_worker.add_job('close week')`;

  await migrate(pool);

  const weeks = await pool<{ reason: string | null }[]>`select reason from schedule_weeks order by week`;
  expect(weeks.map(({ reason }) => reason)).toEqual([...Object.keys(reasons), null]);
  const entries = await pool`
    select action, subject, at::date::text as day from audit_entries where subject in ('one', 'two') order by at`;
  expect([...entries]).toEqual([
    { action: 'run pending', subject: 'one', day: '2026-02-01' },
    { action: 'token created', subject: 'two', day: '2026-02-02' },
  ]);
  const [run] = await pool`select details from runs where source = 'api'`;
  expect(run!['details']).toEqual([{ type: 'manually created', message: 'He was made by hand' }]);
  const outcomes = await pool`select outcome from runs where source = 'file' order by outcome`;
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(['applied', 'pending']);
  const [file] = await pool`select report from files`;
  expect(file!['report']).toEqual({ file: 'held.csv', outcome: 'pending', message: 'It is "held".' });
  const jobs = await pool<
    { name: string }[]
  >`select task_identifier as name from graphile_worker.jobs order by id`;
  expect(jobs.map(({ name }) => name)).toEqual(['delete old runs', 'close week']);
  // The audit log is protected again.
  await expect(pool`update audit_entries set action = 'x'`).rejects.toThrow(/audit/i);
});

test('existing mappings of columns and values still apply, whatever the headers, and files and imported answers are kept', async () => {
  const { pool } = await databaseBefore(38);
  await pool`insert into accounts (name, timezone, language, threshold) values ('Earlier', 'UTC', 'en', 5)`;
  // These headers look like keys of the stored JSON.
  const columns = [
    { header: '"means": "x"', means: 'externalId' },
    { header: 'means', means: 'firstName' },
    { header: 'Nachname\t–\\', means: 'lastName' },
    { header: 'meaning', means: 'ignore' },
    { header: 'Lage', means: 'active' },
  ];
  await pool`
    insert into column_mappings (account_id, headers_digest, kind, columns, user_id)
    values (1, '\\x01', 'users', ${pool.json(columns)}, 1)`;
  await pool`
    insert into value_mappings (account_id, field, word, value, means)
    values (1, 'active', 'means', 'Means', 'no'), (1, 'role', 'word', 'Word', 'Manager')`;
  await pool`insert into files (account_id, name, size, via) values (1, 'a.csv', 8004, 'console'), (1, 'b.csv', 1, 'console')`;
  await pool`
    insert into file_parts (account_id, file_id, position, bytes)
    values (1, 1, 0, ${Buffer.alloc(8000, 'a')}), (1, 1, 1, ${Buffer.from('bcde')}), (1, 2, 0, ${Buffer.from('f')})`;
  const respondent = randomUUID();
  await pool`
    insert into answers (account_id, week, respondent, part, sealed)
    values (1, '2026-01-05', ${respondent}, 0, '\\x01'), (1, '2026-01-05', ${respondent}, 7, '\\x02')`;

  await migrate(pool);

  const { mappings, values } = await knowledgeOf(pool, { id: 1, defaultCountry: null } as Account);
  expect([...mappings.values()]).toEqual([
    { kind: 'users', columns: columns.map(({ header, means }) => ({ header, meaning: means })) },
  ]);
  const { users, faults, warnings } = lay(
    [
      columns.map(({ header }) => header),
      ['1', 'Anna', 'Berg', 'x', 'MEANS'],
      ['2', 'Bo', 'Ek', 'y', 'Active'],
    ],
    [],
    { mappings, values },
  );
  expect({ users, faults, warnings }).toEqual({
    users: [
      { externalId: '1', firstName: 'Anna', lastName: 'Berg', active: false },
      { externalId: '2', firstName: 'Bo', lastName: 'Ek', active: true },
    ],
    faults: [],
    warnings: [],
  });
  expect(values.get('role word')).toBe('Manager');
  expect((await contentOf(pool, 1, 1)).toString()).toBe(`${'a'.repeat(8000)}bcde`);
  // The triggers that replace a foreign key use the new name of the table.
  await expect(
    pool`insert into file_chunks (account_id, file_id, position, bytes) values (1, 99, 0, 'x')`,
  ).rejects.toThrow('This file does not exist.');
  await pool`delete from files where file_id = 1`;
  expect([...(await pool`select file_id from file_chunks`)]).toEqual([{ file_id: 2 }]);
  const imported = await pool`select import_batch, sealed from answers order by import_batch`;
  expect([...imported]).toEqual([
    { import_batch: 0, sealed: Buffer.from([1]) },
    { import_batch: 7, sealed: Buffer.from([2]) },
  ]);
});

test('breakdowns keep their ids, segments and history, and new breakdowns get ids that no other breakdown has had', async () => {
  const { pool } = await databaseBefore(39);
  await pool`insert into accounts (name, timezone, language, threshold) values ('Earlier', 'UTC', 'en', 5)`;
  await pool`insert into segment_kinds (account_id, name, attribute, position) values (1, 'Site', 'site', 1)`;
  await pool`insert into segments (account_id, segment_id, kind_id, value) values (1, 7, 1, 'segments open')`;
  await pool`
    insert into audit_entries (account_id, origin, action, subject)
    values (1, 'console', 'segments opened', 'Site'), (1, 'command', 'segments closed', 'segments '),
           (1, 'command', 'segments removed', 'Age'), (1, 'console', 'token created', 'segments opened')`;

  await migrate(pool);

  const [segment] = await pool`select breakdown_id as id, value from segments`;
  expect(segment).toEqual({ id: 1, value: 'segments open' });
  const [other] = await pool`
    insert into breakdowns (account_id, name, attribute, position) values (1, 'Age', 'born', 2)
    returning breakdown_id as id`;
  expect(other).toEqual({ id: 2 });
  const entries = await pool`select action, subject from audit_entries order by entry_id`;
  expect([...entries]).toEqual([
    { action: 'breakdown opened', subject: 'Site' },
    { action: 'breakdown closed', subject: 'segments ' },
    { action: 'breakdown removed', subject: 'Age' },
    { action: 'token created', subject: 'segments opened' },
  ]);
  await expect(pool`update audit_entries set action = 'x'`).rejects.toThrow(/audit/i);
});
