// Internet addresses and ranges of them, as people write them.
import { BlockList, isIP, isIPv6, SocketAddress } from 'node:net';

/** Whether a text is an IPv4 or IPv6 address, or a range in CIDR form such as 192.0.2.0/24. */
export function isAddressRange(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128));
}

/** The widest ranges that are still a network of somebody's own: 10.0.0.0/8, and fc00::/7. */
const widest = { ipv4: 8, ipv6: 7 };

/** Whether a range is so wide that it takes in much of the Internet. */
export function isTooWide(range: string): boolean {
  const { family, length } = subnetOf(range) ?? { family: 'ipv4' as const, length: 32 };
  return length < widest[family];
}

type Address = { text: string; family: 'ipv4' | 'ipv6' };

/**
 * Returns a function that returns whether an address is within one of the ranges. An IPv4 address may be written as an IPv6
 * one (::ffff:192.0.2.1), in both places. It is within IPv4 ranges only: ::/0 has none. A text that is no address is in none.
 */
export function within(ranges: readonly string[]): (address: string) => boolean {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() }; // in one, ::/0 would have all IPv4 addresses too
  for (const range of ranges) {
    const subnet = subnetOf(range);
    if (subnet) lists[subnet.family].addSubnet(subnet.text, subnet.length, subnet.family);
  }
  return (address) => {
    const asking = addressOf(address);
    return asking !== undefined && lists[asking.family].check(asking.text, asking.family);
  };
}

/** The first address and the length of the prefix of a range; undefined when it is none, as ::/0 is none of IPv4 addresses. */
function subnetOf(range: string): (Address & { length: number }) | undefined {
  const [text = '', prefix] = range.split('/');
  const from = addressOf(text);
  if (!from) return undefined;
  const bits = from.family === 'ipv4' ? 32 : 128;
  // Of an IPv4 range that is written as an IPv6 one, the first 96 bits say just that.
  const beyond = from.family === 'ipv4' && isIP(text) === 6 ? 96 : 0;
  const length = prefix === undefined ? bits : Number(prefix) - beyond;
  return length >= 0 ? { ...from, length } : undefined;
}

function addressOf(text: string): Address | undefined {
  const version = isIP(text);
  if (version === 0) return undefined;
  if (version === 4) return { text, family: 'ipv4' };
  // In one spelling, and without a zone (fe80::1%eth0).
  const plain = new SocketAddress({ address: text, family: 'ipv6' }).address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(plain)?.[1];
  return mapped === undefined ? { text: plain, family: 'ipv6' } : { text: mapped, family: 'ipv4' };
}

/** An IPv4 address as such, even if it came as an IPv6 one (::ffff:192.0.2.1). */
export const plainAddress = (address: string): string =>
  address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '');

/** The network that limits count by: the first half of an IPv6 address, which one customer has at least; all of any other. */
export function networkOf(address: string): string {
  const { text } = addressOf(address) ?? { text: address };
  if (!isIPv6(text)) return text;
  const [head = '', tail] = text.split('::');
  const groupsOf = (part: string) => part.split(':').filter((group) => group !== '');
  const [first, last] = [groupsOf(head), groupsOf(tail ?? '')];
  const zeros = Array<string>(Math.max(0, 8 - first.length - last.length)).fill('0');
  return [...first, ...zeros, ...last].slice(0, 4).join(':');
}

const near = within(
  '127.0.0.0/8 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 169.254.0.0/16 100.64.0.0/10 ::1 fc00::/7 fe80::/10'.split(
    ' ',
  ),
);

/** Whether an address is of this machine or of a private network: no one else on the Internet can have it. */
export const isNear = (address: string): boolean => near(address);
