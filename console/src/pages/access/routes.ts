// Pages of API tokens, webhooks, the sandbox, API access, settings, the audit log and the installation, for administrators. Auditors and managers can open the privacy
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
    path: '/webhooks',
    minimumRole: 'Administrator',
    load: () => import('./webhooks/WebhooksPage.tsx'),
    name: 'WebhooksPage',
  },
  {
    path: '/webhooks/$endpointId',
    minimumRole: 'Administrator',
    load: () => import('./webhooks/EndpointPage.tsx'),
    name: 'EndpointPage',
  },
  {
    path: '/sandbox',
    minimumRole: 'Administrator',
    load: () => import('./sandbox/SandboxPage.tsx'),
    name: 'SandboxPage',
  },
  {
    path: '/access',
    minimumRole: 'Administrator',
    load: () => import('./AccessPage.tsx'),
    name: 'AccessPage',
  },
  {
    path: '/directory',
    minimumRole: 'Administrator',
    load: () => import('./directory/DirectoryPage.tsx'),
    name: 'DirectoryPage',
  },
  {
    path: '/single-sign-on',
    minimumRole: 'Administrator',
    load: () => import('./sign-on/SingleSignOnPage.tsx'),
    name: 'SingleSignOnPage',
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
