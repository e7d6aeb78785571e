// The survey pages: questions, KPIs, schedules, and the current week.
import type { PageRoute } from '../../router.tsx';

const least = 'Administrator';

export const askingRoutes: PageRoute[] = [
  { path: '/questions', least, load: () => import('./LibraryPage.tsx'), name: 'LibraryPage' },
  { path: '/questions/new', least, load: () => import('./QuestionPage.tsx'), name: 'NewQuestionPage' },
  { path: '/questions/$questionId', least, load: () => import('./QuestionPage.tsx'), name: 'QuestionPage' },
  { path: '/kpis', least, load: () => import('./KpisPage.tsx'), name: 'KpisPage' },
  { path: '/schedules', least, load: () => import('./SchedulesPage.tsx'), name: 'SchedulesPage' },
  { path: '/schedules/new', least, load: () => import('./SchedulePage.tsx'), name: 'NewSchedulePage' },
  { path: '/schedules/$scheduleId', least, load: () => import('./SchedulePage.tsx'), name: 'SchedulePage' },
  {
    path: '/schedules/$scheduleId/preview',
    least,
    load: () => import('./PreviewPage.tsx'),
    name: 'PreviewPage',
  },
  { path: '/rounds', least, load: () => import('./RoundsPage.tsx'), name: 'RoundsPage' },
];
