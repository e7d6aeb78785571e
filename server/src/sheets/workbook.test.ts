// Reads every kind of cell in a workbook as a person sees it, and refuses workbooks that no normal program writes.
import * as xlsx from '@e965/xlsx';
import { readFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { Fault } from '../base/errors.ts';
import { sharedData } from '../testing/shared.ts';
import { openContainer } from './container.ts';
import type { Sheet } from './sheet.ts';
import { readWorkbook } from './workbook.ts';
import { type SheetXml, workbookOf, type Written, zipOf } from './zip.fixture.ts';

type Options = Parameters<typeof workbookOf>[1];
const readRows = async (rows: string, options?: Options) => {
  const [sheet] = await readWorkbook(zipOf(workbookOf([{ rows }], options)), 'xlsx');
  return sheet?.rows;
};
/** Returns the cells of a row whose XML has no cell references. */
const readCells = async (cells: string, options?: Options) =>
  (await readRows(`<row r="1">${cells}</row>`, options))?.[0];

async function faultOf(work: Promise<unknown>): Promise<Fault> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error('Nothing was thrown.');
}

describe('cells', () => {
  test('shared, inline and calculated texts are read unchanged, with their leading zeros', async () => {
    const strings =
      '<si><t>00123</t></si><si><r><t>Anna </t></r><r><t xml:space="preserve">Berg</t></r></si>';
    const cells =
      '<c t="s"><v>0</v></c><c t="s"><v>1</v></c><c t="inlineStr"><is><t>a&amp;b</t></is></c>' +
      '<c t="str"><f>A1&amp;"x"</f><v>00123x</v></c>';
    expect(await readCells(cells, { strings })).toEqual(['00123', 'Anna Berg', 'a&b', '00123x']);
  });

  test('empty shared texts count, so that the indexes of later ones stay correct', async () => {
    const strings = '<si/><si><t>1001</t></si><si><t/></si><si></si><si><t>Anna</t></si>';
    const cells = [0, 1, 2, 3, 4].map((index) => `<c t="s"><v>${index}</v></c>`).join('');
    expect(await readCells(cells, { strings })).toEqual([null, '1001', null, null, 'Anna']);
  });

  test('references can be in lower case, with dollar signs, or missing', async () => {
    const rows =
      '<row r="2"><c r="b2"><v>1</v></c><c><v>2</v></c><c r="ab2"><v>3</v></c></row><row><c r="$A$3"><v>4</v></c></row>';
    const [first, second, third] = (await readRows(rows)) ?? [];
    expect([first, second?.slice(0, 3), second?.[27], third]).toEqual([[], [null, 1, 2], 3, [4]]);
  });

  test('numbers stay numbers, even long ones, and a formula has its last calculated value', async () => {
    const cells = '<c><v>46701234567</v></c><c><v>1.5</v></c><c><f>SUM(A1:B1)</f><v>46701234568.5</v></c>';
    expect(await readCells(cells)).toEqual([46701234567, 1.5, 46701234568.5]);
  });

  test('numbers shown with leading zeros keep them', async () => {
    const cells = '<c s="0"><v>123</v></c><c s="0"><v>1234567</v></c><c s="1"><v>123</v></c>';
    expect(await readCells(cells, { formats: ['00000', '0'] })).toEqual(['00123', '1234567', 123]);
  });

  test('reads true and false, errors as they are shown, and empty cells as null', async () => {
    const cells =
      '<c t="b"><v>1</v></c><c t="b"><v>0</v></c><c t="e"><v>#N/A</v></c><c/><c t="inlineStr"><is><t></t></is></c>' +
      '<c t="e"><f>1/0</f><v>#DIV/0!</v></c>';
    expect(await readCells(cells)).toEqual([true, false, '#N/A', null, null, '#DIV/0!']);
  });

  test('rows and cells are placed by their references, and empty ones at the end are dropped', async () => {
    const rows =
      '<row r="2"><c r="B2"><v>1</v></c><c r="D2" s="0"/></row><row r="4"><c r="A4"><v>2</v></c></row><row r="9"/>';
    expect(await readRows(rows)).toEqual([[], [null, 1], [], [2]]);
  });
});

