// Slots for long responses: never more than there are, none lost, and everyone gets a turn.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { limitConcurrency } from './concurrency.ts';

test('any use: never more slots in use than in total or for an account, and everyone gets a turn', async () => {
  const callers = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(
      callers,
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 3 }),
      async (accounts, total, each) => {
        // prettier-ignore
        const concurrency = limitConcurrency(total, each);
        const running: number[] = [];
        let done = 0;
        await Promise.all(
          accounts.map(async (accountId, i) => {
            const release = await concurrency.take(accountId);
            running.push(accountId);
            expect(running.length).toBeLessThanOrEqual(total);
            expect(running.filter((one) => one === accountId).length).toBeLessThanOrEqual(each);
            for (let turn = 0; turn < i % 3; turn++) await Promise.resolve();
            running.splice(running.indexOf(accountId), 1);
            release();
            release(); // Releasing twice counts once.
            done++;
          }),
        );
        expect(done).toBe(accounts.length);
      },
    ),
  );
});

test('a caller that has waited too long gets an error and takes no slot', async () => {
  const concurrency = limitConcurrency(1, 1, { timeout: 5 });
  const release = await concurrency.take(1);
  await expect(concurrency.take(2)).rejects.toMatchObject({ kind: 'unavailable' });
  release();
  (await concurrency.take(2))();
});

test('an account that uses all of its slots does not block other accounts', async () => {
  const concurrency = limitConcurrency(2, 1);
  const release = await concurrency.take(1);
  const second = concurrency.take(1);
  const order: string[] = [];
  void second.then(() => order.push('the same'));
  (await concurrency.take(2))();
  order.push('another');
  release();
  (await second)();
  expect(order).toEqual(['another', 'the same']);
});

test('a client that disconnects while it waits gives its place to the next at once', async () => {
  const concurrency = limitConcurrency(1, 1);
  const release = await concurrency.take(1);
  const gone = new AbortController();
  const left = concurrency.take(2, gone.signal);
  const next = concurrency.take(3);
  gone.abort();
  await expect(left).rejects.toThrow('aborted');
  await expect(concurrency.take(2, gone.signal)).rejects.toThrow('aborted');
  release();
  (await next)();
  (await concurrency.take(2))();
});

test('each account has its own limit of waiting requests, and gets an error at once beyond it', async () => {
  const concurrency = limitConcurrency(2, 1, { queue: 2, full: 'Too many wait.' });
  const release = await concurrency.take(1);
  const waiting = [concurrency.take(1), concurrency.take(1)];
  await expect(concurrency.take(1)).rejects.toMatchObject({ kind: 'unavailable', message: 'Too many wait.' });
  (await concurrency.take(2))();
  release();
  (await waiting[0])?.();
  (await waiting[1])?.();
  (await concurrency.take(1))();
});
