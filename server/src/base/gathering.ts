// Calls that come while others of the same kind are under way wait for their turn, and are then done together: one statement for
// many of them. A call that comes alone is done at once.

export type GatheringLimits = {
  /** How many calls are done together. */
  most: number;
  /** How many batches of a key are under way at the same time. */
  atOnce: number;
};

type Waiting<T, R> = { item: T; resolve: (result: R) => void; reject: (error: unknown) => void };
type Queue<T, R> = { waiting: Waiting<T, R>[]; underWay: number };

export class Gathering<T, R> {
  readonly #work: (key: string, items: T[]) => Promise<R[]>;
  readonly #limits: GatheringLimits;
  /** Of keys with calls under way. */
  readonly #queues = new Map<string, Queue<T, R>>();

  /**
   * `work` is given calls of one key, and returns a result for each, in their order; what it throws, all of them get. Calls of
   * one key wait for no other key's.
   */
  constructor(work: (key: string, items: T[]) => Promise<R[]>, limits: GatheringLimits) {
    this.#work = work;
    this.#limits = limits;
  }

  /** Does a call, together with others of the key that wait. */
  do(key: string, item: T): Promise<R> {
    const queue = this.#queues.get(key) ?? { waiting: [], underWay: 0 };
    this.#queues.set(key, queue);
    return new Promise((resolve, reject) => {
      queue.waiting.push({ item, resolve, reject });
      this.#begin(key, queue);
    });
  }

  #begin(key: string, queue: Queue<T, R>): void {
    if (queue.underWay >= this.#limits.atOnce || queue.waiting.length === 0) return;
    queue.underWay++;
    void this.#doAll(key, queue.waiting.splice(0, this.#limits.most)).finally(() => {
      queue.underWay--;
      if (queue.underWay === 0 && queue.waiting.length === 0) this.#queues.delete(key);
      else this.#begin(key, queue);
    });
  }

  async #doAll(key: string, calls: Waiting<T, R>[]): Promise<void> {
    try {
      const items = calls.map(({ item }) => item);
      const results = await this.#work(key, items);
      for (const [i, { resolve }] of calls.entries()) resolve(results[i] as R);
    } catch (error) {
      for (const { reject } of calls) reject(error);
    }
  }
}
