// What comes of the sheets of a file: by a small table for each rule, and for any table at all.
import { readFileSync } from 'node:fs';
import type { Detail } from '@soundings/contract/problem.ts';
import * as fc from 'fast-check';
import type { ValueMeaning } from '@soundings/contract/words.ts';
import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../base/json.ts';
import { readOrganization } from '../sync/check.ts';
import { newFindings } from '../sync/findings.ts';
import { headersKey } from './headers.ts';
import { type Knowledge, layOut } from './layout.ts';
import type { Cell, Sheet } from './sheet.ts';
import {
  families,
  groupSpellings,
  idEndings,
  managerEndings,
  managerWords,
  nameEndings,
  ownFields,
  parentWords,
  userSpellings,
  wordsIn,
  wordsOf,
} from './spellings.ts';
import { keyOfValue } from './values.ts';
import { cases } from '../testing/cases.ts';

// --- Tables as texts: a line is a row, cells are separated by |. Texts only; others stand in arrays.

type User = {
  externalId: string;
  accessInfo?: Record<string, JsonValue>;
  [field: string]: JsonValue | undefined;
};

const tableOf = (text: string): Cell[][] =>
  text
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim() || null));

const sheet = (table: string | Cell[][], name = ''): Sheet => ({
  name,
  rows: typeof table === 'string' ? tableOf(table) : table,
});

/** An account that has said nothing of its files, and has nobody. */
const nothing: Knowledge = {
  attributes: [],
  allowedValues: new Map(),
  mappings: new Map(),
  values: new Map(),
  country: null,
  isThere: () => false,
};

function lay(
  sheets: string | Cell[][] | Sheet[],
  attributes: string[] = [],
  knowledge: Partial<Knowledge> = {},
) {
  const faults: Detail[] = [];
  const warnings: Detail[] = [];
  const isSheets = Array.isArray(sheets) && sheets.some((one) => !Array.isArray(one));
  const laid = layOut(
    isSheets ? (sheets as Sheet[]) : [sheet(sheets as string | Cell[][])],
    { ...nothing, attributes, ...knowledge },
    { fault: (detail) => faults.push(detail), warn: (detail) => warnings.push(detail) },
  );
  return {
    laid,
    users: laid?.data.users as User[] | undefined,
    groups: laid?.data.groups,
    faults,
    warnings,
  };
}

/** The same, of a table that has no faults and nothing to warn of. */
function laidWell(...about: Parameters<typeof lay>) {
  const { faults, warnings, ...rest } = lay(...about);
  expect({ faults, warnings }).toEqual({ faults: [], warnings: [] });
  return rest;
}

/** The same, by what an account has said. */
function laidAs(table: string, knowledge: Partial<Knowledge>) {
  const { faults, warnings, ...rest } = lay(table, [], knowledge);
  expect({ faults, warnings }).toEqual({ faults: [], warnings: [] });
  return rest;
}

const only = <T>(list: T[] | undefined): T => {
  expect(list).toHaveLength(1);
  return list![0] as T;
};

