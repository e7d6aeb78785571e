// The pages for signing in, and the profile page.
import type { PageRoute } from '../../page-route.ts';

/** Pages for users who are not signed in. */
export const openRoutes: Omit<PageRoute, 'minimumRole'>[] = [
  { path: '/sign-in', load: () => import('./SignInPage.tsx'), name: 'SignInPage' },
  { path: '/sign-in/done', load: () => import('./SignInDonePage.tsx'), name: 'SignInDonePage' },
  { path: '/setup', load: () => import('./SetupPage.tsx'), name: 'SetupPage' },
  { path: '/password', load: () => import('./PasswordPage.tsx'), name: 'PasswordPage' },
];

export const sessionRoutes: PageRoute[] = [
  {
    path: '/profile',
    minimumRole: 'User',
    load: () => import('./profile/ProfilePage.tsx'),
    name: 'ProfilePage',
  },
];
