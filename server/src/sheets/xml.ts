// Reads XML element by element, as far as workbooks need it. Rejects documents that aren't well-formed, and document type
// declarations, which could define entities of any size.
import { isUtf8 } from 'node:buffer';

/** Attributes by their names, without prefixes. */
export type Attributes = ReadonlyMap<string, string>;

/** Callbacks while a document is read. A path consists of names without prefixes: worksheet/sheetData/row. */
export type XmlReader = {
  open?(path: string, attributes: Attributes): void;
  /** Gets the text between two tags, in one or more calls. */
  text?(path: string, text: string): void;
  close?(path: string): void;
};

/** The maximum nesting of elements. No part of a workbook needs a fifth of it. */
const maxDepth = 100;

/** A place in the tree of elements. Created once per path, so that paths are not concatenated again. */
type Place = {
  path: string;
  name: string;
  parent: Place | undefined;
  depth: number;
  within: Map<string, Place>;
};

/** Reads a document and calls the reader for each element. Throws an XmlError if it isn't well-formed. */
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
        throw new XmlError('End tag without a matching start tag', tag);
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
      if (whole === undefined) throw new XmlError('Invalid tag', tag);
      if (!place.parent && hasRoot) throw new XmlError('More than one root element', tag);
      hasRoot = true;
      at = tag + whole.length;
      const inner = placeIn(place, name);
      open?.(inner.path, attributesOf(attributes));
      if (isEmpty) close?.(inner.path);
      else place = inner;
    }
  }
  if (place.parent || !hasRoot) throw new XmlError('Unexpected end of the document', xml.length);
}

/** An error in a document, with its position in characters from the start. */
export class XmlError extends Error {
  override readonly name = 'XmlError';
  constructor(what: string, at: number) {
    super(`${what}, at ${at}`);
  }
}

/** Captures the name, the attributes, and the slash of an empty element. */
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
  if (depth > maxDepth) throw new XmlError('Elements nested too deeply', 0);
  const path = parent.parent ? `${parent.path}/${withoutPrefix(name)}` : withoutPrefix(name);
  const place = { path, name, parent, depth, within: new Map<string, Place>() };
  parent.within.set(name, place);
  return place;
}

/** Returns the position after the next occurrence of a mark. */
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
    if (character === undefined) throw new XmlError('Unknown entity', 0);
    return character;
  });
}

/** Turns every line break into a line feed, as XML requires. */
const withPlainBreaks = (text: string): string =>
  text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text;

/** Returns the text of a document. The encoding is UTF-8 unless the document declares another. */
function decoded(bytes: Buffer): string {
  const encoding = encodingOf(bytes);
  if (encoding === 'utf-8' && isUtf8(bytes)) return bytes.toString();
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw new XmlError(`Invalid ${encoding}`, 0);
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
