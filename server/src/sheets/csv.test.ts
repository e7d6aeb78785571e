// What CSV comes to: by each way of writing it, and of any table.
import { maxSheetColumns, maxSheetRows } from '@soundings/contract/limits.ts';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Fault } from '../base/errors.ts';
import { readCsv } from './csv.ts';

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

/** All that Windows-1252 has beyond Latin-1. */
const beyondLatin1 = '€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ';
const codesBeyondLatin1 = [
  128, 130, 131, 132, 133, 134, 135, 136, 137, 138, 139, 140, 142, 145, 146, 147, 148, 149, 150, 151, 152,
  153, 154, 155, 156, 158, 159,
];
const windows1252 = (text: string) =>
  Buffer.from(
    Array.from(text, (character) => {
      const known = beyondLatin1.indexOf(character);
      return known < 0 ? character.charCodeAt(0) : (codesBeyondLatin1[known] as number);
    }),
  );

describe('encodings', () => {
  const text = 'id;name\n1;Åsa Öberg\n2;Łucja 👩‍🚀 李';
  const rows = [
    ['id', 'name'],
    ['1', 'Åsa Öberg'],
    ['2', 'Łucja 👩‍🚀 李'],
  ];

  test('UTF-8, with a mark and without, and UTF-16 of both orders with a mark are read', () => {
    for (const bytes of [text, `\ufeff${text}`, utf16(text), utf16(text, true)])
      expect(read(bytes)).toEqual(rows);
  });

  test('what is not UTF-8 is Windows-1252, all of it', () => {
    expect(read(windows1252(`namn,x\nÅÄÖåäöß,${beyondLatin1}`))).toEqual([
      ['namn', 'x'],
      ['ÅÄÖåäöß', beyondLatin1],
    ]);
  });

  test('UTF-8 that is damaged is refused with its line, instead of being read as something else', () => {
    const damaged = Buffer.concat([
      Buffer.from('id,name\n1,Åsa\n2,Bj'),
      Buffer.from([0xc3]),
      Buffer.from('rn\n3,Örjan'),
    ]);
    expect(faultOf(() => read(damaged)).message).toContain('Line 3 is not valid UTF-8');
    const marked = Buffer.concat([Buffer.from('\ufeffid\n'), Buffer.from([0xe5])]);
    expect(faultOf(() => read(marked)).message).toContain('Line 2 ');
  });

  test('UTF-16 that is cut off is refused', () => {
    expect(faultOf(() => read(utf16('a;b').subarray(0, 7))).message).toContain('UTF-16');
  });
});

describe('delimiters', () => {
  test.each([',', ';', '\t', '|'])('%j is found out', (delimiter) => {
    const table = [
      ['id', 'name', 'mail'],
      ['00123', 'Berg', 'a@x.se'],
    ];
    expect(read(table.map((row) => row.join(delimiter)).join('\n'))).toEqual(table);
  });

  test('the first line of Excel that names it is followed, and is no row', () => {
    expect(read('sep=|\r\nid|a;b\r\n1|x;y\r\n2|x;y')).toEqual([
      ['id', 'a;b'],
      ['1', 'x;y'],
      ['2', 'x;y'],
    ]);
    expect(read('\ufeffSEP=;\nid;a')).toEqual([['id', 'a']]);
  });

  test('several groups in a cell, decimal commas, titles and quoted delimiters do not mislead', () => {
    expect(read('id,groups\n1,A;B\n2,C;D\n3,E;F')[1]).toEqual(['1', 'A;B']);
    expect(read('id;score;rate\n1;2,5;0,5\n2;3,5;0,7')[1]).toEqual(['1', '2,5', '0,5']);
    expect(read('Staff, May 2026\nid;name\n1;Anna\n2;Bo')[2]).toEqual(['1', 'Anna']);
    expect(read('id;name\n1;"Berg, Anna"\n2;"Ek, Bo"')[1]).toEqual(['1', 'Berg, Anna']);
  });

  test('a list of one column has none', () => {
    expect(read('id\n1\n2')).toEqual([['id'], ['1'], ['2']]);
  });
});

