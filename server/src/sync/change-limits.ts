// The limits on how many users and groups a request may create, update and delete (§2.2). Pure.
import { maxChangesCeiling, maxChangesDefault } from '@soundings/contract/limits.ts';
import type { Settings, Summary } from '@soundings/contract/organization.ts';
import type { Findings } from './findings.ts';
import type { Plan } from './plan.ts';

const limits = [
  ['maxUsersCreated', 'users', 'created', 'create'],
  ['maxUsersUpdated', 'users', 'updated', 'update'],
  ['maxUsersDeleted', 'users', 'deleted', 'delete'],
  ['maxGroupsCreated', 'groups', 'created', 'create'],
  ['maxGroupsUpdated', 'groups', 'updated', 'update'],
  ['maxGroupsDeleted', 'groups', 'deleted', 'delete'],
] as const;

/** Adds a fault for each limit that a plan exceeds. `ceiling`: how high a limit can be set. */
export function checkLimits(
  settings: Settings,
  plan: Pick<Plan, 'summary'>,
  findings: Findings,
  ceiling = maxChangesCeiling,
): void {
  for (const [setting, kind, counted, verb] of limits) {
    const limit = settings[setting] ?? maxChangesDefault;
    const count = plan.summary[kind][counted];
    if (count <= limit) continue;
    const remedy =
      count <= ceiling
        ? `If this is intended, set ${setting} to ${count} or more.`
        : `If this is intended, make the change in steps: ${setting} can be at most ${ceiling}.`;
    const message = `The request would ${verb} ${count} ${kind}, but ${setting} allows only ${limit}. ${remedy}`;
    findings.fault({ type: 'limit exceeded', message, path: `/settings/${setting}`, setting, limit, count });
  }
}

/** Returns whether what is planned so far exceeds no limit. */
export const isWithinLimits = (settings: Settings, summary: Summary): boolean =>
  limits.every(
    ([setting, kind, counted]) => summary[kind][counted] <= (settings[setting] ?? maxChangesDefault),
  );
