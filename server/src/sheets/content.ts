// Checks before accepting a file that its content matches its extension (decision C4): by the first bytes, and for workbooks
// also by the directory of the archive or container. Everything else is checked when the file is read.
import { Fault } from '../base/errors.ts';
import { damaged, lockedMessage } from './faults.ts';
import type { FileKind } from './file-names.ts';
import { directoryIn, firstEntries, namesIn, zipTailBytes } from './zip.ts';

/** What a file is, in terms that users know, and the extension that it must have, or those that it may have. */
type Content = { what: string; kind?: FileKind; perhaps?: FileKind[] };

const workbook: Content = { what: 'an Excel workbook (.xlsx)', kind: 'xlsx' };
const oldWorkbook: Content = { what: 'an old Excel workbook (.xls)', kind: 'xls' };
const oldestWorkbook: Content = { what: 'a workbook of Excel 4 or older' };
const plainText: Content = { what: 'plain text', kind: 'csv' };
// The password may be the one that Excel itself uses. That is checked when the file is read.
const locked: Content = { what: 'protected with a password', perhaps: ['xlsx'] };
const openDocument: Content = { what: 'an OpenDocument file (.ods)' };
const someZip: Content = { what: 'a compressed file (zip)', perhaps: ['xlsx'] };
const someOle: Content = { what: 'an old Office document', perhaps: ['xls', 'xlsx'] };

const signatures: [hex: string, what: string][] = [
  ['25504446', 'a PDF document'],
  ['89504e47', 'a picture'],
  ['ffd8ff', 'a picture'],
  ['47494638', 'a picture'],
  ['1f8b', 'a compressed file (gzip)'],
  ['377abcaf271c', 'a compressed file (7z)'],
  ['526172211a07', 'a compressed file (RAR)'],
  ['7b5c727466', 'a text document (RTF)'],
];

/** Returns a message if the first bytes of a file do not fit its extension, or else undefined. */
export const contentFault = (kind: FileKind, head: Buffer): string | undefined =>
  faultOf(kind, contentOf(head));

/** A file with random access. */
export type Readable = { size: number; read(from: number, to: number): Promise<Buffer> };

/** The maximum number of bytes of a directory to read. The directory of a workbook with 2,000 parts has 200 KB. */
const maxDirectoryBytes = 1024 * 1024;

/** Returns a message if a complete file with valid first bytes is not a workbook, or else undefined. */
export async function structureFault(kind: FileKind, { size, read }: Readable): Promise<string | undefined> {
  const start = await read(0, Math.min(size, 512));
  try {
    if (isZip(start)) return await archiveFault(kind, { size, read });
    if (isOle(start)) await checkContainer(start, { size, read });
  } catch (error) {
    if (error instanceof Fault && error.code === 'unreadable file') return error.message;
    throw error;
  }
  return undefined;
}

/** The parts that identify a workbook in an archive. Letter case does not matter, and some programs write backslashes. */
const workbookPart = /^[\\/]?(?:\[content_types\]\.xml|_rels[\\/]\.rels|xl[\\/]workbook\.xml)$/i;

async function archiveFault(kind: FileKind, { size, read }: Readable): Promise<string | undefined> {
  const directory = directoryIn(await read(Math.max(0, size - zipTailBytes), size), size);
  if (!directory || directory.to - directory.from > maxDirectoryBytes) return undefined;
  const names = namesIn(await read(directory.from, directory.to), directory.count);
  return names.some((name) => workbookPart.test(name)) ? undefined : faultOf(kind, { what: someZip.what });
}

/** Checks an OLE container: its header of 512 bytes says where the directory is, which begins with the root entry. */
async function checkContainer(header: Buffer, { size, read }: Readable): Promise<void> {
  if (header.length < 512) throw damaged();
  const at = (header.readUInt32LE(48) + 1) * 2 ** Math.min(header.readUInt16LE(30), 16);
  if (at + 128 > size) throw damaged();
  const rootType = 5;
  if ((await read(at, at + 128))[66] !== rootType) throw damaged();
}

/** Returns a message if the entries of an archive with the extension .xlsx are not those of a workbook, or else undefined. */
export const workbookFault = (entries: Iterable<Entry>): string | undefined =>
  faultOf('xlsx', contentOfZip(entries));

