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
import type { SentOrganization } from './check.ts';
import type { CurrentDetails, CurrentState } from './current-state.ts';
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
  for (const i of currentDetails.inQuestion) {
    const path = `/data/users/${i}`;
    const user = users[i] as User;
    const { externalId } = user;
    if (current.before[i]?.managed === false) {
      const message = `The user with the externalId ${quote(externalId)} was created manually, so this request can't change it. Hand the user over to the HR system in the console, or use another externalId.`;
      findings.fault({ type: 'manually created', message, path: `${path}/externalId`, externalId });
    }
    matchReferences(user, path, targetTree, findings);
    for (const [name, value] of Object.entries(user.externalProperties ?? {})) {
      const fault = attributeFault(current.attributes, name, value);
      const place = `${path}/externalProperties/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      if (fault) findings.fault({ ...fault, path: place, externalId });
    }
  }
  matchEmails(users, current, currentDetails, findings);
  if (!staysAdministrated(users, current, organization.partial?.includes('users') ?? false)) {
    const message =
      'The account would have no active administrator left. Include an active user with the Administrator role, or create one in the console.';
    findings.fault({ type: 'no administrator', message, path: '/data/users' });
  }
}

function matchGroups({ data }: SentOrganization, targetTree: TargetTree, findings: Findings): void {
  const { byExternalId, removed, targets, parents } = targetTree;
  const places = new Map<unknown, number>();
  for (const [i, { externalId, parent }] of (data.groups ?? []).entries()) {
    const path = `/data/groups/${i}`;
    places.set(externalId, i);
    const present = byExternalId.get(externalId);
    if (present?.managed === false) {
      const message = `The group with the externalId ${quote(externalId)} was created manually, so this request can't change it. Hand the group over to the HR system in the console, or use another externalId.`;
      findings.fault({ type: 'manually created', message, path: `${path}/externalId`, externalId });
    }
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
  users: User[],
  current: CurrentState,
  currentDetails: CurrentDetails,
  findings: Findings,
): void {
  const taken = emailsOfOthers(users, current, currentDetails);
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

const sentAt = (i: number) =>
  `The same email address is used at /data/users/${i}/email. Each user needs a different address.`;
const keptBy = ({ externalId }: User, i: number) =>
  `User ${quote(externalId)} (/data/users/${i}) already has this email address and keeps it, because the request has no email for that user.`;

/** Returns the addresses of users who stay as they are, each with the message for another user who is sent with it. */
function emailsOfOthers(
  sent: User[],
  { users, before }: CurrentState,
  { inQuestion, owners }: CurrentDetails,
): Map<string, string> {
  const taken = new Map<string, string>();
  if (owners.size === 0) return taken;
  const places = new Map(before.entries().map(([i, user]) => [user?.id, i]));
  const changing = new Set(inQuestion);
  const manual = new Set(users.filter(({ managed }) => !managed).map(({ id }) => id));
  for (const [key, id] of owners) {
    const place = places.get(id);
    if (manual.has(id)) taken.set(key, 'A manually created user already has this email address.');
    else if (place !== undefined && !changing.has(place)) {
      const user = sent[place] as User;
      taken.set(key, user.email === undefined ? keptBy(user, place) : sentAt(place));
    }
  }
  return taken;
}

/** Returns whether the account still has an active administrator with a confirmed role after the request. */
function staysAdministrated(
  users: User[],
  { administrators, before }: CurrentState,
  isPartial: boolean,
): boolean {
  const listed = new Set(before.map((user) => user?.id));
  const stays = (id: number, managed: boolean) => !managed || (isPartial && !listed.has(id));
  if (administrators.some(({ id, managed, active }) => active && stays(id, managed))) return true;
  const byId = new Map(administrators.map((one) => [one.id, one]));
  return users.some(({ externalId, email, active, accessInfo }, i) => {
    const administrator = byId.get(before[i]?.id ?? 0);
    // A user without an externalId, which is reported as a fault, may be an administrator.
    if (!administrator && !isStandIn(externalId)) return false;
    const keepsAddress = typeof email !== 'string' || emailKey(email) === administrator?.emailKey;
    return (accessInfo?.role ?? 'Administrator') === 'Administrator' && active !== false && keepsAddress;
  });
}
