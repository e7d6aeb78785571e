// An action that can't be undone is possible only after the user has typed all required texts.
import { expect, test } from 'vitest';
import { isAllTyped } from './typed.ts';

const wanted = [{ text: '258' }, { text: '12' }];

test('each text has to be typed, in its own field', () => {
  expect(isAllTyped(wanted, [])).toBe(false);
  expect(isAllTyped(wanted, ['258'])).toBe(false);
  expect(isAllTyped(wanted, ['12', '258'])).toBe(false);
  expect(isAllTyped(wanted, ['258', '12'])).toBe(true);
});

test('spaces around the text are ignored; other letter case or a part of it is not accepted', () => {
  expect(isAllTyped([{ text: 'Sales' }], [' Sales '])).toBe(true);
  expect(isAllTyped([{ text: 'Sales' }], ['sales'])).toBe(false);
  expect(isAllTyped([{ text: 'Sales' }], ['Sale'])).toBe(false);
});

test('without a required text the action is possible immediately', () => {
  expect(isAllTyped([], [])).toBe(true);
});
