// Processes a push in one request: reads it, updates the account to match it, and records it as a run.
import { maxOrganizationBodyBytes } from '@soundings/contract/limits.ts';
import { isDryRun } from '@soundings/contract/dry-run.ts';
import type { Report, Settings } from '@soundings/contract/organization.ts';
import { randomSeed } from '../base/crypto/digest.ts';
import type { Fault } from '../base/errors.ts';
import { type AccountId, inTransaction, type Pool, type Transaction } from '../db/db.ts';
import type { DeleteGroupResults } from '../people/groups.ts';
import { readOrganization } from './check.ts';
import { type Findings, newFindings } from './findings.ts';
import { jsonOf, type SentBody } from './texts/parse.ts';
import { knownTextsOf } from './parts/people-index.ts';
import { emptyPlan, type Plan } from './plan.ts';
import {
  bodyDigest,
  canBeRemembered,
  rememberRepeated,
  reportOfRepeated,
  summaryOfRepeated,
} from './repeated/repeated.ts';
import { requestFaultOf, runEnd } from './run-end.ts';
import { insertRun, type RunStart, showProcessing, updateFailed } from './runs.sql.ts';
import { auditRun } from './runs.ts';
import { digestOfPlan, synchronize, type Synchronized } from './sync.ts';
import { NotByTexts } from './texts/compare-texts.ts';
import { indexOfLists, readByTexts, type ReadLists, readParsed } from './texts/read-lists.ts';
import { replaceTexts, selectTexts } from './texts/sent-texts.sql.ts';

/** What a push needs from layers above. `isGone` returns whether the client has disconnected, so that no changes are begun. */
export type PushHooks = { deleteGroupResults: DeleteGroupResults; isGone?: () => boolean };

/** A push: the account, the run that is recorded, and the digest of the body. */
type PushOfAccount = { accountId: AccountId; run: RunStart; digest: Buffer } & PushHooks;

/**
 * Processes the body of an organization request and records it as a run. Returns the report. Throws a Fault that lists every
 * fault of the request; then nothing was applied.
 */
export async function pushOrganization(
  pool: Pool,
  accountId: AccountId,
  run: RunStart,
  body: SentBody,
  hooks: PushHooks,
): Promise<Report> {
  const digest = bodyDigest(body);
  const repeated = await reportOfRepeated(pool, accountId, run, digest);
  if (repeated) return repeated;
  const findings = newFindings();
  const refuse = async (refusal: Fault, settings: Settings): Promise<never> => {
    const end = runEnd(settings, findings, { outcome: 'refused', refusal });
    await inTransaction(pool, async (tx) => {
      await insertRun(tx, accountId, { ...run, ...end });
      await auditRun(tx, accountId, run.id);
    });
    throw refusal;
  };
  const json = await jsonOf(body, maxOrganizationBodyBytes, findings).catch((fault: Fault) => {
    if (fault.kind === 'unavailable') throw fault;
    return refuse(fault, {});
  });
  const push = { accountId, run, digest, ...hooks };
  const report = json && (await pushByTexts(pool, push, json));
  if (report) return report;
  const lists = json && readParsed(json, readOrganization, findings);
  // If the list of faults is full, there is no need to look for more.
  if (!lists || findings.isFull())
    return refuse(requestFaultOf(findings), lists?.organization.settings ?? {});
  return process(pool, push, lists, findings);
}

/**
 * Processes a push without parsing the users whose texts are the same as in the last push. Returns undefined if it has to be parsed and
 * processed as a whole.
 */
async function pushByTexts(pool: Pool, push: PushOfAccount, json: Uint8Array): Promise<Report | undefined> {
  const index = await selectTexts(pool, push.accountId, 0);
  const lists = readByTexts(json, index && knownTextsOf(index), readOrganization);
  // The fingerprints of texts have no languages.
  if (!lists || lists.organization.settings.forceSetLanguage === true) return undefined;
  return process(pool, push, lists, newFindings()).catch((error: unknown) => {
    if (error instanceof NotByTexts) return undefined;
    throw error;
  });
}

/** Processes lists that were read. Throws `NotByTexts` if they have to be parsed; then nothing was done, but the run has begun. */
async function process(
  pool: Pool,
  push: PushOfAccount,
  lists: ReadLists,
  findings: Findings,
): Promise<Report> {
  const { accountId, run, digest } = push;
  const { settings } = lists.organization;
  // From here on the run is stored. If the process is killed, `updateLostRuns` marks it as failed.
  const begun = runEnd(settings, findings, { outcome: 'processing' });
  await insertRun(pool, accountId, { ...run, ...begun });
  const report = (plan: Plan): Report => {
    const validateOnly = isDryRun(settings);
    return {
      id: run.id,
      validateOnly,
      applied: !validateOnly,
      plan: digestOfPlan(plan),
      summary: plan.summary,
      changes: plan.changes,
      warnings: findings.warnings(),
    };
  };
  const ended = await inTransaction(pool, async (tx) => {
    const end = await synchronizeLists(tx, push, lists, findings);
    if (end.refusal) return end;
    const about = { hasChanges: !isEmpty(end.plan), isApplied: end.outcome === 'applied' };
    if (canBeRemembered(settings, { ...about, warnings: findings.warnings() })) {
      const summary = summaryOfRepeated(end.plan.summary);
      await rememberRepeated(tx, accountId, report({ ...emptyPlan(), summary }), digest);
    }
    return end;
  }).catch(async (error: unknown) => {
    if (error instanceof NotByTexts) throw error;
    await updateFailed(pool, accountId, run.id, null).catch(() => {}); // if this fails, `updateLostRuns` marks the run
    throw error;
  });
  if (ended.refusal) throw ended.refusal;
  return report(ended.plan);
}

/** Updates the account to match the lists. If they are applied, their texts are known from now on. */
async function synchronizeLists(
  tx: Transaction,
  { accountId, run, deleteGroupResults, isGone }: PushOfAccount,
  lists: ReadLists,
  findings: Findings,
): Promise<Synchronized> {
  const isClean = lists.split !== undefined;
  const index = isClean ? indexOfLists(lists, { isStored: false, seed: randomSeed(), start: 0 }).index : null;
  const byTexts = lists.known && index ? { ...lists, index } : undefined;
  const { organization } = lists;
  const wanted = { runId: run.id, organization, byTexts, deleteGroupResults, isGone };
  // The connection runs them in order.
  const [, end] = await Promise.all([
    showProcessing(tx, accountId, run.id),
    synchronize(tx, accountId, wanted, findings),
  ]);
  if (byTexts && (end.refusal || findings.warnings().length > 0)) throw new NotByTexts();
  const isOther = index === null || index !== lists.known?.bytes;
  if (end.outcome === 'applied' && organization.data.users && isOther)
    await replaceTexts(tx, accountId, index);
  return end;
}

/** Whether a plan changes nothing, and everyone in the request is as last sent. */
const isEmpty = ({ changes, users }: Plan): boolean => changes.length === 0 && users.confirm.length === 0;
