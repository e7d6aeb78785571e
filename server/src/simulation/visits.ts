// People come to their pages and send them, over HTTP and as browsers without JavaScript do, many at the same time.
import { Agent, request } from 'node:http';
import { randomText } from '../base/secrets.ts';
import type { Said, Visit } from './script.ts';

/** So many come at once. */
const atOnce = 12;

/** Somebody's page, by the address of the personal link, and how the person comes to it. */
export type Visitor = { page: string; visits: Visit[] };

/**
 * Lets all come, each visit of a person after the one before. Returns for each whether everything sent was kept: false
 * where the link opened nothing, because the person was removed meanwhile, say.
 */
export async function visitAll(visitors: Visitor[]): Promise<boolean[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  const kept = visitors.map(() => true);
  const queue = visitors.keys();
  const comeNext = async (): Promise<void> => {
    // All take from the one queue.
    for (const i of queue) {
      const { page, visits } = visitors[i] as Visitor;
      // oxlint-disable-next-line no-await-in-loop -- one after another
      kept[i] = await comeTo(agent, page, visits);
    }
  };
  try {
    await Promise.all(Array.from({ length: atOnce }, comeNext));
  } finally {
    agent.destroy();
  }
  return kept;
}

async function comeTo(agent: Agent, page: string, visits: Visit[]): Promise<boolean> {
  const cookie = `soundings_visit=${randomText(27)}`; // all from the same browser
  for (const { isReading, answers } of visits) {
    // oxlint-disable-next-line no-await-in-loop -- one after another
    if (isReading && !isOpen(await ask(agent, 'GET', page, cookie), 200)) return false;
    // oxlint-disable-next-line no-await-in-loop -- one after another
    if (!isOpen(await ask(agent, 'POST', page, cookie, formOf(answers)), 303)) return false;
  }
  return true;
}

/** A link that opens nothing is 404, and 429 when there were many. */
function isOpen(status: number, expected: number): boolean {
  if (status === expected) return true;
  if (status === 404 || status === 429) return false;
  throw new Error(`The answering page has answered ${status}, not ${expected}.`);
}

/** What a browser sends of the form. */
function formOf(answers: Said[]): string {
  const form = new URLSearchParams();
  for (const { questionId: id, value, comment, skipped } of answers) {
    if (skipped) form.append(`s${id}`, '1');
    for (const one of value === undefined ? [] : [value].flat()) {
      form.append(`q${id}`, typeof one === 'boolean' ? (one ? 'yes' : 'no') : String(one));
    }
    if (comment !== undefined) form.append(`c${id}`, comment);
  }
  return form.toString();
}

/** The status of the answer; its body is read and thrown away. Not fetch: it takes twice as long. */
function ask(agent: Agent, method: 'GET' | 'POST', url: string, cookie: string, body = ''): Promise<number> {
  const form = {
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': Buffer.byteLength(body),
  };
  return new Promise((resolve, reject) => {
    // Not as it is: by its code it would be taken for one of the database.
    const fail = (cause: Error) => reject(new Error('The answering page cannot be reached.', { cause }));
    const asking = request(
      url,
      { agent, method, headers: { cookie, ...(method === 'POST' && form) } },
      (answer) => {
        answer.once('error', fail);
        answer.once('end', () => resolve(answer.statusCode as number));
        answer.resume();
      },
    );
    asking.once('error', fail);
    asking.end(method === 'POST' ? body : undefined);
  });
}
