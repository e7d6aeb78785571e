// The console: runs and their outcome, downloads of them, and approving or rejecting pending runs.
import type { Run, RunChange, RunLimit } from '@soundings/contract/console/runs.ts';
import { maxChangesDefault } from '@soundings/contract/limits.ts';
import type { Settings, Summary } from '@soundings/contract/organization.ts';
import { audit } from '../../accounts/audit.ts';
import { byteOrderMark, csvRow } from '../../base/csv.ts';
import { Fault } from '../../base/errors.ts';
import { catalogue } from '../../base/texts.ts';
import type { AccountId, Pool } from '../../db/db.ts';
import type { Approve } from '../../files/approval-thread.ts';
import { faultyRowsOf } from '../../files/preview.ts';
import { runNotFound, runNotPending } from '../../sync/pending-runs.ts';
import { actorOf, type Console, Download, type Who } from '../core/console.ts';
import {
  countRunChanges,
  type RunFound,
  selectRemovedGroups,
  selectRemovedManagers,
  selectRun,
  selectRunChanges,
  selectRunRows,
} from './runs.sql.ts';
import { rowWindowOf, withRemedies } from './remedies.ts';
import type { Arguments } from './text/arguments.ts';
import en from './text/en/faulty-rows.json' with { type: 'json' };
import sv from './text/sv/faulty-rows.json' with { type: 'json' };
import { inSlices } from '../core/slices.ts';
import { rejectRun } from '../../files/approval.ts';

/** The maximum number of groups with lost results, and of removed managers, that a run names. */
const maxLost = 100;
/** A window larger than any run. */
const everything = { offset: 0, limit: 10_000_000 };
const unfiltered = { action: null, entity: null, search: null };

export function serveRuns(console: Console, pool: Promise<Pool>, approve: Approve): void {
  console.serve('GET /runs', async ({ accountId }, { query }) => {
    const { outcome = null, source = null, dryRun, search = null } = query;
    const filter = { outcome, source, dryRun: dryRun === undefined ? null : dryRun === 'true', search };
    return selectRunRows(await pool, accountId, filter, rowWindowOf(query));
  });

  console.serve('GET /runs/{runId}', async ({ accountId }, { params, query }) =>
    runOf(await pool, accountId, params.runId, query.language),
  );

  console.serve('GET /runs/{runId}/changes', async ({ accountId }, { params, query }) => {
    const { runId } = await foundRun(await pool, accountId, params.runId);
    const { action = null, entity = null, search = null } = query;
    return selectRunChanges(await pool, accountId, runId, { action, entity, search }, rowWindowOf(query));
  });

  console.serve('POST /runs/{runId}/approval', async (who, { params, body }) => {
    const { runId, outcome } = await foundRun(await pool, who.accountId, params.runId);
    if (outcome !== 'pending') throw runNotPending(runId, outcome);
    await approve(who.accountId, runId, { by: actorOf(who), ...body });
  });

  console.serve('POST /runs/{runId}/rejection', async (who, { params }) => {
    const { runId } = await foundRun(await pool, who.accountId, params.runId);
    await rejectRun(await pool, who.accountId, runId, actorOf(who));
  });

  const exported = async (who: Who, runId: string, kind: 'faults' | 'changes' | 'report') =>
    audit(await pool, who.accountId, actorOf(who), 'run exported', { subject: runId, details: { kind } });

  console.serve('GET /runs/{runId}/faults.csv', async (who, { params, query }) => {
    const run = await foundRun(await pool, who.accountId, params.runId);
    const rows = await faultsOf(await pool, who.accountId, run, query.language);
    await exported(who, run.runId, 'faults');
    return new Download(`${nameOf(run)}-faults.csv`, csvType, byteOrderMark + rows);
  });

  console.serve('GET /runs/{runId}/changes.csv', async (who, { params }) => {
    const run = await foundRun(await pool, who.accountId, params.runId);
    const { rows } = await selectRunChanges(await pool, who.accountId, run.runId, unfiltered, everything);
    await exported(who, run.runId, 'changes');
    return new Download(`${nameOf(run)}-changes.csv`, csvType, changesCsv(rows));
  });

  console.serve('GET /runs/{runId}/report.json', async (who, { params }) => {
    const run = await foundRun(await pool, who.accountId, params.runId);
    const { rows } = await selectRunChanges(await pool, who.accountId, run.runId, unfiltered, everything);
    await exported(who, run.runId, 'report');
    return new Download(`${nameOf(run)}.json`, 'application/json', reportJson(run, rows));
  });
}

