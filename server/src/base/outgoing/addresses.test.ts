// Which addresses a request that an administrator has configured can reach.
import { expect, test } from 'vitest';
import { isPublicAddress } from './addresses.ts';

test.each([
  ['this machine', '127.0.0.1 127.255.255.254 0.0.0.0 0.1.2.3 ::1 ::'],
  ['private networks', '10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 100.64.0.1 fc00::1 fdff::1'],
  ['link-local and the metadata of clouds', '169.254.169.254 fe80::1 fe80::1%eth0 fd00:ec2::254'],
  ['multicast, broadcast and reserved', '224.0.0.1 239.1.1.1 255.255.255.255 240.0.0.1 ff02::1'],
  ['documentation and benchmarks', '192.0.2.1 198.51.100.1 203.0.113.1 198.18.0.1 2001:db8::1 3fff::1'],
  ['IPv4 written as IPv6', '::ffff:127.0.0.1 ::ffff:7f00:1 ::FFFF:10.0.0.1 ::ffff:169.254.169.254'],
  ['IPv4-compatible IPv6', '::127.0.0.1 ::7f00:1 ::10.0.0.1'],
  ['translated by NAT64', '64:ff9b::7f00:1 64:ff9b::10.0.0.1 64:ff9b::a9fe:a9fe 64:ff9b:1::808:808'],
  ['tunnels: 6to4 and Teredo', '2002:7f00:1:: 2002:808:808:: 2001:0:808:808:: 192.88.99.1'],
  ['site-local and everything outside global unicast', 'fec0::1 100::1 5f00::1 4000::1'],
  ['no addresses', 'localhost 1 0x7f000001 017700000001 127.1 example.com'],
])('%s: not public', (_, addresses) => {
  for (const one of ['', ...addresses.split(' ')]) expect([one, isPublicAddress(one)]).toEqual([one, false]);
});

test('other addresses are public, also in the notations of IPv6 and translated by NAT64', () => {
  const addresses =
    '8.8.8.8 172.15.0.1 172.32.0.1 100.63.0.1 100.128.0.1 169.253.0.1 192.0.1.1 223.255.255.255 ' +
    '2606:4700::1111 2a00:1450:4001:80b::200e 2001:4860:4860::8888 ::ffff:8.8.8.8 64:ff9b::808:808';
  for (const one of addresses.split(' ')) expect([one, isPublicAddress(one)]).toEqual([one, true]);
});
