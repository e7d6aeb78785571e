// What a run records when it ends: its outcome, its message, and its faults and warnings without personal data. Pure.
import { isDryRun } from '@soundings/contract/dry-run.ts';
import { formatTexts, type FormatType } from '@soundings/contract/formats.ts';
import type { Settings, Warning } from '@soundings/contract/organization.ts';
import { type Detail, type DetailType, detailTypes } from '@soundings/contract/problem.ts';
import { Fault } from '../base/errors.ts';
import type { Findings } from './findings.ts';
import type { Plan } from './plan.ts';
import type { RunEnd } from './runs.sql.ts';

/** Returns the Fault that lists all faults of a request. */
export function requestFaultOf(findings: Findings): Fault {
  const count = findings.faultCount();
  const details = findings.faults();
  const first = details[0] as { type: DetailType; message: string };
  const message =
    count === 1
      ? `Nothing was applied: ${first.message}`
      : `Nothing was applied: the request has ${count} errors. First error: ${first.message}`;
  return new Fault('invalid', first.type, message, { details });
}

/** Returns what a run records. */
export function runEnd(
  settings: Settings,
  findings: Findings,
  end: {
    outcome: RunEnd['outcome'];
    refusal?: Fault;
    plan?: Pick<Plan, 'summary'>;
    setsTree?: boolean | null;
  },
): RunEnd {
  return {
    validateOnly: isDryRun(settings),
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
  if (outcome === 'pending')
    return 'This run would make more changes than allowed. Nothing is applied until an administrator approves it.';
  if (outcome === 'refused') {
    const count = findings.faultCount();
    return `Refused because of ${count === 1 ? '1 error' : `${count} errors`}. Nothing was applied.`;
  }
  return null;
}

// Messages of these types quote personal data. If the person never becomes a user, it would never be erased. An externalId is in the
// list of changes anyway.
const quoting: ReadonlySet<string> = new Set<DetailType>([
  ...(Object.keys(formatTexts.en) as FormatType[]).filter((type) => type !== 'invalid externalId'),
  'value not allowed',
]);

/** Returns a fault or warning as a run stores it: with its path, but without the value. */
function withoutValue<T extends Detail | Warning>(found: T): T {
  const { value: _, ...placed } = found as T & { value?: string };
  return (
    quoting.has(found.type) ? { ...placed, message: detailTypes[found.type as DetailType] } : placed
  ) as T;
}
