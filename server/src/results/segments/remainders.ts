// Whole numbers: answers and the sums behind figures are whole numbers. A combination in which everyone but one person has a weight
// that is a multiple of 5 reveals the remainder of that person's answer divided by 5, which is the whole answer on a scale from 1 to 5,
// however small the person's share of all weights is (exchanges.ts doesn't see it). Pure.
//
// People of one cell who are in the same sets form a part. All combinations modulo a prime are those of some independent rows, which
// elimination finds, for all primes at the same time. In each of these rows, the weights that aren't multiples of the prime must belong to
// at least `threshold` people. A combination of several rows could have fewer, which isn't searched for.
import type { Division, MixedCell, Part } from './parts.ts';

/** Larger ones need weights that eight breakdowns hardly allow. */
export const primes = [2, 3, 5, 7, 11, 13] as const;
/** The remainder of a division by this number stands for the remainders of divisions by all primes. */
const modulus = primes.reduce((product, prime) => product * prime, 1);

/**
 * Returns whether a combination of figures reveals a remainder of the sum of the answers of fewer than `threshold` people. `rank`: the number of
 * independent sets. There are at most as many modulo a prime.
 */
export function hasRemainder({ mixed, rowCount }: Division, rank: number, threshold: number): boolean {
  const echelon = new Echelon(rowCount);
  /** The rows that are not settled, with the people counted for each prime. A row gains people from cell to cell, so most are settled soon. */
  const open = new Map<number, number[]>();
  for (const cell of mixed) {
    if (open.size === 0 && echelon.rank === rank * primes.length) return false;
    const first = cell.parts[0] as Part;
    for (const part of cell.parts) {
      for (const [row, divisor] of part === first ? [] : echelon.add(part, first)) {
        const counted = open.get(row) ?? primes.map(() => Infinity);
        const people = primes.map((prime, i) => (divisor % prime === 0 ? 0 : (counted[i] as number)));
        open.set(row, people);
      }
    }
    for (const [row, people] of open) {
      const weights = cell.parts.map((part) => echelon.weightOf(part, row));
      if (weights.every((weight) => weight === weights[0])) continue;
      for (const [i, prime] of primes.entries()) {
        const counted = people[i] as number;
        if (counted < threshold) people[i] = counted + differingIn(cell, weights, prime);
      }
      if (people.every((count) => count >= threshold)) open.delete(row);
    }
  }
  return open.size > 0;
}

/** Returns how many people of a cell keep a weight that isn't a multiple of the prime. The cell's own figure can be added at will. */
function differingIn({ parts, size }: MixedCell, weights: readonly number[], prime: number): number {
  const counts = emptyCounts.slice(0, prime);
  for (let i = 0; i < parts.length; i++) {
    const weight = (weights[i] as number) % prime;
    counts[weight] = (counts[weight] as number) + (parts[i] as Part).size;
  }
  return size - Math.max(...counts);
}

const emptyCounts: readonly number[] = Array.from({ length: Math.max(...primes) }, () => 0);

/**
 * The differences between two people of one cell: what changes in the sets if one is replaced by the other. For each prime, those that are
 * independent of all before them are a basis. Elimination gives each of them a pivot: a set in which it is 1 and all others are 0.
 *
 * There is one vector for each pivot, with a number for each set. Modulo the primes for which the set isn't a pivot, it is the vector's value.
 * Modulo the others, that is known. There, the number says how often the difference with that pivot is in the vector instead. All those
 * amounts of one set are a row: a combination of figures in which the difference counts 1 and the rest of the basis 0.
 *
 * Numbers are sums of products of two numbers below the modulus, one for each vector that was added later. These sums are far below 2^51.
 */
class Echelon {
  readonly #vectors: Float64Array[];
  /** The product of the primes for which each set isn't a pivot. */
  readonly #open: number[];
  /** The sets that aren't a pivot for all primes. */
  #openSets: number[];
  readonly #allSets: readonly number[];
  /** The number of pivots of all primes together. */
  rank = 0;

  constructor(setCount: number) {
    this.#allSets = Array.from({ length: setCount }, (_, set) => set);
    this.#openSets = [...this.#allSets];
    this.#open = this.#allSets.map(() => modulus);
    this.#vectors = this.#allSets.map(() => new Float64Array(setCount));
  }

