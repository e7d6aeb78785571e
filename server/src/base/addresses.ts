// Internet addresses and ranges of them, as people write them.
import { isIP } from 'node:net';

/** Whether a text is an IPv4 or IPv6 address, or a range in CIDR form such as 192.0.2.0/24. */
export function isAddressRange(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128));
}
