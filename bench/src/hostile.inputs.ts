// Malicious and faulty inputs for every interface of the service, generated from a seed.
import { consoleOperations } from '@soundings/contract/console/operations.ts';
import { dataOperations } from '@soundings/contract/data.ts';
import { organizationOperations } from '@soundings/contract/organization.ts';
import { uploadOperations } from '@soundings/contract/storage.ts';
import { deflateSync, gzipSync } from 'node:zlib';
import { mulberry32 } from '@soundings/server/src/simulation/random.ts';

/** Valid credentials, so that inputs also reach the code behind authentication. */
export type Keys = { tokens: string[]; sessions: string[]; links: string[] };

/**
 * `http`: a request after which the connection can be used again. `raw`: bytes that are not a valid request. `sftp`: bytes for the
 * SFTP port. The connection ends after a `raw` or `sftp` input.
 */
export type Input = { kind: 'http' | 'raw' | 'sftp'; bytes: Buffer; what: string };

type Random = { chance(share: number): boolean; below(count: number): number; of<T>(list: readonly T[]): T };

/** Returns a function that generates inputs. */
export function hostileInputs(seed: number, keys: Keys): () => Input {
  const next = mulberry32(seed);
  const below = (count: number) => Math.floor(next() * count);
  const r: Random = {
    chance: (share) => next() < share,
    below,
    of: (list) => list[below(list.length)] as (typeof list)[number],
  };
  return () => {
    if (r.chance(0.005)) return { kind: 'sftp', bytes: sftpBytes(r), what: 'SFTP' };
    const request = r.of(requests)(r, keys);
    if (r.chance(0.04)) return { kind: 'raw', bytes: broken(request, r), what: 'raw' };
    return { kind: 'http', bytes: request, what: request.toString('latin1', 0, request.indexOf('\r')) };
  };
}

// --- Values

const long = (length: number) => (r: Random) =>
  r.of(['x', '0', '%41', '..%2f', '%F0%9F%98%80']).repeat(length);

/** Parts of paths, already encoded. */
// prettier-ignore
const parts: (string | ((r: Random) => string))[] = [
  '', '0', '-1', '1e309', 'NaN', 'Infinity', '2147483648', '9007199254740993', '9'.repeat(400), '0x10', '1,2,3', ',,,', '1,',
  '%00', 'a%00b', '%ff%fe', '%ED%A0%80', '%', '%zz', '%u0041', '%E2%80%AE', '+', '*', '%2e%2e', '..%5c..%5c', '.', '..', '~',
  '..%2f..%2fetc%2fpasswd', '%2e%2e%2f%2e%2e%2fkeys%2fanswers', 'file.csv%00.exe', 'CON', 'g0', '007', 'en', 'xx-YY-zzzz', 'csv',
  "'%20or%201=1--", '%27%3b%20drop%20table%20users%3b--', '%24%7bjndi%3aldap%3a%2f%2fx%7d', '%3Cscript%3E', '%00'.repeat(300),
  '__proto__', 'constructor', 'toString', 'hasOwnProperty', '%5Bobject%20Object%5D', 'true', 'null', 'undefined',
  '2024-02-30', '0000-00-00', '99999-01-01', '2026-W60', '2026-W00', '0001-W01', '2026-11-16', '-2026-01-01', '2026-W47',
  Array.from({ length: 3000 }, (_, i) => i).join(), long(100), long(3000),
];
const part = (r: Random): string => {
  const one = r.of(parts);
  return typeof one === 'string' ? one : one(r);
};

const names =
  'groupId fromDate toDate questionIds includeSubgroups includeComments granularData language format sort order page cursor limit ' +
  'search week kpiId from to role active user[] groupId[$ne] __proto__ constructor.prototype x';

function query(r: Random): string {
  if (r.chance(0.3)) return '';
  const list = names.split(' ');
  const pairs = Array.from({ length: r.of([1, 2, 2, 3, 5, 60]) }, () => `${r.of(list)}=${part(r)}`);
  return `?${pairs.join(r.of(['&', '&', '&', ';', '&&', '&=&']))}`;
}

