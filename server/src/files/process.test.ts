// How files of users and groups change the organization: who is created, changed and removed, limits and approval, and mails.
import { describe, expect, test } from 'vitest';
import { changeAccount, lockAccount } from '../accounts/accounts.ts';
import { inTransaction } from '../db/db.ts';
import { createGroup } from '../people/groups.ts';
import { createUser } from '../people/users.ts';
import { defineAttribute } from '../people/attributes.changes.ts';
import { deleteGroupResults } from '../results/published-figures.ts';
import { listRuns } from '../sync/runs.ts';
import { approveRun } from './approval.ts';
import { processFiles } from './queue.ts';
import {
  arrive,
  log,
  pool,
  type Company,
  company,
  send,
  lastReport,
  lines,
  groupsFile,
  header,
  three,
  peopleOf,
  groupsOf,
  push,
  useDatabase,
} from './process.fixture.ts';
import { refuseOutdated } from '../scim/applying/removals.ts';
import { until } from '../testing/until.ts';

useDatabase();

describe('files of groups and users', () => {
  test('create the organization, and change nothing when sent again', async () => {
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

  test('remove everyone who is not in the file, and keep manually created users and groups', async () => {
    const acme = await company();
    await send(acme, 'groups.csv', groupsFile);
    await send(acme, 'users.csv', three);
    await inTransaction(pool, (tx) => createGroup(tx, acme.id, { name: 'Manual', externalId: 'manual' }));
    const report = await send(acme, 'users.csv', lines(header, '001;Anna;Ask;;manual'));
    expect(report.summary?.users).toMatchObject({ updated: 1, deleted: 2 });
    expect(await peopleOf(acme)).toEqual([
      { id: '001', name: 'Anna Ask', email: 'anna@example.com', active: true, groups: ['Manual'] },
    ]);
    await send(acme, 'groups.csv', lines('externalId;name', 'north;North'));
    expect(await groupsOf(acme)).toEqual(['North']);
    expect(await pool`select from users where account_id = ${acme.id} and not managed`).toHaveLength(1);
  });

  test('only add and update if the account has this setting', async () => {
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

test('a file that only adds and updates gives no one the address of a person who is not in it', async () => {
  const acme = await company({ filesPartial: true });
  await send(acme, 'groups.csv', groupsFile);
  await send(acme, 'users.csv', three);
  await inTransaction(pool, (tx) =>
    createUser(tx, acme.id, { firstName: 'Mia', lastName: 'Manual', email: 'mia@example.com' }),
  );
  const taken = async (email: string) =>
    (await send(acme, 'more.csv', lines(header, `009;Dan;Duva;${email};south`))).details.map(
      ({ type, message }) => [type, message],
    );
  expect(await taken('MIA@example.com')).toEqual([
    ['duplicate email', 'A manually created user already has this email address.'],
  ]);
  expect(await taken('anna@example.com')).toEqual([['duplicate email', expect.any(String)]]);
  expect((await peopleOf(acme)).map(({ id }) => id)).not.toContain('009');
});

describe('the Auditor role', () => {
  const rolesOf = async ({ id }: Company) => {
    const rows = await pool<{ id: string; role: string }[]>`
      select external_id as id, role from users where account_id = ${id} and managed order by 1`;
    return Object.fromEntries(rows.map((row) => [row.id, row.role]));
  };
  const managersFile = (...cells: string[]) =>
    lines('EmployeeID;FirstName;LastName;Department;Is manager', ...cells);

  test('is kept if a file only infers who is a manager, is replaced by a role in a cell, and cannot be given by a cell', async () => {
    const acme = await company();
    await send(acme, 'groups.csv', groupsFile);
    await send(acme, 'users.csv', three);
    await pool`update users set role = 'Auditor', fingerprint = null
               where account_id = ${acme.id} and external_id in ('001', '002')`;
    await send(
      acme,
      'users.csv',
      managersFile('001;Anna;Ask;north;no', '002;Bo;Berg;north;yes', '003;Cilla;Chen;south;no'),
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
  test('keeps the existing value in any column', async () => {
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

  test('causes an error if a new person requires the value', async () => {
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

describe('unknown departments', () => {
  test('are created if the account has this setting, and never removed by files of users', async () => {
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

  test('are errors without this setting', async () => {
    const acme = await company();
    const report = await send(acme, 'users.csv', lines(header, '1;Anna;Ask;;nowhere'));
    expect(report.details).toEqual([
      expect.objectContaining({ type: 'unknown group', row: 2, value: 'nowhere' }),
    ]);
  });
});

describe('a file above a limit', () => {
  /** Sends a file that would remove two of three people, but only one removal is allowed. */
  async function pendingFile() {
    const acme = await company({ maxUsersDeleted: 1 });
    await send(acme, 'groups.csv', groupsFile);
    await send(acme, 'users.csv', three);
    const report = await send(acme, 'users.csv', lines(header, '001;Anna;Ask;anna@example.com;south'));
    return { acme, report, before: await peopleOf(acme) };
  }

  test('waits for approval with its changes listed, and nothing is applied', async () => {
    const { acme, report, before } = await pendingFile();
    expect(report).toMatchObject({ outcome: 'pending', summary: { users: { updated: 1, deleted: 2 } } });
    expect(report.details).toEqual([
      expect.objectContaining({ type: 'limit exceeded', setting: 'maxUsersDeleted', limit: 1, count: 2 }),
    ]);
    expect(before).toHaveLength(3);
    const changes = await pool`
      select action from run_changes where account_id = ${acme.id} and run_id = ${report.runId!} order by position`;
    expect(changes.map(({ action }) => action)).toEqual(['update', 'delete', 'delete']);
  });

  test('is applied exactly once after approval', async () => {
    const { acme, report } = await pendingFile();
    expect(
      await approveRun(pool, acme.id, report.runId!, { deleteGroupResults, refuseOutdated }),
    ).toMatchObject({
      outcome: 'applied',
      details: [],
    });
    expect((await peopleOf(acme)).map(({ id, groups }) => [id, groups])).toEqual([['001', ['South']]]);
    expect((await listRuns(pool, acme.id, 1))[0]).toMatchObject({ id: report.runId, outcome: 'applied' });
    expect(await lastReport(acme)).toMatchObject({ outcome: 'applied' });
    await expect(
      approveRun(pool, acme.id, report.runId!, { deleteGroupResults, refuseOutdated }),
    ).rejects.toMatchObject({
      kind: 'conflict',
      code: 'run not pending',
    });
  });

  test('is applied once if two people approve it at the same time', async () => {
    const { acme, report } = await pendingFile();
    const results = await Promise.allSettled([
      approveRun(pool, acme.id, report.runId!, { deleteGroupResults, refuseOutdated }),
      approveRun(pool, acme.id, report.runId!, { deleteGroupResults, refuseOutdated }),
    ]);
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });

  test('cannot be approved if the organization has changed since, and keeps waiting', async () => {
    const { acme, report } = await pendingFile();
    await push(acme, { users: [{ externalId: '001', firstName: 'Annie', lastName: 'Ask' }] }).catch(() => {});
    await pool`update users set first_name = 'Annie', fingerprint = null
               where account_id = ${acme.id} and external_id = '001'`;
    const before = await peopleOf(acme);
    await expect(
      approveRun(pool, acme.id, report.runId!, { deleteGroupResults, refuseOutdated }),
    ).rejects.toMatchObject({
      kind: 'conflict',
      code: 'plan changed',
    });
    expect(await peopleOf(acme)).toEqual(before);
    expect((await listRuns(pool, acme.id, 50)).find(({ id }) => id === report.runId)?.outcome).toBe(
      'pending',
    );
  });

  /** Expects that a run can't be approved because of a newer file, and that nothing is applied. */
  async function expectReplaced(acme: Company, runId: string) {
    const before = await peopleOf(acme);
    await expect(
      approveRun(pool, acme.id, runId, { deleteGroupResults, refuseOutdated }),
    ).rejects.toMatchObject({
      code: 'plan changed',
      message: expect.stringContaining('A newer file with the name "users.csv"'),
    });
    expect(await peopleOf(acme)).toEqual(before);
  }
  const outcomeOf = async (acme: Company, runId: string) =>
    (await listRuns(pool, acme.id, 50)).find(({ id }) => id === runId)?.outcome;

  test('cannot be approved from when a newer file with its name waits, and ends when that is processed', async () => {
    const { acme, report } = await pendingFile();
    const runId = report.runId!;
    await arrive(acme, 'users.csv', three);
    await expectReplaced(acme, runId);
    expect(await outcomeOf(acme, runId)).toBe('pending');
    await processFiles(pool, acme.id, deleteGroupResults, log);
    expect(await lastReport(acme)).toMatchObject({ outcome: 'applied' });
    expect(await outcomeOf(acme, runId)).toBe('refused');
    const [old] = await pool`select report from files where account_id = ${acme.id} and run_id = ${runId}`;
    expect(old).toMatchObject({
      report: { outcome: 'refused', message: expect.stringContaining('newer file') },
    });
    expect(await pool`select 1 from pending_runs where account_id = ${acme.id}`).toEqual([]);
    await expectReplaced(acme, runId);
    const audited = await pool`
      select action from audit_entries where account_id = ${acme.id} and subject = ${runId} and action = 'run refused'`;
    expect(audited).toHaveLength(1);
  });

  test('cannot be approved if a newer file arrives while the approval waits for another run', async () => {
    const { acme, report } = await pendingFile();
    const approval = await inTransaction(pool, async (tx) => {
      await lockAccount(tx, acme.id);
      const waiting = approveRun(pool, acme.id, report.runId!, { deleteGroupResults, refuseOutdated });
      waiting.catch(() => {});
      await until(async () => {
        const locks = await pool`
          select from pg_stat_activity
          where  datname = current_database() and wait_event_type = 'Lock' and query like '%from accounts%'`;
        return locks.length > 0;
      });
      await arrive(acme, 'users.csv', three);
      return { waiting };
    });
    await expect(approval.waiting).rejects.toMatchObject({ code: 'plan changed' });
    expect(await peopleOf(acme)).toHaveLength(3);
  });

  test('cannot be approved after a newer file with its name had errors', async () => {
    const { acme, report } = await pendingFile();
    expect(await send(acme, 'users.csv', 'Nonsense\n1\n')).toMatchObject({ outcome: 'refused' });
    expect(await outcomeOf(acme, report.runId!)).toBe('refused');
    await expectReplaced(acme, report.runId!);
  });

  test('leaves only the newer run to approve if the newer file exceeds a limit, too', async () => {
    const { acme, report } = await pendingFile();
    const newer = await send(acme, 'users.csv', lines(header, '002;Bo;Berg;bo@example.com;south'));
    expect(newer).toMatchObject({ outcome: 'pending' });
    await expectReplaced(acme, report.runId!);
    const approved = await approveRun(pool, acme.id, newer.runId!, { deleteGroupResults, refuseOutdated });
    expect(approved).toMatchObject({ outcome: 'applied' });
    expect((await peopleOf(acme)).map(({ id }) => id)).toEqual(['002']);
    await expect(
      approveRun(pool, acme.id, newer.runId!, { deleteGroupResults, refuseOutdated }),
    ).rejects.toMatchObject({ code: 'run not pending' });
  });

  test('can be approved after a file with another name, a refused upload and a dry run', async () => {
    const { acme, report } = await pendingFile();
    await send(acme, 'groups.csv', groupsFile);
    await expect(arrive(acme, 'users.csv', '')).rejects.toMatchObject({ code: 'file validation' });
    await arrive(acme, 'users.csv', three);
    await pool`update files set is_dry_run = true where account_id = ${acme.id} and processed_at is null`;
    await processFiles(pool, acme.id, deleteGroupResults, log);
    expect(await lastReport(acme)).toMatchObject({ outcome: 'validated' });
    await approveRun(pool, acme.id, report.runId!, { deleteGroupResults, refuseOutdated });
    expect((await peopleOf(acme)).map(({ id }) => id)).toEqual(['001']);
  });

  test('can be approved only in its own account', async () => {
    const { report } = await pendingFile();
    const other = await company();
    await expect(
      approveRun(pool, other.id, report.runId!, { deleteGroupResults, refuseOutdated }),
    ).rejects.toMatchObject({
      kind: 'not_found',
    });
  });
});

test('an account that only checks files gets a report, and nothing is applied', async () => {
  const acme = await company({ applyFiles: false });
  const report = await send(acme, 'groups.csv', groupsFile);
  expect(report).toMatchObject({ outcome: 'validated', summary: { groups: { created: 3 } } });
  expect(await groupsOf(acme)).toEqual([]);
});

describe('mails', () => {
  const recipients = async ({ id }: Company) => {
    const rows = await pool<{ payload: { to: string } }[]>`
      select payload from graphile_worker._private_jobs j
      join   graphile_worker._private_tasks t on t.id = j.task_id
      where  t.identifier = 'mail file report' and (payload->>'accountId')::integer = ${id}
      order  by j.id`;
    return rows.map(({ payload }) => payload.to);
  };
  const notify = ['a@example.com', 'b@example.com'];

  test('go to every address for errors and files that wait for approval, and for other files only if enabled', async () => {
    const acme = await company({ notify });
    await send(acme, 'groups.csv', groupsFile);
    expect(await recipients(acme)).toEqual([]);
    await send(acme, 'users.csv', lines(header, '1;Anna;Ask;;nowhere'));
    expect(await recipients(acme)).toEqual(notify);
    await inTransaction(pool, (tx) => changeAccount(tx, acme.id, { notifySuccess: true }));
    await send(acme, 'users.csv', three);
    expect(await recipients(acme)).toEqual([...notify, ...notify]);
  });
});
