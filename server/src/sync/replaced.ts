// Finds removed groups that seem to return under another externalId (decision F4). Pure.
import type { GroupState, Plan } from './plan.ts';
import type { TargetTree } from './target-tree.ts';

/**
 * Returns the removed groups that seem to have been created again, by id, each with its new group. Two groups match if they
 * have the same name and the same parent, or parents that match in turn. If the request sets no parents, only names are compared.
 */
export function replacedGroups(
  { groups }: Pick<Plan, 'groups'>,
  { byId, setsParents }: Pick<TargetTree, 'byId' | 'setsParents'>,
): Map<number, GroupState> {
  const placeOf = (name: string, parentId: number | null) =>
    JSON.stringify(setsParents ? [name, parentId] : [name]);
  const removed = new Map<string, number[]>();
  for (const id of groups.remove) {
    const { name = '', parentId = null } = byId.get(id) ?? {};
    const place = placeOf(name, parentId);
    removed.set(place, [...(removed.get(place) ?? []), id]);
  }
  const created = new Map(groups.create.map((group) => [group.externalId, group]));
  const seen = new Map<string, number | undefined>();
  const replaced = new Map<number, GroupState>();

  function idBefore(group: GroupState): number | undefined {
    const { externalId, name } = group;
    if (seen.has(externalId)) return seen.get(externalId);
    const parentId = parentBefore(group);
    const id = parentId === undefined ? undefined : removed.get(placeOf(name, parentId))?.shift();
    seen.set(externalId, id);
    if (id !== undefined) replaced.set(id, group);
    return id;
  }

  function parentBefore({ parent }: GroupState): number | null | undefined {
    if (typeof parent !== 'string') return parent;
    const group = created.get(parent);
    return group && idBefore(group);
  }

  for (const group of groups.create) idBefore(group);
  return replaced;
}
