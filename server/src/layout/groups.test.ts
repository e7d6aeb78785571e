// Which groups people belong to and manage according to a sheet. Each rule has a small table.
import { describe, expect, test } from 'vitest';
import { type User, sheet, lay, layValid, only } from './layout.fixture.ts';

describe('groups of people', () => {
  const memberOf = (table: string) => only(layValid(table).users).accessInfo?.['memberOf'];

  test('can be listed in one cell, and in repeated, numbered and different columns', () => {
    expect(memberOf('externalId | memberOf \n E1 | D1; D2')).toEqual(['D1', 'D2']);
    expect(
      lay([
        ['externalId', 'memberOf'],
        ['E1', 'D1|D2\r\nD3;;D1'],
      ]).users?.[0]?.accessInfo,
    ).toEqual({
      memberOf: ['D1', 'D2', 'D3'],
    });
    expect(memberOf('Employee ID | Department | Department \n E1 | D1 | D2')).toEqual(['D1', 'D2']);
    expect(memberOf('Employee ID | Department 1 | Department 02 \n E1 | D1 | D2')).toEqual(['D1', 'D2']);
    expect(memberOf('Employee ID | memberOf | Team | Unit \n E1 | D1 | T | U')).toEqual(['D1', 'T', 'U']);
    expect(memberOf('Employee ID | Avdelning | Abteilung 2 \n E1 | D1 | D2')).toEqual(['D1', 'D2']);
  });

  test.each([
    'Employee ID | Department ID | Department name',
    'Employee ID | Department | Department name',
    'Employee ID | Department no | Department',
    'Employee ID | AvdelningsID | Avdelning',
    'Employee ID | Department 1 | Department name 1',
    'Employee ID | memberOf | Department name',
  ])('have their names in a column next to the ids: %s', (headers) => {
    const { laidOut, users } = layValid(`${headers} \n E1 | D1 | Sales; North`);
    expect(only(users).accessInfo).toEqual({ memberOf: ['D1'] });
    expect([...laidOut!.named]).toEqual([
      ['D1', { name: 'Sales; North', path: '/data/users/0/accessInfo/memberOf/0' }],
    ]);
  });

  test('match names to ids in order, within a cell and across columns', () => {
    const { laidOut } = layValid(`
      Employee ID | Department ID | Department name | Department ID | Department name | Team ID | Team name
      E1          | D1; D2        | One; Two        | D3            | Three           | T1      |`);
    expect([...laidOut!.named].map(([id, { name }]) => [id, name])).toEqual([
      ['D1', 'One'],
      ['D2', 'Two'],
      ['D3', 'Three'],
      ['T1', 'T1'],
    ]);
  });

  test('match names to ids by number in numbered columns', () => {
    const { laidOut } = layValid(`
      Employee ID | Department ID 2 | Department name 1 | Department name 2 | Department ID 1
      E1          | D2              | One               | Two               | D1`);
    expect([laidOut?.named.get('D1')?.name, laidOut?.named.get('D2')?.name]).toEqual(['One', 'Two']);
  });

  test('use the names as ids if there are only names', () => {
    const { laidOut, users } = layValid(`
      Employee ID | Department ID | Department name
      E1          |               | Sales
      E2          | D1            | North`);
    expect(users?.map(({ accessInfo }) => accessInfo?.['memberOf'])).toEqual([['Sales'], ['D1']]);
    expect(laidOut?.named.get('Sales')?.name).toBe('Sales');
    expect(memberOf('Employee ID | Department name \n E1 | Sales; North')).toEqual(['Sales', 'North']);
  });

  test('cause a warning if names cannot be matched to ids, or differ for the same id', () => {
    const uneven = lay('Employee ID | Department ID | Department name \n E1 | D1; D2 | One; Two; Three');
    expect(uneven.warnings).toMatchObject([{ type: 'invalid value', row: 2, column: 'Department name' }]);
    expect(uneven.laidOut?.named.get('D1')?.name).toBe('D1');
    const { laidOut, warnings } = lay(`
      Employee ID | Department ID | Department name
      E0          | D1            |
      E1          | D1            | Sales
      E2          | D1            | Selling
      E3          | D1            | Sale`);
    expect(warnings).toMatchObject([{ type: 'conflicting rows', row: 4 }]);
    expect(warnings).toHaveLength(1);
    expect(laidOut?.named.get('D1')).toEqual({ name: 'Sales', path: '/data/users/0/accessInfo/memberOf/0' });
  });

  test('are also read for adminOf, inheritedAdminOf and interestOf', () => {
    expect(
      only(layValid('externalId | admin_of | inheritedAdminOf | interest of \n E1 | A;B | C | D').users)
        .accessInfo,
    ).toEqual({
      adminOf: ['A', 'B'],
      inheritedAdminOf: ['C'],
      interestOf: ['D'],
    });
  });

  test('cause an error if a file contains too many, and the rest of them is not read', () => {
    const many = 'D1;'.repeat(10_000);
    const { faults, users } = lay([
      ['Employee ID', 'Department'],
      ...Array.from({ length: 200 }, (_, i) => [`E${i}`, many]),
    ]);
    expect(faults).toMatchObject([{ type: 'too many values', row: 102 }]);
    expect(users).toHaveLength(200);
  });
});

