// An empty state: says what belongs here, and how to add it.
import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import css from './Empty.module.css';

export function Empty({
  icon: Icon,
  whole,
  title,
  text,
  action,
}: {
  icon?: LucideIcon;
  /** Whether the empty state fills the whole page, so that its title is the page's heading. */
  whole?: boolean;
  title: string;
  text?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className={css['empty']}>
      {Icon && (
        <span className={css['icon']}>
          <Icon aria-hidden size={22} strokeWidth={1.5} />
        </span>
      )}
      {whole ? <h1 className={css['title']}>{title}</h1> : <p className={css['title']}>{title}</p>}
      {text !== undefined && <div className={css['text']}>{text}</div>}
      {action && <div className={css['action']}>{action}</div>}
    </div>
  );
}
