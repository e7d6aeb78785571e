// How the type of a file is detected from its first bytes and from the directory of its archive.
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { contentFault, structureFault } from './content.ts';
import { workbookOf, zipOf } from './zip.fixture.ts';

/** Workbooks from several programs, some of them encrypted. */
const samples = readdirSync(new URL('samples', import.meta.url)).flatMap((name) => {
  const kind = /\.(xlsx?)$/.exec(name)?.[1];
  return kind === undefined ? [] : [[name, kind as 'xls' | 'xlsx'] as const];
});

const workbook = workbookOf([{ rows: '' }]);
const ofType = (type: string) =>
  zipOf(
    workbook.map((entry) => ({
      ...entry,
      data: String(entry.data).replace('vnd.openxmlformats-officedocument.spreadsheetml.sheet.main', type),
    })),
  );
const ole = (...names: string[]) =>
  Buffer.concat([
    Buffer.from('d0cf11e0a1b11ae1', 'hex'),
    Buffer.alloc(504),
    ...names.map((name) => Buffer.from(`${name}\0`.padEnd(64, '\0'), 'utf16le')),
  ]);
const ods = zipOf([
  { name: 'mimetype', data: 'application/vnd.oasis.opendocument.spreadsheet', isStored: true },
]);

test('accepts files of the declared kind', () => {
  expect(contentFault('csv', Buffer.from('id;name\n1;Åsa'))).toBeUndefined();
  expect(contentFault('csv', Buffer.from('\ufeffid;name\n', 'utf16le'))).toBeUndefined();
  expect(contentFault('xlsx', zipOf(workbook))).toBeUndefined();
  expect(contentFault('xlsx', zipOf(workbook).subarray(0, 200))).toBeUndefined();
  expect(contentFault('xls', ole('Root Entry', 'Workbook'))).toBeUndefined();
  expect(contentFault('xls', ole('Root Entry', 'BOOK'))).toBeUndefined();
  expect(contentFault('xls', ole('Root Entry'))).toBeUndefined();
  expect(contentFault('xls', Buffer.from('0908080000051000', 'hex'))).toBeUndefined();
  expect(contentFault('csv', Buffer.from('\tid\tname\n'))).toBeUndefined();
  expect(contentFault('xlsx', ole('Root Entry'))).toBeUndefined();
  expect(contentFault('xlsx', ole('EncryptedPackage'))).toBeUndefined();
});

test.each<[string, 'csv' | 'xls' | 'xlsx', Buffer, string]>([
  [
    'a workbook named .csv',
    'csv',
    zipOf(workbook),
    'an Excel workbook (.xlsx). Rename it so that the name ends in .xlsx.',
  ],
  ['a workbook named .xls', 'xls', zipOf(workbook), 'Rename it so that the name ends in .xlsx.'],
  [
    'an old workbook named .xlsx',
    'xlsx',
    ole('Workbook'),
    'an old Excel workbook (.xls). Rename it so that the name ends in .xls.',
  ],
  [
    'text named .xlsx',
    'xlsx',
    Buffer.from('id,name'),
    'plain text. Rename it so that the name ends in .csv.',
  ],
  ['text named .xls', 'xls', Buffer.from('id\tname'), 'plain text. Rename it so that the name ends in .csv.'],
  ['a binary workbook', 'xlsx', ofType('vnd.ms-excel.sheet.binary.macroEnabled.main'), '(.xlsb)'],
  ['a workbook with macros', 'xlsx', ofType('vnd.ms-excel.sheet.macroEnabled.main'), '(.xlsm)'],
  ['an OpenDocument spreadsheet', 'xlsx', ods, '(.ods)'],
  ['a workbook with a password', 'csv', ole('EncryptedPackage'), 'protected with a password'],
  ['a workbook with a password', 'xls', ole('EncryptedPackage'), 'protected with a password'],
  ['a Word document', 'xls', ole('WordDocument'), 'a Word document'],
  ['an archive', 'csv', zipOf([{ name: 'a.csv', data: 'a,b' }]), 'a compressed file (zip)'],
  ['a PDF', 'csv', Buffer.from('%PDF-1.7\n'), 'a PDF document'],
  ['a picture', 'xlsx', Buffer.from('89504e470d0a1a0a', 'hex'), 'a picture'],
  ['a web page', 'xls', Buffer.from('\n<html><table>'), 'a web page (HTML)'],
  ['XML', 'xls', Buffer.from('\ufeff<?xml version="1.0"?>'), 'an XML document'],
  [
    'a workbook of Excel 2',
    'xls',
    Buffer.from('0900040002001000', 'hex'),
    'a workbook of Excel 4 or older. Open it in',
  ],
  ['a workbook of Excel 3', 'xls', Buffer.from('0902060000001000', 'hex'), 'a workbook of Excel 4 or older'],
  ['a workbook of Excel 4', 'xlsx', Buffer.from('0904060000001000', 'hex'), 'a workbook of Excel 4 or older'],
  ['binary data', 'csv', Buffer.from([1, 2, 3, 0, 5, 6, 7, 8, 9, 10]), 'not text'],
  [
    'UTF-16 without a byte order mark',
    'csv',
    Buffer.from('id;name\n', 'utf16le'),
    'UTF-16 text without a byte order mark',
  ],
])('refuses %s and says what it is', (_, kind, head, message) => {
  expect(contentFault(kind, head)).toContain(message);
});

