// A press on a group that may become a drag, and how the list scrolls during the drag.

/** In pixels: the distance that starts a drag, the distance from an edge that scrolls, and the scroll step per frame. */
export const [threshold, edge, step] = [6, 48, 12];
/** The height of the head of the page, which covers the top of the list. */
export const headHeight = 116;

export type Point = { x: number; y: number };
/** `from`: where the pointer was pressed; `at`: where it is. */
export type Gesture = { from: Point; at: Point; isDrag: boolean };

type Press = { button: number; pointerType: string };

/** Whether a press may become a drag: the main button of a mouse or pen. Touch scrolls. */
export const mayDrag = ({ button, pointerType }: Press): boolean => button === 0 && pointerType !== 'touch';

export const pressed = (from: Point): Gesture => ({ from, at: from, isDrag: false });

/**
 * Returns the gesture after the pointer has moved. A gesture that has become a drag stays a drag, even if the pointer returns to
 * where it was pressed.
 */
export const movedTo = ({ from, isDrag }: Gesture, at: Point): Gesture => ({
  from,
  at,
  isDrag: isDrag || Math.hypot(at.x - from.x, at.y - from.y) >= threshold,
});

/**
 * Returns how far the list scrolls in this frame, down if positive. `top` and `bottom`: the edges of the visible part of the list.
 */
export function scrollStep({ at: { y } }: Gesture, top: number, bottom: number): number {
  if (y > bottom - edge) return step;
  const start = top + headHeight;
  return y > start && y < start + edge ? -step : 0;
}
