// Symmetric matrices without negative eigenvalues, as rows one after another. Pure.

/** Pivots below this share of their row's diagonal entry are rounding errors: the row depends on those before it. */
const smallestPivot = 1e-9;

/** `values`: `count` rows of `count` numbers. `rank`: how many of the rows don't depend on those before them. */
export type Inverse = { count: number; rank: number; values: Float64Array };

export const emptyInverse: Inverse = { count: 0, rank: 0, values: new Float64Array(0) };

/**
 * Returns the inverse of a matrix with more rows. `added`: the new rows, of which only the entries up to the diagonal
 * are read. Rows that depend on those before them are left out: their rows and columns of the inverse are 0. The inverse solves `matrix · x = b` for every b that
 * is a combination of the matrix's rows.
 */
export function withRows(inverse: Inverse, added: readonly Float64Array[]): Inverse {
  const count = inverse.count + added.length;
  const values = new Float64Array(count * count);
  let { rank } = inverse;
  for (let i = 0; i < inverse.count; i++)
    values.set(inverse.values.subarray(i * inverse.count, (i + 1) * inverse.count), i * count);
  for (const [place, row] of added.entries()) {
    const own = inverse.count + place;
    // The row minus the combination of earlier rows that is closest to it, and what remains of its diagonal entry.
    const rest = new Float64Array(own + 1);
    for (let i = 0; i < own; i++) {
      const value = at(row, i);
      let sum = at(values, i * count + i) * value;
      for (let j = 0; j < i; j++) {
        const entry = at(values, i * count + j);
        sum += entry * at(row, j);
        rest[j] = at(rest, j) - entry * value;
      }
      rest[i] = at(rest, i) - sum;
    }
    let pivot = at(row, own);
    for (let i = 0; i < own; i++) pivot += at(rest, i) * at(row, i);
    if (!(pivot > smallestPivot * at(row, own))) continue;
    rank++;
    rest[own] = 1;
    for (let i = 0; i <= own; i++) {
      const factor = at(rest, i) / pivot;
      for (let j = 0; j <= i; j++) values[i * count + j] = at(values, i * count + j) + factor * at(rest, j);
    }
  }
  for (let i = 0; i < count; i++)
    for (let j = 0; j < i; j++) values[j * count + i] = at(values, i * count + j);
  return { count, rank, values };
}

/** Returns a function that solves `matrix · x = b` for a symmetric matrix; undefined if it has an eigenvalue that isn't positive. */
export function choleskyOf(
  matrix: Float64Array,
  count: number,
): ((b: Float64Array) => Float64Array) | undefined {
  const factor = new Float64Array(count * count);
  for (let i = 0; i < count; i++) {
    for (let j = 0; j <= i; j++) {
      let value = at(matrix, i * count + j);
      for (let l = 0; l < j; l++) value -= at(factor, i * count + l) * at(factor, j * count + l);
      if (i !== j) factor[i * count + j] = value / at(factor, j * count + j);
      else if (value <= smallestPivot * at(matrix, i * count + i)) return undefined;
      else factor[i * count + i] = Math.sqrt(value);
    }
  }
  return (b) => {
    const x = Float64Array.from(b);
    for (let i = 0; i < count; i++) {
      let value = at(x, i);
      for (let j = 0; j < i; j++) value -= at(factor, i * count + j) * at(x, j);
      x[i] = value / at(factor, i * count + i);
    }
    for (let i = count - 1; i >= 0; i--) {
      let value = at(x, i);
      for (let j = i + 1; j < count; j++) value -= at(factor, j * count + i) * at(x, j);
      x[i] = value / at(factor, i * count + i);
    }
    return x;
  };
}

const at = (list: Float64Array, i: number): number => list[i] as number;
