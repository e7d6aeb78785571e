// Batches concurrent calls. Calls that arrive while others with the same key are running have to wait, and are then handled
// together, in one statement. A single call runs immediately.

export type BatchingLimits = {
  /** The maximum number of calls per batch. */
  most: number;
  /** The maximum number of batches of one key that run at the same time. */
  atOnce: number;
};

type Waiting<T, R> = { item: T; resolve: (result: R) => void; reject: (error: unknown) => void };
type Queue<T, R> = { waiting: Waiting<T, R>[]; running: number };

export class Batching<T, R> {
  readonly #work: (key: string, items: T[]) => Promise<R[]>;
  readonly #limits: BatchingLimits;
  /** The queues of keys with running calls. */
  readonly #queues = new Map<string, Queue<T, R>>();

  /**
   * `work` receives the calls of one key and returns a result for each, in the same order. If it throws, all of these calls fail
   * with that error. Different keys don't wait for each other.
   */
  constructor(work: (key: string, items: T[]) => Promise<R[]>, limits: BatchingLimits) {
    this.#work = work;
    this.#limits = limits;
  }

  /** Runs a call, together with others of the same key that are waiting. */
  do(key: string, item: T): Promise<R> {
    const queue = this.#queues.get(key) ?? { waiting: [], running: 0 };
    this.#queues.set(key, queue);
    return new Promise((resolve, reject) => {
      queue.waiting.push({ item, resolve, reject });
      this.#begin(key, queue);
    });
  }

  #begin(key: string, queue: Queue<T, R>): void {
    if (queue.running >= this.#limits.atOnce || queue.waiting.length === 0) return;
    queue.running++;
    void this.#doAll(key, queue.waiting.splice(0, this.#limits.most)).finally(() => {
      queue.running--;
      if (queue.running === 0 && queue.waiting.length === 0) this.#queues.delete(key);
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
