// Processes the parts of a push as one request, in one transaction, with the memory of one part: a request of a million people would need
// gigabytes. It reads the parts one after another, checks and plans each, and stores what is to be written; what concerns several parts is
// compared in the database. Only when everything is checked, and if the changes are to be applied, they are written.
import { isDryRun } from '@soundings/contract/dry-run.ts';
import { maxFaultsListed, mostUnappliedChanges } from '@soundings/contract/limits.ts';
import type { Change, Counts, Settings, Summary, User } from '@soundings/contract/organization.ts';
import { createHash } from 'node:crypto';
import { lockAccount } from '../../accounts/accounts.ts';
import { raiseVersion } from '../../accounts/accounts.sql.ts';
import { notePending } from '../../auth/pending-administrators.ts';
import { Fault } from '../../base/errors.ts';
import { type AccountId, inTransaction, type Pool, type Transaction } from '../../db/db.ts';
import type { DeleteGroupResults } from '../../people/groups.ts';
import { newGroupIds, removeUsers, writeGroups, writeUsers } from '../apply.ts';
import { checkLimits, exceededChangeLimits } from '../change-limits.ts';
import { duplicateFault, positionOf } from '../check.ts';
import type { Administrator } from '../current-state.ts';
import { type Findings, newFindings } from '../findings.ts';
import { matchAdministrators, matchGroups, matchUsers, staysAdministrated, wantedEmails } from '../match.ts';
import {
  pendingIn,
  warnOfAuditors,
  warnOfHistory,
  warnOfMovedGroups,
  warnOfNewGroupIds,
  warnOfPending,
} from '../plan-warnings.ts';
import { emptyPlan, type Plan, planChanges } from '../plan.ts';
import { canBeRemembered, rememberRepeated, repeatedIn, summaryOfRepeated } from '../repeated/repeated.ts';
import { requestFaultOf, runEnd } from '../run-end.ts';
import {
  copyChanges,
  deleteChanges,
  deleteUnappliedChanges,
  insertRemovals,
  showProcessing,
  updateFailed,
} from '../runs.sql.ts';
import { storeRunEnd } from '../runs.ts';
import { deleteGroups, selectWeeksOfGroups } from '../sync.sql.ts';
import { checkExpected } from '../sync.ts';
import {
  type CommitOfPush,
  type ComparedPart,
  comparePart,
  openScene,
  type Scene,
  sentDigest,
} from './commit-scene.ts';
import { refuseWithoutTemporaryTables } from './parts.ts';
import { deleteParts, isProcessed, lockPushRow, updatePushReport } from './parts.sql.ts';
import { readWrites, storeWrites } from './planned-writes.ts';
import { createPlannedWrites } from './planned-writes.sql.ts';
import type { SeenUsers } from './seen-users.ts';
import {
  analyzeSentPeople,
  clearSentEmails,
  copySentPeople,
  createSentPeople,
  noteRemovedPeople,
  selectExternalIds,
  selectRemovedPeople,
  selectRepeatedIds,
} from './sent-people.sql.ts';
import { keepTextsOfParts } from '../texts/sent-texts.sql.ts';
import { matchAllEmails } from './shared-emails.ts';
import { readStoredPart } from './store-part.ts';

/** Processes a push whose run has begun. Throws if it could not be processed: then nothing was applied. */
export async function commitPush(
  pool: Pool,
  accountId: AccountId,
  commit: CommitOfPush,
  deleteGroupResults: DeleteGroupResults,
): Promise<void> {
  const runId = commit.run.id;
  await inTransaction(pool, async (tx) => {
    await showProcessing(tx, accountId, runId);
    await lockPushRow(tx, accountId);
    // Meanwhile it may have been given up, and the push replaced by another one, which nothing has committed.
    if (!(await isProcessed(tx, accountId, runId))) throw givenUp();
    await lockAccount(tx, accountId);
    const digest = await sentDigest(tx, accountId, commit);
    const repeated = await repeatedIn(tx, accountId, digest);
    const done = repeated
      ? { plan: { digest: repeated.plan, summary: repeated.summary }, setsTree: repeated.setsTree }
      : await processParts(tx, accountId, commit, { deleteGroupResults, sent: digest });
    await endCommit(tx, accountId, commit, done);
  }).catch(async (error: unknown) => {
    const message = error instanceof Fault ? error.message : null;
    await updateFailed(pool, accountId, runId, message).catch(() => {}); // if this fails, `updateLostRuns` marks the run
    throw error;
  });
  await deleteUnappliedChanges(pool, accountId, mostUnappliedChanges).catch(() => {}); // the recurring job does it, too
}

