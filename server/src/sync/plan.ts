// Plans the changes that turn the current state into the state that was sent (§3, decisions B6 to B12). Pure. The request must
// have no faults.
import { emailKey } from '@soundings/contract/formats.ts';
import type {
  Change,
  Counts,
  Organization,
  OrganizationGroup,
  Summary,
  User,
} from '@soundings/contract/organization.ts';
import { type MembershipKind, membershipKinds } from '@soundings/contract/people/memberships.ts';
import type { Role } from '@soundings/contract/people/roles.ts';
import type { SentOrganization } from './check.ts';
import type { CurrentState, CurrentUser, GroupKey, Target, UserDetails } from './current-state.ts';
import { fingerprintOf } from './repeated/fingerprints.ts';
import { groupKeyOf, groupNameOf, type TargetTree } from './target-tree.ts';

export type GroupState = {
  externalId: string;
  name: string;
  description: string | null;
  parent: GroupKey | null;
};

export type UserState = {
  externalId: string;
  firstName: string;
  lastName: string;
  email: string | null;
  emailKey: string | null;
  phone: string | null;
  active: boolean;
  timezone: string | null;
  language: string | null;
  role: Role;
  /** Whether the Administrator role waits until an administrator confirms it. */
  rolePending: boolean;
  attributes: Record<string, string>;
};

/** A membership of a user (id, or externalId if new) in a group (key). */
export type Membership = { user: number | string; kind: MembershipKind; group: GroupKey };

export type Plan = {
  groups: {
    create: GroupState[];
    update: (GroupState & { id: number })[];
    remove: number[];
    /** Manual groups whose parent is removed, each with its new parent. */
    moveUp: { id: number; parent: GroupKey | null }[];
  };
  users: {
    create: UserState[];
    update: (UserState & { id: number })[];
    remove: { id: number; externalId: string }[];
    /** Users whose row is unchanged although the fingerprint differs: only the fingerprint is updated. */
    confirm: { id: number; externalId: string }[];
  };
  memberships: { add: Membership[]; remove: { user: number; kind: MembershipKind; group: number }[] };
  summary: Summary;
  changes: Change[];
};

/** Returns, for each position in the sent list of users, the current user with that externalId. */
export function pairUsers(
  { data, places }: SentOrganization,
  users: CurrentUser[],
): (CurrentUser | undefined)[] {
  const sent = data.users ?? [];
  const before: (CurrentUser | undefined)[] = Array.from({ length: sent.length });
  let next = 0;
  for (const user of users) {
    const { externalId } = user;
    if (externalId === null) continue;
    // Most lists keep their order from one request to the next.
    const place = sent[next]?.externalId === externalId ? next : places.users.get(externalId);
    if (place === undefined) continue;
    before[place] = user;
    next = place + 1;
  }
  return before;
}

/**
 * Returns the positions of sent users who are new or may differ from what was last sent. The others are the same as when they
 * passed all checks, so they don't have to be checked again.
 */
export function usersInQuestion(
  organization: Organization,
  current: CurrentState,
  { targets }: TargetTree,
): number[] {
  const force = organization.settings.forceSetLanguage === true;
  const idOf = (name: string) => targets.get(name)?.id ?? null;
  const places: number[] = [];
  for (const [i, user] of (organization.data.users ?? []).entries()) {
    const before = current.before[i];
    if (!before || before.fingerprint !== fingerprintOf(user, force, idOf)) places.push(i);
  }
  return places;
}

export function planChanges(
  organization: SentOrganization,
  current: CurrentState,
  targetTree: TargetTree,
  details: ReadonlyMap<number, UserDetails>,
): Plan {
  const plan = emptyPlan();
  if (organization.data.groups) planGroups(organization.data.groups, targetTree, plan);
  if (organization.data.users) planUsers(organization, current, targetTree, details, plan);
  return plan;
}

/** Returns a plan that changes nothing. */
export const emptyPlan = (): Plan => ({
  groups: { create: [], update: [], remove: [], moveUp: [] },
  users: { create: [], update: [], remove: [], confirm: [] },
  memberships: { add: [], remove: [] },
  summary: { users: noCounts(), groups: noCounts() },
  changes: [],
});

const noCounts = (): Counts => ({ created: 0, updated: 0, deleted: 0, unchanged: 0 });

