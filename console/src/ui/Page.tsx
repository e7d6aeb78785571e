// The frame of a page inside the sheet: title, actions, toolbar and content from edge to edge. The head stays while the sheet
// scrolls; what sticks beneath it sticks at --page-top.
import { Link } from '@tanstack/react-router';
import { Fragment, type ReactNode, useEffect, useLayoutEffect, useRef } from 'react';
import { useText } from '../text/text.tsx';
import { cx } from './cx.ts';
import css from './Page.module.css';

/** The title of the browser's tab: "People · Soundings". */
export function useTitle(title: string): void {
  const t = useText();
  const whole = title ? `${title} · ${t('app.name')}` : t('app.name');
  useEffect(() => {
    document.title = whole;
  }, [whole]);
}

/** Writes the height of the head to --page-top of the page. */
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
  /** The pages above this one. */
  crumbs?: { label: string; to: string; search?: object }[];
  actions?: ReactNode;
  toolbar?: ReactNode;
  /**
   * What it shows is still on its way. There is room for the subtitle by then; and where the head grows all the same, on a phone,
   * the grey bars beneath are replaced, not pushed down.
   */
  waits?: boolean;
  /** Content no wider than is good to read: forms. */
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

/** Within a toolbar: pushes what follows to its end. */
export const ToolbarGap = () => <span className={css['gap']} />;
/** Within a toolbar: soft words, such as "1,193 found". */
export const ToolbarWords = ({ children }: { children: ReactNode }) => (
  <span className={css['words']} role="status">
    {children}
  </span>
);
