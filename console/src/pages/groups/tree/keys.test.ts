// The keys of the tree of groups (ARIA practices): what each key does, and where the focus goes.
import { createElement, type KeyboardEvent } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { useTreeKeys } from './keys.ts';
import { buildTree, visibleRows } from './tree.ts';

const group = (id: number, parentId: number | null, name: string) => ({
  id,
  parentId,
  name,
  externalId: null,
  managed: false,
  people: 0,
});
const tree = buildTree([
  group(1, null, 'A'),
  group(2, 1, 'B'),
  group(3, 1, 'C'),
  group(4, 3, 'D'),
  group(5, null, 'E'),
]);

type Situation = { open?: number[]; moving?: number; isEditable?: boolean; searched?: boolean };

/** Returns a function that presses a key on a row and returns the effect. The rows are those that `open` shows. */
function keysOf({ open = [], moving, isEditable = true, searched = false }: Situation = {}) {
  let done: string[] = [];
  const note =
    (what: string) =>
    (...ids: unknown[]) =>
      void done.push([what, ...ids].join(' '));
  const isOpen = new Set(open);
  const rows = visibleRows(tree, isOpen);
  const props = {
    tree,
    rows,
    open: isOpen,
    matches: searched ? new Set<number>() : undefined,
    moving,
    isEditable,
    onExpand: note('expand'),
    onCollapse: note('collapse'),
    onLift: note('lift'),
    onDrop: note('drop'),
    onCancel: note('cancel'),
  };
  let at = 0;
  let press: (event: KeyboardEvent) => void = () => {};
  const steps = {
    go: (index: number) => note('go to')(rows[index]?.name),
    enter: ({ name }: { name: string }) => note('enter')(name),
  };
  const take = (handler: typeof press) => void (press = handler);
  const Tree = () => {
    take(useTreeKeys(props, at, steps));
    return null;
  };
  return (key: string, name: string, more: Partial<KeyboardEvent> & { within?: boolean } = {}) => {
    done = [];
    at = rows.findIndex((row) => row.name === name);
    renderToStaticMarkup(createElement(Tree));
    let isPrevented = false;
    const target = { matches: () => more.within !== true };
    const event = { key, target, timeStamp: 0, preventDefault: () => (isPrevented = true), ...more };
    press(event as unknown as KeyboardEvent);
    return isPrevented ? done.join(', ') : undefined;
  };
}

test('arrow up and down, Home and End move through the visible rows, and stop at the ends', () => {
  const press = keysOf({ open: [1] });
  expect(press('ArrowDown', 'A')).toBe('go to B');
  expect(press('ArrowDown', 'E')).toBe('go to E');
  expect(press('ArrowUp', 'E')).toBe('go to C');
  expect(press('ArrowUp', 'A')).toBe('go to A');
  expect(press('Home', 'C')).toBe('go to A');
  expect(press('End', 'A')).toBe('go to E');
  expect(press('PageDown', 'A')).toBe('go to E');
});

test('the right arrow expands a group, then moves to its first child; without children it does nothing', () => {
  expect(keysOf()('ArrowRight', 'A')).toBe('expand 1');
  expect(keysOf({ open: [1] })('ArrowRight', 'A')).toBe('go to B');
  expect(keysOf({ open: [1] })('ArrowRight', 'B')).toBe('');
});

test('the left arrow collapses a group, then moves to its parent; in a search nothing is collapsed', () => {
  expect(keysOf({ open: [1] })('ArrowLeft', 'A')).toBe('collapse 1');
  expect(keysOf({ open: [1] })('ArrowLeft', 'C')).toBe('go to A');
  expect(keysOf({ open: [1], searched: true })('ArrowLeft', 'A')).toBe('go to A');
});

test('an asterisk expands all siblings with children', () => {
  expect(keysOf({ open: [1] })('*', 'B')).toBe('expand 3');
});

test('Enter opens a group; the space bar lifts it if it can be changed; either key drops a lifted group', () => {
  expect(keysOf()('Enter', 'A')).toBe('enter A');
  expect(keysOf()(' ', 'A')).toBe('lift 1');
  expect(keysOf({ isEditable: false })(' ', 'A')).toBe('');
  for (const key of ['Enter', ' ']) expect(keysOf({ moving: 5 })(key, 'A')).toBe('drop 1');
  expect(keysOf({ moving: 5 })('Escape', 'A')).toBe('cancel');
});

test('other keys, keys with Ctrl, Alt or Meta, and keys inside a row are left to the browser', () => {
  const press = keysOf();
  expect(press('Escape', 'A')).toBeUndefined();
  expect(press('Tab', 'A')).toBeUndefined();
  for (const modifier of ['ctrlKey', 'metaKey', 'altKey'])
    expect(press('ArrowDown', 'A', { [modifier]: true })).toBeUndefined();
  expect(press('ArrowDown', 'A', { within: true })).toBeUndefined();
});

test('a letter moves to the next name that starts with it', () => {
  expect(keysOf({ open: [1, 3] })('d', 'A')).toBe('go to D');
  expect(keysOf()('x', 'A')).toBe('go to A');
});
