// What a page shows while it loads, if loading failed, and if the page does not exist.
import type { UseQueryResult } from '@tanstack/react-query';
import { Compass, ServerCrash } from 'lucide-react';
import { type ReactNode, useEffect } from 'react';
import type { ApiError } from '../../api.ts';
import { reloadOnce, NotLoaded } from '../../hooks/load-on-demand.ts';
import { useText } from '../../text/text.tsx';
import { Button, LinkButton } from '../Button.tsx';
import { Empty } from './Empty.tsx';
import { useErrorText } from '../faults.ts';
import { Notice } from './Notice.tsx';
import { Page, type PageProps, useTitle } from './Page.tsx';
import css from './States.module.css';

/** Grey bars as placeholders for text. */
export function Skeleton({ rows = 6 }: { rows?: number }) {
  const t = useText();
  return (
    <div className={css['skeleton']} role="status" aria-label={t('state.loading')}>
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} className={css['bars']}>
          <Bar width={[34, 26, 40, 30][row % 4] as number} />
          <Bar width={[48, 38, 30, 44][row % 4] as number} />
        </div>
      ))}
    </div>
  );
}

/** A page whose title is known only when it has loaded. */
export function PageSkeleton({ crumbs }: Required<Pick<PageProps, 'crumbs'>>) {
  const t = useText();
  return (
    <Page title={t('state.loading')} crumbs={crumbs} waits>
      <Skeleton />
    </Page>
  );
}

/** One grey bar; the width is in percent of its container. */
export const Bar = ({ width = 60 }: { width?: number }) => (
  <span className={css['bar']} style={{ inlineSize: `${width}%` }} />
);

/** An error with the service's message and "Try again". */
export function Failed({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const t = useText();
  const errorText = useErrorText();
  return (
    <div className={css['failed']}>
      <Notice
        tone="bad"
        live
        title={t('error.title')}
        actions={onRetry && <Button onClick={onRetry}>{t('action.tryAgain')}</Button>}
      >
        {errorText(error)}
      </Notice>
    </div>
  );
}

export function NotFound() {
  const t = useText();
  useTitle(t('state.notFound'));
  return (
    <div className={css['whole']}>
      <Empty
        whole
        icon={Compass}
        title={t('state.notFound')}
        text={t('state.notFoundText')}
        action={<LinkButton to="/">{t('action.toStart')}</LinkButton>}
      />
    </div>
  );
}

/**
 * Shown by the router in place of a page that crashed. No input can be lost, because the user has already left the previous page.
 */
export function Broken({ error }: { error?: unknown }) {
  const t = useText();
  const errorText = useErrorText();
  useEffect(() => {
    if (error instanceof NotLoaded) void reloadOnce();
  }, [error]);
  return (
    <div className={css['whole']}>
      <Empty
        whole
        icon={ServerCrash}
        title={t('error.title')}
        text={errorText(error)}
        action={<Button onClick={() => location.reload()}>{t('action.reload')}</Button>}
      />
    </div>
  );
}

type LoadedProps<T> = {
  response: UseQueryResult<T, ApiError>;
  skeleton?: ReactNode;
  children: (data: T) => ReactNode;
};

/** Shows a response once it has loaded, placeholders until then, an error if there is no response, and "Page not found" for 404. */
export function Loaded<T>({ response, skeleton, children }: LoadedProps<T>) {
  if (response.error?.status === 404) return <NotFound />;
  if (response.data !== undefined) return children(response.data);
  if (response.error) return <Failed error={response.error} onRetry={() => void response.refetch()} />;
  return skeleton ?? <Skeleton />;
}
