// Which IP addresses belong to the public Internet. Requests to addresses that administrators enter must not reach the machine or the
// private network of the service, where other programs trust any caller. Pure.
import { isIP, SocketAddress } from 'node:net';
import { within } from '../network.ts';

// The IANA special-purpose registries: everything that is not globally reachable, and everything that a gateway may translate.
const specialIpv4 = within([
  '0.0.0.0/8', // this network; 0.0.0.0 reaches this machine
  '10.0.0.0/8',
  '100.64.0.0/10', // carrier-grade NAT, also used inside clouds
  '127.0.0.0/8',
  '169.254.0.0/16', // link-local, with the metadata services of clouds
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24', // relays of 6to4
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4', // multicast
  '240.0.0.0/4',
]);
const unicastIpv6 = within(['2000::/3']);
const specialIpv6 = within([
  '2001::/23', // protocols such as Teredo, which contains an IPv4 address
  '2001:db8::/32',
  '2002::/16', // 6to4, which contains an IPv4 address
  '3fff::/20',
]);
const translatedIpv6 = within(['64:ff9b::/96']);

/**
 * Returns whether an address belongs to the public Internet. An IPv4 address can be written as IPv6 (::ffff:10.0.0.1), or be translated by
 * the well-known prefix of NAT64: then the IPv4 address counts. Anything that is not an address is not public.
 */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 0) return false;
  if (version === 4) return !specialIpv4(address);
  const plain = new SocketAddress({ address, family: 'ipv6' }).address; // without a zone such as %eth0
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(plain)?.[1];
  if (mapped !== undefined) return isPublicAddress(mapped);
  if (translatedIpv6(plain)) return isPublicAddress(lastIpv4Of(plain));
  return unicastIpv6(plain) && !specialIpv6(plain);
}

/** Returns the last 32 bits of an IPv6 address as an IPv4 address. */
function lastIpv4Of(address: string): string {
  // A URL has the only notation in which all groups are hexadecimal.
  const { hostname } = new URL(`http://[${address}]`);
  const [first = '', last = ''] = hostname.slice(1, -1).replace('::', ':0:').split(':').slice(-2);
  const bits = (parseInt(first || '0', 16) << 16) | parseInt(last || '0', 16);
  return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 255).join('.');
}
