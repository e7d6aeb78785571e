// The pages of people.
import type { PageRoute } from '../../router.tsx';

export const peopleRoutes: PageRoute[] = [
  {
    path: '/people',
    least: 'Administrator',
    load: () => import('./PeoplePage.tsx'),
    name: 'PeoplePage',
  },
  {
    path: '/people/new',
    least: 'Administrator',
    load: () => import('./NewPersonPage.tsx'),
    name: 'NewPersonPage',
  },
  {
    path: '/people/$userId',
    least: 'Administrator',
    load: () => import('./PersonPage.tsx'),
    name: 'PersonPage',
  },
];
