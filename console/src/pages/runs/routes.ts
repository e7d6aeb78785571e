// The pages of runs and of files.
import type { PageRoute } from '../../router.tsx';

export const runsRoutes: PageRoute[] = [
  { path: '/runs', least: 'Administrator', load: () => import('./RunsPage.tsx'), name: 'RunsPage' },
  { path: '/runs/$runId', least: 'Administrator', load: () => import('./RunPage.tsx'), name: 'RunPage' },
  { path: '/files', least: 'Administrator', load: () => import('./files/FilesPage.tsx'), name: 'FilesPage' },
  {
    path: '/files/$fileId',
    least: 'Administrator',
    load: () => import('./files/FilePage.tsx'),
    name: 'FilePage',
  },
];
