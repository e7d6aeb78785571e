// Sends the messages of a queue in the database over a channel, by email or through a gateway for text messages: in batches, a few at a
// time, each once. Whatever the receiver says, a message that it may have accepted is never sent again: a missing message is better than
// a duplicate.
import { Deferred, Rejected, Throttled, Unconfirmed } from './outcomes.ts';

/** The number of messages taken at a time. */
const batchSize = 100;

/**
 * What happened to one message. `taken`: the receiver has it, or rejects it permanently; `deferred`: the receiver wants this one later;
 * `throttled`: the receiver gets too many in the lane of the message; `down`: the receiver takes no message now; `gone`: it should no
 * longer be sent.
 */
export type Outcome = 'taken' | 'deferred' | 'throttled' | 'down' | 'gone';

/**
 * `recorded`: resolves when the outcome is recorded, if the next message need not wait for that. `waitMs`: for how long the receiver wants
 * no more messages in the lane, if it says so.
 */
export type Sent = { outcome: Outcome; recorded?: Promise<unknown>; waitMs?: number | undefined };

/** A queue of messages. All times are in ms since 1970. */
export type Queue<Due, Outgoing> = {
  /** How many messages are sent at the same time. */
  connections: number;
  /** Takes at most `count` due messages, so that no other process takes them for a while. */
  take(now: number, count: number): Promise<Due[]>;
  /** Returns the messages to send now. Postpones or ends the others. */
  prepare(due: Due[], now: number): Promise<Outgoing[]>;
  /** Sends a message and records the outcome (`deliver`). */
  send(one: Outgoing, now: number): Promise<Sent>;
  /** Returns which messages are paused together if the receiver gets too many: for emails, those to the same domain. */
  laneOf(one: Outgoing): string;
  /** Postpones messages that were not tried. `until`: in ms since 1970. */
  putBack(rest: Outgoing[], until: number): Promise<void>;
};

/**
 * Opens the sender of a queue in this process. Returns a function that sends everything due. If a previous call is still sending, it
 * returns at once, and the previous call then also sends what is due by now. `now`: the time at the start of the call. `queueAt`
 * prepares a call and returns the queue, or undefined if there is nothing to send with. If the receiver was unavailable, the next
 * call tries a single message first.
 */
export function openOutbox<Due, Outgoing>(
  queueAt: (now: number) => Promise<Queue<Due, Outgoing> | undefined>,
): (now: number) => Promise<void> {
  let isSending = false;
  let isDown = false;
  const pauses = new Pauses();
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
        if (queue) isDown = !(await sendDue(queue, () => start + performance.now() - begun, isDown, pauses));
        if (isDown) return;
      }
    } finally {
      isSending = false;
      calledAt = undefined;
    }
  };
}

/**
 * Sends everything that is due. Returns false if the receiver is unavailable. While messages are being sent, the next ones are
 * prepared, so that the receiver does not wait for the database.
 */
async function sendDue<Due, Outgoing>(
  queue: Queue<Due, Outgoing>,
  clock: () => number,
  wasDown: boolean,
  pauses: Pauses,
): Promise<boolean> {
  let next = takeNext(queue, clock(), wasDown ? 1 : batchSize);
  for (let isFirst = wasDown; ; isFirst = false) {
    const outgoing = await next;
    if (!outgoing) return !isFirst;
    // After an outage, a single message is tried before more are taken.
    next = isFirst ? Promise.resolve([]) : takeNext(queue, clock(), batchSize);
    next.catch(() => {}); // reported where it is awaited
    const { left, isDown } = await sendAll(queue, outgoing, clock(), pauses);
    if (isDown) {
      await queue.putBack([...left, ...((await next) ?? [])], clock() + minute);
      return false;
    }
    for (const [until, paused] of Map.groupBy(left, (one) => pauses.until(queue.laneOf(one))))
      await queue.putBack(paused, until);
    if (isFirst) next = takeNext(queue, clock(), batchSize);
  }
}

/** Takes due messages and returns those to send now, of which there may be none; undefined if nothing was due. */
async function takeNext<Due, Outgoing>(
  queue: Queue<Due, Outgoing>,
  now: number,
  count: number,
): Promise<Outgoing[] | undefined> {
  const due = await queue.take(now, count);
  return due.length === 0 ? undefined : queue.prepare(due, now);
}

