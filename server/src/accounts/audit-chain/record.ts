// Entries of the audit log as they are exported and chained. The hash covers the canonical JSON of RFC 8785 (sorted keys, no white
// space), so that a receiver can parse and store an entry in any form and still check it.
import type { AuditRecord } from '@soundings/contract/audit/audit.ts';
import { createHash } from 'node:crypto';

/** An entry without its place in the chain. */
export type Content = Omit<AuditRecord, 'position' | 'previous' | 'hash'>;
/** The last entry of a chain. */
export type Head = { position: number; hash: string };

/** The head of an empty chain, which the first entry follows. */
export const start: Head = { position: 0, hash: '0'.repeat(64) };

/** Returns the entry as the one after `head`. */
export function chained(head: Head, content: Content): AuditRecord {
  const entry = { ...content, position: head.position + 1, previous: head.hash };
  return { ...entry, hash: hashOf(entry) };
}

/** Returns the hash of an entry: that of all its fields except the hash itself. */
export function hashOf(entry: Omit<AuditRecord, 'hash'> & { hash?: string }): string {
  const { hash: _, ...rest } = entry;
  return createHash('sha256').update(canonicalJson(rest)).digest('hex');
}

/**
 * Returns JSON with sorted keys and without white space. Strings and numbers are written as JSON.stringify does, which is what RFC
 * 8785 demands.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${canonicalJson(field)}`).join(',')}}`;
}