describe('dates', () => {
  const formats = [
    'yyyy-mm-dd',
    'd/m/yy h:mm',
    'h:mm:ss',
    '[h]:mm:ss',
    '0 &quot;days&quot;',
    '[$-41D]d mmmm yyyy;@',
  ];
  const dates = (...cells: [style: number, value: number | string][]) =>
    cells.map(([style, value]) => `<c s="${style}"><v>${value}</v></c>`).join('');

  test('are read as text, with their time if they have one', async () => {
    const cells = dates([0, 44197], [1, 44197.5], [5, 36526], [1, 44197.99999], [0, 2958465], [4, 44197]);
    const [first, ...others] = (await readCells(cells, { formats })) ?? [];
    expect(first).toBe('2021-01-01');
    expect(others).toEqual(['2021-01-01 12:00:00', '2000-01-01', '2021-01-01 23:59:59', '9999-12-31', 44197]);
  });

  test('in early 1900 are the same as in Excel', async () => {
    const cells = dates([0, 1], [0, 59], [0, 60], [0, 61]);
    expect(await readCells(cells, { formats })).toEqual([
      '1900-01-01',
      '1900-02-28',
      '1900-02-29',
      '1900-03-01',
    ]);
  });

  test('without a day are times, and durations where the format shows durations', async () => {
    const cells = dates([2, 0.75], [3, 1.5625], [0, -1], [0, 3e6]);
    expect(await readCells(cells, { formats })).toEqual(['18:00:00', '37:30:00', -1, 3e6]);
  });

  test('of workbooks that count from 1904 are correct', async () => {
    const cells = dates([0, 0], [0, 42735], [1, 42735.25]);
    const read = await readCells(cells, { formats, is1904: true });
    expect(read).toEqual(['1904-01-01', '2021-01-01', '2021-01-01 06:00:00']);
  });

  test('written as ISO text are read', async () => {
    const written = [
      '2021-01-01',
      '2021-01-01T10:10:10',
      '2021-01-01T00:00:00Z',
      '2021-12-31T23:59:59.9996',
      '10:59:59.99999',
      '08:30',
      'soon',
    ];
    const cells = written.map((text) => `<c s="0" t="d"><v>${text}</v></c>`).join('');
    expect(await readCells(cells, { formats })).toEqual([
      '2021-01-01',
      '2021-01-01 10:10:10',
      '2021-01-01',
      '2022-01-01',
      '11:00:00',
      '08:30:00',
      'soon',
    ]);
  });

  test.each(['America/Los_Angeles', 'Pacific/Auckland', 'Europe/Stockholm'])(
    'are not shifted by the time zone %s',
    async (zone) => {
      vi.stubEnv('TZ', zone);
      try {
        const cells = `${dates([0, 44197], [1, 44280.0833])}<c s="0" t="d"><v>2021-03-28</v></c>`;
        expect(await readCells(cells, { formats })).toEqual([
          '2021-01-01',
          '2021-03-25 01:59:57',
          '2021-03-28',
        ]);
      } finally {
        vi.unstubAllEnvs();
      }
    },
  );
});

describe('sheets', () => {
  const cell = '<row r="1"><c><v>1</v></c></row>';
  const sheets: SheetXml[] = [
    { name: 'Users', rows: cell },
    { name: 'Old', state: 'hidden', rows: cell },
    { name: 'Lists', state: 'veryHidden', rows: cell },
    { name: 'R&amp;D', rows: '' },
  ];

  test('are read with their names, except hidden ones', async () => {
    expect(await readWorkbook(zipOf(workbookOf(sheets)), 'xlsx')).toEqual([
      { name: 'Users', rows: [[1]] },
      { name: 'R&D', rows: [] },
    ]);
  });

  test('that cannot be read are refused and never read as empty', async () => {
    expect((await faultOf(readCells('<c t="s"><v>7</v></c>'))).message).toContain('damaged');
    const missing = workbookOf([{ rows: cell }]).filter(({ name }) => !name.endsWith('s0.xml'));
    expect((await faultOf(readWorkbook(zipOf(missing), 'xlsx'))).message).toContain('damaged');
    const duplicated = workbookOf([...sheets, { name: 'Users', rows: '' }]);
    expect((await faultOf(readWorkbook(zipOf(duplicated), 'xlsx'))).message).toContain('damaged');
  });
});

