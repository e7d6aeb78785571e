import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nearestStaying, subgroupsOf, treeFaults, type TreeNode } from './tree.ts';
import { cases } from '../testing/cases.ts';

type Node = TreeNode<number>;

/** Forests in any order, whose ids tell nothing of their places. */
const forest: fc.Arbitrary<Node[]> = fc
  .record({
    ids: fc.uniqueArray(fc.integer({ min: 1, max: 1_000 }), { maxLength: 40 }),
    above: fc.array(fc.nat({ max: 60 }), { minLength: 40, maxLength: 40 }),
  })
  .map(({ ids, above }) =>
    ids.map((id, i) => ({
      id,
      parentId: (above[i] as number) < i ? (ids[above[i] as number] as number) : null,
    })),
  )
  .chain((nodes) => fc.shuffledSubarray(nodes, { minLength: nodes.length }));

/** Any parent links whatever: forests, cycles, groups beneath cycles, parents that are not there. */
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
  /** By its definition: the children, and what is beneath each of them. */
  const beneath = (nodes: Node[], id: number): number[] =>
    nodes
      .filter(({ parentId }) => parentId === id)
      .flatMap((child) => [child.id, ...beneath(nodes, child.id)]);

  test('lists for every group exactly the groups beneath it, at any depth, ascending', () => {
    fc.assert(
      fc.property(forest, (nodes) => {
        const wanted = nodes.map(({ id }) => [id, beneath(nodes, id).toSorted((a, b) => a - b)] as const);
        expect(subgroupsOf(nodes)).toEqual(new Map(wanted));
      }),
      cases(125),
    );
  });

  test('sorts by number, and takes a parent that is not there for the top', () => {
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

  test('of 20,000 groups on ten levels takes no more than a moment', () => {
    const nodes = Array.from({ length: 20_000 }, (_, i) => ({
      id: i,
      parentId: i < 4 ? null : Math.floor(i / 3),
    }));
    const beneathTops = [0, 1, 2, 3].map((id) => subgroupsOf(nodes.slice(1)).get(id)?.length ?? 0);
    expect(beneathTops.reduce((sum, count) => sum + count)).toBeGreaterThan(19_000);
  });
});

describe('treeFaults', () => {
  /** The way up from a group: to the top, or until it comes by a group again. */
  function ancestorsOf(nodes: Node[], id: number): { way: number[]; again?: number } {
    const way: number[] = [];
    for (let at: number | null = id; at !== null;) {
      const node: Node | undefined = nodes.find((one) => one.id === at);
      if (!node) break;
      if (way.includes(node.id)) return { way, again: node.id };
      way.push(node.id);
      at = node.parentId;
    }
    return { way };
  }

  test('finds exactly the cycles, each once, named in full from a group up to the same one', () => {
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
        const onCycles = nodes.filter(({ id }) => ancestorsOf(nodes, id).again === id).map(({ id }) => id);
        const found = cycles.flatMap((cycle) => cycle.slice(1));
        expect(found.toSorted((a, b) => a - b)).toEqual(onCycles.toSorted((a, b) => a - b));
      }),
      cases(250),
    );
  });

  test('finds exactly the groups on a level beyond the limit; on and beneath cycles there are no levels', () => {
    fc.assert(
      fc.property(fc.oneof(forest, links), fc.integer({ min: 0, max: 8 }), (nodes, limit) => {
        const wanted = nodes
          .map(({ id }) => ({ id, ...ancestorsOf(nodes, id) }))
          .filter(({ way, again }) => again === undefined && way.length > limit)
          .map(({ id }) => id);
        const { tooDeep } = treeFaults(nodes, limit);
        expect(tooDeep.toSorted((a, b) => a - b)).toEqual(wanted.toSorted((a, b) => a - b));
      }),
      cases(250),
    );
  });

  test('finds nothing in a forest within the limit, a parent that is not there being the top', () => {
    expect(treeFaults([{ id: 'a', parentId: 'elsewhere' }], 1)).toEqual({ cycles: [], tooDeep: [] });
    fc.assert(
      fc.property(forest, (nodes) => {
        expect(treeFaults(nodes, nodes.length)).toEqual({ cycles: [], tooDeep: [] });
      }),
    );
  });

  test('a group under itself is a cycle', () => {
    expect(treeFaults([{ id: 'a', parentId: 'a' }], 5)).toEqual({ cycles: [['a', 'a']], tooDeep: [] });
  });

  test('a chain of 100,000 groups is no trouble', () => {
    const chain = Array.from({ length: 100_000 }, (_, id) => ({ id, parentId: id === 0 ? null : id - 1 }));
    expect(treeFaults(chain, 100).tooDeep).toHaveLength(99_900);
    expect(treeFaults(chain.toReversed(), 100).tooDeep).toHaveLength(99_900);
    const ring = chain.map(({ id, parentId }) => ({ id, parentId: parentId ?? 99_999 }));
    expect(treeFaults(ring, 100).cycles.map(({ length }) => length)).toEqual([100_001]);
  });
});

describe('nearestStaying', () => {
  test('is the first that stays on the way up, the parent itself included; else the top', () => {
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
