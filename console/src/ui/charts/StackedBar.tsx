// A stacked bar: the parts of a whole with their shares. Screen readers read it as a list.
import type { CSSProperties } from 'react';
import { useFormat } from '../../text/text.tsx';
import css from './charts.module.css';

export type BarPart = {
  key: string;
  label: string;
  count: number;
  /** The colour: one of nine steps from clay to sea. */
  heat: number;
};

/** `parts`: in order. Parts that no one chose take no space, but are read out. */
export function StackedBar({ label, parts }: { label: string; parts: readonly BarPart[] }) {
  const { percent } = useFormat();
  const all = parts.reduce((sum, { count }) => sum + count, 0);
  const share = (count: number) => (all > 0 ? count / all : 0);
  const description = parts.map((part) => `${part.label} ${percent(share(part.count))}`).join(', ');
  return (
    <div className={css['stacked']} role="img" aria-label={`${label}: ${description}`}>
      {parts
        .filter(({ count }) => count > 0)
        .map((part) => (
          <span
            key={part.key}
            className={css['part']}
            title={`${part.label}: ${percent(share(part.count))}`}
            style={{ flexGrow: part.count, '--heat': `var(--heat-${part.heat})` } as CSSProperties}
          >
            {share(part.count) >= 0.06 && Math.round(share(part.count) * 100)}
          </span>
        ))}
    </div>
  );
}
