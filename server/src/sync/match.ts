// Checks a well-formed request against the account: references exist, manual users and groups are not changed, the group
// hierarchy has no cycles, addresses are unique, and an administrator remains (decisions B8 to B13). Pure.
import { emailKey } from '@soundings/contract/formats.ts';
import { maxTreeDepth } from '@soundings/contract/limits.ts';
import type { User } from '@soundings/contract/organization.ts';
import type { Detail, DetailType } from '@soundings/contract/problem.ts';
import { membershipKinds } from '@soundings/contract/people/memberships.ts';
import { quote } from '../base/text.ts';
import { attributeFault } from '../people/attributes.ts';
import { treeFaults } from '../people/tree.ts';
import { positionOf, type SentOrganization } from './check.ts';
import type { Administrator, CurrentDetails, CurrentState } from './current-state.ts';
import { type Findings, isStandIn } from './findings.ts';
import { groupNameOf, type TargetTree } from './target-tree.ts';

export function matchOrganization(
  organization: SentOrganization,
  current: CurrentState,
  targetTree: TargetTree,
  currentDetails: CurrentDetails,
  findings: Findings,
): void {
  matchGroups(organization, targetTree, findings);
  const { users } = organization.data;
  if (!users) return;
  matchUsers(organization, current, targetTree, currentDetails.inQuestion, findings);
  matchEmails(organization, users, current, currentDetails, findings);
  matchAdministrators(
    current.administrators,
    (administrators) => staysAdministrated(users, current, organization, administrators),
    findings,
  );
}

