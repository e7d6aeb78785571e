// Reading files as the service does, in a child process; and every file that other readers test themselves with.
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
    return ''; // it has ended meanwhile
  }
};
const commandOf = (pid: number) => contentOf(`/proc/${pid}/cmdline`);
const childrenOf = (pid: number) =>
  readdirSync(`/proc/${pid}/task`)
    .flatMap((thread) => contentOf(`/proc/${pid}/task/${thread}/children`).split(' '))
    .filter((child) => child !== '')
    .map(Number);

describe('in a child process', () => {
  test('a file is read to its end although the service is stopped, and the signal is sent to all of its processes', async ({
    skip,
  }) => {
    if (!existsSync('/proc/self/status')) return skip('needs /proc');
    const module = fileURLToPath(new URL('sheet.child.ts', import.meta.url));
    const child = spawn(process.execPath, [module, 'csv', '30000'], { stdio: ['pipe', 'pipe', 'inherit'] });
    const hangup = 1n; // the last of the signals that it listens to; Node catches the others by itself
    await until(async () => {
      const caught = /SigCgt:\s*(\w+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'latin1'))?.[1] ?? '0';
      return (BigInt(`0x${caught}`) & hangup) !== 0n;
    });
    child.kill('SIGTERM');
    child.stdin.end('id;name');
    expect(await textOf(child.stdout)).toContain('["id","name"]');
  });

  test('whose end is not our doing, reading can be tried again', async ({ skip }) => {
    if (!existsSync('/proc/self/task')) return skip('needs /proc');
    const reading = faultOf(readSheets(Buffer.from('id;name'), 'csv'));
    await until(async () => {
      const readers = childrenOf(process.pid).filter((pid) => commandOf(pid).includes('sheet.child.ts'));
      for (const pid of readers) process.kill(pid, 'SIGKILL');
      return readers.length > 0;
    });
    expect(await reading).toMatchObject({ kind: 'unavailable', code: 'file not processed' });
  });

  test('a CSV file is one sheet, a workbook has its own', async () => {
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

  test('a fault in it comes back whole', async () => {
    const fault = await faultOf(readSheets(Buffer.from('a,b\n1,"x'), 'csv'));
    expect(fault).toMatchObject({ kind: 'invalid', code: 'unreadable file', details: [{ row: 2 }] });
    expect(fault.message).toBe('Cell B2 begins with a quotation mark (") that is never closed.');
    expect((await faultOf(readSheets(Buffer.from('a,b'), 'xlsx'))).message).toContain(
      'the file is plain text',
    );
  });

  test('what takes too long is given up', async () => {
    const fault = await faultOf(
      readSheets(Buffer.from('a,b'), 'csv', { ...readingLimits, milliseconds: 10 }),
    );
    expect(fault).toMatchObject({ kind: 'invalid', code: 'unreadable file' });
    expect(fault.message).toContain('longer than 30 seconds');
  });

  test('a few kilobytes that hold gigabytes of text are refused, not sent', async () => {
    const row = `<row>${'<c t="s"><v>0</v></c>'.repeat(20)}</row>`;
    const strings = `<si><t>${'x'.repeat(32_767)}</t></si>`;
    const bytes = zipOf(workbookOf([{ rows: row.repeat(5_000) }], { strings }));
    expect(bytes.length).toBeLessThan(20_000);
    expect((await faultOf(readSheets(bytes, 'xlsx'))).message).toContain('more than 64 MB of text');
  });

  test('what unpacks to far more than its directory says is not unpacked', async () => {
    // Zeros, 600 times a megabyte of them, without an end between.
    const zeros = deflateRawSync(Buffer.alloc(1_000_000), { finishFlush: constants.Z_FULL_FLUSH });
    const packed = Buffer.concat([...Array.from({ length: 600 }, () => zeros), Buffer.from([3, 0])]);
    const entries = workbookOf([{ rows: '' }]);
    const lie = (name: string) => (name.includes('sheets/') ? { packed } : {});
    const bytes = zipOf(entries.map((entry) => ({ ...entry, ...lie(entry.name) })));
    expect((await faultOf(readSheets(bytes, 'xlsx'))).message).toContain('damaged');
  });

  test.skipIf(!existsSync('/proc/self/status'))(
    'what needs more memory than a file may take is refused',
    async () => {
      const bytes = zipOf(workbookOf([{ rows: '' }], { strings: '<si><t>abc</t></si>'.repeat(5_000_000) }));
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
/** Its password is that of Excel itself, which asks for none. */
const unlocked = 'messytables/encrypted_no_password.xls';
const named = (...classes: string[]) =>
  listed.filter(({ path, what }) => path !== unlocked && classes.some((name) => what.startsWith(name)));
/** By its ending; those that end in nothing that is taken are read as if they were of this kind. */
const kindFor = ({ path }: Listed, otherwise: FileKind) => kindOf(path) ?? otherwise;

describe.skipIf(!folder)('files of other readers (../shared/data/spreadsheets)', () => {
  test('are all of a class that is known here', () => {
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

  // Where the other reader is wrong: it skips empty shared texts, texts before rich ones, and escaped returns.
  const misread = ['empty_shared_string', 'minimal_package', 'richtext-after-plain', 'has_x000D_inline'].map(
    (name) => `calamine/${name}.xlsx`,
  );
  const workbooks = listed.filter(({ path }) => /\.xlsx$/i.test(path) && !misread.includes(path));
  test.each(workbooks)('$path has in each cell what another reader finds there', async (file) => {
    const read = await readHere(bytesOf(file), 'xlsx').catch((error: unknown) => error);
    if (read instanceof Fault) return; // the other one takes more
    expect(read).toEqual(readByAnother(bytesOf(file)));
  });

  test.each([
    ['empty_shared_string', 0, ['abc']],
    ['minimal_package', 0, ['ARREST BOOKINGS for 01/30/17']],
    ['richtext-after-plain', 1, ['tvalrval1rval2', 'rval1rval2', 'rval1rval2', 'rval1rval2']],
    ['has_x000D_inline', 0, ['ABC\r\nDEF']],
  ])('calamine/%s.xlsx is read where the other reader is wrong', async (name, row, cells) => {
    const sheets = await readHere(readFileSync(`${folder}/calamine/${name}.xlsx`), 'xlsx');
    expect(sheets.map(({ rows }) => rows[row])).toContainEqual(cells);
  });

  test.each(named('must-refuse (encrypted)', 'wrong type'))(
    '$path is refused, whatever it is named',
    async (file) => {
      for (const kind of ['csv', 'xls', 'xlsx'] as const) {
        const fault = await faultOf(readHere(bytesOf(file), kind));
        expect(fault).toMatchObject({ kind: 'invalid', code: 'unreadable file' });
      }
    },
  );

  test.each(named('must-refuse (encrypted)'))(
    'of $path, it is told that it needs a password',
    async (file) => {
      const fault = await faultOf(readHere(bytesOf(file), kindFor(file, 'xlsx')));
      expect(fault.message).toContain('protected with a password');
    },
  );

  test.each(named('must-refuse or read', 'readers disagree'))('$path is read or refused', async (file) => {
    const read = await readHere(bytesOf(file), kindFor(file, 'xlsx')).catch((error: unknown) => error);
    expect(read instanceof Fault || Array.isArray(read)).toBe(true);
  });

  // No plain reader takes spaces between delimiters and quotation marks.
  const spaced = 'messytables/complex.csv';
  test.each(named('csv:').filter(({ path }) => path !== spaced))(
    '$path is what a plain reader of CSV makes of it',
    async (file) => {
      const [sheet] = await readHere(bytesOf(file), 'csv');
      expect(sheet?.rows).toEqual(plainly(decoded(bytesOf(file)), delimiterOf(file.path)));
    },
  );

  test(`${spaced} is read, whose delimiters are followed by spaces`, async () => {
    const [sheet] = await readHere(readFileSync(`${folder}/${spaced}`), 'csv');
    expect(sheet?.rows[3]).toEqual(['2011-01-03', null, '6,000,000', 'Galway']);
  });

  test.each(named('has expected'))('$path has the contents that are expected of it', async (file) => {
    const [sheet] = await readHere(bytesOf(file), 'csv');
    const lines = JSON.parse(readFileSync(expectedOf(file.path), 'utf8')) as
      string[][] | Record<string, string>[];
    const [first = {}] = lines;
    const header = Array.isArray(first) || lines.length === 0 ? [] : [Object.keys(first)];
    const expected = [...header, ...lines.map((line) => (Array.isArray(line) ? line : Object.values(line)))];
    // Of a header without rows, the expected contents have nothing.
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
    '$path is read, to be reported',
    async (file) => {
      const [sheet] = await readHere(bytesOf(file), 'csv');
      expect(sheet?.rows).toEqual(plainly(decoded(bytesOf(file)), ','));
    },
  );
});

function delimiterOf(path: string): string {
  if (path === 'messytables/weird_head_padding.csv') return ';';
  return { tsv: '\t', psv: '|', ssv: ';' }[path.slice(-3)] ?? ',';
}

/** The contents that lie beside a CSV file; some lie beside another that says the same in another way. */
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

/** Cell by cell, by the letter of RFC 4180. */
function plainly(text: string, delimiter: string): Cell[][] {
  const rows: Cell[][] = [[]];
  const cells = new RegExp(`("(?:[^"]|"")*"|[^${delimiter}\\r\\n]*)([${delimiter}]|\\r\\n|\\r|\\n|$)`, 'g');
  for (const [, cell = '', end] of text.matchAll(cells)) {
    rows.at(-1)?.push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell);
    if (end === '') break;
    if (end !== delimiter) rows.push([]);
  }
  return trimmed(rows);
}
