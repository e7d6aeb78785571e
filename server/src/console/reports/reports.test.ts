// Reports over HTTP and by the command: their figures are those of the results pages, users get only groups that they have access to,
// and comments only where they are shown.
import type { PrintedReport } from '@soundings/contract/console/reports.ts';
import type { GroupResults, QuestionResults } from '@soundings/contract/console/results/results.ts';
import type { MembershipKind } from '@soundings/contract/people/memberships.ts';
import { addWeeks, weekName } from '@soundings/contract/weeks.ts';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beginSession } from '../../auth/sessions.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { reportCommands } from '../../cli/reports.ts';
import { apply, unit } from '../../testing/organizations.ts';
import { needs } from '../../testing/processes/programs.ts';
import { type SendRequest, signInNew } from '../../testing/signed-in.ts';
import { answerLine, importLines, kpi, question, round } from '../../testing/surveys.ts';
import { openWorld, type TestAccount, type World } from '../../testing/world.ts';
import { asAdministrator } from '../core/administrator.ts';
import { readReports } from './read-reports.ts';

const now = Date.parse('2026-10-07T12:00:00Z');
const weeks = Array.from({ length: 6 }, (_, i) => addWeeks('2026-08-24', i));
const last = weeks.at(-1) as string;

let world: World;
let account: TestAccount;
let administrator: SendRequest;
let idOf: Map<string, number>;
beforeAll(async () => {
  world = await openWorld(undefined, {}, () => now);
  account = await world.account();
  const groups = ['top', 'north', 'south', 'team'].map((name) =>
    unit(name, {
      name: `Gruppen ${name} åäö`,
      parent: { top: null, team: 'north' }[name] ?? (name === 'top' ? null : 'top'),
    }),
  );
  await apply(account, { groups });
  const rows = await world.pool<{ id: number; name: string }[]>`
    select group_id as id, external_id as name from groups where account_id = ${account.id}`;
  idOf = new Map(rows.map(({ id, name }) => [name, id]));
  await importLines(world, account.id, history(), now);
  administrator = (await signInNew(world, account.id, 'Administrator')).request;
});
afterAll(() => world?.close());

/** Six weeks: 24 people in the north, 20 in the south, and three in a team of the north, whose figures are withheld. */
function history(): object[] {
  const places = [...Array.from({ length: 24 }, () => 'north'), ...Array.from({ length: 20 }, () => 'south')];
  const people = Object.fromEntries(
    places.map((place, i) => [`p${i}`, place === 'north' && i < 3 ? ['team'] : [place]]),
  );
  return [
    ...['a', 'b', 'c'].map((key) => question(key, 1)),
    question('d', 1, { allowsNotApplicable: true }),
    kpi('mood', ['a', 'b']),
    kpi('work', ['c', 'd']),
    ...weeks.flatMap((week, w) => [
      round(weekName(week), 'top', ['a', 'b', 'c', 'd'], people),
      ...Object.entries(people).flatMap(([person, [place]], i) =>
        ['a', 'b', 'c', 'd'].map((key, k) =>
          key === 'd' && i % 6 === 5
            ? notApplicable(week, person)
            : answerLine(
                weekName(week),
                'top',
                person,
                key,
                1 + ((i * 7 + k * 3 + w * (place === 'south' ? 2 : 1)) % 5),
                key === 'a' ? `${place} says ${i} in ${week}` : undefined,
              ),
        ),
      ),
    ]),
  ];
}

const notApplicable = (week: string, person: string) => ({
  answer: { week: weekName(week), group: 'top', person, question: 'd', notApplicable: true },
});

async function managerOf(kind: MembershipKind, name: string): Promise<SendRequest> {
  const { request, userId } = await signInNew(world, account.id, 'Manager');
  await world.pool`
    insert into memberships (account_id, user_id, kind, group_id)
    values (${account.id}, ${userId}, ${kind}, ${idOf.get(name)!})`;
  return request;
}

async function get<T>(request: SendRequest, path: string): Promise<T> {
  const { status, body, text } = await request<T>(`GET ${path}`);
  if (status !== 200) throw new Error(`${status} of ${path}: ${text}`);
  return body;
}
const reportOf = (request: SendRequest, name: string, query = '') =>
  get<PrintedReport>(request, `/results/groups/${idOf.get(name)}/report?${query}`);
const score = (value: number) => Math.round(value * 100);

