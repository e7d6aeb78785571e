// Updates the managed users and groups of an account to match what was sent (§1.B, §3, §4.2). One transaction locks the
// account, reads the current state, checks the request and plans the changes. Then it stops (dry run or faults) or applies
// them. The report is the same in both cases.
import { isDryRun } from '@soundings/contract/dry-run.ts';
import type { Settings, User } from '@soundings/contract/organization.ts';
import type { Detail } from '@soundings/contract/problem.ts';
import { createHash } from 'node:crypto';
import { accountById, lockAccount } from '../accounts/accounts.ts';
import { raiseVersion } from '../accounts/accounts.sql.ts';
import { notePending } from '../auth/pending-administrators.ts';
import { Fault } from '../base/errors.ts';
import type { JsonValue } from '../base/json/json.ts';
import type { AccountId, Transaction } from '../db/db.ts';
import type { DeleteGroupResults } from '../people/groups.ts';
import { attributesOf } from '../people/attributes.changes.ts';
import { applyPlan } from './apply.ts';
import { checkLimits } from './change-limits.ts';
import { positionOf, readOrganization, type SentOrganization } from './check.ts';
import type { CurrentState, CurrentUser } from './current-state.ts';
import type { Findings } from './findings.ts';
import { matchOrganization, wantedEmails } from './match.ts';
import { storePendingRun } from './pending-runs.ts';
import { pendingIn, warnOfEffects, warnOfMovedGroups } from './plan-warnings.ts';
import { pairUsers, type Plan, planChanges, usersInQuestion } from './plan.ts';
import { requestFaultOf, runEnd } from './run-end.ts';
import { copyChanges } from './runs.sql.ts';
import { storeRunEnd } from './runs.ts';
import {
  selectAdministrators,
  selectCurrentGroups,
  selectCurrentUsers,
  selectEmailOwners,
  selectUserDetails,
  selectWeeksOfGroups,
} from './sync.sql.ts';
import { targetTreeOf } from './target-tree.ts';
import { type ListsByTexts, NotByTexts, withoutUnchanged } from './texts/compare-texts.ts';

/** The requested state of an account, and how to apply it. */
export type Wanted = {
  runId: string;
  organization: SentOrganization;
  /** The lists, if they were read by their texts. `organization` then lacks the users whose texts are known. */
  byTexts?: ListsByTexts | undefined;
  deleteGroupResults: DeleteGroupResults;
  /** Whether the client has disconnected, so that no changes are begun. */
  isGone?: (() => boolean) | undefined;
  /** What to do with more changes than the settings allow: refuse them (default), wait for approval, or apply them. */
  beyondLimits?: 'refuse' | 'requireApproval' | 'apply';
  /** Checks the plan instead of `checkLimits`, which compares it with the settings. */
  checkPlan?: (plan: Plan, findings: Findings) => void;
  /** The digest of the changes that were shown for a pending run. Other changes are not applied. */
  shown?: string;
};

/** The result. A refusal is returned rather than thrown, so that the transaction commits the run that records it. */
export type Synchronized =
  | { outcome: 'validated' | 'applied'; plan: Plan; refusal?: undefined }
  | { outcome: 'pending'; plan: Plan; refusal: Fault }
  | { outcome: 'refused'; plan?: Plan; refusal: Fault };

/**
 * Updates an account to the requested state, or returns why it can't, and ends the run, in the caller's transaction. Throws a
 * Fault (conflict) if a pending run would now make different changes than were shown.
 */
export async function synchronize(
  tx: Transaction,
  accountId: AccountId,
  wanted: Wanted,
  findings: Findings,
): Promise<Synchronized> {
  const { runId } = wanted;
  const matched = await readAndMatch(tx, accountId, wanted, findings);
  const { organization, current, targetTree, details, owners } = matched;
  // The client may have left while the request waited for the lock on the account.
  if (wanted.isGone?.()) throw new Fault('unavailable', 'unavailable', 'The client has disconnected.');
  if (findings.faultCount() > 0) return endRun(tx, accountId, wanted, findings, { outcome: 'refused' });

  const plan = planChanges(organization, current, targetTree, details);
  if (wanted.shown !== undefined && wanted.shown !== digestOfPlan(plan)) throw planChanged(runId);
  if (wanted.checkPlan) wanted.checkPlan(plan, findings);
  else if (wanted.beyondLimits !== 'apply') checkLimits(organization.settings, plan, findings);
  if (organization.settings.expectedPlan !== undefined)
    checkExpected(organization.settings, digestOfPlan(plan), findings);
  const isApplied = !isDryRun(organization.settings);
  const groupNames = namesOfGroups(current, organization);
  const pending = pendingIn(plan, details);
  const weeksOfRemoved = await selectWeeksOfGroups(tx, accountId, plan.groups.remove);
  warnOfEffects({ plan, organization, targetTree, owners, pending, weeksOfRemoved }, findings);
  if (findings.faultCount() > 0) {
    const needsApproval = isApplied && wanted.beyondLimits === 'requireApproval';
    // The changes of a refused run are stored too: they show whether the list was complete.
    if (needsApproval)
      await storePendingRun(tx, accountId, runId, organization, {
        plan,
        digest: digestOfPlan(plan),
        groupNames,
      });
    else await copyChanges(tx, accountId, runId, plan.changes, { groupNames });
    return endRun(tx, accountId, wanted, findings, { outcome: needsApproval ? 'pending' : 'refused', plan });
  }
  warnOfMovedGroups(plan, targetTree, findings);
  if (isApplied) {
    await applyPlan(tx, accountId, organization, targetTree, plan);
    await wanted.deleteGroupResults(tx, accountId, plan.groups.remove);
    await notePending(tx, accountId, pending);
    if (plan.changes.length > 0) await raiseVersion(tx, accountId);
  }
  // The changes of a pending run are already stored.
  if (wanted.shown === undefined) await copyChanges(tx, accountId, runId, plan.changes, { groupNames });
  const setsTree = isApplied && organization.data.groups ? targetTree.setsParents : null;
  return endRun(tx, accountId, wanted, findings, {
    outcome: isApplied ? 'applied' : 'validated',
    plan,
    setsTree,
  });
}