/** Returns a path with its parameters filled in. */
const filled = (path: string, r: Random) => path.replaceAll(/\{\w+\}/g, () => part(r) || '0');

// prettier-ignore
const texts = [
  '', ' ', '\u0000', '\ud800', '\udc00x', '\ufeff', '\u202e', '\u200b'.repeat(50), 'a\nb\r\nc', 'e\u0301', '\\', '"', '@', 'a@b',
  "'; drop table users; --", '<img src=x onerror=alert(1)>', '=cmd|calc', '${7*7}', '{{7*7}}', '../../etc/passwd', '2026-02-30',
  'x'.repeat(5000), '\u{1f642}'.repeat(2000), `${'a'.repeat(250)}@example.org`, '+46', 'sv', 'Administrator', 'name@example.org',
];
const numbers = [0, 1, -1, 1.5, 1e308, -0, 2 ** 31, 2 ** 53, 20_001, Number.MAX_VALUE];
const keyNames =
  'email password code secret name firstName lastName externalId role active groups users data settings validateOnly accessInfo memberOf ' +
  'parent timezone language questions answers q value comment skipped week weekday hour text type options threshold noise scopes ' +
  'allow userIds groupId __proto__ constructor toString maxUsersDeleted rows columns';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

function json(r: Random, depth: number): Json {
  const kind = r.below(depth > 0 ? 8 : 4);
  if (kind === 0) return r.of([null, true, false]);
  if (kind === 1) return r.of(numbers);
  if (kind <= 3) return r.of(texts);
  const count = r.of([0, 1, 2, 3, 8]);
  if (kind <= 5) return Array.from({ length: count }, () => json(r, depth - 1));
  const list = keyNames.split(' ');
  // A null prototype: `__proto__` is a key like any other, as it is on the wire.
  const value = Object.create(null) as { [key: string]: Json };
  for (let i = 0; i < count; i++) value[r.of(list)] = json(r, depth - 1);
  return value;
}

/** Returns a body similar to the schema, with malicious values in it. */
const likely = (r: Random): Json =>
  r.of<Json>([
    { email: r.of(texts), password: r.of(texts), code: json(r, 1) },
    {
      settings: { validateOnly: r.of<Json>([true, 'false', 0, null]), maxUsersDeleted: r.of(numbers) },
      data: {
        users: [json(r, 3), { externalId: r.of(texts), firstName: r.of(texts), lastName: 'x' }],
        groups: json(r, 2),
      },
    },
    { name: r.of(texts), externalId: r.of(texts), parentId: r.of(numbers), language: r.of(texts) },
    { answers: [{ questionId: r.of(numbers), value: json(r, 1), comment: r.of(texts) }] },
    { text: { en: r.of(texts), xx: json(r, 1) }, type: r.of(numbers), key: r.of(texts), options: json(r, 2) },
  ]);

const jsonTexts: ((r: Random) => string)[] = [
  (r) => JSON.stringify(json(r, 4)),
  (r) => JSON.stringify(likely(r)),
  (r) => JSON.stringify(likely(r)),
  (r) => JSON.stringify(likely(r)).slice(0, -1 - r.below(10)),
  (r) => JSON.stringify(likely(r)).replace('"', "'"),
  (r) => r.of(['[', '{"a":', '[{"data":']).repeat(r.of([10, 100, 5000])),
  (r) =>
    `{"data":{},"data":{},"settings":${r.of(['1e999', '-', '01', '.5', 'NaN', '0x1', '"\\ud800"', '"\\u12"'])}}`,
  (r) => `[${Array.from({ length: r.of([10, 2000]) }, () => r.of(['1', '"x"', '{}', '[]'])).join()}]`,
  (r) => `{${Array.from({ length: r.of([10, 2000]) }, (_, i) => `"k${i}":${i}`).join()}}`,
  (r) => r.of(['', ' ', 'null', 'true', '0', '""', '\ufeff{}', '{}{}', '{"__proto__":{"isAdmin":true}}']),
];

