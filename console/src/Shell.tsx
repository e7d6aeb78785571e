// The frame of every page for users who are signed in: the navigation, and the sheet that contains the page.
import type { SystemWarning } from '@soundings/contract/console/system.ts';
import { Dialog as Base } from '@base-ui/react/dialog';
import { Link, useLocation, useRouterState } from '@tanstack/react-router';
import { ChevronsUpDown, CircleUser, LogOut, Menu as MenuIcon, Monitor, Moon, Sun, X } from 'lucide-react';
import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';
import { api } from './api.ts';
import { navigationFor, type NavigationGroup, type NavigationLink, ownProfile } from './navigation.ts';
import { useData } from './hooks/data.ts';
import { applyTheme, storedTheme, type Theme } from './hooks/theme.ts';
import { hasRole } from '@soundings/contract/people/roles.ts';
import { useSession } from './session.tsx';
import { useFormat, useLanguage, useText } from './text/text.tsx';
import { useWeekText } from './text/weeks.ts';
import { Avatar } from './ui/Avatar.tsx';
import { IconButton } from './ui/Button.tsx';
import { useErrorText } from './ui/faults.ts';
import { Menu } from './ui/floating/Menu.tsx';
import { Notice } from './ui/page/Notice.tsx';
import { useToast } from './ui/floating/Toast.tsx';
import css from './Shell.module.css';

export function Shell({ children }: { children: ReactNode }) {
  const t = useText();
  const sheet = useRef<HTMLElement>(null);
  useFocusOnNewPage(sheet);
  return (
    <div className={css['shell']}>
      <a
        className={css['skip']}
        href="#content"
        onClick={(event) => {
          event.preventDefault();
          sheet.current?.focus();
        }}
      >
        {t('nav.skip')}
      </a>
      <div className={css['side']}>
        <Navigation />
      </div>
      <PhoneHeader />
      <main
        ref={sheet}
        id="content"
        tabIndex={-1}
        className={css['sheet']}
        data-scroller
        data-scroll-restoration-id="content"
      >
        <Warnings />
        {children}
      </main>
    </div>
  );
}

/** Whether a warning means that something doesn't work at all, rather than late. */
const isBad = ({ code }: SystemWarning) =>
  code === 'forgottenProxy' || code === 'answerKeyMissing' || code === 'secretsKeyMissing';

/** Warnings about the installation, for administrators. */
function Warnings() {
  const t = useText();
  const { time } = useFormat();
  const { sentence } = useWeekText();
  const isShown = hasRole(useSession().user, 'Administrator');
  const { data = [] } = useData('GET /warnings', undefined, { when: isShown, everyMs: 5 * 60_000 });
  const textOf = (warning: SystemWarning) => {
    switch (warning.code) {
      case 'deadJobs':
        return t('warning.deadJobsText', { count: warning.count });
      case 'answerKeyMissing':
      case 'secretsKeyMissing':
        return t(`warning.${warning.code}Text`);
      case 'lateWeek':
        return t('warning.lateWeekText', { week: sentence(warning) });
      case 'forgottenProxy':
        return t('warning.forgottenProxyText', { address: warning.address });
      default:
        return t(`warning.${warning.code}Text`, { since: time(warning.since) });
    }
  };
  return data.map((warning) => (
    <div key={warning.code} className={css['warning']}>
      <Notice tone={isBad(warning) ? 'bad' : 'warn'} title={t(`warning.${warning.code}`)}>
        {textOf(warning)}
      </Notice>
    </div>
  ));
}

/** Moves the focus to the new page after a link was followed, so that screen readers continue there. */
function useFocusOnNewPage(sheet: RefObject<HTMLElement | null>) {
  // The path of the page that is shown, not of a page that is still loading.
  const pathname = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname });
  const shown = useRef(pathname);
  useEffect(() => {
    const before = shown.current;
    shown.current = pathname;
    if (before === undefined || before === pathname) return;
    const focused = document.activeElement;
    if (!focused || focused === document.body || focused.closest('nav'))
      sheet.current?.focus({ preventScroll: true });
  }, [pathname, sheet]);
}

/** The navigation behind a button, on phones and small tablets. */
function PhoneHeader() {
  const t = useText();
  const { href } = useLocation();
  const session = useSession();
  const [opened, setOpened] = useState<string>();
  const close = () => setOpened(undefined);
  const waiting = session.waiting.runs;
  const label = waiting > 0 ? `${t('nav.menu')}, ${t('nav.waiting', { count: waiting })}` : t('nav.menu');
  return (
    <header className={css['phoneHeader']}>
      {/* The navigation is open only on the page where it was opened: following a link closes it. */}
      <Base.Root open={opened === href} onOpenChange={(isOpen) => setOpened(isOpen ? href : undefined)}>
        <span className={css['menu']} data-waiting={waiting > 0 || undefined}>
          <Base.Trigger render={<IconButton icon={MenuIcon} label={label} />} />
        </span>
        <Base.Portal>
          <Base.Backdrop className={css['backdrop']} />
          <Base.Popup className={css['drawer']} aria-label={t('nav.menu')}>
            <Base.Close render={<IconButton icon={X} label={t('action.close')} onClick={close} />} />
            <Navigation onFollow={close} />
          </Base.Popup>
        </Base.Portal>
      </Base.Root>
      <Link to="/" className={css['product']}>
        {t('app.name')}
      </Link>
    </header>
  );
}

