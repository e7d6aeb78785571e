// What becomes of a file: the organization is made to match it, or it says why not, in the order in which files arrived.
import type { Detail } from '@soundings/contract/problem.ts';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { changeAccount, createAccount, lockAccount, type AccountSettings } from '../accounts/accounts.ts';
import { createToken } from '../accounts/tokens.ts';
import { Fault } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import { inTransaction, openPool, type Pool } from '../db/db.ts';
import { createGroup } from '../people/groups.ts';
import { defineAttribute } from '../people/attributes.changes.ts';
import { createUser } from '../people/users.ts';
import { deleteGroupResults } from '../results/published-figures.ts';
import { listRuns } from '../sync/runs.ts';
import { pushOrganization } from '../sync/sync.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { until } from '../testing/until.ts';
import { confirmValues } from './mappings.ts';
import { type FileReport, isTurnFree, takeTurn } from './process.sql.ts';
import { openUpload } from './store.ts';
import { workbookOf, zipOf } from '../sheets/zip.fixture.ts';
import { approveRun } from './approval.ts';
import { processInTurn, processFiles } from './queue.ts';

let database: TestDatabase;
let pool: Pool;
beforeAll(async () => {
  database = await openTestDatabase();
  pool = database.pool;
});
afterAll(() => database.close());

/** What was logged. */
const logged: unknown[] = [];
const log = { warn: (about: unknown) => logged.push(about), error: () => {} } as unknown as Log;

type Company = { id: number; tokenId: number };

async function company(settings: Partial<AccountSettings> = {}): Promise<Company> {
  const id = await inTransaction(pool, async (tx) => {
    const made = await createAccount(tx, { name: 'Acme' });
    await createUser(tx, made.id, { firstName: 'Ada', lastName: 'Admin', role: 'Administrator' });
    await changeAccount(tx, made.id, settings);
    return made.id;
  });
  const { id: tokenId } = await createToken(pool, id, { name: 'nightly', scopes: ['files'] });
  return { id, tokenId };
}

/** Brings a file in, without processing it. */
async function arrive({ id, tokenId }: Company, name: string, text: string | Buffer): Promise<void> {
  const upload = await openUpload(pool, { accountId: id, via: 'https', tokenId, address: '192.0.2.1' }, name);
  await upload.write(0, Buffer.from(text as string));
  await upload.finish(name);
}

/** Brings a file in, has it processed, and returns what is told of it. */
async function send(acme: Company, name: string, text: string | Buffer): Promise<FileReport> {
  await arrive(acme, name, text);
  await processFiles(pool, acme.id, deleteGroupResults, log);
  return lastReport(acme);
}

async function lastReport({ id }: Company): Promise<FileReport> {
  const [row] = await pool<{ report: FileReport }[]>`
    select report from files where account_id = ${id} and report is not null order by arrival desc limit 1`;
  return row!.report;
}

/** A container of an old workbook, which begins right, and has nothing in it. */
function oldWorkbookWithoutSheets(): Buffer {
  const bytes = Buffer.alloc(2048);
  bytes.write('d0cf11e0a1b11ae1', 'hex');
  bytes.writeUInt16LE(9, 30);
  bytes[512 + 66] = 5;
  return bytes;
}

const lines = (...rows: string[]) => `${rows.join('\r\n')}\r\n`;
const groupsFile = lines('Id;Name;Parent', 'top;Everyone;', 'north;North;top', 'south;South;top');
const header = 'EmployeeID;FirstName;LastName;Email;Department';
const three = lines(
  header,
  '001;Anna;Ask;anna@example.com;north',
  '002;Bo;Berg;bo@example.com;north;',
  '003;Cilla;Chen;;south',
);

async function peopleOf({ id }: Company) {
  return pool<{ id: string; name: string; email: string | null; active: boolean; groups: string[] }[]>`
    select u.external_id as id, u.first_name || ' ' || u.last_name as name, u.email, u.active,
           array(select g.name from memberships m join groups g using (account_id, group_id)
                 where m.account_id = u.account_id and m.user_id = u.user_id and m.kind = 'memberOf'
                 order by 1) as groups
    from   users u
    where  u.account_id = ${id} and u.managed
    order  by 1`;
}

const groupsOf = async ({ id }: Company) => {
  const rows = await pool<{ name: string }[]>`
    select name from groups where account_id = ${id} and managed order by name`;
  return rows.map(({ name }) => name);
};

const push = (acme: Company, data: object) =>
  pushOrganization(
    pool,
    acme.id,
    { id: newId(), source: 'api', tokenId: null, address: null, file: null },
    {
      bytes: new TextEncoder().encode(JSON.stringify({ settings: { validateOnly: false }, data })),
      gzip: false,
    },
    { deleteGroupResults },
  );

