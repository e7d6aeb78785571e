// Names and their values in two columns.
import type { ReactNode } from 'react';
import css from './Facts.module.css';

/** Items with an undefined value are omitted. */
export function Facts({ items }: { items: [label: string, value: ReactNode][] }) {
  return (
    <dl className={css['facts']}>
      {items
        .filter(([, value]) => value !== undefined)
        .map(([label, value]) => (
          <div key={label} className={css['fact']}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
