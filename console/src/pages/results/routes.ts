// The results pages, for managers: results of the groups that they may see.
import type { PageRoute } from '../../page-route.ts';

export const resultsRoutes: PageRoute[] = [
  {
    path: '/',
    minimumRole: 'Manager',
    load: () => import('./overview/OverviewPage.tsx'),
    name: 'OverviewPage',
  },
  {
    path: '/start',
    minimumRole: 'Administrator',
    load: () => import('./start/StartPage.tsx'),
    name: 'StartPage',
  },
  {
    path: '/heat-map',
    minimumRole: 'Manager',
    load: () => import('./heat-map/HeatMapPage.tsx'),
    name: 'HeatMapPage',
  },
  {
    path: '/trends',
    minimumRole: 'Manager',
    load: () => import('./trends/TrendsPage.tsx'),
    name: 'TrendsPage',
  },
  { path: '/focus', minimumRole: 'Manager', load: () => import('./focus/FocusPage.tsx'), name: 'FocusPage' },
  { path: '/drivers', minimumRole: 'Manager', load: () => import('./DriversPage.tsx'), name: 'DriversPage' },
  {
    path: '/results/questions/$questionId',
    minimumRole: 'Manager',
    load: () => import('./question/QuestionResultsPage.tsx'),
    name: 'QuestionResultsPage',
  },
  {
    path: '/comments',
    minimumRole: 'Manager',
    load: () => import('./comments/CommentsPage.tsx'),
    name: 'CommentsPage',
  },
];