describe('groups that are named by their names', () => {
  const byName = lines(header, '001;Anna;Ask;;North', '002;Bo;Berg;;south;');

  test('are found where no other has the name, and the report says so', async () => {
    const acme = await company();
    await send(acme, 'groups.csv', groupsFile);
    const report = await send(acme, 'users.csv', byName);
    expect(report).toMatchObject({ outcome: 'applied', summary: { users: { created: 2 } } });
    // south is an externalId as it stands; North is a name.
    expect(report.warnings).toMatchObject([{ type: 'group by name', row: 2, column: 'Department' }]);
    expect(report.warnings[0]?.message).toContain('"North" is "north"');
    expect((await peopleOf(acme)).map(({ groups }) => groups)).toEqual([['North'], ['South']]);
  });

  test('are a fault that names the candidates where several have the name', async () => {
    const acme = await company();
    await send(acme, 'groups.csv', lines('Id;Name;Parent', 'n1;North;', 'n2;north;', 's;South;'));
    const { outcome, details } = await send(acme, 'users.csv', lines(header, '001;Anna;Ask;;North'));
    expect(outcome).toBe('refused');
    expect(details).toMatchObject([{ type: 'ambiguous name', row: 2, column: 'Department', value: 'North' }]);
    expect(details[0]?.message).toContain('Enter the ID of the right one instead: "n1", "n2"');
  });

  test('are groups of the same file before those that are there, and parents are found likewise', async () => {
    const acme = await company();
    await send(acme, 'groups.csv', lines('Id;Name;Parent', 'top;Everyone;', 'old;North;Everyone'));
    const report = await send(
      acme,
      'groups.csv',
      lines('Id;Name;Parent', 'top;Everyone;', 'new;North;Everyone'),
    );
    expect(report).toMatchObject({ outcome: 'applied', summary: { groups: { created: 1, deleted: 1 } } });
    expect(report.warnings).toContainEqual(
      expect.objectContaining({ type: 'group by name', row: 3, column: 'Parent' }),
    );
  });

  test('are not created again by a list of groups without ids, and keep what they are', async () => {
    const acme = await company();
    await send(acme, 'groups.csv', groupsFile);
    const names = lines(
      'Department;Parent department',
      'Everyone;',
      'North;Everyone',
      'East;Everyone',
      'South;North',
    );
    const report = await send(acme, 'groups.csv', names);
    expect(report).toMatchObject({
      outcome: 'applied',
      summary: { groups: { created: 1, updated: 1, deleted: 0 } },
    });
    const [south] = await pool<{ id: string; parent: string }[]>`
      select g.external_id as id, p.external_id as parent
      from   groups g join groups p on p.account_id = g.account_id and p.group_id = g.parent_id
      where  g.account_id = ${acme.id} and g.name = 'South'`;
    expect(south).toEqual({ id: 'south', parent: 'north' });
  });

  test('are not created again when files of users create their groups', async () => {
    const acme = await company({ createGroupsFromUsers: true });
    await send(acme, 'groups.csv', groupsFile);
    const report = await send(acme, 'users.csv', lines(header, '001;Anna;Ask;;North|West'));
    expect(report).toMatchObject({ outcome: 'applied', summary: { groups: { created: 1 } } });
    expect(await groupsOf(acme)).toEqual(['Everyone', 'North', 'South', 'West']);
  });
});

describe('values that are not known', () => {
  const table = (status: string) =>
    lines(
      'EmployeeID;FirstName;LastName;Status;Role',
      `001;Anna;Ask;active;`,
      `002;Bo;Berg;${status};Wizard`,
    );
  const activity = async (acme: Company) => (await peopleOf(acme)).map(({ active }) => active);

  test('stop nothing: who is there stays as is, and who is new is inactive until somebody says what they mean', async () => {
    const acme = await company({ notify: ['hr@example.com'] });
    const report = await send(acme, 'users.csv', table('In Elternzeit'));
    expect(report).toMatchObject({ outcome: 'applied', summary: { users: { created: 2 } } });
    expect(report.warnings.filter(({ type }) => type === 'unknown value')).toMatchObject([
      { column: 'Status', value: 'In Elternzeit', count: 1 },
      { column: 'Role', value: 'Wizard', count: 1 },
    ]);
    expect(await activity(acme)).toEqual([true, false]);
    const mailed = await pool`select 1 from graphile_worker.jobs where task_identifier = 'mail file report'`;
    expect(mailed.length).toBeGreaterThan(0);

    const said = (means: 'yes' | 'no') =>
      inTransaction(pool, (tx) =>
        confirmValues(tx, acme.id, { origin: 'command' }, [
          { field: 'active', value: ' in elternzeit', means },
          { field: 'role', value: 'WIZARD', means: 'Manager' },
        ]),
      );
    await said('yes');
    const again = await send(acme, 'users.csv', table('In Elternzeit'));
    expect(again.warnings.filter(({ type }) => type === 'unknown value')).toEqual([]);
    expect(await activity(acme)).toEqual([true, true]);
    const roles = await pool<{ role: string }[]>`
      select role from users where account_id = ${acme.id} and managed order by external_id`;
    expect(roles.map(({ role }) => role)).toEqual(['User', 'Manager']);
    await send(acme, 'users.csv', table('Sabbatical'));
    expect(await activity(acme)).toEqual([true, true]);
    await said('no');
    await send(acme, 'users.csv', table('IN ELTERNZEIT'));
    expect(await activity(acme)).toEqual([true, false]);
  });

  test('of phone numbers without a prefix, the account says of which country they are', async () => {
    const acme = await company();
    const phones = lines(
      'EmployeeID;FirstName;LastName;Phone',
      '001;Anna;Ask;070-123 45 67',
      '002;Bo;Berg;+4721000000',
    );
    const phonesOf = async () =>
      (
        await pool<{ phone: string | null }[]>`
          select phone from users where account_id = ${acme.id} and managed order by external_id`
      ).map(({ phone }) => phone);
    const report = await send(acme, 'users.csv', phones);
    expect(report.outcome).toBe('applied');
    expect(report.warnings).toMatchObject([
      { type: 'local number', row: 2, column: 'Phone' },
      { type: 'no group' },
    ]);
    expect(await phonesOf()).toEqual([null, '+4721000000']);
    await inTransaction(pool, (tx) => changeAccount(tx, acme.id, { defaultCountry: 'SE' }));
    const again = await send(acme, 'users.csv', phones);
    expect(again.warnings).toMatchObject([
      { type: 'default country', message: expect.stringContaining('SE') as string },
    ]);
    expect(await phonesOf()).toEqual(['+46701234567', '+4721000000']);
  });

  test('of two columns of ids that is read which is there already: nobody is removed for the other', async () => {
    const acme = await company();
    await send(acme, 'users.csv', lines('EmployeeID;FirstName;LastName', 'A1;Anna;Ask', 'A2;Bo;Berg'));
    const both = lines('EmployeeID;StaffNumber;FirstName;LastName', '1;A1;Anna;Ask', '2;A2;Bo;Berg');
    const report = await send(acme, 'users.csv', both);
    expect(report).toMatchObject({
      outcome: 'applied',
      summary: { users: { created: 0, deleted: 0, unchanged: 2 } },
    });
    expect(report.warnings).toMatchObject([{ type: 'repeated column', column: 'EmployeeID' }]);
  });
});

