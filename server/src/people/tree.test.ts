import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nearestStaying, subgroupsOf, treeFaults, type TreeNode } from './tree.ts';
import { cases } from '../testing/house/cases.ts';

type Node = TreeNode<number>;

/** Forests, as lists in random order and with random ids. */
const forest: fc.Arbitrary<Node[]> = fc
  .record({
    ids: fc.uniqueArray(fc.integer({ min: 1, max: 1_000 }), { maxLength: 40 }),
    parents: fc.array(fc.nat({ max: 60 }), { minLength: 40, maxLength: 40 }),
  })
  .map(({ ids, parents }) =>
    ids.map((id, i) => ({
      id,
      parentId: (parents[i] as number) < i ? (ids[parents[i] as number] as number) : null,
    })),
  )
  .chain((nodes) => fc.shuffledSubarray(nodes, { minLength: nodes.length }));

/** Any parent links: forests, cycles, subgroups of cycles, and parents that do not exist. */
const links: fc.Arbitrary<Node[]> = fc
  .uniqueArray(fc.integer({ min: 1, max: 30 }), { maxLength: 30 })
  .chain((ids) =>
    fc.tuple(
      ...ids.map((id) =>
        fc.record({ id: fc.constant(id), parentId: fc.option(fc.constantFrom(...ids, 99)) }),
      ),
    ),
  );

describe('subgroupsOf', () => {
  /** Returns the subgroups by their definition: the children, and the subgroups of each child. */
  const descendantsOf = (nodes: Node[], id: number): number[] =>
    nodes
      .filter(({ parentId }) => parentId === id)
      .flatMap((child) => [child.id, ...descendantsOf(nodes, child.id)]);

  test('lists exactly the subgroups of every group, at any depth, in ascending order', () => {
    fc.assert(
      fc.property(forest, (nodes) => {
        const expected = nodes.map(
          ({ id }) => [id, descendantsOf(nodes, id).toSorted((a, b) => a - b)] as const,
        );
        expect(subgroupsOf(nodes)).toEqual(new Map(expected));
      }),
      cases(125),
    );
  });

  test('sorts numerically, and treats a group whose parent does not exist as a top group', () => {
    const nodes = [
      { id: 100, parentId: 2 },
      { id: 2, parentId: 77 },
      { id: 11, parentId: 2 },
    ];
    expect(subgroupsOf(nodes)).toEqual(
      new Map([
        [100, []],
        [2, [11, 100]],
        [11, []],
      ]),
    );
  });

  test('is fast for 20,000 groups on ten levels', () => {
    const nodes = Array.from({ length: 20_000 }, (_, i) => ({
      id: i,
      parentId: i < 4 ? null : Math.floor(i / 3),
    }));
    const subgroupCounts = [0, 1, 2, 3].map((id) => subgroupsOf(nodes.slice(1)).get(id)?.length ?? 0);
    expect(subgroupCounts.reduce((sum, count) => sum + count)).toBeGreaterThan(19_000);
  });
});

describe('treeFaults', () => {
  /** Returns the path from a group to the top, or until it reaches a group for the second time. */
  function ancestorsOf(nodes: Node[], id: number): { path: number[]; repeated?: number } {
    const path: number[] = [];
    for (let at: number | null = id; at !== null;) {
      const node: Node | undefined = nodes.find((one) => one.id === at);
      if (!node) break;
      if (path.includes(node.id)) return { path, repeated: node.id };
      path.push(node.id);
      at = node.parentId;
    }
    return { path };
  }

  test('finds every cycle once, listed from a group up to the same group', () => {
    fc.assert(
      fc.property(links, (nodes) => {
        const { cycles } = treeFaults(nodes, 100);
        for (const cycle of cycles) {
          expect(cycle.length).toBeGreaterThanOrEqual(2);
          expect(cycle.at(-1)).toBe(cycle[0]);
          expect(new Set(cycle).size).toBe(cycle.length - 1);
          for (const [i, id] of cycle.slice(0, -1).entries()) {
            expect(nodes.find((node) => node.id === id)?.parentId).toBe(cycle[i + 1]);
          }
        }
        const onCycles = nodes.filter(({ id }) => ancestorsOf(nodes, id).repeated === id).map(({ id }) => id);
        const found = cycles.flatMap((cycle) => cycle.slice(1));
        expect(found.toSorted((a, b) => a - b)).toEqual(onCycles.toSorted((a, b) => a - b));
      }),
      cases(250),
    );
  });

  test('finds exactly the groups deeper than the limit, except groups in a cycle and their subgroups', () => {
    fc.assert(
      fc.property(fc.oneof(forest, links), fc.integer({ min: 0, max: 8 }), (nodes, limit) => {
        const expected = nodes
          .map(({ id }) => ({ id, ...ancestorsOf(nodes, id) }))
          .filter(({ path, repeated }) => repeated === undefined && path.length > limit)
          .map(({ id }) => id);
        const { tooDeep } = treeFaults(nodes, limit);
        expect(tooDeep.toSorted((a, b) => a - b)).toEqual(expected.toSorted((a, b) => a - b));
      }),
      cases(250),
    );
  });

  test('finds nothing in a forest within the limit, and treats a group whose parent does not exist as a top group', () => {
    expect(treeFaults([{ id: 'a', parentId: 'elsewhere' }], 1)).toEqual({ cycles: [], tooDeep: [] });
    fc.assert(
      fc.property(forest, (nodes) => {
        expect(treeFaults(nodes, nodes.length)).toEqual({ cycles: [], tooDeep: [] });
      }),
    );
  });

  test('reports a group that is its own parent as a cycle', () => {
    expect(treeFaults([{ id: 'a', parentId: 'a' }], 5)).toEqual({ cycles: [['a', 'a']], tooDeep: [] });
  });

  test('handles a chain of 100,000 groups', () => {
    const chain = Array.from({ length: 100_000 }, (_, id) => ({ id, parentId: id === 0 ? null : id - 1 }));
    expect(treeFaults(chain, 100).tooDeep).toHaveLength(99_900);
    expect(treeFaults(chain.toReversed(), 100).tooDeep).toHaveLength(99_900);
    const ring = chain.map(({ id, parentId }) => ({ id, parentId: parentId ?? 99_999 }));
    expect(treeFaults(ring, 100).cycles.map(({ length }) => length)).toEqual([100_001]);
  });
});

describe('nearestStaying', () => {
  test('returns the nearest ancestor that stays, starting with the parent, or the top', () => {
    fc.assert(
      fc.property(forest, fc.func(fc.boolean()), (nodes, stays) => {
        const parents = new Map(nodes.map(({ id, parentId }) => [id, parentId]));
        const parentOf = (id: number) => parents.get(id) ?? null;
        const first = (id: number | null): number | null =>
          id === null || stays(id) ? id : first(parentOf(id));
        for (const { parentId } of nodes) {
          expect(nearestStaying(parentId, parentOf, stays)).toBe(first(parentId));
        }
      }),
    );
  });
});