const givenUp = () =>
  new Fault(
    'unavailable',
    'unavailable',
    'The commit waited for too long, and nothing was applied. Commit the push again.',
  );

/** What a commit ends with. */
type Done = {
  plan?: Pick<WholePlan, 'digest' | 'summary'>;
  refusal?: Fault;
  findings?: Findings;
  setsTree: boolean | null;
};

/** Records the result of a commit: in its run, and in the push. */
async function endCommit(
  tx: Transaction,
  accountId: AccountId,
  { run, settings }: CommitOfPush,
  { plan, refusal, findings = newFindings(), setsTree }: Done,
): Promise<void> {
  const isApplied = !refusal && !isDryRun(settings);
  const outcome = refusal ? 'refused' : isApplied ? 'applied' : 'validated';
  const end = { outcome, ...(refusal && { refusal }), ...(plan && { plan }), setsTree } as const;
  await storeRunEnd(tx, accountId, run.id, runEnd(settings, findings, end));
  await updatePushReport(tx, accountId, run.id, {
    ...(plan && { plan: plan.digest, summary: plan.summary }),
    ...(refusal && { message: refusal.message, details: refusal.details }),
    warnings: findings.warnings(),
  });
  if (!isApplied) return;
  await keepTextsOfParts(tx, accountId);
  await deleteParts(tx, accountId);
}

/** Checks and plans all parts, and applies the plan unless this is a dry run. `sent`: the digest of what was sent. */
async function processParts(
  tx: Transaction,
  accountId: AccountId,
  commit: CommitOfPush,
  { deleteGroupResults, sent }: { deleteGroupResults: DeleteGroupResults; sent: Buffer },
): Promise<Done> {
  const findings = newFindings();
  const scene = await openScene(tx, accountId, commit, findings);
  const { refusal, plan } = await process(scene, deleteGroupResults, findings);
  const isApplied = !refusal && !isDryRun(commit.settings);
  const about = { hasChanges: plan?.isEmpty !== true, isApplied, warnings: findings.warnings() };
  if (plan && !refusal && canBeRemembered(commit.settings, about)) {
    const again = {
      plan: digestOfParts(digestOf(emptyPlan())).digest('hex'),
      summary: summaryOfRepeated(plan.summary),
    };
    await rememberRepeated(tx, accountId, { id: commit.run.id, validateOnly: !isApplied, ...again }, sent);
  }
  const setsTree = isApplied && scene.lists.data.groups ? scene.tree.setsParents : null;
  return { ...(refusal && { refusal }), ...(plan && { plan }), findings, setsTree };
}

type WholePlan = {
  summary: Summary;
  /** Whether it changes nothing, and everyone in the lists is as last sent. */
  isEmpty: boolean;
  digest: string;
  groups: Plan;
  newGroups: ReadonlyMap<string, number>;
  removed: number;
  /** The externalIds of users whose role becomes pending. */
  pending: string[];
};

/** Checks and plans all parts, and applies the plan unless this is a dry run. Returns the refusal if it can't be applied. */
async function process(
  scene: Scene,
  deleteGroupResults: DeleteGroupResults,
  findings: Findings,
): Promise<{ refusal?: Fault; plan?: WholePlan }> {
  const { tx, accountId, runId, settings, account } = scene;
  await refuseWithoutTemporaryTables(tx);
  await createSentPeople(tx);
  await createPlannedWrites(tx);
  matchGroups(scene.lists, scene.tree, findings);
  const planned = await planParts(scene, findings);
  const removed = await matchWhole(scene, planned, findings);
  if (findings.faultCount() > 0) {
    await deleteChanges(tx, accountId, runId);
    return { refusal: requestFaultOf(findings) };
  }
  const plan = await finishPlan(scene, planned, removed, findings);
  checkLimits(settings, plan, findings, account.largestPush);
  checkExpected(settings, plan.digest, findings);
  if (findings.faultCount() > 0) return { refusal: requestFaultOf(findings), plan };
  warnOfMovedGroups(plan.groups, scene.tree, findings);
  if (isDryRun(settings)) return { plan };
  await applyParts(scene, plan);
  await deleteGroupResults(tx, accountId, plan.groups.groups.remove);
  await notePending(tx, accountId, plan.pending);
  if (planned.changes + removed > 0) await raiseVersion(tx, accountId);
  return { plan };
}