describe('errors about limits name the position', () => {
  test.each([
    [
      '<row r="50001"><c r="A50001"><v>1</v></c></row>',
      'The sheet "Sheet1" has more than 50,000 rows',
      undefined,
    ],
    ['<row r="7"><c r="SG7"><v>1</v></c></row>', 'Row 7 of the sheet "Sheet1" has more than 500 columns', 7],
    ['<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>', 'has more than 500 columns', 1_048_576],
    [
      `<row r="7"><c r="AC7" t="inlineStr"><is><t>${'x'.repeat(32_768)}</t></is></c></row>`,
      'Cell AC7 of the sheet "Sheet1" has more than 32,767 characters',
      7,
    ],
  ])('%#', async (rows, message, row) => {
    const fault = await faultOf(readRows(rows));
    expect(fault.message).toContain(message);
    expect(fault.details).toEqual([
      { type: 'unreadable file', message: fault.message, sheet: 'Sheet1', ...(row && { row }) },
    ]);
  });

  test('empty cells do not count towards the limits', async () => {
    expect(
      await readRows('<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"/></row>'),
    ).toEqual([[1]]);
  });
});

describe('archives', () => {
  const rows = '<row r="1"><c><v>1</v></c></row>';
  const sheet = 'xl/worksheets/s0.xml';
  const withChangedEntry = (name: string, change: Partial<Written>) =>
    workbookOf([{ rows }]).map((entry) => (entry.name === name ? { ...entry, ...change } : entry));
  const withMore = (...entries: Written[]) => [...workbookOf([{ rows }]), ...entries];
  const large = { data: '', size: 150 * 1024 * 1024 };

  test('with 64-bit sizes and with stored entries are read', async () => {
    expect(await readWorkbook(zipOf(withMore(), { isZip64: true }), 'xlsx')).toHaveLength(1);
    expect(await readWorkbook(zipOf(withChangedEntry(sheet, { isStored: true })), 'xlsx')).toHaveLength(1);
  });

  test.each<[string, Written[], string]>([
    [
      'of 2,001 entries',
      withMore(...Array.from({ length: 2_001 }, (_, i) => ({ name: `${i}`, data: '' }))),
      'too large',
    ],
    ['of 300 MB in total', withMore({ name: 'a', ...large }, { name: 'b', ...large }), 'too large'],
    ['with an entry larger than declared', withChangedEntry(sheet, { size: 100 }), 'damaged'],
    ['with an entry smaller than declared', withChangedEntry(sheet, { size: 100_000 }), 'damaged'],
    [
      'with two entries at the same offset',
      withMore({ ...withMore()[0]!, name: 'again', offset: 0 }),
      'damaged',
    ],
    ['with two entries of the same name', withMore({ name: sheet.toUpperCase(), data: rows }), 'damaged'],
    ['with a wrong checksum', withChangedEntry(sheet, { crc: 1 }), 'damaged'],
    ['with an entry beyond the end', withChangedEntry(sheet, { offset: 1e9 }), 'damaged'],
    [
      'with an entry that needs a password',
      withChangedEntry(sheet, { flags: 1 }),
      'protected with a password',
    ],
    ['without the parts of a workbook', [{ name: 'a.txt', data: 'a' }], 'damaged'],
  ])('%s are refused', async (_, entries, message) => {
    expect((await faultOf(readWorkbook(zipOf(entries), 'xlsx'))).message).toContain(message);
  });

  test('are refused, wherever they are cut off', async () => {
    const whole = zipOf(withMore());
    for (let length = 4; length < whole.length; length += 97) {
      const fault = await faultOf(readWorkbook(whole.subarray(0, length), 'xlsx'));
      expect(fault.message).toContain('damaged');
    }
  });

  test.each(['http://[', '%zz', '../../../..'])('with a reference to %s are refused', async (target) => {
    const name = 'xl/_rels/workbook.xml.rels';
    const relations = String(withMore().find((entry) => entry.name === name)!.data);
    const entries = withChangedEntry(name, { data: relations.replaceAll('worksheets/s0.xml', target) });
    const fault = await faultOf(readWorkbook(zipOf(entries), 'xlsx'));
    expect(fault.message).toContain('damaged');
  });

  test('with a document type are refused, because it could define entities', async () => {
    const prolog = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>';
    expect((await faultOf(readRows(rows, { prolog }))).message).toContain('damaged');
  });
});

