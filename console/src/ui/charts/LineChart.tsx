// A line chart over weeks. Gaps are dotted. The pointer or the arrow keys choose a week, whose values are shown and read out.
import { useLayoutEffect, useRef, useState } from 'react';
import { cx } from '../cx.ts';
import floating from '../floating/floating.module.css';
import css from './charts.module.css';
import {
  bandPathOf,
  type Bounds,
  axisOf,
  labelsThatFit,
  markedPoints,
  pathOf,
  lineSegmentsOf,
  type Point,
  type Range,
  valuesIn,
} from './scale.ts';

export type Series = {
  key: string | number;
  name: string;
  /** The number of the colour, 1 to 6. */
  colour: number;
  /** One value per week, in the unit of the axis. */
  points: readonly Point[];
  /** Notes beside the values, one per week. */
  notes?: readonly (string | undefined)[];
  /** The interval of each value, drawn as a faint band. */
  band?: readonly (Range | undefined)[];
  /** Further values, one per week, drawn as faint dots. */
  dots?: readonly Point[];
};

export type LineChartProps = {
  /** What the chart shows, for screen readers. */
  label: string;
  /** The names of the weeks, oldest first: short for the axis, and in full. */
  weeks: readonly { short: string; full: string }[];
  series: readonly Series[];
  limits?: Range;
  /** The values that the axis covers, if several charts share a scale. By default those of the series. */
  covers?: Range | undefined;
  height?: number;
  /** Returns the text for a value, or for a value that is not shown. */
  textOf: (point: Point) => string;
};

const [left, right, top, bottom] = [36, 12, 12, 28];

/** Returns the current width of an element. */
function useWidth() {
  const element = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry!.contentRect.width)));
    observer.observe(element.current as Element);
    return () => observer.disconnect();
  }, []);
  return { element, width };
}

type Plot = {
  width: number;
  height: number;
  bounds: Bounds;
  x: (index: number) => number;
  y: (value: number) => number;
};

function plotOf(
  { series, weeks, limits = { low: 0, high: 100 }, covers }: LineChartProps,
  width: number,
  height: number,
): Plot {
  const bounds = axisOf(covers ? [covers.low, covers.high] : series.flatMap(valuesIn), limits);
  const inner = { width: Math.max(0, width - left - right), height: height - top - bottom };
  const last = Math.max(1, weeks.length - 1);
  return {
    width,
    height,
    bounds,
    x: (index) => left + (inner.width * index) / last,
    y: (value) => top + inner.height * (1 - (value - bounds.low) / (bounds.high - bounds.low)),
  };
}

export function LineChart(props: LineChartProps) {
  const { label, weeks, series, height = 260, textOf } = props;
  const { element, width } = useWidth();
  const [pointed, setPointed] = useState<number>();
  // The chosen week; undefined: the newest week, until the user chooses another.
  const [chosen, setChosen] = useState<number>();
  const [hasFocus, setFocus] = useState(false);
  const newest = Math.max(0, weeks.length - 1);
  const kept = Math.min(chosen ?? newest, newest);
  const at = pointed ?? (hasFocus && weeks.length > 0 ? kept : undefined);
  const plot = plotOf(props, width, height);
  return (
    <div
      ref={element}
      className={css['line']}
      style={{ blockSize: height }}
      onPointerMove={(event) => setPointed(nearest(event, plot, weeks.length))}
      onPointerLeave={() => setPointed(undefined)}
    >
      {width > 0 && (
        <svg
          width={width}
          height={height}
          viewBox={`0 0 ${width} ${height}`}
          aria-hidden
          className={css['drawing']}
        >
          <Axes plot={plot} weeks={weeks} />
          {series.map((one) => (
            <Faint key={one.key} plot={plot} series={one} />
          ))}
          {series.map((one) => (
            <Drawn key={one.key} plot={plot} series={one} />
          ))}
          {at !== undefined && <Marked plot={plot} series={series} at={at} />}
        </svg>
      )}
      <input
        type="range"
        className={css['keys']}
        aria-label={label}
        aria-valuetext={`${weeks[kept]?.full ?? ''}: ${series.map((one) => `${one.name} ${valueIn(one, kept, textOf)}`).join(', ')}`}
        min={0}
        max={Math.max(0, weeks.length - 1)}
        value={kept}
        onChange={(event) => setChosen(Number(event.target.value))}
        onFocus={() => setFocus(true)}
        onBlur={() => setFocus(false)}
      />
      {at !== undefined && width > 0 && (
        <PointTooltip
          x={plot.x(at)}
          width={width}
          title={weeks[at]?.full ?? ''}
          series={series}
          at={at}
          textOf={textOf}
        />
      )}
    </div>
  );
}

