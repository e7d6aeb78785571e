// Which rounds can't be asked in the same week (rules.md P17).
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clashOf, withUnion } from './overlap.ts';

const classes = new Map([
  [1, 1],
  [2, 2],
  [3, 1],
]);
const asked = (questionIds: number[], ...people: (number | string)[]) => ({ questionIds, people });
const clash = (one: ReturnType<typeof asked>, other: ReturnType<typeof asked>, threshold = 5) =>
  clashOf([one], [other], { classes, threshold });

describe('questions with the same wording', () => {
  test('clash as soon as one person is asked both, whatever the threshold', () => {
    expect(clash(asked([1, 2], 1, 2, 3), asked([3], 3, 4, 5), 1)).toBe('sameText');
    expect(clash(asked([1, 2], 1, 2, 3), asked([3], 4, 5, 6))).toBeUndefined();
  });

  test('do not include the same question or one with another wording', () => {
    const everyone = [1, 2, 3, 4, 5, 6];
    expect(clash(asked([1], ...everyone), asked([1], ...everyone))).toBeUndefined();
    expect(clash(asked([1], ...everyone), asked([2], ...everyone, 7))).toBeUndefined();
  });
});

describe('the same question', () => {
  test('clashes when the two sets of people differ by at least one and by fewer people than the threshold', () => {
    const sets = fc.subarray(
      Array.from({ length: 14 }, (_, i) => `person ${i}`),
      { minLength: 1 },
    );
    fc.assert(
      fc.property(sets, sets, fc.integer({ min: 1, max: 8 }), (one, other, threshold) => {
        const [a, b] = [new Set(one), new Set(other)];
        const [apart, common] = [a.symmetricDifference(b).size, a.intersection(b).size];
        const isNear = common > 0 && apart > 0 && apart < threshold;
        expect(clash(asked([1], ...one), asked([1, 2], ...other), threshold)).toBe(
          isNear ? 'nearlySame' : undefined,
        );
      }),
    );
  });

  test('is compared with each round, and with all rounds of a schedule together', () => {
    const rounds = withUnion([asked([1], 1, 2, 3), asked([1], 4, 5, 6)]);
    const near = (people: number[]) => clashOf([asked([1], ...people)], rounds, { classes, threshold: 3 });
    expect(near([1, 2, 3, 4, 5])).toBe('nearlySame'); // one fewer than both together
    expect(near([1, 2, 3, 4])).toBe('nearlySame'); // one more than the first
    expect(near([1, 2, 3, 4, 5, 6])).toBeUndefined();
    expect(near([1, 2, 3])).toBeUndefined();
  });
});