describe('a file of groups and one of users', () => {
  test('make the organization what they say; sent again, they change nothing', async () => {
    const acme = await company();
    expect(await send(acme, 'groups.csv', groupsFile)).toMatchObject({
      outcome: 'applied',
      summary: { groups: { created: 3 } },
      details: [],
    });
    expect(await send(acme, 'users.csv', three)).toMatchObject({
      file: 'users.csv',
      outcome: 'applied',
      summary: { users: { created: 3 }, groups: { created: 0, deleted: 0 } },
    });
    expect(await peopleOf(acme)).toEqual([
      { id: '001', name: 'Anna Ask', email: 'anna@example.com', active: true, groups: ['North'] },
      { id: '002', name: 'Bo Berg', email: 'bo@example.com', active: true, groups: ['North'] },
      { id: '003', name: 'Cilla Chen', email: null, active: true, groups: ['South'] },
    ]);
    expect(await groupsOf(acme)).toEqual(['Everyone', 'North', 'South']);
    expect((await send(acme, 'users.csv', three)).summary?.users).toEqual({
      created: 0,
      updated: 0,
      deleted: 0,
      unchanged: 3,
    });
  });

  test('whom a file leaves out is removed; those made by hand stay', async () => {
    const acme = await company();
    await send(acme, 'groups.csv', groupsFile);
    await send(acme, 'users.csv', three);
    await inTransaction(pool, (tx) => createGroup(tx, acme.id, { name: 'By hand', externalId: 'hand' }));
    const report = await send(acme, 'users.csv', lines(header, '001;Anna;Ask;;hand'));
    expect(report.summary?.users).toMatchObject({ updated: 1, deleted: 2 });
    expect(await peopleOf(acme)).toEqual([
      { id: '001', name: 'Anna Ask', email: 'anna@example.com', active: true, groups: ['By hand'] },
    ]);
    await send(acme, 'groups.csv', lines('externalId;name', 'north;North'));
    expect(await groupsOf(acme)).toEqual(['North']);
    expect(await pool`select from users where account_id = ${acme.id} and not managed`).toHaveLength(1);
  });

  test('only add and update where the account says so', async () => {
    const acme = await company({ filesPartial: true });
    await send(acme, 'groups.csv', groupsFile);
    await send(acme, 'users.csv', three);
    await send(acme, 'users.csv', lines(header, '001;Anna;Ask;;south', '004;Dan;Duva;;south'));
    await send(acme, 'groups.csv', lines('externalId;name', 'north;The North', 'west;West'));
    expect((await peopleOf(acme)).map(({ id, groups }) => [id, groups])).toEqual([
      ['001', ['South']],
      ['002', ['The North']],
      ['003', ['South']],
      ['004', ['South']],
    ]);
    expect(await groupsOf(acme)).toEqual(['Everyone', 'South', 'The North', 'West']);
    const [north] = await pool<{ parent: string }[]>`
      select p.name as parent from groups g join groups p on p.group_id = g.parent_id
      where g.account_id = ${acme.id} and g.external_id = 'north'`;
    expect(north).toEqual({ parent: 'Everyone' });
  });
});

describe('an Auditor', () => {
  const rolesOf = async ({ id }: Company) => {
    const rows = await pool<{ id: string; role: string }[]>`
      select external_id as id, role from users where account_id = ${id} and managed order by 1`;
    return Object.fromEntries(rows.map((row) => [row.id, row.role]));
  };
  const leads = (...cells: string[]) =>
    lines('EmployeeID;FirstName;LastName;Department;Is manager', ...cells);

  test('stays one where a file only infers who is a manager; a role in a cell wins, and no cell makes one', async () => {
    const acme = await company();
    await send(acme, 'groups.csv', groupsFile);
    await send(acme, 'users.csv', three);
    await pool`update users set role = 'Auditor', fingerprint = null
               where account_id = ${acme.id} and external_id in ('001', '002')`;
    await send(
      acme,
      'users.csv',
      leads('001;Anna;Ask;north;no', '002;Bo;Berg;north;yes', '003;Cilla;Chen;south;no'),
    );
    expect(await rolesOf(acme)).toEqual({ '001': 'Auditor', '002': 'Manager', '003': 'User' });

    const withRoles = (role: string) =>
      lines('EmployeeID;FirstName;LastName;Role', `001;Anna;Ask;${role}`, '002;Bo;Berg;', '003;Cilla;Chen;');
    const { warnings } = await send(acme, 'users.csv', withRoles('Auditor'));
    expect(warnings).toMatchObject([{ type: 'unknown value', column: 'Role', value: 'Auditor' }]);
    expect(await rolesOf(acme)).toMatchObject({ '001': 'Auditor' });
    const replaced = await send(acme, 'users.csv', withRoles('Employee'));
    expect(replaced.warnings.map(({ type }) => type)).toContain('auditor replaced');
    expect(await rolesOf(acme)).toEqual({ '001': 'User', '002': 'Manager', '003': 'User' });
  });
});

