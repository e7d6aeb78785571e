// Processing files: each is read, laid out as users and groups, and applied by the very code of organization requests, one
// after another in each account, in the order in which they arrived (decision C8). Whoever has the turn of an account reads
// its files, and no one else: the turn belongs to a connection, so that it ends with its process (decision 0018).
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
import type { ForgetGroups } from '../people/groups.ts';
import { type Findings, described, newFindings } from '../sync/findings.ts';
import { rejectHeldRun, takeHeldRun } from '../sync/held-runs.ts';
import { beginRun, failRun, noteApproval } from '../sync/runs.ts';
import { refuseRun, type SentByFile, type Synchronized, synchronizeFile } from '../sync/sync.ts';
import { finderOf, withGroupIds } from './group-names.ts';
import { type Laid, layOut } from './layout.ts';
import { knowledgeOf } from './mappings.ts';
import { kindOf } from './names.ts';
import {
  addMails,
  type FileReport,
  isTurnFree,
  lockBegunFile,
  selectHeldGroups,
  selectHeldPeople,
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
import { readSheets } from './sheet.ts';
import { contentOf } from './store.ts';
import { addProcessing } from './store.sql.ts';
import { messageOf } from './words.ts';

type JsonObject = { [key: string]: JsonValue };

/**
 * Why an attempt failed: something that is no file's doing, such as a database that is away; the system stopped the process
 * that reads the file, which a file can cause that takes much memory, and others too; or a defect came to light.
 */
type Cause = 'elsewhere' | 'reader stopped' | 'defect';

/** After so many failed attempts, of whatever cause, a file is given up when one fails for this cause. */
const mostFailures: Record<Cause, number> = { elsewhere: Infinity, 'reader stopped': 5, defect: 3 };

/** How long, in seconds after it was begun, a file waits after each failed attempt: so five attempts take an hour. */
const failurePauses = [5, 5 * 60, 15 * 60, 40 * 60];

/**
 * The same, when the service ended so often while it processed the file: 1, 2, 4 … 60 minutes from the third time on. That is
 * never held against a file, but one that does end the service must leave it time for others.
 */
const interruptionPauseOf = (interruptions: number): number =>
  interruptions < 3 ? 0 : 60 * Math.min(60, 2 ** (interruptions - 3));

/** After so many ms of files, the others of the account get a job of their own: a stop of the service waits for one job. */
const patience = 5000;

/** When an attempt has failed by no file's doing, the next comes after so many seconds. */
const retrySeconds = 5;

/**
 * Has the files of an account processed by `work`, which is given the id of its turn, unless someone is at them: whoever is
 * finds those that have come meanwhile. What goes wrong is noted of the file, and tried again.
 */
export async function haveProcessed(
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
    log.error({ accountId, err: error, cause }, 'Processing a file failed; it is tried again');
    const pause = await leave(pool, accountId, turnId, cause);
    await addProcessing(pool, accountId, pause);
  }
}

/** Why an attempt failed, by what was thrown. */
function causeOf(error: unknown): Cause {
  const { name, kind, code, syscall } = asFault(error) as Partial<Fault> & { syscall?: string };
  if (name === 'Fault' && kind === 'unavailable')
    return code === 'file not processed' ? 'reader stopped' : 'elsewhere';
  return syscall === undefined ? 'defect' : 'elsewhere';
}

/**
 * Notes that an attempt failed, and ends the file if that was the last one. Returns after how many seconds files of the account
 * are to be processed.
 */
async function leave(pool: Pool, accountId: AccountId, turnId: string, cause: Cause): Promise<number> {
  const file = await selectNextFile(pool, accountId);
  const failures = (file?.failures ?? 0) + 1;
  if (file?.turn === turnId && failures >= mostFailures[cause]) {
    await giveUp(pool, await accountById(pool, accountId), file, whyOf(cause, failures));
    return 0;
  }
  await updateLeft(pool, accountId, turnId, cause !== 'elsewhere');
  return cause === 'elsewhere' ? retrySeconds : failurePauseOf(failures);
}

const failurePauseOf = (failures: number): number =>
  failurePauses[Math.min(failures, failurePauses.length) - 1] ?? 0;

const whyOf = (cause: Cause, failures: number): string =>
  cause === 'reader stopped'
    ? `Reading this file was tried ${failures} times within an hour or so, and stopped by the system, probably because memory ran ` +
      'out. Give Soundings more memory, or save the file as CSV, which takes less. Then send it again.'
    : `Processing this file failed ${failures} times; the log of the service says why. Send it again.`;

/**
 * Processes what waits of an account, unless someone else has the turn. Whatever a file says, it ends with a report; what is
 * thrown is to be tried again.
 */
