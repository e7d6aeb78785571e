// Reads files as the service does, in a child process, and also every file from the test suites of other readers.
import { isUtf8 } from 'node:buffer';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { text as textOf } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { constants, deflateRawSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { Fault } from '../base/errors.ts';
import { sharedData } from '../testing/shared.ts';
import { until } from '../testing/until.ts';
import { readByAnother, trimmed } from '../testing/spreadsheets.ts';
import { readCsv } from './csv.ts';
import { contentFault } from './content.ts';
import { type FileKind, kindOf } from './file-names.ts';
import { readHere } from './reader.ts';
import { type Cell, readingLimits, readSheets } from './sheet.ts';
import { workbookOf, zipOf } from './zip.fixture.ts';

async function faultOf(work: Promise<unknown>): Promise<Fault> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error('Nothing was thrown.');
}

const contentOf = (path: string) => {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return ''; // the process has ended in the meantime
  }
};
const commandOf = (pid: number) => contentOf(`/proc/${pid}/cmdline`);
const childrenOf = (pid: number) =>
  readdirSync(`/proc/${pid}/task`)
    .flatMap((thread) => contentOf(`/proc/${pid}/task/${thread}/children`).split(' '))
    .filter((child) => child !== '')
    .map(Number);

describe('in a child process', () => {
  test('finishes reading a file when the service is stopped and all its processes get the signal', async ({
    skip,
  }) => {
    if (!existsSync('/proc/self/status')) return skip('needs /proc');
    const module = fileURLToPath(new URL('sheet.child.ts', import.meta.url));
    const child = spawn(process.execPath, [module, 'csv', '30000'], { stdio: ['pipe', 'pipe', 'inherit'] });
    const hangup = 1n; // the last signal that the child starts to handle; Node handles the others itself
    await until(async () => {
      const caught = /SigCgt:\s*(\w+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'latin1'))?.[1] ?? '0';
      return (BigInt(`0x${caught}`) & hangup) !== 0n;
    });
    child.kill('SIGTERM');
    child.stdin.end('id;name');
    expect(await textOf(child.stdout)).toContain('["id","name"]');
  });

  test('reports a file as not processed, to be tried again, when something else kills the process', async ({
    skip,
  }) => {
    if (!existsSync('/proc/self/task')) return skip('needs /proc');
    const reading = faultOf(readSheets(Buffer.from('id;name'), 'csv'));
    await until(async () => {
      const readers = childrenOf(process.pid).filter((pid) => commandOf(pid).includes('sheet.child'));
      for (const pid of readers) process.kill(pid, 'SIGKILL');
      return readers.length > 0;
    });
    expect(await reading).toMatchObject({ kind: 'unavailable', code: 'file not processed' });
  });

  test('returns one sheet for a CSV file, and the sheets of a workbook', async () => {
    const cells: Cell[] = ['00123', 'Åsa\n"Å" 👩‍🚀', null, '\u2028'];
    const csv = Buffer.from('id,name\n\n00123,"Åsa\n""Å"" 👩‍🚀",,\u2028');
    expect(await readSheets(csv, 'csv')).toEqual([{ name: '', rows: [['id', 'name'], [], cells] }]);
    const workbook = zipOf(
      workbookOf([
        { name: 'Users', rows: '<row r="2"><c t="b"><v>1</v></c><c><v>1.5</v></c></row>' },
        { name: 'Groups', rows: '' },
      ]),
    );
    expect(await readSheets(workbook, 'xlsx')).toEqual([
      { name: 'Users', rows: [[], [true, 1.5]] },
      { name: 'Groups', rows: [] },
    ]);
  });

  test('returns an error in the file with all its details', async () => {
    const fault = await faultOf(readSheets(Buffer.from('a,b\n1,"x'), 'csv'));
    expect(fault).toMatchObject({ kind: 'invalid', code: 'unreadable file', details: [{ row: 2 }] });
    expect(fault.message).toBe('Cell B2 begins with a quotation mark (") that is never closed.');
    expect((await faultOf(readSheets(Buffer.from('a,b'), 'xlsx'))).message).toContain(
      'the file is plain text',
    );
  });

  test('refuses a file that takes too long to read', async () => {
    const fault = await faultOf(
      readSheets(Buffer.from('a,b\n'.repeat(1_000_000)), 'csv', { ...readingLimits, milliseconds: 10 }),
    );
    expect(fault).toMatchObject({ kind: 'invalid', code: 'unreadable file' });
    expect(fault.message).toContain('longer than 30 seconds');
  });

  test('refuses a few kilobytes that contain gigabytes of text', async () => {
    const row = `<row>${'<c t="s"><v>0</v></c>'.repeat(20)}</row>`;
    const strings = `<si><t>${'x'.repeat(32_767)}</t></si>`;
    const bytes = zipOf(workbookOf([{ rows: row.repeat(5_000) }], { strings }));
    expect(bytes.length).toBeLessThan(20_000);
    expect((await faultOf(readSheets(bytes, 'xlsx'))).message).toContain('more than 64 MB of text');
  });

  test('stops decompressing an entry that is far larger than its directory declares', async () => {
    // 600 megabytes of zeros in one compressed stream.
    const zeros = deflateRawSync(Buffer.alloc(1_000_000), { finishFlush: constants.Z_FULL_FLUSH });
    const compressed = Buffer.concat([...Array.from({ length: 600 }, () => zeros), Buffer.from([3, 0])]);
    const entries = workbookOf([{ rows: '' }]);
    const falseData = (name: string) => (name.includes('sheets/') ? { compressed } : {});
    const bytes = zipOf(entries.map((entry) => ({ ...entry, ...falseData(entry.name) })));
    expect((await faultOf(readSheets(bytes, 'xlsx'))).message).toContain('damaged');
  });

  test.skipIf(!existsSync('/proc/self/status'))(
    'refuses a file that needs more memory than the limit',
    async () => {
      const bytes = zipOf(workbookOf([{ rows: '' }], { strings: '<si><t>abc</t></si>'.repeat(7_000_000) }));
      expect((await faultOf(readSheets(bytes, 'xlsx'))).message).toContain('more than 512 MB of memory');
    },
  );
});

