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
const product = primes.reduce<number>((all, prime) => all * prime, 1);

/**
 * Returns whether a combination of figures reveals a remainder of the sum of the answers of fewer than `threshold` people. `parts`: by cell.
 * `rowCount`: the number of sets.
 */
export function hasRemainder(
  parts: ReadonlyMap<number, readonly Part[]>,
  rowCount: number,
  threshold: number,
): boolean {
  const cells = [...parts.values()].filter((list) => list.length > 1);
  const rows = rowsModulo(product, cells, rowCount);
  if (rows) return primes.some((prime) => rows.some((row) => isSmall(row, cells, prime, threshold)));
  // A number to divide by has some of the primes in common, so each is tried by itself.
  return primes.some((prime) =>
    rowsModulo(prime, cells, rowCount)!.some((row) => isSmall(row, cells, prime, threshold)),
  );
}

/** A combination: for each part but the first of each cell, its weight minus that of the first. Zeros are left out. */
type Row = Map<Part, number>;

/** Returns whether the weights that aren't multiples of the prime belong to fewer people. Each cell's own figure can be added at will. */
function isSmall(row: Row, cells: readonly (readonly Part[])[], prime: number, threshold: number): boolean {
  let people = 0;
  for (const list of cells) {
    const counts = new Map<number, number>();
    let total = 0;
    for (const part of list) {
      const weight = (row.get(part) ?? 0) % prime;
      counts.set(weight, (counts.get(weight) ?? 0) + part.size);
      total += part.size;
    }
    if (counts.size > 1) people += total - Math.max(...counts.values());
    if (people >= threshold) return false;
  }
  return people > 0;
}

/** Returns independent rows whose combinations are all combinations. Undefined if no number can be divided by. */
function rowsModulo(
  modulus: number,
  cells: readonly (readonly Part[])[],
  rowCount: number,
): Row[] | undefined {
  const echelon = new Echelon(rowCount, modulus);
  const rows: Row[] = [];
  for (const [first, ...others] of cells) {
    for (const part of others) {
      const found = echelon.add(differenceOf(first as Part, part, rowCount));
      if (found === 'not divisible') return undefined;
      if (found === 'independent') rows.push(new Map([[part, 1]]));
      else {
        for (let i = 0; i < rows.length; i++)
          if (found[i] !== 0) (rows[i] as Row).set(part, modulus - (found[i] as number));
      }
    }
  }
  return rows;
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

  /** Adds a vector if it is independent. If not, returns amounts of the independent ones whose sum with the vector is 0. */
  add(values: Int32Array): 'independent' | 'not divisible' | Int32Array {
    const modulus = this.#modulus;
    const amounts = new Int32Array(this.#rowCount);
    const vector = { values, amounts };
    const places = [...values.keys()].filter((place) => values[place] !== 0);
    for (const place of places) values[place] = ((values[place] as number) + modulus) % modulus;
    // Subtracting a vector changes no other pivot's place.
    for (const place of places) {
      const other = this.#byPivot.get(place);
      if (other) this.#subtract(vector, other, values[place] as number);
    }
    if (values.every((value) => value === 0)) return amounts;
    const pivot = values.findIndex((value) => value !== 0 && greatestDivisor(value, modulus) === 1);
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
    const added = this.#modulus - factor;
    for (const name of ['values', 'amounts'] as const) {
      const [target, source] = [from[name], other[name]];
      for (let i = 0; i < source.length; i++) {
        if (source[i] !== 0)
          target[i] = ((target[i] as number) + added * (source[i] as number)) % this.#modulus;
      }
    }
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
