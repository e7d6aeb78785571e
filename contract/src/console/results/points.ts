// Changes, differences and margins in points, as the console and reports show them.
import type { Verdict } from './results.ts';

/** Converts a change, a difference or a margin into whole points. With `tenths`, it has tenths if it is below one point. */
export function pointsOf(by: number, tenths = false): number {
  const whole = Math.round(100 * by);
  // Adding 0 turns -0 into 0.
  return (whole === 0 && tenths ? Math.round(1000 * by) / 10 : whole) + 0;
}

/** Returns the points of a change or difference. A clear one is never shown as 0. */
export const clearPoints = ({ by, verdict }: { by: number; verdict: Verdict }): number =>
  pointsOf(by, verdict !== 'unclear');