const spoilt = (bytes: Buffer, r: Random): Buffer => {
  const copy = Buffer.from(bytes);
  for (let i = 0; i < 1 + r.below(4) && copy.length > 0; i++) copy[r.below(copy.length)] = r.below(256);
  return copy;
};

// --- Requests

/** Returns a request as bytes. Its length is correct, unless one of the headers contradicts it. */
function wire(r: Random, method: string, path: string, headers: string[], body?: Buffer): Buffer {
  const all = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${r.chance(0.02) ? part(r) || 'x' : '127.0.0.1'}`,
    ...headers,
    ...(r.chance(0.2) ? [r.of(oddHeaders)(r)] : []),
    ...(body ? [`Content-Length: ${body.length}`] : []),
  ];
  return Buffer.concat([Buffer.from(`${all.join('\r\n')}\r\n\r\n`, 'latin1'), body ?? Buffer.alloc(0)]);
}

const oddHeaders: ((r: Random) => string)[] = [
  (r) =>
    `X-Forwarded-For: ${r.of(['garbage', '::1', '127.0.0.1, 1.2.3.4', "'", '999.1.1.1', 'x'.repeat(3000)])}`,
  (r) => `Accept-Language: ${r.of(['*', 'sv;q=9', 'x'.repeat(2000), 'en;q=NaN,,,', '\u00ff'])}`,
  (r) =>
    `Accept-Encoding: ${r.of(['br;q=0, gzip;q=0', '*', 'identity;q=0', 'x'.repeat(2000), 'gzip;q=1e9'])}`,
  (r) => `If-None-Match: ${r.of(['*', '"', 'W/"x"', '"'.repeat(500), 'x'.repeat(3000)])}`,
  (r) =>
    `Cookie: ${r.of(['soundings', 'soundings=', 'soundings=%', 'a=b; '.repeat(300), '=;=;=', 'soundings="\u00ff"'])}`,
  (r) => `Range: bytes=${r.of(['0-', '-1', '9-1', Array.from({ length: 500 }, () => '0-1').join()])}`,
  (r) => `Origin: ${r.of(['null', 'https://evil.example', 'x', 'http://[::1'])}`,
  (r) => `Expect: ${r.of(['100-continue', '200-ok'])}`,
  (r) => `X-Request-Id: ${r.of(['x'.repeat(2000), '\u00e9', '1'])}`,
  (r) => `Content-Language: ${r.of(['xx', '{}'])}`,
];

const rights = (r: Random, keys: Keys): string[] => {
  const kind = r.below(10);
  if (kind === 0) return [];
  if (kind === 1)
    return [
      `Authorization: ${r.of(['Bearer', 'Basic !!!', 'Bearer null', `Bearer ${'x'.repeat(4000)}`, '\u00ff', ','])}`,
    ];
  if (kind === 2) return [`Authorization: ${r.of(keys.tokens).slice(0, -1)}`];
  return [`Authorization: ${r.of(keys.tokens)}`];
};

const packings: [header: string[], pack: (bytes: Buffer, r: Random) => Buffer][] = [
  [[], (bytes) => bytes],
  [[], (bytes) => bytes],
  [[], (bytes) => bytes],
  [[], (bytes, r) => spoilt(bytes, r)],
  [['Content-Encoding: gzip'], (bytes) => gzipSync(bytes)],
  [['Content-Encoding: gzip'], (bytes, r) => spoilt(gzipSync(bytes), r)],
  [['Content-Encoding: gzip'], (bytes) => gzipSync(bytes).subarray(0, -6)],
  [['Content-Encoding: deflate'], (bytes) => deflateSync(bytes)],
  [['Content-Encoding: gzip, gzip'], (bytes) => gzipSync(gzipSync(bytes))],
  [['Content-Encoding: nonsense'], (bytes) => bytes],
];
/** A million spaces, compressed to a kilobyte. */
const bomb = gzipSync(Buffer.alloc(1_000_000, 0x20));

function jsonBody(r: Random): [headers: string[], body: Buffer] {
  const type = r.chance(0.9)
    ? 'Content-Type: application/json'
    : `Content-Type: ${r.of(['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=utf-16', 'x', ''])}`;
  if (r.chance(0.002)) return [[type, 'Content-Encoding: gzip'], bomb];
  const [headers, pack] = r.of(packings);
  return [[type, ...headers], pack(Buffer.from(r.of(jsonTexts)(r)), r)];
}

// prettier-ignore
const fileNames = (r: Random) => r.of([
  'users.csv', 'groups.csv', 'users.xlsx', 'users.xls', 'users.json', 'users.exe', '', '.', '../users.csv', '/etc/passwd', 'CON.csv',
  'users.csv\u0000.exe', `${'u'.repeat(400)}.csv`, `${'\u00e5'.repeat(200)}.csv`, '"; x="', 'users\r\n.csv', '\u202evsc.sresu',
]);
const contents = (r: Random): Buffer =>
  r.of([
    () => Buffer.from('externalId,firstName,lastName\n1,Anna,Berg\n'),
    () => Buffer.from(`externalId;${r.of(texts)};${r.of(texts)}\n"1;${r.of(texts)}\n`),
    () => Buffer.from([0x50, 0x4b, 3, 4, ...Array.from({ length: 60 }, () => r.below(256))]),
    () =>
      Buffer.from([
        0xd0,
        0xcf,
        0x11,
        0xe0,
        0xa1,
        0xb1,
        0x1a,
        0xe1,
        ...Array.from({ length: 600 }, () => r.below(256)),
      ]),
    () => Buffer.from([0xff, 0xfe, ...Array.from({ length: 99 }, () => r.below(256))]),
    () => Buffer.from(`"${'x'.repeat(20_000)}`),
    () => Buffer.from(r.of(jsonTexts)(r)),
    () => Buffer.alloc(0),
  ])();

