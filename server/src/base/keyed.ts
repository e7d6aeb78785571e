// Numbers that look random to anyone without a key, and are always the same with it.
import { createHmac } from 'node:crypto';

/** HMAC-SHA256 of some texts in their order; where one ends and the next begins counts. */
export function keyedHash(key: Uint8Array, ...texts: string[]): Buffer {
  const hmac = createHmac('sha256', key);
  for (const text of texts) hmac.update(`${Buffer.byteLength(text)}:`).update(text);
  return hmac.digest();
}
