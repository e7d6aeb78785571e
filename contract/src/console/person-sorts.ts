// The sort orders of people. Imports no schemas, so that browsers don't load the schema package.

/** The sort orders of people in the console. */
export const personSorts = ['name', 'email', 'role', 'created'] as const;
export type PersonSort = (typeof personSorts)[number];
