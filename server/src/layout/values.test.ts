// How the cells of a column are read. Each rule has a small table.
import type { Detail } from '@soundings/contract/problem.ts';
import type { ValueMeaning } from '@soundings/contract/people/meanings.ts';
import { describe, expect, test } from 'vitest';
import type { Cell } from '../sheets/sheet.ts';
import { mappingKey } from './values.ts';
import { lay, layForAccount, layValid, only, type User } from './layout.fixture.ts';

describe('values', () => {
  const valueOf = (header: string, cell: Cell) => {
    const { users, faults } = lay([
      ['externalId', 'lastName', header],
      ['E1', 'Berg', cell],
    ]);
    return { ...users?.[0], ...users?.[0]?.accessInfo, faults } as User & { faults: Detail[] };
  };

  test('reads text unchanged, except for white space at its ends', () => {
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
  ] as [boolean, Cell[]][])('reads active as %s', (active, cells) => {
    for (const cell of cells) {
      expect(valueOf('Active', cell)).toMatchObject({ active, faults: [] });
      expect(valueOf('Status', cell)).toMatchObject({ active, faults: [] });
    }
  });

  test('treats cells with unknown values as empty, and lists the values with counts', () => {
    const table = `
      externalId | Status         | Role   | Is manager
      E1         | active         | Manager| yes
      E2         | In Elternzeit  | Wizard | perhaps
      E3         | in elternzeit  |        |
      E4         | Leave          |        |`;
    const { users, faults, warnings, laidOut } = lay(table);
    expect(faults).toEqual([]);
    expect(users?.map(({ active }) => active)).toEqual([true, undefined, undefined, undefined]);
    expect(users?.[1]?.accessInfo).toBeUndefined();
    expect([...laidOut!.unknownStatus]).toEqual([1, 2, 3]);
    expect(warnings).toMatchObject([
      { type: 'unknown value', row: 3, column: 'Status', value: 'In Elternzeit', count: 3 },
      { type: 'unknown value', row: 3, column: 'Role', value: 'Wizard', count: 1 },
      { type: 'unknown value', row: 3, column: 'Is manager', value: 'perhaps', count: 1 },
    ]);
    expect(warnings[0]?.message).toContain('"In Elternzeit" (2 rows), "Leave" (1 row)');
    expect(warnings[0]?.message).toContain('npx soundings value map --field active');
  });

  test('lists the most frequent unknown values of a column, and the number of others', () => {
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

  test('uses the meanings that the account has confirmed, even instead of built-in ones', () => {
    const values = new Map<string, ValueMeaning>([
      [mappingKey('active', 'in elternzeit'), 'no'],
      [mappingKey('active', 'active'), 'ignore'],
      [mappingKey('role', 'wizard'), 'Administrator'],
      [mappingKey('isManager', 't'), 'yes'],
    ]);
    const { users } = layForAccount(
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

  test('reads roles in three languages and any letter case', () => {
    for (const [role, words] of [
      ['Administrator', ['administrator', 'ADMIN', 'Administratör']],
      ['Manager', ['manager', 'Chef', 'Vorgesetzte', 'führungskraft']],
      ['User', ['USER', 'Användare', 'Mitarbeiter', 'employee']],
    ] as const) {
      for (const word of words) expect(valueOf('Role', word)).toMatchObject({ role, faults: [] });
    }
  });

  test('reads languages by code, locale or name, and ignores others', () => {
    for (const [language, words] of [
      ['sv', ['sv', 'SV', 'sv-SE', 'sv_SE', 'swe', 'Swedish', 'svenska', 'SCHWEDISCH', 'Swedish (Sweden)']],
      // In the languages that people answer in.
      ['sv', ['ruotsi', 'szwedzki', 'suédois', 'sueco', 'Zweeds', 'السويدية']],
      ['pl', ['polski', 'polsk', 'puola', 'Polish']],
      ['ar', ['العربية', 'arabiska', 'Arabic', 'ara']],
      ['de', ['de', 'de-AT', 'German', 'tyska', 'Deutsch', 'deu']],
      ['en', ['en', 'en_GB', 'English', 'engelska', 'Englisch']],
      ['fi', ['Finnish', 'suomi', 'finska']],
      ['nb', ['nb', 'nob', 'norsk bokmål', 'Norwegian Bokmål', 'nb-NO']],
      ['no', ['no', 'Norwegian', 'norska', 'norsk', 'norja']],
      [undefined, ['Klingon', 'xx', 'tlh']],
    ] as const) {
      for (const word of words) {
        const { language: read, faults } = valueOf('Language', word);
        expect([word, read, faults]).toEqual([word, language, []]);
      }
    }
  });

  test('reads time zones in any letter case and with spaces', () => {
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

  test('reads phone numbers with 00, (0), dots and slashes, and ignores what is not a phone number', () => {
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

    test('are ignored, with a warning that lists the cells and says how to set the default country', () => {
      const { users, faults, warnings } = lay(table);
      expect(faults).toEqual([]);
      expect(phonesOf(users)).toEqual([undefined, '+47 21 00 00 00', undefined, undefined, undefined]);
      const warning = only(warnings.filter(({ type }) => type === 'local number'));
      expect(warning).toMatchObject({ row: 2, column: 'phone', count: 4 });
      expect(warning.message).toContain('in rows 2, 4, 5, 6');
      expect(warning.message).toContain('npx soundings account set --country');
      expect(JSON.stringify(warning)).not.toContain('123 45');
    });

    test('are read in the default country, and the warnings name it', () => {
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
        { row: 2, count: 3, message: expect.stringContaining('numbers in SE') as string },
        { row: 6, count: 1, message: expect.stringContaining('never have this length') as string },
      ]);
    });
  });

  test('adds the + to phone numbers stored as numbers if every number of the column has a country prefix', () => {
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

  test('writes ids stored as numbers in full, with one warning for each column', () => {
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

  test('refuses an id with more digits than a cell can store', () => {
    const { faults } = lay([
      ['Employee ID', 'First name'],
      [1234567890123456, 'Anna'],
    ]);
    expect(faults).toMatchObject([{ type: 'invalid value', row: 2, column: 'Employee ID' }]);
  });

  test('refuses an id that a spreadsheet program has shortened in a CSV file, and ignores such a phone number', () => {
    const { faults } = lay('Employee ID | Phone | Cost center \n 4.67012E+10 | 4,67E+10 | 1E+5', [
      'Cost center',
    ]);
    expect(faults).toMatchObject([
      { type: 'invalid value', row: 2, column: 'Employee ID', value: '4.67012E+10' },
    ]);
    expect(faults).toHaveLength(1);
    expect(lay('Employee ID | Department \n 1 | 4.67012E+10').faults).toHaveLength(1);
  });

  test('keeps leading zeros of ids stored as text', () => {
    expect(layValid('Employee ID | Department ID \n 00123 | 007').users).toEqual([
      { externalId: '00123', accessInfo: { memberOf: ['007'] } },
    ]);
  });

  test('refuses and replaces text that no database can store', () => {
    for (const bad of ['An\0na', 'An\uD800na']) {
      const { users, faults } = lay([
        ['Employee ID', 'First name'],
        ['E1', bad],
      ]);
      expect(faults).toMatchObject([{ type: 'invalid text', row: 2, column: 'First name' }]);
      expect(only(users)['firstName']).toBe('An\uFFFDna');
    }
  });

  test('refuses the error of a formula where a value is required', () => {
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

    test('with placeholders count as empty, with one warning and a count for each column', () => {
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
      expect(warnings[0]?.message).toContain('so existing values are kept');
    });

    test('keep "none" as a value in free text, but treat it as a placeholder elsewhere', () => {
      const { users, warnings } = layWith([
        ['E1', 'Anna', 'none', 'ingen', 'Keine', 'ei ole', 'none', 'none'],
      ]);
      expect(users).toEqual([{ externalId: 'E1', firstName: 'Anna', externalProperties: { Site: 'none' } }]);
      expect(warnings.map(({ type }) => type)).toEqual(optional.slice(1).map(() => 'placeholder'));
    });

    test('keep a value that the account allows, even n/a, in any letter case', () => {
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

    test('that cannot be read are ignored, with one warning for each value that lists its rows but does not quote it', () => {
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
        '2 cells of "Phone", in rows 2, 3, can\'t be read as a valid phone number with a country code (E.164, for example +46701234567) ' +
          'and are ignored. Existing people keep their phone number, and new people get none.',
      );
      expect(warnings[5]?.message).toContain('"Male", "Female"');
      expect(warnings.map(({ message }) => message).join()).not.toMatch(
        /ext\. 12|anna\(at|Klingon|Wizard|Nowhere/,
      );
    });

    test('with very many values list the most frequent ones and count all others', () => {
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

    test('treat the error of a formula in a status or role as an unknown value', () => {
      const { faults, warnings } = lay('Employee ID | Status | Role | Is manager \n E1 | #N/A | #REF! | #NV');
      expect(faults).toEqual([]);
      expect(warnings.map(({ type, value }) => [type, value])).toEqual([
        ['unknown value', '#N/A'],
        ['unknown value', '#REF!'],
        ['unknown value', '#NV'],
      ]);
    });

    test('do not treat a placeholder as a group, unless a group has it as its id or name, and a placeholder as parent means the top', () => {
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

    test('do not include ids: a placeholder as an id is an error with its value', () => {
      for (const id of ['-', 'n/a', '?']) {
        expect(lay(`Employee ID | First name \n ${id} | Anna`).faults).toMatchObject([
          { type: 'missing field', row: 2, column: 'Employee ID', value: id },
        ]);
      }
      expect(lay('Employee ID | First name \n nil | Nil').faults).toEqual([]);
    });

    test('cause a warning about phone numbers that could belong to several countries', () => {
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

  test('leaves out empty cells, and clears optional values with (empty)', () => {
    const { users } = layValid(
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
      layValid('externalId | name | description | parent \n D1 | Sales | (empty) | (empty)').groups,
    ).toEqual([{ externalId: 'D1', name: 'Sales', description: null, parent: null }]);
  });

  test('refuses (empty) for values that cannot be cleared', () => {
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
