// How values in files are read and reported: groups by their names, unknown values, and errors with their positions.
import type { Detail } from '@soundings/contract/problem.ts';
import { describe, expect, test } from 'vitest';
import { changeAccount } from '../accounts/accounts.ts';
import { inTransaction } from '../db/db.ts';
import { defineAttribute } from '../people/attributes.changes.ts';
import { confirmValues } from './mappings.ts';
import { workbookOf, zipOf } from '../sheets/zip.fixture.ts';
import {
  pool,
  logged,
  type Company,
  company,
  send,
  oldWorkbookWithoutSheets,
  lines,
  groupsFile,
  header,
  peopleOf,
  groupsOf,
  useDatabase,
} from './process.fixture.ts';

useDatabase();

describe('groups that are referred to by name', () => {
  const byName = lines(header, '001;Anna;Ask;;North', '002;Bo;Berg;;south;');

  test('are found if the name is unique, and the report lists them', async () => {
    const acme = await company();
    await send(acme, 'groups.csv', groupsFile);
    const report = await send(acme, 'users.csv', byName);
    expect(report).toMatchObject({ outcome: 'applied', summary: { users: { created: 2 } } });
    // south is an externalId, and North is a name.
    expect(report.warnings).toMatchObject([{ type: 'group by name', row: 2, column: 'Department' }]);
    expect(report.warnings[0]?.message).toContain('"North" is "north"');
    expect((await peopleOf(acme)).map(({ groups }) => groups)).toEqual([['North'], ['South']]);
  });

  test('cause an error that lists the candidates if several groups have the name', async () => {
    const acme = await company();
    await send(acme, 'groups.csv', lines('Id;Name;Parent', 'n1;North;', 'n2;north;', 's;South;'));
    const { outcome, details } = await send(acme, 'users.csv', lines(header, '001;Anna;Ask;;North'));
    expect(outcome).toBe('refused');
    expect(details).toMatchObject([{ type: 'ambiguous name', row: 2, column: 'Department', value: 'North' }]);
    expect(details[0]?.message).toContain('Enter the ID of the right one instead: "n1", "n2"');
  });

  test('are found in the same file before existing groups, also as parents', async () => {
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

  test('keep their externalIds and are not created again by a list of groups without ids', async () => {
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

  test('are not created again if files of users create groups', async () => {
    const acme = await company({ createGroupsFromUsers: true });
    await send(acme, 'groups.csv', groupsFile);
    const report = await send(acme, 'users.csv', lines(header, '001;Anna;Ask;;North|West'));
    expect(report).toMatchObject({ outcome: 'applied', summary: { groups: { created: 1 } } });
    expect(await groupsOf(acme)).toEqual(['Everyone', 'North', 'South', 'West']);
  });
});

describe('unknown values', () => {
  const table = (status: string) =>
    lines(
      'EmployeeID;FirstName;LastName;Status;Role',
      `001;Anna;Ask;active;`,
      `002;Bo;Berg;${status};Wizard`,
    );
  const activity = async (acme: Company) => (await peopleOf(acme)).map(({ active }) => active);

  test('keep existing people as they are, and make new people inactive until the meaning is confirmed', async () => {
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

    const confirm = (meaning: 'yes' | 'no') =>
      inTransaction(pool, (tx) =>
        confirmValues(tx, acme.id, { origin: 'command' }, [
          { field: 'active', value: ' in elternzeit', meaning },
          { field: 'role', value: 'WIZARD', meaning: 'Manager' },
        ]),
      );
    await confirm('yes');
    const again = await send(acme, 'users.csv', table('In Elternzeit'));
    expect(again.warnings.filter(({ type }) => type === 'unknown value')).toEqual([]);
    expect(await activity(acme)).toEqual([true, true]);
    const roles = await pool<{ role: string }[]>`
      select role from users where account_id = ${acme.id} and managed order by external_id`;
    expect(roles.map(({ role }) => role)).toEqual(['User', 'Manager']);
    await send(acme, 'users.csv', table('Sabbatical'));
    expect(await activity(acme)).toEqual([true, true]);
    await confirm('no');
    await send(acme, 'users.csv', table('IN ELTERNZEIT'));
    expect(await activity(acme)).toEqual([true, false]);
  });

  test('in phone numbers without a prefix are read in the default country of the account', async () => {
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

  test('in one of two id columns remove no one, because the column with existing ids is read', async () => {
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

describe('errors', () => {
  test('are reported with row, column, value and what to do, and nothing is applied', async () => {
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

  test('are stored in the run with their positions but without personal values', async () => {
    const acme = await company();
    const people = (department: string) =>
      lines(
        'EmployeeID;FirstName;LastName;Email;Phone;Manager;Department',
        `1;Anna;Ask;secret address;ask secretly;Secret Boss;${department}`,
        `2;Bo;Berg;;;1;${department}`,
      );
    for (const outcome of ['refused', 'applied']) {
      const report = await send(acme, 'users.csv', people(outcome === 'refused' ? 'nowhere' : ''));
      expect(report.warnings.map(({ value }: Detail) => value)).toEqual(
        expect.arrayContaining(['secret address', 'ask secretly', 'Secret Boss']),
      );
      const [run] = await pool`
        select source, file, outcome, token_id, summary, warnings, details, message
        from   runs where account_id = ${acme.id} order by at desc limit 1`;
      expect(run).toMatchObject({ source: 'file', file: 'users.csv', outcome, token_id: acme.tokenId });
      expect(run?.['warnings']).toContainEqual(
        expect.objectContaining({ type: 'ignored value', row: 2, column: 'Email' }),
      );
      expect(JSON.stringify(run)).not.toMatch(/secret/i);
    }
  });

  test('in optional cells keep existing values, and are reported and mailed as ignored', async () => {
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
    const warned = report.warnings.map(({ type, column, value, count }: Detail) => [
      type,
      column,
      value,
      count,
    ]);
    expect(warned).toEqual(
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

  test('in the name of a manager take no group from anyone, including people named in other rows', async () => {
    const acme = await company();
    await send(acme, 'groups.csv', groupsFile);
    const people = (manager: string) =>
      lines(
        'EmployeeID;FirstName;LastName;Department;Manager',
        '1;Anna;Ask;top;',
        '2;Bo;Berg;north;Anna Ask',
        `3;Cilla;Chen;south;${manager}`,
      );
    const managedGroups = async () => {
      const rows = await pool<{ groups: string[] }[]>`
        select array(select g.external_id from memberships m join groups g using (account_id, group_id)
                     where m.account_id = u.account_id and m.user_id = u.user_id and m.kind = 'adminOf'
                     order by 1) as groups
        from   users u where account_id = ${acme.id} and managed order by external_id`;
      return rows.map((row) => row.groups);
    };
    await send(acme, 'users.csv', people('Anna Ask'));
    expect(await managedGroups()).toEqual([['north', 'south'], [], []]);
    const report = await send(acme, 'users.csv', people('Anna Aks'));
    expect(report).toMatchObject({ outcome: 'applied', summary: { users: { updated: 0 } } });
    expect(report.warnings).toMatchObject([{ type: 'invalid value', row: 4, value: 'Anna Aks' }]);
    expect(await managedGroups()).toEqual([['north', 'south'], [], []]);
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
    expect(await managedGroups()).toEqual([['north'], [], []]);
    await send(acme, 'users.csv', people('Bo Berg').replaceAll('south', 'top'));
    expect(await managedGroups()).toEqual([['north'], ['top'], []]);
  });

  test('include a warning about new people without a group, only once', async () => {
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
          '2 new people do not belong to a group. Enter their groups in a column with the Department header.',
      },
    ]);
    expect((await send(acme, 'users.csv', text)).warnings).toEqual([]);
  });

  test('list a missing column once, with the columns that were found', async () => {
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
          '"Department". Ignored: "Employee name". Add a column with the LastName header, or choose the right column in ' +
          'the console.',
      },
      expect.objectContaining({ type: 'missing field', row: 1502, column: 'FirstName' }),
    ]);
  });

  test('of a reader say what to do, and their cause is logged', async () => {
    const acme = await company();
    const book = Buffer.from('0908080000051000', 'hex'); // an old workbook that ends after its first bytes
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

  test('say that a file cannot be read or has an unknown layout', async () => {
    const acme = await company();
    const odd = await send(acme, 'odd.csv', lines('This;That', '1;2'));
    expect([odd.outcome, odd.details[0]?.type]).toEqual(['refused', 'unknown layout']);
    const torn = await send(acme, 'torn.xls', oldWorkbookWithoutSheets());
    expect([torn.outcome, torn.details[0]?.type]).toEqual(['refused', 'unreadable file']);
  });
});
