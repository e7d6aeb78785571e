// A word about a state, never by colour alone.
import type { ReactNode } from 'react';
import css from './Badge.module.css';
import { cx } from './cx.ts';

export type Tone = 'neutral' | 'accent' | 'good' | 'warn' | 'bad';

/** With `dot` it is a coloured dot before plain words, for columns of a table. */
export function Badge({
  tone = 'neutral',
  dot,
  children,
}: {
  tone?: Tone;
  dot?: boolean;
  children: ReactNode;
}) {
  return <span className={cx(css[dot ? 'dot' : 'badge'], css[tone])}>{children}</span>;
}