/** What is known once the parts are planned one by one. */
type Planned = {
  groups: Plan | undefined;
  /** The ids of the groups that are to be created. */
  newGroups: ReadonlyMap<string, number>;
  users: Counts;
  pending: string[];
  changes: number;
  /** How many users are as before although something else was sent. */
  confirmed: number;
  /** The administrators who stay, because a part lists them or they are not managed. */
  staying: Set<Administrator>;
};

/** Checks each part and stores its changes. If there are faults, the rest is only checked. */
async function planParts(scene: Scene, findings: Findings): Promise<Planned> {
  const { tx, accountId, runId, settings, current, tree, groupNames } = scene;
  const planned: Planned = {
    groups: undefined,
    newGroups: new Map(),
    users: { created: 0, updated: 0, deleted: 0, unchanged: 0 },
    pending: [],
    changes: 0,
    confirmed: 0,
    staying: new Set(current.administrators.filter(({ managed, active }) => active && !managed)),
  };
  const store = async (changes: Change[]) => {
    await copyChanges(tx, accountId, runId, changes, { groupNames, stored: planned.changes });
    planned.changes += changes.length;
  };
  if (findings.faultCount() === 0) {
    planned.groups = planChanges(scene.lists, { ...current, users: [], before: [] }, tree, new Map());
    await store(planned.groups.changes);
    if (mayBeApplied(settings, planned)) planned.newGroups = await newGroupIds(tx, planned.groups);
  }
  for (const part of scene.parts) {
    const compared = await comparePart(scene, part, findings, scene.seen.add);
    await notePeople(scene, compared);
    const { organization, state, inQuestion, details, others } = compared;
    matchUsers(organization, state, tree, inQuestion, findings);
    const listed = new Set(state.before.map((user) => user?.id));
    for (const one of current.administrators.filter(({ id }) => listed.has(id)))
      if (staysAdministrated(organization.data.users as User[], state, {}, [one])) planned.staying.add(one);
    if (findings.faultCount() > 0) continue;
    const plan = planChanges(organization, state, tree, details);
    const pending = pendingIn(plan, details);
    warnOfPending(pending, organization, findings);
    warnOfAuditors(plan, organization, findings);
    planned.pending.push(...pending);
    planned.confirmed += plan.users.confirm.length;
    planned.users.created += plan.summary.users.created;
    planned.users.updated += plan.summary.users.updated;
    planned.users.unchanged += plan.summary.users.unchanged + others;
    if (inQuestion.length === 0) continue;
    part.digest = digestOf(plan);
    await store(plan.changes);
    if (mayBeApplied(settings, planned))
      await storeWrites(tx, accountId, part.part, {
        organization,
        plan,
        targets: tree.targets,
        newGroups: planned.newGroups,
      });
  }
  return planned;
}

/** Whether what is planned so far can be applied. Otherwise nothing is stored, and no ids of groups are reserved. */
const mayBeApplied = (settings: Settings, { users, groups }: Planned): boolean =>
  !isDryRun(settings) &&
  groups !== undefined &&
  exceededChangeLimits(settings, { users, groups: groups.summary.groups }).length === 0;

/** Notes which users were read of a part, and stores what is needed of those who are new or may have changed. */
async function notePeople(
  { tx, accountId, seen }: Scene,
  { organization, state, inQuestion, details }: ComparedPart,
): Promise<void> {
  const users = organization.data.users as User[];
  for (const [i, { email }] of users.entries()) {
    const id = state.before[i]?.id;
    if (id !== undefined) seen.add(id, positionOf(organization, i), email !== undefined);
  }
  const keys = wantedEmails(users, state, { inQuestion, details });
  const people = inQuestion.map((i) => {
    const before = state.before[i];
    const { externalId, email } = users[i] as User;
    return {
      place: positionOf(organization, i),
      userId: before?.id ?? null,
      externalId,
      emailKey: keys.get(i) ?? null,
      isSent: email !== undefined,
    };
  });
  await copySentPeople(tx, accountId, people);
}

