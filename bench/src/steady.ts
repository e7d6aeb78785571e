// A process of its own that asks for one address at a steady rate, whatever the answers take, and counts each answer
// from the moment at which its request was due: who has to wait in line is not left out.
// Arguments: address, token, requests a second. Asked by 'cut' it sends what it has counted since the last time, and goes
// on; any other message ends it, after it has sent the rest.
import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** What is sent: the milliseconds of each answer, and how many were no success. */
export type Counted = { times: number[]; failed: number };

const [address = '', token = '', rate = ''] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });
const warmUp = 1000; // ms: the first requests pay for this process, not for the service
let counted: Counted = { times: [], failed: 0 };
const running = new Set<Promise<void>>();
const state = { isEnding: false };
process.on('message', (message) => {
  if (message !== 'cut') return void (state.isEnding = true);
  process.send?.(counted);
  counted = { times: [], failed: 0 };
});
process.once('disconnect', () => process.exit()); // who started us is gone

const begun = performance.now();
for (let i = 0; !state.isEnding; i++) {
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

function ask(due: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (isSuccess: boolean) => {
      if (due - begun >= warmUp) counted.times.push(performance.now() - due);
      if (!isSuccess) counted.failed++;
      resolve();
    };
    get(address, { agent, headers: { authorization: token } }, (answer) => {
      answer.resume().once('close', () => done(answer.complete && answer.statusCode === 200));
    }).once('error', () => done(false));
  });
}