function form(r: Random): [headers: string[], body: Buffer] {
  const boundary = r.of(['b', '----x', 'x'.repeat(71), '"', '']);
  const field = (): Buffer =>
    Buffer.concat([
      Buffer.from(
        `--${boundary}\r\nContent-Disposition: form-data; name="${r.of(['file', 'file', 'file', 'x', '', '__proto__'])}"` +
          `${r.chance(0.9) ? `; filename="${fileNames(r)}"` : ''}\r\n${r.of(['', 'Content-Type: text/csv\r\n', 'X: '.repeat(200) + '\r\n'])}\r\n`,
      ),
      contents(r),
      Buffer.from('\r\n'),
    ]);
  const fields = Array.from({ length: r.of([0, 1, 1, 1, 1, 2, 40]) }, field);
  const body = Buffer.concat([...fields, Buffer.from(r.of([`--${boundary}--\r\n`, '', `--${boundary}`]))]);
  const type = r.of([
    `multipart/form-data; boundary=${boundary}`,
    `multipart/form-data; boundary=${boundary}`,
    'multipart/form-data',
    'text/csv',
  ]);
  return [[`Content-Type: ${type}`], r.chance(0.1) ? spoilt(body, r) : body];
}

const operations = [...dataOperations, ...organizationOperations, ...uploadOperations];
/** The console's operations, except for signing out, which would leave later requests without a session. */
const consoleNames = Object.keys(consoleOperations).filter(
  (name) =>
    !['DELETE /session', 'DELETE /profile/sessions', 'DELETE /users/{userId}/sessions'].includes(name),
);
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

