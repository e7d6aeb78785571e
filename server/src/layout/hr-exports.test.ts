// Lists with the headers of real HR systems: all people are read, and unknown columns and values only cause warnings.
import type { Detail } from '@soundings/contract/problem.ts';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { sharedData } from '../testing/shared.ts';
import { readCsv } from '../sheets/csv.ts';
import { type Knowledge, layOut } from './layout.ts';

const folder = sharedData('hr-exports');

/** An account in Sweden without settings for its files. */
const knowledge: Knowledge = {
  attributes: [],
  allowedValues: new Map(),
  mappings: new Map(),
  values: new Map(),
  country: 'SE',
  isThere: () => false,
};

const exportOf = (file: string): Buffer => readFileSync(`${folder}/${file}`);

function read(bytes: Buffer, known: Partial<Knowledge> = {}) {
  const faults: Detail[] = [];
  const warnings: Detail[] = [];
  const laidOut = layOut(
    [readCsv(bytes)],
    { ...knowledge, ...known },
    {
      fault: (one) => faults.push(one),
      warn: (one) => warnings.push(one),
    },
  );
  const users = laidOut?.data.users ?? [];
  const otherWarnings = warnings.filter(({ type }) => type !== 'unknown column');
  return {
    faults,
    warned: otherWarnings.map(({ type, column }) => [type, column]),
    ids: users.map(({ externalId }) => externalId),
    names: users.map(({ firstName, lastName }) => [firstName, lastName]),
    phones: users.map(({ phone }) => phone ?? null),
    active: users.map(({ active }) => active),
    managers: users.filter(({ accessInfo }) => (accessInfo as { role?: string })?.role === 'Manager').length,
  };
}

describe.skipIf(!folder)('exports of HR systems (../shared/data/hr-exports)', () => {
  const ids = ['1001', '1002', '1003', '1004', '1005'];
  test.each([
    ['bamboohr-report.csv', ids, [], 2],
    ['google-download-users.csv', ids, [], 2],
    ['successfactors-employee-export.csv', ids, [], 2],
    ['visma-lon-se-fornamn.csv', ids, [['default country', 'Mobiltelefon']], 2],
    ['workday-sftp-names.csv', ids, [], 2],
    ['workday-worker-report.csv', ids, [], 2],
    [
      'personio-export-en.csv',
      ['48210', '48211', '48212', '48213', '48214'],
      [['unknown value', 'Status']],
      2,
    ],
    [
      'entra-download-users.csv',
      [0, 1, 2, 3, 4].map((i) => `7cc0c81b-f2a2-489a-8243-eda96da421${i}d`),
      [['repeated column', 'telephoneNumber']],
      0,
    ],
  ])('reads %s', (file, people, warned, managers) => {
    const found = read(exportOf(file));
    expect(found).toMatchObject({ faults: [], warned, managers });
    expect(found.ids).toEqual(people);
    expect(found.names.slice(0, 2)).toEqual([
      ['Anna', 'Berg'],
      ['Björn', "O'Neil"],
    ]);
  });

  test('reads the mobile number in Entra, not the other phone number', () => {
    expect(read(exportOf('entra-download-users.csv')).phones.slice(0, 2)).toEqual([
      '+46 70 123 45 67',
      '+46 70 123 45 68',
    ]);
  });

  test('reads the statuses of Personio with the meanings that the account has confirmed', () => {
    const values: Knowledge['values'] = new Map([
      ['active leave', 'no'],
      ['active onboarding', 'no'],
    ]);
    const { active, warned } = read(exportOf('personio-export-en.csv'), { values });
    expect({ active, warned }).toEqual({ active: [true, true, true, false, false], warned: [] });
  });

  test('reads local phone numbers of Visma in the country of the account, and ignores them without a country', () => {
    expect(new Set(read(exportOf('visma-lon-se-fornamn.csv')).phones)).toEqual(new Set(['+46701234567']));
    const { phones, faults, warned } = read(exportOf('visma-lon-se-fornamn.csv'), { country: null });
    expect({ phones: new Set(phones), faults, warned }).toEqual({
      phones: new Set([null]),
      faults: [],
      warned: [['local number', 'Mobiltelefon']],
    });
  });

  test('reads "Last name, First name" of BambooHR in one column, and managers by these names', () => {
    const [header, ...rows] = exportOf('bamboohr-report.csv').toString().trim().split(/\r?\n/);
    const whole = [
      header?.replace('First Name,Last Name', '"Last name, First name"'),
      ...rows.map((row) => row.replace(/^(\d+),([^,]+),([^,]+)/, '$1,"$3, $2"')),
    ];
    const { faults, names, managers, warned } = read(Buffer.from(whole.join('\r\n')));
    expect({ faults, managers, warned }).toEqual({ faults: [], managers: 2, warned: [] });
    expect(names[2]).toEqual(['Chloë', 'de la Cruz']);
  });
});
