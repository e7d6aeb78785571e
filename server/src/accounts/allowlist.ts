// The IP allowlist: the addresses from which an account accepts files (§5.4).
import { within } from '../base/network.ts';

/** Returns whether an address is in a list of addresses and CIDR ranges. An empty list allows every address. */
export const isAllowed = (allow: readonly string[], address: string): boolean =>
  allow.length === 0 || within(allow)(address);
