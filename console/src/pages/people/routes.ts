// The pages of people.
import type { PageRoute } from '../../page-route.ts';

export const peopleRoutes: PageRoute[] = [
  {
    path: '/people',
    minimumRole: 'Administrator',
    load: () => import('./PeoplePage.tsx'),
    name: 'PeoplePage',
  },
  {
    path: '/people/new',
    minimumRole: 'Administrator',
    load: () => import('./NewPersonPage.tsx'),
    name: 'NewPersonPage',
  },
  {
    path: '/people/several',
    minimumRole: 'Administrator',
    load: () => import('./NewPeoplePage.tsx'),
    name: 'NewPeoplePage',
  },
  {
    path: '/people/$userId',
    minimumRole: 'Administrator',
    load: () => import('./PersonPage.tsx'),
    name: 'PersonPage',
  },
  {
    path: '/cards',
    minimumRole: 'Administrator',
    load: () => import('./cards/CardsPage.tsx'),
    name: 'CardsPage',
  },
  {
    path: '/cards/print',
    minimumRole: 'Administrator',
    load: () => import('./cards/CardSheetsPage.tsx'),
    name: 'CardSheetsPage',
  },
];
