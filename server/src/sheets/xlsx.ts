// Reads workbooks (.xlsx): the visible sheets, with cells as a person sees them. Each part is read as XML and decompressed
// within the limits of zip.ts (ECMA-376-1 §18).
import { workbookFault } from './content.ts';
import { damaged, orDamaged, unreadable } from './faults.ts';
import { builtInShapes, isoDateOf, type Shape, shapeOf, shownNumber } from './numbers.ts';
import { newSheet, refuseSheets } from './rows.ts';
import type { Cell, Sheet } from './sheet.ts';
import { type Attributes, readXml, type XmlReader } from './xml.ts';
import { readZip } from './zip.ts';

/** Returns the visible sheets. Throws a Fault if the file is not a workbook, is damaged, or exceeds a limit. */
export function readXlsx(bytes: Buffer): Sheet[] {
  const entries = readZip(bytes);
  const fault = workbookFault(entries);
  if (fault !== undefined) throw unreadable(fault);
  const parts = new Map(entries.map((entry) => [keyOf(entry.name), entry]));
  const read: ReadPart = (name, reader) => {
    const part = parts.get(keyOf(name));
    if (!part) return false;
    orDamaged(() => readXml(part.unpack(), reader));
    return true;
  };
  return sheetsIn(read);
}

/** Reads a part by its name. Returns false if it does not exist. */
type ReadPart = (name: string, reader: XmlReader) => boolean;

