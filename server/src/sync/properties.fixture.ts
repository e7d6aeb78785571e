// The expected state of an organization after a request, for properties.test.ts. This is an independent implementation of
// decisions B3 and B6 to B12 that shares no code with the product.
import type { Settings } from '@soundings/contract/organization.ts';
import { type MembershipKind, membershipKinds } from '@soundings/contract/people/memberships.ts';
import type { Role } from '@soundings/contract/people/roles.ts';

// Managed groups and users are identified by "m:" and their externalId, manual ones by "h:" and their name.

export type Ref = string;
export type GroupState = {
  managed: boolean;
  externalId: string | null;
  name: string;
  description: string | null;
  parent: Ref | null;
};
export type Entries = Record<MembershipKind, Ref[]>;
export type UserState = {
  managed: boolean;
  externalId: string | null;
  firstName: string;
  lastName: string;
  email: string | null;
  phone: string | null;
  active: boolean;
  timezone: string | null;
  language: string | null;
  role: Role;
  attributes: Record<string, string>;
  entries: Entries;
};
export type State = { groups: Record<Ref, GroupState>; users: Record<Ref, UserState> };

export type SentGroup = {
  externalId: string;
  name: string;
  description?: string | null;
  parent?: string | null;
};
export type SentUser = {
  externalId: string;
  firstName: string;
  lastName: string;
  email?: string | null;
  phone?: string | null;
  active?: boolean;
  timezone?: string;
  language?: string;
  accessInfo?: { [kind in MembershipKind]?: string[] } & { role?: Role };
  externalProperties?: Record<string, string | null>;
};
export type Request = { settings: Settings; data: { groups?: SentGroup[]; users?: SentUser[] } };

const managedRef = (externalId: string): Ref => `m:${externalId}`;

/** Returns the state after the request, or 'refused'. */
export function expected(before: State, { settings, data }: Request): State | 'refused' {
  const listed = new Set(data.groups?.map(({ externalId }) => managedRef(externalId)));
  const isRemoved = (ref: Ref) =>
    data.groups !== undefined && before.groups[ref]!.managed && !listed.has(ref);
  /** Returns the nearest group that stays: this one or one of its ancestors. */
  const nearestStaying = (ref: Ref | null): Ref | null =>
    ref !== null && isRemoved(ref) ? nearestStaying(before.groups[ref]!.parent) : ref;
  /** Returns the group that an externalId in the request refers to. */
  const named = (externalId: string): Ref | undefined => {
    const manual = Object.entries(before.groups).find(([, g]) => !g.managed && g.externalId === externalId);
    if (manual) return manual[0];
    const ref = managedRef(externalId);
    const exists = data.groups ? listed.has(ref) : ref in before.groups;
    return exists ? ref : undefined;
  };

  const after: State = { groups: {}, users: {} };
  for (const [ref, group] of Object.entries(before.groups)) {
    if (!isRemoved(ref)) after.groups[ref] = { ...group, parent: nearestStaying(group.parent) };
  }
  const hasTree = data.groups?.some((group) => 'parent' in group) ?? false;
  for (const { externalId, name, description, parent } of data.groups ?? []) {
    const ref = managedRef(externalId);
    if (named(externalId) !== ref) return 'refused'; // a manual group has this externalId
    const old = after.groups[ref];
    const parentRef = typeof parent === 'string' ? named(parent) : null;
    if (parentRef === undefined) return 'refused';
    after.groups[ref] = {
      managed: true,
      externalId,
      name,
      description: description === undefined ? (old?.description ?? null) : description,
      parent: hasTree ? parentRef : (old?.parent ?? null),
    };
  }
  for (const ref of Object.keys(after.groups)) {
    let steps = 0;
    for (let at: Ref | null = ref; at !== null; at = after.groups[at]!.parent) {
      if (++steps > Object.keys(after.groups).length) return 'refused'; // a cycle
    }
  }

  for (const [ref, user] of Object.entries(before.users)) {
    if (user.managed && data.users) continue;
    after.users[ref] = withEntries(user, (entries) => entries.filter((group) => !isRemoved(group)));
  }
  for (const sent of data.users ?? []) {
    const user = expectedUser(
      before.users[managedRef(sent.externalId)],
      sent,
      settings,
      isRemoved,
      named,
      before,
    );
    if (!user) return 'refused';
    after.users[managedRef(sent.externalId)] = user;
  }
  const taken = Object.values(after.users).map(({ externalId }) => externalId);
  const addresses = Object.values(after.users).flatMap(({ email }) => email?.toLowerCase() ?? []);
  const refused = hasTwice(taken.filter((id) => id !== null)) || hasTwice(addresses);
  return refused || exceeds(before, after, settings) ? 'refused' : after;
}

