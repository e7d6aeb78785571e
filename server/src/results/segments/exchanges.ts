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
import { choleskyOf, inverseOf } from './positive-matrix.ts';

/** People of one cell who are in the same published sets of segments. `rows`: the numbers of these sets. */
export type Part = { rows: readonly number[]; size: number };

/** A part's deviation: for each set of `rows` of its cell, 1 if the part is in it, minus the share of the cell that is in it. */
type Mixed = { cell: number; rows: number[]; sizes: number[]; deviations: Float64Array[] };

/** Rounding errors of a proof. Thresholds are whole numbers of at most 1,000, so a limit is never closer to a weight than this. */
const rounding = 1e-9;
/** How many single weights are computed before the remaining cells count as not proven (about half a second). */
const maxWeights = 30_000_000;

/**
 * Returns the cells with a person whose answer can't be exchanged within `limit` (1/k), each with the largest weight that its best
 * exchange needs; Infinity if there is none. The people of all other cells can be exchanged. `parts`: by cell; cells all of whose
 * people are in the same sets need no exchange. `rowCount`: the number of sets.
 */
export function cellsWithoutExchange(
  parts: ReadonlyMap<number, readonly Part[]>,
  rowCount: number,
  limit: number,
): Map<number, number> {
  const mixed = [...parts].flatMap(([cell, list]) => (list.length > 1 ? [mixedOf(cell, list)] : []));
  const inverse = inverseOf(variation(mixed, rowCount), rowCount);
  const exchanges = mixed.map((one) => exchangesOf(one, inverse, rowCount));
  // From the largest leverage to the smallest: a weight is at most the product of two norms, so most weights needn't be computed.
  const others = mixed
    .flatMap(({ cell, rows, deviations }, i) =>
      deviations.map((deviation, part) => {
        return { cell, rows, deviation, norm: Math.sqrt(exchanges[i]?.[part]?.leverage ?? 0) };
      }),
    )
    .toSorted((a, b) => b.norm - a.norm);
  const failing = new Map<number, number>();
  const maxShare = 1.5 * limit;
  let computed = 0;
  for (const [i, { cell }] of mixed.entries()) {
    const size = (mixed[i] as Mixed).sizes.reduce((sum, one) => sum + one, 0);
    let worst = 0;
    for (const exchange of exchanges[i] as Exchange[]) {
      // All figures together must not determine too much of an answer, even if no single combination does.
      const share = 1 / size + exchange.leverage;
      if (share > maxShare + rounding) worst = Math.max(worst, (share / maxShare) * limit + 2 * rounding);
      if (exchange.norm === Infinity || computed > maxWeights) worst = Infinity;
      const isBelow = ({ norm }: { norm: number }) => norm * exchange.norm <= Math.max(limit, worst);
      // The first is the largest.
      if (worst === Infinity || isBelow(others[0] as { norm: number })) continue;
      const coefficients = exchange.coefficients();
      for (const other of others) {
        if (isBelow(other)) break;
        computed++;
        if (other.cell !== cell) worst = Math.max(worst, Math.abs(weightOf(other, coefficients)));
      }
    }
    if (worst > limit + rounding) failing.set(cell, worst);
  }
  return failing;
}

function mixedOf(cell: number, parts: readonly Part[]): Mixed {
  const rows = [...new Set(parts.flatMap((part) => part.rows))];
  const places = new Map(rows.map((row, place) => [row, place]));
  const sizes = parts.map(({ size }) => size);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const shares = new Float64Array(rows.length);
  for (const { rows: inside, size } of parts) {
    for (const row of inside)
      shares[places.get(row) as number] = at(shares, places.get(row) as number) + size / total;
  }
  const deviations = parts.map((part) => {
    const deviation = shares.map((share) => -share);
    for (const row of part.rows)
      deviation[places.get(row) as number] = at(deviation, places.get(row) as number) + 1;
    return deviation;
  });
  return { cell, rows, sizes, deviations };
}

