// What the service holds of an account, as far as a plan needs it. Types only.
import type { MembershipKind, Role } from '@soundings/contract/organization.ts';
import type { Attribute } from '../people/attributes.ts';

export type HeldGroup = {
  id: number;
  externalId: string | null;
  managed: boolean;
  name: string;
  description: string | null;
  parentId: number | null;
};

/** Of every user only what concerns others or tells whether anything has changed. */
export type HeldUser = {
  id: number;
  externalId: string | null;
  managed: boolean;
  emailKey: string | null;
  active: boolean;
  role: Role;
  fingerprint: string | null;
};

/** The rest of a user, read only of those that may have changed. */
export type UserDetails = {
  id: number;
  firstName: string;
  lastName: string;
  email: string | null;
  phone: string | null;
  timezone: string | null;
  language: string | null;
  attributes: Record<string, string>;
  memberships: Record<MembershipKind, number[]>;
};

export type Held = {
  groups: HeldGroup[];
  /** Empty when the request says nothing of users. */
  users: HeldUser[];
  /** For each place in the sent list of users, the held user of that externalId. */
  before: (HeldUser | undefined)[];
  attributes: ReadonlyMap<string, Attribute>;
};

/** A group as a request can name it. Its id is null when the request creates it. */
export type Target = { externalId: string; id: number | null; managed: boolean };

/** Tells groups apart, also those without an id or without an externalId: the one that it has, id first. */
export type GroupKey = number | string;
