// Epoch keys encrypt (wrap) the keys of open weeks. They form a one-way chain: each key is derived from the previous one, so an
// erased key can't be computed from a later one (rules.md P15, decisions/0016).
import {
  createCipheriv,
  createDecipheriv,
  hash,
  hkdfSync,
  type KeyObject,
  randomBytes,
  randomFillSync,
} from 'node:crypto';

/** One key of a chain. `chain`: 8 random bytes that identify the chain; `secret`: 32 bytes. */
export type EpochKey = { chain: Buffer; epoch: number; secret: Buffer };

/** Returns the first key of a new chain. */
export const newChain = (): EpochKey => ({ chain: randomBytes(8), epoch: 1, secret: randomBytes(32) });

/** The maximum number of epochs to derive in one call: ten years with a thousand closed weeks a day. */
const maxSteps = 4_000_000;

/**
 * Returns the key of a later epoch of the same chain; undefined if `epoch` is earlier than the key's own, which can't be computed,
 * or implausibly far ahead.
 */
export function keyAt(key: EpochKey, epoch: number): EpochKey | undefined {
  if (epoch < key.epoch || epoch - key.epoch > maxSteps) return undefined;
  let { secret } = key;
  for (let n = key.epoch; n < epoch; n++) {
    secret = Buffer.from(hkdfSync('sha256', secret, key.chain, 'soundings epoch', 32));
  }
  return { chain: key.chain, epoch, secret };
}

/** Returns the name of the chain that follows a chain. */
const nextName = (chain: Uint8Array): Buffer => derived(chain, 'soundings next chain').subarray(0, 8);

/**
 * Returns the first key of the chain that follows a key's chain. Its secret is random, so it can't be derived from earlier keys.
 * Only the names of the two chains show which one is later: see `follows`.
 */
export const freshKey = ({ chain, epoch }: Pick<EpochKey, 'chain' | 'epoch'>): EpochKey => ({
  chain: nextName(chain),
  epoch: epoch + 1,
  secret: randomBytes(32),
});

/** The maximum number of chains to look ahead: centuries with one new chain a day. */
const maxChains = 100_000;

/** Returns whether the chain of `later` began after the chain of `earlier` (freshKey). */
export function follows(
  later: Pick<EpochKey, 'chain' | 'epoch'>,
  earlier: Pick<EpochKey, 'chain' | 'epoch'>,
): boolean {
  let name = earlier.chain;
  // Each new chain uses at least one epoch.
  for (let left = Math.min(later.epoch - earlier.epoch, maxChains); left > 0; left--) {
    name = nextName(name);
    if (name.equals(later.chain)) return true;
  }
  return false;
}

export const isSameChain = (a: { chain: Uint8Array }, b: { chain: Uint8Array }): boolean =>
  Buffer.compare(a.chain, b.chain) === 0;

/** Returns whether a key is the one of this chain and epoch. */
export const isKeyOf = (
  key: EpochKey | undefined,
  { chain, epoch }: { chain: Uint8Array; epoch: number },
): boolean => key !== undefined && isSameChain(key, { chain }) && key.epoch === epoch;

const [version, tagLength, headLength] = [1, 16, 13];

/**
 * Stands in a backup for the key of an open week, which is left out (decisions/0038). No key opens it, so a restored week is closed
 * as lost.
 */
export const withoutKey = Buffer.alloc(headLength);

/** The length in bytes of the unique nonce that sealed data starts with. */
export const nonceLength = 12;

/** Wraps a secret. `context` is authenticated, so a key that was wrapped for one week can't be used for another. */
export function wrap(key: EpochKey, context: string, secret: Uint8Array): Buffer {
  const head = Buffer.alloc(headLength);
  head.writeUInt8(version, 0);
  key.chain.copy(head, 1);
  head.writeUInt32BE(key.epoch, 9);
  return Buffer.concat([head, seal(key.secret, Buffer.concat([head, Buffer.from(context)]), secret)]);
}

/** Returns which key a secret was wrapped by. */
export function wrappedBy(wrapped: Buffer): { chain: Buffer; epoch: number } {
  return { chain: wrapped.subarray(1, 9), epoch: wrapped.readUInt32BE(9) };
}

/** Returns the wrapped secret; undefined if it was wrapped by another key or context, or the bytes were changed. */
export function unwrap(
  key: { secret: Uint8Array | KeyObject },
  context: string,
  wrapped: Buffer,
): Buffer | undefined {
  const head = wrapped.subarray(0, headLength);
  if (head[0] !== version) return undefined;
  return open(key.secret, Buffer.concat([head, Buffer.from(context)]), wrapped.subarray(headLength));
}

/** A pool of random bytes for nonces. Generating each nonce on its own would take longer than sealing. */
const nonces = { bytes: Buffer.alloc(nonceLength * 256), next: 256 };

/** Writes a fresh nonce to the start of a buffer. */
function writeNonce(into: Buffer): void {
  if (nonces.next === 256) {
    randomFillSync(nonces.bytes);
    nonces.next = 0;
  }
  const start = nonces.next++ * nonceLength;
  nonces.bytes.copy(into, 0, start, start + nonceLength);
}

/**
 * Encrypts bytes with AES-256-GCM and returns nonce ‖ ciphertext ‖ tag; `context` is authenticated. Pass a secret that is used
 * often as a KeyObject: 8 µs per call instead of 27 µs, because Node does not have to create one each time.
 */
export function seal(secret: Uint8Array | KeyObject, context: Uint8Array, plain: Uint8Array): Buffer {
  const sealed = Buffer.allocUnsafe(nonceLength + plain.length + tagLength);
  writeNonce(sealed);
  const cipher = createCipheriv('aes-256-gcm', secret, sealed.subarray(0, nonceLength));
  cipher.setAAD(context);
  // GCM is a stream cipher: `final` returns no bytes.
  sealed.set(cipher.update(plain), nonceLength);
  cipher.final();
  sealed.set(cipher.getAuthTag(), nonceLength + plain.length);
  return sealed;
}

/** Decrypts sealed bytes. Returns undefined if the secret or the context is different, or the bytes were changed. */
export function open(
  secret: Uint8Array | KeyObject,
  context: Uint8Array,
  sealed: Uint8Array,
): Buffer | undefined {
  if (sealed.length < nonceLength + tagLength) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', secret, sealed.subarray(0, nonceLength), {
    authTagLength: tagLength,
  });
  decipher.setAAD(context);
  decipher.setAuthTag(sealed.subarray(-tagLength));
  const first = decipher.update(sealed.subarray(nonceLength, -tagLength));
  try {
    const last = decipher.final();
    return last.length === 0 ? first : Buffer.concat([first, last]);
  } catch {
    return undefined;
  }
}

/** Derives a 32-byte key for one purpose: SHA-256 of a random 32-byte key and the purpose. */
export const derived = (key: Uint8Array, purpose: string): Buffer =>
  hash('sha256', Buffer.concat([key, Buffer.from(purpose)]), 'buffer');
