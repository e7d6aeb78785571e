// Symmetric matrices without negative eigenvalues, as rows one after another. Pure.

/** Pivots below this are rounding errors of a matrix that is singular. */
const smallestPivot = 1e-9;

/**
 * Returns the inverse of a symmetric matrix of `count` rows. Rows that depend on others are left out: their rows and columns of the
 * inverse are 0. The result solves `matrix · x = b` for every b that is a combination of the matrix's rows.
 */
export function inverseOf(matrix: Float64Array, count: number): Float64Array {
  const factor = new Float64Array(count * count);
  const diagonal = Float64Array.from({ length: count }, (_, i) => at(matrix, i * count + i));
  const largest = diagonal.reduce((max, value) => Math.max(max, value), 0);
  const pivots: number[] = [];
  const rest = new Set(diagonal.keys());
  for (;;) {
    let pivot = -1;
    for (const i of rest) if (pivot < 0 || at(diagonal, i) > at(diagonal, pivot)) pivot = i;
    if (pivot < 0 || at(diagonal, pivot) <= smallestPivot * largest) break;
    const step = pivots.length;
    const root = Math.sqrt(at(diagonal, pivot));
    rest.delete(pivot);
    pivots.push(pivot);
    factor[pivot * count + step] = root;
    for (const i of rest) {
      let value = at(matrix, i * count + pivot);
      for (let j = 0; j < step; j++) value -= at(factor, i * count + j) * at(factor, pivot * count + j);
      value /= root;
      factor[i * count + step] = value;
      diagonal[i] = at(diagonal, i) - value * value;
    }
  }
  return inverseOfFactor(factor, pivots, count);
}

/** Returns the inverse of factor · factorᵀ. `pivots`: its rows, in the order in which the factor is triangular. */
function inverseOfFactor(factor: Float64Array, pivots: readonly number[], count: number): Float64Array {
  const inverse = new Float64Array(count * count);
  const rank = pivots.length;
  const solution = new Float64Array(rank);
  const entry = (i: number, j: number) => at(factor, (pivots[i] as number) * count + j);
  for (const [column, pivot] of pivots.entries()) {
    solution.fill(0);
    for (let i = column; i < rank; i++) {
      let value = i === column ? 1 : 0;
      for (let j = column; j < i; j++) value -= entry(i, j) * at(solution, j);
      solution[i] = value / entry(i, i);
    }
    for (let i = rank - 1; i >= 0; i--) {
      let value = at(solution, i);
      for (let j = i + 1; j < rank; j++) value -= entry(j, i) * at(solution, j);
      solution[i] = value / entry(i, i);
    }
    for (const [i, row] of pivots.entries()) inverse[row * count + pivot] = at(solution, i);
  }
  return inverse;
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
