// Relative weights (Johnson 2000): how the share of an outcome's variance that a regression explains is divided among correlated
// predictors. docs/administrators/drivers.md explains them. Pure.

/** The eigenvalues of a symmetric matrix, and its eigenvectors as the rows of `vectors`. Matrices are row by row. */
export type Eigen = { values: Float64Array; vectors: Float64Array };

/** Returns the eigenvalues and eigenvectors of a symmetric matrix. `matrix` is changed. Takes 0.1 ms for 20 rows. */
export function eigenOf(matrix: Float64Array, size: number): Eigen {
  const vectors = new Float64Array(size * size);
  for (let i = 0; i < size; i++) vectors[i * size + i] = 1;
  for (let column = 0; column < size - 2; column++) reflect(matrix, vectors, size, column);
  const values = Float64Array.from({ length: size }, (_, i) => matrix[i * size + i]!);
  const beside = Float64Array.from({ length: size - 1 }, (_, i) => matrix[i * size + i + 1]!);
  // Relative to the whole matrix: next to eigenvalues of 0, rounding never gets small relative to its neighbours.
  const tiny = Math.max(1e-30, 1e-15 * Math.max(...values.map(Math.abs), ...beside.map(Math.abs)));
  // Each step of QR shrinks an element next to the diagonal. Two or three steps per eigenvalue are usual.
  for (let high = size - 1, steps = 0; high > 0 && steps < 100 * size; steps++) {
    const isSmall = (i: number) => Math.abs(beside[i]!) <= tiny;
    if (isSmall(high - 1)) {
      high--;
      continue;
    }
    let low = high - 1;
    while (low > 0 && !isSmall(low - 1)) low--;
    step({ values, beside, vectors }, low, high);
  }
  return { values, vectors };
}

/** Uses a Householder reflection to make all elements below the subdiagonal of a column 0. */
function reflect(matrix: Float64Array, vectors: Float64Array, size: number, column: number): void {
  const first = column + 1;
  const mirror = new Float64Array(size);
  // Summed without the first element: subtracting its square from the sum would lose small ones.
  let below = 0;
  for (let i = first; i < size; i++) {
    mirror[i] = matrix[i * size + column]!;
    if (i > first) below += mirror[i]! ** 2;
  }
  if (below < 1e-30) return;
  mirror[first]! += Math.sign(mirror[first]! || 1) * Math.sqrt(below + mirror[first]! ** 2);
  const length = Math.sqrt(mirror.reduce((sum, one) => sum + one * one, 0));
  for (let i = first; i < size; i++) mirror[i]! /= length;

  const image = new Float64Array(size);
  let along = 0;
  for (let i = column; i < size; i++) {
    for (let k = first; k < size; k++) image[i]! += 2 * matrix[i * size + k]! * mirror[k]!;
    along += image[i]! * mirror[i]!;
  }
  for (let i = first; i < size; i++) image[i]! -= along * mirror[i]!;
  for (let i = column; i < size; i++) {
    for (let k = column; k < size; k++) {
      matrix[i * size + k]! -= mirror[i]! * image[k]! + image[i]! * mirror[k]!;
    }
  }
  const sums = new Float64Array(size);
  for (let i = first; i < size; i++) {
    for (let k = 0; k < size; k++) sums[k]! += 2 * mirror[i]! * vectors[i * size + k]!;
  }
  for (let i = first; i < size; i++) {
    for (let k = 0; k < size; k++) vectors[i * size + k]! -= mirror[i]! * sums[k]!;
  }
}

type Tridiagonal = { values: Float64Array; beside: Float64Array; vectors: Float64Array };

/** One step of QR with Wilkinson's shift on the rows `low` to `high` of a tridiagonal matrix. */
function step({ values, beside, vectors }: Tridiagonal, low: number, high: number): void {
  const size = values.length;
  const half = (values[high - 1]! - values[high]!) / 2;
  const last = beside[high - 1]!;
  const shift =
    values[high]! - last ** 2 / (half + (half < 0 ? -1 : 1) * Math.sqrt(half * half + last * last));
  let x = values[low]! - shift;
  let z = beside[low]!;
  for (let k = low; k < high; k++) {
    const length = Math.sqrt(x * x + z * z);
    const cos = length === 0 ? 1 : x / length;
    const sin = length === 0 ? 0 : z / length;
    if (k > low) beside[k - 1] = length;
    const a = values[k]!;
    const b = values[k + 1]!;
    const off = beside[k]!;
    values[k] = cos * cos * a + 2 * cos * sin * off + sin * sin * b;
    values[k + 1] = sin * sin * a - 2 * cos * sin * off + cos * cos * b;
    beside[k] = cos * sin * (b - a) + (cos * cos - sin * sin) * off;
    if (k < high - 1) {
      x = beside[k]!;
      z = sin * beside[k + 1]!;
      beside[k + 1]! *= cos;
    }
    for (let i = k * size; i < (k + 1) * size; i++) {
      const own = vectors[i]!;
      const next = vectors[i + size]!;
      vectors[i] = cos * own + sin * next;
      vectors[i + size] = cos * next - sin * own;
    }
  }
}

