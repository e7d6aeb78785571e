// Processes files: reads each one, converts it to users and groups, and applies it with the same code as organization requests.
// Files of an account are processed one at a time, in the order of their arrival (decision C8). Only the process that holds
// the account's turn reads its files. The turn is a lock of a connection, so it ends with its process (decision 0018).
import type { Settings } from '@soundings/contract/organization.ts';
import type { Detail, DetailType } from '@soundings/contract/problem.ts';
import { type Account, accountById, lockAccount } from '../accounts/accounts.ts';
import { type Actor, audit } from '../accounts/audit.ts';
import { Fault } from '../base/errors.ts';
import type { JsonValue } from '../base/json.ts';
import type { Log } from '../base/log.ts';
import { newId } from '../base/ids.ts';
import { quote } from '../base/text.ts';
import { type AccountId, asFault, inTransaction, type Pool, type Transaction } from '../db/db.ts';
import type { DeleteGroupResults } from '../people/groups.ts';
import { type Findings, described, newFindings } from '../sync/findings.ts';
import { rejectPendingRun, takePendingRun } from '../sync/pending-runs.ts';
import { beginRun, updateFailed, updateApproved } from '../sync/runs.ts';
import { rejectInvalidRun, type SentByFile, type Synchronized, synchronizeFile } from '../sync/sync.ts';
import { finderOf, withGroupIds } from '../layout/group-names.ts';
import { type LaidOutFile, layOut } from '../layout/layout.ts';
import { knowledgeOf } from './mappings.ts';
import { kindOf } from '../sheets/file-names.ts';
import {
  addMails,
  type FileReport,
  isTurnFree,
  lockBegunFile,
  selectCurrentGroups,
  selectKnownPeople,
  selectNextFile,
  selectOwnedGroups,
  takeTurn,
  type Turn,
  updateBegun,
  updateLeft,
  updateProcessed,
  updateToRepeat,
  updateReport,
  type WaitingFile,
} from './process.sql.ts';
import { readSheets } from '../sheets/sheet.ts';
import { contentOf } from './store.ts';
import { addProcessing } from './store.sql.ts';
import { messageOf } from './report-texts.ts';

type JsonObject = { [key: string]: JsonValue };

/**
 * Why an attempt failed. `elsewhere`: the file is not the cause, for example when the database is unavailable. `reader stopped`:
 * the system killed the process that reads the file, perhaps because the file takes much memory. `defect`: a bug.
 */
type Cause = 'elsewhere' | 'reader stopped' | 'defect';

/** The number of failed attempts, of any cause, after which a failure of this cause ends the file. */
const maxFailures: Record<Cause, number> = { elsewhere: Infinity, 'reader stopped': 5, defect: 3 };

/** The pause after each failed attempt, in seconds since the attempt began. Five attempts take an hour. */
const failurePauses = [5, 5 * 60, 15 * 60, 40 * 60];

/**
 * Returns the pause in seconds after the service has ended several times while it processed a file: 1, 2, 4 … 60 minutes from
 * the third time on. Interruptions never end a file. But if the file causes them, other files must get their turn.
 */
const interruptionPauseOf = (interruptions: number): number =>
  interruptions < 3 ? 0 : 60 * Math.min(60, 2 ** (interruptions - 3));

/** After this time in ms, the remaining files get another job, because stopping the service waits for the current job. */
const maxJobMs = 5000;

/** The pause in seconds after an attempt failed for a reason that is not the file. */
const retrySeconds = 5;

/**
 * Processes the files of an account with `work`, which gets the id of its turn. Does nothing if another process has the turn,
 * because that process also picks up files that arrive now. Errors are recorded for the file, and the file is retried.
 */
export async function processInTurn(
  pool: Pool,
  accountId: AccountId,
  work: (turnId: string) => Promise<void>,
  log: Log,
): Promise<void> {
  if (!(await isTurnFree(pool, accountId))) return;
  const turnId = newId();
  try {
    await work(turnId);
  } catch (error) {
    const cause = causeOf(error);
    log.error({ accountId, err: error, cause }, 'Processing a file failed. It will be retried');
    const pause = await recordFailure(pool, accountId, turnId, cause);
    await addProcessing(pool, accountId, pause);
  }
}

