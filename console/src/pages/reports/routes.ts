// The page of reports, for managers: a report of a group that they may see, to print or save.
import type { PageRoute } from '../../page-route.ts';

export const reportsRoutes: PageRoute[] = [
  { path: '/report', minimumRole: 'Manager', load: () => import('./ReportPage.tsx'), name: 'ReportPage' },
];
