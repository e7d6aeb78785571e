// What becomes of a file: the organization is made to match it, or it says why not, in the order in which files arrived.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changeAccount, createAccount, type AccountSettings } from '../accounts/accounts.ts';
import { createToken } from '../accounts/tokens.ts';
import { newId } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import { inTransaction, openPool, type Pool } from '../db/db.ts';
import { createGroup } from '../people/groups.ts';
import { createUser, defineAttribute } from '../people/people.ts';
import { forgetGroups } from '../results/publish.ts';
import { listRuns } from '../sync/runs.ts';
import { pushOrganization } from '../sync/sync.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { installJobs } from '../testing/jobs.ts';
import type { FileReport } from './process.sql.ts';
import { approveRun, processFiles } from './process.ts';
import { openUpload } from './store.ts';

let database: TestDatabase;
let pool: Pool;
beforeAll(async () => {
  database = await openTestDatabase();
  pool = database.pool;
  await installJobs(database.url);
});
afterAll(() => database.close());

/** What was logged. */
const logged: unknown[] = [];
const log = { warn: (about: unknown) => logged.push(about) } as unknown as Log;

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
  await processFiles(pool, acme.id, forgetGroups, log);
  return lastReport(acme);
}

async function lastReport({ id }: Company): Promise<FileReport> {
  const [row] = await pool<{ report: FileReport }[]>`
    select report from files where account_id = ${id} and report is not null order by arrival desc limit 1`;
  return row!.report;
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
    forgetGroups,
  );

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
    const refused = await send(acme, 'users.csv', withRoles('Auditor'));
    expect([refused.outcome, refused.details?.[0]?.column]).toEqual(['refused', 'Role']);
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
        '002;Bo;Berg;not an address;north',
        '003;Cilla;Chen;ANNA@example.com;east',
      ),
    );
    expect(report.outcome).toBe('refused');
    expect(report.details).toEqual([
      expect.objectContaining({ type: 'invalid email', row: 3, column: 'Email', value: 'not an address' }),
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
    expect(report.details[2]?.message).toContain('row 2');
    expect(await peopleOf(acme)).toEqual([]);
  });

  test('a run keeps their places, and no value of a person', async () => {
    const acme = await company();
    await send(acme, 'users.csv', lines('EmployeeID;FirstName;LastName;Email', '1;Anna;Ask;secret address'));
    const [run] = await listRuns(pool, acme.id, 1);
    expect(run).toMatchObject({
      source: 'file',
      file: 'users.csv',
      outcome: 'refused',
      tokenId: acme.tokenId,
    });
    expect(run?.details).toEqual([
      expect.objectContaining({ type: 'invalid email', row: 2, column: 'Email' }),
    ]);
    expect(JSON.stringify(run)).not.toContain('secret address');
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
        message: '2 new people are in no group. Name their groups in a column with the header Department.',
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
          'No column gives the last name, which new people need. Found: "EmployeeID", "FirstName", "Employee name", ' +
          '"Department". Not read: "Employee name". Add a column with the header LastName, or say in the console which ' +
          'column it is.',
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
        'users.xls has 1 fault, so nothing was changed. The workbook is damaged, perhaps cut off on its way. ' +
        'Open it in Excel, save it again as .xlsx, and send that.',
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
    const torn = await send(acme, 'torn.xlsx', 'PK\u0003\u0004 and then no workbook at all');
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
    expect(await approveRun(pool, acme.id, report.runId!, forgetGroups)).toMatchObject({
      outcome: 'applied',
      details: [],
    });
    expect((await peopleOf(acme)).map(({ id, groups }) => [id, groups])).toEqual([['001', ['South']]]);
    expect((await listRuns(pool, acme.id, 1))[0]).toMatchObject({ id: report.runId, outcome: 'applied' });
    expect(await lastReport(acme)).toMatchObject({ outcome: 'applied' });
    await expect(approveRun(pool, acme.id, report.runId!, forgetGroups)).rejects.toMatchObject({
      kind: 'conflict',
      code: 'run not held',
    });
  });

  test('approved by two at once, it is applied once', async () => {
    const { acme, report } = await held();
    const ends = await Promise.allSettled([
      approveRun(pool, acme.id, report.runId!, forgetGroups),
      approveRun(pool, acme.id, report.runId!, forgetGroups),
    ]);
    expect(ends.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });

  test('is refused when the state has moved since, and stays held', async () => {
    const { acme, report } = await held();
    await push(acme, { users: [{ externalId: '001', firstName: 'Annie', lastName: 'Ask' }] }).catch(() => {});
    await pool`update users set first_name = 'Annie', fingerprint = null
               where account_id = ${acme.id} and external_id = '001'`;
    const before = await peopleOf(acme);
    await expect(approveRun(pool, acme.id, report.runId!, forgetGroups)).rejects.toMatchObject({
      kind: 'conflict',
      code: 'plan changed',
    });
    expect(await peopleOf(acme)).toEqual(before);
    expect((await listRuns(pool, acme.id, 50)).find(({ id }) => id === report.runId)?.outcome).toBe('held');
  });

  test('is approved only in its own account', async () => {
    const { report } = await held();
    const other = await company();
    await expect(approveRun(pool, other.id, report.runId!, forgetGroups)).rejects.toMatchObject({
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
  await Promise.all(others.map((each) => processFiles(each, acme.id, forgetGroups, log).catch(() => {})));
  await processFiles(pool, acme.id, forgetGroups, log);
  await Promise.all(others.map((each) => each.end()));
  const changes = await pool<{ to: string }[]>`
    select coalesce(fields->'firstName'->>'to', 'A') as to
    from   run_changes where account_id = ${acme.id} order by run_id, position`;
  expect(changes.map(({ to }) => to)).toEqual(['A', 'B', 'C']);
  expect(await peopleOf(acme)).toMatchObject([{ name: 'C Ask' }]);
});

test('a file that ends its process again and again is given up, and those after it come to their turn', async () => {
  const acme = await company();
  await arrive(acme, 'a.csv', three);
  await pool`update files set attempts = 3 where account_id = ${acme.id}`;
  await arrive(acme, 'groups.csv', groupsFile);
  await processFiles(pool, acme.id, forgetGroups, log);
  const outcomes =
    await pool`select report->>'outcome' as o from files where account_id = ${acme.id} order by arrival`;
  expect(outcomes.map(({ o }) => o as string)).toEqual(['failed', 'applied']);
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