/** Returns the sum of the products of all people's deviations: how much the sets vary within cells. */
function variation(mixed: readonly Mixed[], rowCount: number): Float64Array {
  const matrix = new Float64Array(rowCount * rowCount);
  for (const { rows, sizes, deviations } of mixed) {
    for (let part = 0; part < sizes.length; part++) {
      const deviation = deviations[part] as Float64Array;
      for (let i = 0; i < rows.length; i++) {
        const factor = (sizes[part] as number) * at(deviation, i);
        const start = (rows[i] as number) * rowCount;
        for (let j = 0; j < rows.length; j++) {
          const place = start + (rows[j] as number);
          matrix[place] = at(matrix, place) + factor * at(deviation, j);
        }
      }
    }
  }
  return matrix;
}

/**
 * How the people of a part are exchanged: anyone in another cell changes by their deviation times the coefficients. `leverage`: the
 * squared norm of the part's deviation. `norm`: of the changes, in the same measure; Infinity if there is no exchange without the
 * cell itself.
 */
type Exchange = { leverage: number; norm: number; coefficients: () => Float64Array };

/** Returns the exchange of each part of a cell. The cell itself takes no part in it: it is removed from the matrix (Woodbury). */
function exchangesOf(
  { rows, sizes, deviations }: Mixed,
  inverse: Float64Array,
  rowCount: number,
): Exchange[] {
  const count = deviations.length;
  const products = productsOf(deviations, rows, inverse, rowCount);
  const remaining = products.map((product, i) =>
    i % (count + 1) === 0 ? 1 / (sizes[i / (count + 1)] as number) - product : -product,
  );
  const solve = choleskyOf(remaining, count);
  return deviations.map((_, part): Exchange => {
    const leverage = Math.max(0, at(products, part * count + part));
    if (!solve) return { leverage, norm: Infinity, coefficients: () => new Float64Array(rowCount) };
    const shares = solve(products.subarray(part * count, (part + 1) * count));
    shares[part] = at(shares, part) + 1;
    let squared = 0;
    for (let a = 0; a < count; a++) {
      for (let b = 0; b < count; b++) squared += at(shares, a) * at(shares, b) * at(products, a * count + b);
    }
    const coefficients = () => {
      const result = new Float64Array(rowCount);
      for (let i = 0; i < rows.length; i++) {
        const start = (rows[i] as number) * rowCount;
        const factor = deviations.reduce((sum, deviation, a) => sum + at(shares, a) * at(deviation, i), 0);
        for (let j = 0; j < rowCount; j++) result[j] = at(result, j) + factor * at(inverse, start + j);
      }
      return result;
    };
    return { leverage, norm: Math.sqrt(Math.max(0, squared)), coefficients };
  });
}

/** Returns deviation · inverse · deviationᵀ for each two deviations of a cell. */
function productsOf(
  deviations: readonly Float64Array[],
  rows: readonly number[],
  inverse: Float64Array,
  rowCount: number,
) {
  const count = deviations.length;
  const products = new Float64Array(count * count);
  const image = new Float64Array(rows.length);
  for (let a = 0; a < count; a++) {
    image.fill(0);
    for (let i = 0; i < rows.length; i++) {
      const value = at(deviations[a] as Float64Array, i);
      const start = (rows[i] as number) * rowCount;
      for (let j = 0; j < rows.length; j++)
        image[j] = at(image, j) + value * at(inverse, start + (rows[j] as number));
    }
    for (let b = 0; b < count; b++) products[a * count + b] = productOf(deviations[b] as Float64Array, image);
  }
  return products;
}

function productOf(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += at(a, i) * at(b, i);
  return sum;
}

function weightOf(
  { rows, deviation }: { rows: number[]; deviation: Float64Array },
  coefficients: Float64Array,
) {
  let weight = 0;
  for (let i = 0; i < rows.length; i++) weight += at(deviation, i) * at(coefficients, rows[i] as number);
  return weight;
}

const at = (list: Float64Array, i: number): number => list[i] as number;
