// The attributes from which the levels of a tree can be derived. Imports no schemas, so that browsers don't load the schema package.

export const scimLevels = ['organization', 'division', 'department', 'costCenter'] as const;
