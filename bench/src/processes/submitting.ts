// A separate process that submits answers over HTTP, one question at a time like the page, at a steady rate or as fast as possible.
// The floor writes the same rows with plain inserts, without links, checks or HTTP.
// Argument: the database URL. Each message is an order, and the reply is its result.
import { openPool } from '@soundings/server/src/db/db.ts';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSocket, requestOn } from '../measuring/bare-http.ts';
import { insertPlainly, openPlainTable } from '../measuring/plain-answers.ts';

export type SubmissionOrder = {
  address: string;
  links: string[];
  questionIds: number[];
  connections: number;
  seconds: number;
  /** Requests a second. If omitted, each connection sends the next request when the previous one is done. */
  rate?: number;
  isFloor?: boolean;
  /** Sends answers as items of Directus with this token, instead of to the links. */
  itemToken?: string;
  /** Whether the week closes during the requests, which can then get 503 (try again) or 404 (the week is over). */
  isClosing?: boolean;
};

/**
 * The milliseconds that each request took (at a steady rate, counted from when it was due) and that all took together, and the processor
 * time of this process.
 */
export type Submitted = { times: number[]; ms: number; waited: number; refused: number; processor: number };

const pool = openPool(process.argv[2] ?? '', 10);
let next = 0;

process.on('message', (order: SubmissionOrder) => {
  void carryOut(order)
    .catch((error: unknown) => ({ error: String(error) }))
    .then((given) => process.send?.(given));
});
process.once('disconnect', () => process.exit()); // the parent process has ended
await openPlainTable(pool);
process.send?.('ready');

async function carryOut(order: SubmissionOrder): Promise<Submitted> {
  const sockets = openSockets(order.address);
  const give = order.isFloor
    ? (i: number) => insertPlainly(pool, i)
    : (i: number) => sockets.use((socket) => post(order, socket, i));
  const times: number[] = [];
  const statuses: number[] = [];
  const start = performance.now();
  const before = process.cpuUsage();
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
    const { user, system } = process.cpuUsage(before);
    return {
      times,
      ms: performance.now() - start,
      waited: count(503),
      refused: count(404) + count(429),
      processor: (user + system) / 1000,
    };
  } finally {
    sockets.close();
  }
}

/** How many requests can run at a time. Others wait, and their waiting counts. */
const maxSockets = 100;

/** Connections that are used again. There are as many as requests that ran at the same time. */
function openSockets(address: string) {
  const all: Promise<Socket>[] = [];
  const idle: Socket[] = [];
  const waiting: ((socket: Socket) => void)[] = [];

  function take(): Promise<Socket> {
    const socket = idle.pop();
    if (socket) return Promise.resolve(socket);
    if (all.length === maxSockets) return new Promise((resolve) => waiting.push(resolve));
    const opening = openSocket(address);
    all.push(opening);
    return opening;
  }

  return {
    async use<T>(work: (socket: Socket) => Promise<T>): Promise<T> {
      const socket = await take();
      const done = await work(socket);
      const give = waiting.shift();
      if (give) give(socket);
      else idle.push(socket);
      return done;
    },
    close: () =>
      all.forEach(
        (opening) =>
          void opening.then(
            (socket) => socket.destroy(),
            () => {},
          ),
      ),
  };
}

/** Submits the next answer: everyone answers the first question, then everyone the second, and so on. */
async function post(order: SubmissionOrder, socket: Socket, i: number): Promise<number> {
  const { address, links, questionIds, isClosing } = order;
  const link = links[i % links.length] as string;
  const question = questionIds[Math.floor(i / links.length) % questionIds.length] as number;
  const { path, credentials, body } = requestOf(order, { link, question, value: 1 + (i % 5) });
  const lines = [
    `POST ${path} HTTP/1.1`,
    `host: ${new URL(address).host}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    credentials,
  ];
  const { status } = await requestOn(socket, `${lines.join('\r\n')}\r\n\r\n${body}`);
  const isGiven = status === 204 || (order.itemToken !== undefined && status === 200);
  // All questions are already answered when the week closes (409).
  if (isGiven || (isClosing && [404, 409, 429, 503].includes(status))) return status;
  throw new Error(`Submitting an answer failed with ${status}`);
}

function requestOf(
  { itemToken }: SubmissionOrder,
  answer: { link: string; question: number; value: number },
) {
  const { link, ...given } = answer;
  if (itemToken === undefined) {
    const credentials = 'cookie: soundings_visit=0123456789ABCDEFGHIJKLMNOPQ'; // all from the same browser
    return { path: `/a/${link}/answers`, credentials, body: JSON.stringify(given) };
  }
  const item = { id: `${link} ${given.question}`, ...answer };
  return {
    path: '/items/answers?fields=id',
    credentials: `authorization: Bearer ${itemToken}`,
    body: JSON.stringify(item),
  };
}