  /** Returns the weight of a part in a row, not yet divided by a prime. Only the differences within a cell have a meaning. */
  weightOf({ rows }: Part, row: number): number {
    let weight = 0;
    for (const set of rows) weight += (this.#vectors[set] as Float64Array)[row] as number;
    return weight;
  }

  /** Adds the difference between two parts. Returns its pivots, each with the product of its primes. */
  add(part: Part, other: Part): [pivot: number, divisor: number][] {
    const values = this.#rest(part, other, this.#openSets);
    if (this.#openSets.every((set) => (values[set] as number) % (this.#open[set] as number) === 0)) return [];
    const vector = this.#rest(part, other, this.#allSets);
    const pivots: [number, number][] = [];
    for (let rest = modulus; ;) {
      const [pivot, divisor] = this.#bestPivot(vector, rest);
      if (divisor === 1) return pivots;
      rest /= divisor;
      this.#insert(vector, pivot, divisor);
      pivots.push([pivot, divisor]);
    }
  }

  /** Returns a difference minus the vectors that make it 0 at all pivots, in these sets. */
  #rest(part: Part, other: Part, sets: readonly number[]): Float64Array {
    const rest = new Float64Array(this.#vectors.length);
    for (const [{ rows }, sign] of [
      [part, 1],
      [other, -1],
    ] as const) {
      for (const row of rows) {
        const vector = this.#vectors[row] as Float64Array;
        rest[row] = (rest[row] as number) + sign * oneFor(this.#open[row] as number);
        for (const set of sets) rest[set] = (rest[set] as number) - sign * (vector[set] as number);
      }
    }
    for (const set of sets) rest[set] = remainderOf(rest[set] as number);
    return rest;
  }

  /** Returns a pivot for as many as possible of the primes in `rest`, and the product of these. */
  #bestPivot(vector: Float64Array, rest: number): [pivot: number, divisor: number] {
    let best: [number, number] = [-1, 1];
    for (const set of this.#openSets) {
      const open = greatestDivisor(rest, this.#open[set] as number);
      const divisor = open / greatestDivisor(open, vector[set] as number);
      if (divisor > best[1]) best = [set, divisor];
      if (divisor === rest) break;
    }
    return best;
  }

  /** Adds a vector for the primes in `divisor`, none of which divides its value at the pivot. */
  #insert(vector: Float64Array, pivot: number, divisor: number): void {
    const one = oneFor(divisor);
    const factor = (one * inverseOf((vector[pivot] as number) % divisor, divisor)) % modulus;
    const added = vector.map((value) => remainderOf(value * factor));
    // Its value, which the others lose, and its amount, which they gain.
    added[pivot] = one + factor;
    for (const other of this.#vectors) {
      const multiple = remainderOf(remainderOf(-(other[pivot] as number)) * one);
      if (multiple !== 0) addMultiple(other, added, multiple);
    }
    added[pivot] = factor;
    addMultiple(this.#vectors[pivot] as Float64Array, added, 1);
    this.#open[pivot] = (this.#open[pivot] as number) / divisor;
    if (this.#open[pivot] === 1) this.#openSets = this.#openSets.filter((set) => set !== pivot);
    this.rank += primes.filter((prime) => divisor % prime === 0).length;
  }
}

function addMultiple(target: Float64Array, source: Float64Array, factor: number): void {
  for (let i = 0; i < target.length; i++) target[i] = (target[i] as number) + factor * (source[i] as number);
}

/** Returns the number that is 1 modulo the primes in `divisor` and 0 modulo all others. */
const oneFor = (divisor: number): number =>
  (modulus / divisor) * inverseOf((modulus / divisor) % divisor, divisor);

/** Exact for numbers below 2^51, also negative ones. Faster than `%`. */
const remainderOf = (value: number): number => value - Math.floor(value / modulus) * modulus;

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b));

/** Returns the number whose product with `value` has the remainder 1 (Euclid). */
function inverseOf(value: number, divisor: number): number {
  let [a, b, x, y] = [value, divisor, 1, 0];
  while (b !== 0) {
    const quotient = Math.floor(a / b);
    [a, b, x, y] = [b, a - quotient * b, y, x - quotient * y];
  }
  return ((x % divisor) + divisor) % divisor;
}
