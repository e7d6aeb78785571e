// The keys of a search field do not interfere with other fields, dialogs or the browser.
import { expect, test } from 'vitest';
import { clearsSearch, focusesSearch } from './search-keys.ts';

const slash = { key: '/', ctrlKey: false, metaKey: false, altKey: false };
const page = { isTyping: false, hasDialog: false };

test('"/" focuses the search field', () => {
  expect(focusesSearch(slash, page)).toBe(true);
  expect(focusesSearch({ ...slash, key: 'a' }, page)).toBe(false);
});

test('"/" is typed as a letter in fields, and does nothing behind a dialog', () => {
  expect(focusesSearch(slash, { ...page, isTyping: true })).toBe(false);
  expect(focusesSearch(slash, { ...page, hasDialog: true })).toBe(false);
});

test('browser shortcuts with "/" still work', () => {
  for (const modifier of ['ctrlKey', 'metaKey', 'altKey'])
    expect(focusesSearch({ ...slash, [modifier]: true }, page)).toBe(false);
});

test('Esc clears the text; in an empty field it closes the dialog', () => {
  expect([clearsSearch('Escape', 'x'), clearsSearch('Escape', ''), clearsSearch('a', 'x')]).toEqual([
    true,
    false,
    false,
  ]);
});