export async function processFiles(
  pool: Pool,
  accountId: AccountId,
  forgetGroups: ForgetGroups,
  log: Log,
  turnId: string = newId(),
): Promise<void> {
  const deadline = performance.now() + patience;
  let next: WaitingFile | undefined;
  do {
    // oxlint-disable-next-line no-await-in-loop -- one after another is the point
    const hadTurn = await inTurn(pool, accountId, async (connection) => {
      for (;;) {
        // oxlint-disable-next-line no-await-in-loop -- likewise
        const file = await selectNextFile(pool, accountId);
        if (!file || isPaused(file) || performance.now() > deadline) return;
        // oxlint-disable-next-line no-await-in-loop -- likewise
        await processFile(pool, accountId, file, { turn: { id: turnId, connection }, forgetGroups, log });
      }
    });
    if (!hadTurn) return;
    // What came after the last of them was left to us by everyone who found the turn taken.
    // oxlint-disable-next-line no-await-in-loop -- likewise
    next = await selectNextFile(pool, accountId);
    if (next && performance.now() > deadline) return addProcessing(pool, accountId);
  } while (next && !isPaused(next));
}

/** Does the work while the account's turn is ours. False: someone else has it. */
const inTurn = (
  pool: Pool,
  accountId: AccountId,
  work: (connection: number) => Promise<void>,
): Promise<boolean> =>
  inTransaction(pool, async (tx) => {
    const connection = await takeTurn(tx, accountId);
    if (connection === undefined) return false;
    // As a Fault: by an error of the driver the transaction would think that its own connection is lost, and wait for that.
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
  { turn, forgetGroups, log }: { turn: Turn; forgetGroups: ForgetGroups; log: Log },
): Promise<void> {
  const account = await accountById(pool, accountId);
  const interruptions = interruptionsOf(file);
  if (interruptionPauseOf(interruptions) > 0) {
    const message = 'The service has ended several times while it processed this file; it is begun once more';
    log.warn({ accountId, fileId: file.id, interruptions }, message);
  }
  // From here on the run is there.
  const runId = await inTransaction(pool, async (tx) => {
    const id = await updateBegun(tx, accountId, file.id, { turn, runId: newId() });
    if (id === undefined) throw turnLost();
    const { via, tokenId, userId, address, name } = file;
    const run = { id, source: 'file' as const, via, tokenId, userId, address, file: name };
    await beginRun(tx, accountId, run, settingsOf(account));
    return id;
  });
  let laid: Laid | undefined;
  const findings = findingsIn(() => laid);
  try {
    const bytes = await contentOf(pool, accountId, file.id);
    const sheets = await readSheets(bytes, kindOf(file.name) ?? 'csv');
    laid = layOut(sheets, await knowledgeOf(pool, account), findings);
  } catch (error) {
    if (!(error instanceof Fault) || error.kind !== 'invalid') throw error;
    const { code, message, details, cause } = error;
    if (cause !== undefined)
      log.warn({ accountId, fileId: file.id, runId, cause }, 'A file could not be read');
    for (const detail of details.length > 0 ? details : [{ type: code, message }]) {
      findings.fault(detail as Detail & { type: DetailType });
    }
  }
  await inTransaction(pool, async (tx) => {
    await lockAccount(tx, accountId);
    if (!(await lockBegunFile(tx, accountId, file.id, turn.id))) throw turnLost();
    const wanted = { runId, forgetGroups, beyondLimits: 'hold' as const };
    const end =
      laid && findings.faultCount() === 0
        ? await synchronizeFile(tx, accountId, await sentBy(tx, account, laid, findings), wanted, findings)
        : await refuseRun(tx, accountId, runId, settingsOf(account), findings);
    await tell(tx, account, file, reportOf(account, file, runId, end, findings));
  });
}

/** The connection that had the turn was lost, and another process may be at the file. */
const turnLost = () =>
  new Fault('unavailable', 'unavailable', 'The turn to process the files of the account was lost.');

/** Warnings that only say how a file was read. */
const usual = new Set(['default country', 'group by name', 'placeholder']);

/** Warnings of what a file says in vain: without a mail no one would see that it needs correcting. */
const lost = new Set(['unknown value', 'ignored value', 'ambiguous name']);

/** Keeps what became of a file, and asks for the mails that say so: of faults and held files always. */
async function tell(
  tx: Transaction,
  account: Account,
  { id }: WaitingFile,
  report: FileReport,
): Promise<void> {
  await updateProcessed(tx, account.id, id, report);
  const { outcome, warnings, summary } = report;
  // Who is removed may stand in a sheet that was passed over.
  const isDoubtful = warnings.some(
    ({ type }) => lost.has(type) || (!usual.has(type) && (summary?.users.deleted ?? 0) > 0),
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

/** What a file says, as an organization request would: with what it leaves out of those who are there. */
async function sentBy(
  tx: Transaction,
  account: Account,
  laid: Laid,
  findings: Findings,
): Promise<SentByFile> {
  const partial = new Set<'users' | 'groups'>(account.filesPartial ? ['users', 'groups'] : []);
  const held = await selectHeldGroups(tx, account.id);
  const naming = { groups: held, isWhole: !account.filesPartial, hasNamesOnly: laid.hasGroupNamesOnly };
  const { users: listed, groups } = withGroupIds(laid.data, naming, findings);
  const sent: Laid['data'] = {};
  const stays = (id: string) =>
    !groups || account.filesPartial || groups.some(({ externalId }) => externalId === id);
  const users = listed && (await keepingGroups(tx, account, listed, laid, stays));
  if (users) sent.users = await completed(tx, account, users, laid, findings);
  if (groups) {
    const names = new Map(held.map(({ externalId, name }) => [externalId, name]));
    sent.groups = groups.map((group) => {
      const name = names.get(String(group['externalId']));
      return name === undefined ? group : { name, ...group };
    });
  } else if (account.createGroupsFromUsers) {
    const find = finderOf(held);
    const missing = [...laid.named].filter(([externalId]) => find(externalId).length === 0);
    if (missing.length > 0) {
      sent.groups = missing.map(([externalId, { name }]) => ({ externalId, name }));
      partial.add('groups'); // it says nothing of the groups that there are
    }
  }
  return { settings: settingsOf(account), data: sent as SentByFile['data'], partial: [...partial] };
}

/** The same users; those who keep the groups that they own have them listed, as far as these stay. */
async function keepingGroups(
  tx: Transaction,
  { id }: Account,
  users: NonNullable<Laid['data']['users']>,
  laid: Laid,
  stays: (externalId: string) => boolean,
): Promise<NonNullable<Laid['data']['users']>> {
  if (laid.keepingGroups.size === 0) return users;
  const owned = new Map((await selectOwnedGroups(tx, id)).map((one) => [one.externalId, one.groups]));
  return users.map((user, i) => {
    const access = user['accessInfo'] as { adminOf?: string[] } | undefined;
    if (!laid.keepingGroups.has(i) || !access?.adminOf) return user;
    const kept = (owned.get(String(user['externalId'])) ?? []).filter(stays);
    return { ...user, accessInfo: { ...access, adminOf: [...new Set([...access.adminOf, ...kept])] } };
  });
}

async function completed(
  tx: Transaction,
  account: Account,
  users: NonNullable<Laid['data']['users']>,
  { inferredRoles, unknownStatus }: Laid,
  findings: Findings,
): Promise<NonNullable<Laid['data']['users']>> {
  const people = await selectHeldPeople(tx, account.id);
  const held = new Map(people.map((person) => [person.externalId, person]));
  warnOfNoGroup(users, (id) => held.has(id), findings);
  return users.map((user, i) => {
    const before = held.get(String(user['externalId']));
    // Nobody is asked by mistake: perhaps the status says that the person has left.
    if (!before) return unknownStatus.has(i) ? { ...user, active: false } : user;
    const { firstName, lastName, active, timezone, role } = before;
    const whole = { firstName, lastName, active, ...(timezone !== null && { timezone }), ...user };
    if (!inferredRoles.has(i)) return whole;
    const { role: inferred, adminOf, ...access } = (user['accessInfo'] ?? {}) as JsonObject;
    // A file that only adds knows only some of those who are managed by somebody: it takes nothing away.
    if (account.filesPartial) return { ...whole, accessInfo: access };
    // Who manages somebody is a Manager; an Administrator who does stays one. An Auditor who manages no one keeps the role,
    // which a file has no word for: with the role left out it stays as it is.
    const stays = role === 'Administrator' ? role : (inferred as JsonValue);
    const isKept = role === 'Auditor' && inferred === 'User';
    const wanted = { ...(!isKept && { role: stays }), ...(adminOf !== undefined && { adminOf }) };
    return { ...whole, accessInfo: { ...access, ...wanted } };
  });
}

/** Warns, once, of new people who are in no group: perhaps the column of groups was not understood. */
function warnOfNoGroup(
  users: NonNullable<Laid['data']['users']>,
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
    `${alone.length === 1 ? '1 new person is' : `${alone.length.toLocaleString('en')} new people are`} in no group. ` +
    'Name their groups in a column with the header Department.';
  findings.warn({ type: 'no group', message, path: `/data/users/${first[0]}/accessInfo/memberOf` });
}

/** Findings with their places in the file; what is found twice of one cell is told once. */
function findingsIn(laid: () => Laid | undefined): Findings {
  const findings = newFindings();
  const seen = new Set<string>();
  return {
    ...findings,
    fault(found) {
      if (findings.isFull()) return findings.fault(found); // only counted
      const one = described(found);
      const told = lackIn(one, laid()) ?? placed(one, laid());
      const key = [told.type, told.sheet, told.row, told.column, told.message].join('\0');
      if (told.row !== undefined && seen.has(key)) return;
      seen.add(key);
      findings.fault(told);
    },
    warn: (found) => findings.warn(() => placed(described(found), laid())),
  };
}

/** A column that is missing is one fault, and not one of every row. */
const lackIn = ({ type, path }: Detail, laid: Laid | undefined) =>
  type === 'missing field' && path !== undefined ? laid?.lackOf(path) : undefined;

/** Where in the file it is what was found in what the file says. */
function placed<T extends { message: string; path?: string }>(found: T, laid: Laid | undefined): T {
  if (!laid) return found;
  const { path, ...rest } = found;
  const place = path === undefined ? undefined : laid.placeOf(path);
  const message = found.message.replaceAll(/\/data\/(?:users|groups)\/\d+(?:\/[^\s.,;]+)*/g, (pointer) => {
    const { row, sheet } = laid.placeOf(pointer) ?? {};
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

/** Ends a file that could not be processed, so that those after it come to their turn. */
async function giveUp(pool: Pool, account: Account, file: WaitingFile, message: string): Promise<void> {
  const findings = newFindings();
  findings.fault({ type: 'file not processed', message });
  await inTransaction(pool, async (tx) => {
    if (!(await lockBegunFile(tx, account.id, file.id, file.turn))) throw turnLost();
    if (file.runId !== null) await failRun(tx, account.id, file.runId, message);
    const told = { subject: file.id, details: { file: file.name } };
    await audit(tx, account.id, { origin: 'service' }, 'file given up', told);
    await tell(
      tx,
      account,
      file,
      reportOf(account, file, file.runId ?? newId(), { outcome: 'failed' }, findings),
    );
  });
}

/** Somebody in the console, who decides. */
export type Decider = Extract<Actor, { origin: 'console' }>;

/** Who approves, and how many people and groups they were shown that the run removes. */
export type Approval = { by: Decider; peopleRemoved: number; groupsRemoved: number };

/**
 * Applies a held run: exactly what it showed. `approval`: of the console. Throws a Fault: not_found; conflict when the run
 * is not held or would by now change other things than were shown; invalid when it removes another number of people or
 * groups than was said; then it stays held.
 */
export async function approveRun(
  pool: Pool,
  accountId: AccountId,
  runId: string,
  forgetGroups: ForgetGroups,
  approval?: Approval,
): Promise<FileReport> {
  return inTransaction(pool, async (tx) => {
    await lockAccount(tx, accountId);
    const { organization, planDigest, removed } = await takeHeldRun(tx, accountId, runId);
    if (approval) {
      refuseOtherNumber('people', approval.peopleRemoved, removed.people);
      refuseOtherNumber('groups', approval.groupsRemoved, removed.groups);
    }
    const findings = newFindings();
    const { settings, data, partial = [] } = organization;
    const sent = { settings, data: data as SentByFile['data'], partial };
    const wanted = { runId, forgetGroups, beyondLimits: 'apply' as const, shown: planDigest };
    const { outcome, refusal } = await synchronizeFile(tx, accountId, sent, wanted, findings);
    if (refusal) throw new Fault('conflict', 'plan changed', refusal.message, { details: refusal.details });
    await noteApproval(tx, accountId, runId, approval?.by.userId ?? null);
    if (approval) await audit(tx, accountId, approval.by, 'run approved', { subject: runId });
    const account = await accountById(tx, accountId);
    const report = await updateReport(tx, accountId, runId, (before) => {
      const after = { ...before, outcome, details: [], warnings: findings.warnings() };
      return { ...after, message: messageOf(after, accountId) };
    });
    if (!report)
      throw new Fault('not_found', 'file not found', 'The file of the run is gone. Send it again.');
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

/** Ends a held run without applying it. Throws a Fault: not_found, or conflict when it is not held. */
export async function rejectRun(pool: Pool, accountId: AccountId, runId: string, by: Decider): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await lockAccount(tx, accountId);
    const message = 'It was held, and was rejected: nothing was applied.';
    await rejectHeldRun(tx, accountId, runId, { userId: by.userId, message });
    await updateReport(tx, accountId, runId, (before) => ({ ...before, outcome: 'refused', message }));
    await audit(tx, accountId, by, 'run rejected', { subject: runId });
  });
}

/**
 * Has a file processed once more, such as when its columns have been confirmed; what was held of it ends. Says whether:
 * a file after which something else was applied would undo that, and is left alone.
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
    const message = 'It was held; the file is processed once more, and nothing of this run was applied.';
    await rejectHeldRun(tx, accountId, before.runId, { userId: by.userId, message });
  }
  await addProcessing(tx, accountId);
  return true;
}
