// Applies what a directory has changed to the people and groups of its account, as a run, through the same plan as pushes and files. It
// never removes or deactivates anyone: removals.ts does, because a wrong filter in the directory must remove no one.
import { emailKey } from '@soundings/contract/formats.ts';
import type { OrganizationGroup, User } from '@soundings/contract/organization.ts';
import { accountById, lockAccount } from '../../accounts/accounts.ts';
import type { Fault } from '../../base/errors.ts';
import type { JsonValue } from '../../base/json/json.ts';
import { type AccountId, inTransaction, type Pool, type Transaction } from '../../db/db.ts';
import { inSavepoint } from '../../db/savepoints.ts';
import { attributesOf } from '../../people/attributes.changes.ts';
import type { DeleteGroupResults } from '../../people/groups.ts';
import { type Findings, newFindings } from '../../sync/findings.ts';
import type { SentByFile } from '../../sync/sync.ts';
import {
  type AppliedUser,
  deleteApplied,
  deleteLeftMembers,
  type GroupToApply,
  selectAddressOwners,
  selectForeignGroups,
  selectGroupsToApply,
  selectMovedMembers,
  selectUsersById,
  selectUsersToApply,
  updateGroupsApplied,
  updateGroupsRefused,
  updateUsersApplied,
  updateUsersRefused,
  updateUsersToApply,
  type UserToApply,
} from './apply.sql.ts';
import { deriveTree } from './derive.ts';
import { type Directory, selectDirectory, selectRefusedRuns, updateDirectory } from './directories.sql.ts';
import { waitingForAddresses } from './addresses.ts';
import { type Applied, applyDivided, type Divided } from './divide.ts';
import { isAboutAdministrators } from './keep-refused.ts';
import { personFrom } from './mapping.ts';
import { applyRemovals } from './removals.ts';
import { runDirectory } from './run-directory.ts';

/** How many users are applied in one transaction. */
const maxUsers = 5_000;

const settings = { validateOnly: false };

/** `refusal`: why changes could not be applied; they wait for the next attempt. */
export type Progress = { isMore: boolean; refusal?: string };

/** What a run has applied. */
export type Noted = { users: AppliedUser[]; groups: GroupToApply[] };

const nothing: Noted = { users: [], groups: [] };

/**
 * Applies the changes of a directory, and its removals as far as they are due. Returns whether more changes wait. One transaction: if the
 * process is killed, no part of it was applied, or all of it is noted as applied only when it has been applied again, which changes nothing.
 */
export async function applyDirectory(
  pool: Pool,
  accountId: AccountId,
  now: number,
  deleteGroupResults: DeleteGroupResults,
): Promise<Progress> {
  const { progress, noted } = await inTransaction(pool, async (tx) => {
    await lockAccount(tx, accountId);
    const account = await accountById(tx, accountId);
    const directory = await selectDirectory(tx, accountId);
    await deleteLeftMembers(tx, accountId, new Date(now - directory.settleMinutes * 60_000));
    const end = await applyChanges(tx, accountId, directory, { now, deleteGroupResults });
    const after = await applyRemovals(tx, account, directory, { now, deleteGroupResults });
    await deleteApplied(tx, accountId);
    if (after !== directory) await updateDirectory(tx, accountId, after);
    return end;
  });
  await noteApplied(pool, accountId, noted);
  return progress;
}

/** How many users are noted together. Until that is committed, requests that change one of them wait. */
const maxNoted = 200;

/** Notes what was applied, after it is committed, so that no request waits for a run. */
export async function noteApplied(pool: Pool, accountId: AccountId, { users, groups }: Noted): Promise<void> {
  for (let i = 0; i < users.length; i += maxNoted)
    await updateUsersApplied(pool, accountId, users.slice(i, i + maxNoted));
  await updateGroupsApplied(pool, accountId, groups);
}

type Applying = { now: number; deleteGroupResults: DeleteGroupResults };

