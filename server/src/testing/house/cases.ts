// How many cases a test tries. `npm test` tries a quarter of the number that stands in the test, so that the suite stays short.
// CASES=1 tries that number, and CASES=4 four times as many, as `.ci/run` does in some of them. A setting for one kind of case, such as
// ATTACKS=2000, takes precedence.
import fc from 'fast-check';

const factor = Number(process.env['CASES'] ?? 1 / 4);

/** Returns how many cases to try: the setting of this name, or otherwise `count` times CASES. */
export const caseCount = (setting: string, count: number): number =>
  Number(process.env[setting] ?? Math.ceil(count * factor));

/** Returns settings for fast-check: as many cases as given, times CASES. */
export const cases = (count: number): { numRuns: number } => ({ numRuns: Math.ceil(count * factor) });

/** Returns the distance between the places that a test tries: as large as given, divided by CASES. */
export const sparse = (distance: number): number => Math.max(1, Math.floor(distance / factor));

/** Returns some of the variants that a test checks, in random order: at least one of four. CASES=1 returns all, as they are. */
export function someOf<T>(variants: readonly T[]): T[] {
  if (factor >= 1) return [...variants];
  const drawn = variants.map((one) => [Math.random(), one] as const).toSorted(([a], [b]) => a - b);
  return drawn.slice(0, Math.ceil(variants.length * factor)).map(([, one]) => one);
}

/** Any character of Unicode, as fast-check's unit `binary`, which takes a second to prepare. */
export const anyCharacter: fc.Arbitrary<string> = fc
  .integer({ min: 0, max: 0x10_ff_ff - 0x8_00 })
  .map((code) => String.fromCodePoint(code < 0xd8_00 ? code : code + 0x8_00));
