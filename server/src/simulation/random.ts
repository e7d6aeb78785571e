// Reproducible random numbers: the same seed and name give the same numbers, in every run and on every machine.

export type Random = {
  /** Returns a number from 0 up to, but not including, 1. */
  next(): number;
  /** Returns true with a probability of `share`. */
  chance(share: number): boolean;
  oneOf<T>(list: readonly T[]): T;
  /** Returns a number with an approximately normal distribution around 0, at most three times `deviation` away. */
  around0(deviation: number): number;
  /** Returns the list in a random order. */
  shuffled<T>(list: readonly T[]): T[];
};

/** Returns the random numbers of a name. Drawing numbers of one name does not affect those of another. */
export function randomFrom(seed: number, name: string): Random {
  const next = mulberry32(Math.imul(seed, 0x9e3779b1) ^ fnv1a(name));
  const random: Random = {
    next,
    chance: (share) => next() < share,
    oneOf: <T>(list: readonly T[]) => list[Math.floor(next() * list.length)] as T,
    around0: (deviation) => {
      // The sum of six uniform numbers is close enough to a normal distribution, with a variance of a half, and needs no logarithm.
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

/** Returns a random number generator (Mulberry32) with values from 0 to 1, determined by the seed. */
export function mulberry32(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Returns a 32-bit hash of a text (FNV-1a over its UTF-16 units). */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash;
}
