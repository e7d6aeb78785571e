// A process of its own that asks for one address at a steady rate, whatever the answers take, and counts each answer
// from the moment at which its request was due: who has to wait in line is not left out.
// Arguments: address, token, requests a second, and the milliseconds of warming up, which are not counted. It sends that it
// has begun to count. Asked by a number it sends what it has counted since the last time, once there are so many answers, and
// goes on; any other message ends it, after it has sent the rest, at least one.
import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** What is sent: the milliseconds of each answer, and how many were no success. */
export type Counted = { times: number[]; failed: number };

const [address = '', token = '', rate = '', warmUp = ''] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });
let counted: Counted = { times: [], failed: 0 };
const running = new Set<Promise<void>>();
const state = { isEnding: false };
process.on('message', (message) => {
  if (typeof message === 'number') void cut(message);
  else state.isEnding = true;
});
process.once('disconnect', () => process.exit()); // who started us is gone

const begun = performance.now();
const from = begun + Number(warmUp); // the requests before it pay for this process, not for the service
setTimeout(() => process.send?.('counting'), Number(warmUp));
for (let i = 0; !state.isEnding || counted.times.length === 0; i++) {
  const due = begun + (i * 1000) / Number(rate);
  const early = due - performance.now();
  // oxlint-disable-next-line no-await-in-loop -- the rate is the point
  if (early > 0) await sleep(early);
  const one = ask(due);
  running.add(one);
  void one.then(() => running.delete(one));
}
await Promise.all(running);
process.send?.(counted, () => process.exit());

async function cut(atLeast: number): Promise<void> {
  // oxlint-disable-next-line no-await-in-loop -- waiting
  while (counted.times.length < atLeast) await sleep(1);
  process.send?.(counted);
  counted = { times: [], failed: 0 };
}

function ask(due: number): Promise<void> {
  const since = Math.min(due, performance.now()); // a timer may be up to 1 ms early
  return new Promise((resolve) => {
    const done = (isSuccess: boolean) => {
      if (due >= from) counted.times.push(performance.now() - since);
      if (!isSuccess) counted.failed++;
      resolve();
    };
    get(address, { agent, headers: { authorization: token } }, (answer) => {
      answer.resume().once('close', () => done(answer.complete && answer.statusCode === 200));
    }).once('error', () => done(false));
  });
}
