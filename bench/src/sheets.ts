// Reading files: a list of 20,000 people as CSV, XLS and XLSX (floor: the library alone in a separate process), the largest allowed
// files, and malicious ones. The memory measured is that of the reading process. Run one at a time, because parallel runs would
// affect each other's times.
import * as xlsx from '@e965/xlsx';
import { maxSheetRows, maxUploadBytes } from '@soundings/contract/limits.ts';
import { Fault } from '@soundings/server/src/base/errors.ts';
import { sizeText } from '@soundings/server/src/base/sizes.ts';
import type { FileKind } from '@soundings/server/src/sheets/file-names.ts';
import { readSheets } from '@soundings/server/src/sheets/sheet.ts';
import { workbookOf, zipOf } from '@soundings/server/src/sheets/zip.fixture.ts';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Company, makeCompany } from './company.ts';
import { against, type BenchRow, time, timed } from './measuring/measure.ts';
import type { Plans, Say, Sized } from './measuring/plans.ts';

/**
 * The number of people in the list, how often it is read, the number of rows of the largest files, and the size of the malicious
 * files as a share of their full size.
 */
type Plan = { people: number; rounds: number; maxRows: number; harm: number };

export const sheetsPlans: Plans<Plan> = {
  whole: { people: 20_000, rounds: 5, maxRows: maxSheetRows - 1, harm: 1 },
  smoke: { people: 100, rounds: 1, maxRows: 200, harm: 0.001 },
};

const columns = 15;
/** The time that SheetJS takes for shared texts in XLS grows with the square of their number. */
const maxSharing = 20_000;
/** The limits for reading any file. */
const limits = { ms: 30_000, bytes: 512e6 };
const kinds = ['csv', 'xls', 'xlsx'] as const;

/** Reads files in separate processes, without a service. */
export const benchSheets: Sized<Plan> = (plan) => async (say) => {
  const rows: BenchRow[] = [];
  for (const kind of kinds) rows.push(await measureList(kind, plan, say));
  for (const kind of kinds) rows.push(await measureLargest(kind, plan, say));
  for (const [what, kind, bytes] of hostile(plan))
    rows.push(await measureAny(`${what}, ${size(bytes)}`, kind, bytes, say));
  return { rows, postgres: 'not used' };
};

async function measureList(kind: FileKind, { people, rounds }: Plan, say: Say): Promise<BenchRow> {
  const bytes = fileOf(kind, people);
  const [times, floors, peaks, floorPeaks]: number[][] = [[], [], [], []];
  for (let round = 0; round < rounds; round++) {
    const bare = await watched(() => readBare(kind, bytes));
    const own = await watched(() => readSheets(bytes, kind));
    if (own.result[0]?.rows.length !== people + 1) throw new Error(`Not all of the ${kind} was read.`);
    times!.push(own.ms);
    floors!.push(bare.ms);
    peaks!.push(own.peak);
    floorPeaks!.push(bare.peak);
  }
  const what = `${people.toLocaleString('en')} × ${columns} as ${kind.toUpperCase()}, ${size(bytes)}`;
  const row = against(what, times!, floors!);
  const memory = `${sizeText(Math.max(...peaks!))} (floor ${sizeText(Math.max(...floorPeaks!))})`;
  say(`${what}: ${row.measured}, floor ${row.floor}, ${memory}`);
  return { ...row, memory };
}

/** Reads a file with the maximum number of rows, or as many as fit into the largest file. */
async function measureLargest(kind: FileKind, { maxRows }: Plan, say: Say): Promise<BenchRow> {
  let count = maxRows;
  let bytes = fileOf(kind, count);
  while (bytes.length > maxUploadBytes) {
    count = Math.floor(count * (maxUploadBytes / bytes.length) * 0.99);
    bytes = fileOf(kind, count);
  }
  return measureAny(
    `${count.toLocaleString('en')} × ${columns} as ${kind.toUpperCase()}, ${size(bytes)}`,
    kind,
    bytes,
    say,
  );
}

/** Measures reading a file that may be refused, which must stay within the limits. */
async function measureAny(what: string, kind: FileKind, bytes: Buffer, say: Say): Promise<BenchRow> {
  if (bytes.length > maxUploadBytes) throw new Error(`${what} could not be uploaded.`);
  const { ms, peak, result } = await watched(() =>
    readSheets(bytes, kind).then(
      () => 'read',
      (error: unknown) => {
        if (error instanceof Fault) return 'rejected';
        throw error;
      },
    ),
  );
  say(`${what}: ${result}, ${time(ms)}, ${sizeText(peak)}`);
  return {
    what: `${what}: ${result}`,
    measured: time(ms),
    memory: sizeText(peak),
    target: `≤ ${time(limits.ms)}, ≤ ${sizeText(limits.bytes)}`,
    met: ms <= limits.ms && peak <= limits.bytes,
  };
}

