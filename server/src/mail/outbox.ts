// Sends the emails of a queue in the database: in batches, a few at a time, each once. Whatever the mail server says, an email that it
// may have accepted is never sent again: a missing email is better than a duplicate.
import { type Mail, MailDeferred, type Mailer, MailRejected, MailUnknown } from './mail.ts';

/** The number of emails taken at a time. */
const batchSize = 100;

/**
 * What happened to one email. `taken`: the server has it, or rejects it permanently; `deferred`: the server wants this one later;
 * `down`: the server takes no email now; `gone`: it should no longer be sent.
 */
export type Outcome = 'taken' | 'deferred' | 'down' | 'gone';

/** `recorded`: resolves when the outcome is recorded, if the next email need not wait for that. */
export type Sent = { outcome: Outcome; recorded?: Promise<unknown> };

/** A queue of emails. All times are in ms since 1970. */
export type Queue<Due, Outgoing> = {
  /** How many emails are sent at the same time. */
  connections: number;
  /** Takes at most `count` due emails, so that no other process takes them for a while. */
  take(now: number, count: number): Promise<Due[]>;
  /** Returns the emails to send now. Postpones or ends the others. */
  prepare(due: Due[], now: number): Promise<Outgoing[]>;
  /** Sends an email and records the outcome (`deliver`). */
  send(one: Outgoing, now: number): Promise<Sent>;
  /** Postpones emails that were not tried because the mail server is unavailable. */
  putBack(rest: Outgoing[], now: number): Promise<void>;
};

/**
 * Opens the sender of a queue in this process. Returns a function that sends everything due. If a previous call is still sending, it
 * returns at once, and the previous call then also sends what is due by now. `now`: the time at the start of the call. `queueAt`
 * prepares a call and returns the queue, or undefined if there is nothing to send with. If the mail server was unavailable, the next
 * call tries a single email first.
 */
export function openOutbox<Due, Outgoing>(
  queueAt: (now: number) => Promise<Queue<Due, Outgoing> | undefined>,
): (now: number) => Promise<void> {
  let isSending = false;
  let isDown = false;
  let calledAt: number | undefined; // by a call that has not been served
  return async (now) => {
    calledAt = now;
    if (isSending) return;
    isSending = true;
    try {
      while (calledAt !== undefined) {
        const [start, begun] = [calledAt, performance.now()];
        calledAt = undefined;
        const queue = await queueAt(start);
        if (queue) isDown = !(await sendDue(queue, () => start + performance.now() - begun, isDown));
        if (isDown) return;
      }
    } finally {
      isSending = false;
      calledAt = undefined;
    }
  };
}

/**
 * Sends everything that is due. Returns false if the mail server is unavailable. While emails are being sent, the next ones are
 * prepared, so that the mail server does not wait for the database.
 */
async function sendDue<Due, Outgoing>(
  queue: Queue<Due, Outgoing>,
  clock: () => number,
  wasDown: boolean,
): Promise<boolean> {
  let next = takeNext(queue, clock(), wasDown ? 1 : batchSize);
  for (let isFirst = wasDown; ; isFirst = false) {
    const outgoing = await next;
    if (!outgoing) return !isFirst;
    // After an outage, a single email is tried before more are taken.
    next = isFirst ? Promise.resolve([]) : takeNext(queue, clock(), batchSize);
    next.catch(() => {}); // reported where it is awaited
    const left = await sendAll(queue, outgoing, clock());
    if (left) {
      await queue.putBack([...left, ...((await next) ?? [])], clock());
      return false;
    }
    if (isFirst) next = takeNext(queue, clock(), batchSize);
  }
}

/** Takes due emails and returns those to send now, of which there may be none; undefined if nothing was due. */
async function takeNext<Due, Outgoing>(
  queue: Queue<Due, Outgoing>,
  now: number,
  count: number,
): Promise<Outgoing[] | undefined> {
  const due = await queue.take(now, count);
  return due.length === 0 ? undefined : queue.prepare(due, now);
}

/** Sends emails. Returns undefined, or those that were not tried because the mail server is unavailable. */
async function sendAll<Due, Outgoing>(
  queue: Queue<Due, Outgoing>,
  outgoing: Outgoing[],
  now: number,
): Promise<Outgoing[] | undefined> {
  const rest = [...outgoing];
  const recordings: Promise<unknown>[] = [];
  let isDown = false;
  const sendNext = async (): Promise<void> => {
    for (let one = rest.shift(); one !== undefined; one = rest.shift()) {
      const { outcome, recorded } = await queue.send(one, now);
      if (recorded) recordings.push(recorded);
      recorded?.catch(() => {}); // reported below
      // Recipients deferred by the server, for example by greylisting, don't affect the others.
      if (outcome === 'down') isDown = true;
      if (isDown) return;
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: queue.connections }, sendNext));
  for (const one of [...workers, ...(await Promise.allSettled(recordings))])
    if (one.status === 'rejected') throw one.reason;
  return isDown ? rest : undefined;
}

/** What to record for each result. If one of them throws, the email is not sent again. */
export type DeliveryRecords = {
  /**
   * Called when the server has received everything except the end of the email, so it can't have accepted it yet. If it
   * returns false, the email is not sent. If it is missing, the caller has already recorded that sending has begun.
   */
  begin?(): Promise<boolean>;
  sent(): Promise<unknown>;
  refused(reason: string): Promise<void>;
  unknown(reason: string): Promise<void>;
  /** `hasBegun`: `begin` returned true. */
  postponed(until: number, reason: string, hasBegun: boolean): Promise<void>;
};

class Withdrawn extends Error {
  override readonly name = 'Withdrawn';
}

/** Gives an email to the mail server and records the result. If it is not accepted, it is retried with growing delays. */
export async function deliver(
  mailer: Mailer,
  mail: Mail,
  { now, attempts }: { now: number; attempts: number },
  records: DeliveryRecords,
): Promise<Sent> {
  let hasBegun = false;
  const beforeEnd = async () => {
    hasBegun = (await records.begin?.()) ?? false;
    if (!hasBegun) throw new Withdrawn();
  };
  const error = await mailer
    .send({ ...mail, ...(records.begin && { beforeEnd }) })
    .catch((thrown: unknown) => thrown as Error);
  if (!error) return { outcome: 'taken', recorded: records.sent() };
  if (error instanceof Withdrawn) return { outcome: 'gone' };
  if (error instanceof MailRejected) {
    await records.refused(error.message);
    return { outcome: 'taken' };
  }
  if (error instanceof MailUnknown) {
    await records.unknown(error.message);
    return { outcome: 'down' };
  }
  await records.postponed(now + retryDelay(attempts), error.message, hasBegun);
  return { outcome: error instanceof MailDeferred ? 'deferred' : 'down' };
}

/** Returns the delay in ms: one minute, then twice as long each time, up to an hour. */
const retryDelay = (attempts: number) => Math.min(3_600_000, 60_000 * 2 ** attempts);