function planGroups(sent: OrganizationGroup[], targetTree: TargetTree, plan: Plan): void {
  const { byExternalId, byId, removed, targets, parents } = targetTree;
  const { create, update, remove, moveUp } = plan.groups;
  const counts = plan.summary.groups;
  for (const { externalId, name, description } of sent) {
    const parent = parents.get(groupKeyOf(targets.get(externalId) as Target)) ?? null;
    const before = byExternalId.get(externalId);
    if (!before) {
      create.push({ externalId, name, description: description ?? null, parent });
      plan.changes.push({ entity: 'group', externalId, action: 'create' });
      counts.created++;
      continue;
    }
    const after = { name, description: description === undefined ? before.description : description, parent };
    const fields = differences([
      ['name', before.name, after.name],
      ['description', before.description, after.description],
      ['parent', groupNameOf(before.parentId, targetTree), groupNameOf(parent, targetTree)],
    ]);
    if (!fields) {
      counts.unchanged++;
      continue;
    }
    update.push({ id: before.id, externalId, ...after });
    plan.changes.push({ entity: 'group', externalId, action: 'update', fields });
    counts.updated++;
  }
  for (const id of removed) {
    remove.push(id);
    plan.changes.push({ entity: 'group', externalId: byId.get(id)?.externalId as string, action: 'delete' });
    counts.deleted++;
  }
  for (const { id, managed, parentId } of byId.values()) {
    const parent = parents.get(id) ?? null;
    if (!managed && parent !== parentId) moveUp.push({ id, parent });
  }
}

function planUsers(
  { settings, data, partial, removes, unchanged }: SentOrganization,
  current: CurrentState,
  targetTree: TargetTree,
  details: ReadonlyMap<number, UserDetails>,
  plan: Plan,
): void {
  const { create, remove } = plan.users;
  const counts = plan.summary.users;
  const listed = new Set<CurrentUser>();
  counts.unchanged += unchanged?.size ?? 0;
  for (const [i, user] of (data.users ?? []).entries()) {
    const { externalId } = user;
    const before = current.before[i];
    const beforeDetails = before && details.get(before.id);
    if (before) listed.add(before);
    if (!before) {
      create.push(newUser(user));
      for (const kind of membershipKinds) {
        for (const name of new Set(user.accessInfo?.[kind])) {
          plan.memberships.add.push({
            user: externalId,
            kind,
            group: groupKeyOf(targetTree.targets.get(name) as Target),
          });
        }
      }
      plan.changes.push({ entity: 'user', externalId, action: 'create' });
      counts.created++;
    } else if (beforeDetails && planUpdate(user, beforeDetails, settings, targetTree, plan)) {
      counts.updated++;
    } else {
      counts.unchanged++;
    }
  }
  const removed = new Set(removes?.users);
  const isPartial = partial?.includes('users') ?? false;
  for (const user of isPartial && removed.size === 0 ? [] : current.users) {
    const { id, externalId, managed } = user;
    if (!managed || externalId === null || listed.has(user) || unchanged?.has(id)) continue;
    if (isPartial && !removed.has(externalId)) continue;
    remove.push({ id, externalId });
    plan.changes.push({ entity: 'user', externalId, action: 'delete' });
    counts.deleted++;
  }
}

function newUser(user: User): UserState {
  const { externalId, firstName, lastName, email = null, phone = null, active = true } = user;
  const attributes = Object.entries(user.externalProperties ?? {}).filter(([, value]) => value !== null);
  return {
    externalId,
    firstName,
    lastName,
    email,
    emailKey: email === null ? null : emailKey(email),
    phone,
    active,
    timezone: user.timezone ?? null,
    language: user.language ?? null,
    role: user.accessInfo?.role ?? 'User',
    rolePending: user.accessInfo?.role === 'Administrator',
    attributes: Object.fromEntries(attributes) as Record<string, string>,
  };
}

