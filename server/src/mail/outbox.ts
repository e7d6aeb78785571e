// Sends the emails of a queue in the database: in batches, a few at a time, each once. Whatever the mail server says, an email that it
// may have accepted is never sent again: a missing email is better than a duplicate.
import { type Mail, MailDeferred, type Mailer, MailRejected, MailUnknown } from './mail.ts';

/** The number of emails taken at a time, and how many of them are sent in parallel. */
const [batchSize, concurrency] = [100, 4];

/**
 * What happened to one email. `taken`: the server has it, or rejects it permanently; `deferred`: the server wants this one later;
 * `down`: the server takes no email now; `gone`: it should no longer be sent.
 */
export type Outcome = 'taken' | 'deferred' | 'down' | 'gone';

/** A queue of emails. All times are in ms since 1970. */
export type Queue<Due, Outgoing> = {
  /** Takes at most `count` due emails, so that no other process takes them for a while. */
  take(now: number, count: number): Promise<Due[]>;
  /** Returns the emails to send now. Postpones or ends the others. */
  prepare(due: Due[], now: number): Promise<Outgoing[]>;
  /** Sends an email and records the outcome (`deliver`). */
  send(one: Outgoing, now: number): Promise<Outcome>;
  /** Postpones emails that were not tried because the mail server is unavailable. */
  putBack(rest: Outgoing[], now: number): Promise<void>;
};

/**
 * Opens the sender of a queue in this process. Returns a function that sends everything due, and does nothing while a previous call
 * is still sending. `now`: the time at the start of the call. `queueAt` prepares a call and returns the queue, or undefined if there
 * is nothing to send with. If the mail server was unavailable, the next call tries a single email first.
 */
export function openOutbox<Due, Outgoing>(
  queueAt: (now: number) => Promise<Queue<Due, Outgoing> | undefined>,
): (now: number) => Promise<void> {
  let isSending = false;
  let isDown = false;
  return async (now) => {
    if (isSending) return;
    isSending = true;
    const begun = performance.now();
    try {
      const queue = await queueAt(now);
      if (queue) isDown = !(await sendDue(queue, () => now + performance.now() - begun, isDown));
    } finally {
      isSending = false;
    }
  };
}

/** Sends everything that is due. Returns false if the mail server is unavailable. */
async function sendDue<Due, Outgoing>(
  queue: Queue<Due, Outgoing>,
  clock: () => number,
  wasDown: boolean,
): Promise<boolean> {
  for (let count = wasDown ? 1 : batchSize; ; count = batchSize) {
    const now = clock();
    const due = await queue.take(now, count);
    if (due.length === 0) return !wasDown || count > 1;
    if (!(await sendBatch(queue, due, now))) return false;
  }
}

/** Sends what can be sent now. Returns false if the mail server is unavailable. */
async function sendBatch<Due, Outgoing>(
  queue: Queue<Due, Outgoing>,
  due: Due[],
  now: number,
): Promise<boolean> {
  const outgoing = await queue.prepare(due, now);
  const rest: Outgoing[] = [];
  const outcomes = { taken: 0, deferred: 0, down: 0, gone: 0 };
  const sendNext = async (): Promise<void> => {
    for (let one = outgoing.shift(); one !== undefined; one = outgoing.shift()) {
      if (outcomes.down > 0) rest.push(one);
      else outcomes[await queue.send(one, now)]++;
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: concurrency }, sendNext));
  for (const worker of workers) if (worker.status === 'rejected') throw worker.reason;
  await queue.putBack(rest, now);
  // Recipients deferred by the server, for example by greylisting, don't affect the others.
  return outcomes.down === 0;
}

/** What to record for each result. If one of them throws, the email is not sent again. */
export type DeliveryRecords = {
  sent(): Promise<void>;
  refused(reason: string): Promise<void>;
  unknown(reason: string): Promise<void>;
  postponed(until: number, reason: string): Promise<void>;
};

/** Gives an email to the mail server and records the result. If it is not accepted, it is retried with growing delays. */
export async function deliver(
  mailer: Mailer,
  mail: Mail,
  { now, attempts }: { now: number; attempts: number },
  records: DeliveryRecords,
): Promise<Outcome> {
  const error = await mailer.send(mail).catch((thrown: unknown) => thrown as Error);
  if (!error) {
    await records.sent();
    return 'taken';
  }
  if (error instanceof MailRejected) {
    await records.refused(error.message);
    return 'taken';
  }
  if (error instanceof MailUnknown) {
    await records.unknown(error.message);
    return 'down';
  }
  await records.postponed(now + retryDelay(attempts), error.message);
  return error instanceof MailDeferred ? 'deferred' : 'down';
}

/** Returns the delay in ms: one minute, then twice as long each time, up to an hour. */
const retryDelay = (attempts: number) => Math.min(3_600_000, 60_000 * 2 ** attempts);
