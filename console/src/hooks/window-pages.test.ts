// The windows of a long list: what is loaded for the visible rows, and what is shown until then.
import { expect, test } from 'vitest';
import { pagesIn, rowIn, shownOf, viewOf } from './window-pages.ts';

const size = 100;
const top = { key: 'a', first: 0, last: 0 };

test('only the windows with visible rows are loaded', () => {
  expect(pagesIn(viewOf(top, 'a', 0, 30, size), 'a')).toEqual([0]);
  expect(pagesIn(viewOf(top, 'a', 99, 100, size), 'a')).toEqual([0, 1]);
  expect(pagesIn(viewOf(top, 'a', 4250, 4420, size), 'a')).toEqual([42, 43, 44]);
});

test('scrolling within the same windows changes nothing', () => {
  expect(viewOf(top, 'a', 3, 60, size)).toBe(top);
  expect(viewOf(top, 'b', 3, 60, size)).toEqual({ key: 'b', first: 0, last: 0 });
});

test('with other filters, the list is loaded from the top', () => {
  expect(pagesIn({ key: 'a', first: 42, last: 44 }, 'b')).toEqual([0]);
});

const page = (...rows: string[]) => ({ total: 250, rows });

test('loaded windows are shown; the rows of the others are missing', () => {
  const shown = shownOf('a', [1, 2], [undefined, page('x', 'y')], undefined);
  expect(shown).toMatchObject({ key: 'a', count: 250 });
  expect([rowIn(shown, 201, size), rowIn(shown, 100, size), rowIn(shown, 0, size)]).toEqual([
    'y',
    undefined,
    undefined,
  ]);
});

test('old rows stay until the first new ones have loaded', () => {
  const before = shownOf('a', [0], [page('old')], undefined);
  expect(shownOf('b', [0], [undefined], before)).toBe(before);
  expect(rowIn(shownOf('b', [0], [page('new')], before), 0, size)).toBe('new');
});

test('nothing is shown before the first response', () => {
  const nothing = shownOf('a', [0], [undefined], undefined);
  expect([nothing, rowIn(nothing, 0, size)]).toEqual([undefined, undefined]);
});
