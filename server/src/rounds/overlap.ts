// Checks whether two rounds of a week overlap in a way that would reveal something about a few people if their results were
// compared (rules.md P17). Pure.

/** A set of people, each once, who are asked the same questions. `P` identifies a person within a week. */
export type AskedSet<P> = { questionIds: readonly number[]; people: readonly P[] };

export type Clash = 'sameText' | 'nearlySame';

/**
 * Returns why the `wanted` sets can't be asked in addition to the `present` ones; undefined if they can. `sameText`: a person would
 * be asked two questions with the same text. `nearlySame`: two sets share people and a question, and only 1 to threshold − 1 people
 * are in just one of them. `classes`: see similar-wording.ts.
 */
export function clashOf<P>(
  wanted: readonly AskedSet<P>[],
  present: readonly AskedSet<P>[],
  { classes, threshold }: { classes: ReadonlyMap<number, number>; threshold: number },
): Clash | undefined {
  const setsOf = new Map<P, AskedSet<P>[]>();
  for (const set of wanted) {
    for (const person of set.people) {
      const others = setsOf.get(person);
      if (others) others.push(set);
      else setsOf.set(person, [set]);
    }
  }
  const classOf = (id: number) => classes.get(id) ?? id;
  const pairs = present.flatMap((other) => {
    const common = new Map<AskedSet<P>, number>();
    for (const person of other.people) {
      for (const set of setsOf.get(person) ?? []) common.set(set, (common.get(set) ?? 0) + 1);
    }
    return [...common].map(([set, inBoth]) => ({ set, other, inBoth }));
  });
  const hasSameText = pairs.some(({ set, other }) =>
    set.questionIds.some((id) => other.questionIds.some((one) => one !== id && classOf(one) === classOf(id))),
  );
  if (hasSameText) return 'sameText';
  const isNearlySame = pairs.some(({ set, other, inBoth }) => {
    const different = set.people.length + other.people.length - 2 * inBoth;
    return (
      different > 0 && different < threshold && set.questionIds.some((id) => other.questionIds.includes(id))
    );
  });
  return isNearlySame ? 'nearlySame' : undefined;
}

/** Returns the sets and, if there are several, also their union. All sets must ask the same questions. */
export function withUnion<P>(sets: readonly AskedSet<P>[]): AskedSet<P>[] {
  if (sets.length < 2) return [...sets];
  const people = [...new Set(sets.flatMap((set) => set.people))];
  return [...sets, { questionIds: [...new Set(sets.flatMap(({ questionIds }) => questionIds))], people }];
}