describe('an empty cell', () => {
  test('leaves a value as it is, of whatever column', async () => {
    const acme = await company();
    await inTransaction(pool, (tx) => defineAttribute(tx, acme.id, { name: 'Site', allowedValues: null }));
    await send(acme, 'groups.csv', groupsFile);
    const wide = 'EmployeeID;FirstName;LastName;Email;Phone;Active;TimeZone;Language;Role;Department;Site';
    await send(
      acme,
      'users.csv',
      lines(wide, '1;Anna;Ask;a@example.com;+46701234567;no;Europe/Stockholm;sv;Manager;north;Umeå'),
    );
    const stateOf = () =>
      pool`select first_name, last_name, email, phone, active, timezone, language, role, attributes
           from users where account_id = ${acme.id} and managed`;
    const before = await stateOf();
    expect(before[0]).toMatchObject({
      active: false,
      timezone: 'Europe/Stockholm',
      attributes: { Site: 'Umeå' },
    });
    const report = await send(acme, 'users.csv', lines(wide, '1;;;;;;;;;;'));
    expect(report).toMatchObject({ outcome: 'applied', summary: { users: { unchanged: 1, updated: 0 } } });
    expect(await stateOf()).toEqual(before);
    expect((await send(acme, 'users.csv', lines('EmployeeID;LastName', '1;Berg'))).outcome).toBe('applied');
    expect(await stateOf()).toEqual([{ ...before[0], last_name: 'Berg' }]);
  });

  test('of somebody who is new is a fault where a value is needed', async () => {
    const acme = await company();
    const report = await send(
      acme,
      'users.csv',
      lines('EmployeeID;FirstName;LastName', '1;Anna;', '2;Bo;Berg'),
    );
    expect(report.outcome).toBe('refused');
    expect(report.details).toEqual([
      expect.objectContaining({ type: 'missing field', row: 2, column: 'LastName', externalId: '1' }),
    ]);
    expect(await peopleOf(acme)).toEqual([]);
  });
});

