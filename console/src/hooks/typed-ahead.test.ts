import { expect, test } from 'vitest';
import { collectTyped } from './typed-ahead.ts';

/** A press of a key. Returns whether the rest of the page receives it. */
function press(
  window: EventTarget,
  key: string,
  modifiers: Partial<KeyboardEvent> & { altGraph?: boolean } = {},
) {
  const { altGraph = false, ...rest } = modifiers;
  const event = Object.assign(new Event('keydown', { cancelable: true }), {
    key,
    getModifierState: () => altGraph,
    ...rest,
  });
  return window.dispatchEvent(event);
}

test('what is typed before a search field has the focus is kept in order, and nothing else receives it', () => {
  const window = new EventTarget();
  const typed = collectTyped(window);
  expect(press(window, 'x')).toBe(true);
  typed.start();
  typed.start();
  const received = ['a', 'ö', ' ', '7', 'Backspace', '😀'].map((key) => press(window, key));
  expect(received).toEqual(Array(6).fill(false));
  expect(press(window, '@', { ctrlKey: true, altKey: true, altGraph: true })).toBe(false);
  expect(typed.take()).toBe('aö 😀@');
  expect(press(window, 'b')).toBe(true);
  typed.start();
  expect(typed.take()).toBe('');
});

test('keys that type nothing keep their meaning', () => {
  const window = new EventTarget();
  const typed = collectTyped(window);
  typed.start();
  expect([' ', 'Escape', 'Tab', 'ArrowDown', 'Enter'].map((key) => press(window, key))).toEqual(
    Array(5).fill(true),
  );
  expect(press(window, 'r', { ctrlKey: true })).toBe(true);
  expect(press(window, 'c', { metaKey: true })).toBe(true);
  expect(press(window, 'n', { isComposing: true })).toBe(true);
  expect(typed.take()).toBe('');
});
