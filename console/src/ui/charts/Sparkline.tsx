// A small line beside a number. It is not read out, because the number says the same.
import type { CSSProperties } from 'react';
import css from './charts.module.css';
import { markedPoints, pathOf, lineSegmentsOf, type Point } from './scale.ts';

const [width, height, edge] = [120, 30, 5];

/** `colour`: the number of the colour; undefined: subdued. Gaps stay empty. */
export function Sparkline({ points, colour }: { points: readonly Point[]; colour?: number | undefined }) {
  const values = points.filter((point) => typeof point === 'number');
  if (values.length === 0) return null;
  const middle = (Math.max(...values) + Math.min(...values)) / 2;
  const span = Math.max(10, Math.max(...values) - Math.min(...values));
  const place = (index: number): [number, number] => [
    edge + ((width - 2 * edge) * index) / Math.max(1, points.length - 1),
    height / 2 - ((points[index] as number) - middle) * ((height - 2 * edge) / span),
  ];
  const lineSegments = lineSegmentsOf(points).filter(({ isGap }) => !isGap);
  const last = points.findLastIndex((point) => typeof point === 'number');
  const style = {
    '--series': colour === undefined ? 'var(--soft)' : `var(--series-${colour})`,
  } as CSSProperties;
  return (
    <svg viewBox={`0 0 ${width} ${height}`} className={css['sparkline']} style={style} aria-hidden>
      <path className={css['stroke']} d={pathOf(lineSegments, place)} />
      {markedPoints(points, lineSegments).map((index) => (
        <circle key={index} className={css['dot']} cx={place(index)[0]} cy={place(index)[1]} r={1.5} />
      ))}
      <circle className={css['dot']} cx={place(last)[0]} cy={place(last)[1]} r={3} />
    </svg>
  );
}
