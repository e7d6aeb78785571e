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
  for (const { setting, kind, verb, limit, count } of exceededChangeLimits(settings, plan.summary)) {
    const remedy =
      count <= ceiling
        ? `If this is intended, set ${setting} to ${count} or more.`
        : `If this is intended, make the change in steps: ${setting} can be at most ${ceiling}.`;
    const message = `The request would ${verb} ${count} ${kind}, but ${setting} allows only ${limit}. ${remedy}`;
    findings.fault({ type: 'limit exceeded', message, path: `/settings/${setting}`, setting, limit, count });
  }
}

/** Returns the limits that the changes of a plan exceed, with the number of these changes. */
export const exceededChangeLimits = (settings: Settings, summary: Summary) =>
  limits
    .map(([setting, kind, counted, verb]) => ({
      setting,
      kind,
      verb,
      limit: settings[setting] ?? maxChangesDefault,
      count: summary[kind][counted],
    }))
    .filter(({ limit, count }) => count > limit);
