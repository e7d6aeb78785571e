// Checksums that don't change the checksum of what they are appended to. Text that ends with one leaves the CRC as it was before, so the
// checksum of many such texts in a row is checked by one call, whose cost is otherwise as high as for several KB.
import { crc32 } from 'node:zlib';

/** The number of characters of a tail. Each has 6 bits that can be chosen, which are more than the 32 of the checksum. */
export const tailLength = 6;

/** Half a tail: three characters of 6 bits. */
const half = 18;
type Bits = { start: number; end: number };

const tailOf = ({ start, end }: Bits): string =>
  String.fromCharCode(
    ...[start, start >> 6, start >> 12, end, end >> 6, end >> 12].map((bits) => 64 | (bits & 63)),
  );

const noBits: Bits = { start: 0, end: 0 };
const both = (a: Bits, b: Bits): Bits => ({ start: a.start ^ b.start, end: a.end ^ b.end });

/**
 * For each bit of the checksum, which bits of a tail change it, and otherwise only lower ones. A CRC is linear: each bit of a text changes the
 * same bits of the checksum, whatever the rest of the text is. So this is Gaussian elimination.
 */
const pivots: { effect: number; bits: Bits }[] = [];
for (let i = 0; i < 2 * half; i++) {
  let bits = i < half ? { start: 1 << i, end: 0 } : { start: 0, end: 1 << (i - half) };
  let effect = crc32(tailOf(bits)) ^ crc32(tailOf(noBits));
  for (let known; effect !== 0 && (known = pivots[Math.clz32(effect)]);) {
    effect ^= known.effect;
    bits = both(bits, known.bits);
  }
  if (effect !== 0) pivots[Math.clz32(effect)] = { effect, bits };
}

const withoutBits = tailOf(noBits);

/** Returns the tail that brings a checksum back to `seed`, with which the checksum of `text` begins. */
export function neutralTail(text: string, seed: number): string {
  let bits = noBits;
  let missing = crc32(withoutBits, crc32(text, seed)) ^ seed;
  while (missing !== 0) {
    const pivot = pivots[Math.clz32(missing)] as (typeof pivots)[number];
    missing ^= pivot.effect;
    bits = both(bits, pivot.bits);
  }
  return tailOf(bits);
}