describe('faults', () => {
  test('each is told with its row, column, value and remedy, and nothing is applied', async () => {
    const acme = await company();
    await send(acme, 'groups.csv', groupsFile);
    const report = await send(
      acme,
      'users.csv',
      lines(
        header,
        '001;Anna;Ask;anna@example.com;north',
        '002;Bo;Berg;;north',
        '003;Cilla;Chen;ANNA@example.com;east',
      ),
    );
    expect(report.outcome).toBe('refused');
    expect(report.details).toEqual([
      expect.objectContaining({ type: 'unknown group', row: 4, column: 'Department', value: 'east' }),
      expect.objectContaining({
        type: 'duplicate email',
        row: 4,
        column: 'Email',
        value: 'ANNA@example.com',
      }),
    ]);
    for (const { message, path } of report.details) {
      expect(message).not.toContain('/data/');
      expect(path).toBeUndefined();
    }
    expect(report.details[1]?.message).toContain('row 2');
    expect(await peopleOf(acme)).toEqual([]);
  });

  test('a run keeps their places, and no value of a person', async () => {
    const acme = await company();
    const people = (department: string) =>
      lines(
        'EmployeeID;FirstName;LastName;Email;Phone;Manager;Department',
        `1;Anna;Ask;secret address;ask secretly;Secret Boss;${department}`,
        `2;Bo;Berg;;;1;${department}`,
      );
    for (const outcome of ['refused', 'applied']) {
      // oxlint-disable no-await-in-loop -- one after the other
      const report = await send(acme, 'users.csv', people(outcome === 'refused' ? 'nowhere' : ''));
      expect(report.warnings.map(({ value }: Detail) => value)).toEqual(
        expect.arrayContaining(['secret address', 'ask secretly', 'Secret Boss']),
      );
      const [run] = await pool`
        select source, file, outcome, token_id, summary, warnings, details, message
        from   runs where account_id = ${acme.id} order by at desc limit 1`;
      // oxlint-enable no-await-in-loop
      expect(run).toMatchObject({ source: 'file', file: 'users.csv', outcome, token_id: acme.tokenId });
      expect(run?.['warnings']).toContainEqual(
        expect.objectContaining({ type: 'ignored value', row: 2, column: 'Email' }),
      );
      expect(JSON.stringify(run)).not.toMatch(/secret/i);
    }
  });

  test('in optional cells stop nothing: what is there stays, the report says what was ignored, and a mail goes out', async () => {
    const acme = await company({ notify: ['hr@example.com'], timezone: 'Europe/Stockholm', language: 'de' });
    const head = 'EmployeeID;FirstName;LastName;Email;Phone;Time zone;Language;Gender;Manager';
    const good = '1;Anna;Ask;anna@example.com;+46701234567;Europe/Helsinki;sv;Male;';
    await inTransaction(pool, (tx) =>
      defineAttribute(tx, acme.id, { name: 'Gender', allowedValues: ['Male', 'Female'] }),
    );
    expect((await send(acme, 'users.csv', lines(head, good))).outcome).toBe('applied');
    const rest = Array.from({ length: 198 }, (_, i) => `${i + 10};Eve${i};Ek;;n/a;;;;Eve Ek`);
    const bad = lines(
      head,
      '1;Anna;Ask;none;saknas;Mars/Base;Klingon;Wizard;',
      '2;Anna;Ask;anna at example.com;ext. 12;Nowhere;Elvish;?;Anna Ask',
      ...rest,
    );
    const report = await send(acme, 'users.csv', bad);
    expect(report).toMatchObject({
      outcome: 'applied',
      details: [],
      summary: { users: { created: 199, updated: 0, unchanged: 1 } },
    });
    const told = report.warnings.map(({ type, column, value, count }: Detail) => [
      type,
      column,
      value,
      count,
    ]);
    expect(told).toEqual(
      expect.arrayContaining([
        ['placeholder', 'Email', 'none', 1],
        ['ignored value', 'Email', 'anna at example.com', 1],
        ['placeholder', 'Phone', 'n/a', 199],
        ['ignored value', 'Phone', 'ext. 12', 1],
        ['ignored value', 'Time zone', 'Mars/Base', 1],
        ['ignored value', 'Time zone', 'Nowhere', 1],
        ['ignored value', 'Language', 'Klingon', 1],
        ['ignored value', 'Language', 'Elvish', 1],
        ['ignored value', 'Gender', 'Wizard', 1],
        ['placeholder', 'Gender', '?', 1],
        ['invalid value', 'Manager', 'Eve Ek', 198],
      ]),
    );
    const people = await pool`
      select email, phone, timezone, language from users
      where  account_id = ${acme.id} and managed and external_id in ('1', '2') order by external_id`;
    expect(people.map((one) => ({ ...one }))).toEqual([
      { email: 'anna@example.com', phone: '+46701234567', timezone: 'Europe/Helsinki', language: 'sv' },
      { email: null, phone: null, timezone: null, language: null },
    ]);
    const mailed = await pool`
      select 1 from graphile_worker.jobs
      where  task_identifier = 'mail file report' and key is null`;
    expect(mailed.length).toBeGreaterThan(0);
  });

  test('in the name of a manager take no group from anyone, also not from those whom other rows name', async () => {
    const acme = await company();
    await send(acme, 'groups.csv', groupsFile);
    const people = (manager: string) =>
      lines(
        'EmployeeID;FirstName;LastName;Department;Manager',
        '1;Anna;Ask;top;',
        '2;Bo;Berg;north;Anna Ask',
        `3;Cilla;Chen;south;${manager}`,
      );
    const owned = async () => {
      const rows = await pool<{ owned: string[] }[]>`
        select array(select g.external_id from memberships m join groups g using (account_id, group_id)
                     where m.account_id = u.account_id and m.user_id = u.user_id and m.kind = 'adminOf'
                     order by 1) as owned
        from   users u where account_id = ${acme.id} and managed order by external_id`;
      return rows.map((row) => row.owned);
    };
    await send(acme, 'users.csv', people('Anna Ask'));
    expect(await owned()).toEqual([['north', 'south'], [], []]);
    const report = await send(acme, 'users.csv', people('Anna Aks'));
    expect(report).toMatchObject({ outcome: 'applied', summary: { users: { updated: 0 } } });
    expect(report.warnings).toMatchObject([{ type: 'invalid value', row: 4, value: 'Anna Aks' }]);
    expect(await owned()).toEqual([['north', 'south'], [], []]);
    // A group that the same file removes is not kept.
    const rows = (text: string) =>
      text
        .trim()
        .split('\r\n')
        .map((line) => {
          const cells = line.split(';').map((cell) => `<c t="inlineStr"><is><t>${cell}</t></is></c>`);
          return `<row>${cells.join('')}</row>`;
        })
        .join('');
    const book = workbookOf([
      { name: 'People', rows: rows(people('Anna Aks').replaceAll('south', 'top')) },
      { name: 'Groups', rows: rows(groupsFile.replace('south;South;top\r\n', '')) },
    ]);
    expect((await send(acme, 'all.xlsx', zipOf(book))).outcome).toBe('applied');
    expect(await owned()).toEqual([['north'], [], []]);
    await send(acme, 'users.csv', people('Bo Berg').replaceAll('south', 'top'));
    expect(await owned()).toEqual([['north'], ['top'], []]);
  });

  test('people who are created in no group are warned of, once', async () => {
    const acme = await company({ createGroupsFromUsers: true });
    const text = lines(header, '001;Anna;Ask;;north', '002;Bo;Berg;;', '003;Cilla;Chen;;');
    const { outcome, warnings } = await send(acme, 'users.csv', text);
    expect(outcome).toBe('applied');
    expect(warnings).toEqual([
      {
        type: 'no group',
        row: 3,
        column: 'Department',
        message:
          '2 new people do not belong to a group. Enter their groups in a column with the header Department.',
      },
    ]);
    expect((await send(acme, 'users.csv', text)).warnings).toEqual([]);
  });

  test('a column that is missing is one fault, which names it, and what there is instead', async () => {
    const acme = await company({ createGroupsFromUsers: true });
    const rows = Array.from({ length: 1500 }, (_, i) => `${i};Anna;Berg, Anna;Sales`);
    const text = lines('EmployeeID;FirstName;Employee name;Department', ...rows, ';Bo;Ek, Bo;');
    const { outcome, details } = await send(acme, 'users.csv', text);
    expect(outcome).toBe('refused');
    expect(details.map(({ type, row, column }) => ({ type, row, column }))).toEqual([
      { type: 'missing field', row: 1502, column: 'EmployeeID' },
    ]);
    const again = await send(acme, 'users.csv', text.replace(';Bo;Ek, Bo;', 'x;;Ek, Bo;'));
    expect(again.details).toEqual([
      {
        type: 'missing column',
        row: 1,
        message:
          'New people must have a last name, but no column contains it. Found: "EmployeeID", "FirstName", "Employee name", ' +
          '"Department". Ignored: "Employee name". Add a column with the header LastName, or choose the right column in ' +
          'the console.',
      },
      expect.objectContaining({ type: 'missing field', row: 1502, column: 'FirstName' }),
    ]);
  });

  test('what a reader stumbles over is told as what to do, and logged as what it was', async () => {
    const acme = await company();
    const book = Buffer.from('0908080000051000', 'hex'); // an old workbook that ends where it begins
    const { outcome, message, runId } = await send(acme, 'users.xls', book);
    expect({ outcome, message }).toEqual({
      outcome: 'refused',
      message:
        'users.xls has 1 error, so nothing was changed. The workbook is damaged. The upload may have been cut off. ' +
        'Open it in Excel, save it as a new .xlsx file and send the new file.',
    });
    expect(logged.at(-1)).toMatchObject({
      accountId: acme.id,
      runId,
      cause: expect.stringContaining('Truncated'),
    });
  });

  test('a file that cannot be read, or is of no known layout, says so', async () => {
    const acme = await company();
    const odd = await send(acme, 'odd.csv', lines('This;That', '1;2'));
    expect([odd.outcome, odd.details[0]?.type]).toEqual(['refused', 'unknown layout']);
    const torn = await send(acme, 'torn.xls', oldWorkbookWithoutSheets());
    expect([torn.outcome, torn.details[0]?.type]).toEqual(['refused', 'unreadable file']);
  });
});

