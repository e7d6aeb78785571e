// Whether people are asked a question in a week in which another round asks the same, or one with the same words, in a way
// that would tell of a few of them by comparing the two (privacy.md P17). Pure.

/** People, each once, who are asked some questions. A person is whatever is the same for the same person in a week. */
export type AskedSet<P> = { questionIds: readonly number[]; people: readonly P[] };

export type Clash = 'lookAlike' | 'nearlySame';

/**
 * What is wrong with asking the `wanted` sets beside those that are asked already; undefined when nothing is.
 * lookAlike: a person would be asked two questions with the same words. nearlySame: a set shares people and a question
 * with another, and 1 to threshold − 1 people are in one of the two alone. `classes`: see same-words.ts.
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
  const isAlike = pairs.some(({ set, other }) =>
    set.questionIds.some((id) => other.questionIds.some((one) => one !== id && classOf(one) === classOf(id))),
  );
  if (isAlike) return 'lookAlike';
  const isNear = pairs.some(({ set, other, inBoth }) => {
    const apart = set.people.length + other.people.length - 2 * inBoth;
    return apart > 0 && apart < threshold && set.questionIds.some((id) => other.questionIds.includes(id));
  });
  return isNear ? 'nearlySame' : undefined;
}

/** The sets and, where there are several, all of their people together. All ask the same questions. */
export function withUnion<P>(sets: readonly AskedSet<P>[]): AskedSet<P>[] {
  if (sets.length < 2) return [...sets];
  const people = [...new Set(sets.flatMap((set) => set.people))];
  return [...sets, { questionIds: [...new Set(sets.flatMap(({ questionIds }) => questionIds))], people }];
}
