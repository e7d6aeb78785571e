// A notice: important information and its consequences.
import { CircleAlert, CircleCheck, Info, TriangleAlert } from 'lucide-react';
import type { ReactNode, Ref } from 'react';
import type { Tone } from '../Badge.tsx';
import { cx } from '../cx.ts';
import css from './Notice.module.css';

const icons = { neutral: Info, accent: Info, good: CircleCheck, warn: TriangleAlert, bad: CircleAlert };

type NoticeProps = {
  tone?: Tone;
  title?: ReactNode;
  actions?: ReactNode;
  /** Appears after an action, so screen readers read it immediately. */
  live?: boolean;
  /** With it, scripts can move the focus to the notice. */
  ref?: Ref<HTMLDivElement>;
  children?: ReactNode;
};

export function Notice({ tone = 'accent', title, actions, live, ref, children }: NoticeProps) {
  const Icon = icons[tone];
  return (
    <div
      ref={ref}
      tabIndex={ref ? -1 : undefined}
      className={cx(css['notice'], css[tone])}
      role={live ? (tone === 'bad' ? 'alert' : 'status') : undefined}
    >
      <Icon aria-hidden size={18} strokeWidth={1.75} />
      <div className={css['text']}>
        {title !== undefined && <p className={css['title']}>{title}</p>}
        {children !== undefined && <div>{children}</div>}
      </div>
      {actions && <div className={css['actions']}>{actions}</div>}
    </div>
  );
}
