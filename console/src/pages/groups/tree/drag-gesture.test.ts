// Dragging a group: a click never moves a group, and the list scrolls only while the pointer is near an edge of the list.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { edge, headHeight, mayDrag, movedTo, pressed, scrollStep, step, threshold } from './drag-gesture.ts';

const start = { x: 100, y: 300 };
const at = (y: number) => movedTo(pressed(start), { x: 100, y });

test('only the main button of a mouse or pen drags; touch scrolls', () => {
  expect(mayDrag({ button: 0, pointerType: 'mouse' })).toBe(true);
  expect(mayDrag({ button: 0, pointerType: 'pen' })).toBe(true);
  expect(mayDrag({ button: 0, pointerType: 'touch' })).toBe(false);
  expect(mayDrag({ button: 2, pointerType: 'mouse' })).toBe(false);
});

test('a press becomes a drag when the pointer is 6 pixels away, in any direction', () => {
  expect(pressed(start).isDrag).toBe(false);
  expect(movedTo(pressed(start), { x: 105, y: 300 }).isDrag).toBe(false);
  expect(movedTo(pressed(start), { x: 106, y: 300 }).isDrag).toBe(true);
  expect(movedTo(pressed(start), { x: 96, y: 295 }).isDrag).toBe(true);
});

const points = fc.record({ x: fc.integer({ min: 60, max: 140 }), y: fc.integer({ min: 260, max: 340 }) });

test('however the pointer moves, a press becomes a drag exactly if the pointer was ever far enough away', () => {
  fc.assert(
    fc.property(fc.array(points, { maxLength: 20 }), (path) => {
      let gesture = pressed(start);
      let wasFar = false;
      for (const point of path) {
        gesture = movedTo(gesture, point);
        wasFar ||= Math.hypot(point.x - start.x, point.y - start.y) >= threshold;
        expect(gesture).toEqual({ from: start, at: point, isDrag: wasFar });
      }
    }),
    { numRuns: 150 },
  );
});

describe('the list scrolls', () => {
  const [top, bottom] = [0, 900];

  test('down near its lower edge and below it, up near the head of the page', () => {
    expect(scrollStep(at(bottom - edge + 1), top, bottom)).toBe(step);
    expect(scrollStep(at(bottom + 50), top, bottom)).toBe(step);
    expect(scrollStep(at(headHeight + 1), top, bottom)).toBe(-step);
    expect(scrollStep(at(headHeight + edge - 1), top, bottom)).toBe(-step);
  });

  test('not in the middle, and not while the pointer is over the head of the page', () => {
    expect(scrollStep(at(headHeight + edge), top, bottom)).toBe(0);
    expect(scrollStep(at(bottom - edge), top, bottom)).toBe(0);
    expect(scrollStep(at(headHeight - 1), top, bottom)).toBe(0);
  });

  test('depending on the visible part of the list, wherever that begins', () => {
    expect(scrollStep(at(200 + headHeight + 1), 200, bottom)).toBe(-step);
    expect(scrollStep(at(headHeight + 1), 200, bottom)).toBe(0);
  });
});
