// Makes the managed users and groups of an account match what was sent (§1.B, §3, §4.2). One transaction: lock the
// account, read what is held, match, plan; then stop (dry run or faults) or apply. The report is the same for both.
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
import { notePending } from '../accounts/pending-administrators.ts';
import { Fault } from '../base/errors.ts';
import { type JsonValue, parseJson } from '../base/json.ts';
import { quote } from '../base/text.ts';
import { type AccountId, inTransaction, type Pool, type Transaction } from '../db/db.ts';
import type { ForgetGroups } from '../people/groups.ts';
import { attributesOf } from '../people/people.ts';
import { applyPlan } from './apply.ts';
import { readOrganization, type SentOrganization } from './check.ts';
import { type Findings, newFindings } from './findings.ts';
import type { Held, UserDetails } from './held.ts';
import { matchOrganization, wantedEmails } from './match.ts';
import { pairUsers, type Plan, planChanges, usersInQuestion } from './plan.ts';
import { holdRun } from './held-runs.ts';
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
  selectHeldGroups,
  selectHeldUsers,
  selectUserDetails,
  selectWeeksOfGroups,
} from './sync.sql.ts';
import { type Landscape, landscapeOf } from './landscape.ts';
import { replacedGroups } from './replaced.ts';

const gunzip = promisify(gunzipWithCallback);

/** Where a run comes from: its id is the request's. */
export type { RunStart };

/** What a push asks of others. `isGone`: whether the client has left, so that changes that have not begun must not begin. */
export type PushHooks = { forgetGroups: ForgetGroups; isGone?: () => boolean };

/** The body of a request as it was sent. */
export type SentBody = { bytes: Uint8Array; gzip: boolean };

/**
 * Takes the body of an organization request. Every call is kept as a run. Returns the report; throws a Fault with
 * every fault of the request, and then nothing has been applied.
 */
