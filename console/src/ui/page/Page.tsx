// The frame of a page inside the sheet: title, actions, toolbar and content from edge to edge. The head stays visible while the
// sheet scrolls; other sticky elements stick below it at --page-top.
import { Link } from '@tanstack/react-router';
import { Fragment, type ReactNode, useEffect, useLayoutEffect, useRef } from 'react';
import { useText } from '../../text/text.tsx';
import { cx } from '../cx.ts';
import css from './Page.module.css';

/** Sets the title of the browser tab: "People · Soundings". */
export function useTitle(title: string): void {
  const t = useText();
  const whole = title ? `${title} · ${t('app.name')}` : t('app.name');
  useEffect(() => {
    document.title = whole;
  }, [whole]);
}

/** Sets --page-top of the page to the height of the head. */
function useHeadHeight() {
  const page = useRef<HTMLDivElement>(null);
  const head = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const measure = () =>
      page.current?.style.setProperty('--head-height', `${head.current?.offsetHeight ?? 0}px`);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(head.current as Element);
    return () => observer.disconnect();
  }, []);
  return { page, head };
}

export type PageProps = {
  title: string;
  subtitle?: ReactNode;
  /** The parent pages of this one. */
  crumbs?: { label: string; to: string; search?: object }[];
  actions?: ReactNode;
  toolbar?: ReactNode;
  /**
   * Whether the content is still loading. Space is reserved for the subtitle. If the head still becomes taller, which happens on
   * phones, the grey bars below it are replaced and not pushed down.
   */
  waits?: boolean;
  /** Limits the width of the content to a readable size, for forms. */
  narrow?: boolean;
  children?: ReactNode;
};

export function Page({ title, subtitle, crumbs, actions, toolbar, waits, narrow, children }: PageProps) {
  const { page, head } = useHeadHeight();
  useTitle(title);
  return (
    <div ref={page} className={css['page']}>
      <div ref={head} className={css['head']}>
        <header className={css['header']}>
          <div className={css['titles']}>
            <h1 className={css['title']}>
              {crumbs?.map(({ label, to, search }) => (
                <Fragment key={to}>
                  <Link className={css['crumb']} to={to} search={search as never}>
                    {label}
                  </Link>{' '}
                  <span className={css['slash']} aria-hidden>
                    /
                  </span>{' '}
                </Fragment>
              ))}
              {title}
            </h1>
            {(subtitle !== undefined || waits) && <div className={css['subtitle']}>{subtitle}</div>}
          </div>
          {actions && <div className={css['actions']}>{actions}</div>}
        </header>
        {toolbar && <div className={css['toolbar']}>{toolbar}</div>}
      </div>
      <div key={waits ? 'waiting' : 'there'} className={cx(css['body'], narrow && css['narrow'])}>
        {children}
      </div>
    </div>
  );
}

/** Pushes the following items to the end of a toolbar. */
export const ToolbarGap = () => <span className={css['gap']} />;
/** Subdued text in a toolbar, such as "1,193 found". */
export const ToolbarText = ({ children }: { children: ReactNode }) => (
  <span className={css['status']} role="status">
    {children}
  </span>
);
