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

/** Of every user only what tells whether anything has changed: it is read of all of them at each push. */
export type HeldUser = {
  id: number;
  externalId: string | null;
  managed: boolean;
  fingerprint: string | null;
};

/** The rest of a user, read only of those that may have changed. */
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

/** An administrator whose role is not pending, active or not. */
export type Administrator = { id: number; managed: boolean; active: boolean; emailKey: string | null };

export type Held = {
  groups: HeldGroup[];
  /** Empty when the request says nothing of users. */
  users: HeldUser[];
  /** For each place in the sent list of users, the held user of that externalId. */
  before: (HeldUser | undefined)[];
  administrators: Administrator[];
  attributes: ReadonlyMap<string, Attribute>;
};

/** What is read of the users in question, once it is known who they are. */
export type HeldDetails = {
  /** The places in the sent list of those who are new or may have changed. */
  inQuestion: number[];
  details: ReadonlyMap<number, UserDetails>;
  /** Of the addresses that they will have: whose each is now, by its compared form. */
  owners: ReadonlyMap<string, number>;
};

/** A group as a request can name it. Its id is null when the request creates it. */
export type Target = { externalId: string; id: number | null; managed: boolean };

/** Tells groups apart, also those without an id or without an externalId: the one that it has, id first. */
export type GroupKey = number | string;
