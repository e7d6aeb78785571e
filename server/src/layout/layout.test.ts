// How the sheets of a file are read: which sheet contains users or groups, how its rows are combined, and any table at all.
import { readFileSync } from 'node:fs';
import type { Detail } from '@soundings/contract/problem.ts';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readOrganization } from '../sync/check.ts';
import { newFindings } from '../sync/findings.ts';
import type { Cell, Sheet } from '../sheets/sheet.ts';
import {
  aliasesIn,
  aliasesOf,
  families,
  groupAliases,
  idEndings,
  managerAliases,
  managerEndings,
  nameEndings,
  ownFields,
  parentAliases,
  userAliases,
} from './header-aliases.ts';
import { anyCharacter, cases } from '../testing/house/cases.ts';
import { tableOf, sheet, lay, layValid, only } from './layout.fixture.ts';

describe('kinds of sheets', () => {
  test('reads a sheet with columns for people as users, without a list of groups', () => {
    const { users, groups } = layValid(`
      EmployeeID | FirstName | LastName | Email
      E1         | Anna      | Berg     | anna@example.com`);
    expect(users).toEqual([
      { externalId: 'E1', firstName: 'Anna', lastName: 'Berg', email: 'anna@example.com' },
    ]);
    expect(groups).toBeUndefined();
  });

  test.each([
    'externalId | name  | description | parent',
    'Department ID | Department name | Description | Parent department',
    'AvdelningsID | Avdelningsnamn | Beskrivning | Överordnad avdelning',
    'Abteilungsnummer | Abteilungsname | Beschreibung | Übergeordnete Abteilung',
    'Gruppennummer | Gruppe | Beschreibung | Uebergeordnete Gruppe ID',
    'Department code | Department | Description | Parent',
    'Department | Department name | Description | Parent unit no',
    'ID | Team | Description | Parent ID',
  ])('reads a sheet with these headers as groups: %s', (headers) => {
    const { users, groups } = layValid(`${headers}
      D1 | Sales |     |
      D2 | North | Far | D1`);
    expect(users).toBeUndefined();
    expect(groups).toEqual([
      { externalId: 'D1', name: 'Sales' },
      { externalId: 'D2', name: 'North', description: 'Far', parent: 'D1' },
    ]);
  });

  test('uses the names of groups as ids if there are no ids', () => {
    const { groups } = layValid(`
      Department | Parent department
      Sales      |
      North      | Sales`);
    expect(groups).toEqual([
      { externalId: 'Sales', name: 'Sales' },
      { externalId: 'North', name: 'North', parent: 'Sales' },
    ]);
  });

  test('skips a title, blank lines and words that look like headers above the headers', () => {
    const above: Cell[][] = [
      ['Report of our employees'],
      [],
      ['Department:', 'Sales'],
      ['Email', 'hr@example.com'],
      ['Employee ID'],
      ['First name', 'Last name'],
      [null, null, 7],
    ];
    const { users } = layValid([...above, ['Employee ID', 'First name'], ['E1', 'Anna']]);
    expect(users).toEqual([{ externalId: 'E1', firstName: 'Anna' }]);
  });

  test('headers are recognized only in the first 50 rows', () => {
    const table = (above: number): Cell[][] => [
      ...Array.from({ length: above }, () => []),
      ['Employee ID', 'First name'],
      ['E1', 'Anna'],
    ];
    expect(lay(table(49)).users).toHaveLength(1);
    expect(lay(table(50)).faults).toMatchObject([{ type: 'unknown layout', row: 51 }]);
  });

  test('sheets of one kind add up, whatever their columns', () => {
    const { users, groups } = layValid([
      sheet('Employee ID | First name \n E1 | Anna', 'Stockholm'),
      sheet('Personalnummer | Vorname \n E2 | Bo', 'Berlin'),
      sheet('externalId | name \n D1 | Sales', 'Groups'),
    ]);
    expect(users?.map(({ externalId }) => externalId)).toEqual(['E1', 'E2']);
    expect(groups).toHaveLength(1);
  });

  test('warns about any other sheet, but not about an empty one', () => {
    const { users, faults, warnings } = lay([
      sheet([], 'Sheet2'),
      sheet('Employee ID | First name \n E1 | Anna', 'People'),
      sheet('Please read \n this first', 'Notes'),
      sheet('Name | Email | Phone \n HR | hr@example.com | 1', 'Contacts'),
    ]);
    expect(users).toHaveLength(1);
    expect(faults).toEqual([]);
    expect(warnings).toMatchObject([
      { type: 'unknown layout', sheet: 'Notes', row: 1 },
      { type: 'unknown layout', sheet: 'Contacts', row: 1 },
    ]);
  });

  test('refuses a file without users or groups, and says which headers are required and which were found', () => {
    const { laidOut, faults } = lay([sheet([[], ['Product', 'Price'], ['Tea', 3]], 'Shop')]);
    expect(laidOut).toBeUndefined();
    expect(faults).toMatchObject([{ type: 'unknown layout', sheet: 'Shop', row: 2 }]);
    for (const word of ['EmployeeID', 'externalId', 'DepartmentID', 'Found: "Product", "Price"']) {
      expect(faults[0]?.message).toContain(word);
    }
    expect(lay([]).faults).toHaveLength(1);
  });

  test('refuses people without an id column instead of guessing ids', () => {
    const { laidOut, faults } = lay('First name | Last name | Email \n Anna | Berg | anna@example.com');
    expect(laidOut).toBeUndefined();
    expect(faults).toMatchObject([{ type: 'unknown layout', row: 1 }]);
    expect(faults[0]?.message).toContain('EmployeeID');
  });

  test('refuses a list that could be people or groups instead of guessing', () => {
    for (const headers of [
      'ID | Name',
      'Name | Email',
      'ID | Department',
      'Department | Manager',
      'Active | Status',
    ]) {
      expect([headers, lay(`${headers} \n 1 | x`).faults]).toMatchObject([
        headers,
        [{ type: 'unknown layout' }],
      ]);
    }
  });

  test('refuses headers without rows, because a failed export must not remove everyone', () => {
    expect(lay('Employee ID | First name').faults).toMatchObject([{ type: 'unknown layout', row: 1 }]);
    const both = [
      sheet('Employee ID | First name \n E1 | Anna', 'People'),
      sheet('externalId | name', 'Groups'),
    ];
    expect(lay(both).faults).toMatchObject([{ type: 'unknown layout', sheet: 'Groups' }]);
  });
});

