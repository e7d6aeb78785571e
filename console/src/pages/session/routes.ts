// The pages of signing in, and of oneself.
import type { PageRoute } from '../../router.tsx';

/** Pages for whoever is not signed in. */
export const openRoutes: Omit<PageRoute, 'least'>[] = [
  { path: '/sign-in', load: () => import('./SignInPage.tsx'), name: 'SignInPage' },
  { path: '/welcome', load: () => import('./WelcomePage.tsx'), name: 'WelcomePage' },
  { path: '/password', load: () => import('./PasswordPage.tsx'), name: 'PasswordPage' },
];

export const sessionRoutes: PageRoute[] = [
  { path: '/profile', least: 'User', load: () => import('./ProfilePage.tsx'), name: 'ProfilePage' },
];
