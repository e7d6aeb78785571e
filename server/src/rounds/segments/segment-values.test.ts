// Which segment a person is in: values, bands of whole years, and combinations.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bandOf, type Division, segmentValueOf, valuesToUse } from './segment-values.ts';
import { cases } from '../../testing/house/cases.ts';

const week = '2026-11-16';
const site: Division = { attribute: 'site', bands: null };
const born: Division = { attribute: 'born', bands: [30, 40, 50, 60] };

describe('the segment of a person', () => {
  test('is the value of the attribute; there is none without a value', () => {
    expect(segmentValueOf(site, { site: ' Stockholm ' }, week)).toBe('Stockholm');
    for (const value of [undefined, null, '', '  '])
      expect(segmentValueOf(site, { site: value }, week)).toBeUndefined();
  });

  test.each([
    ['2000-01-01', 'under 30'],
    ['1996-11-17', 'under 30'], // turns 30 on Tuesday
    ['1996-11-16', '30–39'], // turns 30 on this Monday
    ['1986-11-17', '30–39'],
    ['1966-11-16', '60 and over'],
    ['2026-11-16', 'under 30'],
  ])('of someone born on %s is "%s"', (date, band) => {
    expect(segmentValueOf(born, { born: date }, week)).toBe(band);
  });

  test.each(['2026-11-17', '2030-01-01', '1990-02-29', '1990-13-01', '1990-1-1', '01.02.1990', '1990', 'x'])(
    'is none for a date that is later than the Monday or not a date: %s',
    (date) => expect(segmentValueOf(born, { born: date }, week)).toBeUndefined(),
  );

  test('counts a year from 29 February as complete on 1 March, and in leap years on the day', () => {
    const yearly: Division = { attribute: 'born', bands: [30, 31] };
    const at = (day: string) => segmentValueOf(yearly, { born: '1996-02-29' }, day);
    expect([at('2026-02-28'), at('2026-03-01')]).toEqual(['under 30', '30']);
    const four: Division = { attribute: 'born', bands: [4] };
    const leap = (day: string) => segmentValueOf(four, { born: '2020-02-29' }, day);
    expect([leap('2024-02-28'), leap('2024-02-29')]).toEqual(['under 4', '4 and over']);
  });

  test('of a combination consists of both values, and there is none if one value is missing', () => {
    const both: Division = { cross: [site, born] };
    expect(segmentValueOf(both, { site: 'Stockholm', born: '2000-01-01' }, week)).toBe(
      'Stockholm · under 30',
    );
    expect(segmentValueOf(both, { site: 'Stockholm', born: 'soon' }, week)).toBeUndefined();
    expect(segmentValueOf(both, { born: '2000-01-01' }, week)).toBeUndefined();
  });

  test('of two different pairs is never the same, whatever dots and spaces their values contain', () => {
    const both: Division = { cross: [site, { attribute: 'job', bands: null }] };
    const valueOf = ([own, job]: readonly [string, string]) => segmentValueOf(both, { site: own, job }, week);
    // Two pairs of the same parts, cut at different places: these pairs are the most likely to result in the same text.
    const part = fc.string({ unit: fc.constantFrom('a', ' ', '·', '\\'), minLength: 1, maxLength: 3 });
    const parts = fc.array(part, { minLength: 3, maxLength: 5 });
    const cut = (all: string[], place: number): [string, string] => [
      all.slice(0, place).join(' · '),
      all.slice(place).join(' · '),
    ];
    const trimmed = (texts: readonly string[]) => JSON.stringify(texts.map((text) => text.trim()));
    const isConfused = (all: string[], i: number, j: number): boolean => {
      const [one, other] = [cut(all, 1 + (i % (all.length - 1))), cut(all, 1 + (j % (all.length - 1)))];
      const [a, b] = [valueOf(one), valueOf(other)];
      return a !== undefined && b !== undefined && (a === b) !== (trimmed(one) === trimmed(other));
    };
    const result = fc.check(
      fc.property(parts, fc.nat(3), fc.nat(3), (...drawn) => !isConfused(...drawn)),
      cases(2_000),
    );
    expect(result.counterexample).toBeNull();
  });

  test('every number of years is in exactly one band', () => {
    const bands = [1, 2, 5];
    expect([0, 1, 2, 4, 5, 60].map((years) => bandOf(bands, years))).toEqual([
      'under 1',
      '1',
      '2–4',
      '2–4',
      '5 and over',
      '5 and over',
    ]);
  });
});

test('a value becomes a segment with enough people, or if it is one already, and only the most frequent are used', () => {
  const values = [
    ...Array(5).fill('five'),
    ...Array(4).fill('four'),
    'known',
    ...Array(7).fill('seven'),
    undefined,
  ];
  const use = (limit: number) =>
    valuesToUse(values as (string | undefined)[], new Set(['known', 'gone']), 5, limit).map(
      ({ value }) => value,
    );
  expect(use(10)).toEqual(['seven', 'five', 'known']);
  expect(use(2)).toEqual(['seven', 'five']);
});
