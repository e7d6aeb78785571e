// Chooses segments by the rules of decision 27, written as plainly as possible: with matrices of all people, one breakdown after another, and one
// prime after another. The service does the same much faster, with other code.
import type { SegmentSet } from '../../results/segments/choose-segments.ts';
import { reduceModulo } from '../attacks/weights.ts';

type Company = {
  cellOf: ArrayLike<number>;
  breakdowns: readonly (readonly SegmentSet[])[];
  threshold: number;
};
type Shown = [segment: number, people: number[]];

/** Returns for each segment whose figure is published the people it is based on. */
export function slowlyChosen(company: Company): Map<number, number[]> {
  const choose = (isChecked: boolean) =>
    company.breakdowns.reduce((before: Shown[], breakdown) => {
      const after = [...before, ...addedSlowly(company, before, breakdown)];
      return isChecked && revealsRemainder(company, after) ? before : after;
    }, []);
  const all = choose(false);
  return new Map(revealsRemainder(company, all) ? choose(true) : all);
}

function addedSlowly(
  { cellOf, threshold }: Company,
  before: Shown[],
  breakdown: readonly SegmentSet[],
): Shown[] {
  const left = new Set([0]);
  let sets = breakdown.map(({ segment, people }): Shown => [segment, [...people]]);
  for (let attempt = 1; ; attempt++) {
    sets = sets
      .map(([segment, people]): Shown => [
        segment,
        people.filter((person) => !left.has(cellOf[person] as number)),
      ])
      .filter(([, people]) => people.length >= threshold);
    if (sets.length === 0 || attempt > 24) return [];
    const failing = failingSlowly(cellOf, [...before, ...sets], threshold);
    if (failing.size === 0) return sets;
    const worst = Math.max(...failing.values());
    const counted = sets.flatMap(([, people]) => people.map((person) => cellOf[person] as number));
    const added = [...failing]
      .filter(([cell, weight]) => counted.includes(cell) && (weight >= worst / 2 || attempt >= 12))
      .filter(([cell]) => !left.has(cell));
    for (const [cell] of added) left.add(cell);
    if (added.length === 0)
      sets = sets.toSorted((a, b) => b[1].length - a[1].length || a[0] - b[0]).slice(0, -1);
  }
}

/** Returns the cells with someone who can't be exchanged, with the largest change that this needs. */
function failingSlowly(
  cellOf: ArrayLike<number>,
  sets: readonly Shown[],
  threshold: number,
): Map<number, number> {
  const cells = cellsOf(cellOf);
  const deviations = deviationsOf(cells, sets);
  const failing = new Map<number, number>();
  const shares = sharesOf([...deviations.values()]);
  for (const [cell, people] of cells) {
    const others = [...cells].flatMap(([other, list]) => (other === cell ? [] : list));
    let worst = 0;
    for (const person of people) {
      const own = deviations.get(person) as number[];
      if (own.every((value) => value === 0)) continue;
      const coefficients = solved(
        variationOf(
          others.map((other) => deviations.get(other) as number[]),
          sets.length,
        ),
        own,
      );
      const changes = coefficients
        ? others.map((other) => Math.abs(dot(deviations.get(other) as number[], coefficients)))
        : [];
      const share = 1 / people.length + shares(own);
      if (share > 1.5 / threshold + 1e-9) worst = Math.max(worst, share / 1.5);
      worst = Math.max(worst, coefficients ? Math.max(0, ...changes) : Infinity);
    }
    if (worst > 1 / threshold + 1e-9) failing.set(cell, worst);
  }
  return failing;
}

const cellsOf = (cellOf: ArrayLike<number>): Map<number, number[]> =>
  Map.groupBy(
    Array.from(cellOf, (_, person) => person).filter((person) => cellOf[person] !== 0),
    (person) => cellOf[person] as number,
  );

/** Returns for each person and set 1 or 0, minus the average of the person's cell. */
function deviationsOf(cells: ReadonlyMap<number, number[]>, sets: readonly Shown[]): Map<number, number[]> {
  const included = sets.map(([, people]) => new Set(people));
  return new Map(
    [...cells.values()].flatMap((people) => {
      const averages = included.map(
        (set) => people.filter((person) => set.has(person)).length / people.length,
      );
      return people.map((person): [number, number[]] => [
        person,
        included.map((set, i) => (set.has(person) ? 1 : 0) - (averages[i] as number)),
      ]);
    }),
  );
}

const variationOf = (deviations: readonly (readonly number[])[], count: number): number[][] =>
  Array.from({ length: count }, (_, a) =>
    Array.from({ length: count }, (__, b) =>
      deviations.reduce((sum, one) => sum + (one[a] as number) * (one[b] as number), 0),
    ),
  );

/** Returns a function that returns the share of the variance of an answer that the sets determine, beyond that of the cell. */
function sharesOf(deviations: readonly (readonly number[])[]) {
  const matrix = variationOf(deviations, deviations[0]?.length ?? 0);
  return (own: readonly number[]): number => dot(own, solved(matrix, own) as number[]);
}

/** Returns x with matrix · x = b, by elimination with pivots; undefined if there is none. */
function solved(matrix: readonly (readonly number[])[], b: readonly number[]): number[] | undefined {
  const rows = matrix.map((row, i) => [...row, b[i] as number]);
  const pivots: [column: number, row: number[]][] = [];
  for (let column = 0; column < rows.length; column++) {
    const rest = rows.filter((row) => pivots.every(([, other]) => other !== row));
    const pivot = rest.toSorted(
      (one, other) => Math.abs(other[column] as number) - Math.abs(one[column] as number),
    )[0];
    if (!pivot || Math.abs(pivot[column] as number) < 1e-8) continue;
    for (const row of rows) {
      if (row === pivot) continue;
      const factor = (row[column] as number) / (pivot[column] as number);
      for (const [i, value] of pivot.entries()) row[i] = (row[i] as number) - factor * value;
    }
    pivots.push([column, pivot]);
  }
  const isSolvable = rows.every(
    (row) => pivots.some(([, pivot]) => pivot === row) || Math.abs(row[rows.length] as number) < 1e-8,
  );
  if (!isSolvable) return undefined;
  const x = b.map(() => 0);
  for (const [column, row] of pivots) x[column] = (row[rows.length] as number) / (row[column] as number);
  return x;
}

const dot = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, value, i) => sum + value * (b[i] as number), 0);

/** Returns whether elimination modulo a prime finds a combination in which fewer people than the threshold keep a weight. */
export function revealsRemainder(
  { cellOf, threshold }: Omit<Company, 'breakdowns'>,
  sets: readonly Shown[],
): boolean {
  const included = sets.map(([, people]) => new Set(people));
  const cells = [...cellsOf(cellOf).values()];
  return [2, 3, 5, 7, 11, 13].some((prime) => {
    // The weight of each person, minus that of the first person of their cell.
    const rows = included.map((set) =>
      cells.flatMap((people) =>
        people.map(
          (person) => (Number(set.has(person)) - Number(set.has(people[0] as number)) + prime) % prime,
        ),
      ),
    );
    reduceModulo(rows, prime);
    return rows.some((row) => {
      let [place, keeping] = [0, 0];
      for (const { length } of cells) {
        const weights = row.slice(place, (place += length));
        keeping +=
          length -
          Math.max(
            ...Map.groupBy(weights, (weight) => weight)
              .values()
              .map((list) => list.length),
          );
      }
      return keeping > 0 && keeping < threshold;
    });
  });
}
