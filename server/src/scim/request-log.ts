// Keeps the last requests of each directory, so that an administrator sees whether it works. They are written once a second, together.
import type { Log } from '../base/log.ts';
import type { Pool } from '../db/db.ts';
import { insertScimRequests, type LoggedRequest } from './request-log.sql.ts';

export type RequestLog = {
  add(request: LoggedRequest): void;
  /** Writes what was added. */
  flush(): Promise<void>;
};

/** How many requests of an account are kept, and how many of them are written together. */
const [kept, maxAtOnce] = [200, 50];

export function openRequestLog(pool: Promise<Pool>, log: Log): RequestLog {
  let waiting = new Map<number, LoggedRequest[]>();
  let timer: NodeJS.Timeout | undefined;

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const requests = [...waiting.values()].flat();
    waiting = new Map();
    try {
      await insertScimRequests(await pool, requests, kept);
    } catch (error) {
      log.warn({ cause: (error as Error).message }, 'The last SCIM requests could not be stored');
    }
  }

  return {
    add(request) {
      const own = waiting.get(request.accountId) ?? [];
      if (own.length === maxAtOnce) own.shift();
      own.push(request);
      waiting.set(request.accountId, own);
      timer ??= setTimeout(() => void flush(), 1000).unref();
    },
    flush,
  };
}