/**
 * The content of a file, or a change of the directory (SCIM), in the format of an organization request. `partial`: the lists that only add
 * and update.
 */
export type SentByFile = {
  settings: Settings;
  data: JsonValue;
  partial: readonly ('users' | 'groups')[];
} & Pick<SentOrganization, 'isDirectory' | 'removes'>;

/** Like `synchronize`, for a file or the directory. The values are checked like those of a request, in the transaction that ends the run. */
export async function synchronizeFile(
  tx: Transaction,
  accountId: AccountId,
  { settings, data, ...sent }: SentByFile,
  wanted: Omit<Wanted, 'organization'>,
  findings: Findings,
): Promise<Synchronized> {
  const read = readOrganization({ settings, data } as JsonValue, findings);
  if (!read || findings.isFull()) return rejectInvalidRun(tx, accountId, wanted.runId, settings, findings);
  return synchronize(tx, accountId, { ...wanted, organization: { ...read, ...sent } }, findings);
}

/** Ends a run with faults as refused. */
export async function rejectInvalidRun(
  tx: Transaction,
  accountId: AccountId,
  runId: string,
  settings: Settings,
  findings: Findings,
): Promise<Synchronized> {
  const refusal = requestFaultOf(findings);
  await storeRunEnd(tx, accountId, runId, runEnd(settings, findings, { outcome: 'refused', refusal }));
  return { outcome: 'refused', refusal };
}

/**
 * Locks the account, reads its current state and checks the request against it. Returns the request, too: without roles if the account
 * doesn't allow pushes and files to set them.
 */
async function readAndMatch(
  tx: Transaction,
  accountId: AccountId,
  { organization: sent, byTexts }: Pick<Wanted, 'organization' | 'byTexts'>,
  findings: Findings,
) {
  const sentUsers = sent.data.users;
  const isDirectory = sent.isDirectory === true;
  const concerned = concernedBy(sent);
  // One connection runs these in order, so the lock comes first. Sending them together saves round trips.
  const [, account, groups, users, administrators, attributes] = await Promise.all([
    lockAccount(tx, accountId),
    byTexts || sentUsers?.some(hasRole) ? accountById(tx, accountId) : undefined,
    selectCurrentGroups(tx, accountId, isDirectory),
    sentUsers ? selectCurrentUsers(tx, accountId, isDirectory, concerned) : [],
    sentUsers ? selectAdministrators(tx, accountId, isDirectory) : [],
    attributesOf(tx, accountId),
  ]);
  // The fingerprints of texts have the roles.
  if (byTexts && !account?.rolesBySync) throw new NotByTexts();
  const tree = targetTreeOf(sent, groups);
  const compared = byTexts
    ? withoutUnchanged(byTexts, { users, administrators }, (name) => tree.targets.get(name)?.id ?? null)
    : sent;
  const organization = account && !account.rolesBySync ? withoutRoles(compared, findings) : compared;
  const current: CurrentState = {
    groups,
    users,
    before: pairUsers(organization, users),
    administrators,
    attributes,
  };
  const targetTree = tree;
  const inQuestion = usersInQuestion(organization, current, targetTree);
  const toCompare = inQuestion.map((i) => current.before[i]?.id).filter((id) => id !== undefined);
  const details = await selectUserDetails(tx, accountId, toCompare);
  const emails = wantedEmails(organization.data.users ?? [], current, { inQuestion, details });
  const owners = await selectEmailOwners(tx, accountId, [...emails.values()]);
  // Someone who is as before has an address that another one is sent with.
  if (owners.values().some((id) => organization.unchanged?.has(id))) throw new NotByTexts();
  if (concerned) await addOwners(tx, accountId, isDirectory, users, owners);
  matchOrganization(organization, current, targetTree, { inQuestion, details, owners }, findings);
  return { organization, current, targetTree, details, owners };
}

