// Applies what it can of a batch that is refused as a whole: one user that Soundings can't take must not stop thousands of others.
import type { Fault } from '../../base/errors.ts';

/** The outcome of a part. `waiting`: the users who can't be applied before others are. */
export type Applied = { blocked: Set<string>; waiting: Set<string>; refusal: Fault | undefined };

/** The outcome of a batch. `refused`: the users that are refused alone; `left`: those that wait, or were not tried any more. */
export type Divided = {
  blocked: Set<string>;
  refused: Set<string>;
  left: Set<string>;
  refusal: Fault | undefined;
};

/** How many runs one batch can take. Each reads all groups of the account. What is left is tried in the next minute. */
const maxRuns = 30;

/**
 * Applies each of these parts. If one is refused, applies its first half, and so on, and then the others: with one bad user among n, that takes
 * at most 1 + 2 log2 n runs. After 1 + log2 n runs at the latest, someone is applied or refused alone, even if many users are bad. `apply`: `isAlone` says whether a refusal is about these users alone, and is shown.
 */
export async function applyDivided<T extends { id: string }>(
  batch: readonly (readonly T[])[],
  apply: (part: readonly T[], isAlone: boolean) => Promise<Applied>,
): Promise<Divided> {
  const end: Divided = { blocked: new Set(), refused: new Set(), left: new Set(), refusal: undefined };
  const parts = batch.filter((part) => part.length > 0);
  for (let runs = 0; parts.length > 0; runs++) {
    const part = parts.shift() as readonly T[];
    if (runs >= maxRuns) {
      for (const { id } of part) end.left.add(id);
      continue;
    }
    const { blocked, waiting, refusal } = await apply(part, part.length <= 1);
    if (!refusal) {
      for (const id of blocked) end.blocked.add(id);
      for (const id of waiting) end.left.add(id);
      continue;
    }
    end.refusal ??= refusal;
    if (part.length <= 1) for (const { id } of part) end.refused.add(id);
    else {
      const middle = Math.ceil(part.length / 2);
      parts.unshift(part.slice(0, middle), part.slice(middle));
    }
  }
  return end;
}
