// A DNS server for tests: TXT, MX, A and AAAA records from a table, over UDP (RFC 1035).
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIP } from 'node:net';

/** Records by name. `mail.example.com` is an MX record, an address an A or AAAA record, and everything else a TXT record. */
export type DnsTable = Record<string, { txt?: string[]; mx?: string[]; a?: string[] }>;

export type TestDns = {
  /** Its address and port, as a resolver takes them. */
  server: string;
  /** The names that were queried, each once, in lower case. */
  requested: Set<string>;
  close(): void;
};

const kinds = { a: 1, mx: 15, txt: 16, aaaa: 28 };

/** Starts a server. Queries for names in `broken` get SERVFAIL, and queries for names in `silent` get no response. */
export async function openTestDns(
  table: DnsTable,
  { broken = [], silent = [] }: { broken?: string[]; silent?: string[] } = {},
): Promise<TestDns> {
  const requested = new Set<string>();
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const { name, end } = nameIn(query);
    const kind = query.readUInt16BE(end);
    requested.add(name);
    if (silent.includes(name)) return;
    const data = broken.includes(name) ? [] : recordsOf(table[name] ?? {}, kind);
    const code = broken.includes(name) ? 2 : table[name] ? 0 : 3;
    const header = Buffer.alloc(12);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180 | code, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(data.length, 6);
    const records = data.map((bytes) => {
      const head = Buffer.alloc(12);
      head.writeUInt16BE(0xc00c, 0); // the name of the question
      head.writeUInt16BE(kind, 2);
      head.writeUInt16BE(1, 4);
      head.writeUInt16BE(bytes.length, 10);
      return Buffer.concat([head, bytes]);
    });
    socket.send(Buffer.concat([header, query.subarray(12, end + 4), ...records]), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { server: `127.0.0.1:${socket.address().port}`, requested, close: () => void socket.close() };
}

/** Returns the name of the question, and where it ends. */
function nameIn(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 };
}

function recordsOf({ txt = [], mx = [], a = [] }: DnsTable[string], kind: number): Buffer[] {
  switch (kind) {
    case kinds.txt:
      return txt.map((text) => {
        const parts = text.match(/[\s\S]{1,255}/g) ?? [''];
        return Buffer.concat(
          parts.map((part) => Buffer.concat([Buffer.from([part.length]), Buffer.from(part)])),
        );
      });
    case kinds.mx:
      return mx.map((name, i) => Buffer.concat([Buffer.from([0, 10 * (i + 1)]), encodedName(name)]));
    case kinds.a:
      return a.filter((one) => isIP(one) === 4).map((one) => Buffer.from(one.split('.').map(Number)));
    case kinds.aaaa:
      return a
        .filter((one) => isIP(one) === 6)
        .map((one) => {
          const [head = '', tail = ''] = one.split('::');
          const groups = (part: string) => part.split(':').filter((group) => group !== '');
          const zeros = Array<string>(8 - groups(head).length - groups(tail).length).fill('0');
          const all = [...groups(head), ...zeros, ...groups(tail)];
          return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex');
        });
    default:
      return [];
  }
}

const encodedName = (name: string) =>
  Buffer.concat([
    ...name
      .split('.')
      .filter((label) => label !== '')
      .map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)])),
    Buffer.from([0]),
  ]);