const folder = sharedData('spreadsheets');
type Listed = { path: string; what: string };
const listed: Listed[] = folder
  ? readCsv(readFileSync(`${folder}/manifest.csv`))
      .rows.slice(1)
      .map(([path, , what]) => ({ path: String(path), what: String(what) }))
      .filter(({ path }) => !path.endsWith('.json'))
  : [];
const bytesOf = ({ path }: Listed) => readFileSync(`${folder}/${path}`);
/** This file has Excel's built-in password, so no user ever enters one. */
const withExcelsPassword = 'messytables/encrypted_no_password.xls';
const named = (...classes: string[]) =>
  listed.filter(
    ({ path, what }) => path !== withExcelsPassword && classes.some((name) => what.startsWith(name)),
  );
/** Returns the kind of a file by its extension, or the given kind if the extension is not supported. */
const kindFor = ({ path }: Listed, otherwise: FileKind) => kindOf(path) ?? otherwise;

describe.skipIf(!folder)('test files of other readers (../shared/data/spreadsheets)', () => {
  test('all belong to a class that these tests cover', () => {
    const known = [
      'must-read',
      'must-refuse',
      'readers disagree',
      'wrong type',
      'has expected',
      'csv:',
      'valid strict',
    ];
    expect(listed.length - named(...known).length).toBe(1);
    expect(listed.length).toBeGreaterThan(200);
  });

  test.each(named('must-read', 'valid strict'))('$path is read', async (file) => {
    const kind = kindFor(file, 'xlsx');
    expect(contentFault(kind, bytesOf(file).subarray(0, 256 * 1024))).toBeUndefined();
    expect((await readHere(bytesOf(file), kind)).length).toBeGreaterThan(0);
  });

  // The other reader is wrong here: it skips empty shared texts, texts before rich texts, and escaped carriage returns.
  const misread = ['empty_shared_string', 'minimal_package', 'richtext-after-plain', 'has_x000D_inline'].map(
    (name) => `calamine/${name}.xlsx`,
  );
  const workbooks = listed.filter(({ path }) => /\.xlsx$/i.test(path) && !misread.includes(path));
  test.each(workbooks)('$path has the same cells as in another reader', async (file) => {
    const read = await readHere(bytesOf(file), 'xlsx').catch((error: unknown) => error);
    if (read instanceof Fault) return; // the other reader accepts more files
    expect(read).toEqual(readByAnother(bytesOf(file)));
  });

  test.each([
    ['empty_shared_string', 0, ['abc']],
    ['minimal_package', 0, ['ARREST BOOKINGS for 01/30/17']],
    ['richtext-after-plain', 1, ['tvalrval1rval2', 'rval1rval2', 'rval1rval2', 'rval1rval2']],
    ['has_x000D_inline', 0, ['ABC\r\nDEF']],
  ])('calamine/%s.xlsx is read correctly where the other reader is wrong', async (name, row, cells) => {
    const sheets = await readHere(readFileSync(`${folder}/calamine/${name}.xlsx`), 'xlsx');
    expect(sheets.map(({ rows }) => rows[row])).toContainEqual(cells);
  });

  test.each(named('must-refuse (encrypted)', 'wrong type'))(
    '$path is refused, whatever its extension',
    async (file) => {
      for (const kind of ['csv', 'xls', 'xlsx'] as const) {
        const fault = await faultOf(readHere(bytesOf(file), kind));
        expect(fault).toMatchObject({ kind: 'invalid', code: 'unreadable file' });
      }
    },
  );

  test.each(named('must-refuse (encrypted)'))(
    'the error of $path says that it is protected with a password',
    async (file) => {
      const fault = await faultOf(readHere(bytesOf(file), kindFor(file, 'xlsx')));
      expect(fault.message).toContain('protected with a password');
    },
  );

  test.each(named('must-refuse or read', 'readers disagree'))('$path is read or refused', async (file) => {
    const read = await readHere(bytesOf(file), kindFor(file, 'xlsx')).catch((error: unknown) => error);
    expect(read instanceof Fault || Array.isArray(read)).toBe(true);
  });

  // A strict reader does not accept spaces between delimiters and quotation marks.
  const spaced = 'messytables/complex.csv';
  test.each(named('csv:').filter(({ path }) => path !== spaced))(
    '$path is read like by a strict CSV reader',
    async (file) => {
      const [sheet] = await readHere(bytesOf(file), 'csv');
      expect(sheet?.rows).toEqual(strictlyParsed(decoded(bytesOf(file)), delimiterOf(file.path)));
    },
  );

  test(`${spaced} is read although spaces follow its delimiters`, async () => {
    const [sheet] = await readHere(readFileSync(`${folder}/${spaced}`), 'csv');
    expect(sheet?.rows[3]).toEqual(['2011-01-03', null, '6,000,000', 'Galway']);
  });

  test.each(named('has expected'))('$path has the expected contents', async (file) => {
    const [sheet] = await readHere(bytesOf(file), 'csv');
    const lines = JSON.parse(readFileSync(expectedOf(file.path), 'utf8')) as
      string[][] | Record<string, string>[];
    const [first = {}] = lines;
    const header = Array.isArray(first) || lines.length === 0 ? [] : [Object.keys(first)];
    const expected = [...header, ...lines.map((line) => (Array.isArray(line) ? line : Object.values(line)))];
    // The expected contents of a header without rows are empty.
    const rows = lines.length === 0 ? [] : sheet?.rows;
    expect(rows).toEqual(trimmed(expected));
  });

  const toReport = named('must-refuse or report');
  test.each(toReport.filter(({ path }) => path.includes('quote')))(
    '$path is refused with its row',
    async (file) => {
      const fault = await faultOf(readHere(bytesOf(file), 'csv'));
      expect(fault).toMatchObject({ code: 'unreadable file', details: [{ row: 2 }] });
    },
  );

  test.each(toReport.filter(({ path }) => !path.includes('quote')))(
    '$path is read like by a strict CSV reader, so that its errors can be reported',
    async (file) => {
      const [sheet] = await readHere(bytesOf(file), 'csv');
      expect(sheet?.rows).toEqual(strictlyParsed(decoded(bytesOf(file)), ','));
    },
  );
});