describe('rows', () => {
  test('combines rows of one person if their single values agree or are empty', () => {
    const { users } = layValid(`
      Employee ID | First name | Active | Department
      E1          | Anna       | yes    | D1
      E2          | Bo         |        | D1
      E1          |            | true   | D2
      E1          | Anna       |        | D1`);
    expect(users).toEqual([
      { externalId: 'E1', firstName: 'Anna', active: true, accessInfo: { memberOf: ['D1', 'D2'] } },
      { externalId: 'E2', firstName: 'Bo', accessInfo: { memberOf: ['D1'] } },
    ]);
  });

  test('refuses rows of one person that disagree, and names both rows', () => {
    const { faults } = lay(`
      Employee ID | First name | Email
      E1          | Anna       |
      E1          |            | a@example.com
      E1          | Anne       | b@example.com`);
    expect(faults).toMatchObject([
      { type: 'conflicting rows', row: 4, column: 'First name', value: 'Anne', externalId: 'E1' },
      { type: 'conflicting rows', row: 4, column: 'Email', value: 'b@example.com', externalId: 'E1' },
    ]);
    expect(faults[0]?.message).toMatch(/Row 2 has "Anna"/);
    expect(faults[1]?.message).toMatch(/Row 3 has "a@example.com"/);
  });

  test('refuses rows of one group that disagree, also across sheets', () => {
    const { faults } = lay([
      sheet('externalId | name | parent \n D1 | Sales |', 'A'),
      sheet('Department ID | Department name | Parent \n D1 | Selling | D0', 'B'),
    ]);
    expect(only(faults)).toMatchObject({
      type: 'conflicting rows',
      sheet: 'B',
      row: 2,
      column: 'Department name',
    });
    expect(faults[0]?.message).toContain('Row 2 of the sheet "A" has "Sales"');
  });

  test('refuses a row without an id, but ignores a row without any value', () => {
    const { users, faults } = lay([
      sheet(
        [['Employee ID', 'First name', null], [null, 'Anna'], [], [null, ' ', 'Total: 2'], ['E1', 'Bo']],
        'S',
      ),
    ]);
    expect(users).toHaveLength(1);
    expect(faults).toMatchObject([{ type: 'missing field', sheet: 'S', row: 2, column: 'Employee ID' }]);
  });
});

