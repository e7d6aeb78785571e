// The kinds of memberships in groups. Imports no schemas, so that browsers don't load the schema package.

/** The four kinds of membership in accessInfo, by their names in the interface description. */
export const membershipKinds = ['memberOf', 'adminOf', 'inheritedAdminOf', 'interestOf'] as const;
export type MembershipKind = (typeof membershipKinds)[number];
