// The audit interface: GET /v1/audit.
import { auditEntries, getAudit } from '@soundings/contract/audit/audit.ts';
import { Fault, faultAtField } from '../../base/errors.ts';
import { type AccountId, asFault, type Pool } from '../../db/db.ts';
import { StreamedResponse } from '../../http/responses/responses.ts';
import type { Server } from '../../http/server.ts';
import { chainEntries } from './chain.ts';
import { selectChained, selectHashAt, selectHead } from './chain.sql.ts';
import { canonicalJson, type Head, start } from './record.ts';

/** How many entries are read at a time. */
const page = 500;

export function serveAudit(server: Server, pool: Promise<Pool>): void {
  server.serve(getAudit, async ({ caller: { accountId }, query, reply }) => {
    const db = await pool;
    const [after, limit] = [Number(query['after'] ?? 0), Number(query['limit'] ?? auditEntries.standard)];
    // A database that can't write, such as on a full disk, still returns what is chained.
    await chainEntries(db, accountId).catch((error: unknown) => {
      if (!(asFault(error) instanceof Fault)) throw error;
    });
    const head = (await selectHead(db, accountId)) ?? start;
    const hash = after === 0 ? start.hash : await selectHashAt(db, accountId, after);
    if (hash === undefined || (query['hash'] ?? hash) !== hash) throw changedLog(after, head);
    reply.header('content-type', 'application/x-ndjson');
    const count = Math.max(0, Math.min(limit, head.position - after));
    const tag = `${after} ${count} ${hash} ${head.hash}`;
    return new StreamedResponse(tag, () => linesOf(db, accountId, { position: after, hash }, count));
  });
}

/** Yields `count` entries after `last` as lines. Each page is read when the client has taken the one before. */
async function* linesOf(pool: Pool, accountId: AccountId, last: Head, count: number): AsyncGenerator<string> {
  for (let left = count; left > 0; left -= page) {
    const entries = await selectChained(pool, accountId, last, Math.min(page, left));
    last = entries.at(-1) ?? last;
    yield entries.map((entry) => `${canonicalJson(entry)}\n`).join('');
  }
}

function changedLog(after: number, head: Head) {
  const message =
    `The audit log does not contain this entry at position ${after}. Its last position is ${head.position}. Entries were changed or ` +
    'removed, or an older backup was restored. Ask the operator of the service. Then read the log again from position 0.';
  return faultAtField('conflict', 'audit log changed', 'after', message);
}
