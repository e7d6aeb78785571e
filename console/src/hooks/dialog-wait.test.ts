// Waiting for a dialog: one dialog serves all requests that wait, and a dialog that can't be loaded keeps none of them waiting.
import { expect, test } from 'vitest';
import { dialogWait } from './dialog-wait.ts';

/** Returns a `dialogWait`, and what it has shown. `fails`: whether the dialog can't be loaded. */
function opened() {
  const state = { shown: [] as (string | undefined)[], loads: 0, fails: false };
  const wait = dialogWait<string, boolean>(
    async () => {
      state.loads++;
      if (state.fails) throw new Error('offline');
      return 'dialog';
    },
    (dialog) => state.shown.push(dialog),
  );
  return { state, ...wait };
}

/** Lets all promises that are ready continue. */
const turn = async () => {
  for (let i = 0; i < 10; i++) await Promise.resolve();
};

test('no request continues before the dialog has a result, and then all requests continue with that result', async () => {
  const { wait, settle } = opened();
  const results: boolean[] = [];
  const requests = [wait(), wait(), wait()].map(async (one) => results.push(await one));
  await turn();
  expect(results).toEqual([]);
  settle(true);
  await Promise.all(requests);
  expect(results).toEqual([true, true, true]);
});

test('the dialog is closed with its result, and later requests wait for another one', async () => {
  const { wait, settle, state } = opened();
  const first = wait();
  await turn();
  settle(false);
  expect(await first).toBe(false);
  expect(state.shown).toEqual(['dialog', undefined]);
  const second = wait();
  await turn();
  expect(state.shown).toEqual(['dialog', undefined, 'dialog']);
  settle(true);
  expect(await second).toBe(true);
});

test('if the dialog cannot be loaded, the request fails, and the next one tries again', async () => {
  const { wait, settle, state } = opened();
  state.fails = true;
  await expect(wait()).rejects.toThrow('offline');
  expect(state.shown).toEqual([]);
  state.fails = false;
  const next = wait();
  await turn();
  expect([state.loads, state.shown]).toEqual([2, ['dialog']]);
  settle(true);
  expect(await next).toBe(true);
});

test('a result without anyone waiting is not kept for the next request', async () => {
  const { wait, settle } = opened();
  settle(true);
  const results: boolean[] = [];
  const request = wait().then((result) => results.push(result));
  await turn();
  expect(results).toEqual([]);
  settle(false);
  await request;
  expect(results).toEqual([false]);
});
