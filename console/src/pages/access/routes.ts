// Pages of API tokens, API access, settings, the audit log and the installation, for administrators. Auditors and managers can open the privacy
// report too.
import type { PageRoute } from '../../page-route.ts';

export const accessRoutes: PageRoute[] = [
  {
    path: '/tokens',
    minimumRole: 'Administrator',
    load: () => import('./TokensPage.tsx'),
    name: 'TokensPage',
  },
  {
    path: '/access',
    minimumRole: 'Administrator',
    load: () => import('./AccessPage.tsx'),
    name: 'AccessPage',
  },
  {
    path: '/settings',
    minimumRole: 'Administrator',
    load: () => import('./SettingsPage.tsx'),
    name: 'SettingsPage',
  },
  {
    path: '/audit',
    minimumRole: 'Administrator',
    load: () => import('./AuditPage.tsx'),
    name: 'AuditPage',
  },
  {
    path: '/system',
    minimumRole: 'Administrator',
    load: () => import('./SystemPage.tsx'),
    name: 'SystemPage',
  },
  {
    path: '/privacy',
    minimumRole: 'Auditor',
    load: () => import('./PrivacyPage.tsx'),
    name: 'PrivacyPage',
  },
];