/** Returns why an attempt failed, from its error. */
function causeOf(error: unknown): Cause {
  const { name, kind, code, syscall } = asFault(error) as Partial<Fault> & { syscall?: string };
  if (name === 'Fault' && kind === 'unavailable')
    return code === 'file not processed' ? 'reader stopped' : 'elsewhere';
  return syscall === undefined ? 'defect' : 'elsewhere';
}

/**
 * Records that an attempt failed, and ends the file after its last attempt. Returns the seconds to wait before processing files
 * of the account again.
 */
async function recordFailure(
  pool: Pool,
  accountId: AccountId,
  turnId: string,
  cause: Cause,
): Promise<number> {
  const file = await selectNextFile(pool, accountId);
  const failures = (file?.failures ?? 0) + 1;
  if (file?.turn === turnId && failures >= maxFailures[cause]) {
    await giveUp(pool, await accountById(pool, accountId), file, reasonOf(cause, failures));
    return 0;
  }
  await updateLeft(pool, accountId, turnId, cause !== 'elsewhere');
  return cause === 'elsewhere' ? retrySeconds : failurePauseOf(failures);
}

const failurePauseOf = (failures: number): number =>
  failurePauses[Math.min(failures, failurePauses.length) - 1] ?? 0;

const reasonOf = (cause: Cause, failures: number): string =>
  cause === 'reader stopped'
    ? `Reading this file failed ${failures} times in about an hour. The system stopped it, probably because memory ran out. ` +
      'Give Soundings more memory, or save the file as CSV, which needs less. Then send it again.'
    : `Processing this file failed ${failures} times. See the service log for the reason, then send the file again.`;

/**
 * Processes the waiting files of an account, unless another process has the turn. Every file ends with a report, whatever it
 * contains. Any error thrown is one to retry.
 */
export async function processFiles(
  pool: Pool,
  accountId: AccountId,
  deleteGroupResults: DeleteGroupResults,
  log: Log,
  turnId: string = newId(),
): Promise<void> {
  const deadline = performance.now() + maxJobMs;
  let next: WaitingFile | undefined;
  do {
    // oxlint-disable-next-line no-await-in-loop -- one at a time, on purpose
    const hadTurn = await inTurn(pool, accountId, async (connection) => {
      for (;;) {
        // oxlint-disable-next-line no-await-in-loop -- likewise
        const file = await selectNextFile(pool, accountId);
        if (!file || isPaused(file) || performance.now() > deadline) return;
        // oxlint-disable-next-line no-await-in-loop -- likewise
        await processFile(pool, accountId, file, {
          turn: { id: turnId, connection },
          deleteGroupResults,
          log,
        });
      }
    });
    if (!hadTurn) return;
    // Files may have arrived after the last one was read. Other processes left them to us because we had the turn.
    // oxlint-disable-next-line no-await-in-loop -- likewise
    next = await selectNextFile(pool, accountId);
    if (next && performance.now() > deadline) return addProcessing(pool, accountId);
  } while (next && !isPaused(next));
}

/** Does the work while holding the account's turn. Returns false if another process has the turn. */
const inTurn = (
  pool: Pool,
  accountId: AccountId,
  work: (connection: number) => Promise<void>,
): Promise<boolean> =>
  inTransaction(pool, async (tx) => {
    const connection = await takeTurn(tx, accountId);
    if (connection === undefined) return false;
    // Converted to a Fault: on a driver error, the transaction would assume that its own connection is lost, and wait for it.
    await work(connection).catch((error: unknown) => Promise.reject(asFault(error)));
    return true;
  });

const interruptionsOf = ({ interruptions, turn }: WaitingFile) => interruptions + (turn === null ? 0 : 1);
const isPaused = (file: WaitingFile) =>
  (file.begunAgo ?? Infinity) <
  Math.max(failurePauseOf(file.failures), interruptionPauseOf(interruptionsOf(file)));

