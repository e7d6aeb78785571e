// A process of its own that gives answers over HTTP, one question at a time as the page does, at a steady rate or as fast
// as they are taken; or writes the same rows by plain inserts, which is the floor: no link, no check, no HTTP.
// Argument: the address of the database. Each message is an order; what it sends back is what came of it.
import { openPool } from '@soundings/server/src/db/db.ts';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

export type GivingOrder = {
  address: string;
  links: string[];
  questionIds: number[];
  connections: number;
  seconds: number;
  /** Requests a second; without it, on each connection the next follows when one is answered. */
  rate?: number;
  isFloor?: boolean;
  /** The week closes meanwhile: answers may be told to wait (503), or that it is over (404). */
  isClosing?: boolean;
};

/** The milliseconds of each answer, at a steady rate from the moment at which it was due; and those of all. */
export type Given = { times: number[]; ms: number; waited: number; refused: number };

const pool = openPool(process.argv[2] ?? '', 10);
let next = 0;

process.on('message', (order: GivingOrder) => {
  void carryOut(order)
    .catch((error: unknown) => ({ error: String(error) }))
    .then((given) => process.send?.(given));
});
process.once('disconnect', () => process.exit()); // who started us is gone
await pool`drop table if exists bench_floor`;
await pool`
  create table bench_floor (account_id integer, week date, question_id integer, respondent bigint, value smallint,
                            choices text[], comment text, skipped boolean,
                            primary key (account_id, week, question_id, respondent))`;
process.send?.('ready');

async function carryOut(order: GivingOrder): Promise<Given> {
  const agent = new Agent({
    keepAlive: true,
    maxSockets: order.rate === undefined ? order.connections : 100,
  });
  const give = order.isFloor ? insert : (i: number) => post(order, agent, i);
  const times: number[] = [];
  const statuses: number[] = [];
  const begun = performance.now();
  const isOver = () => performance.now() - begun >= order.seconds * 1000;
  const giveOne = async (due: number) => {
    statuses.push(await give(next++));
    times.push(performance.now() - due);
  };
  try {
    if (order.rate === undefined) {
      const keepGiving = async () => {
        // oxlint-disable-next-line no-await-in-loop -- one after another on each connection
        while (!isOver()) await giveOne(performance.now());
      };
      await Promise.all(Array.from({ length: order.connections }, keepGiving));
    } else {
      const running: Promise<void>[] = [];
      for (let i = 0; !isOver(); i++) {
        const due = begun + (i * 1000) / order.rate;
        const early = due - performance.now();
        // oxlint-disable-next-line no-await-in-loop -- the rate is the point
        if (early > 0) await sleep(early);
        running.push(giveOne(due));
      }
      await Promise.all(running);
    }
    const count = (status: number) => statuses.filter((one) => one === status).length;
    return { times, ms: performance.now() - begun, waited: count(503), refused: count(404) + count(429) };
  } finally {
    agent.destroy();
  }
}

/** A person after another answers the first question, then the second, and so on. */
function post(order: GivingOrder, agent: Agent, i: number): Promise<number> {
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
    request(`${address}/a/${link}/answers`, { method: 'POST', agent, headers }, (answer) => {
      answer.resume().once('close', () => {
        const status = answer.statusCode ?? 0;
        // Everything is answered when it closes (409).
        if (status === 204 || (isClosing && [404, 409, 429, 503].includes(status))) resolve(status);
        else reject(new Error(`An answer was answered by ${answer.statusCode}`));
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
