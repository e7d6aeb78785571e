// Digests for telling whether something is the same as before; not for secrets.
import { hash } from 'node:crypto';

/** 128 bits of SHA-256 as 22 characters. */
export function digest(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22);
}
