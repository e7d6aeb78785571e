// The addresses from which an account accepts files: IPv4, IPv6, and IPv4-mapped IPv6.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isAllowed } from './allowlist.ts';

describe('an address is allowed', () => {
  test.each([
    ['192.0.2.7', ['192.0.2.7']],
    ['192.0.2.7', ['198.51.100.1', '192.0.2.7']],
    ['192.0.2.7', ['192.0.2.0/24']],
    ['192.0.2.7', ['192.0.2.99/24']], // Bits after the prefix do not count.
    ['192.0.2.7', ['192.0.2.7/32']],
    ['192.0.2.7', ['0.0.0.0/0']],
    ['2001:db8::7', ['2001:db8::7']],
    ['2001:db8::7', ['2001:0DB8:0:0:0:0:0:7']],
    ['2001:db8:0:1::7', ['2001:db8::/48']],
    ['2001:db8::7', ['::/0']],
    ['::ffff:192.0.2.7', ['192.0.2.0/24']],
    ['::FFFF:C000:0207', ['192.0.2.7']],
    ['192.0.2.7', ['::ffff:192.0.2.7']],
    ['192.0.2.7', ['::ffff:192.0.2.0/120']],
    ['192.0.2.7', ['::ffff:c000:200/120']],
    ['192.0.2.7', ['::ffff:0:0/96']],
    ['::ffff:192.0.2.7', ['::ffff:192.0.2.7/128']],
    ['fe80::1%eth0', ['fe80::/10']],
  ])('%s by %j', (address, allow) => {
    expect(isAllowed(allow, address)).toBe(true);
  });

  test('any address if the list is empty', () => {
    for (const address of ['192.0.2.7', '2001:db8::7', '::ffff:192.0.2.7', 'unknown', '']) {
      expect(isAllowed([], address)).toBe(true);
    }
  });
});

describe('an address is refused', () => {
  test.each([
    ['192.0.2.7', ['192.0.2.8']],
    ['192.0.3.0', ['192.0.2.0/24']],
    ['192.0.2.7', ['2001:db8::/32']],
    ['192.0.2.7', ['::/0']],
    ['::ffff:192.0.2.7', ['::/0']],
    ['::ffff:192.0.2.7', ['192.0.2.8/32']],
    ['192.0.2.7', ['::ffff:192.0.2.128/121']],
    ['192.0.2.7', ['::ffff:0:0/95']],
    ['2001:db8::7', ['0.0.0.0/0']],
    ['2001:db8::7', ['192.0.2.7', '2001:db8::8']],
    ['::192.0.2.7', ['192.0.2.7']], // Not IPv4-mapped: a different prefix.
    ['64:ff9b::c000:207', ['192.0.2.7']],
    ['unknown', ['0.0.0.0/0', '::/0']],
    ['', ['0.0.0.0/0', '::/0']],
    ['192.0.2.7:443', ['192.0.2.7']],
    ['192.0.2.007', ['192.0.2.7']],
    ['192.0.2', ['192.0.2.0/24']],
    ['3221225991', ['192.0.2.7']],
  ])('%s by %j', (address, allow) => {
    expect(isAllowed(allow, address)).toBe(false);
  });
});

test('an IPv4 address is in a range if its first bits are those of the range, whether it is written as IPv4 or as IPv6', () => {
  const address = fc.integer({ min: 0, max: 2 ** 32 - 1 });
  const near = fc.tuple(address, fc.nat(32), fc.boolean()).chain(([from, prefix, isNear]) =>
    fc.tuple(
      fc.constant({ from, prefix }),
      // Half of the addresses share their first bits with the range.
      isNear ? fc.nat(2 ** (32 - prefix) - 1).map((rest) => (from ^ rest) >>> 0) : address,
    ),
  );
  const text = (value: number) => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');
  fc.assert(
    fc.property(near, fc.boolean(), fc.boolean(), ([{ from, prefix }, asking], one, other) => {
      const isWithin = prefix === 0 || from >>> (32 - prefix) === asking >>> (32 - prefix);
      const range = one ? `::ffff:${text(from)}/${prefix + 96}` : `${text(from)}/${prefix}`;
      expect(isAllowed([range], other ? `::ffff:${text(asking)}` : text(asking))).toBe(isWithin);
    }),
  );
});
