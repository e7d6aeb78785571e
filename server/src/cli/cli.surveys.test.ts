// The commands for surveys: history import, week close and keys remove-process.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { addWeeks, dayIn, weekName, weekOf } from '@soundings/contract/weeks.ts';
import { describe, expect, test } from 'vitest';
import { inTransaction } from '../db/db.ts';
import { createGroup } from '../people/groups.ts';
import { bareEnvironment } from '../testing/processes/environment.ts';
import { builtProgram } from '../testing/service-build.ts';
import { until } from '../testing/until.ts';
import {
  ahead,
  aheadMonday,
  dataDir,
  home,
  json,
  newAccount,
  pool,
  refused,
  soundings,
  useDatabase,
} from './cli.fixture.ts';

useDatabase();

describe('history import', () => {
  const importFrom = (id: string, ...files: string[]) => ['history', 'import', '--account', id, ...files];

  test('reports the number of new items of each kind, as JSON and as text; a second import adds none', async () => {
    const id = await accountWithGroup();
    const file = await historyFile(surveyLines('2024-W47'));
    expect(await json(importFrom(id, file))).toEqual({
      questions: 1,
      kpis: 1,
      rounds: 1,
      answers: 6,
      weeks: 1,
    });
    const none = { questions: 0, kpis: 0, rounds: 0, answers: 0, weeks: 0 };
    expect(await json(importFrom(id, file))).toEqual({ ...none, ignored: 6 });
    expect(await publishedAnswers(id)).toEqual({ '2024-11-18': 6 });
    const more = await historyFile([...surveyLines('2024-W48'), ...surveyLines('2024-W49').slice(2)]);
    const { status, out, err } = await soundings(importFrom(id, more));
    expect({ status, err }).toEqual({ status: 0, err: '' });
    expect(out).toMatch(/^New: 0 questions, 0 KPIs, 2 rounds in 2 weeks, 12 answers\.\n$/);
  });

  test('names the line of an error on standard error, and imports nothing', async () => {
    const id = await accountWithGroup();
    const file = await historyFile([
      ...surveyLines('2024-W47'),
      '',
      { answer: { week: '2024-W47', group: 'top', person: 'e9', question: 'scale', value: 3 } },
    ]);
    expect(await refused(importFrom(id, file))).toBe(
      'Nothing was imported. Line 11: "e9" was not asked in this round.\n',
    );
    for (const table of ['questions', 'kpis', 'weeks', 'rounds', 'answers', 'results']) {
      expect(await pool`select from ${pool(table)} where account_id = ${id}`).toHaveLength(0);
    }
  });

  test('reports a missing file or account', async () => {
    const id = await newAccount();
    const [absent, directory, stranger] = await Promise.all([
      refused(importFrom(id, join(home, 'none.ndjson'))),
      refused(importFrom(id, home)),
      refused(importFrom('99999', await historyFile([]))),
    ]);
    expect(absent).toBe(`File not found: ${join(home, 'none.ndjson')}.\n`);
    expect(directory).toContain(`${home} is not a regular file.`);
    expect(stranger).toBe('Account 99999 does not exist.\n');
  });

  test.each([
    ['no FILE', [], 'This command needs exactly one FILE.'],
    ['two FILEs', ['a.ndjson', 'b.ndjson'], 'This command needs exactly one FILE.'],
    ['an unknown option', ['a.ndjson', '--week', '2024-W47'], '--week'],
  ])('%s: exit status 2', async (_, more, message) => {
    expect(await refused(importFrom('1', ...more), 2)).toContain(message);
  });

  test('if killed halfway, nothing is imported, and the same file can be imported afterwards', async () => {
    const id = await accountWithGroup();
    const file = await historyFile(surveyLines('2024-W47'));
    const [ready, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const blocking = pool.begin(async (tx) => {
      await tx`insert into questions (account_id, key, type, text, language) values (${id}, 'scale', 1, '', 'en')`;
      ready.resolve();
      await end.promise;
      throw new Error('rolled back');
    });
    await ready.promise;
    const cli = builtProgram('command'); // the process that the command starts, which would outlive it
    const child = spawn(process.execPath, [cli, ...importFrom(id, file)], {
      env: { ...bareEnvironment, DATA_DIR: dataDir },
      stdio: 'ignore',
    });
    await until(async () => {
      const waiting = await pool`
        select from pg_stat_activity
        where  datname = current_database() and wait_event_type = 'Lock' and query like '%insert into questions%'`;
      return waiting.length > 0;
    });
    child.kill('SIGKILL');
    await once(child, 'close');
    end.resolve();
    await expect(blocking).rejects.toThrow('rolled back');
    expect(await json(importFrom(id, file))).toMatchObject({ questions: 1, answers: 6 });
    expect(await publishedAnswers(id)).toEqual({ '2024-11-18': 6 });
  });
});

describe('keys remove-process', () => {
  test('forgets a process and adds it to the audit log of every account; refuses an unknown name', async () => {
    const id = await newAccount();
    await pool`insert into key_processes (name, epoch, seen_at) values ('gone:/keys/answers', 0, '2024-01-01')`;
    const forget = ['keys', 'remove-process', '--name', 'gone:/keys/answers'];
    expect(await json(forget)).toEqual({ forgotten: 'gone:/keys/answers' });
    expect(await pool`select 1 from key_processes where name = 'gone:/keys/answers'`).toEqual([]);
    expect(
      await pool`select action, subject from audit_entries where account_id = ${id} and action <> 'account created'`,
    ).toEqual([{ action: 'key process removed', subject: 'gone:/keys/answers' }]);
    expect(await refused(forget)).toContain('Process "gone:/keys/answers" does not exist');
    expect(await refused(['keys', 'remove-process'], 2)).toContain('--name');
  });
});

describe('question set', () => {
  const set = (id: string, ...options: string[]) => ['question', 'set', '--account', id, ...options];

  test('lets people answer questions with “not applicable”, or no longer', async () => {
    const id = await newAccount();
    const lines = ['workload-pace', 'clarity-tasks', 'works-well'].map((key, i) => ({
      question: { key, type: i === 2 ? 7 : 1, text: `${key}?`, language: 'en' },
    }));
    await json(['history', 'import', '--account', id, await historyFile(lines)]);
    const keys = ['--key', 'workload-pace', '--key', 'clarity-tasks'];
    const allowed = async () => {
      const questions = (await json(['question', 'list', '--account', id])) as Record<string, unknown>[];
      return questions.flatMap(({ key, allowsNotApplicable }) => (allowsNotApplicable ? [key] : []));
    };
    expect(await allowed()).toEqual([]);
    expect(await json(set(id, ...keys, '--not-applicable', 'on'))).toEqual({
      keys: ['workload-pace', 'clarity-tasks'],
      notApplicable: true,
    });
    expect(await allowed()).toEqual(['workload-pace', 'clarity-tasks']);
    await json(set(id, '--key', 'clarity-tasks', '--not-applicable', 'off'));
    expect(await allowed()).toEqual(['workload-pace']);
    expect(await refused(set(id, '--key', 'works-well', '--not-applicable', 'on'))).toContain('free text');
    expect(await refused(set(id, '--key', 'absent', '--not-applicable', 'on'))).toContain('does not exist');
    expect(await refused(set(id, '--key', 'works-well'), 2)).toContain('--not-applicable');
    expect(await allowed()).toEqual(['workload-pace']);
  });
});

describe('week close', () => {
  const close = (id: string, ...options: string[]) => ['week', 'close', '--account', id, ...options];

  test('publishes the given week and deletes its answers; the second time there is nothing to publish', async () => {
    const id = await accountWithGroup();
    await json(['history', 'import', '--account', id, await historyFile(surveyLines(ahead))]);
    expect(await publishedAnswers(id)).toEqual({});
    const week = ['--week', ahead];
    expect(await json(close(id, ...week))).toEqual({ week: ahead, published: 1 });
    expect(await publishedAnswers(id)).toEqual({ [aheadMonday]: 6 });
    expect(await pool`select from answers where account_id = ${id}`).toHaveLength(0);
    expect(await json(close(id, ...week))).toEqual({ week: ahead, published: 0 });
    const { status, out, err } = await soundings(close(id, ...week));
    expect({ status, out, err }).toEqual({
      status: 0,
      out: `${ahead} is closed. Nothing was published: the week was already closed, or too few people answered.\n`,
      err: '',
    });
  });

  test('reports the number of published figures as text', async () => {
    const id = await accountWithGroup();
    await json(['history', 'import', '--account', id, await historyFile(surveyLines(ahead))]);
    const { out } = await soundings(close(id, '--week', ahead));
    expect(out).toBe(`${ahead} is closed. 1 figures published.\n`);
  });

  test('without a week, closes the last week that has ended', async () => {
    const id = await accountWithGroup();
    const last = () => weekName(addWeeks(weekOf(dayIn('UTC', Date.now())), -1));
    const before = last();
    const message = await refused(close(id));
    expect(
      [before, last()].map((week) => `No questions were asked in week ${week}. Choose another week.\n`),
    ).toContain(message);
  });

  test('a week without questions, or an account that does not exist: exit status 1', async () => {
    const id = await accountWithGroup();
    expect(await refused(close(id, '--week', '2024-W47'))).toBe(
      'No questions were asked in week 2024-W47. Choose another week.\n',
    );
    expect(await refused(close('99999', '--week', '2024-W47'))).toBe('Account 99999 does not exist.\n');
  });

  test.each([
    ['a week that the year does not have', ['--week', '2025-W53'], '"2025-W53"'],
    ['a day', ['--week', '2024-11-18'], '"2024-11-18"'],
    ['a week in lower case', ['--week', '2024-w47'], '"2024-w47"'],
    ['a week without --week', ['2024-W47'], '2024-W47'],
  ])('%s: exit status 2', async (_, options, message) => {
    expect(await refused(close('1', ...options), 2)).toContain(message);
  });
});

/** Creates an account with a group `top` and returns its id as text. */
async function accountWithGroup(): Promise<string> {
  const id = await newAccount();
  await inTransaction(pool, (tx) => createGroup(tx, Number(id), { name: 'Top', externalId: 'top' }));
  return id;
}

/** Returns the lines of a week in which six people answer a question. */
function surveyLines(week: string): object[] {
  const people = ['e1', 'e2', 'e3', 'e4', 'e5', 'e6'];
  const asked = people.map((person) => ({ person, memberOf: ['top'] }));
  return [
    { question: { key: 'scale', type: 1, text: 'How?', language: 'en' } },
    { kpi: { id: 'mood', name: 'Mood', questions: ['scale'] } },
    { round: { week, group: 'top', questions: ['scale'], asked } },
    ...people.map((person) => ({ answer: { week, group: 'top', person, question: 'scale', value: 4 } })),
  ];
}

let files = 0;
async function historyFile(lines: (object | string)[]): Promise<string> {
  const path = join(home, `history${++files}.ndjson`);
  await writeFile(path, lines.map((line) => (line === '' ? '\n' : `${JSON.stringify(line)}\n`)).join(''));
  return path;
}

/** Returns for each week the number of answers behind its published figure. */
async function publishedAnswers(id: string): Promise<Record<string, number>> {
  const rows = await pool<{ week: string; answers: number }[]>`
    select week, answers from results where account_id = ${id} order by week`;
  return Object.fromEntries(rows.map(({ week, answers }) => [week, answers]));
}