describe('positions', () => {
  const people = sheet(
    `
    Staff of 2025
    Employee ID | E-post | Role  | Department | Cost/center | IsManager | Active
    E1          |        | chief | D1         |             | yes       |
    E2          | b@x.se |       | D1;D2      | 12          |           |
    E1          | a@x.se |       | D3         | 13          |           | yes`,
    'People',
  );
  const groups = sheet('Department \t| name \n Sales | S', 'Groups');
  groups.rows = [
    ['Department', 'Department name', 'Parent'],
    ['D1', 'Sales', null],
    ['D2', null, 'D1'],
  ];
  const { laidOut } = lay([people, groups], ['Cost/center']);

  test.each([
    ['/data/users/0/externalId', { sheet: 'People', row: 3, column: 'Employee ID', value: 'E1' }],
    ['/data/users/0/email', { sheet: 'People', row: 5, column: 'E-post', value: 'a@x.se' }],
    ['/data/users/1/email', { sheet: 'People', row: 4, column: 'E-post', value: 'b@x.se' }],
    ['/data/users/0/active', { sheet: 'People', row: 5, column: 'Active', value: 'yes' }],
    ['/data/users/1/active', { sheet: 'People', row: 4, column: 'Active' }],
    ['/data/users/0/firstName', { sheet: 'People', row: 3 }],
    ['/data/users/1', { sheet: 'People', row: 4 }],
    ['/data/users/0/accessInfo/role', { sheet: 'People', row: 3, column: 'Role', value: 'chief' }],
    [
      '/data/users/1/accessInfo/memberOf/1',
      { sheet: 'People', row: 4, column: 'Department', value: 'D1;D2' },
    ],
    ['/data/users/0/accessInfo/memberOf/1', { sheet: 'People', row: 5, column: 'Department', value: 'D3' }],
    ['/data/users/0/accessInfo/memberOf', { sheet: 'People', row: 3, column: 'Department', value: 'D1' }],
    ['/data/users/0/accessInfo/adminOf/0', { sheet: 'People', row: 3, column: 'Department', value: 'D1' }],
    [
      '/data/users/1/externalProperties/Cost~1center',
      { sheet: 'People', row: 4, column: 'Cost/center', value: '12' },
    ],
    ['/data/groups/1/name', { sheet: 'Groups', row: 3, column: 'Department name' }],
    ['/data/groups/1/parent', { sheet: 'Groups', row: 3, column: 'Parent', value: 'D1' }],
    ['/data/users', undefined],
    ['/data/users/7/email', undefined],
    ['', undefined],
  ])('finds the cell of %s', (path, position) => {
    expect(laidOut?.placeOf(path)).toEqual(position);
  });

  test('contain only the row and column if the file is a single sheet without a name', () => {
    expect(lay('Employee ID | Email \n E1 | a@x.se').laidOut?.placeOf('/data/users/0/email')).toEqual({
      row: 2,
      column: 'Email',
      value: 'a@x.se',
    });
  });

  test('exist for everything that the check finds', () => {
    const findings = newFindings();
    readOrganization({ data: laidOut!.data }, findings);
    const found = findings.faults().map(({ type, path }) => [type, laidOut!.placeOf(path ?? '')]);
    expect(found).toContainEqual(['missing field', { sheet: 'Groups', row: 3, column: 'Department name' }]);
    expect(found.every(([, position]) => position !== undefined)).toBe(true);
  });

  test('contain long values only in part', () => {
    const { warnings } = lay([
      ['Employee ID', 'Active'],
      ['E1', 'x'.repeat(30_000)],
    ]);
    expect(JSON.stringify(warnings).length).toBeLessThan(1_000);
  });
});

