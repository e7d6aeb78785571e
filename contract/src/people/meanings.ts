// The meanings that columns of files, and their values, can have. Imports no schemas, so that browsers don't load the schema package.
import { organizationRoles } from './roles.ts';

/**
 * The meanings that a column of a file can have. A column for an attribute has the meaning `attribute:` followed by the attribute's
 * name. `ignore` skips the column.
 */
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
