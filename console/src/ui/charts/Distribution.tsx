// A distribution: a table with a bar for each answer, its text, number and share.
import type { CSSProperties } from 'react';
import { useFormat } from '../../text/text.tsx';
import css from './charts.module.css';
import { HiddenHeadings } from './HiddenHeadings.tsx';

export type DistributionRow = {
  key: string;
  label: string;
  /** Text beside the label, such as that at the end of a scale. */
  hint?: string | undefined;
  count: number;
  /** The colour: one of nine steps from clay to sea; undefined: the accent colour. */
  heat?: number | undefined;
};

type DistributionProps = {
  label: string;
  /** The column headings: answer, number, share. */
  headings: [answer: string, count: string, share: string];
  rows: readonly DistributionRow[];
  /** The total for the shares; by default the sum of all answers. */
  total?: number | undefined;
};

export function Distribution({ label, headings, rows, total }: DistributionProps) {
  const { number, percent } = useFormat();
  const all = total ?? rows.reduce((sum, { count }) => sum + count, 0);
  const most = Math.max(1, ...rows.map(({ count }) => count));
  return (
    <table className={css['distribution']} aria-label={label}>
      <HiddenHeadings headings={headings} />
      <tbody>
        {rows.map(({ key, label: name, hint, count, heat }) => (
          <tr key={key}>
            <th scope="row" className={css['answer']}>
              {name} {hint !== undefined && <span className={css['hint']}>{hint}</span>}
            </th>
            <td className={css['count']}>{number(count)}</td>
            <td className={css['share']}>
              <span className={css['track']} aria-hidden>
                <span
                  className={css['bar']}
                  style={
                    {
                      inlineSize: `${(100 * count) / most}%`,
                      '--heat': heat === undefined ? 'var(--accent)' : `var(--heat-${heat})`,
                    } as CSSProperties
                  }
                />
              </span>
              <span className={css['percent']}>{percent(all > 0 ? count / all : 0)}</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
