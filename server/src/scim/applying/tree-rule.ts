// The rule by which the tree of groups is derived from a directory, which has none itself: from attributes, from managers, or from its
// groups. Pure.
import { isJsonObject, type JsonObject } from '../../base/json/json.ts';
import type { OrganizationGroup } from '@soundings/contract/organization.ts';
import type { ScimLevel } from '@soundings/contract/scim/directory.ts';
import { maxNameLength, maxTreeDepth } from '@soundings/contract/limits.ts';
import { Digest } from '../../base/crypto/digest.ts';
import { caseless } from '../protocol/evaluate.ts';
import { enterpriseSchema } from '../protocol/schemas.ts';

/** What the tree depends on, of a user of the directory. */
export type TreeUser = { id: string; name: string; managerId: string | null };

/** A group of the directory. `parentIds`: the groups that it is a member of. The first one counts. */
export type TreeGroup = { id: string; name: string; parentIds: readonly string[] };

/** The groups that a user belongs to, by externalId. */
export type Access = { memberOf: string[]; adminOf?: string[] };

/** The groups that a rule derives, parents first, and what to do with a user. */
export type DerivedTree = {
  groups: OrganizationGroup[];
  /** Undefined: the rule does not place the user. */
  accessOf: (user: { id: string; resource: JsonObject }) => Access | undefined;
};

const shortened = (name: string): string => [...name].slice(0, maxNameLength).join('');

/** The longest externalId that is not shortened. */
const maxKey = 255;

/** Returns the tree by attributes: one level of groups for each attribute. Levels that a user has no value for are skipped. */
export function treeByAttributes(
  levels: readonly ScimLevel[],
  users: readonly { id: string; resource: JsonObject }[],
): DerivedTree {
  const groups = new Map<string, OrganizationGroup>();
  const places = new Map<string, string>();
  for (const { id, resource } of users) {
    let parent: string | undefined;
    const path: string[] = [];
    for (const level of levels) {
      const name = valueOf(resource, level);
      if (name === undefined) continue;
      path.push(`${level}=${caseless(name)}`);
      const externalId = keyOf(path);
      // A top-level group stays where an administrator has moved it, so it is sent without a parent.
      if (!groups.has(externalId))
        groups.set(externalId, {
          externalId,
          name: shortened(name),
          ...(parent !== undefined && { parent }),
        });
      parent = externalId;
    }
    if (parent !== undefined) places.set(id, parent);
  }
  return {
    groups: [...groups.values()],
    accessOf: ({ id }) => ({ memberOf: places.has(id) ? [places.get(id) as string] : [] }),
  };
}

function valueOf(resource: JsonObject, level: ScimLevel): string | undefined {
  const enterprise = resource[enterpriseSchema];
  const value = isJsonObject(enterprise) ? enterprise[level] : undefined;
  const text = typeof value === 'string' ? value.normalize('NFC').trim().replaceAll(/\s+/g, ' ') : '';
  return text === '' ? undefined : text;
}

/**
 * Returns the externalId of a group by its path. It says where the group comes from, is different for each path, and is a digest if it
 * would be too long.
 */
function keyOf(path: readonly string[]): string {
  const key = `scim:${path.map((one) => one.replaceAll(/[\p{Cc}%/]/gu, encodeURIComponent)).join('/')}`;
  return key.length <= maxKey ? key : `scim:${digestOfPath(path)}`;
}

function digestOfPath(path: readonly string[]): string {
  const digest = new Digest();
  for (const one of path) digest.add(one);
  return digest.toString();
}

/** Returns the externalId of the group of a manager's people. */
export const teamKeyOf = (managerId: string): string => `scim:team/${managerId}`;

/** Returns the tree by managers: each manager owns a group with their people, in the group in which the manager is. */
export function treeByManagers(users: readonly TreeUser[]): DerivedTree {
  const byId = new Map(users.map((user) => [user.id, user]));
  const managerOf = acyclic(byId);
  const leading = new Set(users.flatMap(({ id }) => managerOf(id) ?? []));
  const groups = [...leading].toSorted().map((id): OrganizationGroup => {
    const above = managerOf(id);
    const name = byId.get(id)?.name ?? id;
    return {
      externalId: teamKeyOf(id),
      name: shortened(name),
      parent: above === undefined ? null : teamKeyOf(above),
    };
  });
  return {
    groups,
    accessOf: ({ id }) => {
      const above = managerOf(id);
      const own = leading.has(id) ? [teamKeyOf(id)] : [];
      // Someone without a manager belongs to their own people.
      return { memberOf: above === undefined ? own : [teamKeyOf(above)], adminOf: own };
    },
  };
}

/**
 * Returns the manager of each user, without circles and without those who don't exist. Of a circle, the user with the lowest id has no
 * manager, so the result does not depend on an order. Too long a chain is cut too.
 */
function acyclic(byId: ReadonlyMap<string, TreeUser>): (id: string) => string | undefined {
  const above = new Map<string, string>();
  for (const { id, managerId } of byId.values()) {
    const manager = managerId?.toLowerCase();
    if (manager !== undefined && manager !== id && byId.has(manager)) above.set(id, manager);
  }
  cutCircles(above);
  return (id) => above.get(id);
}

function cutCircles(above: Map<string, string>): void {
  const depths = new Map<string, number>();
  for (const start of [...above.keys()].toSorted()) {
    const way: string[] = [];
    const onWay = new Set<string>();
    let at: string | undefined = start;
    while (at !== undefined && !depths.has(at) && !onWay.has(at)) {
      way.push(at);
      onWay.add(at);
      at = above.get(at);
    }
    if (at !== undefined && onWay.has(at)) {
      const circle = way.slice(way.indexOf(at));
      above.delete(circle.toSorted()[0] as string);
    }
    for (const id of way.toReversed()) {
      const parent = above.get(id);
      const depth = parent === undefined ? 1 : (depths.get(parent) ?? 0) + 1;
      if (depth >= maxTreeDepth - 1) above.delete(id);
      depths.set(id, above.has(id) ? depth : 1);
    }
  }
}

/** Returns the tree by the groups of the directory: a group in another group is its subgroup. */
export function treeByGroups(
  all: readonly TreeGroup[],
  groupsOf: ReadonlyMap<string, readonly string[]>,
): DerivedTree {
  const byId = new Map(all.map((group) => [group.id, group]));
  const above = new Map<string, string>();
  for (const { id, parentIds } of all) {
    const parent = parentIds.find((one) => byId.has(one));
    if (parent !== undefined && parent !== id) above.set(id, parent);
  }
  cutCircles(above);
  return {
    groups: all.map(({ id, name }) => ({
      externalId: id,
      name: shortened(name),
      parent: above.get(id) ?? null,
    })),
    accessOf: ({ id }) => ({ memberOf: (groupsOf.get(id) ?? []).filter((group) => byId.has(group)) }),
  };
}
