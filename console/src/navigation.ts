// The entries of the navigation, and the roles that see them.
import { minimumDriverGroups } from '@soundings/contract/limits.ts';
import { hasRole, type Role } from '@soundings/contract/people/roles.ts';
import {
  BookUser,
  Activity,
  CalendarClock,
  CalendarRange,
  ChartBar,
  CircleUser,
  CloudDownload,
  FileUp,
  Fingerprint,
  FlaskConical,
  FolderTree,
  Gauge,
  Grid2x2,
  IdCard,
  KeyRound,
  ListChecks,
  type LucideIcon,
  MessageSquareText,
  Plug,
  RefreshCw,
  Rocket,
  ScrollText,
  Server,
  Settings,
  ShieldCheck,
  SlidersHorizontal,
  Target,
  TrendingUp,
  Users,
  Webhook,
} from 'lucide-react';
import type { TextKey } from './text/catalogue.ts';

export type NavigationLink = {
  to: string;
  text: TextKey;
  icon: LucideIcon;
  minimumRole: Role;
  /** How many groups a user must be able to see for the page to be of use. */
  minimumGroups?: number;
  /** Administrators change something on the page, so they always see it. */
  isEdited?: true;
  /** Whether it is the page with the first steps, until it is dismissed. */
  isStart?: true;
  /** The kind of items that wait on the page, whose number the navigation shows. */
  waiting?: 'runs';
};
export type NavigationGroup = { text?: TextKey; links: readonly NavigationLink[] };

const navigation: readonly NavigationGroup[] = [
  {
    links: [
      { to: '/start', text: 'nav.start', icon: Rocket, minimumRole: 'Administrator', isStart: true },
      { to: '/', text: 'nav.overview', icon: Activity, minimumRole: 'Manager' },
      { to: '/heat-map', text: 'nav.heatMap', icon: Grid2x2, minimumRole: 'Manager', minimumGroups: 2 },
      { to: '/trends', text: 'nav.trends', icon: TrendingUp, minimumRole: 'Manager' },
      {
        to: '/drivers',
        text: 'nav.drivers',
        icon: ChartBar,
        minimumRole: 'Manager',
        minimumGroups: minimumDriverGroups,
      },
      { to: '/focus', text: 'nav.focus', icon: Target, minimumRole: 'Manager' },
      { to: '/comments', text: 'nav.comments', icon: MessageSquareText, minimumRole: 'Manager' },
    ],
  },
  {
    text: 'nav.asking',
    links: [
      { to: '/questions', text: 'nav.questions', icon: ListChecks, minimumRole: 'Administrator' },
      { to: '/kpis', text: 'nav.kpis', icon: Gauge, minimumRole: 'Administrator' },
      { to: '/schedules', text: 'nav.schedules', icon: CalendarClock, minimumRole: 'Administrator' },
      { to: '/rounds', text: 'nav.rounds', icon: CalendarRange, minimumRole: 'Administrator' },
    ],
  },
  {
    text: 'nav.organization',
    links: [
      { to: '/people', text: 'nav.people', icon: Users, minimumRole: 'Administrator' },
      { to: '/cards', text: 'nav.cards', icon: IdCard, minimumRole: 'Administrator' },
      {
        to: '/groups',
        text: 'nav.groups',
        icon: FolderTree,
        minimumRole: 'Manager',
        minimumGroups: 2,
        isEdited: true,
      },
      { to: '/attributes', text: 'nav.attributes', icon: SlidersHorizontal, minimumRole: 'Administrator' },
    ],
  },
  {
    text: 'nav.data',
    links: [
      { to: '/runs', text: 'nav.runs', icon: RefreshCw, minimumRole: 'Administrator', waiting: 'runs' },
      { to: '/files', text: 'nav.files', icon: FileUp, minimumRole: 'Administrator' },
      { to: '/pulls', text: 'nav.pulls', icon: CloudDownload, minimumRole: 'Administrator' },
      { to: '/tokens', text: 'nav.tokens', icon: KeyRound, minimumRole: 'Administrator' },
      { to: '/webhooks', text: 'nav.webhooks', icon: Webhook, minimumRole: 'Administrator' },
      { to: '/sandbox', text: 'nav.sandbox', icon: FlaskConical, minimumRole: 'Administrator' },
      { to: '/access', text: 'nav.access', icon: Plug, minimumRole: 'Administrator' },
      { to: '/directory', text: 'nav.directory', icon: BookUser, minimumRole: 'Administrator' },
    ],
  },
  {
    text: 'nav.account',
    links: [
      { to: '/settings', text: 'nav.settings', icon: Settings, minimumRole: 'Administrator' },
      { to: '/single-sign-on', text: 'nav.signOn', icon: Fingerprint, minimumRole: 'Administrator' },
      { to: '/privacy', text: 'nav.privacy', icon: ShieldCheck, minimumRole: 'Auditor' },
      { to: '/audit', text: 'nav.audit', icon: ScrollText, minimumRole: 'Administrator' },
      { to: '/system', text: 'nav.system', icon: Server, minimumRole: 'Administrator' },
    ],
  },
];

/**
 * Returns the entries that a user sees. `groups`: how many groups the user can see; undefined: not known yet. Without any group, every
 * page says what to do first.
 */
export const navigationFor = (
  role: Role,
  groups: number | undefined,
  isStarting = false,
): NavigationGroup[] =>
  navigation
    .map(({ links, ...group }) => ({
      ...group,
      links: links.filter(
        ({ minimumRole, minimumGroups = 0, isEdited, isStart }) =>
          hasRole({ role }, minimumRole) &&
          (!isStart || isStarting) &&
          (!groups || groups >= minimumGroups || (isEdited && hasRole({ role }, 'Administrator'))),
      ),
    }))
    .filter(({ links }) => links.length > 0);

/** Returns the start page of users who see no results. */
export const firstPageOf = (role: Role): string => (hasRole({ role }, 'Auditor') ? '/privacy' : '/profile');

/** Users without any other page still have their own profile. */
export const ownProfile: NavigationLink = {
  to: '/profile',
  text: 'nav.profile',
  icon: CircleUser,
  minimumRole: 'User',
};
