// The frame of the pages for users who are not signed in: a card in the middle.
import type { ReactNode } from 'react';
import { cx } from '../../ui/cx.ts';
import { useTitle } from '../../ui/page/Page.tsx';
import css from './Outside.module.css';

type Props = {
  title: string;
  subtitle?: ReactNode;
  /** Wide enough for fields side by side. */
  wide?: boolean;
  children: ReactNode;
};

export function SignedOutLayout({ title, subtitle, wide, children }: Props) {
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

export const OrDivider = ({ children }: { children: ReactNode }) => (
  <div className={css['or']}>{children}</div>
);
export const Stacked = ({ children }: { children: ReactNode }) => (
  <div className={css['stacked']}>{children}</div>
);
