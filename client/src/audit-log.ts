// The audit interface: the entries of the audit log, from any position.
import type { components } from './api-types.ts';
import { type CallOptions, type Connection, parsed, reading } from './connection.ts';
import { wholeLines, openLines, untilComplete } from './streams.ts';
import { SoundingsError } from './soundings-error.ts';

export type AuditRecord = components['schemas']['AuditRecord'];

/** The last entry that you have read. With its hash, the service proves that no earlier entry was changed or removed. */
export type AuditPosition = { after: number; hash?: string };

const pageSize = 1000;

/**
 * Yields the entries after a position, oldest first, until there are no more. Keep the position and hash of the last one, and pass them
 * the next time. After a lost connection, it continues after the last entry.
 */
export async function* streamAudit(
  connection: Connection,
  from: AuditPosition,
  { signal }: CallOptions,
): AsyncGenerator<AuditRecord> {
  let { after, hash } = from;
  yield* untilComplete(connection, { signal }, async function* (progressed) {
    for (let count = pageSize; count > 0;) {
      const query = { after: String(after), hash, limit: String(pageSize) };
      const opened = await openLines(connection, reading('/v1/audit', query, signal));
      count = 0;
      try {
        for await (const line of wholeLines(opened.chunks)) {
          const record = parsed<AuditRecord>(line);
          refuseGap(record, after, hash);
          ({ position: after, hash } = record);
          count++;
          progressed();
          yield record;
        }
      } finally {
        opened.cancel();
      }
    }
  });
}

function refuseGap({ position, previous }: AuditRecord, after: number, hash: string | undefined): void {
  if (position === after + 1 && (hash === undefined || previous === hash)) return;
  throw new SoundingsError({
    type: 'response changed',
    title: `Entry ${position} of the audit log doesn’t follow entry ${after}. Entries were changed or removed.`,
  });
}