/** How predictors resemble the uncorrelated variables that they are replaced by. */
export type Orthogonal = { size: number; loadings: Float64Array; inverse: Float64Array };

/**
 * Returns the uncorrelated variables that resemble the predictors most: their loadings are the square root of the correlations, and
 * `inverse` is its inverse. `correlations`: of the predictors with each other, row by row; it is changed. Directions in which the
 * predictors do not vary, for example because two of them are equal, are left out.
 */
export function orthogonalOf(correlations: Float64Array, size: number): Orthogonal {
  const { values, vectors } = eigenOf(correlations, size);
  const smallest = 1e-10 * Math.max(...values);
  const loadings = new Float64Array(size * size);
  const inverse = new Float64Array(size * size);
  for (let e = 0; e < size; e++) {
    if (values[e]! <= smallest) continue;
    const root = Math.sqrt(values[e]!);
    for (let i = 0; i < size; i++) {
      const own = vectors[e * size + i]!;
      for (let k = 0; k < size; k++) {
        const product = own * vectors[e * size + k]!;
        loadings[i * size + k]! += product * root;
        inverse[i * size + k]! += product / root;
      }
    }
  }
  return { size, loadings, inverse };
}

/**
 * Returns the relative weight of each predictor; their sum is the share of variance explained (R²). `withOutcome`: the correlation of
 * each predictor with the outcome.
 */
export function relativeWeights(
  { size, loadings, inverse }: Orthogonal,
  withOutcome: Float64Array,
): Float64Array {
  const squares = new Float64Array(size);
  for (let i = 0; i < size; i++) {
    let coefficient = 0;
    for (let k = 0; k < size; k++) coefficient += inverse[i * size + k]! * withOutcome[k]!;
    squares[i] = coefficient ** 2;
  }
  const weights = new Float64Array(size);
  for (let i = 0; i < size; i++) {
    for (let k = 0; k < size; k++) weights[i]! += loadings[i * size + k]! ** 2 * squares[k]!;
  }
  return weights;
}

/** Values of several variables, row by row, with a positive weight for each row. The last variable of a row is the outcome. */
export type Table = { rows: number; columns: number; values: Float64Array; weights: Float64Array };

/** For each row, its weight, its values and the products of all pairs of them, all times its weight. */
export type Moments = { rows: number; columns: number; terms: Float64Array };

/** Returns what correlations are summed from, so that each draw of rows only adds. */
export function momentsOf({ rows, columns, values, weights }: Table): Moments {
  const width = termsOf(columns);
  const terms = new Float64Array(rows * width);
  for (let row = 0, to = 0; row < rows; row++) {
    const weight = weights[row]!;
    const at = row * columns;
    terms[to++] = weight;
    for (let a = at; a < at + columns; a++) terms[to++] = weight * values[a]!;
    for (let a = at; a < at + columns; a++) {
      for (let b = a; b < at + columns; b++) terms[to++] = weight * values[a]! * values[b]!;
    }
  }
  return { rows, columns, terms };
}

const termsOf = (columns: number) => 1 + columns + (columns * (columns + 1)) / 2;

/**
 * Returns the correlations of all columns but the last with each other, row by row, and with the last. A column that does not vary
 * correlates with nothing. `times`: how often each row counts, by default once.
 */
export function correlationsOf({ rows, columns, terms }: Moments, times?: Uint16Array) {
  const width = termsOf(columns);
  const sums = new Float64Array(width);
  for (let row = 0; row < rows; row++) {
    const count = times ? times[row]! : 1;
    if (count === 0) continue;
    const at = row * width;
    for (let i = 0; i < width; i++) sums[i]! += count * terms[at + i]!;
  }
  const total = sums[0]!;
  const covariances = new Float64Array(columns * columns);
  for (let a = 0, from = 1 + columns; a < columns; a++) {
    for (let b = a; b < columns; b++) {
      covariances[a * columns + b] = sums[from++]! / total - (sums[1 + a]! / total) * (sums[1 + b]! / total);
    }
  }
  const scales = Float64Array.from({ length: columns }, (_, a) => {
    const variance = covariances[a * columns + a]!;
    return variance > 1e-12 ? 1 / Math.sqrt(variance) : 0;
  });
  const size = columns - 1;
  const among = new Float64Array(size * size);
  const withOutcome = new Float64Array(size);
  for (let a = 0; a < size; a++) {
    among[a * size + a] = 1;
    withOutcome[a] = covariances[a * columns + size]! * scales[a]! * scales[size]!;
    for (let b = a + 1; b < size; b++) {
      const correlation = covariances[a * columns + b]! * scales[a]! * scales[b]!;
      among[a * size + b] = correlation;
      among[b * size + a] = correlation;
    }
  }
  return { among, withOutcome };
}
