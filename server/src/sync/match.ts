// Whether a well-formed request fits the account: what it refers to exists, nothing made by hand is taken over,
// the tree is a tree, addresses are unique, and an administrator stays (decisions B8 to B13). Pure.
import { emailKey } from '@soundings/contract/formats.ts';
import { maxTreeDepth } from '@soundings/contract/limits.ts';
import type { User } from '@soundings/contract/organization.ts';
import type { Detail, DetailType } from '@soundings/contract/problem.ts';
import { membershipKinds } from '@soundings/contract/words.ts';
import { quote } from '../base/text.ts';
import { attributeFault } from '../people/attributes.ts';
import { treeFaults } from '../people/tree.ts';
import type { SentOrganization } from './check.ts';
import { type Findings, isStandIn } from './findings.ts';
import type { Held, HeldDetails } from './held.ts';
import { type Landscape, nameOf } from './landscape.ts';

export function matchOrganization(
  organization: SentOrganization,
  held: Held,
  landscape: Landscape,
  looked: HeldDetails,
  findings: Findings,
): void {
  matchGroups(organization, landscape, findings);
  const { users } = organization.data;
  if (!users) return;
  for (const i of looked.inQuestion) {
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
  matchEmails(users, held, looked, findings);
  if (!staysAdministrated(users, held, organization.partial?.includes('users') ?? false)) {
    const message =
      'The account would have no active administrator left. Send one with the role Administrator, or make one by hand.';
    findings.fault({ type: 'no administrator', message, path: '/data/users' });
  }
}

function matchGroups({ data }: SentOrganization, landscape: Landscape, findings: Findings): void {
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
    findings.fault(() => ({
      type: 'unknown parent',
      message: removed.has(byExternalId.get(parent)?.id ?? 0)
        ? `The parent ${quote(parent)} is not in the request, which therefore removes it.`
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
        cycle.map((key) => nameOf(key, landscape)),
        placeOf,
      ),
    );
  for (const key of tooDeep) {
    findings.fault(() => {
      const name = nameOf(key, landscape);
      const message = `The group is on a level beyond ${maxTreeDepth}, the most that a tree may have.`;
      return {
        type: 'too deep',
        message,
        ...placeOf(name),
        ...(typeof name === 'string' && { externalId: name }),
      };
    });
  }
}

type GroupName = ReturnType<typeof nameOf>;

function cycleFault(
  names: GroupName[],
  placeOf: (name: GroupName) => { path?: string },
): Detail & { type: DetailType } {
  const way = names.map((name) => (typeof name === 'string' ? quote(name) : `group ${name?.id}`));
  const first = names.find((name) => placeOf(name).path !== undefined) ?? null;
  return {
    type: 'cycle',
    message: `Circular group hierarchy: ${shorten(way).join(' → ')}. Change the parent of one of them.`,
    ...placeOf(first),
    ...(typeof first === 'string' && { externalId: first }),
  };
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
      const name = names[i];
      if (name === undefined || targets.has(name)) continue; // undefined: it is no text, which is a fault already
      findings.fault(() => ({
        type: 'unknown group',
        message: removed.has(byExternalId.get(name)?.id ?? 0)
          ? `The group ${quote(name)} is not in the request, which therefore removes it.`
          : `There is no group ${quote(name)}.`,
        path: `${path}/accessInfo/${kind}/${i}`,
        externalId,
      }));
    }
    if (names.length > 1 && new Set(names).size < names.length) {
      const message = `${kind} names a group twice; it counts once.`;
      findings.warn({ type: 'named twice', message, path: `${path}/accessInfo/${kind}` });
    }
  }
}

/** The addresses that the users in question will have, by place, in their compared form; an omitted one is kept. */
export function wantedEmails(
  users: User[],
  held: Held,
  { inQuestion, details }: Pick<HeldDetails, 'inQuestion' | 'details'>,
): Map<number, string> {
  const keys = new Map<number, string>();
  for (const i of inQuestion) {
    const email = users[i]?.email;
    const key =
      email === undefined ? details.get(held.before[i]?.id ?? 0)?.emailKey : email && emailKey(email);
    if (key) keys.set(i, key);
  }
  return keys;
}

/** The faults are at the addresses that were sent: a user who keeps one has sent none. */
function matchEmails(users: User[], held: Held, looked: HeldDetails, findings: Findings): void {
  const taken = emailsOfOthers(users, held, looked);
  const wanted = [...wantedEmails(users, held, looked)];
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

const sentAt = (i: number) => `The same address is at /data/users/${i}/email.`;
const keptBy = ({ externalId }: User, i: number) =>
  `The user ${quote(externalId)} (/data/users/${i}) has the same address, and keeps it: the request sends none for this user.`;

/** Which addresses are those of users who stay as they are, and the words that say so. */
function emailsOfOthers(
  sent: User[],
  { users, before }: Held,
  { inQuestion, owners }: HeldDetails,
): Map<string, string> {
  const taken = new Map<string, string>();
  if (owners.size === 0) return taken;
  const places = new Map(before.entries().map(([i, user]) => [user?.id, i]));
  const changing = new Set(inQuestion);
  const byHand = new Set(users.filter(({ managed }) => !managed).map(({ id }) => id));
  for (const [key, id] of owners) {
    const place = places.get(id);
    if (byHand.has(id)) taken.set(key, 'A user who was made by hand has the same address.');
    else if (place !== undefined && !changing.has(place)) {
      const user = sent[place] as User;
      taken.set(key, user.email === undefined ? keptBy(user, place) : sentAt(place));
    }
  }
  return taken;
}

/** Whether an active administrator, whose role is not pending then, is among the users that there will be. */
function staysAdministrated(users: User[], { administrators, before }: Held, isPartial: boolean): boolean {
  const listed = new Set(before.map((user) => user?.id));
  const stays = (id: number, managed: boolean) => !managed || (isPartial && !listed.has(id));
  if (administrators.some(({ id, managed, active }) => active && stays(id, managed))) return true;
  const byId = new Map(administrators.map((one) => [one.id, one]));
  return users.some(({ externalId, email, active, accessInfo }, i) => {
    const administrator = byId.get(before[i]?.id ?? 0);
    // Who has no externalId, which is a fault, may be one of them.
    if (!administrator && !isStandIn(externalId)) return false;
    const keepsAddress = typeof email !== 'string' || emailKey(email) === administrator?.emailKey;
    return (accessInfo?.role ?? 'Administrator') === 'Administrator' && active !== false && keepsAddress;
  });
}
