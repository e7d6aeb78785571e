// Buttons, and links that look like them. A busy button keeps the focus and does nothing.
import { Link } from '@tanstack/react-router';
import { LoaderCircle, type LucideIcon } from 'lucide-react';
import type { ComponentProps, ReactNode } from 'react';
import css from './Button.module.css';
import { cx } from './cx.ts';
import { useDownload } from './downloads.ts';
import { Tooltip } from './floating/Tooltip.tsx';

export type ButtonKind = 'primary' | 'secondary' | 'quiet' | 'danger';
type Appearance = { kind?: ButtonKind; icon?: LucideIcon; busy?: boolean; children?: ReactNode };
type ButtonProps = Appearance & Omit<ComponentProps<'button'>, 'className' | 'style' | 'children'>;

const classOf = (kind: ButtonKind) => cx(css['button'], css[kind]);

function Content({ icon: Icon, busy, children }: Appearance) {
  return (
    <>
      {busy ? (
        <LoaderCircle aria-hidden size={16} className={css['turning']} />
      ) : (
        Icon && <Icon aria-hidden size={16} strokeWidth={1.75} />
      )}
      {children !== undefined && <span className={css['label']}>{children}</span>}
    </>
  );
}

export function Button({ kind = 'secondary', icon, busy, children, onClick, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      className={classOf(kind)}
      aria-disabled={busy || undefined}
      onClick={busy ? (event) => event.preventDefault() : onClick}
    >
      <Content icon={icon} busy={busy}>
        {children}
      </Content>
    </button>
  );
}

type LinkButtonProps = Appearance & { title?: string } &
  /** `hash`: the id of a section on the page. */
  (
    | { to: string; search?: object; hash?: string; href?: undefined; download?: undefined }
    /** A URL outside the console's pages; with `download`, a file from the service to save. */
    | { href: string; to?: undefined; download?: boolean; onClick?: () => void }
  );

export function LinkButton({ kind = 'secondary', icon, children, ...where }: LinkButtonProps) {
  const content = <Content icon={icon}>{children}</Content>;
  if (where.download) return <DownloadLink {...{ kind, icon, children, ...where }} />;
  if (where.to === undefined)
    return (
      <a className={classOf(kind)} href={where.href} title={where.title} onClick={where.onClick}>
        {content}
      </a>
    );
  return (
    <Link
      className={classOf(kind)}
      to={where.to}
      search={where.search as never}
      hash={where.hash}
      title={where.title}
    >
      {content}
    </Link>
  );
}

/** Downloads a file with fetch, so that errors are shown on the page and don't replace it. */
function DownloadLink({
  kind = 'secondary',
  icon,
  children,
  href,
  title,
}: Appearance & { href: string; title?: string }) {
  const { busy, start } = useDownload();
  return (
    <a
      className={classOf(kind)}
      href={href}
      download
      title={title}
      aria-busy={busy || undefined}
      onClick={(event) => {
        event.preventDefault();
        void start(href);
      }}
    >
      <Content icon={icon} busy={busy}>
        {children}
      </Content>
    </a>
  );
}

type IconButtonProps = Omit<ButtonProps, 'children' | 'icon'> & { icon: LucideIcon; label: string };

/** A button with only an icon. The label is its name and its tooltip. */
export function IconButton({ icon: Icon, label, kind = 'quiet', busy, onClick, ...rest }: IconButtonProps) {
  return (
    <Tooltip text={label}>
      <button
        type="button"
        {...rest}
        className={cx(classOf(kind), css['square'])}
        aria-label={label}
        aria-disabled={busy || undefined}
        onClick={busy ? undefined : onClick}
      >
        {busy ? (
          <LoaderCircle aria-hidden size={16} className={css['turning']} />
        ) : (
          <Icon aria-hidden size={16} strokeWidth={1.75} />
        )}
      </button>
    </Tooltip>
  );
}
