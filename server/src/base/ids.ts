// Ids of requests and runs. They are UUIDs of version 7, which sort by time.
import { randomUUID } from 'node:crypto';

/** Returns a new UUIDv7 (RFC 9562 §5.7) for the time `now` (milliseconds since 1970). Its random part comes from a UUIDv4, which Node generates in bulk. */
export function newId(now = Date.now()): string {
  const time = now.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}
