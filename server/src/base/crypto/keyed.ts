// Keyed hashes. They look random to anyone without the key. With the key, the same texts always have the same hash.
import { createHmac } from 'node:crypto';

/** Returns the HMAC-SHA256 of a list of texts. Order and boundaries between the texts matter. */
export function keyedHash(key: Uint8Array, ...texts: string[]): Buffer {
  const hmac = createHmac('sha256', key);
  for (const text of texts) hmac.update(`${Buffer.byteLength(text)}:`).update(text);
  return hmac.digest();
}
