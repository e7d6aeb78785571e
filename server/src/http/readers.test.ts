// Clients that do not read their response: each is disconnected, and then no database connection has a snapshot for it. Tested
// on the whole service with raw sockets and a shorter timeout.
import { execFileSync } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectSecurely } from 'node:tls';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { until } from '../testing/until.ts';
import { openWorld, type TestAccount, type World } from '../testing/world.ts';
import { watchReaders } from './readers.ts';

const readTimeout = 600;
const feed = '/v1/feed';

/** A service and the lines that it has logged. */
type Place = { world: World; account: TestAccount; lines: Record<string, unknown>[] };
let [plain, secure]: [Place?, Place?] = [];

beforeAll(async () => {
  [plain, secure] = await Promise.all([openPlace(), openPlace({ tls: certificate() })]);
});
afterAll(() => Promise.all([plain?.world.close(), secure?.world.close()]));

/** Returns a service with more data than the operating system buffers for an unread response, even a compressed one. */
async function openPlace(settings = {}): Promise<Place> {
  const lines: Place['lines'] = [];
  const log = pino({ level: 'trace', base: null }, { write: (line) => void lines.push(JSON.parse(line)) });
  const world = await openWorld(log as never, { readTimeout, ...settings });
  const account = await world.account();
  await world.pool`
    insert into groups (account_id, group_id, managed, name)
    select ${account.id}, i, false, 'g' from generate_series(1, 50) i`;
  await world.pool`
    insert into kpi_values (account_id, kpi_id, group_id, week, value)
    select ${account.id}, encode(sha512(i::text::bytea), 'hex'), 1 + i % 50, '2020-01-06', random()
    from   generate_series(1, 100000) i`;
  await world.pool`vacuum analyze kpi_values`;
  return { world, account, lines };
}

function certificate() {
  const directory = mkdtempSync(join(tmpdir(), 'soundings-tls-'));
  const [key, cert] = [join(directory, 'key'), join(directory, 'cert')];
  const options = '-x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=localhost';
  execFileSync('openssl', ['req', ...options.split(' '), '-keyout', key, '-out', cert], { stdio: 'ignore' });
  const files = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  rmSync(directory, { recursive: true });
  return files;
}

/** Opens a connection that is not read until the test reads it. */
function open({ world }: Place) {
  const { hostname, port, protocol } = new URL(world.address);
  const socket: Socket =
    protocol === 'https:'
      ? connectSecurely({ host: hostname, port: Number(port), rejectUnauthorized: false })
      : connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  return socket;
}

const requestFor = ({ account }: Place, path = feed, headers = '', version = '1.1', method = 'GET') =>
  `${method} ${path} HTTP/${version}\r\nhost: x\r\nauthorization: ${account.token}\r\n${headers}\r\n`;

/**
 * Returns the number of database connections of the service that have a snapshot; with `waiting`, only those that are waiting
 * for the service.
 */
async function snapshots({ world }: Place, waiting = false): Promise<number> {
  const [row] = await world.pool<{ count: number }[]>`
    select count(*)::integer as count from pg_stat_activity
    where  datname = current_database() and application_name = 'soundings'
    and    backend_xmin is not null and pid <> pg_backend_pid()
    and    (not ${waiting} or wait_event = 'ClientRead')`;
  return row?.count as number;
}
const some = (place: Place) => until(async () => (await snapshots(place, true)) > 0);
const none = (place: Place) => until(async () => (await snapshots(place)) === 0);

/** Returns everything that arrives on a connection until it ends. */
async function wholeOf(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  await until(async () => socket.readableEnded || socket.destroyed);
  return Buffer.concat(chunks).toString('latin1');
}

/** Requests as many long responses at the same time as an account may read, and returns their statuses. All slots must be free for them. */
async function statusesOf(place: Place): Promise<string[]> {
  const responses = [1, 2, 3].map((groupId) => {
    const socket = open(place);
    socket.write(requestFor(place, `${feed}?groupId=${groupId}`, '', '1.0'));
    return wholeOf(socket);
  });
  return (await Promise.all(responses)).map((text) => text.slice(9, 12));
}
const allServed = ['200', '200', '200'];