/** Names of parts ignore letter case, and some programs write them with backslashes. */
const keyOf = (name: string): string => name.replaceAll('\\', '/').replace(/^\//, '').toLowerCase();

function sheetsIn(read: ReadPart): Sheet[] {
  const main = [...relationsOf('', read).values()].find(({ type }) => type === 'officeDocument');
  const name = main?.target ?? 'xl/workbook.xml';
  const { sheets, is1904 } = bookIn(name, read);
  refuseSheets(sheets.map((sheet) => sheet.name));
  const relations = relationsOf(name, read);
  const targetOf = (type: string) => [...relations.values()].find((one) => one.type === type)?.target;
  // A macro may be listed among the sheets, without a part.
  const isVisible = ({ id, state = 'visible' }: ListedSheet) => id !== '' && state === 'visible';
  const wanted = sheets.filter(isVisible).flatMap((sheet) => {
    const relation = relations.get(sheet.id);
    if (!relation) throw damaged('A sheet has no part');
    // Other types are, for example, charts.
    return relation.type === 'worksheet' ? [{ name: sheet.name, part: relation.target }] : [];
  });
  const strings = targetOf('sharedStrings');
  const styles = targetOf('styles');
  const book: Book = {
    is1904,
    strings: strings === undefined ? [] : stringsIn(strings, read),
    shapes: styles === undefined ? [] : shapesIn(styles, read),
  };
  return wanted.map(({ name: title, part }) => sheetIn(title, part, book, read));
}

// --- The other parts.

type Relation = { type: string; target: string };

/** Returns the parts that a part refers to, by id. A type is the last segment of its URI, as each type has two URIs. */
function relationsOf(part: string, read: ReadPart): Map<string, Relation> {
  const relations = new Map<string, Relation>();
  const slash = part.lastIndexOf('/') + 1;
  const base = new URL(part, 'part:///');
  read(`${part.slice(0, slash)}_rels/${part.slice(slash)}.rels`, {
    open(path, attributes) {
      if (path !== 'Relationships/Relationship' || attributes.get('TargetMode') === 'External') return;
      const target = new URL((attributes.get('Target') ?? '').replaceAll('\\', '/'), base).pathname;
      relations.set(attributes.get('Id') ?? '', {
        type: (attributes.get('Type') ?? '').replace(/^.*\//s, ''),
        target: decodeURI(target).slice(1),
      });
    },
  });
  return relations;
}

type ListedSheet = { name: string; state: string | undefined; id: string };

function bookIn(name: string, read: ReadPart): { sheets: ListedSheet[]; is1904: boolean } {
  const sheets: ListedSheet[] = [];
  let is1904 = false;
  const isThere = read(name, {
    open(path, attributes) {
      if (path === 'workbook/workbookPr') is1904 = isTrue(attributes.get('date1904'));
      if (path !== 'workbook/sheets/sheet') return;
      const [title = '', id = ''] = [attributes.get('name'), attributes.get('id')];
      sheets.push({ name: withCharacters(title), state: attributes.get('state'), id });
    },
  });
  if (!isThere) throw damaged('The workbook part is missing');
  return { sheets, is1904 };
}

const isTrue = (text: string | undefined): boolean => text === '1' || text === 'true' || text === 'on';

/** Returns the shared texts. An entry without text is ''. Phonetic readings of Asian texts are left out. */
function stringsIn(name: string, read: ReadPart): string[] {
  const strings: string[] = [];
  let string = '';
  read(name, {
    text(path, text) {
      if (path === 'sst/si/t' || path === 'sst/si/r/t') string += text;
    },
    close(path) {
      if (path !== 'sst/si') return;
      strings.push(withCharacters(string));
      string = '';
    },
  });
  return strings;
}

/** Replaces escapes such as _x000B_, which stand for characters that XML can't contain. */
const withCharacters = (text: string): string =>
  text.includes('_x')
    ? text.replace(/_x([\da-f]{4})_/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    : text;

/** Returns how each cell style shows numbers. */
function shapesIn(name: string, read: ReadPart): Shape[] {
  const shapes: Shape[] = [];
  const own = new Map<number, Shape>();
  read(name, {
    open(path, attributes) {
      if (path === 'styleSheet/numFmts/numFmt') {
        own.set(Number(attributes.get('numFmtId')), shapeOf(attributes.get('formatCode') ?? ''));
      } else if (path === 'styleSheet/cellXfs/xf') {
        const id = Number(attributes.get('numFmtId') ?? 0);
        shapes.push(own.get(id) ?? builtInShapes.get(id) ?? 'number');
      }
    },
  });
  return shapes;
}

// --- Sheets.

/** The data that the cells of all sheets refer to. */
type Book = { is1904: boolean; strings: string[]; shapes: Shape[] };

const cellPath = 'worksheet/sheetData/row/c';
const valuePath = `${cellPath}/v`;
const inlinePaths = [`${cellPath}/is/t`, `${cellPath}/is/r/t`];

function sheetIn(name: string, part: string, book: Book, read: ReadPart): Sheet {
  const { put, sheet } = newSheet(name);
  // The position of the previous row and cell. One without its own position comes next.
  let [row, column] = [-1, -1];
  let cell: Attributes = new Map();
  let value = '';
  let inline = '';
  const isThere = read(part, {
    open(path, attributes) {
      if (path === cellPath) {
        cell = attributes;
        [value, inline] = ['', ''];
        const reference = attributes.get('r');
        if (reference === undefined) column++;
        else [row, column] = placeOf(reference);
      } else if (path === 'worksheet/sheetData/row') {
        row = rowOf(attributes.get('r')) ?? row + 1;
        column = -1;
      }
    },
    text(path, text) {
      if (path === valuePath) value += text;
      else if (inlinePaths.includes(path)) inline += text;
    },
    close(path) {
      if (path === cellPath) put(row, column, cellOf(cell, value, inline, book));
    },
  });
  if (!isThere) throw damaged('A sheet part is missing');
  return sheet;
}

function rowOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const row = Number(text) - 1;
  if (!Number.isSafeInteger(row) || row < 0) throw damaged('Invalid row number');
  return row;
}

/** Returns the row and column index of a cell such as B7. */
function placeOf(reference: string): [row: number, column: number] {
  const [, letters, digits] = /^\$?([a-z]{1,3})\$?([1-9]\d{0,6})$/i.exec(reference) ?? [];
  if (letters === undefined) throw damaged('Invalid cell reference');
  let column = 0;
  for (const letter of letters) column = column * 26 + Number.parseInt(letter, 36) - 9;
  return [Number(digits) - 1, column - 1];
}

function cellOf(cell: Attributes, value: string, inline: string, { strings, shapes, is1904 }: Book): Cell {
  const type = cell.get('t');
  if (type === 'inlineStr') return withCharacters(inline);
  if (type === 'str') return withCharacters(value);
  const text = value.trim();
  if (text === '') return null;
  if (type === 's') {
    const string = strings[Number(text)];
    if (string === undefined) throw damaged('A cell refers to a missing shared text');
    return string;
  }
  if (type === 'b') return isTrue(text);
  if (type === 'd') return isoDateOf(text);
  if (type === 'e') return text;
  const number = Number(text);
  if (Number.isNaN(number)) return text === 'NaN' ? null : text;
  return shownNumber(number, shapes[Number(cell.get('s') ?? 0)] ?? 'number', is1904);
}
