// Pages of API tokens, API access, settings and the audit log, for administrators. Auditors and managers can open the privacy
// report too.
import type { PageRoute } from '../../router.tsx';

export const accessRoutes: PageRoute[] = [
  {
    path: '/tokens',
    least: 'Administrator',
    load: () => import('./TokensPage.tsx'),
    name: 'TokensPage',
  },
  {
    path: '/access',
    least: 'Administrator',
    load: () => import('./AccessPage.tsx'),
    name: 'AccessPage',
  },
  {
    path: '/settings',
    least: 'Administrator',
    load: () => import('./SettingsPage.tsx'),
    name: 'SettingsPage',
  },
  {
    path: '/audit',
    least: 'Administrator',
    load: () => import('./AuditPage.tsx'),
    name: 'AuditPage',
  },
  {
    path: '/privacy',
    least: 'Auditor',
    load: () => import('./PrivacyPage.tsx'),
    name: 'PrivacyPage',
  },
];