const warnings = ({ lines }: Place) => lines.filter(({ level }) => Number(level) > 30).map(({ msg }) => msg);
const cutOff = 'A client was disconnected: it read too slowly';

/** Runs a test over HTTP and HTTPS at the same time, because nearly all of its time is waiting. */
const onBoth = (work: (place: Place) => Promise<void>) =>
  Promise.all([plain, secure].map((place) => work(place as Place)));

const wasCut = { isInTime: true, warnings: [cutOff], statuses: allServed };

/**
 * Returns the start of the oldest transaction that has a snapshot, in ms. The clock is that of the database, which runs on
 * this machine.
 */
async function begunAt({ world }: Place): Promise<number | undefined> {
  const [row] = await world.pool<{ at: number | null }[]>`
    select (extract(epoch from min(xact_start)) * 1000)::float8 as at from pg_stat_activity
    where  datname = current_database() and backend_xmin is not null and pid <> pg_backend_pid()`;
  return row?.at ?? undefined;
}

/**
 * Waits until a client is disconnected and no connection has a snapshot, and returns what happened. `isInTime`: according
 * to the log, the client was not disconnected too early. `pausedAt`: when the client stopped reading, if that was after its
 * request. The wait ends with the entry in the log, not with the snapshots, because the service's own background work has a
 * snapshot for a moment, too.
 */
async function outcomeOf(place: Place, pausedAt = 0): Promise<typeof wasCut> {
  const calledAt = Date.now();
  place.lines.length = 0;
  await some(place);
  const since = Math.max(pausedAt, (await begunAt(place)) ?? calledAt);
  const cut = await until(async () => place.lines.find(({ msg }) => msg === cutOff));
  await none(place);
  const isInTime = Number(cut['time']) - since > readTimeout * 0.8;
  return { isInTime, warnings: warnings(place) as string[], statuses: await statusesOf(place) };
}

describe('a client that reads nothing is disconnected and leaves no snapshot', () => {
  const variants = {
    'HTTP/1.1': ['', '1.1'],
    'Connection: close': ['connection: close\r\n', '1.1'],
    'HTTP/1.0': ['', '1.0'],
    'HTTP/1.0, keep-alive': ['connection: keep-alive\r\n', '1.0'],
    gzip: ['accept-encoding: gzip\r\n', '1.1'],
    br: ['accept-encoding: br\r\n', '1.1'],
  } satisfies Record<string, [string, string]>;

  test.each(Object.keys(variants))('%s', async (name) => {
    const [headers, version] = variants[name as keyof typeof variants];
    await onBoth(async (place) => {
      open(place).write(requestFor(place, feed, headers, version));
      expect(await outcomeOf(place)).toEqual(wasCut);
    });
  });

  test('three of one account and two that wait for a slot', async () => {
    const place = plain as Place;
    for (let i = 0; i < 5; i++) open(place).write(requestFor(place));
    await some(place);
    await none(place);
    // The two got their slots when the three were disconnected.
    await until(async () => warnings(place).filter((one) => one === cutOff).length >= 5);
    await none(place);
    expect(await statusesOf(place)).toEqual(allServed);
  });
});

test('a client that keeps sending but reads nothing is disconnected', () =>
  onBoth(async (place) => {
    const socket = open(place);
    socket.write(requestFor(place));
    socket.write('GET /v1/groups?');
    const sending = setInterval(() => socket.write('x'), 50);
    expect(await outcomeOf(place).finally(() => clearInterval(sending))).toEqual(wasCut);
  }));

test('a client that reads single bytes is disconnected', () =>
  onBoth(async (place) => {
    const socket = open(place);
    socket.pause();
    socket.write(requestFor(place));
    const reading = setInterval(() => void socket.read(1), 50);
    expect(await outcomeOf(place).finally(() => clearInterval(reading))).toEqual(wasCut);
  }));