function delimiterOf(path: string): string {
  if (path === 'messytables/weird_head_padding.csv') return ';';
  return { tsv: '\t', psv: '|', ssv: ';' }[path.slice(-3)] ?? ',';
}

/** Returns the path of the expected contents of a CSV file. Some files share the expected contents of another file. */
function expectedOf(path: string): string {
  const others: Record<string, string> = {
    'quotes-empty': 'empty-field',
    'trailing-newline': 'simple-crlf',
    'trailing-newline-one-field': 'one-column',
  };
  const [folderOfIt, name] = path.replace('.csv', '').split('/') as [string, string];
  return `${folder}/${folderOfIt}/${others[name] ?? name}.json`;
}

function decoded(bytes: Buffer): string {
  const isUtf16 = bytes.subarray(0, 2).equals(Buffer.from('fffe', 'hex'));
  const encoding = isUtf16 ? 'utf-16le' : isUtf8(bytes) ? 'utf-8' : 'windows-1252';
  return new TextDecoder(encoding).decode(bytes);
}

/** Returns the cells of a CSV text, strictly by RFC 4180. */
function strictlyParsed(text: string, delimiter: string): Cell[][] {
  const rows: Cell[][] = [[]];
  const cells = new RegExp(`("(?:[^"]|"")*"|[^${delimiter}\\r\\n]*)([${delimiter}]|\\r\\n|\\r|\\n|$)`, 'g');
  for (const [, cell = '', end] of text.matchAll(cells)) {
    rows.at(-1)?.push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell);
    if (end === '') break;
    if (end !== delimiter) rows.push([]);
  }
  return trimmed(rows);
}