async function* changesCsv(rows: RunChange[]): AsyncGenerator<string> {
  yield byteOrderMark + csvRow(['action', 'entity', 'externalId', 'name', 'field', 'before', 'after']);
  yield* inSlices(rows, ({ action, entity, externalId, name, fields = {} }) => {
    const changed = Object.entries(fields).map(([field, { from, to }]) => [field, textOf(from), textOf(to)]);
    return (changed.length > 0 ? changed : [[null, null, null]])
      .map((more) => csvRow([action, entity, externalId, name, ...more]))
      .join('');
  });
}

async function* reportJson(run: RunFound, rows: RunChange[]): AsyncGenerator<string> {
  const { runId, notices, details, faults: _, warnings: __, fileId: ___, ...rest } = run;
  const report = { id: runId, ...rest, details: details ?? [], warnings: notices ?? [] };
  yield `${JSON.stringify(report, null, 2).slice(0, -2)},\n  "changes": [`;
  yield* inSlices(rows, ({ entity, externalId, action, fields }, i) => {
    const change = JSON.stringify({ entity, externalId, action, ...(fields && { fields }) }, null, 2);
    return `${i === 0 ? '' : ','}\n    ${change.replaceAll('\n', '\n    ')}`;
  });
  yield rows.length === 0 ? ']\n}\n' : '\n  ]\n}\n';
}

const csvType = 'text/csv; charset=utf-8';

/** Returns a run. Throws a Fault if the account has no such run. */
async function foundRun(pool: Pool, accountId: AccountId, runId: string): Promise<RunFound> {
  const isId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(runId);
  const run = isId ? await selectRun(pool, accountId, runId) : undefined;
  if (!run) throw runNotFound(accountId, runId);
  return run;
}

async function runOf(pool: Pool, accountId: AccountId, id: string, language: string): Promise<Run> {
  const found = await foundRun(pool, accountId, id);
  const isOver = found.outcome === 'applied';
  const none = { lost: [], lostCount: 0 };
  const [lost, removed, changeCount] = await Promise.all([
    isOver ? none : selectRemovedGroups(pool, accountId, found.runId, maxLost),
    selectRemovedManagers(pool, accountId, found.runId, maxLost),
    countRunChanges(pool, accountId, found.runId),
  ]);
  return {
    ...found,
    details: withRemedies(found.details, language),
    notices: withRemedies(found.notices, language),
    limits: limitsOf(found.settings, found.summary),
    ...lost,
    ...removed,
    changeCount,
  };
}

const counted = [
  ['maxUsersCreated', 'users', 'created'],
  ['maxUsersUpdated', 'users', 'updated'],
  ['maxUsersDeleted', 'users', 'deleted'],
  ['maxGroupsCreated', 'groups', 'created'],
  ['maxGroupsUpdated', 'groups', 'updated'],
  ['maxGroupsDeleted', 'groups', 'deleted'],
] as const;

function limitsOf(settings: Settings | null, summary: Summary | null): RunLimit[] {
  if (!summary) return [];
  return counted.map(([setting, kind, verb]) => ({
    setting,
    limit: settings?.[setting] ?? maxChangesDefault,
    count: summary[kind][verb],
  }));
}

/** Returns the file name of a run's downloads, without extension. */
const nameOf = ({ file, runId }: RunFound) =>
  `${(file ?? 'run').replace(/\.\w+$/, '')}-${runId.slice(0, 13)}`;

const textOf = (value: unknown): string | null =>
  value === null || value === undefined ? null : typeof value === 'string' ? value : JSON.stringify(value);

const rowTexts = catalogue<typeof en, Arguments['faulty-rows']>({ en, sv });

/** Returns the faulty rows of the file as CSV. For pushes, or if the file is deleted, returns the faults of the report. */
async function faultsOf(
  pool: Pool,
  accountId: AccountId,
  { details, file, fileId }: RunFound,
  language: string,
): Promise<string> {
  const faults = withRemedies(details, language);
  if (fileId !== null && faults.some(({ row }) => row !== undefined)) {
    const t = rowTexts.in(language);
    const labels = { row: t('row'), reason: t('reason') };
    const rows = await faultyRowsOf(pool, accountId, { fileId, name: file ?? '' }, faults, labels).catch(
      (error: unknown) => {
        if (!(error instanceof Fault)) throw error;
        return ''; // the file can no longer be read
      },
    );
    if (rows !== '') return rows;
  }
  const head = csvRow(['sheet', 'row', 'column', 'value', 'path', 'externalId', 'reason']);
  const lines = faults.map(({ sheet, row, column, value, path, externalId, remedy }) =>
    csvRow([
      sheet ?? null,
      row ?? null,
      column ?? null,
      value ?? null,
      path ?? null,
      externalId ?? null,
      remedy,
    ]),
  );
  return head + lines.join('');
}
