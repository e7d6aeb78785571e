// Determines which groups exist after a request, and their positions in the tree (decisions B8, B9, B12). Pure.
import { nearestStaying } from '../people/tree.ts';
import type { SentOrganization } from './check.ts';
import type { CurrentGroup, GroupKey, Target } from './current-state.ts';

export type TargetTree = {
  /** The groups that a request can refer to: its own, and manual groups that have an externalId. */
  targets: Map<string, Target>;
  byExternalId: Map<string, CurrentGroup>;
  byId: Map<number, CurrentGroup>;
  /** Managed groups that the request no longer lists. */
  removed: Set<number>;
  /** The parent of every group after the request. A group with an unknown parent counts as top-level; the fault is reported elsewhere. */
  parents: Map<GroupKey, GroupKey | null>;
  /** Whether the request sets parents. */
  setsParents: boolean;
};

export function targetTreeOf(
  { data, partial, removes }: SentOrganization,
  groups: CurrentGroup[],
): TargetTree {
  const byId = new Map(groups.map((group) => [group.id, group]));
  const byExternalId = new Map<string, CurrentGroup>();
  for (const group of groups) if (group.externalId !== null) byExternalId.set(group.externalId, group);

  const listed = new Set(data.groups?.map(({ externalId }) => externalId));
  const isWhole = data.groups !== undefined && !partial?.includes('groups');
  const named = new Set(removes?.groups);
  const removed = new Set<number>();
  const targets = new Map<string, Target>();
  for (const { id, externalId, managed } of groups) {
    const isLeftOut = isWhole && !listed.has(externalId as string);
    if (managed && (isLeftOut || named.has(externalId as string))) removed.add(id);
    else if (externalId !== null) targets.set(externalId, { externalId, id, managed });
  }
  for (const { externalId } of data.groups ?? []) {
    if (!targets.has(externalId)) targets.set(externalId, { externalId, id: null, managed: true });
  }

  const setsParents = data.groups?.some((group) => group.parent !== undefined) ?? false;
  const parents = new Map<GroupKey, GroupKey | null>();
  for (const { id, parentId } of groups) {
    if (removed.has(id)) continue;
    const above = nearestStaying(
      parentId,
      (one) => byId.get(one)?.parentId ?? null,
      (one) => !removed.has(one),
    );
    parents.set(id, above);
  }
  for (const { externalId, parent } of data.groups ?? []) {
    const target = targets.get(externalId) as Target;
    if (!target.managed) continue; // a manual group: reported as a fault, and not moved
    if (parent === undefined && target.id !== null && !isWhole) continue;
    const above = parent === undefined || parent === null ? undefined : targets.get(parent);
    if (setsParents) parents.set(groupKeyOf(target), above ? groupKeyOf(above) : null);
    else if (target.id === null) parents.set(groupKeyOf(target), null);
  }
  return { targets, byExternalId, byId, removed, parents, setsParents };
}

export function groupKeyOf({ id, externalId }: Target): GroupKey {
  return id ?? externalId;
}

/** Returns how a report refers to a group: by its externalId, or by its id if it has none (as in the history format). */
export function groupNameOf(key: GroupKey | null, { byId }: TargetTree): string | { id: number } | null {
  if (typeof key !== 'number') return key;
  return byId.get(key)?.externalId ?? { id: key };
}