/** Returns how many groups the user can see the results of; undefined until it is known. */
function useGroupCount(): number | undefined {
  const language = useLanguage();
  const when = hasRole(useSession().user, 'Manager');
  return useData('GET /results', { query: { language } }, { when }).data?.groups;
}

/** Scrolls to the link of the current page if the window is too low for all links. `links`: how many there are. */
function useCurrentInView(links: number): RefObject<HTMLDivElement | null> {
  const list = useRef<HTMLDivElement>(null);
  const pathname = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname });
  const shown = useRef('');
  useEffect(() => {
    const now = `${pathname} ${links}`;
    if (shown.current === now) return;
    shown.current = now;
    list.current?.querySelector('[aria-current="page"]')?.scrollIntoView({ block: 'nearest' });
  }, [pathname, links]);
  return list;
}

function Navigation({ onFollow }: { onFollow?: () => void }) {
  const t = useText();
  const session = useSession();
  const groups = navigationFor(session.user.role, useGroupCount(), session.isStarting);
  const list = useCurrentInView(groups.flatMap(({ links }) => links).length);
  return (
    <nav aria-label={t('nav.main')} className={css['navigation']}>
      <div className={css['brand']}>
        <img src="/icon.svg" alt="" width="26" height="26" />
        <div className={css['names']}>
          <span className={css['product']}>{t('app.name')}</span>
          <span className={css['soft']}>{session.account.name}</span>
        </div>
      </div>
      <div ref={list} className={css['links']}>
        {(groups.length > 0 ? groups : [{ text: undefined, links: [ownProfile] }]).map((group) => (
          <Group key={group.text ?? ''} {...group} onFollow={onFollow} />
        ))}
      </div>
      <Person />
    </nav>
  );
}

function Group({ text, links, onFollow }: NavigationGroup & { onFollow?: (() => void) | undefined }) {
  const t = useText();
  return (
    <div className={css['group']}>
      {text !== undefined && <h2 className={css['heading']}>{t(text)}</h2>}
      <ul>
        {links.map((link) => (
          <li key={link.to}>
            <PageLink {...link} onFollow={onFollow} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function PageLink(props: NavigationLink & { onFollow?: (() => void) | undefined }) {
  const { to, text, icon: Icon, waiting, onFollow } = props;
  const t = useText();
  const session = useSession();
  const count = waiting ? session.waiting[waiting] : 0;
  return (
    <Link
      to={to}
      className={css['link']}
      activeOptions={{ exact: to === '/', includeSearch: false }}
      onClick={onFollow}
    >
      <Icon aria-hidden size={17} strokeWidth={1.75} />
      <span className={css['text']}>{t(text)}</span>
      {count > 0 && (
        <span className={css['waiting']}>
          <span aria-hidden>{count}</span>
          <span className="visually-hidden">, {t('nav.waiting', { count })}</span>
        </span>
      )}
    </Link>
  );
}

/** The signed-in user, at the foot of the navigation: profile, theme, signing out. */
function Person() {
  const t = useText();
  const toast = useToast();
  const errorText = useErrorText();
  const { user } = useSession();
  const [theme, setTheme] = useState(storedTheme);
  async function signOut() {
    try {
      const { address } = await api('DELETE /session');
      // Leaving the page drops all data of the account.
      location.assign(address ?? '/sign-in');
    } catch (error) {
      toast({ text: errorText(error), tone: 'bad' });
    }
  }
  return (
    <Menu
      label={t('nav.person', { name: user.name, role: t(`role.${user.role}`) })}
      side="top"
      align="start"
      trigger={
        <button type="button" className={css['person']}>
          <Avatar name={user.name} />
          <span className={css['names']}>
            <span className={css['name']}>{user.name}</span>
            <span className={css['soft']}>{t(`role.${user.role}`)}</span>
          </span>
          <ChevronsUpDown aria-hidden size={14} strokeWidth={1.75} />
        </button>
      }
      items={[
        { label: t('nav.profile'), icon: CircleUser, to: '/profile' },
        'line',
        {
          choice: t('theme.label'),
          value: theme,
          onChange: (next: Theme) => {
            applyTheme(next);
            setTheme(next);
          },
          options: [
            { value: 'system', label: t('theme.system'), icon: Monitor },
            { value: 'light', label: t('theme.light'), icon: Sun },
            { value: 'dark', label: t('theme.dark'), icon: Moon },
          ],
        },
        'line',
        { label: t('nav.signOut'), icon: LogOut, onSelect: () => void signOut() },
      ]}
    />
  );
}
