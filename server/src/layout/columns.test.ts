// What the columns of a sheet mean, and how full names in one column are read. Each rule has a small table.
import { describe, expect, test } from 'vitest';
import type { Cell } from '../sheets/sheet.ts';
import { headersKey } from './headers.ts';
import { aliasesOf, userAliases } from './header-aliases.ts';
import { type User, sheet, lay, layValid } from './layout.fixture.ts';

describe('columns', () => {
  test('recognizes every header alias in any letter case and with any separators', () => {
    const variants = (header: string) => [
      header,
      header.toUpperCase(),
      ` ${header.toLowerCase()}: `,
      header.replaceAll(/[ -]/g, '_'),
      header.replaceAll(' ', '.'),
      `${header.replaceAll(' ', '')}*`,
      `${header} [Required]`,
      header.normalize('NFD'),
      header.normalize('NFD').replaceAll(/\p{M}/gu, ''),
    ];
    for (const { meaning, ...aliases } of userAliases) {
      for (const text of aliasesOf(aliases).flatMap(variants)) {
        const isId = meaning === 'employeeId' || meaning === 'id';
        const isFullName = meaning === 'fullName' || meaning === 'name';
        const otherColumn = isFullName ? 'Email' : meaning === 'lastName' ? 'First name' : 'Last name';
        const headers = isId ? [text, 'Last name'] : ['externalId', otherColumn, text];
        const cells: Record<string, string> = {
          role: 'User',
          email: 'a@example.com',
          phone: '+4681234567',
          timezone: 'UTC',
          language: 'sv',
        };
        const second = otherColumn === 'Email' ? 'a@example.com' : 'x';
        const { users, faults, warnings } = lay([
          headers,
          isId ? ['x', 'x'] : ['x', second, cells[meaning] ?? 'yes'],
        ]);
        expect({ text, faults, warnings, users: users?.length }).toEqual({
          text,
          faults: [],
          warnings: [],
          users: 1,
        });
      }
    }
  });

  test.each([
    ['Ansattnummer | Fornavn | Etternavn | E-post | Avdeling | Naermeste leder'],
    ['Medarbejdernr. | Fornavn | Efternavn | E-mail | Afdeling | Nærmeste leder'],
    ['Henkilönumero | Etunimi | Sukunimi | Sähköposti | Osasto | Esihenkilo'],
  ])('recognizes the headers %s', (headers) => {
    const { users } = layValid(`${headers}
      E1 | Anna | Berg | anna@example.com | Oslo |
      E2 | Bo   | Ek   | bo@example.com   | Oslo | E1`);
    expect(users?.[0]).toEqual({
      externalId: 'E1',
      firstName: 'Anna',
      lastName: 'Berg',
      email: 'anna@example.com',
      accessInfo: { memberOf: ['Oslo'], adminOf: ['Oslo'], role: 'Manager' },
    });
  });

  test('does not read a second row of headers as a person', () => {
    const { users } = layValid(`
      STATUS | USERID  | FIRSTNAME  | LASTNAME  | DEPARTMENT
      STATUS | User Id | First Name | Last Name | Department
      active | 1001    | Anna       | Berg      | Sales`);
    expect(users?.map(({ externalId }) => externalId)).toEqual(['1001']);
    // A person whose name equals the name of a column is still a person.
    const { users: people } = lay('User ID | First name | Last name \n Name | Name | Berg \n 2 | Bo | Ek');
    expect(people).toHaveLength(2);
  });

  test('recognizes headers with spelled-out umlauts', () => {
    expect(layValid('Personalnummer | Ist Fuehrungskraft \n E1 | ja').users?.[0]?.accessInfo).toMatchObject({
      role: 'Manager',
    });
  });

  test('reads Name as the last name next to Vorname, but ignores it next to First name', () => {
    expect(layValid('Personalnummer | Name | Vorname \n E1 | Berg | Anna').users).toEqual([
      { externalId: 'E1', firstName: 'Anna', lastName: 'Berg' },
    ]);
    const { users, warnings } = lay('Employee ID | Name | First name \n E1 | Anna Berg | Anna');
    expect(users).toEqual([{ externalId: 'E1', firstName: 'Anna' }]);
    expect(warnings).toMatchObject([{ type: 'unknown column', row: 1, column: 'Name' }]);
  });

  test('sets a defined attribute from a column with its name', () => {
    const { users } = layValid('Employee ID | cost-center | Shoe size | gender \n E1 | 17 | 44 |', [
      'Cost Center',
      'Shoe size',
      'Gender',
    ]);
    expect(users).toEqual([
      { externalId: 'E1', externalProperties: { 'Cost Center': '17', 'Shoe size': '44' } },
    ]);
  });

  test('prefers exact field names over attributes, and attributes over header aliases', () => {
    const { users } = layValid(
      'Employee ID | email | Department | Mobile \n E1 | a@example.com | Sales | red',
      ['email', 'Department', 'mobile'],
    );
    expect(users).toEqual([
      {
        externalId: 'E1',
        email: 'a@example.com',
        externalProperties: { Department: 'Sales', mobile: 'red' },
      },
    ]);
  });

  test('distinguishes attributes with similar names by their exact names', () => {
    const attributes = ['Cost center', 'cost-center'];
    expect(
      layValid('Employee ID | First name | cost-center \n E1 | A | 1', attributes).users?.[0],
    ).toMatchObject({
      externalProperties: { 'cost-center': '1' },
    });
    const { users, warnings } = lay('Employee ID | First name | COST CENTER \n E1 | A | 1', attributes);
    expect(users).toEqual([{ externalId: 'E1', firstName: 'A' }]);
    expect(warnings).toMatchObject([{ type: 'unknown column', column: 'COST CENTER' }]);
  });

  test('warns once about values in columns without a header, with the first row and how many there are', () => {
    const warned = (table: string | Cell[][], name = '') => {
      const { users, faults, warnings } = lay([sheet(table, name)]);
      expect([users?.length, faults]).toEqual([2, []]);
      return warnings;
    };
    const list = 'Employee ID | First name | Last name';
    expect(warned(`${list} \n E1 | Anna | Berg | | \n E2 | Bo | Ek`)).toEqual([]);
    expect(warned(`${list} \n E1 | Anna | Berg \n E2 | Bo | Ek | Jr | Oslo`)).toEqual([
      {
        type: 'cell without header',
        message: expect.stringMatching(
          /^A row has a value in a column without a header\. .* quotation marks/,
        ),
        row: 3,
      },
    ]);
    // Also between other columns, and in rows that belong to a person of several rows.
    expect(
      warned(`Employee ID | | First name \n E1 | x | Anna \n E1 | y | Anna \n E2 | | Bo`, 'Staff'),
    ).toEqual([
      {
        type: 'cell without header',
        message: expect.stringMatching(/^2 rows have values in .* enter a header above it\.$/),
        sheet: 'Staff',
        row: 2,
      },
    ]);
    // A second row of headers names the columns that the first one does not.
    expect(
      warned(
        'EMPLOYEE ID | FIRST NAME | LAST NAME | EMAIL | \n Employee ID | First name | Last name | Email | Note \n' +
          'E1 | Anna | Berg | | x \n E2 | Bo | Ek | | y',
      ),
    ).toEqual([]);
  });

  test('warns about every unknown column, such as the end of employment', () => {
    const { users, faults, warnings } = lay(
      'Employee ID | First name | End date | Salary \n E1 | Anna | 2024-01-31 | 7',
    );
    expect(users).toEqual([{ externalId: 'E1', firstName: 'Anna' }]);
    expect(faults).toEqual([]);
    expect(warnings).toMatchObject([
      { type: 'unknown column', row: 1, column: 'End date' },
      { type: 'unknown column', row: 1, column: 'Salary' },
    ]);
    expect(warnings.every(({ value }) => value === undefined)).toBe(true);
  });

  test.each([
    ['Employee ID | First name | Phone | Mobile', 'Mobile', 'Phone'],
    ['Employee ID | First name | Mobile | Phone', 'Mobile', 'Phone'],
    ['Employee ID | First name | Home e-mail | E-mail | Work e-mail', 'Work e-mail', 'E-mail'],
    ['Employee ID | First name | E-mail | e_mail', 'E-mail', 'e_mail'],
    ['Employee ID | Personalnummer | First name', 'Employee ID', 'Personalnummer'],
    ['ID | Employee ID | First name', 'Employee ID', 'ID'],
    ['externalId | name | Department name | parent', 'name', 'Department name'],
    ['Department ID | Department | Department name | parent', 'Department name', 'Department'],
    ['Employee ID | Department ID | Department | Department name', 'Department ID', 'Department'],
    ['Employee ID | Active | Status', 'Active', 'Status'],
    ['Employee ID | Gender | gender', 'Gender', 'gender'],
    ['Employee ID | Is manager | Är chef', 'Is manager', 'Är chef'],
  ])(
    'reads one of two columns with the same meaning, and the warning names both: %s',
    (headers, read, column) => {
      const rows = '1 | 2 | 3 | 4 | 5 \n yes | no | no | yes | no';
      const { faults, warnings } = lay([sheet(`${headers} \n ${rows}`, 'S')], ['Gender']);
      expect(faults.filter(({ type }) => type === 'repeated column')).toEqual([]);
      expect(warnings.filter(({ type }) => type === 'repeated column')).toMatchObject([
        { sheet: 'S', row: 1, column, message: expect.stringContaining(`"${read}" is read`) as string },
      ]);
    },
  );

  test('reads the column with the ids of existing people if there are two, otherwise the one without gaps', () => {
    const table = `
      Employee ID | Staff number | First name
      1           | A1           | Anna
      2           | A2           | Bo`;
    const ids = (users: User[] | undefined) => users?.map(({ externalId }) => externalId);
    expect(ids(lay(table).users)).toEqual(['1', '2']);
    const isThere = (kind: string, id: string) => kind === 'users' && ['A1', 'A9'].includes(id);
    expect(ids(lay(table, [], { isThere }).users)).toEqual(['A1', 'A2']);
    expect(ids(lay(table.replace('2           |', '            |')).users)).toEqual(['A1', 'A2']);
  });

  test('accepts two columns with the same values without a warning', () => {
    const { users } = layValid('USERID | EMPID | Last name \n 1 | 1 | Berg \n 2 | | Ek');
    expect(users).toHaveLength(2);
  });

  test('reads a column as the account has mapped it', () => {
    const headers = ['externalId', 'Phone', 'Mobile'];
    const columns = headers.map((header, i) => ({ header, meaning: ['externalId', 'phone', 'ignore'][i]! }));
    const mappings = new Map([[headersKey(headers), { kind: 'users' as const, columns }]]);
    const { users, warnings } = lay('externalId | Phone | Mobile \n E1 | +4681234567 | +4670', [], {
      mappings,
    });
    expect(users?.[0]?.['phone']).toBe('+4681234567');
    expect(warnings).toEqual([]);
  });
});

