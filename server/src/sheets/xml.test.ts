// Reading XML: what is in a document, in its order; and what isn't well-formed.
import { expect, test } from 'vitest';
import { readXml, XmlError } from './xml.ts';

/** What a document says, one event after the other. */
function eventsOf(xml: string | Buffer): string[] {
  const events: string[] = [];
  readXml(Buffer.from(xml as string), {
    open: (path, attributes) => events.push(`<${[path, ...attributes.entries()].join(' ')}>`),
    text: (path, text) => events.push(`${path}: ${text}`),
    close: (path) => events.push(`</${path}>`),
  });
  return events;
}

test('elements have the path of names to them, without prefixes, and an end each', () => {
  const xml = '<?xml version="1.0"?>\n<x:a xmlns:x="u"><x:b/><c><b></b ></c></x:a>\n<!-- <d> -->';
  expect(eventsOf(xml)).toEqual(['<a>', '<a/b>', '</a/b>', '<a/c>', '<a/c/b>', '</a/c/b>', '</a/c>', '</a>']);
});

test('attributes are read in both quotation marks, with any white space and any character', () => {
  const xml = `<a\n r:id = "1>2" \t two='"&#x41;&amp;&#66;"' three=""/>`;
  expect(eventsOf(xml)).toEqual(['<a id,1>2 two,"A&B" three,>', '</a>']);
});

test('text is whole: entities, CDATA as it stands, comments left out, breaks as line feeds', () => {
  const texts = eventsOf('<a>1 &lt; 2\r\n<![CDATA[&amp;<b>]]><!-- x -->&#128105;\r3</a>').slice(1, -1);
  expect(texts.map((event) => event.slice(3)).join('')).toBe('1 < 2\n&amp;<b>👩\n3');
});

test.each<[string, Buffer]>([
  ['UTF-8', Buffer.from('<a>Å</a>')],
  ['UTF-8 with its mark', Buffer.from('\ufeff<?xml version="1.0" encoding="UTF-8"?><a>Å</a>')],
  ['UTF-16', Buffer.from('\ufeff<?xml version="1.0" encoding="UTF-16"?><a>Å</a>', 'utf16le')],
  ['UTF-16, without its mark', Buffer.from('<?xml version="1.0"?><a>Å</a>', 'utf16le')],
  ['UTF-16, the other way round', Buffer.from('\ufeff<a>Å</a>', 'utf16le').swap16()],
  ['Latin 1', Buffer.from('<?xml version="1.0" encoding="iso-8859-1"?><a>Å</a>', 'latin1')],
])('%s is read', (_, bytes) => {
  expect(eventsOf(bytes)).toEqual(['<a>', 'a: Å', '</a>']);
});

test.each([
  ['nothing', ''],
  ['text alone', 'a,b'],
  ['text behind the root', '<a/>b'],
  ['two roots', '<a/><b/>'],
  ['an element that never ends', '<a><b></b>'],
  ['an end without its beginning', '<a></a></a>'],
  ['ends in the wrong order', '<a><b></a></b>'],
  ['a tag that is cut off', '<a><b c="1'],
  ['a comment that never ends', '<a><!-- </a>'],
  ['an attribute without quotation marks', '<a b=1/>'],
  ['an attribute with a tag in it', '<a b="<c/>"/>'],
  ['a bare ampersand', '<a>R&D</a>'],
  ['an entity that XML does not have', '<a>&nbsp;</a>'],
  ['a character beyond all', '<a>&#x110000;</a>'],
  ['a document type', '<!DOCTYPE a [<!ENTITY b "b">]><a>&b;</a>'],
  ['a document type within', '<a><!DOCTYPE b></a>'],
  ['bytes that are not in its encoding', Buffer.from('<a>\xc5</a>', 'latin1')],
  ['an encoding that there is not', '<?xml version="1.0" encoding="x-none"?><a>Å</a>'],
  ['a thousand elements within one another', '<a>'.repeat(1000) + '</a>'.repeat(1000)],
])('%s is refused', (_, xml) => {
  expect(() => eventsOf(xml)).toThrow(XmlError);
});

test.each([
  ['open tags', '<a '.repeat(1_000_000)],
  ['white space in a tag', `<a${' '.repeat(1_000_000)}`],
  ['attributes', `<a ${'b="" '.repeat(200_000)}`],
  ['comments', `<a>${'<!--'.repeat(1_000_000)}`],
  ['ampersands', `<a>${'&'.repeat(1_000_000)}</a>`],
])('a million %s without an end take no time', (_, xml) => {
  expect(() => eventsOf(xml)).toThrow(XmlError);
});
