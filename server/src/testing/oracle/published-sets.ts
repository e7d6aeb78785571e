// P2 from its text: which people each figure is based on. Plain sets of names, which is slow and easy to check.

/** The people who could be in a figure. `id`: the smaller one goes first if two sets have the same size. `tree`: their top-level group. */
export type PeopleSet = { id: number; tree: number; people: ReadonlySet<string> };

/** Returns the people each figure is based on, by the `id` of its set. Sets without a figure are missing. `k`: the threshold. */
export function publishedSets(all: readonly PeopleSet[], k: number): Map<number, Set<string>> {
  const published = new Map<number, Set<string>>();
  const fromSmallest = all
    .filter((one) => !isNearlyInAnotherTree(one, all, k))
    .toSorted((a, b) => a.people.size - b.people.size || a.id - b.id);
  for (const { id, people } of fromSmallest) {
    // People who are in the same published sets are in the same cell.
    const cellOf = (person: string) =>
      [...published].map(([one, set]) => (set.has(person) ? one : '')).join();
    const everyone = new Set([...published.values()].flatMap((set) => [...set]));
    const cells = Map.groupBy(everyone, cellOf);
    const counted = [...Map.groupBy(people, cellOf)].flatMap(([cell, inside]) => {
      const outside = (cells.get(cell)?.length ?? Infinity) - inside.length;
      return outside === 0 || (inside.length >= k && outside >= k) ? inside : [];
    });
    if (counted.length > 0) published.set(id, new Set(counted));
  }
  return published;
}

/** P2, across trees: of two sets, one in the other, that differ by 1 to k − 1 people, the smaller one is withheld. */
const isNearlyInAnotherTree = ({ tree, people }: PeopleSet, all: readonly PeopleSet[], k: number) =>
  all.some((other) => {
    const more = other.people.size - people.size;
    return other.tree !== tree && more > 0 && more < k && people.isSubsetOf(other.people);
  });
