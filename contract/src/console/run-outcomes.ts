// The outcomes and sources of runs. Imports no schemas, so that browsers don't load the schema package.

/** The outcomes of runs. `processing`: the run has not finished. */
export const runOutcomes = ['processing', 'validated', 'applied', 'pending', 'refused', 'failed'] as const;
export type RunOutcome = (typeof runOutcomes)[number];

/** Where runs come from. `scim`: the directory that provisions the account. */
export const runSources = ['api', 'file', 'scim'] as const;
export type RunSource = (typeof runSources)[number];
