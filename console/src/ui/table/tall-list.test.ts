// Lists that would be taller than browsers can draw: every row can be scrolled to, and rows in view follow each other.
import { expect, test } from 'vitest';
import { heightOf, rowsInView, tallest } from './tall-list.ts';

const list = { view: 800, count: 1_000_000, rowHeight: 44, overscan: 8 };
const end = heightOf(list.count, list.rowHeight) - list.view;

test('a million rows have the largest height, and a thousand their own', () => {
  expect(heightOf(1_000_000, 44)).toBe(tallest);
  expect(heightOf(1_000, 44)).toBe(44_000);
});

test('at the top the first row is in its place, and at the end the last one', () => {
  expect(rowsInView({ ...list, offset: -60 })[0]).toEqual({ index: 0, start: 0 });
  const last = rowsInView({ ...list, offset: end }).at(-1)!;
  expect(last.index).toBe(list.count - 1);
  expect(last.start + list.rowHeight).toBeCloseTo(tallest, 3);
  expect(rowsInView({ ...list, offset: end + 1_000 }).at(-1)).toEqual(last);
});

test('anywhere, the rows follow each other and fill what is visible', () => {
  for (const share of [0, 0.1, 0.333, 0.5, 0.9, 1]) {
    const rows = rowsInView({ ...list, offset: share * end });
    for (const [i, { index, start }] of rows.slice(1).entries()) {
      expect(index).toBe(rows[i]!.index + 1);
      expect(start - rows[i]!.start).toBeCloseTo(list.rowHeight, 3);
    }
    expect(rows[0]!.start).toBeLessThanOrEqual(share * end);
    expect(rows.at(-1)!.start + list.rowHeight).toBeGreaterThanOrEqual(share * end + list.view - 0.01);
  }
});

test('a list without rows draws none', () => {
  expect(rowsInView({ ...list, count: 0, offset: 0 })).toEqual([]);
});
