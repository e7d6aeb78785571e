// How many random cases a test looks at. Tests look at few by default, so that the suite stays short: CASES=4 makes them look at
// four times as many, as `.ci/run` does.
const factor = Number(process.env['CASES'] ?? 1);

/** Returns settings for fast-check: as many cases as given, times CASES. */
export const cases = (count: number): { numRuns: number } => ({ numRuns: Math.ceil(count * factor) });