async function processFile(
  pool: Pool,
  accountId: AccountId,
  file: WaitingFile,
  { turn, deleteGroupResults, log }: { turn: Turn; deleteGroupResults: DeleteGroupResults; log: Log },
): Promise<void> {
  const account = await accountById(pool, accountId);
  const interruptions = interruptionsOf(file);
  if (interruptionPauseOf(interruptions) > 0) {
    const message = 'The service has ended several times while processing this file. Starting it again';
    log.warn({ accountId, fileId: file.id, interruptions }, message);
  }
  // The run exists from here on.
  const runId = await inTransaction(pool, async (tx) => {
    const id = await updateBegun(tx, accountId, file.id, { turn, runId: newId() });
    if (id === undefined) throw turnLost();
    const { via, tokenId, userId, address, name } = file;
    const run = { id, source: 'file' as const, via, tokenId, userId, address, file: name };
    await beginRun(tx, accountId, run, settingsOf(account));
    return id;
  });
  let laidOut: LaidOutFile | undefined;
  const findings = findingsIn(() => laidOut);
  try {
    const bytes = await contentOf(pool, accountId, file.id);
    const sheets = await readSheets(bytes, kindOf(file.name) ?? 'csv');
    laidOut = layOut(sheets, await knowledgeOf(pool, account), findings);
  } catch (error) {
    if (!(error instanceof Fault) || error.kind !== 'invalid') throw error;
    const { code, message, details, cause } = error;
    if (cause !== undefined) log.warn({ accountId, fileId: file.id, runId, cause }, 'File could not be read');
    for (const detail of details.length > 0 ? details : [{ type: code, message }]) {
      findings.fault(detail as Detail & { type: DetailType });
    }
  }
  await inTransaction(pool, async (tx) => {
    await lockAccount(tx, accountId);
    if (!(await lockBegunFile(tx, accountId, file.id, turn.id))) throw turnLost();
    const wanted = { runId, deleteGroupResults, beyondLimits: 'hold' as const };
    const end =
      laidOut && findings.faultCount() === 0
        ? await synchronizeFile(tx, accountId, await sentBy(tx, account, laidOut, findings), wanted, findings)
        : await rejectInvalidRun(tx, accountId, runId, settingsOf(account), findings);
    await storeReport(tx, account, file, reportOf(account, file, runId, end, findings));
  });
}

/** The connection that had the turn was lost, so another process may have started the file. */
const turnLost = () =>
  new Fault('unavailable', 'unavailable', 'The lock for processing the files of this account was lost.');

/** Warnings that only say how a file was read. */
const informational = new Set(['default country', 'group by name', 'placeholder']);

/** Warnings about values that were ignored. Without a mail, no one would notice that the file needs a correction. */
const ignoring = new Set(['unknown value', 'ignored value', 'ambiguous name']);

/** Stores the report of a file, and adds jobs for its mails. Files with errors or waiting for approval always get mails. */
async function storeReport(
  tx: Transaction,
  account: Account,
  { id }: WaitingFile,
  report: FileReport,
): Promise<void> {
  await updateProcessed(tx, account.id, id, report);
  const { outcome, warnings, summary } = report;
  // People who were removed may be listed in a sheet that was ignored.
  const isDoubtful = warnings.some(
    ({ type }) => ignoring.has(type) || (!informational.has(type) && (summary?.users.deleted ?? 0) > 0),
  );
  const isMailed = account.notifySuccess || isDoubtful || ['refused', 'held', 'failed'].includes(outcome);
  if (isMailed) await addMails(tx, account.id, id, account.notify);
}

const settingsOf = (account: Account): Settings => ({
  validateOnly: !account.applyFiles,
  maxUsersCreated: account.maxUsersCreated,
  maxUsersUpdated: account.maxUsersUpdated,
  maxUsersDeleted: account.maxUsersDeleted,
  maxGroupsCreated: account.maxGroupsCreated,
  maxGroupsUpdated: account.maxGroupsUpdated,
  maxGroupsDeleted: account.maxGroupsDeleted,
});

