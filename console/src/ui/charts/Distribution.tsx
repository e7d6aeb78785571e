// How often each answer was given: a bar for each, with its words, number and share, as a table.
import type { CSSProperties } from 'react';
import { useFormat } from '../../text/text.tsx';
import css from './charts.module.css';

export type DistributionRow = {
  key: string;
  label: string;
  /** Words beside the label, such as those at an end of a scale. */
  hint?: string | undefined;
  count: number;
  /** Which of the nine steps from clay to sea; none: the accent. */
  heat?: number | undefined;
};

type DistributionProps = {
  label: string;
  /** The headings of the columns: answer, how many, share. */
  headings: [answer: string, count: string, share: string];
  rows: readonly DistributionRow[];
  /** What the shares are of: all answers together unless it is said. */
  total?: number | undefined;
};

export function Distribution({ label, headings, rows, total }: DistributionProps) {
  const { number, percent } = useFormat();
  const all = total ?? rows.reduce((sum, { count }) => sum + count, 0);
  const most = Math.max(1, ...rows.map(({ count }) => count));
  return (
    <table className={css['distribution']} aria-label={label}>
      <thead className="visually-hidden">
        <tr>
          {headings.map((heading) => (
            <th key={heading} scope="col">
              {heading}
            </th>
          ))}
        </tr>
      </thead>
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
