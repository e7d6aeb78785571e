// Ids of requests and runs: UUID version 7, so that they sort by time.
import { randomUUID } from 'node:crypto';

/** A new UUIDv7 (RFC 9562 §5.7) of the moment `now` (milliseconds since 1970). Its random part is that of a UUIDv4, drawn in bulk. */
export function newId(now = Date.now()): string {
  const time = now.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}
