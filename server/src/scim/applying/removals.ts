// The removals and deactivations of a directory. They wait until the directory has not removed anyone else for a while, and are then
// applied together, or await approval if there are many: a wrong filter in the directory removes people one by one.
import { createHash } from 'node:crypto';
import type { OrganizationGroup } from '@soundings/contract/organization.ts';
import type { TreeRule } from '@soundings/contract/scim/directory.ts';
import type { Account } from '../../accounts/accounts.sql.ts';
import type { Fault } from '../../base/errors.ts';
import type { JsonValue } from '../../base/json/json.ts';
import type { AccountId, Transaction } from '../../db/db.ts';
import { attributesOf } from '../../people/attributes.changes.ts';
import type { DeleteGroupResults } from '../../people/groups.ts';
import { type Findings, newFindings } from '../../sync/findings.ts';
import { clearPendingRun, rejectPendingRun } from '../../sync/pending-runs.ts';
import { type SentByFile, staleRun } from '../../sync/sync.ts';
import { countOwn, type Removal, selectRemovals, selectUsersById, updateKept } from './apply.sql.ts';
import { groupsMovedBy } from './derive.ts';
import { type Directory, selectDirectory, selectOutcome } from './directories.sql.ts';
import { refusedAlone } from './divide-removals.ts';
import { isAboutAdministrators, keepRefused, type RefusedRemovals } from './keep-refused.ts';
import { personFrom } from './mapping.ts';
import { runDirectory } from './run-directory.ts';

const minute = 60_000;
/** Removals are applied after this time, even if the directory keeps removing individual people. */
const longestWait = 60 * minute;
/** The applied removals of a day count against the limit. */
const windowMs = 24 * 60 * minute;
/** How often the shown removals of a pending run are brought up to date. */
const refreshMs = 60_000;

/**
 * `isRepeated`: whether the removals were refused because of administrators, and are tried again without those who are kept. `isDivided`: whether
 * they were refused for another reason, and are tried again without those that were refused alone.
 */
type Removing = {
  now: number;
  deleteGroupResults: DeleteGroupResults;
  isRepeated?: boolean;
  isDivided?: boolean;
};

/** Applies the removals of a directory or keeps them pending, and returns their state. */
export async function applyRemovals(
  tx: Transaction,
  account: Account,
  before: Directory,
  how: Removing,
): Promise<Directory> {
  const { now, deleteGroupResults } = how;
  const directory = await withDecision(tx, account.id, before);
  const removals = await selectRemovals(tx, account.id);
  if (removals.length === 0) return withdraw(tx, account.id, directory);
  const removing = await withMoves(tx, account.id, directory.rule, removals);
  const limits = limitsOf(account, await countOwn(tx, account.id), directory, now);
  const count = countsOf(removals);
  const isLarge = count.people > limits.people || count.groups > limits.groups;
  if (isLarge) {
    const after = await hold(tx, account.id, directory, { ...how, removing, limits });
    return 'again' in after ? applyRemovals(tx, account, { ...directory, ...noPending }, after.again) : after;
  }
  const open = await withdraw(tx, account.id, directory);
  if (!isSettled(removals, open.settleMinutes, now)) return open;
  const findings = newFindings();
  const sent = await requestToRemove(tx, account.id, removing);
  const wanted = { deleteGroupResults, beyondLimits: 'apply' as const };
  const end = await runDirectory(tx, account.id, { sent, tokenId: tokenOf(removals), wanted }, findings);
  if (end.refusal) {
    const refused = { runId: end.runId, findings, refusal: end.refusal };
    const again = await keepSome(tx, account.id, directory.rule, { ...how, removals, refused });
    return again ? applyRemovals(tx, account, open, again) : open;
  }
  const isNew = open.windowBegan === null || now - open.windowBegan.getTime() >= windowMs;
  return {
    ...open,
    windowBegan: isNew ? new Date(now) : open.windowBegan,
    windowPeople: (isNew ? 0 : open.windowPeople) + count.people,
    windowGroups: (isNew ? 0 : open.windowGroups) + count.groups,
  };
}

type Refused = Removing & {
  removals: readonly Removal[];
  refused: Pick<RefusedRemovals, 'runId' | 'findings' | 'refusal'>;
};

