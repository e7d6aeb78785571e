// Updates the managed users and groups of an account to match what was sent (§1.B, §3, §4.2). One transaction locks the
// account, reads the current state, checks the request and plans the changes. Then it stops (dry run or faults) or applies
// them. The report is the same in both cases.
import type { Report, Settings, Warning, User } from '@soundings/contract/organization.ts';
import {
  maxChangesCeiling,
  maxChangesDefault,
  maxOrganizationBodyBytes,
} from '@soundings/contract/limits.ts';
import { type Detail, type DetailType, detailTypes } from '@soundings/contract/problem.ts';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip as gunzipWithCallback } from 'node:zlib';
import { accountById, lockAccount, raiseVersion } from '../accounts/accounts.ts';
import { notePending } from '../auth/pending-administrators.ts';
import { Fault } from '../base/errors.ts';
import { type JsonValue, parseJson } from '../base/json.ts';
import { quote } from '../base/text.ts';
import { type AccountId, inTransaction, type Pool, type Transaction } from '../db/db.ts';
import type { DeleteGroupResults } from '../people/groups.ts';
import { attributesOf } from '../people/attributes.changes.ts';
import { applyPlan } from './apply.ts';
import { readOrganization, type SentOrganization } from './check.ts';
import { type Findings, newFindings } from './findings.ts';
import type { CurrentState, UserDetails } from './current-state.ts';
import { matchOrganization, wantedEmails } from './match.ts';
import { pairUsers, type Plan, planChanges, usersInQuestion } from './plan.ts';
import { storePendingRun } from './pending-runs.ts';
import { auditRun } from './runs.ts';
import {
  copyChanges,
  insertRun,
  type RunEnd,
  type RunStart,
  showProcessing,
  updateFailed,
  updateRun,
} from './runs.sql.ts';
import {
  selectAdministrators,
  selectEmailOwners,
  selectCurrentGroups,
  selectCurrentUsers,
  selectUserDetails,
  selectWeeksOfGroups,
} from './sync.sql.ts';
import { type TargetTree, targetTreeOf } from './target-tree.ts';
import { replacedGroups } from './replaced.ts';

const gunzip = promisify(gunzipWithCallback);

/** Where a run comes from. Its id is the id of the request. */
export type { RunStart };

/** What a push needs from layers above. `isGone` returns whether the client has disconnected, so that no changes are begun. */
export type PushHooks = { deleteGroupResults: DeleteGroupResults; isGone?: () => boolean };

/** The body of a request as it was sent. */
export type SentBody = { bytes: Uint8Array; gzip: boolean };

/**
 * Processes the body of an organization request and records it as a run. Returns the report. Throws a Fault that lists every
 * fault of the request; then nothing was applied.
 */
export async function pushOrganization(
  pool: Pool,
  accountId: AccountId,
  run: RunStart,
  body: SentBody,
  { deleteGroupResults, isGone }: PushHooks,
): Promise<Report> {
  const findings = newFindings();
  const organization = await readBody(body, findings).catch(async (tooLarge: Fault) => {
    await insertRun(pool, accountId, {
      ...run,
      ...runEnd({}, findings, { outcome: 'refused', refusal: tooLarge }),
    });
    await auditRun(pool, accountId, run.id);
    throw tooLarge;
  });
  // The list of faults is full, so there is no need to look for more.
  if (!organization || findings.isFull()) {
    const refusal = refusalOf(findings);
    await insertRun(pool, accountId, {
      ...run,
      ...runEnd(organization?.settings ?? {}, findings, { outcome: 'refused', refusal }),
    });
    await auditRun(pool, accountId, run.id);
    throw refusal;
  }
  // From here on the run is stored. If the process is killed, `endLostRuns` marks it as failed.
  await insertRun(pool, accountId, {
    ...run,
    ...runEnd(organization.settings, findings, { outcome: 'processing' }),
  });
  const { refusal, plan } = await inTransaction(pool, async (tx) => {
    await showProcessing(tx, accountId, run.id);
    return synchronize(tx, accountId, { runId: run.id, organization, deleteGroupResults, isGone }, findings);
  }).catch(async (error: unknown) => {
    await updateFailed(pool, accountId, run.id, null).catch(() => {}); // if this fails, `endLostRuns` marks the run
    throw error;
  });
  if (refusal) throw refusal;
  const applied = organization.settings.validateOnly === false;
  return {
    id: run.id,
    validateOnly: !applied,
    applied,
    summary: plan.summary,
    changes: plan.changes,
    warnings: findings.warnings(),
  };
}

