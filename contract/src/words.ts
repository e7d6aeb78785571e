// Words that schemas and the console share, as plain values: nothing is imported here, so that no browser loads the package
// by which schemas are made.

/** The four kinds of membership that accessInfo speaks of, by the names the description gives them. */
export const membershipKinds = ['memberOf', 'adminOf', 'inheritedAdminOf', 'interestOf'] as const;
export type MembershipKind = (typeof membershipKinds)[number];

export const roles = ['Administrator', 'Manager', 'Auditor', 'User'] as const;
export type Role = (typeof roles)[number];

/** The roles that pushes and files can give. An Auditor is appointed in the console or by the soundings command only. */
export const organizationRoles = ['Administrator', 'Manager', 'User'] as const satisfies readonly Role[];
export type OrganizationRole = (typeof organizationRoles)[number];

const ranks: Record<Role, number> = { User: 0, Auditor: 1, Manager: 2, Administrator: 3 };

/** Whether somebody has a role, or one above it. */
export const hasRole = (who: { role: Role }, least: Role): boolean => ranks[who.role] >= ranks[least];

/** What every push and file sets of the people it lists: of managed people it is changed where it comes from. */
export const deliveredFields = [
  'externalId',
  'firstName',
  'lastName',
  'email',
  'phone',
  'active',
  'timezone',
] as const;

/** The kinds of membership that, in managed groups, come with managed people. The others give rights in the console. */
export const deliveredKinds: readonly MembershipKind[] = ['memberOf'];

/** By what the console sorts people. */
export const personSorts = ['name', 'email', 'role', 'created'] as const;
export type PersonSort = (typeof personSorts)[number];

/** What the runs have come to that a list shows. `processing`: they have not ended yet. */
export const runOutcomes = ['processing', 'validated', 'applied', 'held', 'refused', 'failed'] as const;
export type RunOutcome = (typeof runOutcomes)[number];

/** What a column of a file can be read as. Attributes are `attribute:` and their name. `ignore`: it is not read. */
export const columnMeanings = {
  users: [
    ...(['externalId', 'firstName', 'lastName', 'fullName', 'email', 'phone', 'active', 'timezone'] as const),
    ...(['language', 'role', 'memberOf', 'groupName', 'adminOf', 'inheritedAdminOf', 'interestOf'] as const),
    ...(['isManager', 'manager'] as const),
  ],
  groups: ['externalId', 'name', 'description', 'parent', 'manager'],
} as const;

/** What a value of a column of a few words can mean. `ignore`: the cell counts as empty. */
export const valueMeanings = {
  active: ['yes', 'no', 'ignore'],
  role: [...organizationRoles, 'ignore'],
  isManager: ['yes', 'no', 'ignore'],
} as const;
export type ValueField = keyof typeof valueMeanings;
export const valueFields = Object.keys(valueMeanings) as ValueField[];
export type ValueMeaning = (typeof valueMeanings)[ValueField][number];