/**
 * Returns the users that a list which only adds and updates can change. For such a list, which may be a single user, the others are not read.
 * Undefined: the list concerns all users, because it removes those who are missing.
 */
function concernedBy({ data, partial, removes }: SentOrganization): { externalIds: string[] } | undefined {
  if (!partial?.includes('users')) return undefined;
  const listed = (data.users ?? []).map(({ externalId }) => externalId);
  // The database does not accept U+0000, which the stand-ins of users without an externalId have, and no real externalId.
  return { externalIds: [...listed, ...(removes?.users ?? [])].filter((id) => !id.includes('\0')) };
}

/** Adds the users who have an address that another one is to get, if they were not read. */
async function addOwners(
  tx: Transaction,
  accountId: AccountId,
  isDirectory: boolean,
  users: CurrentUser[],
  owners: ReadonlyMap<string, number>,
): Promise<void> {
  const known = new Set(users.map(({ id }) => id));
  const ids = [...owners.values()].filter((id) => !known.has(id));
  if (ids.length > 0) users.push(...(await selectCurrentUsers(tx, accountId, isDirectory, { ids })));
}

/** Returns the names of groups by externalId: as sent, otherwise as they currently are. */
export const namesOfGroups = (
  current: Pick<CurrentState, 'groups'>,
  { data }: Pick<SentOrganization, 'data'>,
): Map<string, string> =>
  new Map([
    ...current.groups.map(({ externalId, name }) => [externalId ?? '', name] as const),
    ...(data.groups ?? []).map(({ externalId, name }) => [externalId, name] as const),
  ]);

const hasRole = ({ accessInfo }: User) => accessInfo?.role !== undefined;

/** Returns the request without roles, with a warning if it has any. */
export function withoutRoles(organization: SentOrganization, findings: Findings): SentOrganization {
  const { users } = organization.data;
  const first = users?.findIndex(hasRole) ?? -1;
  if (!users || first < 0) return organization;
  findings.warn({
    type: 'roles ignored',
    message: 'Roles were ignored because this account does not allow requests and files to set them.',
    path: `/data/users/${positionOf(organization, first)}/accessInfo/role`,
  });
  const withoutRole = (user: User): User => {
    if (user.accessInfo?.role === undefined) return user;
    const { role: _, ...accessInfo } = user.accessInfo;
    return { ...user, accessInfo };
  };
  return { ...organization, data: { ...organization.data, users: users.map(withoutRole) } };
}

/** Records the result of a run, which is refused if there are faults, and returns it. */
async function endRun<T extends { outcome: Synchronized['outcome']; plan?: Plan }>(
  tx: Transaction,
  accountId: AccountId,
  { runId, organization }: Wanted,
  findings: Findings,
  end: T,
): Promise<Synchronized> {
  const refusal = findings.faultCount() > 0 ? requestFaultOf(findings) : undefined;
  const result = { ...end, ...(refusal && { refusal }) };
  await storeRunEnd(tx, accountId, runId, runEnd(organization.settings, findings, result));
  return result as Synchronized;
}

/**
 * Returns a digest of everything that a plan does. It includes ids, because a group created again under the same externalId is a different one.
 * Changes have the new values of updated people, except whether their role waits. The other values of their rows are left out, so that a
 * language that someone chooses meanwhile refuses nothing. Change the version with what is included: pending runs are then out of date.
 */
export const digestOfPlan = ({ changes, groups, users, memberships }: Plan): string => {
  const updated = users.update.map(({ id, rolePending }) => [id, rolePending]);
  return createHash('sha256')
    .update(JSON.stringify(['plan 2', changes, groups, users.create, updated, users.remove, memberships]))
    .digest('hex');
};

/** Adds a fault if a request names the plan of a dry run, but would make other changes. */
export function checkExpected({ expectedPlan }: Settings, digest: string, findings: Findings): void {
  if (expectedPlan === undefined || expectedPlan === digest) return;
  const message =
    'The request would make other changes than the plan in expectedPlan, because the data or the lists have changed since that dry ' +
    'run. Send a dry run again, and check its plan.';
  findings.fault({ type: 'unexpected plan', message, path: '/settings/expectedPlan' });
}

const planChanged = (runId: string) =>
  staleRun(
    `The data has changed or the service was upgraded since the changes of run ${runId} were shown, so the run could now make different changes. Upload the file again, or reload the page in a minute if the directory (SCIM) started the run.`,
  );

/** Returns the Fault for a pending run that can no longer be applied. */
export const staleRun = (message: string, details: Detail[] = []): Fault =>
  new Fault('conflict', 'plan changed', message, { details });