/** Returns the value of a week as text, with its note. */
const valueIn = ({ points, notes }: Series, at: number, textOf: LineChartProps['textOf']) =>
  [textOf(points[at]), notes?.[at]].filter(Boolean).join(' · ');

function nearest(event: React.PointerEvent<HTMLElement>, plot: Plot, count: number): number {
  const x = event.clientX - event.currentTarget.getBoundingClientRect().left;
  const share = (x - left) / Math.max(1, plot.width - left - right);
  return Math.max(0, Math.min(count - 1, Math.round(share * (count - 1))));
}

function Axes({ plot, weeks }: { plot: Plot; weeks: LineChartProps['weeks'] }) {
  const { bounds, x, y, width, height } = plot;
  return (
    <g>
      {bounds.ticks.map((tick) => (
        <g key={tick}>
          <line className={css['grid']} x1={left} x2={width - right} y1={y(tick)} y2={y(tick)} />
          <text className={css['tick']} x={left - 8} y={y(tick) + 4} textAnchor="end">
            {tick}
          </text>
        </g>
      ))}
      {labelsThatFit(weeks.length, width - left - right, 64).map((index) => (
        <text
          key={index}
          className={css['tick']}
          x={Math.min(x(index), width - right)}
          y={height - 6}
          textAnchor={index === weeks.length - 1 && weeks.length > 1 ? 'end' : 'middle'}
        >
          {weeks[index]?.short}
        </text>
      ))}
    </g>
  );
}

const colourOf = ({ colour }: Series) => ({ '--series': `var(--series-${colour})` }) as React.CSSProperties;

/** What is behind all lines: intervals, and each week's own values. */
function Faint({ plot, series }: { plot: Plot; series: Series }) {
  const { points, band, dots = [] } = series;
  const lineSegments = lineSegmentsOf(points).filter(({ isGap }) => !isGap);
  return (
    <g style={colourOf(series)}>
      {band && <path className={css['band']} d={bandPathOf(lineSegments, band, plot.x, plot.y)} />}
      {dots.map((dot, index) =>
        typeof dot === 'number' ? (
          // oxlint-disable-next-line react/no-array-index-key -- the index is the week
          <circle key={index} className={css['faintDot']} cx={plot.x(index)} cy={plot.y(dot)} r={2.5} />
        ) : null,
      )}
    </g>
  );
}

function Drawn({ plot, series }: { plot: Plot; series: Series }) {
  const { points } = series;
  const lineSegments = lineSegmentsOf(points);
  const place = (index: number): [number, number] => [plot.x(index), plot.y(points[index] as number)];
  const last = points.findLastIndex((point) => typeof point === 'number');
  const dots = new Set([...markedPoints(points, lineSegments, 10), ...(last >= 0 ? [last] : [])]);
  return (
    <g style={colourOf(series)}>
      <path
        className={css['gap']}
        d={pathOf(
          lineSegments.filter(({ isGap }) => isGap),
          place,
        )}
      />
      <path
        className={css['stroke']}
        d={pathOf(
          lineSegments.filter(({ isGap }) => !isGap),
          place,
        )}
      />
      {[...dots].map((index) => (
        <circle
          key={index}
          className={css['dot']}
          cx={place(index)[0]}
          cy={place(index)[1]}
          r={index === last ? 4 : 3}
        />
      ))}
    </g>
  );
}

function Marked({ plot, series, at }: { plot: Plot; series: readonly Series[]; at: number }) {
  const x = plot.x(at);
  return (
    <g>
      <line className={css['cursor']} x1={x} x2={x} y1={top} y2={plot.height - bottom} />
      {series.map((one) => {
        const point = one.points[at];
        return typeof point === 'number' ? (
          <circle
            key={one.key}
            style={colourOf(one)}
            className={css['dot']}
            cx={x}
            cy={plot.y(point)}
            r={5}
          />
        ) : null;
      })}
    </g>
  );
}

type TooltipProps = {
  x: number;
  width: number;
  title: string;
  series: readonly Series[];
  at: number;
  textOf: LineChartProps['textOf'];
};

/** The values of a week, on the side with enough space. Screen readers get them from the slider. */
function PointTooltip({ x, width, title, series, at, textOf }: TooltipProps) {
  const isLeft = x > width / 2;
  return (
    <div
      aria-hidden
      className={cx(floating['surface'], css['tip'])}
      style={isLeft ? { insetInlineEnd: width - x + 12 } : { insetInlineStart: x + 12 }}
    >
      <p className={css['tipTitle']}>{title}</p>
      {series.map((one) => (
        <p key={one.key} className={css['tipRow']}>
          <span className={css['swatch']} style={colourOf(one)} />
          <span className={css['tipName']}>{one.name}</span>
          <span className={css['tipValue']}>{valueIn(one, at, textOf)}</span>
        </p>
      ))}
    </div>
  );
}
