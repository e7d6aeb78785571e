// Lists that would be taller than browsers can draw: Chromium ends at 33 million pixels and Firefox at 17 million, which is 400,000 rows. Such
// a list has the largest height, and scrolling through it moves faster than the pointer. Pure.

/** The largest height of a list, in pixels. */
export const tallest = 15_000_000;

export const heightOf = (count: number, rowHeight: number): number => Math.min(count * rowHeight, tallest);

type Scrolled = {
  /** How far the list is scrolled, and the height of what is visible of it, in pixels. */
  offset: number;
  view: number;
  count: number;
  rowHeight: number;
  /** How many rows are drawn before and after those in view. */
  overscan: number;
};

/** Returns the rows to draw, each with its distance from the top of the list. The last row can be scrolled to. */
export function rowsInView({
  offset,
  view,
  count,
  rowHeight,
  overscan,
}: Scrolled): { index: number; start: number }[] {
  const height = heightOf(count, rowHeight);
  const most = Math.max(1, height - view);
  const at = Math.min(Math.max(0, offset), most);
  const inView = view / rowHeight;
  /** The row at the top, with the part of it that is above the top. */
  const top = (at / most) * Math.max(0, count - inView);
  const first = Math.max(0, Math.floor(top) - overscan);
  const last = Math.min(count - 1, Math.ceil(top + inView) + overscan);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => ({
    index: first + i,
    start: at + (first + i - top) * rowHeight,
  }));
}