test('never throws, wherever a file is cut off', () => {
  const whole = zipOf(workbook);
  for (let length = 0; length < whole.length; length++) {
    expect(() => contentFault('csv', whole.subarray(0, length))).not.toThrow();
  }
});

describe('a complete file', () => {
  const whole = zipOf(workbook);
  const fault = (kind: 'xls' | 'xlsx', bytes: Buffer) =>
    structureFault(kind, { size: bytes.length, read: async (from, to) => bytes.subarray(from, to) });

  test('is accepted as a workbook, however its archive is written', async () => {
    expect(await fault('xlsx', whole)).toBeUndefined();
    const larger = zipOf(workbook, { isZip64: true });
    expect(await fault('xlsx', larger)).toBeUndefined();
    // Some programs write the numbers for large archives even where they are not needed.
    larger.writeUInt16LE(workbook.length, larger.length - 12);
    larger.writeUInt32LE(larger.indexOf('504b0102', 'hex'), larger.length - 6);
    expect(await fault('xlsx', larger)).toBeUndefined();
    const backslashes = workbook.map((entry) => ({ ...entry, name: entry.name.replaceAll('/', '\\') }));
    const untyped = backslashes.filter(({ name }) => name !== '[Content_Types].xml');
    expect(await fault('xlsx', zipOf(untyped))).toBeUndefined();
    expect(await fault('xls', Buffer.from('0908080000051000', 'hex'))).toBeUndefined();
  });

  test('is refused as damaged, wherever it is cut off', async () => {
    for (let length = 4; length < whole.length; length++) {
      expect(await fault('xlsx', whole.subarray(0, length))).toContain(
        'damaged. The upload may have been cut off',
      );
    }
  });

  test('is refused if it is another archive, or only begins like a workbook', async () => {
    expect(await fault('xlsx', zipOf([{ name: 'a.csv', data: 'a,b' }]))).toContain('a compressed file (zip)');
    expect(await fault('xlsx', Buffer.concat([whole.subarray(0, 30), Buffer.alloc(70_000)]))).toContain(
      'damaged',
    );
    expect(await fault('xls', ole('Workbook'))).toContain('damaged');
    expect(await fault('xlsx', ole('EncryptedPackage'))).toContain('damaged');
  });

  test.each(samples)('sample %s is accepted', async (name, kind) => {
    expect(await fault(kind, readFileSync(new URL(`samples/${name}`, import.meta.url)))).toBeUndefined();
  });
});