test('a client that reads fast and then pauses is disconnected', async () => {
  const place = plain as Place;
  const socket = open(place);
  let [read, pausedAt] = [0, 0];
  socket.on('data', (chunk) => {
    read += chunk.length;
    if (read <= 5_000_000) return;
    socket.pause();
    pausedAt = Date.now();
  });
  socket.write(requestFor(place));
  await until(async () => pausedAt > 0);
  expect(await outcomeOf(place, pausedAt)).toEqual(wasCut);
});

test('a client that reads everything with short breaks gets everything', async () => {
  const place = plain as Place;
  const request = requestFor(place, `${feed}?format=ndjson`, '', '1.0');
  const bodyOf = (text: string) => text.slice(text.indexOf('\r\n\r\n') + 4);
  const [fast, slow] = [open(place), open(place)];
  fast.write(request);
  const whole = bodyOf(await wholeOf(fast));
  place.lines.length = 0;
  slow.on('data', () => {
    slow.pause();
    setTimeout(() => slow.resume(), 5);
  });
  slow.write(request);
  expect(bodyOf(await wholeOf(slow)) === whole).toBe(true);
  expect(warnings(place)).toEqual([]);
});

test('a client that closes its side counts as disconnected', () =>
  onBoth(async (place) => {
    const socket = open(place);
    socket.write(requestFor(place));
    await some(place);
    socket.end();
    await none(place);
    expect(await statusesOf(place)).toEqual(allServed);
  }));

describe('a pipelined request', () => {
  const two = (place: Place) => requestFor(place) + requestFor(place, `${feed}?format=ndjson`);

  test('has no snapshot before its turn', async () => {
    const place = plain as Place;
    place.lines.length = 0;
    const socket = open(place);
    socket.write(two(place));
    await some(place);
    // Once a later request on another connection has its response, the service has read both pipelined requests.
    const later = open(place);
    later.write(requestFor(place, '/v1/groups', 'connection: close\r\n'));
    expect(await wholeOf(later)).toContain('200 OK');
    // The snapshot of the later request may exist for a moment longer.
    await until(async () => (await snapshots(place, true)) === 1);
    expect(warnings(place)).toEqual([]); // the first request still has its snapshot
    expect(await outcomeOf(place)).toEqual(wasCut);
  });

  test('ends with the connection', async () => {
    const place = plain as Place;
    const socket = open(place);
    socket.write(two(place));
    await some(place);
    place.lines.length = 0;
    socket.resetAndDestroy();
    await none(place);
    expect(warnings(place)).toEqual([]);
    expect(await statusesOf(place)).toEqual(allServed);
  });

  test('gets its response in its turn', async () => {
    const place = plain as Place;
    const socket = open(place);
    const small = `${feed}?groupId=1`;
    const last = requestFor(place, '/v1/groups', 'connection: close\r\n');
    socket.write(requestFor(place, small) + requestFor(place, `${small}&format=ndjson`) + last);
    const text = await wholeOf(socket);
    expect(text.match(/HTTP\/1\.1 200 OK|content-type: \S+/g)).toEqual([
      'HTTP/1.1 200 OK',
      'content-type: text/csv;',
      'HTTP/1.1 200 OK',
      'content-type: application/x-ndjson',
      'HTTP/1.1 200 OK',
      'content-type: application/json;',
    ]);
  });
});

test('HEAD takes no snapshot', async () => {
  const place = plain as Place;
  place.lines.length = 0;
  open(place).write(requestFor(place, feed, '', '1.1', 'HEAD'));
  await until(async () => place.lines.some(({ msg }) => msg === 'request completed'));
  // The service's own background work may have a snapshot for a moment. One of this request would last until its client,
  // which reads nothing, is disconnected.
  await none(place);
  expect(warnings(place)).toEqual([]);
});

test('a client that does not read a short response is disconnected as well', async () => {
  const place = plain as Place;
  const socket = open(place);
  socket.pause();
  await place.world.pool`
    insert into groups (account_id, group_id, managed, name)
    select ${place.account.id}, 100 + i, false, encode(sha512(i::text::bytea), 'hex') from generate_series(1, 40000) i`;
  await place.world.pool`update accounts set version = version + 1 where account_id = ${place.account.id}`;
  place.lines.length = 0;
  socket.write(requestFor(place, '/v1/groups'));
  expect(await until(async () => warnings(place).includes(cutOff))).toBe(true);
});

