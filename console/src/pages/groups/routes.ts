// The pages of groups and attributes.
import type { PageRoute } from '../../page-route.ts';

export const groupsRoutes: PageRoute[] = [
  { path: '/groups', minimumRole: 'Manager', load: () => import('./GroupsPage.tsx'), name: 'GroupsPage' },
  {
    path: '/groups/$groupId',
    minimumRole: 'Manager',
    load: () => import('./GroupPage.tsx'),
    name: 'GroupPage',
  },
  {
    path: '/attributes',
    minimumRole: 'Administrator',
    load: () => import('./AttributesPage.tsx'),
    name: 'AttributesPage',
  },
];