test.each(['top', 'north', 'south'])(
  'the figures of a report are those of the results pages: %s',
  async (name) => {
    const id = idOf.get(name);
    const report = await reportOf(administrator, name, 'compare=company');
    const results = await get<GroupResults>(administrator, `/results/groups/${id}?compare=company`);
    expect(report.comparison).toEqual(results.comparison);
    expect(report.response!.share).toBe(results.rates.at(-1)!.value);
    expect(report.response!.text).toContain(
      `${results.rates.at(-1)!.answered} of ${results.rates.at(-1)!.asked}`,
    );
    expect(report.kpis.items).toHaveLength(2);
    for (const [i, { name: kpiName, rolling, difference }] of results.kpis.entries()) {
      const row = report.kpis.items[i]!;
      const { value, margin, change } = rolling.at(-1)!;
      expect(row.name).toBe(kpiName);
      expect(row.value).toBe(`${score(value!)}${margin === null ? '' : ` ± ${Math.max(1, score(margin))}`}`);
      expect(row.change?.verdict).toBe(change?.verdict);
      expect(row.compared === null ? null : row.compared / 100).toBe(difference?.value ?? null);
      expect(row.difference?.verdict).toBe(difference?.verdict);
    }
    const rows = [...report.strongest.items, ...report.weakest.items];
    expect(rows).toHaveLength(4);
    for (const row of rows) {
      const { id: questionId } = results.last!.questions.find(({ text }) => text === row.name)!;
      const path = `/results/groups/${id}/questions/${questionId}?compare=company`;
      const figure = (await get<QuestionResults>(administrator, path)).figures.at(-1)!;
      expect(row.value).toContain(`${score(figure.value!)}`);
      const { count, of } = figure.notApplicable ?? { count: 0, of: 1 };
      const none = count === 0 ? '' : `, ${Math.round((100 * count) / of)}% not applicable`;
      expect([row.name, count > 0]).toEqual([row.name, row.name.includes('d')]);
      expect(row.note).toBe(`${figure.answers} answers, week 40${none}`);
    }
  },
);

test('a report names what the group works on, while it is open, and only that of its own group', async () => {
  const terms = { action: 'No meetings before ten', responsible: 'Anna', until: '2026-11-30' };
  const { body } = await administrator<{ id: number }>(`POST /focus/groups/${idOf.get('north')}`, {
    kind: 'kpi',
    subject: 'mood',
    ...terms,
  });
  const itemsOf = async (name: string, query = '') =>
    (await reportOf(administrator, name, query)).focus.items;
  expect(await itemsOf('north')).toEqual(['mood: No meetings before ten (Anna, until 30 November 2026)']);
  expect(await itemsOf('north', 'language=sv')).toEqual([
    'mood: No meetings before ten (Anna, till 30 november 2026)',
  ]);
  for (const name of ['top', 'south']) expect(await itemsOf(name)).toEqual([]);
  await administrator(`POST /focus/${body.id}/check-in`, { outlook: 'done', note: '' });
  expect(await itemsOf('north')).toEqual([]);
});

test('a report covers the requested week or quarter', async () => {
  const week = await reportOf(administrator, 'top', `period=${weekName(weeks[2]!)}`);
  expect(week.period.title).toBe('Week 37, 2026');
  expect(week.comments.items.every(({ week: own }) => own === 'week 37')).toBe(true);
  const quarter = await reportOf(administrator, 'top', 'period=2026-Q3&language=sv');
  expect(quarter.period.title).toBe('Kvartal 3, 2026');
  expect(quarter.comments.items.every(({ week: own }) => own === 'vecka 39')).toBe(true);
  expect(quarter.response!.text).toBe('I genomsnitt svarade 44 av 44 medarbetare, under 5 veckor');
  for (const [path, status] of [
    [`groups/${idOf.get('top')}/report?period=2025-W10`, 400],
    [`groups/${idOf.get('top')}/report?period=2026-Q7`, 400],
    [`groups/${idOf.get('top')}/report?period=2025-W53`, 400],
    ['reports.zip?period=2025-Q1', 400],
    ['groups/999999/report', 404],
    ['groups/999999/report.pdf', 404],
    ['groups/x/report.pdf', 404],
  ] as const) {
    expect([path, (await administrator(`GET /results/${path}`)).status]).toEqual([path, status]);
  }
});

