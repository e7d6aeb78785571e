// Runs and files in the console: who sees them, how a pending run is decided, which files the browser may upload, and that
// confirmed columns apply to every later file.
import type {
  FileColumns,
  FileDetails,
  FileRow,
  Mapping,
  Run,
  RunChange,
  RunRow,
  ValueMapping,
} from '@soundings/contract/console/runs.ts';
import type { Problem } from '@soundings/contract/problem.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import * as fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { changeAccount } from '../../accounts/accounts.ts';
import { csvRow } from '../../base/csv.ts';
import { inTransaction } from '../../db/db.ts';
import { defineAttribute } from '../../people/attributes.changes.ts';
import { createUser } from '../../people/users.ts';
import { readCsv } from '../../testing/csv.ts';
import { type SendRequest, signIn } from '../../testing/signed-in.ts';
import { answerLine, importLines, question, round } from '../../testing/surveys.ts';
import { until } from '../../testing/until.ts';
import { openWorld, type TestAccount, type World } from '../../testing/world.ts';

let world: World;
let account: TestAccount;
let ada: SendRequest;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
beforeEach(async () => {
  account = await world.account();
  ada = await signInAs('ada@example.org');
});

async function signInAs(email: string, accountId = account.id): Promise<SendRequest> {
  const [user] = await world.pool<{ id: number }[]>`
    select user_id as id from users where account_id = ${accountId} and email = ${email}`;
  return signIn(world, accountId, user!.id);
}

const change = (settings: Parameters<typeof changeAccount>[2]) =>
  inTransaction(world.pool, (tx) => changeAccount(tx, account.id, settings));

const lines = (...rows: string[]) => `${rows.join('\r\n')}\r\n`;

/** Uploads a file in the console. */
const upload = (name: string, content: string | Uint8Array, by = ada) =>
  by<{ fileId: number; name: string } & Problem>(`POST /files?name=${encodeURIComponent(name)}`, content, {
    'content-type': 'application/octet-stream',
  });

/** Uploads a file and waits until it is processed. */
async function send(name: string, content: string): Promise<FileDetails> {
  const { body } = await upload(name, content);
  return processed(body.fileId);
}

async function processed(fileId: number): Promise<FileDetails> {
  await until(async () => {
    await sleep(100); // the file is processed in a separate process
    const [row] = await world.pool`
      select from files where account_id = ${account.id} and file_id = ${fileId} and processed_at is not null`;
    return row;
  });
  return (await ada<FileDetails>(`GET /files/${fileId}?language=en`)).body;
}

async function actions(): Promise<string[]> {
  const rows = await world.pool<{ action: string }[]>`
    select action from audit_entries where account_id = ${account.id} and origin = 'console' order by entry_id`;
  return rows.map(({ action }) => action);
}

const groupsFile = lines('externalId;name', 'g1;North', 'g2;South', 'g3;West');
const threeGroups = ['North', 'South', 'West'].map((name, i) => ({ externalId: `g${i + 1}`, name }));
const push = (data: object) => account.push({ settings: { validateOnly: false }, data });

/** Creates a pending run with a file that would remove all groups but one. */
async function createPendingRun(): Promise<FileDetails> {
  await change({ maxGroupsDeleted: 1 });
  await push({ groups: threeGroups });
  const file = await send('groups.csv', lines('externalId;name', 'g1;The North'));
  expect(file.state).toBe('pending');
  return file;
}

