// Names and what they are, in two columns.
import type { ReactNode } from 'react';
import css from './Facts.module.css';

/** Items whose value is undefined are left out. */
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