function expectedUser(
  old: UserState | undefined,
  sent: SentUser,
  { forceSetLanguage }: Settings,
  isRemoved: (group: Ref) => boolean,
  named: (externalId: string) => Ref | undefined,
  before: State,
): UserState | undefined {
  const { externalId, firstName, lastName, accessInfo = {} } = sent;
  const attributes = { ...old?.attributes };
  for (const [name, value] of Object.entries(sent.externalProperties ?? {})) {
    if (value === null) delete attributes[name];
    else attributes[name] = value;
  }
  const languageSent = old && !forceSetLanguage ? undefined : sent.language;
  const user: UserState = {
    managed: true,
    externalId,
    firstName,
    lastName,
    email: sent.email === undefined ? (old?.email ?? null) : sent.email,
    phone: sent.phone === undefined ? (old?.phone ?? null) : (sent.phone?.replaceAll(/[ ()-]/g, '') ?? null),
    active: sent.active ?? true,
    timezone: sent.timezone ?? null,
    language: languageSent ?? old?.language ?? null,
    role: accessInfo.role ?? old?.role ?? 'User',
    attributes,
    entries: { memberOf: [], adminOf: [], inheritedAdminOf: [], interestOf: [] },
  };
  for (const kind of membershipKinds) {
    const staying = (old?.entries[kind] ?? []).filter((group) => !isRemoved(group));
    const wanted = accessInfo[kind]?.map(named);
    if (wanted?.includes(undefined)) return undefined;
    const manual = staying.filter((group) => before.groups[group]?.managed === false);
    user.entries[kind] = wanted ? unique([...manual, ...(wanted as Ref[])]) : staying;
  }
  return user;
}

function withEntries(user: UserState, change: (entries: Ref[]) => Ref[]): UserState {
  const entries = membershipKinds.map((kind) => [kind, change(user.entries[kind])]);
  return { ...user, entries: Object.fromEntries(entries) as Entries };
}

/** Returns how many managed users and groups were created, updated and deleted. */
export function changesBetween(before: State, after: State) {
  const of = <T extends { managed: boolean }>(old: Record<Ref, T>, now: Record<Ref, T>) => {
    const refs = (all: Record<Ref, T>) => Object.keys(all).filter((ref) => all[ref]!.managed);
    const both = refs(now).filter((ref) => ref in old);
    return {
      created: refs(now).length - both.length,
      updated: both.filter((ref) => JSON.stringify(sorted(old[ref]!)) !== JSON.stringify(sorted(now[ref]!)))
        .length,
      deleted: refs(old).length - both.length,
    };
  };
  return { users: of(before.users, after.users), groups: of(before.groups, after.groups) };
}

/** Only deletions are limited here: organization.requests.test.ts tests what counts as an update. */
function exceeds(
  before: State,
  after: State,
  { maxUsersDeleted = 200, maxGroupsDeleted = 200 }: Settings,
): boolean {
  const { users, groups } = changesBetween(before, after);
  return users.deleted > maxUsersDeleted || groups.deleted > maxGroupsDeleted;
}

export const unique = <T>(list: T[]): T[] => [...new Set(list)].toSorted();
const hasTwice = (list: unknown[]) => new Set(list).size < list.length;
const sorted = (value: object): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, inner: unknown) =>
      typeof inner === 'object' && inner !== null && !Array.isArray(inner)
        ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
        : inner,
    ),
  );