describe('a pending run', () => {
  test('is shown with its reason, its limits and its changes, removals first', async () => {
    const { runId } = await createPendingRun();
    const { body: run } = await ada<Run>(`GET /runs/${runId}?language=en`);
    expect(run).toMatchObject({
      outcome: 'pending',
      via: 'console',
      sentBy: 'Ada Admin',
      file: 'groups.csv',
    });
    expect(run.limits.find(({ setting }) => setting === 'maxGroupsDeleted')).toEqual({
      setting: 'maxGroupsDeleted',
      limit: 1,
      count: 2,
    });
    expect(run.details).toMatchObject([{ type: 'limit exceeded', count: 2, limit: 1 }]);
    const { body } = await ada<{ total: number; rows: RunChange[] }>(`GET /runs/${runId}/changes`);
    expect(body.rows.map(({ action, externalId, name }) => [action, externalId, name])).toEqual([
      ['delete', 'g2', 'South'],
      ['delete', 'g3', 'West'],
      ['update', 'g1', 'The North'],
    ]);
    const { body: found } = await ada<{ total: number }>(`GET /runs/${runId}/changes?search=SOUTH`);
    expect(found.total).toBe(1);
  });

  test('names the weeks of results that would be lost', async () => {
    const people = ['a', 'b', 'c', 'd', 'e'];
    await push({
      groups: threeGroups.slice(0, 1),
      users: people.map((externalId) => ({
        externalId,
        firstName: externalId,
        lastName: 'X',
        accessInfo: { memberOf: ['g1'] },
      })),
    });
    await importLines(world, account.id, [
      question('q', 1),
      round('2026-W02', 'g1', ['q'], Object.fromEntries(people.map((one) => [one, ['g1']]))),
      ...people.map((one) => answerLine('2026-W02', 'g1', one, 'q', 4)),
    ]);
    const { body: report } = await account.push({ data: { groups: [{ externalId: 'g9', name: 'Other' }] } });
    const runId = report.id;
    const { body: run } = await ada<Run>(`GET /runs/${runId}?language=en`);
    expect([run.lostCount, run.lost]).toEqual([1, [{ externalId: 'g1', name: 'North', weeks: 1 }]]);
    const { body } = await ada<{ rows: RunChange[] }>(`GET /runs/${runId}/changes?action=delete`);
    expect(body.rows[0]).toMatchObject({ externalId: 'g1', weeks: 1 });
  });

  test('names the managers and administrators it would remove, and how many people it would remove in total', async () => {
    const person = (externalId: string, role: string, groups: object = { memberOf: ['g1'] }) => ({
      externalId,
      firstName: externalId.toUpperCase(),
      lastName: 'Roth',
      email: `${externalId}@example.com`,
      accessInfo: { role, ...groups },
    });
    const users = [
      person('p1', 'User'),
      person('p2', 'Manager'),
      person('p3', 'User', { memberOf: ['g1'], interestOf: ['g2'] }),
      person('p4', 'Manager'),
      person('p5', 'User'),
    ];
    await push({ groups: threeGroups, users });
    await change({ maxUsersDeleted: 2 });
    const columns = 'EmployeeID;FirstName;LastName;Email;Department';
    const file = await send('people.csv', lines(columns, 'p4;P4;Roth;p4@example.com;g1'));
    expect(file.state).toBe('pending');
    const { body: run } = await ada<Run>(`GET /runs/${file.runId}?language=en`);
    expect(run.summary?.users.deleted).toBe(4);
    expect([run.people, run.managersRemoved]).toEqual([6, { count: 2, names: ['P2 Roth', 'P3 Roth'] }]);
    const wrong = await ada(`POST /runs/${file.runId}/approval`, { peopleRemoved: 3, groupsRemoved: 0 });
    expect([wrong.status, wrong.body.details[0]?.path]).toEqual([400, '/peopleRemoved']);
    const right = await ada(`POST /runs/${file.runId}/approval`, { peopleRemoved: 4, groupsRemoved: 0 });
    expect(right.status).toBe(204);
  });

  test('is approved only once, and only if the number of groups it removes is given', async () => {
    const { runId } = await createPendingRun();
    const wrong = await ada(`POST /runs/${runId}/approval`, { peopleRemoved: 0, groupsRemoved: 1 });
    expect([wrong.status, wrong.body.details[0]?.path]).toEqual([400, '/groupsRemoved']);
    expect((await account.groups()).length).toBe(3);
    expect((await ada(`POST /runs/${runId}/approval`, { peopleRemoved: 0, groupsRemoved: 2 })).status).toBe(
      204,
    );
    expect((await account.groups()).map(({ name }) => name)).toEqual(['The North']);
    const { body: run } = await ada<Run>(`GET /runs/${runId}?language=en`);
    expect(run).toMatchObject({ outcome: 'applied', decidedBy: 'Ada Admin' });
    expect(run.decidedAt).not.toBeNull();
    const again = await ada(`POST /runs/${runId}/approval`, { peopleRemoved: 0, groupsRemoved: 2 });
    expect([again.status, again.body.details[0]?.type]).toEqual([409, 'run not pending']);
    expect(await actions()).toEqual(['file uploaded', 'run approved']);
  });

  test('cannot be approved after the account has changed, but can be rejected', async () => {
    const { runId, fileId } = await createPendingRun();
    await push({ groups: threeGroups.slice(0, 2) });
    const outdated = await ada(`POST /runs/${runId}/approval`, { peopleRemoved: 0, groupsRemoved: 2 });
    expect([outdated.status, outdated.body.details[0]?.type]).toEqual([409, 'plan changed']);
    expect((await account.groups()).length).toBe(2);
    expect((await ada(`POST /runs/${runId}/rejection`, {})).status).toBe(204);
    const { body: run } = await ada<Run>(`GET /runs/${runId}?language=en`);
    expect(run).toMatchObject({ outcome: 'refused', decidedBy: 'Ada Admin' });
    expect((await processed(fileId)).state).toBe('refused');
    expect(await actions()).toContain('run rejected');
    expect((await world.pool`select from pending_runs where account_id = ${account.id}`).length).toBe(0);
  });

  test('cannot be approved if an older version has stored its digest, but can be rejected', async () => {
    const { runId } = await createPendingRun();
    await world.pool`update pending_runs set plan_digest = repeat('0', 64) where account_id = ${account.id}`;
    const outdated = await ada(`POST /runs/${runId}/approval`, { peopleRemoved: 0, groupsRemoved: 2 });
    expect([outdated.status, outdated.body.details[0]?.type]).toEqual([409, 'plan changed']);
    expect(outdated.body.message).toMatch(/upgraded .* Upload the file again/);
    expect((await account.groups()).length).toBe(3);
    expect((await ada(`POST /runs/${runId}/rejection`, {})).status).toBe(204);
  });

  test('cannot be seen or decided by a manager or another account', async () => {
    const { body: report } = await account.push({ data: { groups: threeGroups } });
    const runId = report.id;
    await inTransaction(world.pool, (tx) =>
      createUser(tx, account.id, {
        firstName: 'Mo',
        lastName: 'M',
        email: 'mo@example.org',
        role: 'Manager',
      }),
    );
    const manager = await signInAs('mo@example.org');
    expect((await manager(`GET /runs/${runId}?language=en`)).status).toBe(403);
    expect((await upload('x.csv', 'a;b', manager)).status).toBe(403);
    const other = await world.account();
    const stranger = await signInAs('ada@example.org', other.id);
    for (const name of [
      `GET /runs/${runId}?language=en`,
      `GET /runs/${runId}/changes`,
      `GET /runs/${runId}/report.json`,
      `GET /runs/${runId}/faults.csv?language=en`,
      `POST /runs/${runId}/approval`,
      `POST /runs/${runId}/rejection`,
    ]) {
      const body = name.startsWith('POST')
        ? name.endsWith('approval')
          ? { peopleRemoved: 0, groupsRemoved: 2 }
          : {}
        : undefined;
      expect([name, (await stranger(name, body)).status]).toEqual([name, 404]);
    }
    expect((await stranger<{ rows: RunRow[] }>('GET /runs')).body.rows).toEqual([]);
    expect((await stranger<{ rows: FileRow[] }>('GET /files')).body.rows).toEqual([]);
  });
});

