// How many random cases a test tries. The default is small, so that the suite stays short. CASES=4 tries four times as many, as
// `.ci/run` does.
import fc from 'fast-check';

const factor = Number(process.env['CASES'] ?? 1);

/** Returns settings for fast-check: as many cases as given, times CASES. */
export const cases = (count: number): { numRuns: number } => ({ numRuns: Math.ceil(count * factor) });

/** Returns the distance between the places that a test tries: as large as given, divided by CASES. */
export const sparse = (distance: number): number => Math.max(1, Math.floor(distance / factor));

/** Any character of Unicode, as fast-check's unit `binary`, which takes a second to prepare. */
export const anyCharacter: fc.Arbitrary<string> = fc
  .integer({ min: 0, max: 0x10_ff_ff - 0x8_00 })
  .map((code) => String.fromCodePoint(code < 0xd8_00 ? code : code + 0x8_00));
