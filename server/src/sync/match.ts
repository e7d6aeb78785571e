// Whether a well-formed request fits the account: what it refers to exists, nothing made by hand is taken over,
// the tree is a tree, addresses are unique, and an administrator stays (decisions B8 to B13). Pure.
import { emailKey } from '@soundings/contract/formats.ts';
import { maxTreeDepth } from '@soundings/contract/limits.ts';
import { membershipKinds, type Organization, type User } from '@soundings/contract/organization.ts';
import { quote } from '../base/text.ts';
import { attributeFault } from '../people/attributes.ts';
import { treeFaults } from '../people/tree.ts';
import type { Findings } from './findings.ts';
import type { Held, HeldUser } from './held.ts';
import { type Landscape, nameOf } from './landscape.ts';

/** `inQuestion`: the places of the sent users who are new or may have changed. */
export function matchOrganization(
  organization: Organization,
  held: Held,
  landscape: Landscape,
  inQuestion: number[],
  findings: Findings,
): void {
  matchGroups(organization, landscape, findings);
  const { users } = organization.data;
  if (!users) return;
  for (const i of inQuestion) {
    const path = `/data/users/${i}`;
    const user = users[i] as User;
    const { externalId } = user;
    if (held.before[i]?.managed === false) {
      const message = `A user with the externalId ${quote(externalId)} was made by hand, and is not taken over.`;
      findings.fault({ type: 'made by hand', message, path: `${path}/externalId`, externalId });
    }
    matchReferences(user, path, landscape, findings);
    for (const [name, value] of Object.entries(user.externalProperties ?? {})) {
      const fault = attributeFault(held.attributes, name, value);
      const place = `${path}/externalProperties/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      if (fault) findings.fault({ ...fault, path: place, externalId });
    }
  }
  matchEmails(users, held, inQuestion, findings);
  if (
    !users.some((user, i) => staysAdministrator(user, held.before[i])) &&
    !held.users.some(isAdministratorByHand)
  ) {
    const message =
      'The account would have no active administrator left. Send one with the role Administrator, or make one by hand.';
    findings.fault({ type: 'no administrator', message, path: '/data/users' });
  }
}

function matchGroups({ data }: Organization, landscape: Landscape, findings: Findings): void {
  const { byExternalId, removed, targets, parents } = landscape;
  const places = new Map<unknown, number>();
  for (const [i, { externalId, parent }] of (data.groups ?? []).entries()) {
    const path = `/data/groups/${i}`;
    places.set(externalId, i);
    const present = byExternalId.get(externalId);
    if (present?.managed === false) {
      const message = `A group with the externalId ${quote(externalId)} was made by hand, and is not taken over.`;
      findings.fault({ type: 'made by hand', message, path: `${path}/externalId`, externalId });
    }
    if (parent === undefined || parent === null || targets.has(parent)) continue;
    const message = removed.has(byExternalId.get(parent)?.id ?? 0)
      ? `The parent ${quote(parent)} is not in the request, which therefore removes it.`
      : `There is no group ${quote(parent)} to be beneath.`;
    findings.fault({ type: 'unknown parent', message, path: `${path}/parent`, externalId });
  }
  const nodes = [...parents].map(([id, parentId]) => ({ id, parentId }));
  const { cycles, tooDeep } = treeFaults(nodes, maxTreeDepth);
  const placeOf = (name: unknown) =>
    places.has(name) ? { path: `/data/groups/${places.get(name)}/parent` } : {};
  for (const cycle of cycles) {
    const names = cycle.map((key) => nameOf(key, landscape));
    const way = names.map((name) => (typeof name === 'string' ? name : `group ${name?.id}`));
    const first = names.find((name) => places.has(name));
    const message = `Groups are beneath themselves: ${shorten(way).join(' → ')}. Change the parent of one of them.`;
    findings.fault({
      type: 'cycle',
      message,
      ...placeOf(first),
      ...(typeof first === 'string' && { externalId: first }),
    });
  }
  for (const key of tooDeep) {
    const name = nameOf(key, landscape);
    const message = `The group is on a level beyond ${maxTreeDepth}, the most that a tree may have.`;
    findings.fault({
      type: 'too deep',
      message,
      ...placeOf(name),
      ...(typeof name === 'string' && { externalId: name }),
    });
  }
}

/** A cycle is named in full, save one of thousands. */
function shorten(way: string[]): string[] {
  return way.length <= 200
    ? way
    : [...way.slice(0, 199), `… (${way.length - 200} more)`, way.at(-1) as string];
}

function matchReferences(user: User, path: string, landscape: Landscape, findings: Findings): void {
  const { targets, byExternalId, removed } = landscape;
  const { externalId, accessInfo } = user;
  if (!accessInfo) return;
  for (const kind of membershipKinds) {
    const names = accessInfo[kind];
    if (!names) continue;
    for (let i = 0; i < names.length; i++) {
      const name = names[i] as string;
      if (targets.has(name)) continue;
      const message = removed.has(byExternalId.get(name)?.id ?? 0)
        ? `The group ${quote(name)} is not in the request, which therefore removes it.`
        : `There is no group ${quote(name)}.`;
      findings.fault({ type: 'unknown group', message, path: `${path}/accessInfo/${kind}/${i}`, externalId });
    }
    if (names.length > 1 && new Set(names).size < names.length) {
      const message = `${kind} names a group twice; it counts once.`;
      findings.warn({ type: 'named twice', message, path: `${path}/accessInfo/${kind}` });
    }
  }
}

/** Addresses as they will be, those kept included: an omitted one stays what it is. */
function matchEmails(users: User[], held: Held, inQuestion: number[], findings: Findings): void {
  const keys = new Map<number, string>();
  for (const i of inQuestion) {
    const email = users[i]?.email;
    const key = email === undefined ? held.before[i]?.emailKey : email === null ? null : emailKey(email);
    if (key) keys.set(i, key);
  }
  const owners = addressesOfOthers(held, keys, new Set(inQuestion));
  for (const [i, key] of keys) {
    const owner = owners.get(key);
    owners.set(key, owner ?? `The same address is at /data/users/${i}/email.`);
    if (owner === undefined) continue;
    const externalId = users[i]!.externalId;
    findings.fault({ type: 'duplicate email', message: owner, path: `/data/users/${i}/email`, externalId });
  }
}

/** Which of the wanted addresses are those of users who stay as they are, and in what words to say so. */
function addressesOfOthers(
  held: Held,
  wanted: Map<number, string>,
  inQuestion: Set<number>,
): Map<string, string> {
  const owners = new Map<string, string>();
  if (wanted.size === 0) return owners;
  const keys = new Set(wanted.values());
  for (const { managed, emailKey: key } of held.users) {
    if (!managed && key !== null && keys.has(key))
      owners.set(key, 'A user who was made by hand has the same address.');
  }
  for (const [i, before] of held.before.entries()) {
    const key = before?.emailKey ?? null;
    if (key === null || inQuestion.has(i) || !keys.has(key)) continue;
    owners.set(key, `The same address is at /data/users/${i}/email.`);
  }
  return owners;
}

function staysAdministrator(user: User, before: HeldUser | undefined): boolean {
  const role = user.accessInfo?.role ?? before?.role;
  return role === 'Administrator' && user.active !== false;
}

const isAdministratorByHand = (user: HeldUser) =>
  !user.managed && user.active && user.role === 'Administrator';
