// What imports set for managed people. Imports no schemas, so that browsers don't load the schema package.
import type { MembershipKind } from './memberships.ts';

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

/**
 * The kinds of membership in managed groups that imports set for managed people. The other kinds of membership give rights in the
 * console.
 */
export const managedKinds: readonly MembershipKind[] = ['memberOf'];