describe('old workbooks (.xls)', () => {
  const table = [
    ['id', 'name', 'phone', 'active'],
    ['00123', 'Åsa Öberg', 46701234567, true],
    ['00124', 'Łucja', 1.5, false],
  ];
  const written = (rows: unknown[][], options: xlsx.WritingOptions) => {
    const book = xlsx.utils.book_new();
    xlsx.utils.book_append_sheet(book, xlsx.utils.aoa_to_sheet(rows), 'Users');
    return xlsx.write(book, { type: 'buffer', ...options }) as Buffer;
  };

  test('are read like new ones', async () => {
    const sheets: Sheet[] = [{ name: 'Users', rows: table as Sheet['rows'] }];
    expect(await readWorkbook(written(table, { bookType: 'biff8' }), 'xls')).toEqual(sheets);
    expect(await readWorkbook(written(table, { bookType: 'xlsx' }), 'xlsx')).toEqual(sheets);
  });

  test('without a container are read', async () => {
    const stream = openContainer(written(table, { bookType: 'biff8' }))('/Workbook')!;
    expect(await readWorkbook(stream, 'xls')).toEqual([{ name: 'Users', rows: table }]);
  });

  test('are read if the position of a sheet points after the record that begins it', async () => {
    const stream = openContainer(written(table, { bookType: 'biff8' }))('/Workbook')!;
    let isMoved = false;
    for (let at = 0; at + 4 <= stream.length; at += 4 + stream.readUInt16LE(at + 2)) {
      if (stream.readUInt16LE(at) !== 0x85) continue;
      const begins = stream.readUInt32LE(at + 4);
      stream.writeUInt32LE(begins + 4 + stream.readUInt16LE(begins + 2), at + 4);
      isMoved = true;
    }
    expect(isMoved).toBe(true);
    expect(await readWorkbook(stream, 'xls')).toEqual([{ name: 'Users', rows: table }]);
  });

  test('that are cut off are refused and never partly read', async () => {
    const rows = Array.from({ length: 200 }, (_, i) => [`E${i}`, `Name ${i}`]);
    const whole = written(rows, { bookType: 'biff8' });
    for (let length = 512; length < whole.length; length += 509) {
      const read = await readWorkbook(whole.subarray(0, length), 'xls').catch((error: unknown) => error);
      expect(read instanceof Fault ? [{ name: 'Users', rows }] : read).toEqual([{ name: 'Users', rows }]);
    }
    expect(await faultOf(readWorkbook(whole.subarray(0, whole.length / 2), 'xls'))).toMatchObject({
      kind: 'invalid',
    });
  });
});

const folder = sharedData('spreadsheets');
describe.skipIf(!folder)('test files of other readers (../shared/data/spreadsheets)', () => {
  const read = (path: string) => {
    const kind = path.endsWith('.xls') ? 'xls' : 'xlsx';
    return readWorkbook(readFileSync(`${folder}/${path}`), kind);
  };

  test.each(['any_sheets', 'date', 'date_1904', 'issue127', 'picture', 'merged_range'])(
    '%s is the same as .xls and .xlsx',
    async (name) => {
      expect(await read(`calamine/${name}.xls`)).toEqual(await read(`calamine/${name}.xlsx`));
    },
  );

  test('with errors, dates and hidden sheets are read as those readers expect', async () => {
    expect(await read('calamine/date_1904.xlsx')).toEqual([
      {
        name: 'Sheet1',
        rows: [
          ['2021-01-01', 15],
          ['2021-01-02', 16],
          ['255:10:10', 17],
        ],
      },
    ]);
    const errors = ['#DIV/0!', '#NAME?', '#VALUE!', '#NULL!', '#REF!', '#NUM!', '#N/A'];
    expect((await read('calamine/errors.xlsx'))[0]?.rows).toEqual(errors.map((error) => [error]));
    const iso = (await read('calamine/date_iso.xlsx'))[0]?.rows.slice(0, 3);
    expect(iso).toEqual([['2021-01-01'], ['2021-01-01 10:10:10'], ['10:10:10']]);
    expect((await read('calamine/any_sheets.xlsx')).map(({ name }) => name)).toEqual(['Visible']);
    expect((await read('messytables/simple.xls'))[0]?.rows).toEqual(
      (await read('messytables/simple.xlsx'))[0]?.rows,
    );
  });
});
