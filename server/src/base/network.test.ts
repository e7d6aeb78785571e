// The networks for which limits count attempts, and ranges that are too wide to trust.
import { expect, test } from 'vitest';
import { isNear, isTooWide, networkOf } from './network.ts';

test('an IPv6 network of 64 bits counts as one address', () => {
  const networks: [string, string][] = [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:0:1:2:3:4:5', '2001:db8:0:1'],
    ['2001:DB8:0000:0001::', '2001:db8:0:1'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['::1', '0:0:0:0'],
    ['1::2:3:4:5:6:7', '1:0:2:3'],
  ];
  for (const [address, network] of networks) expect(networkOf(address)).toBe(network);
});

test('a range that covers much of the Internet is too wide', () => {
  for (const range of ['0.0.0.0/0', '::/0', '0.0.0.0/1', '128.0.0.0/7', '2000::/3', '::ffff:0:0/96'])
    expect(isTooWide(range)).toBe(true);
  for (const range of ['10.0.0.0/8', '127.0.0.1', 'fc00::/7', '::1', '::ffff:10.0.0.0/104'])
    expect(isTooWide(range)).toBe(false);
});

test('only addresses of this machine and of private networks are near', () => {
  for (const address of ['127.0.0.1', '::1', '::ffff:10.1.2.3', '172.31.0.1', 'fd12::1', 'fe80::1%eth0'])
    expect(isNear(address)).toBe(true);
  for (const address of ['192.0.2.1', '172.32.0.1', '2001:db8::1', '', 'unknown'])
    expect(isNear(address)).toBe(false);
});