/** Returns the organization request for a file. Empty cells are filled with the current values of existing people and groups. */
async function sentBy(
  tx: Transaction,
  account: Account,
  laidOut: LaidOutFile,
  findings: Findings,
): Promise<SentByFile> {
  const partial = new Set<'users' | 'groups'>(account.filesPartial ? ['users', 'groups'] : []);
  const existing = await selectCurrentGroups(tx, account.id);
  const naming = {
    groups: existing,
    isWhole: !account.filesPartial,
    hasNamesOnly: laidOut.hasGroupNamesOnly,
  };
  const { users: listed, groups } = withGroupIds(laidOut.data, naming, findings);
  const sent: LaidOutFile['data'] = {};
  const stays = (id: string) =>
    !groups || account.filesPartial || groups.some(({ externalId }) => externalId === id);
  const users = listed && (await usersKeepingGroups(tx, account, listed, laidOut, stays));
  if (users) sent.users = await completed(tx, account, users, laidOut, findings);
  if (groups) {
    const names = new Map(existing.map(({ externalId, name }) => [externalId, name]));
    sent.groups = groups.map((group) => {
      const name = names.get(String(group['externalId']));
      return name === undefined ? group : { name, ...group };
    });
  } else if (account.createGroupsFromUsers) {
    const find = finderOf(existing);
    const missing = [...laidOut.named].filter(([externalId]) => find(externalId).length === 0);
    if (missing.length > 0) {
      sent.groups = missing.map(([externalId, { name }]) => ({ externalId, name }));
      partial.add('groups'); // The file does not list the existing groups, so they stay.
    }
  }
  return { settings: settingsOf(account), data: sent as SentByFile['data'], partial: [...partial] };
}

/** Returns the users, adding current groups to those who keep them (see `Laid.keepingGroups`), unless a group is removed. */
async function usersKeepingGroups(
  tx: Transaction,
  { id }: Account,
  users: NonNullable<LaidOutFile['data']['users']>,
  laidOut: LaidOutFile,
  stays: (externalId: string) => boolean,
): Promise<NonNullable<LaidOutFile['data']['users']>> {
  if (laidOut.usersKeepingGroups.size === 0) return users;
  const owned = new Map((await selectOwnedGroups(tx, id)).map((one) => [one.externalId, one.groups]));
  return users.map((user, i) => {
    const access = user['accessInfo'] as { adminOf?: string[] } | undefined;
    if (!laidOut.usersKeepingGroups.has(i) || !access?.adminOf) return user;
    const kept = (owned.get(String(user['externalId'])) ?? []).filter(stays);
    return { ...user, accessInfo: { ...access, adminOf: [...new Set([...access.adminOf, ...kept])] } };
  });
}

async function completed(
  tx: Transaction,
  account: Account,
  users: NonNullable<LaidOutFile['data']['users']>,
  { inferredRoles, unknownStatus }: LaidOutFile,
  findings: Findings,
): Promise<NonNullable<LaidOutFile['data']['users']>> {
  const people = await selectKnownPeople(tx, account.id);
  const existing = new Map(people.map((person) => [person.externalId, person]));
  warnOfNoGroup(users, (id) => existing.has(id), findings);
  return users.map((user, i) => {
    const before = existing.get(String(user['externalId']));
    // The unknown status may mean that the person has left, so new people start inactive and get no surveys by mistake.
    if (!before) return unknownStatus.has(i) ? { ...user, active: false } : user;
    const { firstName, lastName, active, timezone, role } = before;
    const whole = { firstName, lastName, active, ...(timezone !== null && { timezone }), ...user };
    if (!inferredRoles.has(i)) return whole;
    const { role: inferred, adminOf, ...access } = (user['accessInfo'] ?? {}) as JsonObject;
    // A partial file may list only some of the people with managers, so it removes no roles.
    if (account.filesPartial) return { ...whole, accessInfo: access };
    // Managers get the role Manager, but Administrators keep theirs. Auditors who manage no one keep theirs too, because files
    // can't express that role. Without a role in the request, the current one stays.
    const stays = role === 'Administrator' ? role : (inferred as JsonValue);
    const isKept = role === 'Auditor' && inferred === 'User';
    const wanted = { ...(!isKept && { role: stays }), ...(adminOf !== undefined && { adminOf }) };
    return { ...whole, accessInfo: { ...access, ...wanted } };
  });
}

