// Builds workbooks and archives for tests byte by byte, including ones that no program would write.
import { crc32, deflateRawSync } from 'node:zlib';

export type Written = {
  name: string;
  data: string | Buffer;
  /** Wrong values that the directory declares. */
  size?: number;
  crc?: number;
  offset?: number;
  flags?: number;
  isStored?: boolean;
  /** The stored bytes, if they are not the compressed data. */
  compressed?: Buffer;
};

/** Returns a ZIP archive with the entries. */
export function zipOf(entries: Written[], { isZip64 = false } = {}): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const { name, data, flags = 0, isStored = false, ...declared } of entries) {
    const bytes = Buffer.from(data as string);
    const compressed = declared.compressed ?? (isStored ? bytes : deflateRawSync(bytes));
    const size = declared.size ?? bytes.length;
    const [crc, offset] = [declared.crc ?? crc32(bytes), declared.offset ?? at];
    const common = littleEndian(
      [20, 2],
      [flags, 2],
      [isStored ? 0 : 8, 2],
      [0, 4],
      [crc, 4],
      [compressed.length, 4],
    );
    const lengths = littleEndian([Buffer.byteLength(name), 2], [0, 2]);
    const before = Buffer.concat([littleEndian([0x04034b50, 4]), common, littleEndian([size, 4]), lengths]);
    const header = Buffer.concat([before, Buffer.from(name), compressed]);
    const zip64 = isZip64 ? littleEndian([1, 2], [16, 2], [size, 8], [offset, 8]) : Buffer.alloc(0);
    const inZip64 = 0xffffffff;
    directory.push(
      littleEndian([0x02014b50, 4], [20, 2]),
      common,
      littleEndian(
        [isZip64 ? inZip64 : size, 4],
        [Buffer.byteLength(name), 2],
        [zip64.length, 2],
        [0, 2],
        [0, 4],
        [0, 4],
      ),
      littleEndian([isZip64 ? inZip64 : offset, 4]),
      Buffer.from(name),
      zip64,
    );
    parts.push(header);
    at += header.length;
  }
  const list = Buffer.concat(directory);
  const end64 = Buffer.concat([
    littleEndian(
      [0x06064b50, 4],
      [44, 8],
      [45, 2],
      [45, 2],
      [0, 4],
      [0, 4],
      [entries.length, 8],
      [entries.length, 8],
    ),
    littleEndian([list.length, 8], [at, 8], [0x07064b50, 4], [0, 4], [at + list.length, 8], [1, 4]),
  ]);
  const count = isZip64 ? 0xffff : entries.length;
  const end = littleEndian(
    [0x06054b50, 4],
    [0, 4],
    [count, 2],
    [count, 2],
    [list.length, 4],
    [at, 4],
    [0, 2],
  );
  return Buffer.concat([...parts, list, ...(isZip64 ? [end64] : []), end]);
}

function littleEndian(...values: [value: number, bytes: number][]): Buffer {
  return Buffer.concat(
    values.map(([value, bytes]) => {
      const word = Buffer.alloc(8);
      word.writeBigUInt64LE(BigInt(value));
      return word.subarray(0, bytes);
    }),
  );
}

const mainNamespace = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const relationNamespace = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const packageNamespace = 'http://schemas.openxmlformats.org/package/2006';

/** A sheet as XML, with its name in the workbook. */
export type SheetXml = { name?: string; state?: string; rows: string };

/** Returns the entries of a workbook with the sheets. Styles have the same numbers as their formats. */
export function workbookOf(
  sheets: SheetXml[],
  { strings = '', formats = [] as string[], is1904 = false, prolog = '' } = {},
): Written[] {
  const part = (path: string, type: string) =>
    `<Override PartName="/xl/${path}" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.${type}+xml"/>`;
  const relations = (targets: [type: string, target: string][]) =>
    `<Relationships xmlns="${packageNamespace}/relationships">${targets
      .map(
        ([type, target], i) =>
          `<Relationship Id="r${i}" Type="${relationNamespace}/${type}" Target="${target}"/>`,
      )
      .join('')}</Relationships>`;
  const sheetElements = sheets.map(
    ({ name = `Sheet${sheets.length}`, state = 'visible' }, i) =>
      `<sheet name="${name}" sheetId="${i + 1}" state="${state}" r:id="r${i}"/>`,
  );
  const styles = `<numFmts>${formats
    .map((format, i) => `<numFmt numFmtId="${200 + i}" formatCode="${format}"/>`)
    .join('')}</numFmts><cellXfs>${formats.map((_, i) => `<xf numFmtId="${200 + i}"/>`).join('')}</cellXfs>`;
  return [
    {
      name: '[Content_Types].xml',
      data: `<Types xmlns="${packageNamespace}/content-types"><Default Extension="xml" ContentType="application/xml"/>${part(
        'workbook.xml',
        'sheet.main',
      )}${sheets.map((_, i) => part(`worksheets/s${i}.xml`, 'worksheet')).join('')}${part(
        'sharedStrings.xml',
        'sharedStrings',
      )}${part('styles.xml', 'styles')}</Types>`,
    },
    { name: '_rels/.rels', data: relations([['officeDocument', 'xl/workbook.xml']]) },
    {
      name: 'xl/workbook.xml',
      data: `<workbook xmlns="${mainNamespace}" xmlns:r="${relationNamespace}"><workbookPr date1904="${is1904}"/><sheets>${sheetElements.join('')}</sheets></workbook>`,
    },
    {
      name: 'xl/_rels/workbook.xml.rels',
      data: relations([
        ...sheets.map((_, i): [string, string] => ['worksheet', `worksheets/s${i}.xml`]),
        ['sharedStrings', 'sharedStrings.xml'],
        ['styles', 'styles.xml'],
      ]),
    },
    { name: 'xl/sharedStrings.xml', data: `<sst xmlns="${mainNamespace}">${strings}</sst>` },
    { name: 'xl/styles.xml', data: `<styleSheet xmlns="${mainNamespace}">${styles}</styleSheet>` },
    ...sheets.map(({ rows }, i) => ({
      name: `xl/worksheets/s${i}.xml`,
      data: `${prolog}<worksheet xmlns="${mainNamespace}"><sheetData>${rows}</sheetData></worksheet>`,
    })),
  ];
}