/** Checks what concerns several parts. Returns how many users no part lists. */
async function matchWhole(scene: Scene, { staying }: Planned, findings: Findings): Promise<number> {
  const { tx, accountId, seen, current, before } = scene;
  if (!before) return 0;
  await analyzeSentPeople(tx);
  await matchRepeated(scene, seen, findings);
  const removed = seen.missing(before.managed);
  await noteRemovedPeople(tx, accountId, removed);
  await matchAllEmails(tx, accountId, seen, findings);
  matchAdministrators(current.administrators, (some) => some.some((one) => staying.has(one)), findings);
  return removed.length;
}

/** Adds a fault for each externalId that two parts list. */
async function matchRepeated(
  { tx, accountId, parts }: Scene,
  seen: SeenUsers,
  findings: Findings,
): Promise<void> {
  const known = await selectExternalIds(tx, accountId, seen.repeated());
  const repeated = new Set([...known, ...(await selectRepeatedIds(tx, accountId, maxFaultsListed + 1))]);
  if (repeated.size === 0) return;
  const places = new Map<string, number>();
  for (const { part, usersBefore } of parts) {
    const { users = [] } = await readStoredPart(tx, accountId, part);
    for (const [i, { externalId }] of users.entries()) {
      if (!repeated.has(externalId)) continue;
      const first = places.get(externalId);
      if (first === undefined) places.set(externalId, usersBefore + i);
      else findings.fault(() => duplicateFault(externalId, '/data/users', first, usersBefore + i));
    }
  }
}

/** Adds the removals to what the parts change, and returns the whole plan. */
async function finishPlan(
  { tx, accountId, runId, lists, tree, parts }: Scene,
  { groups, newGroups, users, pending, changes, confirmed }: Planned,
  removed: number,
  findings: Findings,
): Promise<WholePlan> {
  const ofGroups = groups as Plan; // there are no faults
  if (removed > 0) await insertRemovals(tx, accountId, runId, changes);
  warnOfNewGroupIds(ofGroups, tree, lists, findings);
  warnOfHistory(await selectWeeksOfGroups(tx, accountId, ofGroups.groups.remove), tree, findings);
  const digest = digestOfParts(digestOf(ofGroups));
  if (removed > 0)
    for await (const batch of selectRemovedPeople(tx, accountId)) digest.update(JSON.stringify(batch));
  for (const part of parts) digest.update(part.digest);
  return {
    summary: { users: { ...users, deleted: removed }, groups: ofGroups.summary.groups },
    digest: digest.digest('hex'),
    isEmpty: changes + removed + confirmed === 0,
    groups: ofGroups,
    newGroups,
    removed,
    pending,
  };
}

/** Returns a digest of a push, to which the removals and the digests of the changed parts are added. `groups`: the digest of what it does to groups. */
const digestOfParts = (groups: string) => createHash('sha256').update(JSON.stringify(['parts 2', groups]));

/** Returns a digest of everything that the plan of a part does, like that of a whole request. */
function digestOf({ changes, groups, users, memberships }: Plan): string {
  const updated = users.update.map(({ id, rolePending }) => [id, rolePending]);
  return createHash('sha256')
    .update(JSON.stringify([changes, groups, users.create, updated, memberships]))
    .digest('hex');
}

/** Writes groups, removes users, and writes what was planned of each part. */
async function applyParts(scene: Scene, { groups, newGroups, removed }: WholePlan): Promise<void> {
  const { tx, accountId } = scene;
  await writeGroups(tx, accountId, groups, { newGroups, isDirectory: false });
  if (removed > 0)
    for await (const batch of selectRemovedPeople(tx, accountId)) await removeUsers(tx, accountId, batch);
  await clearSentEmails(tx, accountId);
  for (const { part, digest } of scene.parts)
    if (digest !== '') await writeUsers(tx, accountId, await readWrites(tx, accountId, part));
  await deleteGroups(tx, accountId, groups.groups.remove);
}
