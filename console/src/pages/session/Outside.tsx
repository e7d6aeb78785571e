// The frame of the pages for whoever is not signed in: one card in the middle.
import type { ReactNode } from 'react';
import { cx } from '../../ui/cx.ts';
import { useTitle } from '../../ui/Page.tsx';
import css from './Outside.module.css';

type Props = {
  title: string;
  subtitle?: ReactNode;
  /** Room for fields beside each other. */
  wide?: boolean;
  children: ReactNode;
};

export function Outside({ title, subtitle, wide, children }: Props) {
  useTitle(title);
  return (
    <div className={css['outside']}>
      <main className={cx(css['card'], wide && css['wide'])}>
        <img src="/icon.svg" alt="" className={css['mark']} />
        <h1 className={css['title']}>{title}</h1>
        {subtitle !== undefined && <p className={css['subtitle']}>{subtitle}</p>}
        <div className={css['content']}>{children}</div>
      </main>
      <div className={css['foot']} />
    </div>
  );
}

export const Or = ({ children }: { children: ReactNode }) => <div className={css['or']}>{children}</div>;
export const Stacked = ({ children }: { children: ReactNode }) => (
  <div className={css['stacked']}>{children}</div>
);
