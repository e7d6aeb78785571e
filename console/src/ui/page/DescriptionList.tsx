// Names and their values in two columns.
import type { ReactNode } from 'react';
import css from './DescriptionList.module.css';

/** Items with an undefined value are omitted. */
export function DescriptionList({ items }: { items: [label: string, value: ReactNode][] }) {
  return (
    <dl className={css['list']}>
      {items
        .filter(([, value]) => value !== undefined)
        .map(([label, value]) => (
          <div key={label} className={css['item']}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
