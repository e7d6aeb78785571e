// Warns about the effects of a plan that its sender may not intend, such as a person who returns under another externalId. Pure.
import type { Warning } from '@soundings/contract/organization.ts';
import { quote } from '../base/text.ts';
import { positionOf, type SentOrganization } from './check.ts';
import type { UserDetails } from './current-state.ts';
import type { Findings } from './findings.ts';
import type { Plan } from './plan.ts';
import { replacedGroups } from './replaced.ts';
import type { TargetTree } from './target-tree.ts';

/** A group and the number of weeks in which it has results. */
export type WeeksOfGroup = { id: number; weeks: number };

/** What the warnings about a plan depend on. */
type Effects = {
  plan: Plan;
  organization: SentOrganization;
  targetTree: TargetTree;
  /** The id of the user who has each email address now. */
  owners: ReadonlyMap<string, number>;
  /** The externalIds of users whose role becomes pending. */
  pending: string[];
  /** The removed groups that have results. */
  weeksOfRemoved: WeeksOfGroup[];
};

/** Warns about new ids for existing people and groups, deleted results, and changes of roles. */
export function warnOfEffects(
  { plan, organization, targetTree, owners, pending, weeksOfRemoved }: Effects,
  findings: Findings,
): void {
  warnOfPending(pending, organization, findings);
  warnOfNewIds(plan, owners, organization, findings);
  warnOfNewGroupIds(plan, targetTree, organization, findings);
  warnOfHistory(weeksOfRemoved, targetTree, findings);
  warnOfAuditors(plan, organization, findings);
}

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
    findings.warn(() => newIdWarning(externalId, arrivesAs, places.users.get(arrivesAs) as number));
  }
}

/** Returns the warning about a user who seems to return under another externalId, `place`: the position in the list. */
export const newIdWarning = (
  externalId: string,
  arrivesAs: string,
  place: number,
): Warning & { type: 'new externalId' } => ({
  type: 'new externalId',
  message:
    `User ${quote(externalId)} is removed, and new user ${quote(arrivesAs)} has the same email address. ` +
    'If they are the same person, keep the old externalId.',
  path: `/data/users/${place}/externalId`,
  externalId,
  arrivesAs,
});

const placeOf = (externalId: string, organization: SentOrganization) =>
  `/data/users/${positionOf(organization, organization.places.users.get(externalId) as number)}`;

/** Warns if a group is removed while a new group seems to be the same one. */
export function warnOfNewGroupIds(
  plan: Pick<Plan, 'groups'>,
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
export function warnOfHistory(
  weeksOfRemoved: WeeksOfGroup[],
  { byId }: TargetTree,
  findings: Findings,
): void {
  for (const { id, weeks } of weeksOfRemoved) {
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

/** Returns the externalIds of users whose role becomes pending, or whose address changes while it is pending. */
export function pendingIn({ users }: Plan, details: ReadonlyMap<number, UserDetails>): string[] {
  const becomes = users.update.filter(({ id, rolePending, emailKey }) => {
    const before = details.get(id);
    return rolePending && !(before?.rolePending && before.emailKey === emailKey);
  });
  return [...users.create.filter(({ rolePending }) => rolePending), ...becomes].map(
    ({ externalId }) => externalId,
  );
}

/** Warns for each new Administrator, who has the rights of a User until an administrator confirms the role. */
export function warnOfPending(pending: string[], organization: SentOrganization, findings: Findings): void {
  for (const externalId of pending) {
    findings.warn(() => ({
      type: 'administrator pending',
      message:
        `User ${quote(externalId)} becomes an Administrator, or is one and gets another email address. ` +
        'An administrator must confirm this in the console. Until then, the user has the rights of a User.',
      path: `${placeOf(externalId, organization)}/accessInfo/role`,
      externalId,
    }));
  }
}

/** Warns for each user who loses the Auditor role. It can only be given in the console, so any role that is sent replaces it. */
export function warnOfAuditors(
  { changes }: Pick<Plan, 'changes'>,
  organization: SentOrganization,
  findings: Findings,
): void {
  for (const { entity, externalId, fields } of changes) {
    const role = entity === 'user' ? fields?.['role'] : undefined;
    if (role?.from !== 'Auditor') continue;
    const message =
      `The role of user ${quote(externalId)} changes from Auditor to ${quote(String(role.to))}. ` +
      'To keep the role that was set in the console, leave the role out of the request.';
    const path = `${placeOf(externalId, organization)}/accessInfo/role`;
    findings.warn({ type: 'auditor replaced', message, path, externalId });
  }
}

/** Warns for each manual group that gets another parent because its own is removed. */
export function warnOfMovedGroups({ groups }: Plan, { byId }: TargetTree, findings: Findings): void {
  for (const { id } of groups.moveUp) {
    const { externalId, name } = byId.get(id) ?? { externalId: null, name: '' };
    const message = `The manual group ${JSON.stringify(name)} (${externalId ?? id}) moves up a level because its parent group is removed.`;
    findings.warn({ type: 'moved up', message });
  }
}