async function applyChanges(
  tx: Transaction,
  accountId: AccountId,
  directory: Directory,
  applying: Applying,
): Promise<{ progress: Progress; noted: Noted }> {
  const at = new Date(applying.now);
  const changed = await selectUsersToApply(tx, accountId, maxUsers, at);
  const groups = await selectGroupsToApply(tx, accountId, at);
  if (changed.length === 0 && !groups.some(({ isDue }) => isDue))
    return { progress: { isMore: false }, noted: nothing };
  const users = await withConcerned(tx, accountId, directory, changed, at);
  const tokenId = [...changed, ...groups].findLast((one) => one.tokenId !== null)?.tokenId ?? null;
  const end = await applyOrDivide(tx, accountId, directory, { ...applying, users, tokenId });
  const waiting = new Set([...end.refused, ...end.left]);
  const applied = changed
    .filter(({ id }) => !waiting.has(id))
    .map(({ id, changes }) => ({ id, changes, isBlocked: end.blocked.has(id) }));
  await updateUsersToApply(tx, accountId, [...waiting]);
  // What is refused is tried less and less often, and what is left in the next minute.
  await updateUsersRefused(tx, accountId, [...end.refused], at);
  // The members who could not be applied are to be applied themselves from now on. Without any, the tree is refused.
  const isTreeRefused = end.refusal !== undefined && users.length === 0;
  if (isTreeRefused) await updateGroupsRefused(tx, accountId, groups, nextTry(groups, at));
  const noted = { users: applied, groups: isTreeRefused ? [] : groups };
  // Users who are blocked stay to be applied, so a whole batch of them is the end.
  const isMore = changed.length === maxUsers && applied.some((one) => !one.isBlocked);
  return { noted, progress: { isMore, ...(end.refusal && { refusal: end.refusal.message }) } };
}

/** Returns when a refused tree is tried again: as refused users, later each time, unless one of the groups has changed since the last time. */
function nextTry(groups: readonly GroupToApply[], at: Date): { failures: number; retryAt: Date } {
  const times = groups.map(({ failures }) => failures);
  const failures = times.includes(0) ? 1 : Math.min(Math.max(...times) + 1, 100);
  return { failures, retryAt: new Date(at.getTime() + Math.min(2 ** (failures - 1), 60) * 60_000) };
}

/** Applies users in one run. If it is refused, applies what can be, in parts. If it is refused because of administrators, the others come first. */
async function applyOrDivide(
  tx: Transaction,
  accountId: AccountId,
  directory: Directory,
  { users, ...batch }: Batch,
): Promise<Divided> {
  const apply = (part: readonly UserToApply[], isShown: boolean) =>
    applyUsers(tx, accountId, directory, { ...batch, users: [...part] }, isShown);
  const first = await apply(users, users.length <= 1);
  if (!first.refusal)
    return { blocked: first.blocked, refused: new Set(), left: first.waiting, refusal: undefined };
  // If the tree alone is refused too, that is about no one in particular, and dividing would only find out for each of them.
  if (users.length === 0 || (await apply([], true)).refusal)
    return {
      blocked: new Set(),
      refused: new Set(users.map(({ id }) => id)),
      left: new Set(),
      refusal: first.refusal,
    };
  if (!isAboutAdministrators(first.refusal)) return applyDivided([users], apply);
  const [administrators = [], others = []] = [true, false].map((wanted) =>
    users.filter(({ role }) => (role === 'Administrator') === wanted),
  );
  const end = await applyDivided([others, administrators], apply);
  return { ...end, refusal: end.refusal ?? first.refusal };
}

/** Adds the users that are concerned by the changes of others and are due: members of changed groups, and managers. */
export async function withConcerned(
  tx: Transaction,
  accountId: AccountId,
  { rule }: Directory,
  changed: UserToApply[],
  at: Date,
): Promise<UserToApply[]> {
  const known = new Set(changed.map(({ id }) => id));
  const present = changed.filter(({ isDeleted }) => !isDeleted);
  const ids =
    rule.kind === 'groups'
      ? await selectMovedMembers(tx, accountId)
      : rule.kind === 'managers'
        ? present.flatMap(({ managerId }) => (managerId !== null && isId.test(managerId) ? [managerId] : []))
        : [];
  const more = [...new Set(ids)].filter((id) => !known.has(id));
  return [...present, ...(await selectUsersById(tx, accountId, more, at))];
}

const isId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The request for users: the people that they are, and the groups that these need. */
export type DirectoryRequest = {
  request: Omit<SentByFile, 'data'>;
  /** Undefined if nothing is left to apply. */
  data: JsonValue | undefined;
  /** The users that exist already as people of others. */
  blocked: Set<string>;
  /** The users whose address another user of the directory still has. */
  waiting: Set<string>;
};