/** Sends messages. `left`: those that were not tried, because the receiver is unavailable (`isDown`) or their lane is paused. */
async function sendAll<Due, Outgoing>(
  queue: Queue<Due, Outgoing>,
  outgoing: Outgoing[],
  now: number,
  pauses: Pauses,
): Promise<{ left: Outgoing[]; isDown: boolean }> {
  const rest = [...outgoing];
  const paused: Outgoing[] = [];
  const recordings: Promise<unknown>[] = [];
  let isDown = false;
  const sendNext = async (): Promise<void> => {
    for (let one = rest.shift(); one !== undefined; one = rest.shift()) {
      const lane = queue.laneOf(one);
      if (pauses.until(lane) > now) {
        paused.push(one);
        continue;
      }
      const { outcome, recorded, waitMs } = await queue.send(one, now);
      if (recorded) recordings.push(recorded);
      recorded?.catch(() => {}); // reported below
      // Recipients deferred by the receiver, for example by greylisting, don't affect the others.
      if (outcome === 'throttled') pauses.extend(lane, now, waitMs);
      if (outcome === 'taken') pauses.end(lane, now);
      if (outcome === 'down') isDown = true;
      if (isDown) return;
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: queue.connections }, sendNext));
  for (const one of [...workers, ...(await Promise.allSettled(recordings))])
    if (one.status === 'rejected') throw one.reason;
  return { left: [...rest, ...paused], isDown };
}

const minute = 60_000;
/** The longest pause of a lane, in ms, unless the receiver asks for a longer one. */
const longestPause = 16 * minute;

/**
 * The lanes in which nothing is sent for a while, because the receiver gets too many messages in them: one minute, then twice as long each
 * time, until a message in the lane is taken again; longer if the receiver asks for that.
 */
class Pauses {
  readonly #pauses = new Map<string, { until: number; length: number }>();

  /** Returns until when a lane is paused, in ms since 1970, or 0. */
  until(lane: string): number {
    return this.#pauses.get(lane)?.until ?? 0;
  }

  extend(lane: string, now: number, waitMs = 0): void {
    const current = this.#pauses.get(lane);
    // Several messages can be sent in a lane at the same time.
    if (current && current.until > now) {
      current.until = Math.max(current.until, now + waitMs);
      return;
    }
    const length = current ? Math.min(longestPause, 2 * current.length) : minute;
    this.#pauses.set(lane, { until: now + Math.max(length, waitMs), length });
  }

  end(lane: string, now: number): void {
    if (this.until(lane) <= now) this.#pauses.delete(lane);
  }
}

/** What to record for each result. If one of them throws, the message is not sent again. */
export type DeliveryRecords = {
  /**
   * Called when the receiver can't have accepted the message yet, but can from then on. If it returns false, the message is not sent.
   * If it is missing, the caller has already recorded that sending has begun.
   */
  begin?(): Promise<boolean>;
  sent(): Promise<unknown>;
  refused(reason: string): Promise<void>;
  unknown(reason: string): Promise<void>;
  /** `hasBegun`: `begin` returned true. */
  postponed(until: number, reason: string, hasBegun: boolean): Promise<void>;
};

/**
 * Sends a message. Throws an error of outcomes.ts, or another one if the receiver takes no message now. Calls `beforeEnd` when the receiver
 * can't have accepted the message yet, but can from then on; if it rejects, the message is not sent, and the same error is thrown.
 */
export type Send = (beforeEnd?: () => Promise<void>) => Promise<void>;

class Withdrawn extends Error {
  override readonly name = 'Withdrawn';
}

/** Gives a message to the receiver and records the result. If it is not accepted, it is retried with growing delays. */
export async function deliver(
  send: Send,
  { now, attempts }: { now: number; attempts: number },
  records: DeliveryRecords,
): Promise<Sent> {
  let hasBegun = false;
  const beforeEnd = async () => {
    hasBegun = (await records.begin?.()) ?? false;
    if (!hasBegun) throw new Withdrawn();
  };
  const error = await send(records.begin && beforeEnd).then(
    () => undefined,
    (thrown: unknown) => thrown as Error,
  );
  if (!error) return { outcome: 'taken', recorded: records.sent() };
  if (error instanceof Withdrawn) return { outcome: 'gone' };
  if (error instanceof Rejected) {
    await records.refused(error.message);
    return { outcome: 'taken' };
  }
  if (error instanceof Unconfirmed) {
    await records.unknown(error.message);
    return { outcome: 'down' };
  }
  const waitMs = error instanceof Throttled ? error.waitMs : undefined;
  await records.postponed(now + Math.max(retryDelay(attempts), waitMs ?? 0), error.message, hasBegun);
  if (error instanceof Throttled) return { outcome: 'throttled', waitMs };
  return { outcome: error instanceof Deferred ? 'deferred' : 'down' };
}

/** Returns the delay in ms: one minute, then twice as long each time, up to an hour. */
const retryDelay = (attempts: number) => Math.min(3_600_000, 60_000 * 2 ** attempts);
