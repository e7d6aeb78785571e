// The attacker on combinations of figures: finds the combination in which one person has the largest share of all weights. It knows nothing
// about how figures are chosen, only which people each of them is based on.

/** People in the same sets can't be distinguished by sums. `sets`: which sets they are in. */
type Class = { people: number[]; sets: number[] };
export type Separated = { people: number[]; weight: number };

/**
 * Returns the people who have the largest share of a combination of sums over these sets, and the weight of all people together if
 * each of them has weight 1. A combination of whole sets of k people has weight k. The search is a sequence of weighted regressions
 * that converges to the smallest sum of absolute weights, which is a convex problem. Undefined if no one is in any set.
 */
export function heaviestPerson(sets: readonly (readonly number[])[]): Separated | undefined {
  const classes = classesIn(sets);
  const rows = independentRows(sets.length, classes);
  let heaviest: Separated | undefined;
  for (const [i, { people }] of classes.entries()) {
    // A combination in which more people have the weight of the heaviest can't be better.
    if (heaviest && people.length >= heaviest.weight) continue;
    const weight = smallestSum(rows, classes, i);
    if (!heaviest || weight < heaviest.weight) heaviest = { people, weight };
  }
  return heaviest;
}

function classesIn(sets: readonly (readonly number[])[]): Class[] {
  const setsOf = new Map<number, number[]>();
  for (const [set, people] of sets.entries()) {
    for (const person of people) setsOf.set(person, [...(setsOf.get(person) ?? []), set]);
  }
  const classes = Map.groupBy(setsOf, ([, of]) => of.join());
  return [...classes.values()].map((members) => ({
    people: members.map(([person]) => person),
    sets: (members[0] as [number, number[]])[1],
  }));
}

/** Returns orthonormal rows, a number for each class, whose combinations are those of the sets (Gram–Schmidt). */
function independentRows(setCount: number, classes: readonly Class[]): number[][] {
  const rows: number[][] = [];
  for (let set = 0; set < setCount; set++) {
    let row = classes.map(({ sets }): number => (sets.includes(set) ? 1 : 0));
    // Done twice, because a single pass loses digits.
    for (let pass = 0; pass < 2; pass++) {
      for (const other of rows) {
        const product = dot(row, other);
        row = row.map((value, i) => value - product * (other[i] as number));
      }
    }
    const norm = Math.sqrt(dot(row, row));
    if (norm > 1e-7) rows.push(row.map((value) => value / norm));
  }
  return rows;
}

/** Returns the smallest sum of absolute weights of all people with weight 1 for one class. */
function smallestSum(rows: readonly number[][], classes: readonly Class[], wanted: number): number {
  const target = rows.map((row) => row[wanted] as number);
  let weights = classes.map(() => 1);
  let smallest = Infinity;
  for (let softening = 1; softening > 1e-9; softening /= 3) {
    for (let step = 0; step < 2; step++) {
      const factors = weights.map(
        (weight, i) => (classes[i] as Class).people.length / (Math.abs(weight) + softening),
      );
      const matrix = rows.map((a) =>
        rows.map((b) =>
          a.reduce((sum, value, i) => sum + value * (b[i] as number) * (factors[i] as number), 0),
        ),
      );
      const solution = solved(matrix, target);
      const scale = dot(solution, target);
      if (!(Math.abs(scale) > 0)) return smallest;
      weights = classes.map(
        (_, i) => rows.reduce((sum, row, r) => sum + (row[i] as number) * (solution[r] as number), 0) / scale,
      );
      const sum = weights.reduce(
        (all, weight, i) => all + Math.abs(weight) * (classes[i] as Class).people.length,
        0,
      );
      if (sum < smallest) smallest = sum;
    }
  }
  return smallest;
}

/** Returns x with matrix · x = b, by elimination with pivots. */
function solved(matrix: readonly (readonly number[])[], b: readonly number[]): number[] {
  const rows = matrix.map((row, i) => [...row, b[i] as number]);
  const count = rows.length;
  for (let column = 0; column < count; column++) {
    let best = column;
    for (let i = column + 1; i < count; i++) {
      if (Math.abs(rows[i]?.[column] as number) > Math.abs(rows[best]?.[column] as number)) best = i;
    }
    const pivot = rows[best] as number[];
    rows[best] = rows[column] as number[];
    rows[column] = pivot;
    for (let i = column + 1; i < count; i++) {
      const row = rows[i] as number[];
      const factor = (row[column] as number) / (pivot[column] as number);
      if (factor !== 0)
        for (let j = column; j <= count; j++) row[j] = (row[j] as number) - factor * (pivot[j] as number);
    }
  }
  const x: number[] = [];
  for (let i = count - 1; i >= 0; i--) {
    const row = rows[i] as number[];
    let value = row[count] as number;
    for (let j = i + 1; j < count; j++) value -= (row[j] as number) * (x[j] as number);
    x[i] = value / (row[i] as number);
  }
  return x;
}

const dot = (a: readonly number[], b: readonly number[]) =>
  a.reduce((sum, value, i) => sum + value * (b[i] as number), 0);

/**
 * Returns people, fewer than `threshold`, about whose answers whole-number sums over these sets reveal a remainder: in some
 * combination, the weights of everyone else are multiples of `prime`. Real numbers would not reveal it, whole numbers do.
 * Undefined if there are none. `prime`: for example, 5 would reveal an answer from 1 to 5, and 2 would reveal whether an
 * answer is even.
 */
export function revealedRemainder(
  sets: readonly (readonly number[])[],
  threshold: number,
  prime: number,
): number[] | undefined {
  const classes = classesIn(sets);
  const rows = sets.map((_, set) => classes.map((one): number => (one.sets.includes(set) ? 1 : 0)));
  reduceModulo(rows, prime);
  for (const row of rows) {
    const places = [...row.keys()].filter((place) => row[place] !== 0);
    const people = places.flatMap((place) => (classes[place] as Class).people);
    if (people.length > 0 && people.length < threshold) return people;
  }
  return undefined;
}

/** Brings rows of whole numbers into reduced echelon form modulo a prime. */
export function reduceModulo(rows: number[][], prime: number): void {
  let next = 0;
  for (let column = 0; column < (rows[0]?.length ?? 0) && next < rows.length; column++) {
    const pivot = rows.findIndex((row, i) => i >= next && row[column] !== 0);
    if (pivot === -1) continue;
    const row = rows[pivot] as number[];
    rows[pivot] = rows[next] as number[];
    let inverse = 1;
    while ((inverse * (row[column] as number)) % prime !== 1) inverse++;
    const unit = row.map((value) => (value * inverse) % prime);
    for (const [i, other] of rows.entries()) {
      const factor = i === next ? 0 : (other[column] as number);
      if (factor !== 0)
        rows[i] = other.map((value, j) => (value + (prime - factor) * (unit[j] as number)) % prime);
    }
    rows[next++] = unit;
  }
}