describe('rows and cells', () => {
  test('lines end in CR, LF or CRLF, also in one file', () => {
    const rows = [
      ['a', 'b'],
      ['1', '2'],
      ['3', '4'],
    ];
    for (const text of ['a,b\r1,2\r3,4\r', 'a,b\n1,2\n3,4', 'a,b\r\n1,2\r\n3,4\r\n', 'a,b\r\n1,2\n3,4']) {
      expect(read(text)).toEqual(rows);
    }
  });

  test('line breaks and quotation marks in a cell stand as they are written', () => {
    expect(read('a,b\r\n"Anna ""Nan""\r\nBerg",2\r\n')).toEqual([
      ['a', 'b'],
      ['Anna "Nan"\r\nBerg', '2'],
    ]);
  });

  test('empty lines count, and are empty rows; at the end they are none', () => {
    expect(read('a,b\n\n,\n1,2\n\n,,\n')).toEqual([['a', 'b'], [], [], ['1', '2']]);
  });

  test('empty cells are null, and none are at the end of a row', () => {
    expect(read('a,b,c\n1,,3\n1,"",\n,,3')).toEqual([
      ['a', 'b', 'c'],
      ['1', null, '3'],
      ['1'],
      [null, null, '3'],
    ]);
  });

  test('everything is text: zeros, signs and spaces stay', () => {
    expect(read('id,x\n00123, 1.50 \n+46,TRUE')).toEqual([
      ['id', 'x'],
      ['00123', ' 1.50 '],
      ['+46', 'TRUE'],
    ]);
  });

  test('spaces around quotation marks are the work of a writer that spaces its delimiters', () => {
    expect(read('id, name\n1, "Berg, Anna"\n2 , "Ek"')).toEqual([
      ['id', 'name'],
      ['1', 'Berg, Anna'],
      ['2', 'Ek'],
    ]);
  });
});

describe('refused, with the place', () => {
  test('a quotation mark that is not closed', () => {
    const fault = faultOf(() => read('a,b\n\n1,2\n3,"x\n4,5'));
    expect(fault.message).toBe('Cell B4 begins with a quotation mark (") that is never closed.');
    expect(fault).toMatchObject({ kind: 'invalid', code: 'unreadable file', details: [{ row: 4 }] });
  });

  test('a quotation mark within a cell', () => {
    for (const row of ['1,say "hi",3', '1,"say "hi"",3']) {
      const fault = faultOf(() => read(`a,b,c\n${row}`));
      expect(fault.message).toContain('Cell B2 has a quotation mark (") in the middle of the text');
    }
  });

  test('more rows, columns or characters than are read; as many are', () => {
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

describe('of any table', () => {
  /** Texts that are easily misread, and any others. */
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
    fc.string({ unit: 'binary', maxLength: 8 }).map((text) => text.replaceAll('\0', '')),
    fc.string({ maxLength: 8 }),
  );
  const table = fc
    .integer({ min: 2, max: 6 })
    .chain((width) =>
      fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 8 }),
    );
  const encodings: Record<string, (text: string) => Buffer> = {
    'UTF-8': (text) => Buffer.from(text),
    'UTF-8 with a mark': (text) => Buffer.from(`\ufeff${text}`),
    'UTF-16LE': (text) => utf16(text),
    'UTF-16BE': (text) => utf16(text, true),
  };

  test('it comes back as it was written, whatever delimiter, encoding and line ending it has', () => {
    fc.assert(
      fc.property(
        table,
        fc.constantFrom(',', ';', '\t', '|'),
        fc.constantFrom('\n', '\r\n', '\r'),
        fc.constantFrom(...Object.keys(encodings)),
        (rows, delimiter, end, encoding) => {
          // A header tells the delimiter, as in every real list: names have none.
          const header = rows[0]!.map((_, i) => `Column${i}`);
          const quoted = rows.map((row) => row.map((text) => `"${text.replaceAll('"', '""')}"`));
          const lines = [header, ...quoted].map((row) => row.join(delimiter));
          const bytes = encodings[encoding]!(lines.join(end) + end);
          const expected = trimmed([header, ...rows].map((row) => row.map((text) => text || null)));
          expect(readCsv(bytes).rows).toEqual(expected);
        },
      ),
      { numRuns: 500 },
    );
  });
});

/** Without what is empty at the end of rows and of the table. */
function trimmed(rows: (string | null)[][]): (string | null)[][] {
  const short = rows.map((row) => row.slice(0, row.findLastIndex((cell) => cell !== null) + 1));
  return short.slice(0, short.findLastIndex((row) => row.length > 0) + 1);
}