describe('runs', () => {
  test('are listed newest first and filtered by outcome, source, dry run and text', async () => {
    await account.push({ data: { groups: [] } });
    await account.push({ data: { groups: [{ externalId: '', name: 'x' }] } });
    await send('grupper-åre.csv', groupsFile);
    const listed = async (query: string) =>
      (await ada<{ total: number; rows: RunRow[] }>(`GET /runs${query}`)).body;
    expect((await listed('')).rows.map(({ outcome, source }) => [outcome, source])).toEqual([
      ['applied', 'file'],
      ['refused', 'api'],
      ['validated', 'api'],
    ]);
    expect((await listed('?outcome=refused')).rows).toMatchObject([{ faults: 1, token: 'test' }]);
    expect((await listed('?source=file')).total).toBe(1);
    expect((await listed('?dryRun=false')).total).toBe(1);
    expect((await listed('?search=ARE.CSV')).rows).toMatchObject([{ file: 'grupper-åre.csv' }]);
    expect(await listed('?offset=1&limit=1')).toMatchObject({ total: 3, rows: [{ outcome: 'refused' }] });
    expect((await ada('GET /runs?outcome=odd')).body.details[0]?.path).toBe('outcome');
  });

  test('warn about a person who arrives with a new externalId', async () => {
    const person = (externalId: string) => ({
      externalId,
      firstName: 'Bo',
      lastName: 'B',
      email: 'bo@example.org',
    });
    await push({ users: [person('old')] });
    const { body: report } = await account.push({ data: { users: [person('new')] } });
    expect(report.warnings).toMatchObject([
      { type: 'new externalId', path: '/data/users/0/externalId', externalId: 'old', arrivesAs: 'new' },
    ]);
    const { body } = await ada<{ rows: RunChange[] }>(`GET /runs/${report.id}/changes`);
    expect(body.rows[0]).toMatchObject({ externalId: 'old', name: 'Bo B', arrivesAs: 'new' });
  });

  test('warn about a group that arrives with a new externalId', async () => {
    const unit = (externalId: string) => ({ externalId, name: 'Renumbered' });
    await push({ users: [{ externalId: 'old', firstName: 'Bo', lastName: 'B' }], groups: [unit('old')] });
    const { body: report } = await account.push({ data: { users: [], groups: [unit('new')] } });
    const { body } = await ada<{ rows: RunChange[] }>(`GET /runs/${report.id}/changes?action=delete`);
    expect(body.rows.map(({ entity, externalId, arrivesAs }) => [entity, externalId, arrivesAs])).toEqual([
      ['group', 'old', 'new'],
      ['user', 'old', null],
    ]);
  });

  test('can be downloaded: the report, the changes, and the invalid rows as they are in the file', async () => {
    await push({ groups: threeGroups });
    const file = await send(
      'users.csv',
      lines(
        'EmployeeID;FirstName;LastName;Email;Department',
        '1;Anna;Ask;a@example.com;g1',
        '2;=cmd();Berg;A@example.com;g8',
      ),
    );
    expect(file.details).toMatchObject([
      { row: 3, column: 'Department', value: 'g8' },
      { row: 3, column: 'Email', value: 'A@example.com' },
    ]);
    const faults = await ada(`GET /runs/${file.runId}/faults.csv?language=sv`);
    expect(faults.headers.get('content-disposition')).toContain('attachment; filename="users-');
    const [head, row, ...rest] = faults.text.replace('\uFEFF', '').split('\r\n');
    expect(head).toBe('EmployeeID,FirstName,LastName,Email,Department,Rad,Orsak');
    expect(row).toMatch(
      /^'2,'=cmd\(\),Berg,A@example\.com,g8,3,"?Department: Gruppen finns inte\..* · Email: Adressen används redan/,
    );
    expect(rest).toEqual(['']);
    const report = await ada(`GET /runs/${file.runId}/report.json`);
    expect(report.body).toMatchObject({ outcome: 'refused', file: 'users.csv', changes: [] });
    const first = (await ada<{ rows: RunRow[] }>('GET /runs?outcome=applied')).body.rows[0]!;
    const changes = await ada(`GET /runs/${first.runId}/changes.csv`);
    expect(changes.text).toContain('create,group,g1,North,,,');
  });

  test('contain nothing in their downloads that a spreadsheet program would execute', () => {
    // A cell as it may appear in a file or a name, and parts of what spreadsheet programs execute.
    const cell = fc.oneof(
      fc.string(),
      fc.array(fc.constantFrom(...'=+-@\t\r\n;,"\'a1 ')).map((all) => all.join('')),
    );
    fc.assert(
      fc.property(fc.array(cell, { minLength: 1, maxLength: 4 }), (cells) => {
        const [read = []] = readCsv(csvRow(cells));
        expect(read.filter((one) => /^[=+\-@\t\r]/.test(one))).toEqual([]);
      }),
    );
  });
});

