// The survey pages: questions, KPIs, schedules, and the current week.
import type { PageRoute } from '../../router.tsx';

const least = 'Administrator';

export const askingRoutes: PageRoute[] = [
  { path: '/questions', least, load: () => import('./questions/LibraryPage.tsx'), name: 'LibraryPage' },
  {
    path: '/questions/new',
    least,
    load: () => import('./questions/QuestionPage.tsx'),
    name: 'NewQuestionPage',
  },
  {
    path: '/questions/$questionId',
    least,
    load: () => import('./questions/QuestionPage.tsx'),
    name: 'QuestionPage',
  },
  { path: '/kpis', least, load: () => import('./questions/KpisPage.tsx'), name: 'KpisPage' },
  { path: '/schedules', least, load: () => import('./schedules/SchedulesPage.tsx'), name: 'SchedulesPage' },
  {
    path: '/schedules/new',
    least,
    load: () => import('./schedules/SchedulePage.tsx'),
    name: 'NewSchedulePage',
  },
  {
    path: '/schedules/$scheduleId',
    least,
    load: () => import('./schedules/SchedulePage.tsx'),
    name: 'SchedulePage',
  },
  {
    path: '/schedules/$scheduleId/preview',
    least,
    load: () => import('./schedules/PreviewPage.tsx'),
    name: 'PreviewPage',
  },
  { path: '/rounds', least, load: () => import('./weeks/WeeksPage.tsx'), name: 'WeeksPage' },
];