describe('which sheet is what', () => {
  test('a sheet with the columns of people is one of users, and says nothing of groups', () => {
    const { users, groups } = laidWell(`
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
  ])('groups: %s', (headers) => {
    const { users, groups } = laidWell(`${headers}
      D1 | Sales |     |
      D2 | North | Far | D1`);
    expect(users).toBeUndefined();
    expect(groups).toEqual([
      { externalId: 'D1', name: 'Sales' },
      { externalId: 'D2', name: 'North', description: 'Far', parent: 'D1' },
    ]);
  });

  test('groups without ids have their names as ids', () => {
    const { groups } = laidWell(`
      Department | Parent department
      Sales      |
      North      | Sales`);
    expect(groups).toEqual([
      { externalId: 'Sales', name: 'Sales' },
      { externalId: 'North', name: 'North', parent: 'Sales' },
    ]);
  });

  test('a title and blank lines may stand above the headers, with words that are headers elsewhere', () => {
    const above: Cell[][] = [
      ['Report of our employees'],
      [],
      ['Department:', 'Sales'],
      ['Email', 'hr@example.com'],
      ['Employee ID'],
      ['First name', 'Last name'],
      [null, null, 7],
    ];
    const { users } = laidWell([...above, ['Employee ID', 'First name'], ['E1', 'Anna']]);
    expect(users).toEqual([{ externalId: 'E1', firstName: 'Anna' }]);
  });

  test('headers count within the first 20 rows, and no further down', () => {
    const table = (above: number): Cell[][] => [
      ...Array.from({ length: above }, () => []),
      ['Employee ID', 'First name'],
      ['E1', 'Anna'],
    ];
    expect(lay(table(19)).users).toHaveLength(1);
    expect(lay(table(20)).faults).toMatchObject([{ type: 'unknown layout', row: 21 }]);
  });

  test('sheets of one kind add up, whatever their columns', () => {
    const { users, groups } = laidWell([
      sheet('Employee ID | First name \n E1 | Anna', 'Stockholm'),
      sheet('Personalnummer | Vorname \n E2 | Bo', 'Berlin'),
      sheet('externalId | name \n D1 | Sales', 'Groups'),
    ]);
    expect(users?.map(({ externalId }) => externalId)).toEqual(['E1', 'E2']);
    expect(groups).toHaveLength(1);
  });

  test('another sheet is a warning, and an empty one nothing', () => {
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

  test('a file without users or groups is a fault that says which headers are needed and what was found', () => {
    const { laid, faults } = lay([sheet([[], ['Product', 'Price'], ['Tea', 3]], 'Shop')]);
    expect(laid).toBeUndefined();
    expect(faults).toMatchObject([{ type: 'unknown layout', sheet: 'Shop', row: 2 }]);
    for (const word of ['EmployeeID', 'externalId', 'DepartmentID', 'Found: "Product", "Price"']) {
      expect(faults[0]?.message).toContain(word);
    }
    expect(lay([]).faults).toHaveLength(1);
  });

  test('people without a column of ids are a fault, not guessed', () => {
    const { laid, faults } = lay('First name | Last name | Email \n Anna | Berg | anna@example.com');
    expect(laid).toBeUndefined();
    expect(faults).toMatchObject([{ type: 'unknown layout', row: 1 }]);
    expect(faults[0]?.message).toContain('EmployeeID');
  });

  test('what could be a list of people or of groups is not guessed', () => {
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

  test('headers without rows are a fault: an export that failed must not remove everybody', () => {
    expect(lay('Employee ID | First name').faults).toMatchObject([{ type: 'unknown layout', row: 1 }]);
    const both = [
      sheet('Employee ID | First name \n E1 | Anna', 'People'),
      sheet('externalId | name', 'Groups'),
    ];
    expect(lay(both).faults).toMatchObject([{ type: 'unknown layout', sheet: 'Groups' }]);
  });
});

describe('columns', () => {
  test('every spelling of a header is understood, in any letter case and with any separators', () => {
    const spoilt = (header: string) => [
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
    for (const { word, ...words } of userSpellings) {
      for (const text of wordsOf(words).flatMap(spoilt)) {
        const isId = word === 'employeeId' || word === 'id';
        const isFullName = word === 'fullName' || word === 'name';
        const beside = isFullName ? 'Email' : word === 'lastName' ? 'First name' : 'Last name';
        const headers = isId ? [text, 'Last name'] : ['externalId', beside, text];
        const cells: Record<string, string> = {
          role: 'User',
          email: 'a@example.com',
          phone: '+4681234567',
          timezone: 'UTC',
          language: 'sv',
        };
        const second = beside === 'Email' ? 'a@example.com' : 'x';
        const { users, faults, warnings } = lay([
          headers,
          isId ? ['x', 'x'] : ['x', second, cells[word] ?? 'yes'],
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
  ])('%s are understood', (headers) => {
    const { users } = laidWell(`${headers}
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

  test('a second row of headers, which says what the first one means, is no person', () => {
    const { users } = laidWell(`
      STATUS | USERID  | FIRSTNAME  | LASTNAME  | DEPARTMENT
      STATUS | User Id | First Name | Last Name | Department
      active | 1001    | Anna       | Berg      | Sales`);
    expect(users?.map(({ externalId }) => externalId)).toEqual(['1001']);
    // Nobody is taken for a label who is called as one column.
    const { users: people } = lay('User ID | First name | Last name \n Name | Name | Berg \n 2 | Bo | Ek');
    expect(people).toHaveLength(2);
  });

  test('an umlaut may be spelled out', () => {
    expect(laidWell('Personalnummer | Ist Fuehrungskraft \n E1 | ja').users?.[0]?.accessInfo).toMatchObject({
      role: 'Manager',
    });
  });

  test('Name beside Vorname is the last name; elsewhere it is not read', () => {
    expect(laidWell('Personalnummer | Name | Vorname \n E1 | Berg | Anna').users).toEqual([
      { externalId: 'E1', firstName: 'Anna', lastName: 'Berg' },
    ]);
    const { users, warnings } = lay('Employee ID | Name | First name \n E1 | Anna Berg | Anna');
    expect(users).toEqual([{ externalId: 'E1', firstName: 'Anna' }]);
    expect(warnings).toMatchObject([{ type: 'unknown column', row: 1, column: 'Name' }]);
  });

  test('a defined attribute is set by a header of its name', () => {
    const { users } = laidWell('Employee ID | cost-center | Shoe size | gender \n E1 | 17 | 44 |', [
      'Cost Center',
      'Shoe size',
      'Gender',
    ]);
    expect(users).toEqual([
      { externalId: 'E1', externalProperties: { 'Cost Center': '17', 'Shoe size': '44' } },
    ]);
  });

  test('a field of ours wins over an attribute, and an attribute over what a column is usually called', () => {
    const { users } = laidWell(
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

  test('attributes that differ only in spelling are told by their exact names', () => {
    const attributes = ['Cost center', 'cost-center'];
    expect(
      laidWell('Employee ID | First name | cost-center \n E1 | A | 1', attributes).users?.[0],
    ).toMatchObject({
      externalProperties: { 'cost-center': '1' },
    });
    const { users, warnings } = lay('Employee ID | First name | COST CENTER \n E1 | A | 1', attributes);
    expect(users).toEqual([{ externalId: 'E1', firstName: 'A' }]);
    expect(warnings).toMatchObject([{ type: 'unknown column', column: 'COST CENTER' }]);
  });

  test('any other column is a warning, and an end of employment is such a one', () => {
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
  ])('of two columns that mean the same one is read, and both are named: %s', (headers, read, column) => {
    const rows = '1 | 2 | 3 | 4 | 5 \n yes | no | no | yes | no';
    const { faults, warnings } = lay([sheet(`${headers} \n ${rows}`, 'S')], ['Gender']);
    expect(faults.filter(({ type }) => type === 'repeated column')).toEqual([]);
    expect(warnings.filter(({ type }) => type === 'repeated column')).toMatchObject([
      { sheet: 'S', row: 1, column, message: expect.stringContaining(`"${read}" is read`) as string },
    ]);
  });

  test('of two columns of ids that is read which has those of people who are there, else one without gaps', () => {
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

  test('two columns that say the same are no matter', () => {
    const { users } = laidWell('USERID | EMPID | Last name \n 1 | 1 | Berg \n 2 | | Ek');
    expect(users).toHaveLength(2);
  });

  test('a column that somebody has said the meaning of is read so', () => {
    const headers = ['externalId', 'Phone', 'Mobile'];
    const columns = headers.map((header, i) => ({ header, means: ['externalId', 'phone', 'ignore'][i]! }));
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

  test('one column of them gives both names', () => {
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

  test('the header says when last names come first', () => {
    const names = ['Berg Anna', 'Berg, Anna', 'de la Cruz Chloë', 'Berg Anna Maria'];
    expect(namesIn('Last name, First name', ...names)).toEqual([
      ['Anna', 'Berg'],
      ['Anna', 'Berg'],
      ['Chloë', 'de la Cruz'],
      ['Anna Maria', 'Berg'],
    ]);
    expect(namesIn('Efternamn Förnamn', 'Berg Anna')).toEqual([['Anna', 'Berg']]);
  });

  test('beside first and last names they are not read', () => {
    const { users, warnings } = lay(
      'externalId | Display name | Given name | Surname \n E1 | A B | Anna | Berg',
    );
    expect(users).toEqual([{ externalId: 'E1', firstName: 'Anna', lastName: 'Berg' }]);
    expect(warnings).toMatchObject([{ type: 'unknown column', column: 'Display name' }]);
  });

  test('where a new person has a single name, the cell is named and what to write', () => {
    const { laid } = lay('externalId | Email | Name \n E1 | a@example.com | Cher');
    expect(laid?.data.users).toMatchObject([{ firstName: 'Cher' }]);
    expect(laid?.lackOf('/data/users/0/lastName')).toMatchObject({
      type: 'invalid value',
      row: 2,
      column: 'Name',
      value: 'Cher',
    });
  });

  test('managers by full names, which stand in one column', () => {
    const { users } = laidWell(`
      Employee ID | Employee name | Department | Reporting to
      E1          | Berg, Anna    | D1         |
      E2          | Bo Ek         | D2         | Anna Berg`);
    expect(users?.map(({ accessInfo }) => accessInfo?.['adminOf'])).toEqual([['D2'], []]);
  });
});

describe('values', () => {
  const valueOf = (header: string, cell: Cell) => {
    const { users, faults } = lay([
      ['externalId', 'lastName', header],
      ['E1', 'Berg', cell],
    ]);
    return { ...users?.[0], ...users?.[0]?.accessInfo, faults } as User & { faults: Detail[] };
  };

  test('text is taken as it stands, without white space around it', () => {
    expect(valueOf('First name', '\u00A0 Anna  Maria ')).toMatchObject({ firstName: 'Anna  Maria' });
    expect(valueOf('First name', '-')).toMatchObject({ firstName: '-' });
    expect(valueOf('First name', '="0012"')).toMatchObject({ firstName: '0012' });
    expect(valueOf('Time zone', 'Europe/Stockholm')).toMatchObject({ timezone: 'Europe/Stockholm' });
  });

  test.each([
    [
      true,
      [
        'true',
        'TRUE',
        'Yes',
        'y',
        'Ja',
        'J',
        'Sant',
        'WAHR',
        'x',
        'X',
        '1',
        1,
        true,
        'Active',
        'aktiv',
        'Anställd',
      ],
    ],
    [
      false,
      ['false', 'No', 'n', 'Nej', 'nein', 'falskt', 'Falsch', '0', 0, false, 'Inactive', 'inaktiv', 'Slutat'],
    ],
  ] as [boolean, Cell[]][])('active: %s', (active, cells) => {
    for (const cell of cells) {
      expect(valueOf('Active', cell)).toMatchObject({ active, faults: [] });
      expect(valueOf('Status', cell)).toMatchObject({ active, faults: [] });
    }
  });

  test('values that are not known stop nothing: they are listed with counts, and the cells count as empty', () => {
    const table = `
      externalId | Status         | Role   | Is manager
      E1         | active         | Manager| yes
      E2         | In Elternzeit  | Wizard | perhaps
      E3         | in elternzeit  |        |
      E4         | Leave          |        |`;
    const { users, faults, warnings, laid } = lay(table);
    expect(faults).toEqual([]);
    expect(users?.map(({ active }) => active)).toEqual([true, undefined, undefined, undefined]);
    expect(users?.[1]?.accessInfo).toBeUndefined();
    expect([...laid!.unknownStatus]).toEqual([1, 2, 3]);
    expect(warnings).toMatchObject([
      { type: 'unknown value', row: 3, column: 'Status', value: 'In Elternzeit', count: 3 },
      { type: 'unknown value', row: 3, column: 'Role', value: 'Wizard', count: 1 },
      { type: 'unknown value', row: 3, column: 'Is manager', value: 'perhaps', count: 1 },
    ]);
    expect(warnings[0]?.message).toContain('"In Elternzeit" (2 rows), "Leave" (1 row)');
    expect(warnings[0]?.message).toContain('npx soundings value map --field active');
  });

  test('a column without any known value lists the most frequent, and how many others there are', () => {
    const rows = Array.from({ length: 3000 }, (_, i): Cell[] => [
      `E${i}`,
      'A',
      i % 3 === 0 ? 'often' : `no. ${i}`,
    ]);
    const { warnings } = lay([['externalId', 'First name', 'Status'], ...rows]);
    expect(warnings).toMatchObject([{ type: 'unknown value', count: 3000, value: 'often' }]);
    expect(warnings[0]?.message).toContain('"often" (1,000 rows)');
    expect(warnings[0]?.message).toContain('and 1,991 more');
  });

  test('what an account has said of values counts, also against what is known here', () => {
    const values = new Map<string, ValueMeaning>([
      [keyOfValue('active', 'in elternzeit'), 'no'],
      [keyOfValue('active', 'active'), 'ignore'],
      [keyOfValue('role', 'wizard'), 'Administrator'],
      [keyOfValue('isManager', 't'), 'yes'],
    ]);
    const { users } = laidAs(
      `
      externalId | Status        | Role   | Is manager | Department
      E1         | IN  ELTERNZEIT | Wizard |            | D1
      E2         | Active        |        | T          | D1`,
      { values },
    );
    expect(users).toMatchObject([
      { active: false, accessInfo: { role: 'Administrator' } },
      { accessInfo: { role: 'Manager', adminOf: ['D1'] } },
    ]);
    expect(users?.[1]).not.toHaveProperty('active');
  });

  test('roles in three languages and any letter case', () => {
    for (const [role, words] of [
      ['Administrator', ['administrator', 'ADMIN', 'Administratör']],
      ['Manager', ['manager', 'Chef', 'Vorgesetzte', 'führungskraft']],
      ['User', ['USER', 'Användare', 'Mitarbeiter', 'employee']],
    ] as const) {
      for (const word of words) expect(valueOf('Role', word)).toMatchObject({ role, faults: [] });
    }
  });

  test('languages by code, locale or name; others are ignored', () => {
    for (const [language, words] of [
      ['sv', ['sv', 'SV', 'sv-SE', 'sv_SE', 'swe', 'Swedish', 'svenska', 'SCHWEDISCH', 'Swedish (Sweden)']],
      ['de', ['de', 'de-AT', 'German', 'tyska', 'Deutsch', 'deu']],
      ['en', ['en', 'en_GB', 'English', 'engelska', 'Englisch']],
      ['fi', ['Finnish', 'suomi', 'finska']],
      ['nb', ['norsk bokmål']],
      ['no', ['Norwegian', 'norska']],
      [undefined, ['Klingon', 'xx', 'tlh']],
    ] as const) {
      for (const word of words) {
        const { language: read, faults } = valueOf('Language', word);
        expect([word, read, faults]).toEqual([word, language, []]);
      }
    }
  });

  test('time zones in any letter case, and with spaces', () => {
    for (const [cell, timezone] of [
      ['europe/stockholm', 'Europe/Stockholm'],
      ['AMERICA/NEW YORK', 'America/New_York'],
      ['CET', 'CET'],
      ['Stockholm', undefined],
      ['+01:00', undefined],
    ]) {
      const { timezone: read, faults } = valueOf('Time zone', cell as string);
      expect([cell, read, faults]).toEqual([cell, timezone, []]);
    }
  });

  test('phone numbers: 00 is +, (0) is dropped, dots and slashes too; what is no number is ignored', () => {
    for (const [cell, phone] of [
      ['+46701234567', '+46701234567'],
      ['0046 70 123 45 67', '+46 70 123 45 67'],
      ['00 49 171/1234567', '+49 1711234567'],
      ['+46 (0)70-123 45 67', '+46 70-123 45 67'],
      ['(+46) 70.123.45.67', '(+46) 701234567'],
      ["'+46701234567", '+46701234567'],
      ['08-123 45 67 ext. 5', undefined],
      ['ask Anna', undefined],
      ['+46', undefined],
      ['4,67E+10', undefined],
      [4.67e20, undefined],
    ] as const) {
      const { phone: read, faults } = valueOf('Phone', cell);
      expect([cell, read, faults]).toEqual([cell, phone, []]);
    }
  });

  describe('phone numbers without a country prefix', () => {
    const table: Cell[][] = [
      ['externalId', 'phone'],
      ['E1', '070-123 45 67'],
      ['E2', '+47 21 00 00 00'],
      ['E3', '(08) 123 45 67'],
      ['E4', 701234568],
      ['E5', '123'],
    ];
    const phonesOf = (users: User[] | undefined) => users?.map(({ phone }) => phone);

    test('are not read, and the warning says which cells, and how to set the default country', () => {
      const { users, faults, warnings } = lay(table);
      expect(faults).toEqual([]);
      expect(phonesOf(users)).toEqual([undefined, '+47 21 00 00 00', undefined, undefined, undefined]);
      const warning = only(warnings.filter(({ type }) => type === 'local number'));
      expect(warning).toMatchObject({ row: 2, column: 'phone', count: 4 });
      expect(warning.message).toContain('in rows 2, 4, 5, 6');
      expect(warning.message).toContain('npx soundings account set --country');
      expect(JSON.stringify(warning)).not.toContain('123 45');
    });

    test('are of the default country, and the warnings name it', () => {
      const { users, faults, warnings } = lay(table, [], { country: 'SE' });
      expect(faults).toEqual([]);
      expect(phonesOf(users)).toEqual([
        '+46701234567',
        '+47 21 00 00 00',
        '+4681234567',
        '+46701234568',
        undefined,
      ]);
      expect(warnings.filter(({ type }) => type === 'default country')).toMatchObject([
        { row: 2, count: 3, message: expect.stringContaining('numbers of SE') as string },
        { row: 6, count: 1, message: expect.stringContaining('no numbers of this length') as string },
      ]);
    });
  });

  test('a phone number that stands as a number gets its + when every number of the column has a country prefix', () => {
    const phones = (...cells: Cell[]) =>
      lay([['externalId', 'phone'], ...cells.map((cell, i) => [`E${i}`, cell])]).users?.map(
        ({ phone }) => phone,
      );
    expect(phones(46701234567, 4917112345678, 4791234567, null, '070-1')).toEqual([
      '+46701234567',
      '+4917112345678',
      '+4791234567',
      undefined,
      undefined,
    ]);
    expect(phones(46701234567, 701234567)).toEqual([undefined, undefined]);
    // German mobile numbers that have lost their zero look like American ones.
    expect(phones(15123456789)).toEqual([undefined]);
  });

  test('numbers that are ids are written out, with a warning once a column', () => {
    const { users, faults, warnings } = lay(
      [
        ['Employee ID', 'Department', 'Phone', 'Age', 'Manager'],
        [123, 4_500_000_000, 46701234567, 17.5, 124],
        [124, 4_500_000_001, null, 1e20, null],
      ],
      ['Age'],
    );
    expect(faults).toEqual([]);
    expect(users).toMatchObject([
      { externalId: '123', accessInfo: { memberOf: ['4500000000'] }, externalProperties: { Age: '17.5' } },
      {
        externalId: '124',
        accessInfo: { memberOf: ['4500000001'] },
        externalProperties: { Age: '100000000000000000000' },
      },
    ]);
    expect(warnings).toMatchObject([
      { type: 'number as text', row: 2, column: 'Employee ID', value: '123' },
      { type: 'number as text', row: 2, column: 'Phone', value: '46701234567' },
      { type: 'number as text', row: 2, column: 'Department', value: '4500000000' },
      { type: 'number as text', row: 2, column: 'Manager', value: '124' },
    ]);
    expect(warnings).toHaveLength(4);
  });

  test('an id of more digits than a cell keeps is a fault', () => {
    const { faults } = lay([
      ['Employee ID', 'First name'],
      [1234567890123456, 'Anna'],
    ]);
    expect(faults).toMatchObject([{ type: 'invalid value', row: 2, column: 'Employee ID' }]);
  });

  test('an id that a spreadsheet program has shortened in a CSV file is a fault, and a phone number is ignored', () => {
    const { faults } = lay('Employee ID | Phone | Cost center \n 4.67012E+10 | 4,67E+10 | 1E+5', [
      'Cost center',
    ]);
    expect(faults).toMatchObject([
      { type: 'invalid value', row: 2, column: 'Employee ID', value: '4.67012E+10' },
    ]);
    expect(faults).toHaveLength(1);
    expect(lay('Employee ID | Department \n 1 | 4.67012E+10').faults).toHaveLength(1);
  });

  test('text ids keep their zeros', () => {
    expect(laidWell('Employee ID | Department ID \n 00123 | 007').users).toEqual([
      { externalId: '00123', accessInfo: { memberOf: ['007'] } },
    ]);
  });

  test('text that no database can hold is a fault, and does not come out', () => {
    for (const bad of ['An\0na', 'An\uD800na']) {
      const { users, faults } = lay([
        ['Employee ID', 'First name'],
        ['E1', bad],
      ]);
      expect(faults).toMatchObject([{ type: 'invalid text', row: 2, column: 'First name' }]);
      expect(only(users)['firstName']).toBe('An\uFFFDna');
    }
  });

  test('what a failed formula shows is a fault where a value is needed', () => {
    for (const error of ['#N/A', '#REF!', '#NV', '#SAKNAS!']) {
      for (const header of ['First name', 'Department', 'Admin of']) {
        expect(valueOf(header, error).faults).toMatchObject([
          { type: 'invalid value', row: 2, value: error },
        ]);
      }
    }
    expect(valueOf('First name', '#1').faults).toEqual([]);
  });

  describe('cells of optional columns', () => {
    const optional = ['Email', 'Phone', 'Time zone', 'Language', 'Gender', 'Site'];
    const knowledge = { allowedValues: new Map([['Gender', ['Male', 'Female', 'n/a']]]) };
    const layWith = (rows: Cell[][]) =>
      lay([['Employee ID', 'First name', ...optional], ...rows], ['Gender', 'Site'], knowledge);

    test('that only say that there is no value count as empty: one warning for each column, with counts', () => {
      const rows = ['-', '–', 'n/a', 'N/A', 'null', 'saknas', 'k.A.', 'Keine Angabe'].map(
        (text, i): Cell[] => [
          `E${i}`,
          'None',
          ...optional.map((header) => (header === 'Gender' && /^n\/a$/i.test(text) ? null : text)),
        ],
      );
      const { users, faults, warnings } = layWith(rows);
      expect(faults).toEqual([]);
      expect(users).toEqual(rows.map(([externalId]) => ({ externalId, firstName: 'None' })));
      expect(warnings.map(({ type, column, count }) => [type, column, count])).toEqual([
        ['placeholder', 'Email', 8],
        ['placeholder', 'Phone', 8],
        ['placeholder', 'Time zone', 8],
        ['placeholder', 'Language', 8],
        ['placeholder', 'Gender', 6],
        ['placeholder', 'Site', 8],
      ]);
      expect(warnings[0]?.message).toContain('"n/a" (2 rows)');
      expect(warnings[0]?.message).toContain('what is there already stays as it is');
    });

    test('in a text that may be anything, none is an answer; elsewhere it is not', () => {
      const { users, warnings } = layWith([
        ['E1', 'Anna', 'none', 'ingen', 'Keine', 'ei ole', 'none', 'none'],
      ]);
      expect(users).toEqual([{ externalId: 'E1', firstName: 'Anna', externalProperties: { Site: 'none' } }]);
      expect(warnings.map(({ type }) => type)).toEqual(optional.slice(1).map(() => 'placeholder'));
    });

    test('a value that the account allows is one, also n/a, and letter case does not count', () => {
      const { users, warnings } = layWith([
        ['E1', 'Anna', null, null, null, null, 'n/a', null],
        ['E2', 'Bo', null, null, null, null, 'FEMALE', null],
      ]);
      expect(users?.map((user) => user['externalProperties'])).toEqual([
        { Gender: 'n/a' },
        { Gender: 'Female' },
      ]);
      expect(warnings).toEqual([]);
    });

    test('that cannot be read are ignored: one warning for each value, with its rows and what happens, which quotes it nowhere', () => {
      const { users, faults, warnings } = layWith([
        ['E1', 'Anna', 'anna(at)example.com', 'ext. 12', 'Europe/Nowhere', 'Klingon', 'Wizard', '#N/A'],
        ['E2', 'Bo', '#N/A', 'EXT. 12', '', 'sv', 'Wizard', 'x'.repeat(1001)],
        ['E3', 'Cilla', 'c@example.com', '+46701234567', 'UTC', 'de', 'Male', 'Lund'],
      ]);
      expect(faults).toEqual([]);
      expect(users).toEqual([
        { externalId: 'E1', firstName: 'Anna' },
        { externalId: 'E2', firstName: 'Bo', language: 'sv' },
        {
          externalId: 'E3',
          firstName: 'Cilla',
          email: 'c@example.com',
          phone: '+46701234567',
          timezone: 'UTC',
          language: 'de',
          externalProperties: { Gender: 'Male', Site: 'Lund' },
        },
      ]);
      expect(
        warnings.map(({ type, column, value, count, row }) => [
          type,
          column,
          value?.slice(0, 20),
          count,
          row,
        ]),
      ).toEqual([
        ['ignored value', 'Email', 'anna(at)example.com', 1, 2],
        ['ignored value', 'Email', '#N/A', 1, 3],
        ['ignored value', 'Phone', 'ext. 12', 2, 2],
        ['ignored value', 'Time zone', 'Europe/Nowhere', 1, 2],
        ['ignored value', 'Language', 'Klingon', 1, 2],
        ['ignored value', 'Gender', 'Wizard', 2, 2],
        ['ignored value', 'Site', '#N/A', 1, 2],
        ['ignored value', 'Site', 'x'.repeat(20), 1, 3],
      ]);
      expect(warnings[2]?.message).toBe(
        '2 cells of "Phone", in rows 2, 3, can\'t be read as a phone number, and are ignored: people who are there already ' +
          'keep their phone number, and new people have none.',
      );
      expect(warnings[5]?.message).toContain('"Male", "Female"');
      expect(warnings.map(({ message }) => message).join()).not.toMatch(
        /ext\. 12|anna\(at|Klingon|Wizard|Nowhere/,
      );
    });

    test('with very many values list the most frequent, and count all others', () => {
      const rows = Array.from({ length: 3000 }, (_, i): Cell[] => [
        `E${i}`,
        'A',
        null,
        i % 3 ? `no. ${i}` : 'often',
      ]);
      const { warnings } = layWith(rows);
      expect(warnings).toHaveLength(101);
      expect(warnings[0]).toMatchObject({ value: 'often', count: 1000 });
      expect(warnings.at(-1)).toMatchObject({ count: 1901 });
      expect(warnings.at(-1)).not.toHaveProperty('value');
      expect(warnings.reduce((sum, { count = 0 }) => sum + count, 0)).toBe(3000);
    });

    test('a status or role that a formula has not found is unknown, and no fault', () => {
      const { faults, warnings } = lay('Employee ID | Status | Role | Is manager \n E1 | #N/A | #REF! | #NV');
      expect(faults).toEqual([]);
      expect(warnings.map(({ type, value }) => [type, value])).toEqual([
        ['unknown value', '#N/A'],
        ['unknown value', '#REF!'],
        ['unknown value', '#NV'],
      ]);
    });

    test('groups: a placeholder is no group, unless one has it as id or name; a group without a parent is at the top', () => {
      const people = 'Employee ID | Department | Admin of \n E1 | - | n/a \n E2 | D1 | saknas';
      const { users, warnings } = lay(people);
      expect(users?.map(({ accessInfo }) => accessInfo)).toEqual([undefined, { memberOf: ['D1'] }]);
      expect(warnings).toMatchObject([
        { type: 'placeholder', column: 'Admin of', count: 2 },
        { type: 'placeholder', column: 'Department', count: 1 },
      ]);
      const { users: there } = lay(people, [], { isThere: (kind, id) => kind === 'groups' && id === '-' });
      expect(there?.[0]?.accessInfo).toEqual({ memberOf: ['-'] });
      const tree = lay('Department ID | Department name | Parent \n D1 | Top | - \n D2 | North | D1');
      expect(tree.groups).toEqual([
        { externalId: 'D1', name: 'Top' },
        { externalId: 'D2', name: 'North', parent: 'D1' },
      ]);
      expect(tree.warnings).toMatchObject([{ type: 'placeholder', column: 'Parent', row: 2 }]);
      expect(tree.warnings[0]?.message).not.toContain('stays as it is');
    });

    test('ids are needed: a dash for one is a fault, with its value', () => {
      for (const id of ['-', 'n/a', '?']) {
        expect(lay(`Employee ID | First name \n ${id} | Anna`).faults).toMatchObject([
          { type: 'missing field', row: 2, column: 'Employee ID', value: id },
        ]);
      }
      expect(lay('Employee ID | First name \n nil | Nil').faults).toEqual([]);
    });

    test('phone numbers that could be of several countries are said', () => {
      const { users, warnings } = lay('externalId | phone \n E1 | 46701234567 \n E2 | 030 123456', [], {
        country: 'DE',
      });
      expect(users?.map(({ phone }) => phone)).toEqual(['+4946701234567', '+4930123456']);
      expect(warnings).toMatchObject([
        { type: 'default country', count: 2 },
        {
          type: 'default country',
          count: 1,
          row: 2,
          message: expect.stringContaining('another country') as string,
        },
      ]);
    });
  });

  test('an empty cell is left out; (empty) clears what can be cleared', () => {
    const { users } = laidWell(
      `
      externalId | email   | phone   | Gender  | memberOf | adminOf
      E1         |         |         |         |          |
      E2         | (empty) | (Empty) | (EMPTY) | (empty)  | D1`,
      ['Gender'],
    );
    expect(users).toEqual([
      { externalId: 'E1' },
      {
        externalId: 'E2',
        email: null,
        phone: null,
        externalProperties: { Gender: null },
        accessInfo: { memberOf: [], adminOf: ['D1'] },
      },
    ]);
    expect(
      laidWell('externalId | name | description | parent \n D1 | Sales | (empty) | (empty)').groups,
    ).toEqual([{ externalId: 'D1', name: 'Sales', description: null, parent: null }]);
  });

  test('what cannot be cleared says so', () => {
    const { faults } = lay('externalId | lastName | active | role \n E1 | (empty) | (empty) | (empty)');
    expect(faults.map(({ column, value }) => [column, value])).toEqual([
      ['active', '(empty)'],
      ['role', '(empty)'],
      ['lastName', '(empty)'],
    ]);
    expect(lay('externalId | lastName \n (empty) | Berg').faults).toMatchObject([
      { type: 'missing field', row: 2 },
    ]);
  });
});

describe('rows', () => {
  test('rows of one person add up: groups together, and single values that agree or are empty', () => {
    const { users } = laidWell(`
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

  test('rows that do not agree are a fault that names both', () => {
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

  test('so it is over sheets, and with groups', () => {
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

  test('a row without an id is a fault; one that says nothing at all is none', () => {
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

describe('groups of people', () => {
  const memberOf = (table: string) => only(laidWell(table).users).accessInfo?.['memberOf'];

  test('several in a cell, in repeated columns, in numbered columns, in columns of several kinds', () => {
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
  ])('names go with ids: %s', (headers) => {
    const { laid, users } = laidWell(`${headers} \n E1 | D1 | Sales; North`);
    expect(only(users).accessInfo).toEqual({ memberOf: ['D1'] });
    expect([...laid!.named]).toEqual([
      ['D1', { name: 'Sales; North', path: '/data/users/0/accessInfo/memberOf/0' }],
    ]);
  });

  test('names go with ids in their order, within a cell and over columns', () => {
    const { laid } = laidWell(`
      Employee ID | Department ID | Department name | Department ID | Department name | Team ID | Team name
      E1          | D1; D2        | One; Two        | D3            | Three           | T1      |`);
    expect([...laid!.named].map(([id, { name }]) => [id, name])).toEqual([
      ['D1', 'One'],
      ['D2', 'Two'],
      ['D3', 'Three'],
      ['T1', 'T1'],
    ]);
  });

  test('numbered ids and names go by their numbers', () => {
    const { laid } = laidWell(`
      Employee ID | Department ID 2 | Department name 1 | Department name 2 | Department ID 1
      E1          | D2              | One               | Two               | D1`);
    expect([laid?.named.get('D1')?.name, laid?.named.get('D2')?.name]).toEqual(['One', 'Two']);
  });

  test('with names only, the names are the ids', () => {
    const { laid, users } = laidWell(`
      Employee ID | Department ID | Department name
      E1          |               | Sales
      E2          | D1            | North`);
    expect(users?.map(({ accessInfo }) => accessInfo?.['memberOf'])).toEqual([['Sales'], ['D1']]);
    expect(laid?.named.get('Sales')?.name).toBe('Sales');
    expect(memberOf('Employee ID | Department name \n E1 | Sales; North')).toEqual(['Sales', 'North']);
  });

  test('names that cannot be told apart, or differ, are warnings', () => {
    const uneven = lay('Employee ID | Department ID | Department name \n E1 | D1; D2 | One; Two; Three');
    expect(uneven.warnings).toMatchObject([{ type: 'invalid value', row: 2, column: 'Department name' }]);
    expect(uneven.laid?.named.get('D1')?.name).toBe('D1');
    const { laid, warnings } = lay(`
      Employee ID | Department ID | Department name
      E0          | D1            |
      E1          | D1            | Sales
      E2          | D1            | Selling
      E3          | D1            | Sale`);
    expect(warnings).toMatchObject([{ type: 'conflicting rows', row: 4 }]);
    expect(warnings).toHaveLength(1);
    expect(laid?.named.get('D1')).toEqual({ name: 'Sales', path: '/data/users/0/accessInfo/memberOf/0' });
  });

  test('the other lists of groups', () => {
    expect(
      only(laidWell('externalId | admin_of | inheritedAdminOf | interest of \n E1 | A;B | C | D').users)
        .accessInfo,
    ).toEqual({
      adminOf: ['A', 'B'],
      inheritedAdminOf: ['C'],
      interestOf: ['D'],
    });
  });

  test('a file that names groups without end is a fault, and is not laid out without end', () => {
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

  test('IsManager makes a Manager of the groups of that row; no takes that away; an empty cell says nothing', () => {
    const { laid, users } = laidWell(`
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
    expect([...laid!.inferredRoles]).toEqual([0, 1]);
  });

  test('a column of roles says otherwise, and a column adminOf adds up', () => {
    const { laid, users } = laidWell(`
      Employee ID | IsManager | Role          | Department | Admin of
      E1          | x         | Administrator | D1         | D9
      E2          | nej       |               | D1         | D8`);
    expect(access(users)).toEqual({
      E1: { role: 'Administrator', memberOf: ['D1'], adminOf: ['D9', 'D1'] },
      E2: { role: 'User', memberOf: ['D1'], adminOf: ['D8'] },
    });
    expect([...laid!.inferredRoles]).toEqual([1]);
  });

  test('a column Manager that only says yes and no is the same', () => {
    const { users } = laidWell(
      'Anställningsnummer | Chef | Avdelning \n E1 | Ja | D1 \n E2 | | D1 \n E3 | nej | D2',
    );
    expect(access(users)).toEqual({
      E1: { role: 'Manager', memberOf: ['D1'], adminOf: ['D1'] },
      E2: { memberOf: ['D1'] },
      E3: { role: 'User', memberOf: ['D2'], adminOf: [] },
    });
  });

  test('a column Manager that names people gives them the groups of those rows; who is not named has none', () => {
    const { users } = laidWell(`
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

  test('an id that looks like yes is an id', () => {
    const { users } = laidWell('Employee ID | Manager | Department \n 1 | | D0 \n 2 | 1 | D1');
    expect(access(users)).toMatchObject({ 1: { role: 'Manager', adminOf: ['D1'] }, 2: { role: 'User' } });
  });

  test('a name that is nobody of the file is a warning', () => {
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

  test('a column that names nobody of the file takes nothing from anybody, and is one warning', () => {
    const { users, warnings } = lay(
      'Employee ID | Manager | Department \n E1 | Bo Ek | D0 \n E2 | Bo Ek | D1',
    );
    expect(access(users)).toEqual({ E1: { memberOf: ['D0'] }, E2: { memberOf: ['D1'] } });
    expect(warnings).toMatchObject([{ type: 'invalid value', row: 2, column: 'Manager' }]);
    expect(warnings).toHaveLength(1);
  });

  test.each(['Anna Berg', 'Berg, Anna', 'anna  berg', 'Anna Berg (E1)', 'A. Berg (E1)'])(
    '%s names the manager, where only one person is called so',
    (name) => {
      const { users } = laidWell(`
        Employee ID | First name | Last name | Department | Manager
        E1          | Anna       | Berg      | D1         | NO_MANAGER
        E2          | Bo         | Ek        | D2         | ${name}`);
      expect(users?.map(({ accessInfo }) => accessInfo?.['adminOf'])).toEqual([['D2'], []]);
    },
  );

  test('names that two people have, or that no one has, are ignored: one warning for each, and no one loses a group', () => {
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
    expect(warnings[1]?.message).toContain('2 people in this file (rows 2, 4)');
    // Runs keep messages longer than people may stay.
    expect(warnings.map(({ message }) => message).join()).not.toMatch(/Nobody Here|Berg,|"Anna Berg"/);
  });

  test('a cell that only says that there is no manager names no one in vain', () => {
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

  test('such a name is no fault where another column says who it is', () => {
    const { users } = laidWell(`
      Employee ID | First name | Last name | Department | Manager       | Manager ID
      E1          | Anna       | Berg      | D1         |               |
      E2          | Bo         | Ek        | D2         | Anna Berg     | E1
      E3          | Anna       | Berg      | D3         | Anna Berg (E1)| `);
    expect(users?.[0]?.accessInfo?.['adminOf']).toEqual(['D2', 'D3']);
  });

  test('names of managers beside their ids do not disturb', () => {
    const { users } = laidWell(`
      Employee ID | Manager | Manager ID | Department
      E1          |         |            | D0
      E2          | Bo Ek   | E1         | D1`);
    expect(access(users)).toMatchObject({ E1: { role: 'Manager', adminOf: ['D1'] } });
  });

  test('groups may name their managers', () => {
    const groups =
      'Department ID | Department name | Manager e-mail | Head \n D1 | Sales | a@example.com | \n D2 | North | | E2';
    const { users } = laidWell([
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

describe('places', () => {
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
  const { laid } = lay([people, groups], ['Cost/center']);

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
  ])('%s', (path, place) => {
    expect(laid?.placeOf(path)).toEqual(place);
  });

  test('a file that is one sheet without a name has rows and columns only', () => {
    expect(lay('Employee ID | Email \n E1 | a@x.se').laid?.placeOf('/data/users/0/email')).toEqual({
      row: 2,
      column: 'Email',
      value: 'a@x.se',
    });
  });

  test('what the check finds has its place', () => {
    const findings = newFindings();
    readOrganization({ data: laid!.data }, findings);
    const found = findings.faults().map(({ type, path }) => [type, laid!.placeOf(path ?? '')]);
    expect(found).toContainEqual(['missing field', { sheet: 'Groups', row: 3, column: 'Department name' }]);
    expect(found.every(([, place]) => place !== undefined)).toBe(true);
  });

  test('long values are cut', () => {
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

  /** Everything that comes out, lists as sets. */
  const outcome = (rows: Cell[][]) => {
    const { users, faults, warnings, laid } = lay(rows, attributes);
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
      named: [...(laid?.named ?? [])].map(([id, { name }]) => `${id} ${name}`).toSorted(),
      inferred: [...(laid?.inferredRoles ?? [])],
      faults: sorted(faults),
      warnings: sorted(warnings),
    };
  };

  test('the order of columns, letter case, separators and what stands above change nothing', () => {
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
          const spoil = (header: string) =>
            [...header]
              .map((letter) => (next() % 2 ? letter.toUpperCase() : letter.toLowerCase()))
              .map((letter) => (letter === ' ' ? ['_', '-', '', ' . ', '/', '\n'][next() % 6] : letter))
              .join('');
          const other = [
            ...above,
            order.map((i) => spoil(headers[i]!)),
            ...rows.map((row) => order.map((i) => row[i] ?? null)),
          ];
          expect(outcome(other)).toEqual(outcome([headers, ...rows]));
        },
      ),
      cases(125),
    );
  });

  const anything: fc.Arbitrary<Cell> = fc.oneof(
    fc.constantFrom(
      ...wordsIn(
        [...userSpellings, ...groupSpellings]
          .flatMap(({ en, sv, de }) => [en, sv, de].flatMap(wordsIn))
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
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.nat({ max: 0xffff }).map((code) => String.fromCharCode(code)) }),
    fc.double(),
    fc.boolean(),
    fc.constant(null),
  );

  test('nothing throws, every fault and warning has a place, and what comes out can be checked', () => {
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
        const { laid, faults, warnings } = lay(file, ['Gender', '__proto__', 'a b', 'A-B', '!']);
        expect(laid !== undefined || faults.length > 0).toBe(true);
        for (const { row, sheet: name, message } of [...faults, ...warnings]) {
          expect(row).toBeGreaterThanOrEqual(1);
          expect(file.some((one) => one.name === (name ?? ''))).toBe(true);
          expect(message.length).toBeLessThan(1_000);
        }
        if (!laid) return;
        const findings = newFindings();
        readOrganization({ data: laid.data }, findings);
        const nowhere = findings.faults().filter(({ path = '' }) => !laid.placeOf(path)?.row);
        expect(nowhere).toEqual([]);
        for (const { path } of laid.named.values()) expect(laid.placeOf(path)?.value).toBeDefined();
      }),
      cases(250),
    );
  });
});

describe('docs/files.md', () => {
  const page = readFileSync(new URL('../../../docs/files.md', import.meta.url), 'utf8');
  const written = new Set([...page.matchAll(/`([^`\n]+)`/g)].map(([, text]) => text));

  test('lists every spelling that is known', () => {
    const words = [
      ...Object.values(ownFields).flat(),
      ...[...userSpellings, ...groupSpellings, ...Object.values(families)].flatMap(wordsOf),
      ...[idEndings, nameEndings, parentWords, managerWords, managerEndings].flatMap(wordsIn),
    ];
    expect(words.filter((word) => !written.has(word))).toEqual([]);
  });

  test('has examples without faults', () => {
    const examples = [...page.matchAll(/^```(\w*)\n(.*?)^```$/gms)]
      .filter(([, language, text]) => language === '' && /^.*;.*;/.test(text as string))
      .map(([, , text]) => text as string);
    expect(examples.length).toBeGreaterThan(4);
    for (const example of examples) laidWell(tableOf(example.replaceAll(';', '|')));
  });
});