test('comments are those that the group’s comments page shows, newest first', async () => {
  for (const name of ['top', 'north', 'south', 'team']) {
    const path = `/results/comments?groupId=${idOf.get(name)}&week=${last}&limit=500`;
    const { total, rows } = await get<{ total: number; rows: { text: string }[] }>(administrator, path);
    const { comments } = await reportOf(administrator, name);
    expect(comments.items.map(({ text }) => text)).toEqual(
      rows.slice(0, comments.items.length).map(({ text }) => text),
    );
    const left = total - comments.items.length;
    expect(comments.note).toBe(left === 0 ? '' : `${left} more comments in the console`);
  }
});

test('a group with too few answers has no figures in its report', async () => {
  const report = await reportOf(administrator, 'team');
  expect(report.response).toBeNull();
  expect(report.kpis.items.map(({ value }) => value)).toEqual(['withheld', 'withheld']);
  expect([...report.strongest.items, ...report.weakest.items, ...report.comments.items]).toEqual([]);
  expect(report.findings.items).toEqual([]); // nothing is known about changes
});

/** Returns the names of the files in an archive, and their texts by pdftotext. */
async function filesIn(bytes: Uint8Array): Promise<Map<string, string>> {
  const folder = await mkdtemp(join(tmpdir(), 'reports-'));
  try {
    const run = promisify(execFile);
    const program = `
import io, subprocess, sys, zipfile, json
z = zipfile.ZipFile(io.BytesIO(sys.stdin.buffer.read()))
read = lambda n: subprocess.run(['pdftotext', '-', '-'], input=z.read(n), capture_output=True, check=True).stdout if n.endswith('.pdf') else z.read(n)
print(json.dumps({n: read(n).decode('utf8') for n in z.namelist()}))`;
    const running = run('python3', ['-X', 'utf8', '-c', program], { maxBuffer: 1e8 });
    running.child.stdin!.end(bytes);
    return new Map(Object.entries(JSON.parse((await running).stdout) as Record<string, string>));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Downloads a file as a user. `signInNew` reads responses as text. */
async function download(userId: number, path: string): Promise<Uint8Array> {
  const person = { accountId: account.id, userId };
  const secret = await beginSession(world.pool, person, { address: '127.0.0.1', agent: 'test' });
  const response = await fetch(`${world.address}/api${path}`, { headers: { cookie: `soundings=${secret}` } });
  expect([path, response.status]).toEqual([path, 200]);
  return new Uint8Array(await response.arrayBuffer());
}

test('a manager gets the reports of open groups, and no others, with nothing about the groups above', async () => {
  const manager = await managerOf('interestOf', 'south');
  for (const name of ['top', 'north', 'team']) {
    for (const kind of ['report', 'report.pdf']) {
      const { status, body } = await manager(`GET /results/groups/${idOf.get(name)}/${kind}`);
      expect([name, kind, status, body.details[0]!.type]).toEqual([name, kind, 404, 'group not found']);
    }
  }
  const { headers } = await manager(`GET /results/groups/${idOf.get('south')}/report.pdf`);
  expect(headers.get('content-type')).toBe('application/pdf');
  expect(headers.get('content-disposition')).toContain(
    'Report%20Gruppen%20south%20%C3%A5%C3%A4%C3%B6%202026-W40.pdf',
  );
  const about = (await reportOf(manager, 'south')).about;
  expect(about).toBe('');
});

test('the archive has a report for each open group with results, and lists the others', async (context) => {
  needs(context, 'pdftotext', 'poppler-utils');
  const zip = async (who: number) => filesIn(await download(who, '/results/reports.zip'));
  const { userId } = await signInNew(world, account.id, 'Manager');
  await world.pool`
    insert into memberships (account_id, user_id, kind, group_id)
    values (${account.id}, ${userId}, 'interestOf', ${idOf.get('south')!})`;
  const own = await zip(userId);
  expect([...own.keys()]).toEqual(['Report Gruppen south åäö 2026-W40.pdf']);
  const [text] = [...own.values()];
  expect(text).toContain('south says');
  expect(text).not.toMatch(/north says|Gruppen north|Gruppen team/);
  const { userId: all } = await signInNew(world, account.id, 'Administrator');
  const files = await zip(all);
  expect([...files.keys()]).toEqual([
    'Report Gruppen top åäö 2026-W40.pdf',
    'Report Gruppen north åäö 2026-W40.pdf',
    'Report Gruppen south åäö 2026-W40.pdf',
    'Groups without results.txt',
  ]);
  expect(files.get('Groups without results.txt')).toContain('Gruppen north åäö › Gruppen team åäö');
  const actions = await world.pool<{ action: string; subject: string | null }[]>`
    select action, subject from audit_entries where account_id = ${account.id} and action = 'reports exported'`;
  expect(actions.length).toBeGreaterThanOrEqual(2);
});

test('clients that disconnect don’t keep others of their account waiting', async () => {
  const { userId } = await signInNew(world, account.id, 'Administrator');
  const person = { accountId: account.id, userId };
  const secret = await beginSession(world.pool, person, { address: '127.0.0.1', agent: 'test' });
  const options = { headers: { cookie: `soundings=${secret}` } };
  // More than may wait at the same time.
  const signal = AbortSignal.timeout(300);
  const all = Array.from({ length: 8 }, () =>
    fetch(`${world.address}/api/results/reports.zip`, { ...options, signal }).catch(() => {}),
  );
  await Promise.all(all);
  expect((await download(userId, '/results/reports.zip')).length).toBeGreaterThan(10_000);
  for (const ms of [20, 150, 400, 600, 800, 1000]) {
    await fetch(`${world.address}/api/results/reports.zip`, {
      ...options,
      signal: AbortSignal.timeout(ms),
    }).then(
      (response) => response.body?.cancel(),
      () => {},
    );
  }
  // Only one download of an account runs at a time; others wait up to 30 s.
  const before = performance.now();
  expect((await download(userId, '/results/reports.zip')).length).toBeGreaterThan(10_000);
  expect(performance.now() - before).toBeLessThan(20_000);
});

test('a comparison that managers may not use is not in their reports', async () => {
  const manager = await managerOf('interestOf', 'south');
  const before = await reportOf(manager, 'south', 'compare=company');
  expect(before.comparison.kind).toBe('company');
  expect(before.kpis.items.some(({ compared }) => compared !== null)).toBe(true);
  await world.pool`update accounts set manager_comparisons = '{}' where account_id = ${account.id}`;
  try {
    const report = await reportOf(manager, 'south', 'compare=company');
    expect(report.comparison).toMatchObject({ kind: 'none', group: null, available: ['none'] });
    const rows = [...report.kpis.items, ...report.strongest.items, ...report.weakest.items];
    expect(rows.every(({ compared, difference }) => compared === null && difference === null)).toBe(true);
    expect(report.kpis.heads.compared).toBe('');
  } finally {
    await world.pool`
      update accounts set manager_comparisons = '{company,parent,halfYear}' where account_id = ${account.id}`;
  }
});

test('the command saves the same files as the console, and none if there are no results', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'reports-'));
  const run = (out: string, more: Record<string, string>) =>
    reportCommands['report']!.run!(
      world.pool,
      { account: String(account.id), out: join(folder, out), ...more },
      undefined as never,
      () => '',
      '',
    );
  try {
    const group = String(idOf.get('south'));
    expect(await run('a.pdf', { group, language: 'sv' })).toEqual({
      file: join(folder, 'a.pdf'),
      reports: 1,
    });
    expect((await readFile(join(folder, 'a.pdf'))).subarray(0, 5).toString()).toBe('%PDF-');
    expect(await run('a.zip', { period: '2026-Q3' })).toMatchObject({ reports: 3 });
    const errors: [more: Record<string, string>, message: RegExp][] = [
      [{ group: '999999' }, /This group does not exist/],
      [{ group, period: '2020-W01' }, /There are no results for "2020-W01"/],
      [{ period: 'autumn' }, /There are no results for "autumn"/],
      [{ group, language: 'xx' }, /--language must be one of en, sv/],
      [{ compare: 'rivals' }, /--compare must be one of/],
    ];
    for (const [more, message] of errors) await expect(run('none', more)).rejects.toThrow(message);
    expect((await readdir(folder)).toSorted()).toEqual(['a.pdf', 'a.zip']);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('the number of statements does not depend on the number of groups', async () => {
  const count = async (groupIds: number[]) => {
    let statements = 0;
    const counted = new Proxy(world.pool, {
      apply(target, self, args: unknown[]) {
        if (Array.isArray(args[0]) && 'raw' in args[0]) statements++;
        return Reflect.apply(target as never, self, args) as unknown;
      },
    });
    const wanted = { period: undefined, compare: undefined, language: 'en', day: '2026-10-07' };
    const found = readReports(counted, asAdministrator(account.id, 'UTC'), groupIds, wanted);
    let reports = 0;
    for await (const _ of found) reports++;
    expect(reports).toBe(groupIds.length);
    return statements;
  };
  const ids = [...idOf.values()];
  const ofAll = await count(ids);
  expect(ofAll).toBeGreaterThan(10);
  expect(ofAll).toBe(await count(ids.slice(0, 1)));
});
