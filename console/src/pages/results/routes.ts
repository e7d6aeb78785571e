// The results pages, for managers: results of the groups that they may see.
import type { PageRoute } from '../../router.tsx';

export const resultsRoutes: PageRoute[] = [
  { path: '/', least: 'Manager', load: () => import('./OverviewPage.tsx'), name: 'OverviewPage' },
  { path: '/heat-map', least: 'Manager', load: () => import('./HeatMapPage.tsx'), name: 'HeatMapPage' },
  { path: '/trends', least: 'Manager', load: () => import('./TrendsPage.tsx'), name: 'TrendsPage' },
  {
    path: '/results/questions/$questionId',
    least: 'Manager',
    load: () => import('./QuestionPage.tsx'),
    name: 'QuestionPage',
  },
  { path: '/comments', least: 'Manager', load: () => import('./CommentsPage.tsx'), name: 'CommentsPage' },
];
