// Files with errors and warnings, one for each type that a report can have.
import { workbookOf, zipOf } from '../../sheets/zip.fixture.ts';
import type { DetailType } from '@soundings/contract/problem.ts';

/** A file, sent to a company with the groups company, north and north-2 (both North), and the user 1001. */
export type FileScene = {
  type: DetailType;
  name: string;
  lines: string[];
  /** Settings of the account. */
  settings?: { defaultCountry: string };
  note?: string;
};

const users = 'EmployeeID;FirstName;LastName;Department';

/** Files of text. */
export const fileScenes: FileScene[] = [
  {
    type: 'unreadable file',
    name: 'users.csv',
    lines: [users, '1002;"Mikko;Lahti;company', '1004;Jonas;Weber;north'],
  },
  { type: 'unknown layout', name: 'users.csv', lines: ['Product;Price', 'Chair;99'] },
  {
    type: 'missing column',
    name: 'users.csv',
    lines: ['EmployeeID;FirstName;Department', '1002;Mikko;company'],
  },
  {
    type: 'conflicting rows',
    name: 'users.csv',
    lines: [users, '1002;Mikko;Lahti;company', '1002;Mika;Lahti;north'],
  },
  {
    type: 'ambiguous name',
    name: 'users.csv',
    lines: [users, '1002;Mikko;Lahti;North'],
    note: 'Two groups have the name North.',
  },
  { type: 'group by name', name: 'users.csv', lines: [users, '1002;Mikko;Lahti;Example Ltd'] },
  { type: 'no group', name: 'users.csv', lines: [users, '1002;Mikko;Lahti;'] },
  {
    type: 'repeated column',
    name: 'users.csv',
    lines: ['EmployeeID;FirstName;LastName;Email;E-mail', '1002;Mikko;Lahti;mikko@example.com;m@example.com'],
  },
  { type: 'unknown column', name: 'users.csv', lines: [`${users};Shoes`, '1002;Mikko;Lahti;company;43'] },
  { type: 'cell without header', name: 'users.csv', lines: [users, '1002;Mikko;Lahti;company;Espoo'] },
  {
    type: 'unknown value',
    name: 'users.csv',
    lines: [`${users};Status`, '1002;Mikko;Lahti;company;Parental leave'],
  },
  { type: 'placeholder', name: 'users.csv', lines: [`${users};Email`, '1002;Mikko;Lahti;company;n/a'] },
  {
    type: 'ignored value',
    name: 'users.csv',
    lines: [`${users};Email`, '1002;Mikko;Lahti;company;mikko at example.com'],
  },
  {
    type: 'local number',
    name: 'users.csv',
    lines: [`${users};Phone`, '1002;Mikko;Lahti;company;070-123 45 67'],
  },
  {
    type: 'default country',
    name: 'users.csv',
    lines: [`${users};Phone`, '1002;Mikko;Lahti;company;070-123 45 67'],
    settings: { defaultCountry: 'SE' },
    note: 'The default country of the account is SE.',
  },
];

const workbook = (cells: string) => zipOf(workbookOf([{ rows: cells }]));
const texts = (...values: string[]) =>
  values.map((one) => `<c t="inlineStr"><is><t>${one}</t></is></c>`).join('');

/** Workbooks. */
export const workbookScenes: (Pick<FileScene, 'type' | 'name' | 'note'> & { text: Uint8Array })[] = [
  {
    type: 'number as text',
    name: 'users.xlsx',
    text: workbook(
      `<row>${texts('EmployeeID', 'FirstName', 'LastName', 'Department')}</row>` +
        `<row><c><v>1002</v></c>${texts('Mikko', 'Lahti', 'company')}</row>`,
    ),
    note: 'The file is a workbook that has the ID 1002 as a number.',
  },
];
