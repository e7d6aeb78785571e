// The windows of a long list: what is loaded for the visible rows, and what is shown until then.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { errorIn, pagesIn, rowIn, type Shown, shownOf, stateOf, viewOf } from './window-pages.ts';

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

test('loaded windows are shown; the rows of other windows are missing', () => {
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

describe('a list says', () => {
  const retry = () => {};
  const shown = { key: 'a' };

  test('that it is loading, before the first response or error', () => {
    expect(stateOf('a', undefined, false, { error: undefined, retry })).toEqual({
      isFirst: true,
      isOld: false,
      error: undefined,
      gap: undefined,
    });
    expect(stateOf('a', undefined, false, { error: 'offline', retry }).isFirst).toBe(false);
  });

  test('that its rows are old, while the rows for other filters load', () => {
    expect(stateOf('b', shown, false, { error: undefined, retry })).toMatchObject({
      isFirst: false,
      isOld: true,
    });
    expect(stateOf('a', shown, true, { error: undefined, retry }).isOld).toBe(false);
  });

  test('an error only once: for the whole list if nothing in view has loaded, otherwise for the gap among its rows', () => {
    expect(stateOf('a', shown, false, { error: 'offline', retry })).toMatchObject({
      error: 'offline',
      gap: undefined,
    });
    expect(stateOf('a', shown, true, { error: 'offline', retry })).toMatchObject({
      error: undefined,
      gap: { error: 'offline', retry },
    });
  });

  test('no error for rows that have loaded before, because they are fetched again', () => {
    expect(errorIn([{ data: page('x'), error: 'offline' }])).toBeUndefined();
    expect(errorIn([{ data: page('x'), error: null }, { error: 'offline' }])).toBe('offline');
  });
});

/** What may happen to a list: it scrolls, gets other filters, and windows in view load. */
const event = fc.oneof(
  fc.record({
    what: fc.constant('scroll' as const),
    from: fc.nat(950),
    rows: fc.integer({ min: 1, max: 60 }),
  }),
  fc.record({ what: fc.constant('filter' as const), key: fc.constantFrom('a', 'b') }),
  fc.record({ what: fc.constant('load' as const), at: fc.nat(9) }),
);

test('however a list scrolls, changes its filters and loads, each row in view is the right one or missing, and no row stays missing', () => {
  const total = 1000;
  const rowOf = (key: string, index: number) => `${key} ${index}`;
  const whole = ['a', 'b'].map((key) => Array.from({ length: total }, (_, index) => rowOf(key, index)));
  const windowOf = (key: string, at: number) => ({
    total,
    rows: whole[key === 'a' ? 0 : 1]!.slice(at * size, (at + 1) * size),
  });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 25 }), (events) => {
      let key = 'a';
      let view = top;
      let before: Shown<ReturnType<typeof windowOf>> | undefined;
      const loaded = new Set<string>();
      let visible: [number, number] = [0, 0];
      const draw = () => {
        const pages = pagesIn(view, key);
        const responses = pages.map((at) => (loaded.has(rowOf(key, at)) ? windowOf(key, at) : undefined));
        const shown = shownOf(key, pages, responses, before);
        if (responses.some((one) => one !== undefined)) before = shown;
        return { pages, shown };
      };
      for (const one of events) {
        if (one.what === 'scroll') {
          visible = [one.from, Math.min(total - 1, one.from + one.rows)];
          view = viewOf(view, key, ...visible, size);
        } else if (one.what === 'filter') {
          if (one.key !== key) {
            [key, visible] = [one.key, [0, 0]];
            draw();
          }
          // The table reports the rows in view after it has been drawn.
          view = viewOf(view, key, ...visible, size);
        } else {
          const { pages } = draw();
          loaded.add(rowOf(key, pages[one.at % pages.length]!));
        }
        const { pages, shown } = draw();
        for (const index of [visible[0], Math.round((visible[0] + visible[1]) / 2), visible[1]]) {
          expect(pages).toContain(Math.floor(index / size));
          const row = rowIn(shown, index, size);
          const isLoaded = loaded.has(rowOf(key, Math.floor(index / size)));
          expect(isLoaded ? [rowOf(key, index)] : [undefined, rowOf(shown?.key ?? key, index)]).toContain(
            row,
          );
        }
      }
      for (const at of pagesIn(view, key)) loaded.add(rowOf(key, at));
      const { shown } = draw();
      expect(rowIn(shown, visible[1], size)).toBe(rowOf(key, visible[1]));
      expect(shown!.key).toBe(key);
    }),
    { numRuns: 50 },
  );
});
