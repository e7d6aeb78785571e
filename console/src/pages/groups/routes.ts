// The pages of groups and attributes.
import type { PageRoute } from '../../router.tsx';

export const groupsRoutes: PageRoute[] = [
  { path: '/groups', least: 'Manager', load: () => import('./GroupsPage.tsx'), name: 'GroupsPage' },
  { path: '/groups/$groupId', least: 'Manager', load: () => import('./GroupPage.tsx'), name: 'GroupPage' },
  {
    path: '/attributes',
    least: 'Administrator',
    load: () => import('./AttributesPage.tsx'),
    name: 'AttributesPage',
  },
];