describe('full names', () => {
  const namesIn = (header: string, ...names: string[]) => {
    const { users, faults } = lay([
      ['externalId', 'Email', header],
      ...names.map((name, i) => [`E${i}`, null, name]),
    ]);
    expect(faults).toEqual([]);
    return users?.map(({ firstName, lastName }) => [firstName, lastName]);
  };

  test('are split into first and last names', () => {
    const names = [
      'Anna Berg',
      'Berg, Anna',
      'Anna Maria Berg',
      'Chloë de la Cruz',
      "Björn  O'Neil",
      'von Platen, Eva',
    ];
    expect(namesIn('Full name', ...names)).toEqual([
      ['Anna', 'Berg'],
      ['Anna', 'Berg'],
      ['Anna Maria', 'Berg'],
      ['Chloë', 'de la Cruz'],
      ['Björn', "O'Neil"],
      ['Eva', 'von Platen'],
    ]);
    expect(namesIn('Namn', 'Anna Berg')).toEqual([['Anna', 'Berg']]);
    expect(namesIn('Display Name', 'Van Nguyen')).toEqual([['Van', 'Nguyen']]);
  });

  test('are read with the last name first if the header says so', () => {
    const names = ['Berg Anna', 'Berg, Anna', 'de la Cruz Chloë', 'Berg Anna Maria'];
    expect(namesIn('Last name, First name', ...names)).toEqual([
      ['Anna', 'Berg'],
      ['Anna', 'Berg'],
      ['Chloë', 'de la Cruz'],
      ['Anna Maria', 'Berg'],
    ]);
    expect(namesIn('Efternamn Förnamn', 'Berg Anna')).toEqual([['Anna', 'Berg']]);
  });

  test('are ignored next to columns with first and last names', () => {
    const { users, warnings } = lay(
      'externalId | Display name | Given name | Surname \n E1 | A B | Anna | Berg',
    );
    expect(users).toEqual([{ externalId: 'E1', firstName: 'Anna', lastName: 'Berg' }]);
    expect(warnings).toMatchObject([{ type: 'unknown column', column: 'Display name' }]);
  });

  test('cause an error that names the cell if a new person has only one name', () => {
    const { laidOut } = lay('externalId | Email | Name \n E1 | a@example.com | Cher');
    expect(laidOut?.data.users).toMatchObject([{ firstName: 'Cher' }]);
    expect(laidOut?.missingColumnOf('/data/users/0/lastName')).toMatchObject({
      type: 'invalid value',
      row: 2,
      column: 'Name',
      value: 'Cher',
    });
  });

  test('identify managers', () => {
    const { users } = layValid(`
      Employee ID | Employee name | Department | Reporting to
      E1          | Berg, Anna    | D1         |
      E2          | Bo Ek         | D2         | Anna Berg`);
    expect(users?.map(({ accessInfo }) => accessInfo?.['adminOf'])).toEqual([['D2'], []]);
  });
});
