// The current state of an account, as far as a plan needs it. Types only.
import type { MembershipKind } from '@soundings/contract/people/memberships.ts';
import type { Role } from '@soundings/contract/people/roles.ts';
import type { Attribute } from '../people/attributes.ts';

export type CurrentGroup = {
  id: number;
  externalId: string | null;
  /** Whether the sender manages it: false for manual groups and for those of others. */
  managed: boolean;
  /** Whether another sender manages it: the directory (SCIM) for a request or file, and the other way round. */
  isOthers: boolean;
  name: string;
  description: string | null;
  parentId: number | null;
};

/** Only what shows whether a user has changed, because every push reads it for all users, apart from lists that only add and update. */
export type CurrentUser = {
  id: number;
  externalId: string | null;
  /** As for groups. */
  managed: boolean;
  isOthers: boolean;
  fingerprint: string | null;
};

/** The other fields of a user, read only for users that may have changed. */
export type UserDetails = {
  id: number;
  firstName: string;
  lastName: string;
  email: string | null;
  emailKey: string | null;
  phone: string | null;
  active: boolean;
  timezone: string | null;
  language: string | null;
  role: Role;
  rolePending: boolean;
  attributes: Record<string, string>;
  memberships: Record<MembershipKind, number[]>;
};

/**
 * An administrator whose role is confirmed, active or not. `isBreakGlass`: a break-glass administrator who can sign in, of an account that
 * requires single sign-on.
 */
export type Administrator = {
  id: number;
  managed: boolean;
  active: boolean;
  emailKey: string | null;
  isBreakGlass: boolean;
};

export type CurrentState = {
  groups: CurrentGroup[];
  /** Empty if the request has no list of users. Only those who are concerned if the list only adds and updates. */
  users: CurrentUser[];
  /** For each position in the sent list of users, the current user with that externalId. */
  before: (CurrentUser | undefined)[];
  administrators: Administrator[];
  attributes: ReadonlyMap<string, Attribute>;
};

/** What is read about the users in question, once they are known. */
export type CurrentDetails = {
  /** The positions, in the sent list, of users who are new or may have changed. */
  inQuestion: number[];
  details: ReadonlyMap<number, UserDetails>;
  /** For each address that these users will have, by its normalized form: the user who has it now. */
  owners: ReadonlyMap<string, number>;
};

/** A group that a request can refer to. Its id is null if the request creates it. */
export type Target = { externalId: string; id: number | null; managed: boolean };

/** Identifies a group: its id if it has one, otherwise its externalId. */
export type GroupKey = number | string;
