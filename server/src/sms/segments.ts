// How many segments a text message needs. Providers charge for each. Pure.

/** The characters of GSM 03.38 that take one place of seven bits, and those that take two. All others need UCS-2. */
const basic = new Set(
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà',
);
const extended = new Set('^{}\\[~]|€');

/** How many places a single segment has, and each of several, which begin with a header (3GPP TS 23.040, clause 9.2.3.24). */
const places = { 'GSM-7': { single: 160, each: 153 }, 'UCS-2': { single: 70, each: 67 } } as const;

/** `length`: in places of the encoding. */
export type Segments = { encoding: 'GSM-7' | 'UCS-2'; length: number; segments: number };

/** Returns how many segments a text needs. A character of two places is never split between two segments. */
export function segmentsOf(text: string): Segments {
  const characters = [...text];
  const isBasic = characters.every((one) => basic.has(one) || extended.has(one));
  const encoding = isBasic ? 'GSM-7' : 'UCS-2';
  const sizes = characters.map((one) => (isBasic ? (extended.has(one) ? 2 : 1) : one.length));
  const length = sizes.reduce((sum, size) => sum + size, 0);
  const { single, each } = places[encoding];
  if (length <= single) return { encoding, length, segments: 1 };
  let [segments, used] = [1, 0];
  for (const size of sizes) {
    if (used + size > each) [segments, used] = [segments + 1, 0];
    used += size;
  }
  return { encoding, length, segments };
}