/** Keeps those that cause a refusal. Returns how to try the others; undefined: not before the next minute. */
async function keepSome(
  tx: Transaction,
  accountId: AccountId,
  rule: TreeRule,
  { removals, refused, ...how }: Refused,
): Promise<Removing | undefined> {
  const { isRepeated = false, isDivided = false, deleteGroupResults } = how;
  const isRole = isAboutAdministrators(refused.refusal);
  const run = async (inner: Transaction, part: readonly Removal[]): Promise<Fault | undefined> => {
    const sent = await requestToRemove(inner, accountId, await withMoves(inner, accountId, rule, part));
    const wanted = { deleteGroupResults, beyondLimits: 'apply' as const };
    return (await runDirectory(inner, accountId, { sent, tokenId: null, wanted }, newFindings())).refusal;
  };
  const alone = isRole || isDivided ? undefined : await refusedAlone(tx, removals, run);
  await keepRefused(tx, accountId, removals, { ...refused, isRepeated, alone: alone?.ids });
  if (alone && alone.ids.size > 0 && !alone.isComplete) return undefined;
  return { ...how, isRepeated: isRepeated || isRole, isDivided: isDivided || alone !== undefined };
}

const noPending = { pendingRunId: null, pendingDigest: null, pendingAt: null };

/** Takes note of what an administrator has decided about the pending run. Rejected removals don't come back. */
async function withDecision(tx: Transaction, accountId: AccountId, directory: Directory): Promise<Directory> {
  const { pendingRunId } = directory;
  if (pendingRunId === null) return directory;
  const outcome = await selectOutcome(tx, accountId, pendingRunId);
  if (outcome === 'pending') return directory;
  if (outcome === 'refused') await updateKept(tx, accountId, pendingRunId);
  return { ...directory, ...noPending };
}

/** Ends the pending run, because the directory has taken removals back. */
async function withdraw(tx: Transaction, accountId: AccountId, directory: Directory): Promise<Directory> {
  const { pendingRunId } = directory;
  if (pendingRunId === null) return directory;
  const message = 'The directory took these removals back. Nothing was applied.';
  await rejectPendingRun(tx, accountId, pendingRunId, { userId: null, message });
  return { ...directory, ...noPending };
}

type Counts = { people: number; groups: number };

const countsOf = (removals: readonly Removal[]): Counts => ({
  people: removals.filter(({ entity }) => entity === 'user').length,
  groups: removals.filter(({ entity }) => entity === 'group').length,
});

/**
 * Returns how many people and groups may still be removed today without approval: a tenth of them, at least five people and two groups,
 * and never more than the limits of the account.
 */
export function limitsOf(
  { maxUsersDeleted, maxGroupsDeleted }: Pick<Account, 'maxUsersDeleted' | 'maxGroupsDeleted'>,
  own: Counts,
  {
    windowBegan,
    windowPeople,
    windowGroups,
  }: Pick<Directory, 'windowBegan' | 'windowPeople' | 'windowGroups'>,
  now: number,
): Counts {
  const isRunning = windowBegan !== null && now - windowBegan.getTime() < windowMs;
  const [people, groups] = isRunning ? [windowPeople, windowGroups] : [0, 0];
  // Those who were removed today count as there, so that the tenth does not shrink while it is used.
  const tenthOf = (count: number, minimum: number) => Math.max(minimum, Math.ceil(count / 10));
  return {
    people: Math.max(0, Math.min(maxUsersDeleted, tenthOf(own.people + people, 5)) - people),
    groups: Math.max(0, Math.min(maxGroupsDeleted, tenthOf(own.groups + groups, 2)) - groups),
  };
}

/** Returns whether the directory has not removed anyone else for a while. */
function isSettled(removals: readonly Removal[], settleMinutes: number, now: number): boolean {
  const times = removals.map(({ at }) => at.getTime());
  return (
    now - Math.max(...times) >= settleMinutes * minute ||
    now - Math.min(...times) >= Math.max(longestWait, settleMinutes * minute)
  );
}

type TooMany = Removing & { removing: RemovalsWithMoves; limits: Counts };

/** Holds removals as a pending run, or brings the pending run up to date. Returns how to try again if not all of them are possible. */
async function hold(
  tx: Transaction,
  accountId: AccountId,
  directory: Directory,
  { removing, limits, ...how }: TooMany,
): Promise<Directory | { again: Removing }> {
  const { now, deleteGroupResults } = how;
  const { removals } = removing;
  const digest = digestOfRemovals(removing);
  const { pendingRunId, pendingDigest, pendingAt } = directory;
  if (pendingRunId !== null && (digest === pendingDigest || now - (pendingAt?.getTime() ?? 0) < refreshMs))
    return directory;
  if (pendingRunId !== null) await clearPendingRun(tx, accountId, pendingRunId);
  const findings = newFindings();
  // The console compares the changes with the limits in the settings of the run.
  const allowed = {
    maxUsersDeleted: limits.people,
    maxUsersUpdated: limits.people,
    maxGroupsDeleted: limits.groups,
  };
  const request = await requestToRemove(tx, accountId, removing);
  const sent = { ...request, settings: { ...request.settings, ...allowed } };
  const checkPlan = (_plan: unknown, found: Findings) => exceed(found, countsOf(removals), limits);
  const wanted = { deleteGroupResults, beyondLimits: 'requireApproval' as const, checkPlan };
  const run = {
    sent,
    tokenId: tokenOf(removals),
    wanted,
    ...(pendingRunId !== null && { runId: pendingRunId }),
  };
  const end = await runDirectory(tx, accountId, run, findings);
  if (end.outcome === 'pending')
    return { ...directory, pendingRunId: end.runId, pendingDigest: digest, pendingAt: new Date(now) };
  const none = { ...directory, ...noPending };
  if (!end.refusal) return none;
  const refused = { runId: end.runId, findings, refusal: end.refusal };
  const again = await keepSome(tx, accountId, directory.rule, { ...how, removals, refused });
  return again ? { again } : none;
}

