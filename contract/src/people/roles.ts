// The roles of users. Imports no schemas, so that browsers don't load the schema package.

export const roles = ['Administrator', 'Manager', 'Auditor', 'User'] as const;
export type Role = (typeof roles)[number];

/** The roles that imports can set. The Auditor role is given only in the console or by the soundings command. */
export const organizationRoles = ['Administrator', 'Manager', 'User'] as const satisfies readonly Role[];
export type OrganizationRole = (typeof organizationRoles)[number];

const ranks: Record<Role, number> = { User: 0, Auditor: 1, Manager: 2, Administrator: 3 };

/** Whether a user has at least the minimum role. */
export const hasRole = (user: { role: Role }, minimum: Role): boolean => ranks[user.role] >= ranks[minimum];
