// A separate process that submits answers over HTTP, one question at a time like the page, at a steady rate or as fast as possible.
// The floor writes the same rows with plain inserts, without links, checks or HTTP.
// Argument: the database URL. Each message is an order, and the reply is its result.
import { openPool } from '@soundings/server/src/db/db.ts';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

export type SubmissionOrder = {
  address: string;
  links: string[];
  questionIds: number[];
  connections: number;
  seconds: number;
  /** Requests a second. If omitted, each connection sends the next request when the previous one is done. */
  rate?: number;
  isFloor?: boolean;
  /** Whether the week closes during the requests, which can then get 503 (try again) or 404 (the week is over). */
  isClosing?: boolean;
};

/** The milliseconds that each request took (at a steady rate, counted from when it was due) and that all took together. */
export type Submitted = { times: number[]; ms: number; waited: number; refused: number };

const pool = openPool(process.argv[2] ?? '', 10);
let next = 0;

process.on('message', (order: SubmissionOrder) => {
  void carryOut(order)
    .catch((error: unknown) => ({ error: String(error) }))
    .then((given) => process.send?.(given));
});
process.once('disconnect', () => process.exit()); // the parent process has ended
await pool`drop table if exists bench_floor`;
await pool`
  create table bench_floor (account_id integer, week date, question_id integer, respondent bigint, value smallint,
                            choices text[], comment text, skipped boolean,
                            primary key (account_id, week, question_id, respondent))`;
process.send?.('ready');

async function carryOut(order: SubmissionOrder): Promise<Submitted> {
  const agent = new Agent({
    keepAlive: true,
    maxSockets: order.rate === undefined ? order.connections : 100,
  });
  const give = order.isFloor ? insert : (i: number) => post(order, agent, i);
  const times: number[] = [];
  const statuses: number[] = [];
  const start = performance.now();
  const isOver = () => performance.now() - start >= order.seconds * 1000;
  const giveOne = async (due: number) => {
    statuses.push(await give(next++));
    times.push(performance.now() - due);
  };
  try {
    if (order.rate === undefined) {
      const keepGiving = async () => {
        while (!isOver()) await giveOne(performance.now());
      };
      await Promise.all(Array.from({ length: order.connections }, keepGiving));
    } else {
      const running: Promise<void>[] = [];
      for (let i = 0; !isOver(); i++) {
        const due = start + (i * 1000) / order.rate;
        const early = due - performance.now();
        // Waits, because the rate must stay steady.
        if (early > 0) await sleep(early);
        running.push(giveOne(due));
      }
      await Promise.all(running);
    }
    const count = (status: number) => statuses.filter((one) => one === status).length;
    return { times, ms: performance.now() - start, waited: count(503), refused: count(404) + count(429) };
  } finally {
    agent.destroy();
  }
}

/** Submits the next answer: everyone answers the first question, then everyone the second, and so on. */
function post(order: SubmissionOrder, agent: Agent, i: number): Promise<number> {
  const { address, links, questionIds, isClosing } = order;
  const link = links[i % links.length];
  const question = questionIds[Math.floor(i / links.length) % questionIds.length];
  const body = JSON.stringify({ question, value: 1 + (i % 5) });
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      cookie: 'soundings_visit=0123456789ABCDEFGHIJKLMNOPQ', // all from the same browser
    };
    request(`${address}/a/${link}/answers`, { method: 'POST', agent, headers }, (response) => {
      response.resume().once('close', () => {
        const status = response.statusCode ?? 0;
        // All questions are already answered when the week closes (409).
        if (status === 204 || (isClosing && [404, 409, 429, 503].includes(status))) resolve(status);
        else reject(new Error(`Submitting an answer failed with ${response.statusCode}`));
      });
    })
      .once('error', reject)
      .end(body);
  });
}

async function insert(i: number): Promise<number> {
  await pool`
    insert into bench_floor (account_id, week, question_id, respondent, value, choices, comment, skipped)
    values (1, '2026-11-16', ${Math.floor(i / 20_000)}, ${(i * 2_654_435_761) % 2 ** 40}, ${1 + (i % 5)}, null, null, false)
    on conflict do nothing`;
  return 204;
}