test('the database ends a response that takes too long, even if the service does not', async (context) => {
  const place = await openPlace({ readTimeout: 60_000, longestRead: 1000 });
  onTestFinished(() => place.world.close());
  const [row] = await place.world.pool<{ server_version_num: string }[]>`show server_version_num`;
  if (Number(row?.server_version_num) < 170_000) return context.skip('SKIPPED: before PostgreSQL 17.');
  const socket = open(place);
  socket.write(requestFor(place));
  await some(place);
  await none(place);
  socket.destroy();
  // The service frees the slot when it notices the end.
  const areServed = async () => (await statusesOf(place)).join() === allServed.join();
  expect(await until(areServed)).toBe(true);
});

describe('a client that reads, of the required 16,384 bytes a second,', () => {
  const all = 1e9;
  const kinds = {
    /** Many writes, some of them completed. */
    'many writes': (taken: number) => ({ bytesWritten: taken + 1000, writableLength: 1000, queue: 1000 }),
    /** One write, not completed. */
    'one write': (taken: number) => ({ bytesWritten: all, writableLength: all, queue: all - taken }),
  };

  /** Returns the number of seconds after which a client that reads at this rate is disconnected; undefined if it is not within 1000. */
  function cutAt(rate: (second: number) => number, stateOf: (typeof kinds)['one write']): number | undefined {
    vi.useFakeTimers();
    try {
      const readers = watchReaders(60_000);
      let [taken, cut] = [0, undefined as number | undefined];
      const socket = {
        get bytesWritten() {
          return stateOf(taken).bytesWritten;
        },
        get writableLength() {
          return stateOf(taken).writableLength;
        },
        _handle: {
          get writeQueueSize() {
            return stateOf(taken).queue;
          },
        },
        resetAndDestroy() {},
      };
      const response = Object.assign(new EventEmitter(), { socket });
      let now = 0;
      readers.watch(response as never, socket as never, () => (cut ??= now));
      readers.require(response as never, 16_384);
      for (let second = 0; second < 1000; second++) {
        now = second;
        taken += rate(second);
        vi.advanceTimersByTime(1000);
      }
      readers.close();
      return cut;
    } finally {
      vi.useRealTimers();
    }
  }

  const never = Number.POSITIVE_INFINITY;
  const cases = [
    ['nothing', () => 0, 60],
    ['a quarter', () => 4_096, 80],
    ['half', () => 8_192, 120],
    ['all', () => 16_384, never],
    ['much at first, then nothing', (second: number) => (second < 100 ? 1_000_000 : 0), 160],
    [
      'nothing for 50 s, then the required amount',
      (second: number) => (second % 55 < 50 ? 0 : 250_000),
      never,
    ],
  ] as const;
  const names = cases.flatMap(([name, rate, seconds]) =>
    (['many writes', 'one write'] as const).map((kind) => [name, kind, rate, seconds] as const),
  );
  test.each(names)('%s (%s): is disconnected in time, or not at all', (_name, kind, rate, seconds) => {
    const at = cutAt(rate, kinds[kind]) ?? never;
    expect(at).toBeGreaterThanOrEqual(seconds - 5);
    expect(at).toBeLessThanOrEqual(seconds + 10);
  });

  test('everything sent so far is not disconnected, however long the next data takes', () => {
    const drained = (taken: number) => ({ bytesWritten: taken, writableLength: 0, queue: 0 });
    expect(cutAt(() => 0, drained)).toBeUndefined();
  });

  test('a response that waits for its turn leaves no listeners on a kept-alive connection', () => {
    const readers = watchReaders(1000);
    const socket = new EventEmitter();
    for (let i = 0; i < 5; i++) {
      const response = Object.assign(new EventEmitter(), { socket: null });
      readers.watch(response as never, socket as never, () => {});
      response.emit('close');
    }
    expect(socket.listenerCount('close')).toBe(0);
    readers.close();
  });
});
