// Finding groups by typing: ignores accents and letter case, requires all words, and lists the best matches first.
import { expect, test } from 'vitest';
import { findGroups, groupOptions } from './find-groups.ts';

const group = (id: number, parentId: number | null, name: string, externalId: string | null = null) => ({
  id,
  parentId,
  name,
  externalId,
  managed: false,
  people: 0,
});
const groups = groupOptions([
  group(1, null, 'Lavmark'),
  group(2, 1, 'Försäljning', 'sales'),
  group(3, 2, 'North Sales'),
  group(4, 2, 'Sales Malmö'),
  group(5, 2, 'Wholesales'),
]);
const namesFor = (sought: string, most = 10) =>
  findGroups(groups, sought, most).found.map(({ name }) => name);

test('each group has its path from the top', () => {
  expect(groups.map(({ path }) => path)).toEqual(['', 'Lavmark', ...Array(3).fill('Lavmark / Försäljning')]);
});

test('names that start with the typed text come first, then names in which a word starts with it, then all others', () => {
  expect(namesFor('sales')).toEqual(['Sales Malmö', 'Försäljning', 'North Sales', 'Wholesales']);
});

test('every word is required, in any order, with or without accents', () => {
  expect(namesFor('MALMO sal')).toEqual(['Sales Malmö']);
  expect(namesFor('forsaljning')).toEqual(['Försäljning']);
  expect(namesFor('malmö north')).toEqual([]);
});

test('an empty text finds all groups; if only some of them are shown, the total is known', () => {
  expect(namesFor('  ')).toHaveLength(5);
  expect(findGroups(groups, 'sales', 2)).toMatchObject({ found: [{ id: 4 }, { id: 2 }], total: 4 });
});