describe('departments that are unknown', () => {
  test('are created when the account says so, and never removed by that', async () => {
    const acme = await company({ createGroupsFromUsers: true });
    const users = lines('EmployeeID;FirstName;LastName;Department;DepartmentName', '1;Anna;Ask;d1;Design');
    expect(await send(acme, 'users.csv', users)).toMatchObject({
      outcome: 'applied',
      summary: { groups: { created: 1, deleted: 0 } },
    });
    await send(acme, 'users.csv', lines('EmployeeID;FirstName;LastName;Department', '1;Anna;Ask;d2'));
    expect(await groupsOf(acme)).toEqual(['Design', 'd2']);
    expect((await peopleOf(acme))[0]?.groups).toEqual(['d2']);
  });

  test('are a fault otherwise', async () => {
    const acme = await company();
    const report = await send(acme, 'users.csv', lines(header, '1;Anna;Ask;;nowhere'));
    expect(report.details).toEqual([
      expect.objectContaining({ type: 'unknown group', row: 2, value: 'nowhere' }),
    ]);
  });
});

describe('beyond a limit', () => {
  /** A held file that would remove two of three people, of whom one may be. */
  async function held() {
    const acme = await company({ maxUsersDeleted: 1 });
    await send(acme, 'groups.csv', groupsFile);
    await send(acme, 'users.csv', three);
    const report = await send(acme, 'users.csv', lines(header, '001;Anna;Ask;anna@example.com;south'));
    return { acme, report, before: await peopleOf(acme) };
  }

  test('the file is held: nothing is applied, what it would change is shown', async () => {
    const { acme, report, before } = await held();
    expect(report).toMatchObject({ outcome: 'held', summary: { users: { updated: 1, deleted: 2 } } });
    expect(report.details).toEqual([
      expect.objectContaining({ type: 'limit exceeded', setting: 'maxUsersDeleted', limit: 1, count: 2 }),
    ]);
    expect(before).toHaveLength(3);
    const changes = await pool`
      select action from run_changes where account_id = ${acme.id} and run_id = ${report.runId!} order by position`;
    expect(changes.map(({ action }) => action)).toEqual(['update', 'delete', 'delete']);
  });

  test('approved, exactly that is applied; once', async () => {
    const { acme, report } = await held();
    expect(await approveRun(pool, acme.id, report.runId!, deleteGroupResults)).toMatchObject({
      outcome: 'applied',
      details: [],
    });
    expect((await peopleOf(acme)).map(({ id, groups }) => [id, groups])).toEqual([['001', ['South']]]);
    expect((await listRuns(pool, acme.id, 1))[0]).toMatchObject({ id: report.runId, outcome: 'applied' });
    expect(await lastReport(acme)).toMatchObject({ outcome: 'applied' });
    await expect(approveRun(pool, acme.id, report.runId!, deleteGroupResults)).rejects.toMatchObject({
      kind: 'conflict',
      code: 'run not pending',
    });
  });

  test('approved by two at once, it is applied once', async () => {
    const { acme, report } = await held();
    const ends = await Promise.allSettled([
      approveRun(pool, acme.id, report.runId!, deleteGroupResults),
      approveRun(pool, acme.id, report.runId!, deleteGroupResults),
    ]);
    expect(ends.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });

  test('is refused when the state has moved since, and stays held', async () => {
    const { acme, report } = await held();
    await push(acme, { users: [{ externalId: '001', firstName: 'Annie', lastName: 'Ask' }] }).catch(() => {});
    await pool`update users set first_name = 'Annie', fingerprint = null
               where account_id = ${acme.id} and external_id = '001'`;
    const before = await peopleOf(acme);
    await expect(approveRun(pool, acme.id, report.runId!, deleteGroupResults)).rejects.toMatchObject({
      kind: 'conflict',
      code: 'plan changed',
    });
    expect(await peopleOf(acme)).toEqual(before);
    expect((await listRuns(pool, acme.id, 50)).find(({ id }) => id === report.runId)?.outcome).toBe('held');
  });

  test('is approved only in its own account', async () => {
    const { report } = await held();
    const other = await company();
    await expect(approveRun(pool, other.id, report.runId!, deleteGroupResults)).rejects.toMatchObject({
      kind: 'not_found',
    });
  });
});

test('an account that only validates is told what would be, and nothing is applied', async () => {
  const acme = await company({ applyFiles: false });
  const report = await send(acme, 'groups.csv', groupsFile);
  expect(report).toMatchObject({ outcome: 'validated', summary: { groups: { created: 3 } } });
  expect(await groupsOf(acme)).toEqual([]);
});

test('files are applied in the order of their arrival, each once, however many processes are at it', async () => {
  const acme = await company();
  const one = (name: string) => lines('EmployeeID;FirstName;LastName', `1;${name};Ask`);
  for (const name of ['A', 'B', 'C']) {
    // oxlint-disable-next-line no-await-in-loop -- the order is the point
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

describe('a turn', () => {
  const unavailable = new Fault('unavailable', 'unavailable', 'No database.');
  const killedReader = new Fault('unavailable', 'file not processed', 'Reading the file was stopped.');
  const outOfProcesses = Object.assign(new Error('spawn EAGAIN'), { code: 'EAGAIN', syscall: 'spawn node' });
  const ended = (code: string) => Object.assign(new Error('The thread has ended.'), { code });
  const one = lines('EmployeeID;FirstName;LastName', '1;Anna;Ask');

  /** What is known of the file that waits first. */
  async function waiting({ id }: Company) {
    const [row] = await pool<{ turn: string | null; failures: number; interruptions: number }[]>`
      select turn, failures, interruptions from files
      where  account_id = ${id} and arrival is not null and processed_at is null order by arrival limit 1`;
    return row;
  }

  /** Begins the file that waits first as a process does that is killed then: its turn is never ended. */
  const beginAndDie = async ({ id }: Company, ago = '0 s') =>
    pool`update files set turn = ${newId()}, begun_at = now() - ${ago}::interval,
                          interruptions = interruptions + (turn is not null)::integer
         where  account_id = ${id} and processed_at is null`;

  test('of one account is had by one at a time; whoever has it processes what the others left', async () => {
    const acme = await company();
    await inTransaction(pool, async (tx) => {
      await takeTurn(tx, acme.id);
      await arrive(acme, 'a.csv', one);
      await processFiles(pool, acme.id, deleteGroupResults, log);
      expect(await waiting(acme)).toMatchObject({ turn: null });
      let begun = 0;
      await processInTurn(pool, acme.id, async () => void begun++, log);
      expect(begun).toBe(0);
    });
    await processInTurn(
      pool,
      acme.id,
      (turnId) => processFiles(pool, acme.id, deleteGroupResults, log, turnId),
      log,
    );
    expect(await waiting(acme)).toBeUndefined();
  });

  test('ends with the connection that has it', async () => {
    const acme = await company();
    const had = inTransaction(pool, async (tx) => {
      await pool`select pg_terminate_backend(${(await takeTurn(tx, acme.id)) as number})`;
      await new Promise(() => {});
    });
    await expect(had).rejects.toMatchObject({ kind: 'unavailable' });
    expect(await isTurnFree(pool, acme.id)).toBe(true);
    await arrive(acme, 'a.csv', one);
    expect((await send(acme, 'b.csv', one)).outcome).toBe('applied');
    expect(await waiting(acme)).toBeUndefined();
  });

  test('that is lost in the middle applies nothing, and is no failure of the file', async () => {
    const acme = await company();
    await arrive(acme, 'a.csv', one);
    const others = openPool(database.url, 3);
    onTestFinished(() => others.end({ timeout: 1 }));
    // The account is locked: the file has been read, and waits to be applied.
    await inTransaction(pool, async (tx) => {
      await lockAccount(tx, acme.id);
      const processing = processInTurn(
        pool,
        acme.id,
        (turnId) => processFiles(others, acme.id, deleteGroupResults, log, turnId),
        log,
      );
      await until(async () => (await waiting(acme))?.turn !== null);
      await pool`select pg_terminate_backend(pid) from pg_locks
                 where locktype = 'advisory' and objid = ${acme.id} and objsubid = 2`;
      await until(() => isTurnFree(pool, acme.id));
      await beginAndDie(acme); // another has taken over
      await processing;
    });
    expect(await peopleOf(acme)).toEqual([]);
    expect(await waiting(acme)).toMatchObject({ failures: 0 });
    await processFiles(pool, acme.id, deleteGroupResults, log);
    expect((await lastReport(acme)).outcome).toBe('applied');
  });

  test('that loses another connection than its own ends, and is no failure of the file', async () => {
    const acme = await company();
    await arrive(acme, 'a.csv', one);
    const others = openPool(database.url, 3);
    onTestFinished(() => others.end({ timeout: 1 }));
    let processing: Promise<void> | undefined;
    await inTransaction(pool, async (tx) => {
      await tx`lock table column_mappings in access exclusive mode`; // which is read when the file has been
      processing = processInTurn(
        pool,
        acme.id,
        (turnId) => processFiles(others, acme.id, deleteGroupResults, log, turnId),
        log,
      );
      await until(async () => {
        const lost = await pool`
          select pg_terminate_backend(pid) from pg_locks
          where  relation = 'column_mappings'::regclass and not granted`;
        return lost.length > 0;
      });
    });
    await processing;
    expect(await isTurnFree(pool, acme.id)).toBe(true);
    expect(await waiting(acme)).toMatchObject({ turn: null, failures: 0 });
    await processFiles(pool, acme.id, deleteGroupResults, log);
    expect((await lastReport(acme)).outcome).toBe('applied');
  });

  test('that was killed three times does not make a good file a bad one', async () => {
    const acme = await company();
    await arrive(acme, 'a.csv', one);
    for (let i = 0; i < 3; i++) await beginAndDie(acme, '1 hour'); // oxlint-disable-line no-await-in-loop -- in order
    await processFiles(pool, acme.id, deleteGroupResults, log);
    expect((await lastReport(acme)).outcome).toBe('applied');
    expect(await pool`select from runs where account_id = ${acme.id}`).toHaveLength(1);
  });

  test('that was killed again and again comes after a pause, and is never given up', async () => {
    const acme = await company();
    await arrive(acme, 'a.csv', one);
    for (let i = 0; i < 3; i++) await beginAndDie(acme); // oxlint-disable-line no-await-in-loop -- in order
    await processFiles(pool, acme.id, deleteGroupResults, log);
    expect(await waiting(acme)).toMatchObject({ interruptions: 2 }); // not begun: it pauses
    for (let i = 0; i < 40; i++) await beginAndDie(acme, '1 day'); // oxlint-disable-line no-await-in-loop -- in order
    await beginAndDie(acme, '59 minutes');
    await processFiles(pool, acme.id, deleteGroupResults, log);
    expect(await waiting(acme)).toMatchObject({ interruptions: 43 });
    await letPass(acme, '1 minute');
    await processFiles(pool, acme.id, deleteGroupResults, log);
    expect((await lastReport(acme)).outcome).toBe('applied');
    expect(logged.at(-1)).toMatchObject({ accountId: acme.id, interruptions: 44 });
  });

  /** Lets time pass for the file that waits first. */
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
      'of a defect',
      new TypeError('undefined is not a function'),
      ['5 seconds', '5 minutes'],
      'Processing this file failed 3 times. See the service log for the reason, then send the file again.',
    ],
  ])(
    'fails when %s, after longer and longer pauses, and those after it come to their turn',
    async (_, error, pauses, message) => {
      const acme = await company();
      await arrive(acme, 'a.csv', one);
      await arrive(acme, 'groups.csv', groupsFile);
      const failing = async (turnId: string) => {
        await pool`update files set turn = ${turnId}, begun_at = now() where account_id = ${acme.id} and name = 'a.csv'`;
        throw error;
      };
      const fail = () => processInTurn(pool, acme.id, failing, log);
      /** Has files processed as they would be, which begins none while the first one pauses. */
      const isPausing = async () => {
        await processFiles(pool, acme.id, deleteGroupResults, log);
        return (
          (await pool`select from files where account_id = ${acme.id} and processed_at is not null`)
            .length === 0
        );
      };
      for (const pause of pauses) {
        // oxlint-disable no-await-in-loop -- one after the other
        await fail();
        await letPass(acme, `${pause}`);
        await pool`update files set begun_at = begun_at + interval '5 s' where account_id = ${acme.id}`;
        expect(await isPausing()).toBe(true);
        await letPass(acme, '5 s');
        // oxlint-enable no-await-in-loop
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
    ['a reader that is killed', killedReader, 1],
    ['a thread that runs out of memory', ended('ERR_WORKER_OUT_OF_MEMORY'), 1],
    ['a defect', new TypeError('undefined is not a function'), 1],
    ['a database that is away', unavailable, 0],
    ['a connection that the database ended', ended('57P01'), 0],
    ['a machine without processes', outOfProcesses, 0],
  ])('that fails by %s counts against the file or not', async (_, error, failures) => {
    const acme = await company();
    await arrive(acme, 'a.csv', one);
    const failing = async (turnId: string) => {
      await pool`update files set turn = ${turnId}, begun_at = now() where account_id = ${acme.id}`;
      throw error;
    };
    await processInTurn(pool, acme.id, failing, log);
    expect(await waiting(acme)).toEqual({ turn: null, failures, interruptions: 0 });
    // It is tried again soon, and succeeds.
    const jobs =
      await pool`select from graphile_worker.jobs where key = ${`files ${acme.id}`} and run_at > now()`;
    expect(jobs).toHaveLength(1);
    await letPass(acme, '1 minute');
    await processFiles(pool, acme.id, deleteGroupResults, log);
    expect((await lastReport(acme)).outcome).toBe('applied');
  });

  test('shows the file and its run as being processed; one that is given up ends its run', async () => {
    const acme = await company();
    await arrive(acme, 'a.csv', one);
    await pool`create table seen as select null::text as outcome, null::text as state where false`;
    await pool.unsafe(`
      create function see() returns trigger language plpgsql as $$ begin
        insert into seen select outcome, null from runs where account_id = ${acme.id};
        return new;
      end $$;
      create trigger see before insert on users for each row execute function see()`);
    await processFiles(pool, acme.id, deleteGroupResults, log);
    await pool.unsafe('drop trigger see on users; drop function see');
    expect((await pool`select outcome from seen`).map((row) => row['outcome'] as string)).toEqual([
      'processing',
    ]);
    await pool`drop table seen`;
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

describe('mails', () => {
  const asked = async ({ id }: Company) => {
    const rows = await pool<{ payload: { to: string } }[]>`
      select payload from graphile_worker._private_jobs j
      join   graphile_worker._private_tasks t on t.id = j.task_id
      where  t.identifier = 'mail file report' and (payload->>'accountId')::integer = ${id}
      order  by j.id`;
    return rows.map(({ payload }) => payload.to);
  };
  const notify = ['a@example.com', 'b@example.com'];

  test('go to every address for faults and held files; for others only when asked for', async () => {
    const acme = await company({ notify });
    await send(acme, 'groups.csv', groupsFile);
    expect(await asked(acme)).toEqual([]);
    await send(acme, 'users.csv', lines(header, '1;Anna;Ask;;nowhere'));
    expect(await asked(acme)).toEqual(notify);
    await inTransaction(pool, (tx) => changeAccount(tx, acme.id, { notifySuccess: true }));
    await send(acme, 'users.csv', three);
    expect(await asked(acme)).toEqual([...notify, ...notify]);
  });
});