function faultOf(kind: FileKind, content: Content): string | undefined {
  if (content.kind === kind || content.perhaps?.includes(kind)) return undefined;
  if (content === locked) return lockedMessage;
  const remedy = content.kind
    ? `Rename it so that the name ends in .${content.kind}.`
    : 'Open it in Excel, save it as an Excel workbook (.xlsx) or as CSV, and send the new file.';
  return `The name ends in .${kind}, but the file is ${content.what}. ${remedy}`;
}

function contentOf(head: Buffer): Content {
  if (isOle(head)) return contentOfOle(head);
  if (isZip(head)) return contentOfZip(firstEntries(head));
  // The type of the first record shows which Excel version wrote a workbook without a container.
  if (/^09(?:00|02|04)0[46]00/.test(head.toString('hex', 0, 4))) return oldestWorkbook;
  if (/^0908(?:06|08|10)00/.test(head.toString('hex', 0, 4))) return oldWorkbook;
  const found = signatures.find(([hex]) => startsWith(head, hex));
  return found ? { what: found[1] } : contentOfText(head);
}

const startsWith = (head: Buffer, hex: string): boolean =>
  head.subarray(0, hex.length / 2).equals(Buffer.from(hex, 'hex'));

const isOle = (head: Buffer): boolean => startsWith(head, 'd0cf11e0a1b11ae1');
const isZip = (head: Buffer): boolean => startsWith(head, '504b0304') || startsWith(head, '504b0506');

/** Identifies an OLE container, such as an .xls file or an encrypted Office document, by the names of its streams. */
function contentOfOle(head: Buffer): Content {
  const names = head.toString('utf16le');
  if (/(?:work)?book\0/i.test(names)) return oldWorkbook;
  if (names.includes('EncryptedPackage\0')) return locked;
  if (names.includes('WordDocument\0')) return { what: 'a Word document' };
  if (names.includes('PowerPoint Document\0')) return { what: 'a PowerPoint presentation' };
  return someOle;
}

type Entry = { name: string; unpack(): Buffer };

/** The type of an Office archive, by the content type of its main part. */
const mainTypes: [type: string, Content][] = [
  ['spreadsheetml.sheet.main+xml', workbook],
  ['ms-excel.sheet.binary.macroEnabled.main', { what: 'a binary Excel workbook (.xlsb)' }],
  ['ms-excel.sheet.macroEnabled.main+xml', { what: 'an Excel workbook with macros (.xlsm)' }],
  ['spreadsheetml.template.main+xml', { what: 'an Excel template' }],
  ['ms-excel.template.macroEnabled.main+xml', { what: 'an Excel template' }],
  ['ms-excel.addin.macroEnabled.main+xml', { what: 'an Excel add-in' }],
  ['wordprocessingml.', { what: 'a Word document' }],
  ['presentationml.', { what: 'a PowerPoint presentation' }],
];

function contentOfZip(entries: Iterable<Entry>): Content {
  for (const { name, unpack } of entries) {
    if (name === '[Content_Types].xml') {
      const types = unpack().toString();
      return mainTypes.find(([type]) => types.includes(type))?.[1] ?? someZip;
    }
    if (name === 'mimetype' && unpack().includes('opendocument')) return openDocument;
    if (name === 'Index/Document.iwa') return { what: 'an Apple Numbers document' };
  }
  return someZip;
}

/** A text may have at most this many control characters among its first bytes. */
const controls = { among: 10_000, most: 100 };

function contentOfText(head: Buffer): Content {
  if (startsWith(head, 'fffe') || startsWith(head, 'feff')) return plainText;
  const start = head.subarray(0, controls.among);
  const isControl = (byte: number) => byte < 9 || (byte > 13 && byte < 32);
  if (head.includes(0) || start.filter(isControl).length > controls.most) {
    const isUtf16 = start.filter((byte) => byte === 0).length > start.length / 4;
    return { what: isUtf16 ? 'UTF-16 text without a byte order mark' : 'not text' };
  }
  const first = start.toString('latin1');
  if (/^(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html|head|body|table|meta|style)\b/i.test(first)) {
    return { what: 'a web page (HTML)' };
  }
  if (/^(?:\xef\xbb\xbf)?\s*<\?xml\b/.test(first)) return { what: 'an XML document' };
  return plainText;
}