describe('files from the console', () => {
  test('are accepted by the same rules as uploads over HTTPS', async () => {
    const refused = async (name: string, content: string | Uint8Array) => {
      const { status, body } = await upload(name, content);
      return [status, body.details[0]?.type];
    };
    for (const name of ['.hidden.csv', 'a.exe', 'x\u202Ecsv.csv', '../..', 'con.csv', ' .csv', 'a\0.csv']) {
      const [status] = await refused(name, 'a;b');
      expect([name, status]).toEqual([name, 400]);
    }
    expect(await refused('a.csv', '')).toEqual([400, 'file validation']);
    expect(await refused('a.xlsx', 'no workbook')).toEqual([400, 'file validation']);
    expect(await refused('a.csv', new Uint8Array(10 * 1024 * 1024 + 1))).toEqual([400, 'file validation']);
    const files = (await ada<{ rows: FileRow[] }>('GET /files')).body.rows;
    expect(files.map(({ name, state, isKept }) => [name, state, isKept])).toEqual([
      ['a.csv', 'refused', false],
      ['a.xlsx', 'refused', false],
      ['a.exe', 'refused', false],
      ['.hidden.csv', 'refused', false],
    ]);
    expect((await ada(`GET /files/${files[0]?.fileId}/columns`)).status).toBe(404);
    expect(
      await world.pool`select from files where account_id = ${account.id} and not is_refused`,
    ).toHaveLength(0);
    // Only the last part of a path is the file name.
    expect((await upload('../../etc/groups.csv', groupsFile)).body.name).toBe('groups.csv');
    await change({ allow: ['192.0.2.0/24'] });
    expect((await upload('b.csv', groupsFile)).status).toBe(403);
  });

  test('of ten megabytes are stored completely', async () => {
    const row = `${'x'.repeat(1023)}\n`;
    const { status, body } = await upload('large.csv', row.repeat(10 * 1024));
    expect(status).toBe(200);
    const [file] = await world.pool<{ size: number; via: string }[]>`
      select size, via from files where account_id = ${account.id} and file_id = ${body.fileId}`;
    expect(file).toEqual({ size: 10 * 1024 * 1024, via: 'console' });
  });
});