const requests: ((r: Random, keys: Keys) => Buffer)[] = [
  // The interfaces, as used by a faulty client or an attacker.
  (r, keys) => {
    const { method, path } = r.of(operations);
    const address = filled(path, r) + query(r);
    if (method === 'GET') return wire(r, 'GET', address, rights(r, keys));
    const [headers, body] = path.includes('upload') ? form(r) : jsonBody(r);
    return wire(r, method, address, [...rights(r, keys), ...headers], body);
  },
  (r, keys) =>
    wire(r, 'GET', `${r.of(dataOperations).path.replaceAll(/\{\w+\}/g, '007')}${query(r)}`, rights(r, keys)),
  // The console's API, signed in.
  (r, keys) => {
    const [method = '', path = ''] = r.of(consoleNames).split(' ');
    const cookie = `Cookie: soundings=${r.of(keys.sessions)}`;
    const address = `/api${filled(path, r)}${query(r)}`;
    if (method === 'GET') return wire(r, 'GET', address, [cookie]);
    if (path === '/files') return wire(r, method, `/api/files?name=${part(r)}.csv`, [cookie], contents(r));
    const [headers, body] = jsonBody(r);
    return wire(r, method, address, [cookie, ...headers], body);
  },
  // The answering page.
  (r, keys) => {
    const link = r.chance(0.8) ? r.of(keys.links) : part(r);
    if (r.chance(0.4)) return wire(r, r.of(['GET', 'HEAD']), `/a/${link}${query(r)}`, []);
    if (r.chance(0.5)) {
      const [headers, body] = jsonBody(r);
      return wire(r, r.of(['POST', 'PUT']), `/a/${link}`, headers, body);
    }
    const fields = Array.from(
      { length: r.of([0, 1, 3, 300]) },
      () => `${r.of(['q1', 'q2', 'c1', 's1', 'visit', part(r)])}=${part(r)}`,
    );
    return wire(
      r,
      'POST',
      `/a/${link}`,
      ['Content-Type: application/x-www-form-urlencoded'],
      Buffer.from(fields.join('&')),
    );
  },
  // Unknown addresses and unsupported methods.
  (r, keys) =>
    wire(
      r,
      r.of(methods),
      `/${r.of(['', 'v1/', 'v1/storage/files/', 'api/', 'a/', 's/', 'docs/', 'assets/', 'metrics', 'health/'])}${part(r)}${r.chance(0.3) ? `/${part(r)}` : ''}${query(r)}`,
      rights(r, keys),
    ),
];

/** Returns bytes that are not a valid request, or a request that contradicts itself. */
function broken(request: Buffer, r: Random): Buffer {
  const text = request.toString('latin1');
  return Buffer.from(
    r.of([
      () => text.slice(0, 1 + r.below(text.length)),
      () => text.replace('HTTP/1.1', r.of(['HTTP/9.9', 'HTTP/1.0', 'http/1.1', '', 'HTTP/1.1\r\nHTTP/1.1'])),
      () =>
        text.replace('\r\n', `\r\nContent-Length: ${r.of(['-1', '1e3', '99999999999999', '5, 5', 'x'])}\r\n`),
      () =>
        text.replace(
          '\r\n',
          `\r\nTransfer-Encoding: ${r.of(['chunked', 'gzip, chunked', 'x', 'chunked, chunked'])}\r\n`,
        ),
      () =>
        `POST /v1/organization HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${r.of(['zz\r\n', '-1\r\n', 'ffffffffffffffff\r\nx', '5;x="\r\nabc'])}`,
      () =>
        text.replace(
          '\r\n',
          `\r\n${r.of([' folded: x', 'no colon', ': empty', 'a\u0000b: c', `${'h'.repeat(9000)}: x`, 'x:'.repeat(100)])}\r\n`,
        ),
      () => Array.from({ length: 300 }, () => String.fromCharCode(r.below(256))).join(''),
      () => '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003',
      () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      () => text.repeat(r.of([2, 20])),
      () => `GET ${'/x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
      () => `GET / HTTP/1.1\r\n${Array.from({ length: 3000 }, (_, i) => `h${i}: x\r\n`).join('')}\r\n`,
    ])(),
    'latin1',
  );
}

function sftpBytes(r: Random): Buffer {
  const rubbish = Buffer.from(Array.from({ length: 1 + r.below(400) }, () => r.below(256)));
  return r.of([
    () => rubbish,
    () => Buffer.concat([Buffer.from('SSH-2.0-x\r\n'), rubbish]),
    () => Buffer.from(`SSH-2.0-${'x'.repeat(70_000)}`),
    () => Buffer.from('SSH-1.5-x\r\n'),
    () => Buffer.concat([Buffer.from('SSH-2.0-x\r\n'), Buffer.from([0x7f, 0xff, 0xff, 0xff]), rubbish]),
    () => Buffer.from('GET / HTTP/1.1\r\n\r\n'),
  ])();
}
