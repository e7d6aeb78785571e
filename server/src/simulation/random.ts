// Chance that can be repeated: the same seed and name give the same numbers, in every run and on every machine.

export type Random = {
  /** A number from 0 up to, not including, 1. */
  next(): number;
  /** True with a probability of `share`. */
  chance(share: number): boolean;
  oneOf<T>(list: readonly T[]): T;
  /** Normally distributed around 0, nearly: never beyond three times `deviation`. */
  around0(deviation: number): number;
  /** The list in another order. */
  shuffled<T>(list: readonly T[]): T[];
};

/** What is drawn under one name does not change what is drawn under another. */
export function randomFrom(seed: number, name: string): Random {
  const next = mulberry32(Math.imul(seed, 0x9e3779b1) ^ fnv1a(name));
  const random: Random = {
    next,
    chance: (share) => next() < share,
    oneOf: <T>(list: readonly T[]) => list[Math.floor(next() * list.length)] as T,
    around0: (deviation) => {
      // Six uniform numbers have a variance of a half: near enough to a bell, and no logarithm is needed.
      const sum = next() + next() + next() + next() + next() + next();
      return Math.max(-3, Math.min(3, (sum - 3) * Math.SQRT2)) * deviation;
    },
    shuffled: <T>(list: readonly T[]) => {
      const left = [...list];
      for (let i = left.length - 1; i > 0; i--) {
        const j = Math.floor(next() * (i + 1));
        [left[i], left[j]] = [left[j] as T, left[i] as T];
      }
      return left;
    },
  };
  return random;
}

function mulberry32(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** A number of 32 bits for a text (FNV-1a over its UTF-16 units). */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash;
}
