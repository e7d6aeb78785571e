// The sender of a queue: everything that is due when it is called is sent once, even if it is still sending because of another call.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { deliver, openOutbox, type Outcome } from './outbox.ts';
import { cases } from '../testing/house/cases.ts';

/** A queue in memory. `send` says what happens to an email. Other code runs at each step of the queue. */
function queueOf(send: (email: number) => Outcome) {
  const due: number[] = [];
  const sent: number[] = [];
  const putBack: { email: number; until: number }[] = [];
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
    laneOf: (email: number) => (email % 2 === 0 ? 'even' : 'odd'),
    putBack: async (rest: number[], until: number) =>
      void putBack.push(...rest.map((email) => ({ email, until }))),
  };
  return { due, sent, putBack, step, queue };
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
      cases(100),
    );
  });

  test('stops when the server is unavailable, even if it was called meanwhile, and the next call tries one email', async () => {
    let isDown = true;
    const tried: number[] = [];
    const { due, sent, queue } = queueOf((email) => (tried.push(email), isDown ? 'down' : 'taken'));
    const putBack = async (rest: number[]) => void due.push(...rest);
    const call = openOutbox(() => Promise.resolve({ ...queue, putBack }));
    due.push(1, 2, 3, 4, 5);
    await Promise.all([call(0), call(0), call(0)]);
    expect(tried).toHaveLength(2); // one for each connection
    await Promise.all([call(0), call(0)]);
    expect(tried).toHaveLength(3);
    isDown = false;
    await call(0);
    expect(sent.toSorted()).toEqual([1, 2, 3, 4, 5]);
  });

  test('sends to all others while the receiver is slow with one, and takes no more than it can send soon', async () => {
    const { due, sent, step, queue } = queueOf(() => 'taken');
    const slow = Promise.withResolvers<void>();
    let [taken, most] = [0, 0];
    const take = async (now: number, count: number) => {
      const some = await queue.take(now, count);
      taken += some.length;
      most = Math.max(most, taken - sent.length);
      return some;
    };
    const send = async (email: number) => {
      if (email === 0) await slow.promise;
      return queue.send(email);
    };
    const call = openOutbox(() => Promise.resolve({ ...queue, take, send }));
    due.push(...Array.from({ length: 450 }, (_, i) => i));
    const calling = call(0);
    while (sent.length < 449) await step();
    expect(most).toBeLessThanOrEqual(201);
    slow.resolve();
    await calling;
    expect(sent.at(-1)).toBe(0);
  });

  test('stops if an outcome can’t be recorded, and reports the error', async () => {
    const { due, sent, queue } = queueOf(() => 'taken');
    const send = async (email: number) => {
      const result = await queue.send(email);
      return email === 5 ? { ...result, recorded: Promise.reject(new Error('No database.')) } : result;
    };
    const call = openOutbox(() => Promise.resolve({ ...queue, send }));
    due.push(...Array.from({ length: 300 }, (_, i) => i));
    await expect(call(0)).rejects.toThrow('No database.');
    expect(sent.length).toBeLessThan(12);
    await call(0);
    expect(new Set(sent).size).toBe(sent.length);
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

  test('pauses only the lane in which the receiver gets too many, longer each time, until it takes one again', async () => {
    let isThrottling = true;
    const { due, sent, putBack, queue } = queueOf((email) =>
      email % 2 === 1 && isThrottling ? 'throttled' : 'taken',
    );
    // Throttled emails are postponed by their own record.
    const send = async (email: number) => {
      const result = await queue.send(email);
      if (result.outcome === 'throttled') due.splice(due.indexOf(email), 1);
      return result;
    };
    const call = openOutbox(() => Promise.resolve({ ...queue, send }));
    const all = Array.from({ length: 40 }, (_, i) => i);
    due.push(...all);
    await call(0);
    expect(sent.toSorted((a, b) => a - b)).toEqual(all.filter((i) => i % 2 === 0));
    const minutes = () => putBack.splice(0).map(({ until }) => Math.round(until / 60_000));
    // Two were tried at the same time at most.
    const first = minutes();
    expect(first.length).toBeGreaterThanOrEqual(18);
    expect(new Set(first)).toEqual(new Set([1]));
    // Still paused.
    due.push(101, 103);
    await call(30_000);
    expect(minutes()).toEqual([1, 1]);
    for (const [now, until] of [
      [2, 4],
      [5, 9],
      [10, 18],
      [20, 36],
      [40, 56], // at most 16 minutes
    ] as const) {
      due.push(201, 203, 205, 207, 209);
      await call(now * 60_000);
      expect(new Set(minutes())).toEqual(new Set([until]));
    }
    isThrottling = false;
    due.push(301, 303, 305);
    await call(60 * 60_000);
    expect(sent).toEqual(expect.arrayContaining([301, 303, 305]));
    isThrottling = true;
    due.push(401, 403, 405, 407, 409);
    await call(61 * 60_000);
    expect(new Set(minutes())).toEqual(new Set([62]));
  });

  test('pauses a lane for as long as the receiver asks, even if it asks while the lane is paused', async () => {
    const waits = [90, 3600, 5].map((seconds) => seconds * 1000);
    const { due, putBack, queue } = queueOf(() => 'throttled');
    const send = async (message: number) => {
      due.splice(due.indexOf(message), 1);
      return { outcome: 'throttled' as const, waitMs: waits.shift() };
    };
    const call = openOutbox(() => Promise.resolve({ ...queue, laneOf: () => 'all', send }));
    due.push(1, 2, 3, 4);
    await call(0);
    // Two were tried at the same time: the longer wait counts.
    expect(putBack.splice(0).map(({ until }) => Math.round(until / 1000))).toEqual([3600, 3600]);
    due.push(5, 6, 7);
    await call(3_601_000);
    // Shorter than our own pause, which has doubled.
    expect(putBack.map(({ until }) => Math.round((until - 3_601_000) / 1000))).toEqual([120]);
  });
});

test('a message whose connection ends while it is being recorded that sending begins is sent again, and not left as being sent', async () => {
  const begun = Promise.withResolvers<boolean>();
  const postponed: boolean[] = [];
  const send = async (beforeEnd?: () => Promise<void>) => {
    void beforeEnd?.();
    throw new Error('The connection was closed.');
  };
  const never = () => Promise.reject(new Error('Not expected.'));
  const sending = deliver(
    send,
    { now: 0, attempts: 0 },
    {
      begin: () => begun.promise,
      sent: never,
      refused: never,
      unknown: never,
      postponed: async (_until, _reason, hasBegun) => void postponed.push(hasBegun),
    },
  );
  begun.resolve(true);
  expect(await sending).toMatchObject({ outcome: 'down' });
  expect(postponed).toEqual([true]);
});
