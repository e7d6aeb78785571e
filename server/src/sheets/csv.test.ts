// Reads CSV in every encoding, with every delimiter and with every way to write cells, and restores any table.
import { maxSheetColumns, maxSheetRows } from '@soundings/contract/limits.ts';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Fault } from '../base/errors.ts';
import { readCsv } from './csv.ts';
import { anyCharacter, cases } from '../testing/house/cases.ts';

const read = (text: string | Buffer) => readCsv(Buffer.from(text as string)).rows;

function faultOf(work: () => unknown): Fault {
  try {
    work();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error('Nothing was thrown.');
}

const utf16 = (text: string, isBig = false) => {
  const bytes = Buffer.from(`\ufeff${text}`, 'utf16le');
  return isBig ? bytes.swap16() : bytes;
};

/** All characters of Windows-1252 that Latin-1 does not have. */
const notInLatin1 = '€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ';
const codesNotInLatin1 = [
  128, 130, 131, 132, 133, 134, 135, 136, 137, 138, 139, 140, 142, 145, 146, 147, 148, 149, 150, 151, 152,
  153, 154, 155, 156, 158, 159,
];
const windows1252 = (text: string) =>
  Buffer.from(
    Array.from(text, (character) => {
      const known = notInLatin1.indexOf(character);
      return known < 0 ? character.charCodeAt(0) : (codesNotInLatin1[known] as number);
    }),
  );

describe('encodings', () => {
  const text = 'id;name\n1;Åsa Öberg\n2;Łucja 👩‍🚀 李';
  const rows = [
    ['id', 'name'],
    ['1', 'Åsa Öberg'],
    ['2', 'Łucja 👩‍🚀 李'],
  ];

  test('reads UTF-8 with and without a byte order mark, and UTF-16 of both byte orders with one', () => {
    for (const bytes of [text, `\ufeff${text}`, utf16(text), utf16(text, true)])
      expect(read(bytes)).toEqual(rows);
  });

  test('reads a file that is not UTF-8 as Windows-1252', () => {
    expect(read(windows1252(`namn,x\nÅÄÖåäöß,${notInLatin1}`))).toEqual([
      ['namn', 'x'],
      ['ÅÄÖåäöß', notInLatin1],
    ]);
  });

  test('refuses damaged UTF-8 with its line instead of reading it in another encoding', () => {
    const damaged = Buffer.concat([
      Buffer.from('id,name\n1,Åsa\n2,Bj'),
      Buffer.from([0xc3]),
      Buffer.from('rn\n3,Örjan'),
    ]);
    expect(faultOf(() => read(damaged)).message).toContain('Line 3 is not valid UTF-8');
    const marked = Buffer.concat([Buffer.from('\ufeffid\n'), Buffer.from([0xe5])]);
    expect(faultOf(() => read(marked)).message).toContain('Line 2 ');
  });

  test('refuses UTF-16 that is cut off', () => {
    expect(faultOf(() => read(utf16('a;b').subarray(0, 7))).message).toContain('UTF-16');
  });
});

describe('delimiters', () => {
  test.each([',', ';', '\t', '|'])('detects %j', (delimiter) => {
    const table = [
      ['id', 'name', 'mail'],
      ['00123', 'Berg', 'a@x.se'],
    ];
    expect(read(table.map((row) => row.join(delimiter)).join('\n'))).toEqual(table);
  });

  test('uses the delimiter that the first line (sep=) declares, and does not read that line as a row', () => {
    expect(read('sep=|\r\nid|a;b\r\n1|x;y\r\n2|x;y')).toEqual([
      ['id', 'a;b'],
      ['1', 'x;y'],
      ['2', 'x;y'],
    ]);
    expect(read('\ufeffSEP=;\nid;a')).toEqual([['id', 'a']]);
  });

  test('is not misled by several groups in a cell, decimal commas, titles or quoted delimiters', () => {
    expect(read('id,groups\n1,A;B\n2,C;D\n3,E;F')[1]).toEqual(['1', 'A;B']);
    expect(read('id;score;rate\n1;2,5;0,5\n2;3,5;0,7')[1]).toEqual(['1', '2,5', '0,5']);
    expect(read('Staff, May 2026\nid;name\n1;Anna\n2;Bo')[2]).toEqual(['1', 'Anna']);
    expect(read('id;name\n1;"Berg, Anna"\n2;"Ek, Bo"')[1]).toEqual(['1', 'Berg, Anna']);
  });

  test('reads a list of one column, which has no delimiter', () => {
    expect(read('id\n1\n2')).toEqual([['id'], ['1'], ['2']]);
  });
});

describe('rows and cells', () => {
  test('accepts CR, LF and CRLF as line endings, also mixed in one file', () => {
    const rows = [
      ['a', 'b'],
      ['1', '2'],
      ['3', '4'],
    ];
    for (const text of ['a,b\r1,2\r3,4\r', 'a,b\n1,2\n3,4', 'a,b\r\n1,2\r\n3,4\r\n', 'a,b\r\n1,2\n3,4']) {
      expect(read(text)).toEqual(rows);
    }
  });

  test('keeps line breaks and quotation marks in a cell', () => {
    expect(read('a,b\r\n"Anna ""Nan""\r\nBerg",2\r\n')).toEqual([
      ['a', 'b'],
      ['Anna "Nan"\r\nBerg', '2'],
    ]);
  });

  test('reads empty lines as empty rows, except at the end', () => {
    expect(read('a,b\n\n,\n1,2\n\n,,\n')).toEqual([['a', 'b'], [], [], ['1', '2']]);
  });

  test('reads empty cells as null and drops them at the end of a row', () => {
    expect(read('a,b,c\n1,,3\n1,"",\n,,3')).toEqual([
      ['a', 'b', 'c'],
      ['1', null, '3'],
      ['1'],
      [null, null, '3'],
    ]);
  });

  test('reads every cell as text and keeps leading zeros, signs and spaces', () => {
    expect(read('id,x\n00123, 1.50 \n+46,TRUE')).toEqual([
      ['id', 'x'],
      ['00123', ' 1.50 '],
      ['+46', 'TRUE'],
    ]);
  });

  test('ignores spaces between delimiters and quotation marks', () => {
    expect(read('id, name\n1, "Berg, Anna"\n2 , "Ek"')).toEqual([
      ['id', 'name'],
      ['1', 'Berg, Anna'],
      ['2', 'Ek'],
    ]);
  });
});

describe('refuses, with the position,', () => {
  test('a quotation mark that is not closed', () => {
    const fault = faultOf(() => read('a,b\n\n1,2\n3,"x\n4,5'));
    expect(fault.message).toBe('Cell B4 begins with a quotation mark (") that is never closed.');
    expect(fault).toMatchObject({ kind: 'invalid', code: 'unreadable file', details: [{ row: 4 }] });
  });

  test('a quotation mark in the middle of a cell', () => {
    for (const row of ['1,say "hi",3', '1,"say "hi"",3']) {
      const fault = faultOf(() => read(`a,b,c\n${row}`));
      expect(fault.message).toContain('Cell B2 has a quotation mark (") in the middle of the text');
    }
  });

  test('more rows, columns or characters than the limits, but not exactly the limits', () => {
    const rows = Array.from({ length: maxSheetRows }, (_, i) => `${i},x`);
    expect(read(rows.join('\n'))).toHaveLength(maxSheetRows);
    expect(read(`${rows.join('\n')}\n,\n\n`)).toHaveLength(maxSheetRows);
    const rowFault = faultOf(() => read([...rows, '1,x'].join('\n')));
    expect(rowFault.message).toContain('more than 50,000 rows');
    const wide = Array.from({ length: maxSheetColumns }, () => '1').join(',');
    expect(read(`${wide},,`)[0]).toHaveLength(maxSheetColumns);
    expect(faultOf(() => read(`${wide}\n${wide},1`)).message).toContain('Row 2 has more than 500 columns');
    expect(read(`a,${'x'.repeat(32_767)}`)[0]?.[1]).toHaveLength(32_767);
    expect(faultOf(() => read(`a,b\n1,${'x'.repeat(32_768)}`)).message).toContain(
      'Cell B2 has more than 32,767',
    );
  });
});

describe('any table', () => {
  /** Texts that are easily misread, and random texts. */
  const cell = fc.oneof(
    fc.constantFrom(
      '00123',
      '"',
      '""',
      ' ',
      'a,b;c|d\te',
      'one\ntwo',
      'one\r\ntwo',
      '=1+1',
      'sep=;',
      '\ufeff',
      'Å',
    ),
    fc.string({ unit: anyCharacter, maxLength: 8 }).map((text) => text.replaceAll('\0', '')),
    fc.string({ maxLength: 8 }),
  );
  const table = fc
    .integer({ min: 2, max: 6 })
    .chain((width) =>
      fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 8 }),
    );
  const encodings: Record<string, (text: string) => Buffer> = {
    'UTF-8': (text) => Buffer.from(text),
    'UTF-8 with a byte order mark': (text) => Buffer.from(`\ufeff${text}`),
    'UTF-16LE': (text) => utf16(text),
    'UTF-16BE': (text) => utf16(text, true),
  };

  test('is read as it was written, with any delimiter, encoding and line ending', () => {
    fc.assert(
      fc.property(
        table,
        fc.constantFrom(',', ';', '\t', '|'),
        fc.constantFrom('\n', '\r\n', '\r'),
        fc.constantFrom(...Object.keys(encodings)),
        (rows, delimiter, end, encoding) => {
          // The header shows the delimiter, as in every real list, because column names contain no delimiters.
          const header = rows[0]!.map((_, i) => `Column${i}`);
          const quoted = rows.map((row) => row.map((text) => `"${text.replaceAll('"', '""')}"`));
          const lines = [header, ...quoted].map((row) => row.join(delimiter));
          const bytes = encodings[encoding]!(lines.join(end) + end);
          const expected = trimmed([header, ...rows].map((row) => row.map((text) => text || null)));
          expect(readCsv(bytes).rows).toEqual(expected);
        },
      ),
      cases(500),
    );
  });
});

/** Returns the rows without empty cells at the end of a row and without empty rows at the end. */
function trimmed(rows: (string | null)[][]): (string | null)[][] {
  const short = rows.map((row) => row.slice(0, row.findLastIndex((cell) => cell !== null) + 1));
  return short.slice(0, short.findLastIndex((row) => row.length > 0) + 1);
}