/** Warns once about new people without a group: perhaps the column of groups was not recognized. */
function warnOfNoGroup(
  users: NonNullable<LaidOutFile['data']['users']>,
  isKnown: (externalId: string) => boolean,
  findings: Findings,
): void {
  const alone = [...users.entries()].filter(([, user]) => {
    const { memberOf } = (user['accessInfo'] ?? {}) as { memberOf?: string[] };
    return !isKnown(String(user['externalId'])) && (memberOf ?? []).length === 0;
  });
  const [first] = alone;
  if (!first) return;
  const message =
    `${alone.length === 1 ? '1 new person does' : `${alone.length.toLocaleString('en')} new people do`} not belong to a group. ` +
    'Enter their groups in a column with the header Department.';
  findings.warn({ type: 'no group', message, path: `/data/users/${first[0]}/accessInfo/memberOf` });
}

/** Collects findings with their places in the file. The same error in one cell is reported once. */
function findingsIn(laidOut: () => LaidOutFile | undefined): Findings {
  const findings = newFindings();
  const seen = new Set<string>();
  return {
    ...findings,
    fault(found) {
      if (findings.isFull()) return findings.fault(found); // Only counted from here on.
      const one = described(found);
      const fault = lackIn(one, laidOut()) ?? placed(one, laidOut());
      const key = [fault.type, fault.sheet, fault.row, fault.column, fault.message].join('\0');
      if (fault.row !== undefined && seen.has(key)) return;
      seen.add(key);
      findings.fault(fault);
    },
    warn: (found) => findings.warn(() => placed(described(found), laidOut())),
  };
}

/** Returns the error for a missing column, so that it is reported once and not for every row. */
const lackIn = ({ type, path }: Detail, laidOut: LaidOutFile | undefined) =>
  type === 'missing field' && path !== undefined ? laidOut?.missingColumnOf(path) : undefined;

/** Replaces the JSON pointers in a finding by places in the file. */
function placed<T extends { message: string; path?: string }>(found: T, laidOut: LaidOutFile | undefined): T {
  if (!laidOut) return found;
  const { path, ...rest } = found;
  const place = path === undefined ? undefined : laidOut.placeOf(path);
  const message = found.message.replaceAll(/\/data\/(?:users|groups)\/\d+(?:\/[^\s.,;]+)*/g, (pointer) => {
    const { row, sheet } = laidOut.placeOf(pointer) ?? {};
    return row === undefined ? pointer : `row ${row}${sheet === undefined ? '' : ` of ${quote(sheet)}`}`;
  });
  return { ...rest, ...(place ?? (path !== undefined && { path })), message } as T;
}

function reportOf(
  account: Account,
  file: WaitingFile,
  runId: string,
  { outcome, plan }: { outcome: FileReport['outcome']; plan?: Synchronized['plan'] },
  findings: Findings,
): FileReport {
  const report = {
    file: file.name,
    receivedAt: file.arrivedAt.toISOString(),
    outcome,
    runId,
    ...(plan && { summary: plan.summary }),
    details: findings.faults(),
    warnings: findings.warnings(),
  };
  return { ...report, message: messageOf(report, account.id) };
}

/** Ends a file that could not be processed, so that later files can be processed. */
async function giveUp(pool: Pool, account: Account, file: WaitingFile, message: string): Promise<void> {
  const findings = newFindings();
  findings.fault({ type: 'file not processed', message });
  await inTransaction(pool, async (tx) => {
    if (!(await lockBegunFile(tx, account.id, file.id, file.turn))) throw turnLost();
    if (file.runId !== null) await updateFailed(tx, account.id, file.runId, message);
    const entry = { subject: file.id, details: { file: file.name } };
    await audit(tx, account.id, { origin: 'service' }, 'file abandoned', entry);
    await storeReport(
      tx,
      account,
      file,
      reportOf(account, file, file.runId ?? newId(), { outcome: 'failed' }, findings),
    );
  });
}

