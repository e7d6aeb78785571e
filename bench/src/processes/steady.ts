// A separate process that sends requests to one address at a steady rate, however long responses take. Each time is counted from
// when the request was due, so time spent waiting in a queue is included. Arguments: address, token, requests a second, and warm-up
// milliseconds, which are not counted. It sends a message when it begins to count. When it receives a number as a message, it
// replies with what it has counted since the last message, as soon as there are that many responses. To any other message it
// replies with the remaining responses, at least one, and ends.
import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** The milliseconds that each response took, and how many requests failed. */
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
process.once('disconnect', () => process.exit()); // the parent process has ended

const start = performance.now();
const from = start + Number(warmUp); // earlier requests measure the start of this process, not the service
setTimeout(() => process.send?.('counting'), Number(warmUp));
for (let i = 0; !state.isEnding || counted.times.length === 0; i++) {
  const due = start + (i * 1000) / Number(rate);
  const early = due - performance.now();
  // Waits, because the rate must stay steady.
  if (early > 0) await sleep(early);
  const one = sendRequest(due);
  running.add(one);
  void one.then(() => running.delete(one));
}
await Promise.all(running);
process.send?.(counted, () => process.exit());

async function cut(atLeast: number): Promise<void> {
  while (counted.times.length < atLeast) await sleep(1);
  process.send?.(counted);
  counted = { times: [], failed: 0 };
}

function sendRequest(due: number): Promise<void> {
  const since = Math.min(due, performance.now()); // a timer may be up to 1 ms early
  return new Promise((resolve) => {
    const done = (isSuccess: boolean) => {
      if (due >= from) counted.times.push(performance.now() - since);
      if (!isSuccess) counted.failed++;
      resolve();
    };
    get(address, { agent, headers: { authorization: token } }, (response) => {
      response.resume().once('close', () => done(response.complete && response.statusCode === 200));
    }).once('error', () => done(false));
  });
}
