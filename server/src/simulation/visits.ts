// Visits the answering pages of many people at the same time, over HTTP, like browsers without JavaScript.
import { Agent, request } from 'node:http';
import { randomText } from '../base/crypto/secrets.ts';
import type { Said, SimulatedVisit } from './script.ts';

/** The maximum number of visitors at the same time. */
const concurrency = 12;

/** A person's answering page, by the address of their personal link, and their visits. */
export type Visitor = { page: string; visits: SimulatedVisit[] };

/**
 * Makes all visits, those of one person one after another. Returns for each person whether all answers were saved: false if the link
 * was invalid, for example because the person has been removed.
 */
export async function visitAll(visitors: Visitor[]): Promise<boolean[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
  const kept = visitors.map(() => true);
  const queue = visitors.keys();
  const visitNext = async (): Promise<void> => {
    // All share one queue.
    for (const i of queue) {
      const { page, visits } = visitors[i] as Visitor;
      kept[i] = await makeVisits(agent, page, visits);
    }
  };
  try {
    await Promise.all(Array.from({ length: concurrency }, visitNext));
  } finally {
    agent.destroy();
  }
  return kept;
}

async function makeVisits(agent: Agent, page: string, visits: SimulatedVisit[]): Promise<boolean> {
  const cookie = `soundings_visit=${randomText(27)}`; // all from the same browser
  for (const { isReading, answers } of visits) {
    if (isReading && !isOpen(await send(agent, 'GET', page, cookie), 200)) return false;
    if (!isOpen(await send(agent, 'POST', page, cookie, formOf(answers)), 303)) return false;
  }
  return true;
}

/** Returns whether the page is open. An invalid link gives 404, or 429 after many attempts. */
function isOpen(status: number, expected: number): boolean {
  if (status === expected) return true;
  if (status === 404 || status === 429) return false;
  throw new Error(`The answering page responded with status ${status}, not ${expected}.`);
}

/** Returns what a browser sends for the form. */
function formOf(answers: Said[]): string {
  const form = new URLSearchParams();
  for (const { questionId: id, value, comment, skipped, notApplicable } of answers) {
    if (skipped) form.append(`s${id}`, '1');
    if (notApplicable !== undefined) form.append(`q${id}`, notApplicable);
    for (const one of value === undefined ? [] : [value].flat()) {
      form.append(`q${id}`, typeof one === 'boolean' ? (one ? 'yes' : 'no') : String(one));
    }
    if (comment !== undefined) form.append(`c${id}`, comment);
  }
  return form.toString();
}

/** Returns the status of the response and discards its body. Does not use fetch, which takes twice as long. */
function send(agent: Agent, method: 'GET' | 'POST', url: string, cookie: string, body = ''): Promise<number> {
  const form = {
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': Buffer.byteLength(body),
  };
  return new Promise((resolve, reject) => {
    // Wrapped, because its error code alone would make it look like a database error.
    const fail = (cause: Error) => reject(new Error('The answering page cannot be reached.', { cause }));
    const sending = request(
      url,
      { agent, method, headers: { cookie, ...(method === 'POST' && form) } },
      (response) => {
        response.once('error', fail);
        response.once('end', () => resolve(response.statusCode as number));
        response.resume();
      },
    );
    sending.once('error', fail);
    sending.end(method === 'POST' ? body : undefined);
  });
}
