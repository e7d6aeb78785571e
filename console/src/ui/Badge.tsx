// A badge with the name of a state, so that colour is never the only hint.
import type { ReactNode } from 'react';
import css from './Badge.module.css';
import { cx } from './cx.ts';

export type Tone = 'neutral' | 'accent' | 'good' | 'warn' | 'bad';

/** With `dot`, the badge is a coloured dot before plain text, for table columns. */
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