/** Adds the changes of an existing user to the plan. Returns false if there are none. */
function planUpdate(
  user: User,
  current: UserDetails,
  settings: Organization['settings'],
  targetTree: TargetTree,
  plan: Plan,
): boolean {
  const { externalId, firstName, lastName, active = true } = user;
  const { id } = current;
  const email = user.email === undefined ? current.email : user.email;
  const attributes = { ...current.attributes };
  for (const [name, value] of Object.entries(user.externalProperties ?? {})) {
    if (value === null) delete attributes[name];
    else attributes[name] = value;
  }
  const role = user.accessInfo?.role ?? current.role;
  const key = email === null ? null : emailKey(email);
  const after: UserState = {
    externalId,
    firstName,
    lastName,
    email,
    emailKey: key,
    phone: user.phone === undefined ? current.phone : user.phone,
    active,
    timezone: user.timezone ?? null,
    language: settings.forceSetLanguage ? (user.language ?? current.language) : current.language,
    role,
    rolePending: role === 'Administrator' && (current.rolePending || needsConfirmation(current, key)),
    attributes,
  };
  const own = differences([
    ['firstName', current.firstName, firstName],
    ['lastName', current.lastName, lastName],
    ['email', current.email, after.email],
    ['phone', current.phone, after.phone],
    ['active', current.active, active],
    ['timezone', current.timezone, after.timezone],
    ['language', current.language, after.language],
    ['role', current.role, after.role],
    ...Object.keys(user.externalProperties ?? {}).map(
      (name) =>
        [
          `externalProperties.${name}`,
          valueOf(current.attributes, name),
          valueOf(attributes, name),
        ] as Comparison,
    ),
  ]);
  const access = planMemberships(user, id, current, targetTree, plan);
  // An address may have been normalized in another way when it was stored.
  if (own || key !== current.emailKey) plan.users.update.push({ id, ...after });
  else plan.users.confirm.push({ id, externalId });
  if (!own && !access) return false;
  plan.changes.push({ entity: 'user', externalId, action: 'update', fields: { ...own, ...access } });
  return true;
}

/** Returns whether an Administrator must be confirmed: the role is new, or the address changes and its owner could sign in. */
const needsConfirmation = (current: UserDetails, key: string | null) =>
  current.role !== 'Administrator' || (key !== null && key !== current.emailKey);

/** Returns an attribute's value, or null if the user has none. Safe for names such as "constructor". */
const valueOf = (attributes: Record<string, string>, name: string) =>
  Object.hasOwn(attributes, name) ? (attributes[name] as string) : null;

/** Plans membership changes: a sent kind replaces the memberships of that kind in managed groups. Those in manual groups stay. */
function planMemberships(
  { accessInfo }: User,
  userId: number,
  current: UserDetails,
  targetTree: TargetTree,
  plan: Plan,
): Change['fields'] | undefined {
  const { targets, byId } = targetTree;
  const comparisons: Comparison[] = [];
  for (const kind of membershipKinds) {
    const names = accessInfo?.[kind];
    if (!names) continue;
    const wanted = new Set(names.map((name) => groupKeyOf(targets.get(name) as Target)));
    const present = new Set<GroupKey>(current.memberships[kind]);
    const added = [...wanted].filter((group) => !present.has(group));
    const dropped = current.memberships[kind].filter(
      (group) => !wanted.has(group) && byId.get(group)?.managed === true,
    );
    if (added.length === 0 && dropped.length === 0) continue;
    for (const group of added) plan.memberships.add.push({ user: userId, kind, group });
    for (const group of dropped) plan.memberships.remove.push({ user: userId, kind, group });
    const after = [...present].filter((group) => !dropped.includes(group as number)).concat(added);
    comparisons.push([kind, shownNames(present, targetTree), shownNames(after, targetTree)]);
  }
  return comparisons.length > 0
    ? Object.fromEntries(comparisons.map(([name, from, to]) => [name, { from, to }]))
    : undefined;
}

/** Returns the sorted externalIds of the groups. Groups without one are left out: the sender doesn't know them. */
function shownNames(keys: Iterable<GroupKey>, targetTree: TargetTree): string[] {
  return [...keys]
    .map((key) => groupNameOf(key, targetTree))
    .filter((name) => typeof name === 'string')
    .toSorted();
}

type Comparison = [name: string, from: unknown, to: unknown];

function differences(comparisons: Comparison[]): Change['fields'] | undefined {
  const changed = comparisons.filter(
    ([, from, to]) => from !== to && JSON.stringify(from) !== JSON.stringify(to),
  );
  if (changed.length === 0) return undefined;
  return Object.fromEntries(changed.map(([name, from, to]) => [name, { from, to }]));
}
