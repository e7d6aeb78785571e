// From which addresses an account takes files (§5.4).
import { BlockList, isIP, SocketAddress } from 'node:net';

type Address = { text: string; family: 'ipv4' | 'ipv6' };

/**
 * Whether an address is among those allowed, which are single ones and ranges (CIDR); none: every address is allowed. An
 * IPv4 address may be written as an IPv6 one (::ffff:192.0.2.1), here and there. It is within IPv4 ranges only: ::/0 lets
 * none in. A text that is no address is not allowed.
 */
export function isAllowed(allow: readonly string[], address: string): boolean {
  if (allow.length === 0) return true;
  const asking = addressOf(address);
  if (!asking) return false;
  const ranges = new BlockList();
  for (const range of allow) {
    const [text = '', prefix] = range.split('/');
    const from = addressOf(text);
    if (from?.family !== asking.family) continue;
    const bits = from.family === 'ipv4' ? 32 : 128;
    // Of an IPv4 range that is written as an IPv6 one, the first 96 bits say just that.
    const beyond = from.family === 'ipv4' && isIP(text) === 6 ? 96 : 0;
    const length = prefix === undefined ? bits : Number(prefix) - beyond;
    if (length >= 0) ranges.addSubnet(from.text, length, from.family);
  }
  return ranges.check(asking.text, asking.family);
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
