// Exchanges: proofs that no combination of published figures depends much on a single person. Pure.
//
// The figures of groups are sums over whole cells, the figures of segments are sums over sets of people that cross cells. A person's
// answer can be exchanged if it can be raised by 1 and the answers of others changed by at most 1/k each, so that every published sum
// stays the same. Then, in every combination of figures, the person's weight is at most 1/k of the total weight of all people:
// a combination that depends on fewer than k people, or mostly on one, doesn't exist. The reverse is true as well (linear
// programming duality), but which exchange is tried here is a choice: the person's cell is changed by the same amount everywhere, and
// people of other cells make up for it in the segments, with the smallest sum of squares. An exchange that needs more than that is
// not found, and figures are then withheld although they could be shown.
//
// That is about one combination. Many figures could still determine an answer together, as many equations do. So the share of the variance
// of an answer that all figures determine, its leverage, must be at most 1.5/k; in a cell of k people the cell alone determines 1/k.
import type { Division, MixedCell, Part } from './parts.ts';
import { choleskyOf, type Inverse, withRows } from './positive-matrix.ts';

/** Rounding errors of a proof. Thresholds are whole numbers of at most 1,000, so a limit is never closer to a weight than this. */
const rounding = 1e-9;
/** How many single weights are computed before the remaining cells count as not proven (about half a second). */
const maxWeights = 30_000_000;
/** A cell with more parts counts as not proven unless it is easy: its matrices would need more than 600 MB and a minute. */
const maxParts = 5_000;

/**
 * Returns the inverse of the sums of the products of all people's deviations: how much the sets vary within cells. A person's deviation is,
 * for each set, 1 if the person is in it, minus the share of the cell that is in it. `before`: the inverse for the first of these sets.
 */
export function inverseVariation({ mixed, rowCount }: Division, before: Inverse): Inverse {
  const first = before.count;
  const added = Array.from({ length: rowCount - first }, () => new Float64Array(rowCount));
  for (const { parts, rows, counts, size } of mixed) {
    for (const part of parts) {
      for (const row of part.rows) {
        if (row < first) continue;
        const sums = added[row - first] as Float64Array;
        for (const other of part.rows) if (other <= row) sums[other] = at(sums, other) + part.size;
      }
    }
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i] as number;
      if (row < first) continue;
      const sums = added[row - first] as Float64Array;
      // Exactly 1 if the whole cell is in the set, which then varies by exactly 0 in it.
      const share = (counts[i] as number) / size;
      for (let j = 0; j <= i; j++) {
        const other = rows[j] as number;
        sums[other] = at(sums, other) - share * (counts[j] as number);
      }
    }
  }
  return withRows(before, added);
}

/**
 * A cell with the numbers that its exchanges need, all in the measure of the inverse. `leverages`: the squared norm of each part's deviation.
 * `averages`: the products of each part's sets and the shares. `average`: that of the shares with themselves.
 */
type Measured = MixedCell & {
  shares: readonly number[];
  averages: readonly number[];
  average: number;
  leverages: readonly number[];
  largest: number;
};

/** Returns the cells from the largest leverage to the smallest. */
const measured = ({ mixed }: Division, inverse: Inverse): Measured[] =>
  mixed.map((cell) => measuredCell(cell, inverse)).toSorted((a, b) => b.largest - a.largest);

function measuredCell(cell: MixedCell, inverse: Inverse): Measured {
  const { parts, rows, counts, size } = cell;
  const { values, count } = inverse;
  const shares = counts.map((one) => one / size);
  const image = new Float64Array(count);
  let average = 0;
  for (let i = 0; i < rows.length; i++) {
    const start = (rows[i] as number) * count;
    let sum = 0;
    for (let j = 0; j < rows.length; j++)
      sum += at(values, start + (rows[j] as number)) * (shares[j] as number);
    image[rows[i] as number] = sum;
    average += sum * (shares[i] as number);
  }
  const averages = parts.map((part) => sumOf(part, image));
  const leverages = parts.map((part, i) =>
    Math.max(0, productOf(part, part, inverse) - 2 * (averages[i] as number) + average),
  );
  const largest = leverages.reduce((a, b) => Math.max(a, b), 0);
  return { ...cell, shares, averages, average, leverages, largest };
}

/**
 * Returns whether the norms alone prove that everyone can be exchanged, as they usually do for large companies. Without the cell itself, the
 * norm of an exchange is at most 1/(1 − t) times that of the part, where t is the sum of the leverages of the cell's people. Norms only grow
 * if sets are added: if this is true for some sets, it is for fewer of them, too.
 */
export function areAllExchangeable(division: Division, inverse: Inverse, limit: number): boolean {
  const cells = measured(division, inverse);
  return cells.every((cell) => isExchangeable(cell, cells[0] as Measured, limit));
}

function isExchangeable({ parts, size, leverages, largest }: Measured, first: Measured, limit: number) {
  let total = 0;
  for (const [i, part] of parts.entries()) total += part.size * (leverages[i] as number);
  return (
    1 / size + largest <= 1.5 * limit &&
    total < 1 &&
    Math.sqrt(first.largest * largest) / (1 - total) <= limit
  );
}

/**
 * Returns the cells with a person whose answer can't be exchanged within `limit` (1/k), each with the largest weight that its best
 * exchange needs; Infinity if there is none. The people of all other cells can be exchanged. Cells all of whose people are in the same sets
 * need no exchange.
 */