async function readBody(
  { bytes, gzip }: SentBody,
  findings: Findings,
): Promise<SentOrganization | undefined> {
  const json = gzip ? await decompress(bytes, findings) : bytes;
  const parsed = json && parseJson(json);
  if (parsed && 'value' in parsed) return readOrganization(parsed.value, findings);
  if (parsed) findings.fault(parsed.fault);
  return undefined;
}

async function decompress(bytes: Uint8Array, findings: Findings): Promise<Uint8Array | undefined> {
  try {
    return await gunzip(bytes, { maxOutputLength: maxOrganizationBodyBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw new Fault(
        'too_large',
        'too large',
        'The decompressed body is larger than 64 MB. Send a smaller request.',
      );
    }
    const message =
      'The body could not be decompressed as gzip. Send gzip data, or remove the Content-Encoding header.';
    findings.fault({ type: 'invalid gzip', message, path: '' });
    return undefined;
  }
}

/** The requested state of an account, and how to apply it. */
export type Wanted = {
  runId: string;
  organization: SentOrganization;
  deleteGroupResults: DeleteGroupResults;
  isGone?: PushHooks['isGone'];
  /** What to do if there are more changes than the settings allow: refuse them (the default), hold them for approval, or apply them. */
  beyondLimits?: 'refuse' | 'hold' | 'apply';
  /** The digest of the changes that were shown for a pending run. Other changes are not applied. */
  shown?: string;
};

/** The result. A refusal is returned rather than thrown, so that the transaction commits the run that records it. */
export type Synchronized =
  | { outcome: 'validated' | 'applied'; plan: Plan; refusal?: undefined }
  | { outcome: 'held'; plan: Plan; refusal: Fault }
  | { outcome: 'refused'; plan?: Plan; refusal: Fault };

/**
 * Updates an account to the requested state, or returns why it can't, and ends the run, in the caller's transaction. Throws a
 * Fault (conflict) if a pending run would now make different changes than were shown.
 */
async function synchronize(
  tx: Transaction,
  accountId: AccountId,
  wanted: Wanted,
  findings: Findings,
): Promise<Synchronized> {
  const { runId } = wanted;
  const organization = await withAllowedRoles(tx, accountId, wanted.organization, findings);
  const { current, targetTree, details, owners } = await matchWithHeld(tx, accountId, organization, findings);
  // The client may have left while the request waited for the lock on the account.
  if (wanted.isGone?.()) throw new Fault('unavailable', 'unavailable', 'The client has disconnected.');
  if (findings.faultCount() > 0) return endRun(tx, accountId, wanted, findings, { outcome: 'refused' });

  const plan = planChanges(organization, current, targetTree, details);
  if (wanted.shown !== undefined && wanted.shown !== digestOf(plan)) throw planChanged(runId);
  if (wanted.beyondLimits !== 'apply') checkLimits(organization.settings, plan, findings);
  const isApplied = organization.settings.validateOnly === false;
  const groupNames = namesOfGroups(current, organization);
  const pending = pendingIn(plan, details);
  warnOfPending(pending, organization, findings);
  warnOfNewIds(plan, owners, organization, findings);
  warnOfNewGroupIds(plan, targetTree, organization, findings);
  await warnOfHistory(tx, accountId, plan, targetTree, findings);
  warnOfAuditors(plan, organization, findings);
  if (findings.faultCount() > 0) {
    const isHeld = isApplied && wanted.beyondLimits === 'hold';
    // The changes of a refused run are stored too: they show whether the list was complete.
    if (isHeld)
      await storePendingRun(tx, accountId, runId, organization, { plan, digest: digestOf(plan), groupNames });
    else await copyChanges(tx, accountId, runId, plan.changes, groupNames);
    return endRun(tx, accountId, wanted, findings, { outcome: isHeld ? 'held' : 'refused', plan });
  }
  for (const { id } of plan.groups.moveUp) {
    const { externalId, name } = targetTree.byId.get(id) ?? { externalId: null, name: '' };
    const message = `The manual group ${JSON.stringify(name)} (${externalId ?? id}) moves up a level because its parent group is removed.`;
    findings.warn({ type: 'moved up', message });
  }
  if (isApplied) {
    await applyPlan(tx, accountId, organization, targetTree, plan);
    await wanted.deleteGroupResults(tx, accountId, plan.groups.remove);
    await notePending(tx, accountId, pending);
    if (plan.changes.length > 0) await raiseVersion(tx, accountId);
  }
  // The changes of a pending run are already stored.
  if (wanted.shown === undefined) await copyChanges(tx, accountId, runId, plan.changes, groupNames);
  const setsTree = isApplied && organization.data.groups ? targetTree.speaksOfTree : null;
  return endRun(tx, accountId, wanted, findings, {
    outcome: isApplied ? 'applied' : 'validated',
    plan,
    setsTree,
  });
}

/** The content of a file in the format of an organization request. `partial`: the lists that only add and update. */
export type SentByFile = {
  settings: Settings;
  data: JsonValue;
  partial: readonly ('users' | 'groups')[];
};

/** Like `synchronize`, for the content of a file. Its values are checked like those of a request, in the transaction that ends its run. */
export async function synchronizeFile(
  tx: Transaction,
  accountId: AccountId,
  { settings, data, partial }: SentByFile,
  wanted: Omit<Wanted, 'organization'>,
  findings: Findings,
): Promise<Synchronized> {
  const read = readOrganization({ settings, data } as JsonValue, findings);
  if (!read || findings.isFull()) return rejectInvalidRun(tx, accountId, wanted.runId, settings, findings);
  return synchronize(tx, accountId, { ...wanted, organization: { ...read, partial } }, findings);
}

/** Ends a run with faults as refused. */
export async function rejectInvalidRun(
  tx: Transaction,
  accountId: AccountId,
  runId: string,
  settings: Settings,
  findings: Findings,
): Promise<Synchronized> {
  const refusal = refusalOf(findings);
  await updateRun(tx, accountId, runId, runEnd(settings, findings, { outcome: 'refused', refusal }));
  await auditRun(tx, accountId, runId);
  return { outcome: 'refused', refusal };
}

/** Locks the account, reads its current state and checks the request against it. */
async function matchWithHeld(
  tx: Transaction,
  accountId: AccountId,
  organization: SentOrganization,
  findings: Findings,
) {
  const sentUsers = organization.data.users;
  // One connection runs these in order, so the lock comes first. Sending them together saves round trips.
  const [, groups, users, administrators, attributes] = await Promise.all([
    lockAccount(tx, accountId),
    selectCurrentGroups(tx, accountId),
    sentUsers ? selectCurrentUsers(tx, accountId) : [],
    sentUsers ? selectAdministrators(tx, accountId) : [],
    attributesOf(tx, accountId),
  ]);
  const current: CurrentState = {
    groups,
    users,
    before: pairUsers(organization, users),
    administrators,
    attributes,
  };
  const targetTree = targetTreeOf(organization, groups);
  const inQuestion = usersInQuestion(organization, current, targetTree);
  const toCompare = inQuestion.map((i) => current.before[i]?.id).filter((id) => id !== undefined);
  const details = await selectUserDetails(tx, accountId, toCompare);
  const emails = wantedEmails(sentUsers ?? [], current, { inQuestion, details });
  const owners = await selectEmailOwners(tx, accountId, [...emails.values()]);
  matchOrganization(organization, current, targetTree, { inQuestion, details, owners }, findings);
  return { current, targetTree, details, owners };
}

/** Returns the names of groups by externalId: as sent, otherwise as they currently are. */
const namesOfGroups = (current: CurrentState, { data }: SentOrganization): Map<string, string> =>
  new Map([
    ...current.groups.map(({ externalId, name }) => [externalId ?? '', name] as const),
    ...(data.groups ?? []).map(({ externalId, name }) => [externalId, name] as const),
  ]);

/** Warns if a user is removed while a new user has the same email address. `owners`: the id of the user with each address. */
function warnOfNewIds(
  { users }: Plan,
  owners: ReadonlyMap<string, number>,
  { places }: SentOrganization,
  findings: Findings,
): void {
  if (users.remove.length === 0 || owners.size === 0) return;
  const removed = new Map(users.remove.map(({ id, externalId }) => [id, externalId]));
  for (const { externalId: arrivesAs, emailKey } of users.create) {
    const externalId = removed.get(owners.get(emailKey ?? '') ?? 0);
    if (externalId === undefined) continue;
    const message =
      `User ${quote(externalId)} is removed, and new user ${quote(arrivesAs)} has the same email address. ` +
      'If they are the same person, keep the old externalId.';
    const path = `/data/users/${places.users.get(arrivesAs)}/externalId`;
    findings.warn({ type: 'new externalId', message, path, externalId, arrivesAs });
  }
}

/** Warns if a group is removed while a new group seems to be the same one. */
function warnOfNewGroupIds(
  plan: Plan,
  targetTree: TargetTree,
  { places }: SentOrganization,
  findings: Findings,
): void {
  for (const [id, { externalId: arrivesAs }] of replacedGroups(plan, targetTree)) {
    const externalId = targetTree.byId.get(id)?.externalId ?? '';
    findings.warn(() => ({
      type: 'new externalId',
      message:
        `Group ${quote(externalId)} is removed, and new group ${quote(arrivesAs)} has the same name and parent. ` +
        'If they are the same group, keep the old externalId. A new group starts without history.',
      path: `/data/groups/${places.groups.get(arrivesAs)}/externalId`,
      entity: 'group',
      externalId,
      arrivesAs,
    }));
  }
}

/** Warns for each removed group that has results, which are deleted with it. */
async function warnOfHistory(
  tx: Transaction,
  accountId: AccountId,
  { groups }: Plan,
  { byId }: TargetTree,
  findings: Findings,
): Promise<void> {
  for (const { id, weeks } of await selectWeeksOfGroups(tx, accountId, groups.remove)) {
    const externalId = byId.get(id)?.externalId ?? '';
    findings.warn(() => ({
      type: 'history deleted',
      message:
        `Group ${quote(externalId)} is removed together with its results for ` +
        `${weeks === 1 ? '1 week' : `${weeks} weeks`}. They can't be restored.`,
      entity: 'group',
      externalId,
      weeks,
    }));
  }
}

/** Returns the request, without roles if the account doesn't allow pushes and files to set them. */
async function withAllowedRoles(
  tx: Transaction,
  accountId: AccountId,
  organization: SentOrganization,
  findings: Findings,
): Promise<SentOrganization> {
  const { users } = organization.data;
  const first = users?.findIndex(({ accessInfo }) => accessInfo?.role !== undefined) ?? -1;
  if (!users || first < 0) return organization;
  await lockAccount(tx, accountId);
  if ((await accountById(tx, accountId)).rolesBySync) return organization;
  findings.warn({
    type: 'roles ignored',
    message: 'Roles were ignored because this account does not allow requests and files to set them.',
    path: `/data/users/${first}/accessInfo/role`,
  });
  const withoutRole = (user: User): User => {
    if (user.accessInfo?.role === undefined) return user;
    const { role: _, ...accessInfo } = user.accessInfo;
    return { ...user, accessInfo };
  };
  return { ...organization, data: { ...organization.data, users: users.map(withoutRole) } };
}

/** Returns the externalIds of users whose role becomes pending, or whose address changes while it is pending. */
function pendingIn({ users }: Plan, details: ReadonlyMap<number, UserDetails>): string[] {
  const becomes = users.update.filter(({ id, rolePending, emailKey }) => {
    const before = details.get(id);
    return rolePending && !(before?.rolePending && before.emailKey === emailKey);
  });
  return [...users.create.filter(({ rolePending }) => rolePending), ...becomes].map(
    ({ externalId }) => externalId,
  );
}

/** Warns for each new Administrator, who has the rights of a User until an administrator confirms the role. */
function warnOfPending(pending: string[], { places }: SentOrganization, findings: Findings): void {
  for (const externalId of pending) {
    findings.warn(() => ({
      type: 'administrator pending',
      message:
        `User ${quote(externalId)} becomes an Administrator, or is one and gets another email address. ` +
        'An administrator must confirm this in the console. Until then, the user has the rights of a User.',
      path: `/data/users/${places.users.get(externalId)}/accessInfo/role`,
      externalId,
    }));
  }
}

/** Warns for each user who loses the role Auditor. It can only be given in the console, so any role that is sent replaces it. */
function warnOfAuditors({ changes }: Plan, { places }: SentOrganization, findings: Findings): void {
  for (const { entity, externalId, fields } of changes) {
    const role = entity === 'user' ? fields?.['role'] : undefined;
    if (role?.from !== 'Auditor') continue;
    const message =
      `The role of user ${quote(externalId)} changes from Auditor to ${quote(String(role.to))}. ` +
      'To keep the role that was set in the console, leave the role out of the request.';
    const path = `/data/users/${places.users.get(externalId)}/accessInfo/role`;
    findings.warn({ type: 'auditor replaced', message, path, externalId });
  }
}

async function endRun<T extends { outcome: Synchronized['outcome']; plan?: Plan }>(
  tx: Transaction,
  accountId: AccountId,
  { runId, organization }: Wanted,
  findings: Findings,
  end: T,
): Promise<Synchronized> {
  const refusal = findings.faultCount() > 0 ? refusalOf(findings) : undefined;
  await updateRun(
    tx,
    accountId,
    runId,
    runEnd(organization.settings, findings, { ...end, ...(refusal && { refusal }) }),
  );
  await auditRun(tx, accountId, runId);
  return { ...end, ...(refusal && { refusal }) } as Synchronized;
}

/** Returns a digest of everything that a plan does. It includes ids, because a group created again under the same externalId is a different one. */
const digestOf = ({ changes, groups, users }: Plan): string =>
  createHash('sha256')
    .update(JSON.stringify([changes, groups, users.remove, users.update.map(({ id }) => id)]))
    .digest('hex');

const planChanged = (runId: string) =>
  new Fault(
    'conflict',
    'plan changed',
    `Run ${runId} would now make different changes than were shown, because the data has changed in the meantime. Upload the file again.`,
  );

const limits = [
  ['maxUsersCreated', 'users', 'created', 'create'],
  ['maxUsersUpdated', 'users', 'updated', 'update'],
  ['maxUsersDeleted', 'users', 'deleted', 'delete'],
  ['maxGroupsCreated', 'groups', 'created', 'create'],
  ['maxGroupsUpdated', 'groups', 'updated', 'update'],
  ['maxGroupsDeleted', 'groups', 'deleted', 'delete'],
] as const;

function checkLimits(settings: Settings, plan: Plan, findings: Findings): void {
  for (const [setting, kind, counted, verb] of limits) {
    const limit = settings[setting] ?? maxChangesDefault;
    const count = plan.summary[kind][counted];
    if (count <= limit) continue;
    const remedy =
      count <= maxChangesCeiling
        ? `If this is intended, set ${setting} to ${count} or more.`
        : `If this is intended, make the change in steps: ${setting} can be at most ${maxChangesCeiling}.`;
    const message = `The request would ${verb} ${count} ${kind}, but ${setting} allows only ${limit}. ${remedy}`;
    findings.fault({ type: 'limit exceeded', message, path: `/settings/${setting}`, setting, limit, count });
  }
}

function refusalOf(findings: Findings): Fault {
  const count = findings.faultCount();
  const details = findings.faults();
  const first = details[0] as { type: DetailType; message: string };
  const message =
    count === 1
      ? `Nothing was applied: ${first.message}`
      : `Nothing was applied: the request has ${count} errors. First error: ${first.message}`;
  return new Fault('invalid', first.type, message, { details });
}

function runEnd(
  settings: Settings,
  findings: Findings,
  end: { outcome: RunEnd['outcome']; refusal?: Fault; plan?: Plan; setsTree?: boolean | null },
): RunEnd {
  return {
    validateOnly: settings.validateOnly !== false,
    outcome: end.outcome,
    message: messageOf(end.outcome, findings),
    settings,
    summary: end.plan?.summary ?? null,
    warnings: findings.warnings().map(withoutValue),
    details: end.refusal?.details.map(withoutValue) ?? null,
    setsTree: end.setsTree ?? null,
  };
}

function messageOf(outcome: RunEnd['outcome'], findings: Findings): string | null {
  if (outcome === 'held')
    return 'This run would make more changes than allowed. Nothing is applied until an administrator approves it.';
  if (outcome === 'refused') {
    const count = findings.faultCount();
    return `Refused because of ${count === 1 ? '1 error' : `${count} errors`}. Nothing was applied.`;
  }
  return null;
}

// Messages of these types quote personal data. If the person never becomes a user, it would never be erased.
const quoting = [
  'invalid email',
  'invalid phone',
  'invalid timezone',
  'invalid language',
  'value not allowed',
] as const;

/** Returns a fault or warning as a run stores it: with its path, but without the value. */
function withoutValue<T extends Detail | Warning>(found: T): T {
  const type = quoting.find((one) => one === found.type);
  const { value: _, ...placed } = found as T & { value?: string };
  return (type ? { ...placed, message: detailTypes[type] } : placed) as T;
}
