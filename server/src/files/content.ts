// Whether a file is what its name says (decision C4), by its first bytes before it is taken. What they cannot tell is told
// when the file is read.
import type { FileKind } from './names.ts';
import { lockedMessage } from './rows.ts';
import { firstEntries } from './zip.ts';

/** What a file is, as whoever sent it would call it, and the ending that it must have, or those that it may have. */
type Content = { what: string; kind?: FileKind; perhaps?: FileKind[] };

const workbook: Content = { what: 'an Excel workbook (.xlsx)', kind: 'xlsx' };
const oldWorkbook: Content = { what: 'an old Excel workbook (.xls)', kind: 'xls' };
const oldestWorkbook: Content = { what: 'a workbook of Excel 4 or older' };
const plainText: Content = { what: 'plain text', kind: 'csv' };
// The password may be the one that Excel itself uses: whether it is shows when the file is read.
const locked: Content = { what: 'protected with a password', perhaps: ['xlsx'] };
const openDocument: Content = { what: 'an OpenDocument file (.ods)' };
const someZip: Content = { what: 'a packed file (zip)', perhaps: ['xlsx'] };
const someOle: Content = { what: 'an old Office document', perhaps: ['xls', 'xlsx'] };

const signatures: [hex: string, what: string][] = [
  ['25504446', 'a PDF document'],
  ['89504e47', 'a picture'],
  ['ffd8ff', 'a picture'],
  ['47494638', 'a picture'],
  ['1f8b', 'a packed file (gzip)'],
  ['377abcaf271c', 'a packed file (7z)'],
  ['526172211a07', 'a packed file (RAR)'],
  ['7b5c727466', 'a text document (RTF)'],
];

/** Says in words why a file that begins so cannot be of the kind; undefined: it can, as far as the beginning tells. */
export const contentFault = (kind: FileKind, head: Buffer): string | undefined =>
  faultOf(kind, contentOf(head));

/** The same for the entries of an archive that is an .xlsx by its name. */
export const workbookFault = (entries: Iterable<Entry>): string | undefined =>
  faultOf('xlsx', contentOfZip(entries));

function faultOf(kind: FileKind, content: Content): string | undefined {
  if (content.kind === kind || content.perhaps?.includes(kind)) return undefined;
  if (content === locked) return lockedMessage;
  const remedy = content.kind
    ? `Give it a name that ends in .${content.kind}.`
    : 'Open it in Excel, save it as an Excel workbook (.xlsx) or as CSV, and send that.';
  return `The name ends in .${kind}, but the file is ${content.what}. ${remedy}`;
}

function contentOf(head: Buffer): Content {
  if (startsWith(head, 'd0cf11e0a1b11ae1')) return contentOfOle(head);
  if (startsWith(head, '504b0304') || startsWith(head, '504b0506')) return contentOfZip(firstEntries(head));
  // The first record of a workbook without a container: what wrote it is told by its type.
  if (/^09(?:00|02|04)0[46]00/.test(head.toString('hex', 0, 4))) return oldestWorkbook;
  if (/^0908(?:06|08|10)00/.test(head.toString('hex', 0, 4))) return oldWorkbook;
  const found = signatures.find(([hex]) => startsWith(head, hex));
  return found ? { what: found[1] } : contentOfText(head);
}

const startsWith = (head: Buffer, hex: string): boolean =>
  head.subarray(0, hex.length / 2).equals(Buffer.from(hex, 'hex'));

/** The container of .xls, and of whatever of Office needs a password. The names of what is in it tell. */
function contentOfOle(head: Buffer): Content {
  const names = head.toString('utf16le');
  if (/(?:work)?book\0/i.test(names)) return oldWorkbook;
  if (names.includes('EncryptedPackage\0')) return locked;
  if (names.includes('WordDocument\0')) return { what: 'a Word document' };
  if (names.includes('PowerPoint Document\0')) return { what: 'a PowerPoint presentation' };
  return someOle;
}

type Entry = { name: string; unpack(): Buffer };

/** By what an archive of Office declares its main part to be. */
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
    if (name === 'Index/Document.iwa') return { what: 'a document of Apple Numbers' };
  }
  return someZip;
}

/** Of a text, at most so many of its first bytes are control characters. */
const controls = { among: 10_000, most: 100 };

function contentOfText(head: Buffer): Content {
  if (startsWith(head, 'fffe') || startsWith(head, 'feff')) return plainText;
  const start = head.subarray(0, controls.among);
  const isControl = (byte: number) => byte < 9 || (byte > 13 && byte < 32);
  if (head.includes(0) || start.filter(isControl).length > controls.most) {
    const isUtf16 = start.filter((byte) => byte === 0).length > start.length / 4;
    return { what: isUtf16 ? 'text in UTF-16 without the mark at its beginning that says so' : 'not text' };
  }
  const first = start.toString('latin1');
  if (/^(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html|head|body|table|meta|style)\b/i.test(first)) {
    return { what: 'a web page (HTML)' };
  }
  if (/^(?:\xef\xbb\xbf)?\s*<\?xml\b/.test(first)) return { what: 'an XML document' };
  return plainText;
}
