// The sender of a queue: everything that is due when it is called is sent once, even if it is still sending because of another call.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openOutbox, type Outcome } from './outbox.ts';

/** A queue in memory. `send` says what happens to an email. Other code runs at each step of the queue. */
function queueOf(send: (email: number) => Outcome) {
  const due: number[] = [];
  const sent: number[] = [];
  const step = () => new Promise<void>((resolve) => setImmediate(resolve));
  const queue = {
    connections: 2,
    take: async (_: number, count: number) => (await step(), due.splice(0, count)),
    prepare: async (emails: number[]) => (await step(), emails),
    send: async (email: number) => {
      await step();
      const outcome = send(email);
      if (outcome === 'taken') sent.push(email);
      else due.push(email);
      return { outcome };
    },
    putBack: async (rest: number[]) => void due.push(...rest),
  };
  return { due, sent, step, queue };
}

describe('a sender', () => {
  test('sends everything that is due at a call, once, in any order of calls and emails', async () => {
    const events = fc.array(
      fc.oneof(fc.constant('call' as const), fc.constant('step' as const), fc.integer({ min: 1, max: 150 })),
      { maxLength: 30 },
    );
    await fc.assert(
      fc.asyncProperty(events, async (order) => {
        const { due, sent, step, queue } = queueOf(() => 'taken');
        const call = openOutbox(() => Promise.resolve(queue));
        const calls: Promise<void>[] = [];
        let [count, expected] = [0, 0];
        for (const event of order) {
          if (event === 'step') await step();
          else if (event === 'call') {
            calls.push(call(0));
            expected = count;
          } else for (let i = 0; i < event; i++) due.push(count++);
        }
        await Promise.all(calls);
        expect(new Set(sent).size).toBe(sent.length);
        for (let email = 0; email < expected; email++) expect(sent).toContain(email);
      }),
      { numRuns: 100 },
    );
  });

  test('stops when the server is unavailable, even if it was called meanwhile, and the next call tries one email', async () => {
    let isDown = true;
    const tried: number[] = [];
    const { due, sent, queue } = queueOf((email) => (tried.push(email), isDown ? 'down' : 'taken'));
    const call = openOutbox(() => Promise.resolve(queue));
    due.push(1, 2, 3, 4, 5);
    await Promise.all([call(0), call(0), call(0)]);
    expect(tried).toHaveLength(2); // one for each connection
    await Promise.all([call(0), call(0)]);
    expect(tried).toHaveLength(3);
    isDown = false;
    await call(0);
    expect(sent.toSorted()).toEqual([1, 2, 3, 4, 5]);
  });

  test('works again after an error', async () => {
    let isBroken = true;
    const { due, sent, queue } = queueOf(() => 'taken');
    const call = openOutbox(() =>
      isBroken ? Promise.reject(new Error('No database.')) : Promise.resolve(queue),
    );
    due.push(1);
    await expect(call(0)).rejects.toThrow('No database.');
    isBroken = false;
    await call(0);
    expect(sent).toEqual([1]);
  });
});
