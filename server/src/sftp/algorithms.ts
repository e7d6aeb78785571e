// The algorithms that SSH clients are offered.
import type { Connection } from 'ssh2';
import type { ReadableKey } from './host-keys.ts';
import { offerCiphers, withAlgorithm } from './ssh2-internals.ts';

/**
 * The offered algorithms, with AES-GCM first. ChaCha20 is left out because OpenSSH would choose it, at half the speed. The last
 * MACs are for clients that know no others, such as curl in Debian 12.
 */
export const algorithms = {
  kex: [
    'curve25519-sha256' as const,
    'curve25519-sha256@libssh.org' as const,
    'diffie-hellman-group16-sha512' as const,
    'diffie-hellman-group18-sha512' as const,
    'diffie-hellman-group14-sha256' as const,
  ],
  cipher: [
    'aes256-gcm@openssh.com' as const,
    'aes128-gcm@openssh.com' as const,
    'aes256-ctr' as const,
    'aes192-ctr' as const,
    'aes128-ctr' as const,
  ],
  hmac: [
    'hmac-sha2-256-etm@openssh.com' as const,
    'hmac-sha2-512-etm@openssh.com' as const,
    'hmac-sha2-256' as const,
    'hmac-sha2-512' as const,
  ],
  compress: ['none' as const], // Compressed data could be a decompression bomb.
};

/**
 * Before version 10, OpenSSH prefers AES-CTR, which needs a separate MAC and makes an upload a sixth slower than AES-GCM.
 * Versions that support AES-GCM are offered nothing else. All since 6.2, of 2013, support it.
 */
const supportsGcm = /^OpenSSH_(for_Windows_)?([7-9]|\d\d)\./;
const gcm = algorithms.cipher.filter((name) => name.includes('-gcm@'));

/** Offers a client the fastest ciphers that its software supports. `software` is the name in its first line. */
export function offerFastest(client: Connection, software: string): void {
  if (supportsGcm.test(software)) offerCiphers(client, gcm);
}

/**
 * Returns a host key in the form the library expects, once for each name to offer. By default, the library would also offer RSA
 * keys as ssh-rsa, which uses SHA-1.
 */
export function offeredHostKeys({ kind, key }: ReadableKey): { key: string }[] {
  const names = kind === 'rsa' ? ['rsa-sha2-512', 'rsa-sha2-256'] : [key.type];
  return names.map((name) => ({ key: withAlgorithm(key, name) }));
}
