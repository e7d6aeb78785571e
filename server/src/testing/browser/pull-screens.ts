// The pages of pulls, of which `npm run screens` takes pictures (screens.ts). Their numbers come last.
import type { Screen } from './screen-list.ts';

export const pullScreens: Screen[] = [
  {
    name: 'pulls',
    title: 'Pulls',
    description: 'The lists that Soundings fetches from HR systems, and whether that works.',
    path: '/pulls',
    kinds: ['light', 'dark', 'phone'],
  },
  {
    name: 'pull',
    title: 'A pull',
    description: 'Where its list is, when it is fetched, and every attempt.',
    path: '/pulls/$pullId',
    kinds: ['light', 'dark', 'phone'],
  },
  {
    name: 'new-pull',
    title: 'A new pull',
    description: 'Only what an administrator of the HR system knows. A dry run follows immediately.',
    path: '/pulls',
    first: (page, t) =>
      page
        .getByRole('button', { name: t('pulls.create') })
        .first()
        .click(),
  },
];
