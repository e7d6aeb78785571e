// Whole numbers: answers are whole numbers, and so are the sums behind figures. A combination in which everyone but one person has a weight
// that is a multiple of 5 reveals the remainder of that person's answer divided by 5, which is the whole answer on a scale from 1 to 5,
// however small the person's share of all weights is (exchanges.ts doesn't see it). Pure.
//
// People of one cell who are in the same sets form a part. All combinations modulo a prime are those of some independent rows, which
// elimination finds, for all primes at the same time. In each of these rows, the weights that aren't multiples of the prime must belong to
// at least `threshold` people. A combination of several rows could have fewer, which isn't searched for.
import type { Part } from './exchanges.ts';

/** Larger ones need weights that eight breakdowns hardly allow. */
export const primes = [2, 3, 5, 7, 11, 13] as const;

type Cells = readonly (readonly Part[])[];

/**
 * Returns whether a combination of figures reveals a remainder of the sum of the answers of fewer than `threshold` people. `parts`: by cell.
 * `breakdownOf`: the breakdown of each set.
 */
export function hasRemainder(
  parts: ReadonlyMap<number, readonly Part[]>,
  breakdownOf: readonly number[],
  threshold: number,
): boolean {
  const cells = [...parts.values()].filter((list) => list.length > 1);
  const rank = mostIndependent(cells, breakdownOf);
  const isRevealed = (among: readonly number[]) =>
    hasSmallRow(cells, among, { rowCount: breakdownOf.length, rank, threshold });
  // If a number to divide by has some of the primes in common, each is tried by itself.
  return isRevealed(primes) ?? primes.some((prime) => isRevealed([prime]));
}

/** Returns a number that the number of independent combinations never exceeds. */
function mostIndependent(cells: Cells, breakdownOf: readonly number[]): number {
  const breakdowns = new Set(breakdownOf);
  for (const list of cells) {
    const counts = list.map(({ rows }) => Map.groupBy(rows, (row) => breakdownOf[row] as number));
    for (const breakdown of breakdowns) {
      const sizes = new Set(counts.map((one) => one.get(breakdown)?.length ?? 0));
      if (sizes.size > 1) breakdowns.delete(breakdown);
    }
  }
  // If everyone in a cell is in the same number of sets of a breakdown, all its sets together say nothing new.
  return breakdownOf.length - breakdowns.size;
}

type Sizes = { rowCount: number; rank: number; threshold: number };

/**
 * Returns whether a row has weights that aren't multiples of one of the primes for fewer than `threshold` people only. Undefined if the
 * primes have to be tried one by one. A row gains people from cell to cell, so most rows are settled after a few cells.
 */
function hasSmallRow(cells: Cells, among: readonly number[], sizes: Sizes): boolean | undefined {
  const modulus = among.reduce((all, prime) => all * prime, 1);
  const echelon = new Echelon(sizes.rowCount, modulus);
  /** The rows that are not settled, with the people counted for each prime. */
  const open = new Map<number, number[]>();
  for (const list of cells) {
    if (open.size === 0 && echelon.size === sizes.rank) return false;
    // The weights of the parts, minus that of the first. Those in front of a row's own part are 0.
    const weights: (Int32Array | number)[] = [new Int32Array(0)];
    for (const part of list.slice(1)) {
      const found = echelon.add(differenceOf(list[0] as Part, part, sizes.rowCount));
      if (found === 'not divisible') return undefined;
      weights.push(found === 'independent' ? echelon.size - 1 : found);
      if (found === 'independent')
        open.set(
          echelon.size - 1,
          among.map(() => 0),
        );
    }
    for (const [row, people] of open) {
      const own = weights.map((weight) =>
        typeof weight === 'number' ? Number(weight === row) : (modulus - (weight[row] ?? 0)) % modulus,
      );
      if (own.every((weight) => weight === 0)) continue;
      for (const [i, prime] of among.entries())
        people[i] = (people[i] as number) + differingIn(list, own, prime);
      if (people.every((count) => count >= sizes.threshold)) open.delete(row);
    }
  }
  return open.size > 0;
}