describe('for any table', () => {
  const attributes = ['Gender', 'Cost center'];
  const cells: Record<string, fc.Arbitrary<Cell>> = {
    'First name': fc.constantFrom('Anna', 'Bo', null),
    'Last name': fc.constantFrom('Berg', 'Ek', '', null),
    Email: fc.constantFrom('a@example.com', 'b@example.com', 'wrong', null),
    'Phone number': fc.constantFrom('+46701234567', 46701234567, 701234567, 'ext. 12', 'n/a', null),
    Active: fc.constantFrom('yes', 'nej', true, 0, null, 'perhaps'),
    Språk: fc.constantFrom('sv', 'German', '-', '#N/A', null),
    Role: fc.constantFrom('chef', 'User', null),
    'Department ID 1': fc.constantFrom('D1', 'D2;D3', null),
    'Department name 1': fc.constantFrom('One', 'Two;Three', null),
    'Department 2': fc.constantFrom('D4', '(empty)', null),
    Team: fc.constantFrom('T1', 'T2|T3', null),
    'Admin of': fc.constantFrom('D1', null),
    'Is manager': fc.constantFrom('ja', 'nein', null),
    'Reports to': fc.constantFrom('E1', 'b@example.com', 'E9', 'keine', null),
    Gender: fc.constantFrom('f', '(empty)', null),
    'Cost center': fc.constantFrom(12, 'x', null),
    'Shoe size': fc.constantFrom(44, null),
  };
  const tables = fc.subarray(Object.keys(cells), { minLength: 2 }).chain((names) => {
    const headers = ['Employee ID', ...names];
    const row = fc.tuple(fc.constantFrom('E1', 'E2', 'E3', 'E4', null), ...names.map((name) => cells[name]!));
    return fc.tuple(fc.constant(headers), fc.array(row, { minLength: 1, maxLength: 6 }));
  });

  /** Returns the whole result, with lists as sets. */
  const outcome = (rows: Cell[][]) => {
    const { users, faults, warnings, laidOut } = lay(rows, attributes);
    const sorted = (list: Detail[]) =>
      list.map(({ type, externalId, value }) => JSON.stringify([type, externalId, value])).toSorted();
    return {
      users: users?.map(({ accessInfo, ...user }) => ({
        ...user,
        accessInfo: Object.fromEntries(
          Object.entries(accessInfo ?? {}).map(([kind, value]) => [
            kind,
            Array.isArray(value) ? value.toSorted() : value,
          ]),
        ),
      })),
      named: [...(laidOut?.named ?? [])].map(([id, { name }]) => `${id} ${name}`).toSorted(),
      inferred: [...(laidOut?.inferredRoles ?? [])],
      faults: sorted(faults),
      warnings: sorted(warnings),
    };
  };

  test('the order of columns, the letter case, the separators and rows above the headers make no difference', () => {
    fc.assert(
      fc.property(
        tables,
        fc.infiniteStream(fc.nat()),
        fc.array(fc.constantFrom<Cell[]>([], ['Our staff'], ['Email', 'hr@example.com']), { maxLength: 5 }),
        ([headers, rows], random, above) => {
          const next = () => random.next().value as number;
          const order = headers
            .map((_, i) => ({ i, key: next() }))
            .toSorted((a, b) => a.key - b.key)
            .map(({ i }) => i);
          const vary = (header: string) =>
            [...header]
              .map((letter) => (next() % 2 ? letter.toUpperCase() : letter.toLowerCase()))
              .map((letter) => (letter === ' ' ? ['_', '-', '', ' . ', '/', '\n'][next() % 6] : letter))
              .join('');
          const variant = [
            ...above,
            order.map((i) => vary(headers[i]!)),
            ...rows.map((row) => order.map((i) => row[i] ?? null)),
          ];
          expect(outcome(variant)).toEqual(outcome([headers, ...rows]));
        },
      ),
      cases(125),
    );
  });

  const anything: fc.Arbitrary<Cell> = fc.oneof(
    fc.constantFrom(
      ...aliasesIn(
        [...userAliases, ...groupAliases]
          .flatMap(({ en, sv, de }) => [en, sv, de].flatMap(aliasesIn))
          .join(', '),
      ),
      'Department',
      'DepartmentName',
      'Parent',
      'Manager',
      'externalId',
      'name',
      '__proto__',
      'constructor',
    ),
    fc.constantFrom<Cell>(
      'E1',
      'D1',
      'yes',
      'no',
      '(empty)',
      '="1"',
      '="',
      ';|',
      1,
      0,
      '+46',
      '00 46',
      'sv-',
      null,
      '',
    ),
    fc.string({ unit: anyCharacter }),
    fc.string({ unit: fc.nat({ max: 0xffff }).map((code) => String.fromCharCode(code)) }),
    fc.double(),
    fc.boolean(),
    fc.constant(null),
  );

  test('never throws, gives every error and warning a position, and returns data that can be checked', () => {
    const sheets = fc.array(
      fc.record({
        name: fc.constantFrom('', 'A', 'B'),
        rows: fc.array(fc.array(anything, { maxLength: 8 }), { maxLength: 8 }),
      }),
      { minLength: 1, maxLength: 3 },
    );
    const some = (kind: string[]) =>
      fc.array(anything, { maxLength: 6 }).map((more): Cell[] => [...kind, ...more]);
    const likely = fc.tuple(
      fc.constantFrom('', 'A'),
      fc.oneof(some(['externalId', 'firstName']), some(['externalId', 'name'])),
      fc.array(fc.array(anything, { maxLength: 8 }), { maxLength: 6 }),
    );
    const any = fc.oneof(
      sheets,
      fc.array(
        likely.map(([name, headers, rows]) => ({ name, rows: [headers, ...rows] })),
        { minLength: 1, maxLength: 2 },
      ),
    );
    fc.assert(
      fc.property(any, (file: Sheet[]) => {
        const { laidOut, faults, warnings } = lay(file, ['Gender', '__proto__', 'a b', 'A-B', '!']);
        expect(laidOut !== undefined || faults.length > 0).toBe(true);
        for (const { row, sheet: name, message } of [...faults, ...warnings]) {
          expect(row).toBeGreaterThanOrEqual(1);
          expect(file.some((one) => one.name === (name ?? ''))).toBe(true);
          expect(message.length).toBeLessThan(1_000);
        }
        if (!laidOut) return;
        const findings = newFindings();
        readOrganization({ data: laidOut.data }, findings);
        const nowhere = findings.faults().filter(({ path = '' }) => !laidOut.placeOf(path)?.row);
        expect(nowhere).toEqual([]);
        for (const { path } of laidOut.named.values()) expect(laidOut.placeOf(path)?.value).toBeDefined();
      }),
      cases(250),
    );
  });
});

describe('docs/integrators/files.md', () => {
  const page = readFileSync(new URL('../../../docs/integrators/files.md', import.meta.url), 'utf8');
  const written = new Set([...page.matchAll(/`([^`\n]+)`/g)].map(([, text]) => text));

  test('lists every header alias', () => {
    const aliases = [
      ...Object.values(ownFields).flat(),
      ...[...userAliases, ...groupAliases, ...Object.values(families)].flatMap(aliasesOf),
      ...[idEndings, nameEndings, parentAliases, managerAliases, managerEndings].flatMap(aliasesIn),
    ];
    expect(aliases.filter((alias) => !written.has(alias))).toEqual([]);
  });

  test('has only examples without errors', () => {
    const examples = [...page.matchAll(/^```(\w*)\n(.*?)^```$/gms)]
      .filter(([, language, text]) => language === '' && /^.*;.*;/.test(text as string))
      .map(([, , text]) => text as string);
    expect(examples.length).toBeGreaterThan(4);
    for (const example of examples) layValid(tableOf(example.replaceAll(';', '|')));
  });
});