export async function pushOrganization(
  pool: Pool,
  accountId: AccountId,
  run: RunStart,
  body: SentBody,
  { forgetGroups, isGone }: PushHooks,
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
  // With as many faults as can be listed, there is no use in looking for more.
  if (!organization || findings.isFull()) {
    const refusal = refusalOf(findings);
    await insertRun(pool, accountId, {
      ...run,
      ...runEnd(organization?.settings ?? {}, findings, { outcome: 'refused', refusal }),
    });
    await auditRun(pool, accountId, run.id);
    throw refusal;
  }
  // From here on the run is there. If the process is killed, `endLostRuns` ends it.
  await insertRun(pool, accountId, {
    ...run,
    ...runEnd(organization.settings, findings, { outcome: 'processing' }),
  });
  const { refusal, plan } = await inTransaction(pool, async (tx) => {
    await showProcessing(tx, accountId, run.id);
    return synchronize(tx, accountId, { runId: run.id, organization, forgetGroups, isGone }, findings);
  }).catch(async (error: unknown) => {
    await updateFailed(pool, accountId, run.id, null).catch(() => {}); // then `endLostRuns` ends it
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
  const unpacked = gzip ? await unpack(bytes, findings) : bytes;
  const parsed = unpacked && parseJson(unpacked);
  if (parsed && 'value' in parsed) return readOrganization(parsed.value, findings);
  if (parsed) findings.fault(parsed.fault);
  return undefined;
}

async function unpack(bytes: Uint8Array, findings: Findings): Promise<Uint8Array | undefined> {
  try {
    return await gunzip(bytes, { maxOutputLength: maxOrganizationBodyBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw new Fault('too_large', 'too large', 'The unpacked body is larger than 64 MB. Send less at once.');
    }
    const message = 'The body is announced as gzip and cannot be unpacked.';
    findings.fault({ type: 'invalid gzip', message, path: '' });
    return undefined;
  }
}

/** What is to become the state of an account, and how. */
export type Wanted = {
  runId: string;
  organization: SentOrganization;
  forgetGroups: ForgetGroups;
  isGone?: PushHooks['isGone'];
  /** Whether more changes than the settings allow are refused (unless said otherwise), held, or made all the same. */
  beyondLimits?: 'refuse' | 'hold' | 'apply';
  /** What was shown of a held run: no other changes are made. */
  shown?: string;
};

/** What came of it. A refusal is a value here, so that the transaction commits with the run that says so. */
export type Synchronized =
  | { outcome: 'validated' | 'applied'; plan: Plan; refusal?: undefined }
  | { outcome: 'held'; plan: Plan; refusal: Fault }
  | { outcome: 'refused'; plan?: Plan; refusal: Fault };

/**
 * Makes the state of an account what is wanted, or says why not, in the transaction of the caller, and ends the run. Throws
 * a Fault (conflict) when a held run would change other things than were shown.
 */
async function synchronize(
  tx: Transaction,
  accountId: AccountId,
  wanted: Wanted,
  findings: Findings,
): Promise<Synchronized> {
  const { runId } = wanted;
  const organization = await withAllowedRoles(tx, accountId, wanted.organization, findings);
  const { held, landscape, details, owners } = await matchWithHeld(tx, accountId, organization, findings);
  // It may have waited for long until the account was free.
  if (wanted.isGone?.()) throw new Fault('unavailable', 'unavailable', 'The client has left.');
  if (findings.faultCount() > 0) return endRun(tx, accountId, wanted, findings, { outcome: 'refused' });

  const plan = planChanges(organization, held, landscape, details);
  if (wanted.shown !== undefined && wanted.shown !== digestOf(plan)) throw planChanged(runId);
  if (wanted.beyondLimits !== 'apply') checkLimits(organization.settings, plan, findings);
  const isApplied = organization.settings.validateOnly === false;
  const groupNames = namesOfGroups(held, organization);
  const pending = pendingIn(plan, details);
  warnOfPending(pending, organization, findings);
  warnOfNewIds(plan, owners, organization, findings);
  warnOfNewGroupIds(plan, landscape, organization, findings);
  await warnOfHistory(tx, accountId, plan, landscape, findings);
  warnOfAuditors(plan, organization, findings);
  if (findings.faultCount() > 0) {
    const isHeld = isApplied && wanted.beyondLimits === 'hold';
    // Also what is refused can be looked at: it tells whether the list was whole.
    if (isHeld)
      await holdRun(tx, accountId, runId, organization, { plan, digest: digestOf(plan), groupNames });
    else await copyChanges(tx, accountId, runId, plan.changes, groupNames);
    return endRun(tx, accountId, wanted, findings, { outcome: isHeld ? 'held' : 'refused', plan });
  }
  for (const { id } of plan.groups.moveUp) {
    const { externalId, name } = landscape.byId.get(id) ?? { externalId: null, name: '' };
    const message = `The group ${JSON.stringify(name)} (${externalId ?? id}), made by hand, moves up: the group above it is removed.`;
    findings.warn({ type: 'moved up', message });
  }
  if (isApplied) {
    await applyPlan(tx, accountId, organization, landscape, plan);
    await wanted.forgetGroups(tx, accountId, plan.groups.remove);
    await notePending(tx, accountId, pending);
    if (plan.changes.length > 0) await raiseVersion(tx, accountId);
  }
  // What was shown of a held run is there already.
  if (wanted.shown === undefined) await copyChanges(tx, accountId, runId, plan.changes, groupNames);
  const setsTree = isApplied && organization.data.groups ? landscape.speaksOfTree : null;
  return endRun(tx, accountId, wanted, findings, {
    outcome: isApplied ? 'applied' : 'validated',
    plan,
    setsTree,
  });
}

/** What a file says, or said: as an organization request has it, and which of its lists only add and update. */
export type SentByFile = {
  settings: Settings;
  data: JsonValue;
  partial: readonly ('users' | 'groups')[];
};

/** The same for what a file says, in the transaction that ends its run: its values are checked as those of a request. */
export async function synchronizeFile(
  tx: Transaction,
  accountId: AccountId,
  { settings, data, partial }: SentByFile,
  wanted: Omit<Wanted, 'organization'>,
  findings: Findings,
): Promise<Synchronized> {
  const read = readOrganization({ settings, data } as JsonValue, findings);
  if (!read || findings.isFull()) return refuseRun(tx, accountId, wanted.runId, settings, findings);
  return synchronize(tx, accountId, { ...wanted, organization: { ...read, partial } }, findings);
}

/** Ends a run that has faults. */
export async function refuseRun(
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

/** Reads what is held of the account, locked, and finds whether what is wanted fits it. */
async function matchWithHeld(
  tx: Transaction,
  accountId: AccountId,
  organization: SentOrganization,
  findings: Findings,
) {
  const sentUsers = organization.data.users;
  // One connection does these one after another, so the lock comes first; sent together, they do not wait for us.
  const [, groups, users, administrators, attributes] = await Promise.all([
    lockAccount(tx, accountId),
    selectHeldGroups(tx, accountId),
    sentUsers ? selectHeldUsers(tx, accountId) : [],
    sentUsers ? selectAdministrators(tx, accountId) : [],
    attributesOf(tx, accountId),
  ]);
  const held: Held = { groups, users, before: pairUsers(organization, users), administrators, attributes };
  const landscape = landscapeOf(organization, groups);
  const inQuestion = usersInQuestion(organization, held, landscape);
  const toCompare = inQuestion.map((i) => held.before[i]?.id).filter((id) => id !== undefined);
  const details = await selectUserDetails(tx, accountId, toCompare);
  const emails = wantedEmails(sentUsers ?? [], held, { inQuestion, details });
  const owners = await selectEmailOwners(tx, accountId, [...emails.values()]);
  matchOrganization(organization, held, landscape, { inQuestion, details, owners }, findings);
  return { held, landscape, details, owners };
}

/** What groups are called: as was sent, else as they are held. */
const namesOfGroups = (held: Held, { data }: SentOrganization): Map<string, string> =>
  new Map([
    ...held.groups.map(({ externalId, name }) => [externalId ?? '', name] as const),
    ...(data.groups ?? []).map(({ externalId, name }) => [externalId, name] as const),
  ]);

/** Warns of users who are removed while a new one has their e-mail address. `owners`: whose each address is, by id. */
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
      `The user ${quote(externalId)} is removed, and ${quote(arrivesAs)} is new with the same e-mail address. ` +
      'If they are one person, keep the old externalId.';
    const path = `/data/users/${places.users.get(arrivesAs)}/externalId`;
    findings.warn({ type: 'new externalId', message, path, externalId, arrivesAs });
  }
}

/** Warns of groups that are removed while a new one seems to be the same. */
function warnOfNewGroupIds(
  plan: Plan,
  landscape: Landscape,
  { places }: SentOrganization,
  findings: Findings,
): void {
  for (const [id, { externalId: arrivesAs }] of replacedGroups(plan, landscape)) {
    const externalId = landscape.byId.get(id)?.externalId ?? '';
    findings.warn(() => ({
      type: 'new externalId',
      message:
        `The group ${quote(externalId)} is removed, and ${quote(arrivesAs)} is new with the same name and parent. ` +
        'If they are one group, keep the old externalId: a new one starts without history.',
      path: `/data/groups/${places.groups.get(arrivesAs)}/externalId`,
      entity: 'group',
      externalId,
      arrivesAs,
    }));
  }
}

/** Warns of each removed group that has results: they are deleted with it. */
async function warnOfHistory(
  tx: Transaction,
  accountId: AccountId,
  { groups }: Plan,
  { byId }: Landscape,
  findings: Findings,
): Promise<void> {
  for (const { id, weeks } of await selectWeeksOfGroups(tx, accountId, groups.remove)) {
    const externalId = byId.get(id)?.externalId ?? '';
    findings.warn(() => ({
      type: 'history deleted',
      message:
        `The group ${quote(externalId)} is removed, and with it its results of ` +
        `${weeks === 1 ? '1 week' : `${weeks} weeks`}. They cannot be restored.`,
      entity: 'group',
      externalId,
      weeks,
    }));
  }
}

/** What was sent, without roles if the account does not let pushes and files set them. */
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
    message: 'Roles are ignored: this account does not let requests and files set them.',
    path: `/data/users/${first}/accessInfo/role`,
  });
  const withoutRole = (user: User): User => {
    if (user.accessInfo?.role === undefined) return user;
    const { role: _, ...accessInfo } = user.accessInfo;
    return { ...user, accessInfo };
  };
  return { ...organization, data: { ...organization.data, users: users.map(withoutRole) } };
}

