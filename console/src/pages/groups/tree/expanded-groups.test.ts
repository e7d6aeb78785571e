// Expanding and collapsing groups: a row is visible exactly if all groups above it are expanded.
import type { TreeGroup } from '@soundings/contract/people/placed-groups.ts';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  allExpanded,
  firstExpanded,
  storedIn,
  storedText,
  withCollapsed,
  withExpanded,
} from './expanded-groups.ts';
import { buildTree, visibleRows } from './tree.ts';

const group = (id: number, parentId: number | null): TreeGroup => ({
  id,
  parentId,
  name: `g${id}`,
  externalId: null,
  managed: false,
  people: 0,
});

/**
 * Returns groups in tree order. `parents`: for each group, the position of its parent among the groups before it; negative: the
 * group is at the top.
 */
function groupsFrom(parents: readonly number[]): TreeGroup[] {
  const parentOf = parents.map((at, i) => (at < 0 || i === 0 ? undefined : at % i));
  const inOrder = (parent: number | undefined): TreeGroup[] =>
    parentOf.flatMap((one, i) =>
      one === parent ? [group(i + 1, one === undefined ? null : one + 1), ...inOrder(i)] : [],
    );
  return inOrder(undefined);
}

const trees = fc
  .array(fc.integer({ min: -2, max: 30 }), { minLength: 1, maxLength: 25 })
  .map((parents) => buildTree(groupsFrom(parents)));
const idsOf = (rows: readonly { id: number }[]) => rows.map(({ id }) => id);

describe('at first', () => {
  test('a small tree shows three levels', () => {
    const chain = buildTree([group(1, null), group(2, 1), group(3, 2), group(4, 3)]);
    expect(idsOf(visibleRows(chain, firstExpanded(chain)))).toEqual([1, 2, 3]);
  });

  test('a tree of more than 200 groups shows two levels', () => {
    const many = Array.from({ length: 198 }, (_, i) => group(4 + i, 2));
    const of200 = buildTree([group(1, null), group(2, 1), ...many.slice(0, 198)]);
    const of201 = buildTree([group(1, null), group(2, 1), ...many, group(500, 2)]);
    expect(visibleRows(of200, firstExpanded(of200))).toHaveLength(200);
    expect(idsOf(visibleRows(of201, firstExpanded(of201)))).toEqual([1, 2]);
  });
});

test('what was stored is read again; before anything is stored, nothing is read', () => {
  const expanded = new Set([3, 1, 2_147_483_647]);
  expect(storedIn(storedText(expanded))).toEqual(expanded);
  expect(storedIn(storedText(new Set()))).toEqual(new Set());
  expect(storedIn(null)).toBeUndefined();
  expect(() => storedIn('[1,')).toThrow(SyntaxError);
});

test('with all groups expanded, every row is visible; with no group expanded, only the top level', () => {
  fc.assert(
    fc.property(trees, (tree) => {
      expect(visibleRows(tree, allExpanded(tree))).toEqual(tree.rows);
      expect(visibleRows(tree, new Set())).toEqual(tree.rows.filter(({ parentId }) => parentId === null));
    }),
    { numRuns: 100 },
  );
});

const actions = fc.array(fc.record({ id: fc.integer({ min: 1, max: 25 }), isOn: fc.boolean() }), {
  maxLength: 30,
});

test('after any clicks, a row is visible exactly if the last click on each group above it expanded that group', () => {
  fc.assert(
    fc.property(trees, actions, (tree, clicks) => {
      let expanded: ReadonlySet<number> = new Set();
      for (const { id, isOn } of clicks)
        expanded = isOn ? withExpanded(expanded, [id]) : withCollapsed(expanded, id);
      const byId = new Map(tree.rows.map((row) => [row.id, row]));
      const lastOf = (id: number) => clicks.findLast((click) => click.id === id)?.isOn === true;
      const isVisible = (parentId: number | null): boolean =>
        parentId === null || (lastOf(parentId) && isVisible(byId.get(parentId)!.parentId));
      expect(idsOf(visibleRows(tree, expanded))).toEqual(
        tree.rows.filter(({ parentId }) => isVisible(parentId)).map(({ id }) => id),
      );
    }),
    { numRuns: 150 },
  );
});

test('collapsing a group and expanding it again shows the same rows as before', () => {
  fc.assert(
    fc.property(trees, fc.nat(), (tree, at) => {
      const { id } = tree.rows[at % tree.rows.length]!;
      const all = allExpanded(tree);
      expect(visibleRows(tree, withExpanded(withCollapsed(all, id), [id]))).toEqual(tree.rows);
    }),
    { numRuns: 100 },
  );
});
