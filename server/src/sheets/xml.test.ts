// The XML reader reports the contents of a document in order, and refuses a document that is not well-formed.
import { expect, test } from 'vitest';
import { readXml, XmlError } from './xml.ts';

/** Returns the events that a document produces, in order. */
function eventsOf(xml: string | Buffer): string[] {
  const events: string[] = [];
  readXml(Buffer.from(xml as string), {
    open: (path, attributes) => events.push(`<${[path, ...attributes.entries()].join(' ')}>`),
    text: (path, text) => events.push(`${path}: ${text}`),
    close: (path) => events.push(`</${path}>`),
  });
  return events;
}

test('reports each element with its path of names, without prefixes, and its end', () => {
  const xml = '<?xml version="1.0"?>\n<x:a xmlns:x="u"><x:b/><c><b></b ></c></x:a>\n<!-- <d> -->';
  expect(eventsOf(xml)).toEqual(['<a>', '<a/b>', '</a/b>', '<a/c>', '<a/c/b>', '</a/c/b>', '</a/c>', '</a>']);
});

test('reads attributes in single and double quotation marks, with any white space and any character', () => {
  const xml = `<a\n r:id = "1>2" \t two='"&#x41;&amp;&#66;"' three=""/>`;
  expect(eventsOf(xml)).toEqual(['<a id,1>2 two,"A&B" three,>', '</a>']);
});

test('reads text with its entities and CDATA, without comments, and with line feeds as line breaks', () => {
  const texts = eventsOf('<a>1 &lt; 2\r\n<![CDATA[&amp;<b>]]><!-- x -->&#128105;\r3</a>').slice(1, -1);
  expect(texts.map((event) => event.slice(3)).join('')).toBe('1 < 2\n&amp;<b>👩\n3');
});

test.each<[string, Buffer]>([
  ['UTF-8', Buffer.from('<a>Å</a>')],
  ['UTF-8 with a byte order mark', Buffer.from('\ufeff<?xml version="1.0" encoding="UTF-8"?><a>Å</a>')],
  ['UTF-16', Buffer.from('\ufeff<?xml version="1.0" encoding="UTF-16"?><a>Å</a>', 'utf16le')],
  ['UTF-16 without a byte order mark', Buffer.from('<?xml version="1.0"?><a>Å</a>', 'utf16le')],
  ['UTF-16 in big-endian order', Buffer.from('\ufeff<a>Å</a>', 'utf16le').swap16()],
  ['Latin 1', Buffer.from('<?xml version="1.0" encoding="iso-8859-1"?><a>Å</a>', 'latin1')],
])('reads %s', (_, bytes) => {
  expect(eventsOf(bytes)).toEqual(['<a>', 'a: Å', '</a>']);
});

test.each([
  ['an empty document', ''],
  ['text without an element', 'a,b'],
  ['text after the root element', '<a/>b'],
  ['two root elements', '<a/><b/>'],
  ['an element that never ends', '<a><b></b>'],
  ['an end tag without a start tag', '<a></a></a>'],
  ['end tags in the wrong order', '<a><b></a></b>'],
  ['a tag that is cut off', '<a><b c="1'],
  ['a comment that never ends', '<a><!-- </a>'],
  ['an attribute without quotation marks', '<a b=1/>'],
  ['an attribute that contains a tag', '<a b="<c/>"/>'],
  ['a bare ampersand', '<a>R&D</a>'],
  ['an entity that XML does not define', '<a>&nbsp;</a>'],
  ['a character outside Unicode', '<a>&#x110000;</a>'],
  ['a document type', '<!DOCTYPE a [<!ENTITY b "b">]><a>&b;</a>'],
  ['a document type inside an element', '<a><!DOCTYPE b></a>'],
  ['bytes that are invalid in its encoding', Buffer.from('<a>\xc5</a>', 'latin1')],
  ['an unknown encoding', '<?xml version="1.0" encoding="x-none"?><a>Å</a>'],
  ['a thousand nested elements', '<a>'.repeat(1000) + '</a>'.repeat(1000)],
])('refuses %s', (_, xml) => {
  expect(() => eventsOf(xml)).toThrow(XmlError);
});

test.each([
  ['open tags', '<a '.repeat(1_000_000)],
  ['spaces in a tag', `<a${' '.repeat(1_000_000)}`],
  ['attributes', `<a ${'b="" '.repeat(200_000)}`],
  ['comments', `<a>${'<!--'.repeat(1_000_000)}`],
  ['ampersands', `<a>${'&'.repeat(1_000_000)}</a>`],
])('refuses a million unclosed %s quickly', (_, xml) => {
  expect(() => eventsOf(xml)).toThrow(XmlError);
});
