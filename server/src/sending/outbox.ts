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
 * `recorded`: resolves when the outcome is recorded, if the next message need not wait for that. `waitMs`: how long the receiver wants
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
 * returns immediately, and the previous call then also sends what is due by now. `now`: the time at the start of the call. `queueAt`
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

/** Sends everything that is due. Returns false if the receiver is unavailable. After an outage, a single message is tried before more are taken. */
async function sendDue<Due, Outgoing>(
  queue: Queue<Due, Outgoing>,
  clock: () => number,
  wasDown: boolean,
  pauses: Pauses,
): Promise<boolean> {
  if (wasDown) {
    const first = await takeNext(queue, clock(), 1);
    if (!first || !(await new Sending(queue, clock, pauses).sendAll(first))) return false;
  }
  return new Sending(queue, clock, pauses).sendAll();
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

/**
 * One call of the sender. Each connection gets the next message as soon as it is free: while messages are sent, the next ones are taken
 * and prepared, and what happened to the previous ones is recorded.
 */
class Sending<Due, Outgoing> {
  readonly #queue: Queue<Due, Outgoing>;
  readonly #clock: () => number;
  readonly #pauses: Pauses;
  /** Taken and prepared, but not tried. */
  #ready: Outgoing[] = [];
  /** The messages that follow `#ready`; undefined if there are none, or while they are being added to it. */
  #next: Promise<Outgoing[] | undefined> | undefined;
  #refilling: Promise<void> | undefined;
  /** Not tried, because their lane is paused. */
  #paused: Outgoing[] = [];
  /** Outcomes that are being recorded. */
  readonly #recordings = new Set<Promise<unknown>>();
  #isDown = false;
  #failure: { error: unknown } | undefined;

  constructor(queue: Queue<Due, Outgoing>, clock: () => number, pauses: Pauses) {
    this.#queue = queue;
    this.#clock = clock;
    this.#pauses = pauses;
  }

  /** Sends `only` these messages, or all that are due. Returns false if the receiver is unavailable. */
  async sendAll(only?: Outgoing[]): Promise<boolean> {
    if (only) this.#ready = only;
    else this.#take();
    await Promise.all(
      Array.from({ length: this.#queue.connections }, () =>
        this.#sendNext().catch((error: unknown) => this.#fail(error)),
      ),
    );
    await Promise.all(this.#recordings);
    if (this.#failure) throw this.#failure.error;
    if (this.#isDown) {
      const rest = [...this.#ready, ...this.#paused, ...((await this.#next) ?? [])];
      await this.#queue.putBack(rest, this.#clock() + minute);
    } else await this.#putBackPaused();
    return !this.#isDown;
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
  }

  /** Sends messages over one connection until there are no more, the receiver is unavailable or something fails. */
  async #sendNext(): Promise<void> {
    for (let one = await this.#one(); one !== undefined; one = await this.#one()) {
      const lane = this.#queue.laneOf(one);
      const now = this.#clock();
      if (this.#pauses.until(lane) > now) {
        this.#paused.push(one);
        continue;
      }
      const { outcome, recorded, waitMs } = await this.#queue.send(one, now);
      if (recorded) this.#follow(recorded);
      // Recipients deferred by the receiver, for example by greylisting, don't affect the others.
      if (outcome === 'throttled') this.#pauses.extend(lane, now, waitMs);
      if (outcome === 'taken') this.#pauses.end(lane, now);
      if (outcome === 'down') this.#isDown = true;
    }
  }

  async #one(): Promise<Outgoing | undefined> {
    while (!this.#isDown && !this.#failure) {
      const one = this.#ready.shift();
      if (one !== undefined) return one;
      if (!this.#next && !this.#refilling) return undefined;
      await (this.#refilling ??= this.#refill());
    }
    return undefined;
  }

  #take(): void {
    this.#next = takeNext(this.#queue, this.#clock(), batchSize);
    this.#next.catch(() => {}); // reported where it is awaited
  }

  async #refill(): Promise<void> {
    try {
      await this.#putBackPaused();
      // Otherwise a slow database would leave the outcome of ever more messages unrecorded.
      while (this.#recordings.size > batchSize) await Promise.race(this.#recordings);
      const taken = await this.#next;
      this.#next = undefined;
      if (!taken) return;
      this.#ready = taken;
      if (!this.#isDown) this.#take();
    } finally {
      this.#refilling = undefined;
    }
  }

  async #putBackPaused(): Promise<void> {
    const paused = this.#paused.splice(0);
    for (const [until, some] of Map.groupBy(paused, (one) => this.#pauses.until(this.#queue.laneOf(one))))
      await this.#queue.putBack(some, until);
  }

  #follow(recorded: Promise<unknown>): void {
    const followed = recorded
      .catch((error: unknown) => this.#fail(error))
      .finally(() => this.#recordings.delete(followed));
    this.#recordings.add(followed);
  }
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

  /** Returns when the pause of a lane ends, in ms since 1970, or 0. */
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
  /** `hasBegun`: `begin` returned true. */
  refused(reason: string, hasBegun: boolean): Promise<void>;
  unknown(reason: string): Promise<void>;
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
  let begun: Promise<boolean> | undefined;
  const beforeEnd = async () => {
    begun = records.begin?.();
    if (!(await begun)) throw new Withdrawn();
  };
  const error = await send(records.begin && beforeEnd).then(
    () => undefined,
    (thrown: unknown) => thrown as Error,
  );
  if (!error) return { outcome: 'taken', recorded: records.sent() };
  if (error instanceof Withdrawn) return { outcome: 'gone' };
  // If the connection ended meanwhile, the database may still be recording that sending begins.
  const hasBegun = (await begun?.catch(() => false)) ?? false;
  if (error instanceof Rejected) {
    await records.refused(error.message, hasBegun);
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