/** The console user who approves or rejects a run. */
export type Decider = Extract<Actor, { origin: 'console' }>;

/** Who approves, and how many people and groups the console showed as removed. */
export type Approval = { by: Decider; peopleRemoved: number; groupsRemoved: number };

/**
 * Applies a pending run, with exactly the changes that were shown. `approval` is given by the console. Throws a Fault: not_found;
 * conflict if the run is not pending or its changes have changed since; invalid if the number of removed people or groups
 * differs from `approval`. The run then stays pending.
 */
export async function approveRun(
  pool: Pool,
  accountId: AccountId,
  runId: string,
  deleteGroupResults: DeleteGroupResults,
  approval?: Approval,
): Promise<FileReport> {
  return inTransaction(pool, async (tx) => {
    await lockAccount(tx, accountId);
    const { organization, planDigest, removed } = await takePendingRun(tx, accountId, runId);
    if (approval) {
      refuseOtherNumber('people', approval.peopleRemoved, removed.people);
      refuseOtherNumber('groups', approval.groupsRemoved, removed.groups);
    }
    const findings = newFindings();
    const { settings, data, partial = [] } = organization;
    const sent = { settings, data: data as SentByFile['data'], partial };
    const wanted = { runId, deleteGroupResults, beyondLimits: 'apply' as const, shown: planDigest };
    const { outcome, refusal } = await synchronizeFile(tx, accountId, sent, wanted, findings);
    if (refusal) throw new Fault('conflict', 'plan changed', refusal.message, { details: refusal.details });
    await updateApproved(tx, accountId, runId, approval?.by.userId ?? null);
    if (approval) await audit(tx, accountId, approval.by, 'run approved', { subject: runId });
    const account = await accountById(tx, accountId);
    const report = await updateReport(tx, accountId, runId, (before) => {
      const after = { ...before, outcome, details: [], warnings: findings.warnings() };
      return { ...after, message: messageOf(after, accountId) };
    });
    if (!report)
      throw new Fault('not_found', 'file not found', 'The file of this run has been deleted. Send it again.');
    await addMails(tx, accountId, report.id, account.notifySuccess ? account.notify : []);
    return report.report;
  });
}

function refuseOtherNumber(of: 'people' | 'groups', typed: number, removed: number): void {
  if (typed === removed) return;
  const message = `The run removes ${removed} ${of}, not ${typed}.`;
  const details = [{ type: 'invalid value', message, path: `/${of}Removed` }];
  throw new Fault('invalid', 'invalid value', message, { details });
}

/** Ends a pending run without applying it. Throws a Fault: not_found, or conflict if the run is not pending. */
export async function rejectRun(pool: Pool, accountId: AccountId, runId: string, by: Decider): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await lockAccount(tx, accountId);
    const message = 'The changes were rejected. Nothing was applied.';
    await rejectPendingRun(tx, accountId, runId, { userId: by.userId, message });
    await updateReport(tx, accountId, runId, (before) => ({ ...before, outcome: 'refused', message }));
    await audit(tx, accountId, by, 'run rejected', { subject: runId });
  });
}

/**
 * Processes a file again, for example after its columns have been mapped. Ends its pending run, if any. Returns false, and does
 * nothing, if other changes were applied after the file, because it would undo them.
 */
export async function repeatFile(
  tx: Transaction,
  accountId: AccountId,
  fileId: number,
  by: Decider,
): Promise<boolean> {
  await lockAccount(tx, accountId);
  const before = await updateToRepeat(tx, accountId, fileId);
  if (!before) return false;
  if (before.runId !== null && before.outcome === 'held') {
    const message = 'The file is being processed again. Nothing of this run was applied.';
    await rejectPendingRun(tx, accountId, before.runId, { userId: by.userId, message });
  }
  await addProcessing(tx, accountId);
  return true;
}