/** Returns how many people of a cell keep a weight that isn't a multiple of the prime. The cell's own figure can be added at will. */
function differingIn(list: readonly Part[], weights: readonly number[], prime: number): number {
  const counts = new Map<number, number>();
  let total = 0;
  for (const [i, { size }] of list.entries()) {
    const weight = (weights[i] as number) % prime;
    counts.set(weight, (counts.get(weight) ?? 0) + size);
    total += size;
  }
  return total - Math.max(...counts.values());
}

/** Returns what changes in the sets if a person of one part is replaced by one of another: 1 or -1. */
function differenceOf(first: Part, part: Part, rowCount: number): Int32Array {
  const values = new Int32Array(rowCount);
  for (const row of part.rows) values[row] = 1;
  for (const row of first.rows) values[row] = (values[row] as number) - 1;
  return values;
}

/** Vectors in reduced echelon form, each with the amounts of the independent vectors that it consists of. */
type Reduced = { values: Int32Array; amounts: Int32Array };

class Echelon {
  readonly #modulus: number;
  readonly #rowCount: number;
  /** By the place of the pivot, which is 1 there and 0 in all others. */
  readonly #byPivot = new Map<number, Reduced>();

  constructor(rowCount: number, modulus: number) {
    this.#rowCount = rowCount;
    this.#modulus = modulus;
  }

  get size(): number {
    return this.#byPivot.size;
  }

  /** Adds a vector if it is independent. If not, returns amounts of the independent ones whose sum with the vector is 0. */
  add(values: Int32Array): 'independent' | 'not divisible' | Int32Array {
    const modulus = this.#modulus;
    const amounts = new Int32Array(this.#rowCount);
    const vector = { values, amounts };
    const places: number[] = [];
    for (let place = 0; place < values.length; place++) {
      if (values[place] === 0) continue;
      places.push(place);
      values[place] = ((values[place] as number) + modulus) % modulus;
    }
    // Subtracting a vector changes no other pivot's place.
    for (const place of places) {
      const other = this.#byPivot.get(place);
      if (other) this.#subtract(vector, other, values[place] as number);
    }
    let isZero = true;
    let pivot = -1;
    for (let place = 0; place < values.length && pivot === -1; place++) {
      if (values[place] === 0) continue;
      isZero = false;
      if (greatestDivisor(values[place] as number, modulus) === 1) pivot = place;
    }
    if (isZero) return amounts;
    if (pivot === -1) return 'not divisible';
    amounts[this.#byPivot.size] = 1;
    const inverse = inverseOf(values[pivot] as number, modulus);
    for (const list of [values, amounts])
      for (let i = 0; i < list.length; i++) list[i] = ((list[i] as number) * inverse) % modulus;
    for (const other of this.#byPivot.values()) this.#subtract(other, vector, other.values[pivot] as number);
    this.#byPivot.set(pivot, vector);
    return 'independent';
  }

  /** Subtracts a multiple. Products of two numbers below the product of all primes are less than 2^31. */
  #subtract(from: Reduced, other: Reduced, factor: number): void {
    if (factor === 0) return;
    addMultiple(from.values, other.values, this.#modulus - factor, this.#modulus);
    addMultiple(from.amounts, other.amounts, this.#modulus - factor, this.#modulus);
  }
}

function addMultiple(target: Int32Array, source: Int32Array, factor: number, modulus: number): void {
  for (let i = 0; i < source.length; i++) {
    const value = source[i] as number;
    if (value !== 0) target[i] = ((target[i] as number) + factor * value) % modulus;
  }
}

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b));

/** Returns the number whose product with `value` has the remainder 1 (Euclid). */
function inverseOf(value: number, modulus: number): number {
  let [a, b, x, y] = [value, modulus, 1, 0];
  while (b !== 0) {
    const quotient = Math.floor(a / b);
    [a, b, x, y] = [b, a - quotient * b, y, x - quotient * y];
  }
  return ((x % modulus) + modulus) % modulus;
}
