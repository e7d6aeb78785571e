// What results are compared with. Without schemas, so that browsers and the soundings command can load it.

/** What a group is compared with: its top group, its parent group, itself half a year (26 weeks) earlier, or nothing. */
export const comparisons = ['company', 'parent', 'halfYear', 'none'] as const;
export type Comparison = (typeof comparisons)[number];

/** The comparisons that an account can allow its managers. */
export const managerComparisons = ['company', 'parent', 'halfYear'] as const;
export type ManagerComparison = (typeof managerComparisons)[number];
