// An action that can't be undone is possible only once everything asked for was typed.
import { expect, test } from 'vitest';
import { isAllTyped } from './typed.ts';

const wanted = [{ text: '258' }, { text: '12' }];

test('each text has to be typed, in its own field', () => {
  expect(isAllTyped(wanted, [])).toBe(false);
  expect(isAllTyped(wanted, ['258'])).toBe(false);
  expect(isAllTyped(wanted, ['12', '258'])).toBe(false);
  expect(isAllTyped(wanted, ['258', '12'])).toBe(true);
});

test('spaces around it are ignored, capitals and parts are not', () => {
  expect(isAllTyped([{ text: 'Sales' }], [' Sales '])).toBe(true);
  expect(isAllTyped([{ text: 'Sales' }], ['sales'])).toBe(false);
  expect(isAllTyped([{ text: 'Sales' }], ['Sale'])).toBe(false);
});

test('without such a text the action is possible at once', () => {
  expect(isAllTyped([], [])).toBe(true);
});