export function cellsWithoutExchange(
  division: Division,
  inverse: Inverse,
  limit: number,
): Map<number, number> {
  const cells = measured(division, inverse);
  const failing = new Map<number, number>();
  const budget = { weights: maxWeights };
  // The cells that are hardest to prove come last. If the budget is used up, they count as not proven.
  for (const own of cells.toReversed()) {
    if (isExchangeable(own, cells[0] as Measured, limit)) continue;
    const worst = worstIn(own, { cells, inverse, limit, budget });
    if (worst > limit + rounding) failing.set(own.cell, worst);
  }
  return failing;
}

/** Returns the sum of the values of a part's sets. */
function sumOf({ rows }: Part, values: Float64Array): number {
  let sum = 0;
  for (const row of rows) sum += at(values, row);
  return sum;
}

/** Returns the inner product of the sets of two parts that the inverse defines. */
function productOf(one: Part, other: Part, { values, count }: Inverse): number {
  let sum = 0;
  for (const row of one.rows) for (const column of other.rows) sum += at(values, row * count + column);
  return sum;
}

type Searched = { cells: readonly Measured[]; inverse: Inverse; limit: number; budget: { weights: number } };

/** Returns the largest weight that the exchanges of a cell's people need. Infinity if there is none, or it would take too long. */
function worstIn(own: Measured, { cells, inverse, limit, budget }: Searched): number {
  if (own.parts.length > maxParts) return Infinity;
  const maxShare = 1.5 * limit;
  let worst = 0;
  for (const { leverage, norm, coefficients } of exchangesOf(own, inverse)) {
    // All figures together must not determine too much of an answer, even if no single combination does.
    const share = 1 / own.size + leverage;
    if (share > maxShare + rounding) worst = Math.max(worst, (share / maxShare) * limit + 2 * rounding);
    if (norm === Infinity || budget.weights < 0) return Infinity;
    const isBelow = (other: Measured) => Math.sqrt(other.largest) * norm <= Math.max(limit, worst);
    // The first is the largest.
    if (isBelow(cells[0] as Measured)) continue;
    const all = coefficients();
    for (const other of cells) {
      if (isBelow(other)) break;
      if (other === own) continue;
      budget.weights -= other.parts.length;
      const average = other.rows.reduce((sum, row, i) => sum + at(all, row) * (other.shares[i] as number), 0);
      for (const part of other.parts) worst = Math.max(worst, Math.abs(sumOf(part, all) - average));
    }
  }
  return worst;
}

/**
 * How the people of a part are exchanged: anyone in another cell changes by their deviation times the coefficients. `leverage`: the
 * squared norm of the part's deviation. `norm`: of the changes, in the same measure; Infinity if there is no exchange without the
 * cell itself.
 */
type Exchange = { leverage: number; norm: number; coefficients: () => Float64Array };

/** Returns the exchange of each part of a cell. The cell itself takes no part in it: it is removed from the matrix (Woodbury). */
function exchangesOf(
  { parts, rows, shares, averages, average, leverages }: Measured,
  inverse: Inverse,
): Exchange[] {
  const count = parts.length;
  const products = new Float64Array(count * count);
  for (let a = 0; a < count; a++) {
    for (let b = 0; b <= a; b++) {
      const product = productOf(parts[a] as Part, parts[b] as Part, inverse);
      products[a * count + b] = product - (averages[a] as number) - (averages[b] as number) + average;
      products[b * count + a] = at(products, a * count + b);
    }
  }
  const remaining = products.map((product, i) =>
    i % (count + 1) === 0 ? 1 / (parts[i / (count + 1)] as Part).size - product : -product,
  );
  const solve = choleskyOf(remaining, count);
  return leverages.map((leverage, part): Exchange => {
    if (!solve) return { leverage, norm: Infinity, coefficients: () => new Float64Array(inverse.count) };
    const amounts = solve(products.subarray(part * count, (part + 1) * count));
    amounts[part] = at(amounts, part) + 1;
    let squared = 0;
    for (let a = 0; a < count; a++) {
      for (let b = 0; b < count; b++)
        squared += at(amounts, a) * at(amounts, b) * at(products, a * count + b);
    }
    return {
      leverage,
      norm: Math.sqrt(Math.max(0, squared)),
      coefficients: () => coefficientsOf({ parts, rows, shares }, amounts, inverse),
    };
  });
}

/** Returns the inverse times the sum of these amounts of the parts' deviations. */
function coefficientsOf(
  { parts, rows, shares }: Pick<Measured, 'parts' | 'rows' | 'shares'>,
  amounts: Float64Array,
  { values, count }: Inverse,
): Float64Array {
  const total = amounts.reduce((sum, amount) => sum + amount, 0);
  const factors = new Float64Array(count);
  for (const [i, row] of rows.entries()) factors[row] = -total * (shares[i] as number);
  for (const [i, part] of parts.entries())
    for (const row of part.rows) factors[row] = at(factors, row) + at(amounts, i);
  const result = new Float64Array(count);
  for (const row of rows) {
    const factor = at(factors, row);
    for (let j = 0; j < count; j++) result[j] = at(result, j) + factor * at(values, row * count + j);
  }
  return result;
}

const at = (list: Float64Array, i: number): number => list[i] as number;