/** Yields files that try to use up memory or time. */
function* hostile({ harm }: Plan): Generator<[what: string, kind: FileKind, bytes: Buffer]> {
  const some = (count: number) => Math.ceil(count * harm);
  const text = (count: number) => some(count).toLocaleString('en');
  const row = (cells: number) => `<row>${'<c><v>1</v></c>'.repeat(cells)}</row>`;
  const word = `<si><t>${'x'.repeat(32_767)}</t></si>`;
  const cited = `<row>${'<c t="s"><v>0</v></c>'.repeat(20)}</row>`.repeat(some(maxSheetRows / 10));
  yield [
    `XLSX of ${text(maxSheetRows)} × 200 cells`,
    'xlsx',
    zipOf(workbookOf([{ rows: row(200).repeat(some(maxSheetRows)) }])),
  ];
  yield [
    `XLSX of ${text(maxSheetRows / 10)} × 20 cells that refer to the longest text`,
    'xlsx',
    zipOf(workbookOf([{ rows: cited }], { strings: word })),
  ];
  yield [
    `XLSX of ${text(5e6)} texts`,
    'xlsx',
    zipOf(workbookOf([{ rows: '' }], { strings: '<si><t>a</t></si>'.repeat(some(5e6)) })),
  ];
  yield ['CSV of one line of commas', 'csv', Buffer.from(','.repeat(some(10e6)))];
  yield ['CSV of short and long lines', 'csv', Buffer.from(`a,b,c\n${',\n'.repeat(some(5e6))}`)];
  yield ['CSV with an unclosed quotation mark', 'csv', Buffer.from(`a,b\n"${'x,y\n'.repeat(some(2.4e6))}`)];
}

/** Returns a file with a list of people. */
export function fileOf(kind: FileKind, count: number): Buffer {
  const sheet = xlsx.utils.aoa_to_sheet(listOf(count), { dense: true });
  if (kind === 'csv') return Buffer.from(xlsx.utils.sheet_to_csv(sheet));
  const book = xlsx.utils.book_new();
  xlsx.utils.book_append_sheet(book, sheet, 'Users');
  const bookSST = kind === 'xlsx' || count <= maxSharing; // as Excel does
  return xlsx.write(book, { type: 'buffer', bookType: kind, bookSST, compression: true }) as Buffer;
}

const header =
  'EmployeeID FirstName LastName Email PhoneNumber Language Role Department Workplace Number Hired Active Title City Note'.split(
    ' ',
  );
/** The columns that an account needs attributes for. */
export const attributesOfFile = header.slice(header.indexOf('Workplace'));

function listOf(count: number): unknown[][] {
  const { users } = makeCompany({ users: count, groups: 500 });
  const rows = users.map((user, i) => [
    user.externalId,
    user.firstName,
    user.lastName,
    user.email,
    user.phone,
    user.language,
    user.accessInfo?.role,
    user.accessInfo?.memberOf?.[0],
    user.externalProperties?.['workplace'],
    46_701_234_567 + i,
    new Date(Date.UTC(2000, 0, 1 + (i % 9_000))),
    i % 20 > 0,
    `Title ${i % 300}`,
    `City ${i % 90}`,
    `Note ${i % 500}`,
  ]);
  return [header, ...rows];
}

/** Returns the people of `fileOf` with all columns, as a push contains them. */
export function companyOfFile(count: number): Company {
  const { users, groups } = makeCompany({ users: count, groups: 500 });
  const rows = listOf(count).slice(1);
  const shownAs = (value: unknown) =>
    value instanceof Date ? value.toISOString().slice(0, 10) : String(value);
  return {
    groups,
    users: users.map((user, i) => ({
      ...user,
      accessInfo: { role: user.accessInfo!.role!, memberOf: user.accessInfo!.memberOf!.slice(0, 1) },
      externalProperties: Object.fromEntries(
        attributesOfFile.map((name) => [name, shownAs(rows[i]![header.indexOf(name)])]),
      ),
    })),
  };
}

async function readBare(kind: FileKind, bytes: Buffer): Promise<void> {
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL('processes/bare.ts', import.meta.url)), kind],
    {
      stdio: ['pipe', 'inherit', 'inherit'],
    },
  );
  child.stdin.end(bytes);
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`The floor of ${kind} ended with ${code}.`);
}

/** Runs `work`, which starts a process. Returns its result and the peak memory of that process, in bytes. */
async function watched<T>(work: () => Promise<T>): Promise<{ ms: number; peak: number; result: T }> {
  let peak = 0;
  const timer = setInterval(() => {
    peak = Math.max(peak, ...childrenOf(process.pid).map(peakOf));
  }, 10);
  const [ms, result] = await timed(work);
  clearInterval(timer);
  return { ms, peak, result };
}

const childrenOf = (pid: number): number[] =>
  (textOf(`/proc/${pid}/task/${pid}/children`).match(/\d+/g) ?? []).map(Number);

const peakOf = (pid: number): number =>
  Number(/VmHWM:\s+(\d+)/.exec(textOf(`/proc/${pid}/status`))?.[1] ?? 0) * 1024;

/** Returns the content of a file, or nothing if its process has ended. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

const size = (bytes: Buffer): string => `${(bytes.length / 2 ** 20).toFixed(1)} MiB`;
