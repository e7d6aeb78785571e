// From which addresses an account takes files (§5.4).
import { within } from '../base/addresses.ts';

/** Whether an address is among those allowed, which are single ones and ranges (CIDR); none: every address is allowed. */
export const isAllowed = (allow: readonly string[], address: string): boolean =>
  allow.length === 0 || within(allow)(address);