/** Checks the users in question one by one. */
export function matchUsers(
  organization: SentOrganization,
  current: Pick<CurrentState, 'before' | 'attributes'>,
  targetTree: TargetTree,
  inQuestion: number[],
  findings: Findings,
): void {
  for (const i of inQuestion) {
    const path = `/data/users/${positionOf(organization, i)}`;
    const user = organization.data.users?.[i] as User;
    const { externalId } = user;
    refuseForeign('user', current.before[i], { externalId, path }, findings);
    matchReferences(user, path, targetTree, findings);
    for (const [name, value] of Object.entries(user.externalProperties ?? {})) {
      const fault = attributeFault(current.attributes, name, value);
      const place = `${path}/externalProperties/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      if (fault) findings.fault({ ...fault, path: place, externalId });
    }
  }
}

/** Adds a fault if no administrator would be left. `stays`: whether one of some administrators is still one after the request. */
export function matchAdministrators(
  administrators: Administrator[],
  stays: (some: Administrator[]) => boolean,
  findings: Findings,
): void {
  if (!stays(administrators)) {
    const message =
      'The account would have no active administrator left. Include an active user with the Administrator role, or create one in the console.';
    findings.fault({ type: 'no administrator', message, path: '/data/users' });
  } else {
    const breakGlass = administrators.filter(({ isBreakGlass, active }) => isBreakGlass && active);
    if (breakGlass.length > 0 && !stays(breakGlass))
      findings.fault({ type: 'last break-glass', message: lastBreakGlassText, path: '/data/users' });
  }
}

const lastBreakGlassText =
  'The account requires single sign-on, and no break-glass administrator would be left: no one could sign in any more if the provider failed. ' +
  'Leave one of them as an active Administrator with the same address, or choose another one first, in the console under Single sign-on.';

/** Adds a fault if a sent user or group exists and the sender doesn't manage it. */
function refuseForeign(
  what: 'user' | 'group',
  present: { managed: boolean; isOthers: boolean } | undefined,
  { externalId, path }: { externalId: string; path: string },
  findings: Findings,
): void {
  if (!present || present.managed) return;
  const id = quote(externalId);
  const place = { path: `${path}/externalId`, externalId };
  if (present.isOthers) {
    const message = `The ${what} with the externalId ${id} belongs to the directory that provisions this account (SCIM), or to pushes and files if the directory sends this. Leave it out, or hand it over in the console.`;
    return findings.fault({ type: 'other source', message, ...place });
  }
  const message = `The ${what} with the externalId ${id} was created manually, so this request can't change it. Hand the ${what} over to the HR system in the console, or use another externalId.`;
  findings.fault({ type: 'manually created', message, ...place });
}

export function matchGroups({ data }: SentOrganization, targetTree: TargetTree, findings: Findings): void {
  const { byExternalId, removed, targets, parents } = targetTree;
  const places = new Map<unknown, number>();
  for (const [i, { externalId, parent }] of (data.groups ?? []).entries()) {
    const path = `/data/groups/${i}`;
    places.set(externalId, i);
    const present = byExternalId.get(externalId);
    refuseForeign('group', present, { externalId, path }, findings);
    if (parent === undefined || parent === null || targets.has(parent)) continue;
    findings.fault(() => ({
      type: 'unknown parent',
      message: removed.has(byExternalId.get(parent)?.id ?? 0)
        ? `Parent group ${quote(parent)} is missing from the request, so it would be removed. Include it in the request.`
        : `Parent group ${quote(parent)} does not exist. Create it first, or send it in the same request.`,
      path: `${path}/parent`,
      externalId,
    }));
  }
  const nodes = [...parents].map(([id, parentId]) => ({ id, parentId }));
  const { cycles, tooDeep } = treeFaults(nodes, maxTreeDepth);
  const placeOf = (name: unknown) =>
    places.has(name) ? { path: `/data/groups/${places.get(name)}/parent` } : {};
  for (const cycle of cycles)
    findings.fault(() =>
      cycleFault(
        cycle.map((key) => groupNameOf(key, targetTree)),
        placeOf,
      ),
    );
  for (const key of tooDeep) {
    findings.fault(() => {
      const name = groupNameOf(key, targetTree);
      const message = `The group is nested too deep. The hierarchy can have at most ${maxTreeDepth} levels.`;
      return {
        type: 'too deep',
        message,
        ...placeOf(name),
        ...(typeof name === 'string' && { externalId: name }),
      };
    });
  }
}

type GroupName = ReturnType<typeof groupNameOf>;

function cycleFault(
  names: GroupName[],
  placeOf: (name: GroupName) => { path?: string },
): Detail & { type: DetailType } {
  const path = names.map((name) => (typeof name === 'string' ? quote(name) : `group ${name?.id}`));
  const first = names.find((name) => placeOf(name).path !== undefined) ?? null;
  return {
    type: 'cycle',
    message: `Circular group hierarchy: ${shorten(path).join(' → ')}. Change the parent of one of them.`,
    ...placeOf(first),
    ...(typeof first === 'string' && { externalId: first }),
  };
}

/** Shortens a cycle of more than 200 groups. */
function shorten(path: string[]): string[] {
  return path.length <= 200
    ? path
    : [...path.slice(0, 199), `… (${path.length - 200} more)`, path.at(-1) as string];
}

function matchReferences(user: User, path: string, targetTree: TargetTree, findings: Findings): void {
  const { targets, byExternalId, removed } = targetTree;
  const { externalId, accessInfo } = user;
  if (!accessInfo) return;
  for (const kind of membershipKinds) {
    const names = accessInfo[kind];
    if (!names) continue;
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      if (name === undefined || targets.has(name)) continue; // undefined: not a string, which is reported already
      findings.fault(() => ({
        type: 'unknown group',
        message: removed.has(byExternalId.get(name)?.id ?? 0)
          ? `Group ${quote(name)} is missing from the request, so it would be removed. Include it in the request.`
          : `Group ${quote(name)} does not exist. Create it first, or send it in the same request.`,
        path: `${path}/accessInfo/${kind}/${i}`,
        externalId,
      }));
    }
    if (names.length > 1 && new Set(names).size < names.length) {
      const message = `${kind} lists the same group more than once. It was counted once.`;
      findings.warn({ type: 'named twice', message, path: `${path}/accessInfo/${kind}` });
    }
  }
}

/** Returns the normalized addresses that the users in question will have, by position. A user without a sent address keeps theirs. */
export function wantedEmails(
  users: User[],
  current: CurrentState,
  { inQuestion, details }: Pick<CurrentDetails, 'inQuestion' | 'details'>,
): Map<number, string> {
  const keys = new Map<number, string>();
  for (const i of inQuestion) {
    const email = users[i]?.email;
    const key =
      email === undefined ? details.get(current.before[i]?.id ?? 0)?.emailKey : email && emailKey(email);
    if (key) keys.set(i, key);
  }
  return keys;
}

/** Adds a fault for each sent address that another user has. Faults point only at addresses that were sent. */
function matchEmails(
  organization: SentOrganization,
  users: User[],
  current: CurrentState,
  currentDetails: CurrentDetails,
  findings: Findings,
): void {
  const taken = emailsOfOthers(organization, users, current, currentDetails);
  const wanted = [...wantedEmails(users, current, currentDetails)];
  const isSent = (i: number) => users[i]?.email !== undefined;
  for (const [i, key] of wanted) if (!isSent(i)) taken.set(key, keptBy(users[i] as User, i));
  for (const [i, key] of wanted) {
    if (!isSent(i)) continue;
    const message = taken.get(key);
    taken.set(key, message ?? sentAt(i));
    if (message === undefined) continue;
    const externalId = users[i]!.externalId;
    findings.fault({ type: 'duplicate email', message, path: `/data/users/${i}/email`, externalId });
  }
}

export const sentAt = (i: number) =>
  `The same email address is used at /data/users/${i}/email. Each user needs a different address.`;
export const keptBy = ({ externalId }: Pick<User, 'externalId'>, i: number) =>
  `User ${quote(externalId)} (/data/users/${i}) already has this email address and keeps it, because the request has no email for that user.`;

export const emailOfForeign = ({ isOthers }: { isOthers: boolean }): string =>
  isOthers
    ? 'A user from another source (SCIM, or pushes and files) already has this email address.'
    : 'A manually created user already has this email address.';

/** Returns the addresses of users who stay as they are, each with the message for another user who is sent with it. */
function emailsOfOthers(
  { partial, removes }: SentOrganization,
  sent: User[],
  { users, before }: CurrentState,
  { inQuestion, owners }: CurrentDetails,
): Map<string, string> {
  const taken = new Map<string, string>();
  if (owners.size === 0) return taken;
  const places = new Map(before.entries().map(([i, user]) => [user?.id, i]));
  const changing = new Set(inQuestion);
  const foreign = new Map(users.filter(({ managed }) => !managed).map((user) => [user.id, user]));
  const removed = new Set(removes?.users);
  const staying = new Set(
    partial?.includes('users')
      ? users.flatMap(({ id, externalId }) => (removed.has(externalId ?? '') ? [] : [id]))
      : [],
  );
  for (const [key, id] of owners) {
    const place = places.get(id);
    const other = foreign.get(id);
    if (other) taken.set(key, emailOfForeign(other));
    else if (place === undefined && staying.has(id))
      taken.set(key, 'A user who is not in this list already has this email address, and keeps it.');
    else if (place !== undefined && !changing.has(place)) {
      const user = sent[place] as User;
      taken.set(key, user.email === undefined ? keptBy(user, place) : sentAt(place));
    }
  }
  return taken;
}

/** Returns whether one of these administrators, whose roles are confirmed, is still an active administrator after the request. */
export function staysAdministrated(
  users: User[],
  { before, users: present }: Pick<CurrentState, 'before' | 'users'>,
  { partial, removes }: Pick<SentOrganization, 'partial' | 'removes'>,
  administrators: readonly Administrator[],
): boolean {
  const isPartial = partial?.includes('users') ?? false;
  const named = new Set(removes?.users);
  const gone = new Set(before.map((user) => user?.id));
  for (const { id, externalId } of named.size > 0 ? present : [])
    if (named.has(externalId ?? '')) gone.add(id);
  const stays = (id: number, managed: boolean) => !managed || (isPartial && !gone.has(id));
  if (administrators.some(({ id, managed, active }) => active && stays(id, managed))) return true;
  const byId = new Map(administrators.map((one) => [one.id, one]));
  return users.some(({ externalId, email, active, accessInfo }, i) => {
    const administrator = byId.get(before[i]?.id ?? 0);
    // A user without an externalId, which is reported as a fault, may be an administrator.
    if (!administrator && !isStandIn(externalId)) return false;
    const keepsAddress =
      email === null
        ? administrator?.emailKey === null
        : typeof email !== 'string' || emailKey(email) === administrator?.emailKey;
    return (accessInfo?.role ?? 'Administrator') === 'Administrator' && active !== false && keepsAddress;
  });
}
