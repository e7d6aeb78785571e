// Answers of the data interface, kept as the bytes that were sent: weekly figures are read far more often than they
// change, and to send bytes takes a tenth of the time that it takes to read rows and write them.

/** An answer as it was sent: what a repeat needs to be the same. */
export type SentAnswer = { etag: string; headers: Record<string, string>; bytes: Buffer };

export type AnswerCache = {
  get(key: string): SentAnswer | undefined;
  /** Keeps an answer, unless it is too large; those that nobody has asked for for longest make room. */
  add(key: string, answer: SentAnswer): void;
  /** The most bytes that an answer may have to be kept. */
  largest: number;
};

/**
 * A cache of at most so many bytes in all; with 0 nothing is kept. A key must name all that an answer depends on, the
 * account and its version first: nothing is ever taken out because it is stale, it is just never asked for again.
 */
export function openAnswerCache(maxBytes: number): AnswerCache {
  // In the order of their last use: a Map keeps the order of insertion.
  const kept = new Map<string, SentAnswer>();
  const largest = Math.floor(maxBytes / 16);
  let bytes = 0;
  const sizeOf = (key: string, answer: SentAnswer) => answer.bytes.length + 2 * key.length + 512;
  function remove(key: string, answer: SentAnswer): void {
    kept.delete(key);
    bytes -= sizeOf(key, answer);
  }
  return {
    largest,
    get(key) {
      const answer = kept.get(key);
      if (!answer) return undefined;
      kept.delete(key);
      kept.set(key, answer);
      return answer;
    },
    add(key, answer) {
      if (answer.bytes.length > largest) return;
      const old = kept.get(key);
      if (old) remove(key, old);
      kept.set(key, answer);
      bytes += sizeOf(key, answer);
      for (const [oldest, one] of kept) {
        if (bytes <= maxBytes) break;
        remove(oldest, one);
      }
    },
  };
}