export async function requestFor(
  tx: Transaction,
  accountId: AccountId,
  { rule }: Pick<Directory, 'rule'>,
  users: readonly UserToApply[],
  findings: Findings,
): Promise<DirectoryRequest> {
  const attributes = await attributesOf(tx, accountId);
  const tree = await deriveTree(tx, accountId, rule, users);
  const foreign = await selectForeignGroups(
    tx,
    accountId,
    tree?.groups.map(({ externalId }) => externalId) ?? [],
  );
  const { people, blocked, waiting } = await peopleOf(
    tx,
    accountId,
    users,
    (user) => {
      // People who are active stay active here: deactivations are removals.
      const person = personFrom(user.personKey, user.resource, user.active || user.isActiveNow, attributes);
      const access = tree?.accessOf(user);
      if (!access) return person;
      const isLeading = (access.adminOf?.length ?? 0) > 0;
      const role = isLeading && (user.role ?? 'User') === 'User' ? { role: 'Manager' as const } : {};
      return { ...person, accessInfo: { ...access, ...role } };
    },
    findings,
  );
  const groups: OrganizationGroup[] = (tree?.groups ?? []).filter(
    ({ externalId }) => !foreign.has(externalId),
  );
  const isNothing = people.length === 0 && groups.length === 0;
  return {
    request: { settings, partial: ['users', 'groups'], isDirectory: true },
    data: isNothing ? undefined : ({ users: people, groups } as unknown as JsonValue),
    blocked,
    waiting,
  };
}

/**
 * Returns the people for users. An address that another person has is left out, with a warning. If that person belongs to pushes or is
 * managed manually, the user is probably the same person, so the user waits until an administrator hands the person over. If that person will
 * give the address up, but not with these users, the user waits too: `waiting`.
 */
async function peopleOf(
  tx: Transaction,
  accountId: AccountId,
  users: readonly UserToApply[],
  personFor: (user: UserToApply) => User,
  findings: Findings,
): Promise<{ people: User[]; blocked: Set<string>; waiting: Set<string> }> {
  const wanted = users.map((user) => {
    const person = personFor(user);
    return { user, person, key: person.email ? emailKey(person.email) : undefined };
  });
  const keys = wanted.flatMap(({ key }) => key ?? []);
  const owners = await selectAddressOwners(tx, accountId, keys);
  const waiting = waitingForAddresses(wanted, owners);
  const listed = new Set(users.map(({ personKey }) => personKey));
  const taken = new Set<string>();
  const blocked = new Set<string>();
  const people: User[] = [];
  for (const { user, person, key } of wanted) {
    const owner = key === undefined ? undefined : owners.get(key);
    const isOthers = owner !== undefined && owner.personKey !== user.personKey;
    if ((user.isPresent && !user.isOwn) || (isOthers && !owner.isOwn && !user.isPresent)) {
      blocked.add(user.id);
      continue;
    }
    if (waiting.has(user.id)) {
      // A new person is created without the address.
      if (!user.isPresent) people.push({ ...person, email: null });
      continue;
    }
    const isTaken =
      key !== undefined &&
      (taken.has(key) || (isOthers && !(owner.isOwn && listed.has(owner.personKey ?? ''))));
    if (isTaken) findings.warn(takenAddress(user.personKey));
    else if (key !== undefined) taken.add(key);
    people.push(isTaken ? { ...person, email: null } : person);
  }
  return { people, blocked, waiting };
}

const takenAddress = (externalId: string) => ({
  type: 'duplicate email' as const,
  message:
    'Another person has the email address of this user, so the person has none. Correct it in the directory.',
  externalId,
});

type Batch = Applying & { users: UserToApply[]; tokenId: number | null };

/** Applies users, and the groups that they need, in one run. Returns why it was refused, if it was. `isShown`: whether the runs show that. */
async function applyUsers(
  tx: Transaction,
  accountId: AccountId,
  directory: Directory,
  { users, ...batch }: Batch,
  isShown: boolean,
): Promise<Applied> {
  const findings = newFindings();
  const { request, data, ...end } = await requestFor(tx, accountId, directory, users, findings);
  if (data === undefined) return { ...end, refusal: undefined };
  const refusal = await runToShow(tx, accountId, { ...batch, isShown, sent: { ...request, data } }, findings);
  return { ...end, refusal };
}

/** A refused run that is tried again each minute is shown once in this time. */
const showAgainMs = 24 * 60 * 60_000;

async function runToShow(
  tx: Transaction,
  accountId: AccountId,
  run: Omit<Batch, 'users'> & { sent: SentByFile; isShown: boolean },
  findings: Findings,
): Promise<Fault | undefined> {
  const { sent, tokenId, deleteGroupResults, now, isShown } = run;
  return inSavepoint<Fault | undefined>(tx, async (inner, undo) => {
    const wanted = { deleteGroupResults, beyondLimits: 'apply' as const };
    const since = new Date(now - showAgainMs);
    const shown = await selectRefusedRuns(inner, accountId, since);
    const { outcome, plan, refusal } = await runDirectory(
      inner,
      accountId,
      { sent, tokenId, wanted },
      findings,
    );
    if (outcome === 'applied' && plan.changes.length === 0) return undo(undefined);
    // It is refused like one that is shown already.
    if (refusal && (!isShown || shown.has(refusal.details[0]?.message ?? ''))) return undo(refusal);
    return refusal;
  });
}