/** The externalIds of those whose role becomes pending, or whose address changes while it is. */
function pendingIn({ users }: Plan, details: ReadonlyMap<number, UserDetails>): string[] {
  const becomes = users.update.filter(({ id, rolePending, emailKey }) => {
    const before = details.get(id);
    return rolePending && !(before?.rolePending && before.emailKey === emailKey);
  });
  return [...users.create.filter(({ rolePending }) => rolePending), ...becomes].map(
    ({ externalId }) => externalId,
  );
}

/** Warns of users who have the rights of a User until an administrator confirms that they are one. */
function warnOfPending(pending: string[], { places }: SentOrganization, findings: Findings): void {
  for (const externalId of pending) {
    findings.warn(() => ({
      type: 'administrator pending',
      message:
        `The user ${quote(externalId)} becomes an Administrator, or is one and gets another e-mail address. ` +
        'An administrator must confirm this in the console. Until then the user has the rights of a User.',
      path: `/data/users/${places.users.get(externalId)}/accessInfo/role`,
      externalId,
    }));
  }
}

/** Warns of users who lose the role Auditor: only the console gives it, so a role that is sent always replaces it. */
function warnOfAuditors({ changes }: Plan, { places }: SentOrganization, findings: Findings): void {
  for (const { entity, externalId, fields } of changes) {
    const role = entity === 'user' ? fields?.['role'] : undefined;
    if (role?.from !== 'Auditor') continue;
    const message =
      `The user ${quote(externalId)} is an Auditor, and becomes ${quote(String(role.to))}. ` +
      'To keep the role that was given in the console, leave the role out.';
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

/** Of everything that a plan does, by ids too: a group that was made anew under the same externalId is another one. */
const digestOf = ({ changes, groups, users }: Plan): string =>
  createHash('sha256')
    .update(JSON.stringify([changes, groups, users.remove, users.update.map(({ id }) => id)]))
    .digest('hex');

const planChanged = (runId: string) =>
  new Fault(
    'conflict',
    'plan changed',
    `The run ${runId} would now change other things than were shown: something has changed since. Send the file again.`,
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
        ? `If that is intended, set ${setting} to ${count} or more.`
        : `${setting} can be at most ${maxChangesCeiling}. If that is intended, make the change in steps.`;
    const message = `The request would ${verb} ${count} ${kind}; ${setting} allows ${limit}. ${remedy}`;
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
      : `Nothing was applied: the request has ${count} faults. The first: ${first.message}`;
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
    return 'It would change more than is allowed: nothing is applied until it is approved.';
  if (outcome === 'refused') return `Refused for ${findings.faultCount()} faults; nothing was applied.`;
  return null;
}

// Their messages quote what was sent of a person, who may never come to be a user and so never be erased.
const quoting = [
  'invalid email',
  'invalid phone',
  'invalid timezone',
  'invalid language',
  'value not allowed',
] as const;

/** A fault or warning as a run keeps it: with its place, but without the value. */
function withoutValue<T extends Detail | Warning>(found: T): T {
  const type = quoting.find((one) => one === found.type);
  const { value: _, ...placed } = found as T & { value?: string };
  return (type ? { ...placed, message: detailTypes[type] } : placed) as T;
}