describe('managers', () => {
  const access = (users: User[] | undefined) =>
    Object.fromEntries((users ?? []).map(({ externalId, accessInfo }) => [externalId, accessInfo]));

  test('IsManager "yes" makes a Manager of the groups in that row, "no" a User, and an empty cell changes nothing', () => {
    const { laidOut, users } = layValid(`
      Employee ID | IsManager | Department
      E1          | yes       | D1;D2
      E1          | no        | D3
      E2          | no        | D1
      E3          |           | D1`);
    expect(access(users)).toEqual({
      E1: { role: 'Manager', memberOf: ['D1', 'D2', 'D3'], adminOf: ['D1', 'D2'] },
      E2: { role: 'User', memberOf: ['D1'], adminOf: [] },
      E3: { memberOf: ['D1'] },
    });
    expect([...laidOut!.inferredRoles]).toEqual([0, 1]);
  });

  test('a role column overrides the inferred role, and groups of an adminOf column are added', () => {
    const { laidOut, users } = layValid(`
      Employee ID | IsManager | Role          | Department | Admin of
      E1          | x         | Administrator | D1         | D9
      E2          | nej       |               | D1         | D8`);
    expect(access(users)).toEqual({
      E1: { role: 'Administrator', memberOf: ['D1'], adminOf: ['D9', 'D1'] },
      E2: { role: 'User', memberOf: ['D1'], adminOf: ['D8'] },
    });
    expect([...laidOut!.inferredRoles]).toEqual([1]);
  });

  test('a Manager column with only yes and no is read like IsManager', () => {
    const { users } = layValid(
      'Anställningsnummer | Chef | Avdelning \n E1 | Ja | D1 \n E2 | | D1 \n E3 | nej | D2',
    );
    expect(access(users)).toEqual({
      E1: { role: 'Manager', memberOf: ['D1'], adminOf: ['D1'] },
      E2: { memberOf: ['D1'] },
      E3: { role: 'User', memberOf: ['D2'], adminOf: [] },
    });
  });

  test('people named in a Manager column manage the groups of those rows, and everyone else manages none', () => {
    const { users } = layValid(`
      Employee ID | Email         | Manager       | Department
      E1          | a@example.com |               | D0
      E2          |               | A@example.com | D1
      E3          |               | E1; E2        | D2
      1           |               | E2            | D1`);
    expect(access(users)).toEqual({
      E1: { role: 'Manager', memberOf: ['D0'], adminOf: ['D1', 'D2'] },
      E2: { role: 'Manager', memberOf: ['D1'], adminOf: ['D2', 'D1'] },
      E3: { role: 'User', memberOf: ['D2'], adminOf: [] },
      1: { role: 'User', memberOf: ['D1'], adminOf: [] },
    });
  });

  test('an id that looks like "yes" is read as an id', () => {
    const { users } = layValid('Employee ID | Manager | Department \n 1 | | D0 \n 2 | 1 | D1');
    expect(access(users)).toMatchObject({ 1: { role: 'Manager', adminOf: ['D1'] }, 2: { role: 'User' } });
  });

  test('a manager who is not in the file causes a warning', () => {
    const { users, faults, warnings } = lay(`
      Employee ID | Manager | Department
      E1          |         | D0
      E2          | E1      | D1
      E3          | E9; E1  | D1`);
    expect(faults).toEqual([]);
    expect(access(users)).toMatchObject({ E1: { adminOf: ['D1'] } });
    expect(warnings).toMatchObject([
      { type: 'invalid value', row: 4, column: 'Manager', value: 'E9', count: 1 },
    ]);
  });

  test('a Manager column without any person of the file changes no one and causes one warning', () => {
    const { users, warnings } = lay(
      'Employee ID | Manager | Department \n E1 | Bo Ek | D0 \n E2 | Bo Ek | D1',
    );
    expect(access(users)).toEqual({ E1: { memberOf: ['D0'] }, E2: { memberOf: ['D1'] } });
    expect(warnings).toMatchObject([{ type: 'invalid value', row: 2, column: 'Manager' }]);
    expect(warnings).toHaveLength(1);
  });

  test.each(['Anna Berg', 'Berg, Anna', 'anna  berg', 'Anna Berg (E1)', 'A. Berg (E1)'])(
    '%s identifies the manager if only one person has that name',
    (name) => {
      const { users } = layValid(`
        Employee ID | First name | Last name | Department | Manager
        E1          | Anna       | Berg      | D1         | NO_MANAGER
        E2          | Bo         | Ek        | D2         | ${name}`);
      expect(users?.map(({ accessInfo }) => accessInfo?.['adminOf'])).toEqual([['D2'], []]);
    },
  );

  test('ignores names that two people or no one has, with one warning each, and no one loses a group', () => {
    const { users, faults, warnings } = lay(`
      Employee ID | First name | Last name | Department | Manager
      E1          | Anna       | Berg      | D1         | E2
      E2          | Bo         | Ek        | D2         | Anna Berg
      E3          | Anna       | Berg      | D3         | Nobody Here
      E4          | Cilla      | Chen      | D4         | Berg, Anna
      E5          | Dan        | Dahl      | D5         | nobody here`);
    expect(faults).toEqual([]);
    expect(access(users)).toEqual({
      E1: { memberOf: ['D1'] },
      E2: { role: 'Manager', memberOf: ['D2'], adminOf: ['D1'] },
      E3: { memberOf: ['D3'] },
      E4: { memberOf: ['D4'] },
      E5: { memberOf: ['D5'] },
    });
    expect(warnings).toMatchObject(
      [
        { type: 'invalid value', row: 4, column: 'Manager', value: 'Nobody Here', count: 2 },
        { type: 'ambiguous name', row: 3, column: 'Manager', value: 'Anna Berg', count: 1 },
        { type: 'ambiguous name', row: 5, column: 'Manager', value: 'Berg, Anna', count: 1 },
      ].toSorted((a, b) => b.count - a.count),
    );
    expect(warnings[0]?.message).toContain('in rows 4, 6');
    expect(warnings[1]?.message).toContain('2 people in this file have that full name (rows 2, 4)');
    // Messages of runs are kept longer than data about people may be kept.
    expect(warnings.map(({ message }) => message).join()).not.toMatch(/Nobody Here|Berg,|"Anna Berg"/);
  });

  test('a placeholder means that there is no manager', () => {
    for (const none of ['-', 'n/a', 'saknas', 'keine', 'None']) {
      const { users, warnings } = lay(`
        Employee ID | Department | Manager
        E1          | D1         | ${none}
        E2          | D2         | E1`);
      expect(access(users)).toEqual({
        E1: { role: 'Manager', memberOf: ['D1'], adminOf: ['D2'] },
        E2: { role: 'User', memberOf: ['D2'], adminOf: [] },
      });
      expect(warnings).toMatchObject([{ type: 'placeholder', row: 2, column: 'Manager', count: 1 }]);
      const flags = lay(`Employee ID | Department | Manager \n E1 | D1 | yes \n E2 | D2 | ${none}`);
      expect(access(flags.users)).toMatchObject({ E1: { role: 'Manager', adminOf: ['D1'] } });
    }
  });

  test('a name of two people causes no warning if another column has the id', () => {
    const { users } = layValid(`
      Employee ID | First name | Last name | Department | Manager       | Manager ID
      E1          | Anna       | Berg      | D1         |               |
      E2          | Bo         | Ek        | D2         | Anna Berg     | E1
      E3          | Anna       | Berg      | D3         | Anna Berg (E1)| `);
    expect(users?.[0]?.accessInfo?.['adminOf']).toEqual(['D2', 'D3']);
  });

  test('ignores names of managers next to their ids', () => {
    const { users } = layValid(`
      Employee ID | Manager | Manager ID | Department
      E1          |         |            | D0
      E2          | Bo Ek   | E1         | D1`);
    expect(access(users)).toMatchObject({ E1: { role: 'Manager', adminOf: ['D1'] } });
  });

  test('managers can be listed with the groups', () => {
    const groups =
      'Department ID | Department name | Manager e-mail | Head \n D1 | Sales | a@example.com | \n D2 | North | | E2';
    const { users } = layValid([
      sheet('externalId | email \n E1 | a@example.com \n E2 | \n E3 |', 'People'),
      sheet(groups, 'Groups'),
    ]);
    expect(access(users)).toEqual({
      E1: { role: 'Manager', adminOf: ['D1'] },
      E2: { role: 'Manager', adminOf: ['D2'] },
      E3: { role: 'User', adminOf: [] },
    });
    expect(lay(groups).warnings).toMatchObject([
      { type: 'invalid value', row: 2, column: 'Manager e-mail' },
      { type: 'invalid value', row: 3, column: 'Head' },
    ]);
  });
});