type Mappings = { columns: Mapping[]; values: ValueMapping[] };

describe('columns', () => {
  const unknown = lines('Nummer X;Rufname;Zweitname;Kst', '1;Anna;Ask;4410', '2;Bo;Berg;4420');
  const mapped = (meanings: string[]) => ({
    sheets: [
      {
        kind: 'users',
        columns: ['Nummer X', 'Rufname', 'Zweitname', 'Kst'].map((header, i) => ({
          header,
          meaning: meanings[i] ?? 'ignore',
        })),
      },
    ],
  });

  test('are confirmed once, for this file and every later file with the same headers, however it arrives', async () => {
    await inTransaction(world.pool, (tx) =>
      defineAttribute(tx, account.id, { name: 'Cost centre', allowedValues: null }),
    );
    const file = await send('personal.csv', unknown);
    expect(file).toMatchObject({ state: 'refused', hasUnknownColumns: true });
    const { body: shown } = await ada<FileColumns>(`GET /files/${file.fileId}/columns`);
    expect(shown.attributes).toEqual(['Cost centre']);
    expect(shown.sheets).toMatchObject([{ row: 1, isMapped: false, isKnown: false }]);
    expect(shown.sheets[0]?.columns[3]).toMatchObject({ header: 'Kst', example: '4410', meaning: 'ignore' });

    const meanings = ['externalId', 'firstName', 'lastName', 'attribute:Cost centre'];
    const done = await ada<{ isRepeated: boolean }>(`POST /files/${file.fileId}/columns`, mapped(meanings));
    expect(done.body).toEqual({ isRepeated: true });
    expect(await processed(file.fileId)).toMatchObject({ state: 'applied', hasUnknownColumns: false });

    // A later file is sent over HTTPS, with the columns in another order.
    const form = new FormData();
    form.append('file', new Blob([lines('Kst;Zweitname;Rufname;Nummer X', '4430;Chen;Cilla;3')]), 'next.csv');
    await world.request('POST', '/v1/storage/uploadFile', {
      headers: { authorization: account.token },
      body: form,
    });
    const people = () =>
      world.pool`select external_id as id, first_name as name, attributes from users
                 where account_id = ${account.id} and managed order by 1`;
    await until(async () => (await people()).length === 1);
    expect([...(await people())]).toEqual([
      { id: '3', name: 'Cilla', attributes: { 'Cost centre': '4430' } },
    ]);
    expect(await actions()).toEqual(['file uploaded', 'columns confirmed']);
    // The list of files shows who sent them and from where.
    const whose = await world.pool`
      select user_id is null as "isToken", token_id is null as "isPerson", address from audit_entries
      where  account_id = ${account.id} and action in ('run applied', 'run refused') order by entry_id`;
    expect(whose.map((one) => Object.values(one))).toEqual([
      [false, true, '127.0.0.1'],
      [false, true, '127.0.0.1'],
      [true, false, '127.0.0.1'],
    ]);

    // The first file is not read again, because that would undo the second.
    const late = await ada<{ isRepeated: boolean }>(`POST /files/${file.fileId}/columns`, mapped(meanings));
    expect(late.body).toEqual({ isRepeated: false });
    const mappings = (await ada<Mappings>('GET /mappings')).body.columns;
    expect(mappings).toMatchObject([{ kind: 'users', confirmedBy: 'Ada Admin' }]);
    expect((await ada(`DELETE /mappings/${mappings[0]?.mappingId}`)).status).toBe(204);
    expect((await ada(`DELETE /mappings/${mappings[0]?.mappingId}`)).status).toBe(404);
    expect((await send('personal.csv', unknown)).state).toBe('refused');
  });

  test('can be confirmed again when the maximum number is reached', async () => {
    const file = await send('personal.csv', unknown);
    const sheets = mapped(['externalId', 'firstName', 'lastName']);
    const confirm = () => ada(`POST /files/${file.fileId}/columns`, sheets);
    expect((await confirm()).status).toBe(200);
    await world.pool`
      insert into column_mappings (account_id, headers_digest, kind, columns, user_id)
      select ${account.id}, sha256(i::text::bytea), 'users', '[]', 1 from generate_series(1, 499) i`;
    expect((await confirm()).status).toBe(200);
    sheets.sheets[0]!.columns[3]!.header = 'another';
    expect((await confirm()).status).toBe(400);
  });

  test('that do not fit the confirmed meaning are named', async () => {
    const { fileId } = (await upload('personal.csv', unknown)).body;
    const faultsOf = async (meanings: string[]) =>
      (await ada(`POST /files/${fileId}/columns`, mapped(meanings))).body.details.map(({ type, path }) => [
        type,
        path,
      ]);
    expect(await faultsOf(['firstName', 'firstName'])).toEqual([
      ['repeated column', '/sheets/0/columns/1/meaning'],
      ['unknown layout', '/sheets/0/columns'],
    ]);
    expect(await faultsOf(['externalId', 'attribute:none'])).toEqual([
      ['unknown attribute', '/sheets/0/columns/1/meaning'],
    ]);
    expect(await faultsOf(['externalId', 'parent'])).toEqual([
      ['invalid value', '/sheets/0/columns/1/meaning'],
    ]);
    expect(await faultsOf(['externalId', 'groupName'])).toEqual([['invalid value', '/sheets/0/columns']]);
    expect((await ada<Mappings>('GET /mappings')).body).toEqual({ columns: [], values: [] });
  });

  test('that could have the same meaning are both shown, and one of them is suggested', async () => {
    const file = await send(
      'people.csv',
      lines('EmployeeID;FirstName;LastName;Phone;Mobile', '1;Anna;Ask;+4681234567;+46701234567'),
    );
    expect(file).toMatchObject({ state: 'applied', hasUnknownColumns: true });
    const { body } = await ada<FileColumns>(`GET /files/${file.fileId}/columns`);
    expect(body.sheets[0]?.columns.slice(3)).toMatchObject([
      { header: 'Phone', meaning: 'ignore', couldBe: 'phone' },
      { header: 'Mobile', meaning: 'phone', couldBe: null },
    ]);
  });

  test('with many values show the most frequent unknown values and the number of values; with very many values, only their number', async () => {
    const rows = Array.from({ length: 1100 }, (_, i) => {
      const status = i < 100 ? 'Active' : `Status ${i % 60}`;
      return `${i};Anna;Ask;${status};${i % 60 === 7 ? 'Team lead' : `Role ${i}`};${'x'.repeat(i === 5 ? 101 : 1)}`;
    });
    const file = await send(
      'many.csv',
      lines('EmployeeID;FirstName;LastName;Status;Role;Is manager', ...rows),
    );
    const { body } = await ada<FileColumns>(`GET /files/${file.fileId}/columns`);
    const [, , , status, role, isManager] = body.sheets[0]!.columns;
    expect(status?.valueCount).toBe(61);
    const asked = status!.values.filter(({ meaning }) => meaning.active === null);
    expect(asked).toHaveLength(40);
    expect(asked.map(({ count }) => count)).toEqual(
      asked.map(({ count }) => count).toSorted((a, b) => b - a),
    );
    expect(role).toMatchObject({ valueCount: null, values: [] });
    expect(isManager).toMatchObject({ valueCount: 2, values: [{ value: 'x', count: 1099 }] });
  });

  test('with a few values show these with their counts; the meanings of the values and the country are saved for every file', async () => {
    const people = lines(
      'EmployeeID;FirstName;LastName;Status;Phone',
      '1;Anna;Ask;Active;070-123 45 67',
      '2;Bo;Berg;Leave;+4721000000',
      '3;Cilla;Chen;leave;',
      '4;Dan;Dahl;Somewhere;',
    );
    const file = await send('people.csv', people);
    expect(file).toMatchObject({ state: 'applied', hasUnknownColumns: true });
    const { body } = await ada<FileColumns>(`GET /files/${file.fileId}/columns`);
    expect(body.country).toBeNull();
    const [, , , status, phone] = body.sheets[0]!.columns;
    expect(phone).toMatchObject({ localNumbers: 1 });
    expect(
      status?.values.map(({ value, count, meaning, proposed }) => [
        value,
        count,
        meaning.active,
        proposed.active,
      ]),
    ).toEqual([
      ['Leave', 2, null, 'no'],
      ['Active', 1, 'yes', null],
      ['Somewhere', 1, null, null],
    ]);
    const columns = body.sheets[0]!.columns.map(({ header, meaning }) => ({ header, meaning }));
    const sheets = [{ kind: 'users', columns }];
    const values = [{ field: 'active', value: 'Leave', meaning: 'no' }];
    const confirm = (more: object) => ada(`POST /files/${file.fileId}/columns`, { sheets, values, ...more });
    expect((await confirm({ country: 'Nowhere' })).body.details).toMatchObject([
      { type: 'invalid country', path: '/defaultCountry' },
    ]);
    expect(
      (await confirm({ values: [{ field: 'role', value: 'x', meaning: 'yes' }] })).body.details,
    ).toMatchObject([{ type: 'invalid value', path: '/values/0/meaning' }]);
    expect((await ada<Mappings>('GET /mappings')).body).toEqual({ columns: [], values: [] });
    expect((await confirm({ country: 'SE' })).body).toEqual({ isRepeated: true });
    const again = await processed(file.fileId);
    expect(again.notices.map(({ type }) => type)).toEqual(['unknown value', 'default country']);
    const listed = () =>
      world.pool<{ active: boolean; phone: string | null }[]>`
        select active, phone from users where account_id = ${account.id} and managed order by external_id`;
    expect((await listed()).map(({ active }) => active)).toEqual([true, false, false, false]);
    expect((await listed())[0]?.phone).toBe('+46701234567');

    const { body: kept } = await ada<Mappings>('GET /mappings');
    expect(kept.values).toMatchObject([{ value: 'Leave', meaning: 'no', confirmedBy: 'Ada Admin' }]);
    const forget = () => ada(`DELETE /value-mappings/${kept.values[0]?.mappingId}`);
    expect((await forget()).status).toBe(204);
    expect((await forget()).status).toBe(404);
    expect(await actions()).toEqual(
      expect.arrayContaining(['columns confirmed', 'values confirmed', 'settings changed', 'value removed']),
    );
  });
});
