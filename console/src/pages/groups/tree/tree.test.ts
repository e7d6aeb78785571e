// The tree of groups: which rows are visible, found by search and reached by typing, and where a group may be moved.
import { maxTreeDepth } from '@soundings/contract/limits.ts';
import type { PlacedGroup } from '@soundings/contract/people/placed-groups.ts';
import { describe, expect, test } from 'vitest';
import { buildTree, buildTreeOfLevels, found, mayMove, treeRowOf, typedTo, visibleRows } from './tree.ts';

const group = (id: number, parentId: number | null, name: string, externalId: string | null = null) => ({
  id,
  parentId,
  name,
  externalId,
  managed: false,
  people: 0,
});

/**
 * Two groups at the top: Lavmark (1) and Board (6). Lavmark has the subgroups Sales (2) and IT (5), and Sales has Örebro (3) and
 * Oslo (4).
 */
const tree = buildTree([
  group(1, null, 'Lavmark'),
  group(2, 1, 'Sales', 'S-42'),
  group(3, 2, 'Örebro'),
  group(4, 2, 'Oslo'),
  group(5, 1, 'IT'),
  group(6, null, 'Board'),
]);
const idsOf = (rows: readonly { id: number }[]) => rows.map(({ id }) => id);

test('each row has its level, its place among its siblings, and the size of the tree below it', () => {
  const shapeOf = (id: number) => {
    const { level, place, siblings, children, descendants, depth } = treeRowOf(tree, id)!;
    return [level, place, siblings, children, descendants, depth];
  };
  expect(shapeOf(1)).toEqual([1, 1, 2, 2, 4, 2]);
  expect(shapeOf(2)).toEqual([2, 1, 2, 2, 2, 1]);
  expect(shapeOf(4)).toEqual([3, 2, 2, 0, 0, 0]);
  expect(shapeOf(6)).toEqual([1, 2, 2, 0, 0, 0]);
});

test('rows below a collapsed group are hidden, even if groups among them are expanded', () => {
  expect(idsOf(visibleRows(tree, new Set()))).toEqual([1, 6]);
  expect(idsOf(visibleRows(tree, new Set([1])))).toEqual([1, 2, 5, 6]);
  expect(idsOf(visibleRows(tree, new Set([2])))).toEqual([1, 6]);
  expect(idsOf(visibleRows(tree, new Set([1, 2])))).toEqual([1, 2, 3, 4, 5, 6]);
});

describe('a search', () => {
  test.each([
    ['orebro', [3], [1, 2, 3]],
    ['S-4', [2], [1, 2]],
    ['6', [6], [6]],
    ['o', [3, 4, 6], [1, 2, 3, 4, 6]],
    ['nothing', [], []],
  ])(
    'for %j finds names without accents, externalIds and ids, and shows the groups above them',
    (search, ids, shown) => {
      const { rows, matches } = found(tree, search);
      expect([...matches]).toEqual(ids);
      expect(idsOf(rows)).toEqual(shown);
    },
  );
});

describe('a group', () => {
  test('can move into any group except itself, its descendants and its current parent', () => {
    const targets = [null, 1, 2, 3, 4, 5, 6];
    expect(targets.filter((target) => mayMove(tree, 2, target))).toEqual([null, 5, 6]);
    expect(targets.filter((target) => mayMove(tree, 6, target))).toEqual([1, 2, 3, 4, 5]);
    expect(mayMove(tree, 99, 1)).toBe(false);
    expect(mayMove(tree, 2, 99)).toBe(false);
  });

  test('cannot move to where the tree would become too deep', () => {
    const chain = Array.from({ length: maxTreeDepth }, (_, i) => group(i + 1, i === 0 ? null : i, `g${i}`));
    const deep = buildTree([...chain, group(1000, null, 'one'), group(1001, 1000, 'two')]);
    expect(mayMove(deep, 1000, maxTreeDepth - 2)).toBe(true);
    expect(mayMove(deep, 1000, maxTreeDepth - 1)).toBe(false);
    expect(mayMove(deep, 1001, maxTreeDepth - 1)).toBe(true);
  });
});

test('levels that were loaded before and after a move give a tree with each group once, whatever they contain', () => {
  const placedGroup = (id: number, parentId: number | null) => ({
    ...group(id, parentId, `g${id}`),
    level: 1,
    place: 1,
    siblings: 1,
    children: 0,
    descendants: 0,
    depth: 1,
  });
  const [sales, it] = [placedGroup(1, null), placedGroup(2, 1)];
  const levels = new Map<number | null, PlacedGroup[]>([
    [null, [sales]],
    [1, [it]],
    [2, [placedGroup(1, 2), placedGroup(3, 2), it]],
  ]);
  expect(idsOf(buildTreeOfLevels(levels).rows)).toEqual([1, 2, 3]);
});

test('typing moves to the next name that starts with the text, and continues at the start after the end; more letters stay on a row that matches', () => {
  const rows = visibleRows(tree, new Set([1, 2]));
  expect(typedTo(rows, 0, 'o')).toBe(2);
  expect(typedTo(rows, 2, 'o')).toBe(3);
  expect(typedTo(rows, 3, 'o')).toBe(2);
  expect(typedTo(rows, 3, 'os')).toBe(3);
  expect(typedTo(rows, 3, 'x')).toBe(3);
});
