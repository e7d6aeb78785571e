// Relative weights: equal the closed forms, add up to R², and do not depend on order.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  correlationsOf,
  eigenOf,
  momentsOf,
  orthogonalOf,
  relativeWeights,
  type Table,
} from './relative-weights.ts';
import { cases } from '../../testing/house/cases.ts';

const tableOf = (rows: number[][], weights = rows.map(() => 1)): Table => ({
  rows: rows.length,
  columns: rows[0]!.length,
  values: Float64Array.from(rows.flat()),
  weights: Float64Array.from(weights),
});

function weightsOf(table: Table): number[] {
  const { among, withOutcome } = correlationsOf(momentsOf(table));
  return [...relativeWeights(orthogonalOf(among, withOutcome.length), withOutcome)];
}

/** Returns R² from solving the normal equations by elimination; undefined if they are nearly singular. */
function explainedOf(table: Table): number | undefined {
  const { among, withOutcome } = correlationsOf(momentsOf(table));
  const size = withOutcome.length;
  const rows = Array.from({ length: size }, (_, i) => [
    ...among.slice(i * size, (i + 1) * size),
    withOutcome[i]!,
  ]);
  for (let i = 0; i < size; i++) {
    const pivot = rows.slice(i).toSorted((a, b) => Math.abs(b[i]!) - Math.abs(a[i]!))[0]!;
    if (Math.abs(pivot[i]!) < 1e-4) return undefined;
    rows.splice(rows.indexOf(pivot), 1);
    rows.splice(i, 0, pivot);
    for (const row of rows) {
      if (row === pivot) continue;
      const times = row[i]! / pivot[i]!;
      for (const [k, value] of pivot.entries()) row[k]! -= times * value;
    }
  }
  return rows.reduce((sum, row, i) => sum + (row[size]! / row[i]!) * withOutcome[i]!, 0);
}

/** Figures are means of whole answers, so two that differ do so by more than rounding. */
const figure = fc.integer({ min: 0, max: 1000 }).map((value) => value / 1000);

const someTable = fc
  .tuple(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 20, max: 40 }))
  .chain(([kpis, rows]) =>
    fc.array(fc.array(figure, { minLength: kpis + 1, maxLength: kpis + 1 }), {
      minLength: rows,
      maxLength: rows,
    }),
  );

describe('eigenvalues and eigenvectors', () => {
  test('put together, they are the matrix again, for random symmetric matrices', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 12 }).chain((size) =>
          fc.tuple(
            fc.constant(size),
            fc.array(fc.double({ min: -1, max: 1, noNaN: true }), {
              minLength: size * size,
              maxLength: size * size,
            }),
          ),
        ),
        ([size, numbers]) => {
          const at = (i: number, k: number) => numbers[Math.max(i, k) * size + Math.min(i, k)]!;
          const cells = Array.from({ length: size * size }, (_, i) => at(Math.floor(i / size), i % size));
          const { values, vectors } = eigenOf(Float64Array.from(cells), size);
          for (let i = 0; i < size; i++) {
            for (let k = 0; k < size; k++) {
              let sum = 0;
              for (let e = 0; e < size; e++)
                sum += values[e]! * vectors[e * size + i]! * vectors[e * size + k]!;
              expect(sum).toBeCloseTo(cells[i * size + k]!, 10);
            }
          }
        },
      ),
    );
  });
});

describe('relative weights', () => {
  test('of uncorrelated predictors are their squared correlations', () => {
    const rows = [
      [-1, -1, -3],
      [-1, 1, -1],
      [1, -1, 1],
      [1, 1, 3],
    ];
    const [first, second] = weightsOf(tableOf(rows));
    expect(first).toBeCloseTo(0.8, 12);
    expect(second).toBeCloseTo(0.2, 12);
  });

  test('of two correlated predictors equal the closed form', () => {
    const [between, withFirst, withSecond] = [0.6, 0.5, 0.4];
    const [sum, difference] = [Math.sqrt(1 + between), Math.sqrt(1 - between)];
    const [own, other] = [(sum + difference) / 2, (sum - difference) / 2];
    const determinant = own ** 2 - other ** 2;
    const first = (own * withFirst - other * withSecond) / determinant;
    const second = (own * withSecond - other * withFirst) / determinant;
    const orthogonal = orthogonalOf(Float64Array.of(1, between, between, 1), 2);
    const weights = relativeWeights(orthogonal, Float64Array.of(withFirst, withSecond));
    expect(weights[0]).toBeCloseTo(own ** 2 * first ** 2 + other ** 2 * second ** 2, 12);
    expect(weights[1]).toBeCloseTo(other ** 2 * first ** 2 + own ** 2 * second ** 2, 12);
  });

  test('two equal predictors share the weight, and nothing is divided by 0', () => {
    const rows = Array.from({ length: 30 }, (_, i) => [
      (i * 7) % 11,
      (i * 7) % 11,
      ((i * 7) % 11) + ((i * 5) % 3),
    ]);
    const [first, second] = weightsOf(tableOf(rows));
    expect(first).toBeCloseTo(second!, 10);
    expect(first! + second!).toBeCloseTo(weightsOf(tableOf(rows.map(([x, , y]) => [x!, y!])))[0]!, 10);
  });

  test('are never negative, add up to R², and do not depend on the order of predictors and rows', () => {
    fc.assert(
      fc.property(someTable, (rows) => {
        const table = tableOf(rows);
        const weights = weightsOf(table);
        expect(Math.min(...weights)).toBeGreaterThanOrEqual(0);
        const explained = explainedOf(table);
        const total = weights.reduce((sum, weight) => sum + weight, 0);
        expect(total).toBeCloseTo(explained ?? total, 6);
        const turned = weightsOf(
          tableOf(rows.toReversed().map((row) => [...row.slice(0, -1).toReversed(), row.at(-1)!])),
        );
        for (const [i, weight] of turned.toReversed().entries()) expect(weight).toBeCloseTo(weights[i]!, 6);
      }),
      cases(50),
    );
  });

  test('a row with twice the weight counts like two rows', () => {
    const rows = Array.from({ length: 25 }, (_, i) => [(i * 7) % 11, (i * 3) % 5, (i * i) % 13]);
    const twice = weightsOf(tableOf([...rows, rows[0]!]));
    const weighted = weightsOf(tableOf(rows, [2, ...rows.slice(1).map(() => 1)]));
    for (const [i, weight] of weighted.entries()) expect(weight).toBeCloseTo(twice[i]!, 12);
  });
});
