// Who sees which pages.
import { expect, test } from 'vitest';
import { navigationFor } from './navigation.ts';

const pathsFor = (...about: Parameters<typeof navigationFor>) =>
  navigationFor(...about).flatMap(({ links }) => links.map(({ to }) => to));

test('pages that compare groups are shown to those who see enough groups for them', () => {
  const comparing = ['/heat-map', '/drivers', '/groups'];
  const shown = (groups: number) => comparing.filter((path) => pathsFor('Manager', groups).includes(path));
  expect([shown(1), shown(2), shown(20)]).toEqual([[], ['/heat-map', '/groups'], comparing]);
  expect(pathsFor('Manager', 19)).not.toContain('/drivers');
  expect(pathsFor('Manager', 1)).toEqual(expect.arrayContaining(['/', '/trends', '/comments']));
});

test('administrators always see the groups, which they create there', () => {
  expect(pathsFor('Administrator', 1)).toContain('/groups');
  expect(pathsFor('Administrator', 1)).not.toContain('/heat-map');
});

test('without any group, every page is shown, with what to do first', () => {
  expect(pathsFor('Administrator', 0)).toEqual(expect.arrayContaining(['/heat-map', '/drivers', '/groups']));
  expect(pathsFor('Administrator', undefined)).toEqual(pathsFor('Administrator', 0));
});
