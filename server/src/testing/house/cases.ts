// How many random cases a test tries. The default is small, so that the suite stays short. CASES=4 tries four times as many, as
// `.ci/run` does.
const factor = Number(process.env['CASES'] ?? 1);

/** Returns settings for fast-check: as many cases as given, times CASES. */
export const cases = (count: number): { numRuns: number } => ({ numRuns: Math.ceil(count * factor) });
