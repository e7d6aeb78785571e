// The normal distribution and Student's t distribution. Pure.

/** The quantile of the standard normal distribution for two-sided 95% intervals. */
const normal95 = 1.959963984540054;

/** Returns the natural logarithm of the gamma function (Lanczos), for x > 0. */
function logGamma(x: number): number {
  const coefficients = [
    76.1800917294715, -86.5053203294168, 24.0140982408309, -1.231739572450155, 0.001208650973866179,
    -0.000005395239384953,
  ];
  const shifted = x + 5.5;
  const sum = coefficients.reduce((total, one, i) => total + one / (x + i + 1), 1.000000000190015);
  return (x + 0.5) * Math.log(shifted) - shifted + Math.log((Math.sqrt(2 * Math.PI) * sum) / x);
}

/** Returns the regularized incomplete beta function, by its continued fraction (Lentz's method). */
function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const tiny = 1e-300;
  const logFront =
    logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(1 - x) - Math.log(a);
  let [c, d] = [1, 1 - ((a + b) * x) / (a + 1)];
  d = 1 / (Math.abs(d) < tiny ? tiny : d);
  let fraction = d;
  const step = (numerator: number) => {
    d = 1 + numerator * d;
    d = 1 / (Math.abs(d) < tiny ? tiny : d);
    c = 1 + numerator / c;
    if (Math.abs(c) < tiny) c = tiny;
    fraction *= d * c;
  };
  for (let m = 1; m <= 300; m++) {
    const before = fraction;
    step((m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m)));
    step((-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1)));
    if (Math.abs(fraction - before) < 1e-12 * Math.abs(fraction)) break;
  }
  return Math.exp(logFront) * fraction;
}

/** Returns the probability that a t distribution with `freedom` degrees of freedom is at least as far from 0 as `t`. */
export function twoSidedT(t: number, freedom: number): number {
  if (!Number.isFinite(t)) return Number.isNaN(t) ? 1 : 0;
  return incompleteBeta(freedom / (freedom + t * t), freedom / 2, 0.5);
}

/** Returns the t value for two-sided 95% intervals (Cornish–Fisher expansion; exact to 0.001 from 8 degrees of freedom on). */
export function quantile95(freedom: number): number {
  const z = normal95;
  const first = (z ** 3 + z) / 4;
  const second = (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96;
  const third = (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384;
  return z + first / freedom + second / freedom ** 2 + third / freedom ** 3;
}

/** Squares of standardized values count at most this much, so that a few real changes hardly matter (Huber 1964, proposal 2). */
const mostSquare = 1.5 ** 2;
/** The mean of the squares of standard normal values, limited in this way. */
const meanSquare = 0.7784652161744698;

/** Returns how much squares, whose mean should be 1, are too large; negative if they are too small. */
export function excessOf(squares: Iterable<number>): number {
  let [sum, count] = [0, 0];
  for (const square of squares) {
    sum += Math.min(square, mostSquare);
    count++;
  }
  return count === 0 ? 0 : sum / count - meanSquare;
}

/** Returns where an increasing function is 0; the nearer end if it is 0 nowhere between. */
export function rootOf(increasing: (x: number) => number, low: number, high: number): number {
  if (increasing(low) >= 0) return low;
  if (increasing(high) <= 0) return high;
  let [from, to] = [low, high];
  for (let i = 0; i < 20; i++) {
    const middle = (from + to) / 2;
    if (increasing(middle) < 0) from = middle;
    else to = middle;
  }
  return (from + to) / 2;
}
