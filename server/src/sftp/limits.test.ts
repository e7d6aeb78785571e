// Which connections may open before a login, how long they are delayed, and which ones are dropped.
import { expect, test } from 'vitest';
import { type AdmittedConnection, openSftpLimiter, sftpLimits } from './limits.ts';

test('limits the connections of one address, and delays it longer after each failure, for a while', () => {
  let now = 1e9;
  const limiter = openSftpLimiter(
    { ...sftpLimits, unauthenticated: 10, unauthenticatedPerAddress: 4 },
    () => now,
  );
  const enter = (address: string) => limiter.enter(address, () => {}) as AdmittedConnection;
  const waitOf = (address: string) => {
    const entry = enter(address);
    entry.left();
    return entry.waitMs;
  };
  for (let i = 0; i < 4; i++) expect(enter(`2001:db8::${i}`).waitMs).toBe(0);
  expect(enter('2001:0db8:0:0:ffff::')).toBe('too many from this address'); // the same /64
  expect(waitOf('2001:db8:0:1::1')).toBe(0);

  const bad = enter('192.0.2.1');
  for (let i = 0; i < 5; i++) bad.failed();
  expect(waitOf('192.0.2.1')).toBe(0);
  for (let i = 0; i < 2; i++) bad.failed();
  expect(waitOf('::ffff:192.0.2.1')).toBe(1000);
  for (let i = 0; i < 1000; i++) bad.failed();
  expect(waitOf('192.0.2.1')).toBe(10_000);
  expect(waitOf('192.0.2.2')).toBe(0);
  now += 10 * 60_000 + 1;
  expect(waitOf('192.0.2.1')).toBe(0);
  expect([limiter.open, limiter.unauthenticated]).toEqual([5, 5]);
});

test('drops connections of the addresses with most connections early, more often the more there are, and never others', () => {
  const limits = { ...sftpLimits, unauthenticated: 100, earlyDropFrom: 50, unauthenticatedPerAddress: 100 };
  let chance = 0.99;
  const limiter = openSftpLimiter(
    limits,
    () => 0,
    () => chance,
  );
  const dropped: string[] = [];
  const enter = (address: string) => limiter.enter(address, () => dropped.push(address));
  for (let i = 0; i < 99; i++) enter('192.0.2.1');
  expect([dropped.length, limiter.unauthenticated]).toEqual([0, 99]);
  chance = 0.5;
  expect(enter('192.0.2.2')).toBeTypeOf('object');
  expect([dropped, limiter.unauthenticated]).toEqual([['192.0.2.1'], 99]);
  chance = 0;
  expect(enter('192.0.2.2')).toBeTypeOf('object');
  expect(dropped).toEqual(['192.0.2.1', '192.0.2.1']);
  chance = 0.999;
  expect(enter('192.0.2.1')).toBeTypeOf('object'); // a place is free
  expect(limiter.unauthenticated).toBe(100);
  expect(enter('192.0.2.1')).toBe('too many connections without a login'); // dropped itself, as its address has most connections
  expect(dropped).toHaveLength(2);
  // If many addresses have one connection each, any of them can be dropped.
  const even = openSftpLimiter(
    limits,
    () => 0,
    () => chance,
  );
  for (let i = 0; i < 100; i++) even.enter(`198.51.100.${i}`, () => dropped.push('even'));
  chance = 0.5;
  expect(even.enter('203.0.113.1', () => {})).toBeTypeOf('object');
  expect(dropped.at(-1)).toBe('even');
});

test('refuses an address for a while if its connections time out, unless someone has logged in from it', () => {
  let now = 1e9;
  const limiter = openSftpLimiter(sftpLimits, () => now);
  const enter = (address: string) => limiter.enter(address, () => {}) as AdmittedConnection;
  const timedOut = (address: string, times: number) => {
    const entries = Array.from({ length: times }, () => enter(address));
    for (const entry of entries) {
      entry.timedOut();
      entry.left();
    }
  };
  timedOut('192.0.2.1', 1);
  expect(enter('192.0.2.1')).toBeTypeOf('object');
  timedOut('192.0.2.1', 4);
  expect(enter('192.0.2.1')).toBe('too many login timeouts');
  expect(enter('192.0.2.2')).toBeTypeOf('object');
  now += 36_000;
  expect(enter('192.0.2.1')).toBeTypeOf('object');
  timedOut('192.0.2.1', 38);
  now += 5 * 60_000;
  expect(enter('192.0.2.1')).toBeTypeOf('object');

  enter('192.0.2.3').loggedIn();
  timedOut('192.0.2.3', 30);
  expect(enter('192.0.2.3')).toBeTypeOf('object');
});

test('remembers the failures of an address while many others connect', () => {
  const limiter = openSftpLimiter(
    { ...sftpLimits, unauthenticated: 1e6, earlyDropFrom: 1e6, connections: 1e6 },
    () => 1e9,
  );
  const fail = (address: string, times: number) => {
    const entry = limiter.enter(address, () => {}) as AdmittedConnection;
    for (let i = 0; i < times; i++) entry.failed();
    entry.left();
  };
  fail('192.0.2.1', 20);
  for (let i = 0; i < 70_000; i++) fail(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`, 1);
  expect((limiter.enter('192.0.2.1', () => {}) as AdmittedConnection).waitMs).toBe(7500);
});