/** Adds a fault for each limit that the removals exceed. */
function exceed(findings: Findings, count: Counts, limit: Counts): void {
  const kinds = [
    ['people', 'maxUsersDeleted'],
    ['groups', 'maxGroupsDeleted'],
  ] as const;
  for (const [kind, setting] of kinds) {
    if (count[kind] <= limit[kind]) continue;
    const message =
      kind === 'people'
        ? `The directory removes or deactivates ${count.people} people, but without approval it can remove only ${limit.people} more today.`
        : `The directory removes ${count.groups} groups, but without approval it can remove only ${limit.groups} more today.`;
    findings.fault({ type: 'limit exceeded', message, setting, limit: limit[kind], count: count[kind] });
  }
}

/** Removals, and the new places of the groups that are in removed ones. */
type RemovalsWithMoves = { removals: readonly Removal[]; moved: readonly OrganizationGroup[] };

async function withMoves(
  tx: Transaction,
  accountId: AccountId,
  rule: TreeRule,
  removals: readonly Removal[],
): Promise<RemovalsWithMoves> {
  const removed = new Set(removals.flatMap(({ entity, key }) => (entity === 'group' ? [key] : [])));
  return { removals, moved: await groupsMovedBy(tx, accountId, rule, removed) };
}

/** Change the version with that of plans: the pending run is then stored again, with a digest that can be approved. */
const digestOfRemovals = ({ removals, moved }: RemovalsWithMoves): string =>
  createHash('sha256')
    .update(
      JSON.stringify([
        'removals 2',
        ...removals.map(({ id, changes, isDeleted }) => [id, changes, isDeleted]),
        ...moved.map(({ externalId, parent }) => [externalId, parent]),
      ]),
    )
    .digest('hex');

/**
 * Throws a Fault (conflict) if a run is the pending one of the directory, and the directory has taken some of its removals back or wants
 * others now: the shown changes are brought up to date only once a minute.
 */
export async function refuseOutdated(tx: Transaction, accountId: AccountId, runId: string): Promise<void> {
  const { pendingRunId, pendingDigest, rule } = await selectDirectory(tx, accountId);
  if (pendingRunId !== runId) return;
  const removing = await withMoves(tx, accountId, rule, await selectRemovals(tx, accountId));
  if (digestOfRemovals(removing) === pendingDigest) return;
  throw staleRun(
    'The directory has changed what it removes since the changes of this run were shown. Reload the page in a minute, and look at them again.',
  );
}

const tokenOf = (removals: readonly Removal[]): number | null =>
  removals.findLast(({ tokenId }) => tokenId !== null)?.tokenId ?? null;

/** Returns the request that removes and deactivates exactly these, and moves the groups in them. */
async function requestToRemove(
  tx: Transaction,
  accountId: AccountId,
  { removals, moved }: RemovalsWithMoves,
): Promise<SentByFile> {
  const attributes = await attributesOf(tx, accountId);
  const deactivated = removals.filter(({ entity, isDeleted }) => entity === 'user' && !isDeleted);
  const users = await selectUsersById(
    tx,
    accountId,
    deactivated.map(({ id }) => id),
  );
  const people = users.map(({ personKey, resource }) => {
    // Only the state changes. The address stays as it is, because it may differ from the directory's.
    const {
      email: _,
      phone: __,
      externalProperties: ___,
      ...person
    } = personFrom(personKey, resource, false, attributes);
    return person;
  });
  const keysOf = (entity: Removal['entity']) =>
    removals.filter((one) => one.entity === entity && one.isDeleted).map(({ key }) => key);
  return {
    settings: { validateOnly: false },
    data: { users: people, groups: moved } as unknown as JsonValue,
    partial: ['users', 'groups'],
    isDirectory: true,
    removes: { users: keysOf('user'), groups: keysOf('group') },
  };
}
