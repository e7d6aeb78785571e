// How many random cases a test tries. The default is small, so that the suite stays short. CASES=4 tries four times as many, as
// `.ci/run` does.
const factor = Number(process.env['CASES'] ?? 1);

/** Returns settings for fast-check: as many cases as given, times CASES. */
export const cases = (count: number): { numRuns: number } => ({ numRuns: Math.ceil(count * factor) });

/** Returns the distance between the places that a test tries: as large as given, divided by CASES. */
export const sparse = (distance: number): number => Math.max(1, Math.floor(distance / factor));
