// IP addresses and address ranges.
import { BlockList, isIP, SocketAddress } from 'node:net';

/** Returns whether a text is an IPv4 or IPv6 address, or a range in CIDR notation such as 192.0.2.0/24. */
export function isAddressRange(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128));
}

/** The shortest prefixes of private networks: 10.0.0.0/8 and fc00::/7. */
const widest = { ipv4: 8, ipv6: 7 };

/** Returns whether a range is so wide that it covers much of the Internet. */
export function isTooWide(range: string): boolean {
  const { family, length } = subnetOf(range) ?? { family: 'ipv4' as const, length: 32 };
  return length < widest[family];
}

type Address = { text: string; family: 'ipv4' | 'ipv6' };

/**
 * Returns a function that checks whether an address is in one of the ranges. IPv4 addresses and ranges can also be written as IPv6
 * (::ffff:192.0.2.1). IPv4 addresses match only IPv4 ranges, so ::/0 contains no IPv4 address. Anything that is not an address
 * matches no range.
 */
export function within(ranges: readonly string[]): (address: string) => boolean {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() }; // two lists, because in one list ::/0 would contain all IPv4
  for (const range of ranges) {
    const subnet = subnetOf(range);
    if (subnet) lists[subnet.family].addSubnet(subnet.text, subnet.length, subnet.family);
  }
  return (address) => {
    const parsed = addressOf(address);
    return parsed !== undefined && lists[parsed.family].check(parsed.text, parsed.family);
  };
}

/** Returns the first address and the prefix length of a range, or undefined if it is not a valid range. */
function subnetOf(range: string): (Address & { length: number }) | undefined {
  const [text = '', prefix] = range.split('/');
  const from = addressOf(text);
  if (!from) return undefined;
  const bits = from.family === 'ipv4' ? 32 : 128;
  // In an IPv4 range written as IPv6, the first 96 bits are the fixed prefix ::ffff:.
  const mappedBits = from.family === 'ipv4' && isIP(text) === 6 ? 96 : 0;
  const length = prefix === undefined ? bits : Number(prefix) - mappedBits;
  return length >= 0 ? { ...from, length } : undefined;
}

function addressOf(text: string): Address | undefined {
  const version = isIP(text);
  if (version === 0) return undefined;
  if (version === 4) return { text, family: 'ipv4' };
  // Normalizes the notation and removes a zone (fe80::1%eth0).
  const plain = new SocketAddress({ address: text, family: 'ipv6' }).address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(plain)?.[1];
  return mapped === undefined ? { text: plain, family: 'ipv6' } : { text: mapped, family: 'ipv4' };
}

/** Returns an IPv4 address that is written as IPv6 (::ffff:192.0.2.1) in plain IPv4 notation. */
export const plainAddress = (address: string): string =>
  address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '');

/**
 * Returns the network for which limits count attempts: the first 64 bits of an IPv6 address, which belong to one customer, or the
 * whole IPv4 address.
 */
export function networkOf(address: string): string {
  const { text, family } = addressOf(address) ?? { text: address };
  if (family !== 'ipv6') return text;
  const [head = '', tail] = text.split('::');
  const groupsOf = (part: string) => part.split(':').filter((group) => group !== '');
  const [first, last] = [groupsOf(head), groupsOf(tail ?? '')];
  const zeros = Array<string>(Math.max(0, 8 - first.length - last.length)).fill('0');
  return [...first, ...zeros, ...last].slice(0, 4).join(':');
}

/** Returns whether an address belongs to this machine or a private network, so that no one on the Internet can have it. */
export const isNear = within(
  '127.0.0.0/8 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 169.254.0.0/16 100.64.0.0/10 ::1 fc00::/7 fe80::/10'.split(
    ' ',
  ),
);

/** Returns whether a text is a web address without user, password, query and fragment, so that paths can be appended. */
export function isSite(text: string): boolean {
  const url = URL.parse(text);
  return (
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    [url.username, url.password, url.search, url.hash].every((part) => part === '')
  );
}

/** Returns whether a text is an origin exactly as browsers write it in the Origin header, because the two are compared. */
export function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}
