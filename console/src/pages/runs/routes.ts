// The pages of runs, files and pulls.
import type { PageRoute } from '../../page-route.ts';

export const runsRoutes: PageRoute[] = [
  { path: '/runs', minimumRole: 'Administrator', load: () => import('./RunsPage.tsx'), name: 'RunsPage' },
  {
    path: '/runs/$runId',
    minimumRole: 'Administrator',
    load: () => import('./RunPage.tsx'),
    name: 'RunPage',
  },
  {
    path: '/files',
    minimumRole: 'Administrator',
    load: () => import('./files/FilesPage.tsx'),
    name: 'FilesPage',
  },
  {
    path: '/files/$fileId',
    minimumRole: 'Administrator',
    load: () => import('./files/FilePage.tsx'),
    name: 'FilePage',
  },
  {
    path: '/pulls',
    minimumRole: 'Administrator',
    load: () => import('./pulls/PullsPage.tsx'),
    name: 'PullsPage',
  },
  {
    path: '/pulls/$pullId',
    minimumRole: 'Administrator',
    load: () => import('./pulls/PullPage.tsx'),
    name: 'PullPage',
  },
];
