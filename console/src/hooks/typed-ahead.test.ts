import { expect, test } from 'vitest';
import { collectTyped } from './typed-ahead.ts';

type Modifiers = { ctrlKey?: true; altKey?: true; metaKey?: true; altGraph?: true; isComposing?: true };

/** A page whose focus is on a button or, after it was removed, on the page itself. */
function openPage() {
  const [keys, button, other] = [new EventTarget(), new EventTarget(), new EventTarget()];
  const typed = collectTyped(keys, () => [button, keys]);
  /** Presses a key. Returns whether the rest of the page receives it. `target`: what has the focus. */
  const press = (key: string, { altGraph, ...modifiers }: Modifiers = {}, target: EventTarget = button) => {
    const event = new Event('keydown', { cancelable: true });
    Object.defineProperty(event, 'target', { value: target });
    return keys.dispatchEvent(
      Object.assign(event, { key, getModifierState: () => altGraph === true, ...modifiers }),
    );
  };
  return { typed, press, page: keys, other };
}

test('what is typed before a search field has the focus is kept in order, and nothing else receives it', () => {
  const { typed, press, page } = openPage();
  expect(press('x')).toBe(true);
  typed.start();
  typed.start();
  const received = ['a', 'ö', ' ', '7', 'Backspace', '😀'].map((key) => press(key));
  expect(received).toEqual(Array(6).fill(false));
  expect(press('@', { ctrlKey: true, altKey: true, altGraph: true })).toBe(false);
  expect(press('é', { altKey: true })).toBe(false);
  expect(press('1', {}, page)).toBe(false);
  expect(typed.take()).toBe('aö 😀@é1');
  expect(press('b')).toBe(true);
  typed.start();
  expect(typed.take()).toBe('');
});

test('keys that type nothing keep their meaning', () => {
  const { typed, press } = openPage();
  typed.start();
  const keys = [' ', 'Escape', 'Tab', 'ArrowDown', 'Enter'];
  expect(keys.map((key) => press(key))).toEqual(keys.map(() => true));
  expect(press('r', { ctrlKey: true })).toBe(true);
  expect(press('c', { metaKey: true })).toBe(true);
  expect(press('d', { altKey: true })).toBe(true);
  expect(press('Backspace', { ctrlKey: true })).toBe(true);
  expect(press('n', { isComposing: true })).toBe(true);
  expect(typed.take()).toBe('');
});

test('keys that are pressed elsewhere keep their meaning', () => {
  const { typed, press, other } = openPage();
  typed.start();
  expect(['a', ' ', 'Backspace'].map((key) => press(key, {}, other))).toEqual([true, true, true]);
  expect(typed.take()).toBe('');
});
