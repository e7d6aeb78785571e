// Shares with intervals: a table with a bar for each row, and a line from the low to the high end of its interval.
import type { ReactNode } from 'react';
import { useFormat } from '../../text/text.tsx';
import { cx } from '../cx.ts';
import charts from './charts.module.css';
import css from './Intervals.module.css';
import { HiddenHeadings } from './HiddenHeadings.tsx';

export type IntervalRow = {
  key: string;
  label: string;
  /** Text below the label. */
  hint?: ReactNode;
  /** 0 to 1, like the ends of the interval. */
  value: number;
  low: number;
  high: number;
  /** The interval in words. */
  range: string;
  /** Draws the bar in a pale colour. */
  isPale: boolean;
};

type IntervalsProps = {
  label: string;
  /** The column headings. */
  headings: [name: string, value: string, interval: string];
  rows: readonly IntervalRow[];
};

export function Intervals({ label, headings, rows }: IntervalsProps) {
  const { percent } = useFormat();
  const most = Math.max(0.05, ...rows.map(({ high }) => high));
  const at = (share: number) => `${(100 * share) / most}%`;
  return (
    <table className={cx(charts['distribution'], css['intervals'])} aria-label={label}>
      <HiddenHeadings headings={headings} />
      <tbody>
        {rows.map(({ key, label: name, hint, value, low, high, range, isPale }) => (
          <tr key={key}>
            <th scope="row" className={charts['answer']}>
              {name}
              {hint !== undefined && <span className={css['hint']}>{hint}</span>}
            </th>
            <td className={css['share']}>
              <span className={css['track']} aria-hidden>
                <span className={cx(css['bar'], isPale && css['pale'])} style={{ inlineSize: at(value) }} />
                <span
                  className={css['interval']}
                  style={{ insetInlineStart: at(low), inlineSize: at(high - low) }}
                />
              </span>
              <span className={css['value']}>{percent(value)}</span>
            </td>
            <td className={css['range']}>{range}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
