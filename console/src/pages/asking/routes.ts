// The survey pages: questions, KPIs, schedules, and the current week.
import type { PageRoute } from '../../page-route.ts';

const minimumRole = 'Administrator';

export const askingRoutes: PageRoute[] = [
  { path: '/questions', minimumRole, load: () => import('./questions/LibraryPage.tsx'), name: 'LibraryPage' },
  {
    path: '/questions/new',
    minimumRole,
    load: () => import('./questions/QuestionPage.tsx'),
    name: 'NewQuestionPage',
  },
  {
    path: '/questions/$questionId',
    minimumRole,
    load: () => import('./questions/QuestionPage.tsx'),
    name: 'QuestionPage',
  },
  { path: '/kpis', minimumRole, load: () => import('./questions/KpisPage.tsx'), name: 'KpisPage' },
  {
    path: '/schedules',
    minimumRole,
    load: () => import('./schedules/SchedulesPage.tsx'),
    name: 'SchedulesPage',
  },
  {
    path: '/schedules/new',
    minimumRole,
    load: () => import('./schedules/SchedulePage.tsx'),
    name: 'NewSchedulePage',
  },
  {
    path: '/schedules/templates',
    minimumRole,
    load: () => import('./templates/TemplatesPage.tsx'),
    name: 'TemplatesPage',
  },
  {
    path: '/schedules/$scheduleId',
    minimumRole,
    load: () => import('./schedules/SchedulePage.tsx'),
    name: 'SchedulePage',
  },
  {
    path: '/schedules/$scheduleId/preview',
    minimumRole,
    load: () => import('./schedules/PreviewPage.tsx'),
    name: 'PreviewPage',
  },
  { path: '/rounds', minimumRole, load: () => import('./weeks/WeeksPage.tsx'), name: 'WeeksPage' },
];
