// Constants that schemas and the console share. This file imports nothing, so that browsers do not load the schema package.

/** The four kinds of membership in accessInfo, by their names in the interface description. */
export const membershipKinds = ['memberOf', 'adminOf', 'inheritedAdminOf', 'interestOf'] as const;
export type MembershipKind = (typeof membershipKinds)[number];

export const roles = ['Administrator', 'Manager', 'Auditor', 'User'] as const;
export type Role = (typeof roles)[number];

/** The roles that imports can set. The role Auditor is given only in the console or by the soundings command. */
export const organizationRoles = ['Administrator', 'Manager', 'User'] as const satisfies readonly Role[];
export type OrganizationRole = (typeof organizationRoles)[number];

const ranks: Record<Role, number> = { User: 0, Auditor: 1, Manager: 2, Administrator: 3 };

/** Whether a user has at least the minimum role. */
export const hasRole = (user: { role: Role }, minimum: Role): boolean => ranks[user.role] >= ranks[minimum];

/** The fields that every import sets. For managed people they can be changed only in the HR system. */
export const managedFields = [
  'externalId',
  'firstName',
  'lastName',
  'email',
  'phone',
  'active',
  'timezone',
] as const;

/** The kinds of membership in managed groups that imports set for managed people. The others give rights in the console. */
export const managedKinds: readonly MembershipKind[] = ['memberOf'];

/** The sort orders of people in the console. */
export const personSorts = ['name', 'email', 'role', 'created'] as const;
export type PersonSort = (typeof personSorts)[number];

/** The outcomes of runs. `processing`: the run has not finished. */
export const runOutcomes = ['processing', 'validated', 'applied', 'pending', 'refused', 'failed'] as const;
export type RunOutcome = (typeof runOutcomes)[number];

/** The meanings that a column of a file can have. An attribute is `attribute:` and its name. `ignore` skips the column. */
export const columnMeanings = {
  users: [
    ...(['externalId', 'firstName', 'lastName', 'fullName', 'email', 'phone', 'active', 'timezone'] as const),
    ...(['language', 'role', 'memberOf', 'groupName', 'adminOf', 'inheritedAdminOf', 'interestOf'] as const),
    ...(['isManager', 'manager'] as const),
  ],
  groups: ['externalId', 'name', 'description', 'parent', 'manager'],
} as const;

/** The meanings that a value in a status, role or manager column can have. With `ignore` the cell counts as empty. */
export const valueMeanings = {
  active: ['yes', 'no', 'ignore'],
  role: [...organizationRoles, 'ignore'],
  isManager: ['yes', 'no', 'ignore'],
} as const;
export type ValueField = keyof typeof valueMeanings;
export const valueFields = Object.keys(valueMeanings) as ValueField[];
export type ValueMeaning = (typeof valueMeanings)[ValueField][number];
