// Fails when an update of SheetJS changes what we use without its documentation. docs/decisions/0023-sheetjs-for-xls.md says what to do
// then.
import * as xlsx from '@e965/xlsx';
import { expect, test } from 'vitest';
import { openContainer } from './container.ts';
import { readXls } from './xls.ts';

const see = 'SheetJS has changed what we use: see docs/decisions/0023-sheetjs-for-xls.md';

const sheet = xlsx.utils.aoa_to_sheet([
  ['Name', 'Start'],
  ['Åsa', 44_927],
]);
sheet['B2'].z = 'yyyy-mm-dd';
const hidden = xlsx.utils.aoa_to_sheet([['x']]);
const book: xlsx.WorkBook = {
  SheetNames: ['People', 'Notes'],
  Sheets: { People: sheet, Notes: hidden },
  Workbook: { WBProps: { date1904: true }, Sheets: [{ Hidden: 0 }, { Hidden: 1 }] },
};
const file = xlsx.write(book, { bookType: 'xls', type: 'buffer' }) as Buffer;
const people = [
  ['Name', 'Start'],
  ['Åsa', '2027-01-02'], // counted from 1904
];

/** Returns what `work` returns, or the error it throws. */
function outcomeOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

const streamOf = (name: string) => openContainer(file)(name);

test('it opens a container, and gives a stream and its size', () => {
  expect(
    outcomeOf(() => streamOf('/Workbook')?.readUInt16LE(0)),
    see,
  ).toBe(0x809);
  expect(
    outcomeOf(() => streamOf('/Book')),
    see,
  ).toBeUndefined();
});

test('it reads a stream without its container: visible sheets, dates from 1904, number formats', () => {
  const sheets = outcomeOf(() => readXls(streamOf('/Workbook') as Buffer));
  expect(sheets, see).toMatchObject([{ name: 'People', rows: people }]);
});
