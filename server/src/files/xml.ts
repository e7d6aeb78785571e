// Reading XML, as far as the parts of a workbook need it: element by element, with the place of each in the document. What
// isn't well-formed is refused, and so is a document type: it could define entities of any size.
import { isUtf8 } from 'node:buffer';

/** Attributes by their names, without prefixes. */
export type Attributes = ReadonlyMap<string, string>;

/** What is called while a document is read. A path is made of names without prefixes: worksheet/sheetData/row. */
export type XmlReader = {
  open?(path: string, attributes: Attributes): void;
  /** The text between two tags, in one or more pieces. */
  text?(path: string, text: string): void;
  close?(path: string): void;
};

/** The most elements within one another: no part of a workbook needs a fifth of it. */
const maxDepth = 100;

/** A place in documents of one kind. Each is made once, so that a path is never put together twice. */
type Place = {
  path: string;
  name: string;
  parent: Place | undefined;
  depth: number;
  within: Map<string, Place>;
};

/** Reads a document from its beginning to its end. Throws an XmlError where it isn't well-formed. */
export function readXml(bytes: Buffer, { open, text, close }: XmlReader): void {
  const xml = decoded(bytes);
  let place: Place = { path: '', name: '', parent: undefined, depth: 0, within: new Map() };
  let hasRoot = false;
  for (let at = 0; at < xml.length;) {
    const tag = xml.indexOf('<', at);
    const end = tag < 0 ? xml.length : tag;
    if (end > at) {
      if (place.parent) text?.(place.path, unescaped(xml.slice(at, end)));
      else if (/[^\s\ufeff]/.test(xml.slice(at, end))) throw new XmlError('Text outside of elements', at);
    }
    if (tag < 0) break;
    if (xml.startsWith('</', tag)) {
      at = after(xml, '>', tag);
      if (!place.parent || xml.slice(tag + 2, at - 1).trimEnd() !== place.name) {
        throw new XmlError('An end without its beginning', tag);
      }
      close?.(place.path);
      place = place.parent;
    } else if (xml.startsWith('<?', tag)) {
      at = after(xml, '?>', tag);
    } else if (xml.startsWith('<!--', tag)) {
      at = after(xml, '-->', tag + 4);
    } else if (xml.startsWith('<![CDATA[', tag) && place.parent) {
      at = after(xml, ']]>', tag);
      text?.(place.path, withPlainBreaks(xml.slice(tag + 9, at - 3)));
    } else {
      startTag.lastIndex = tag;
      const [whole, name = '', attributes = '', isEmpty = ''] = startTag.exec(xml) ?? [];
      if (whole === undefined) throw new XmlError('Neither an element nor a comment', tag);
      if (!place.parent && hasRoot) throw new XmlError('A second root', tag);
      hasRoot = true;
      at = tag + whole.length;
      const inner = placeIn(place, name);
      open?.(inner.path, attributesOf(attributes));
      if (isEmpty) close?.(inner.path);
      else place = inner;
    }
  }
  if (place.parent || !hasRoot) throw new XmlError('The end is missing', xml.length);
}

/** What isn't well-formed, and where: characters from the beginning. */
export class XmlError extends Error {
  override readonly name = 'XmlError';
  constructor(what: string, at: number) {
    super(`${what}, at ${at}`);
  }
}

/** In turn: its name, its attributes, and the slash of an empty one. */
const startTag = /<([^\s<>/=!?"'&]+)((?:\s+[^\s<>/="'&]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y;

const attribute = /([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

const none: Attributes = new Map();

function attributesOf(text: string): Attributes {
  if (text === '') return none;
  const attributes = new Map<string, string>();
  for (const [, name = '', double, single] of text.matchAll(attribute)) {
    if (/^xmlns(?::|$)/.test(name)) continue;
    attributes.set(withoutPrefix(name), unescaped(double ?? single ?? ''));
  }
  return attributes;
}

const withoutPrefix = (name: string): string => name.slice(name.indexOf(':') + 1);

function placeIn(parent: Place, name: string): Place {
  const known = parent.within.get(name);
  if (known) return known;
  const depth = parent.depth + 1;
  if (depth > maxDepth) throw new XmlError('Elements within one another', 0);
  const path = parent.parent ? `${parent.path}/${withoutPrefix(name)}` : withoutPrefix(name);
  const place = { path, name, parent, depth, within: new Map<string, Place>() };
  parent.within.set(name, place);
  return place;
}

/** Where it goes on behind a mark. */
function after(xml: string, mark: string, from: number): number {
  const found = xml.indexOf(mark, from);
  if (found < 0) throw new XmlError(`${mark} is missing`, from);
  return found + mark.length;
}

const entities: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

function unescaped(text: string): string {
  const plain = withPlainBreaks(text);
  if (!plain.includes('&')) return plain;
  return plain.replace(/&(?:#(\d+);|#x([\da-f]+);|(\w+);)?/gi, (_, decimal, hex, name) => {
    const code = decimal ? Number(decimal) : hex ? Number.parseInt(hex, 16) : undefined;
    if (code !== undefined && code <= 0x10_ff_ff) return String.fromCodePoint(code);
    const character = entities[String(name)];
    if (character === undefined) throw new XmlError('An unknown entity', 0);
    return character;
  });
}

/** Every break as one line feed, as XML has it. */
const withPlainBreaks = (text: string): string =>
  text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text;

/** The text of a document, which is UTF-8 unless its beginning says something else. */
function decoded(bytes: Buffer): string {
  const encoding = encodingOf(bytes);
  if (encoding === 'utf-8' && isUtf8(bytes)) return bytes.toString();
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw new XmlError(`It isn't in ${encoding}`, 0);
  }
}

function encodingOf(bytes: Buffer): string {
  const start = bytes.toString('latin1', 0, 4);
  if (start.startsWith('\xff\xfe') || start === '<\0?\0') return 'utf-16le';
  if (start.startsWith('\xfe\xff') || start === '\0<\0?') return 'utf-16be';
  const declared = /^(?:\xef\xbb\xbf)?<\?xml[^>]{0,100}?encoding\s*=\s*["']([\w.:-]+)/.exec(
    bytes.toString('latin1', 0, 200),
  );
  return declared?.[1]?.toLowerCase() ?? 'utf-8';
}
