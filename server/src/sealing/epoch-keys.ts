// Epoch keys: the keys that wrap the keys of open weeks. They form a chain that can only be followed forward, so a key that has
// been erased cannot be computed from a later one (privacy.md P15, decisions/0016).
import {
  createCipheriv,
  createDecipheriv,
  hash,
  hkdfSync,
  type KeyObject,
  randomBytes,
  randomFillSync,
} from 'node:crypto';

/** One key of a chain. `chain`: 8 random bytes that name it; `secret`: 32 bytes. */
export type EpochKey = { chain: Buffer; epoch: number; secret: Buffer };

/** The first key of a new chain. */
export const newChain = (): EpochKey => ({ chain: randomBytes(8), epoch: 1, secret: randomBytes(32) });

/** More steps than this in one go are not taken: at a thousand closings a day they are ten years. */
const maxSteps = 4_000_000;

/**
 * The key of a later epoch of the same chain. Undefined when `epoch` is earlier than the key's own, which no one can
 * compute, or implausibly far ahead.
 */
export function keyAt(key: EpochKey, epoch: number): EpochKey | undefined {
  if (epoch < key.epoch || epoch - key.epoch > maxSteps) return undefined;
  let { secret } = key;
  for (let n = key.epoch; n < epoch; n++) {
    secret = Buffer.from(hkdfSync('sha256', secret, key.chain, 'soundings epoch', 32));
  }
  return { chain: key.chain, epoch, secret };
}

/** The name of the chain that begins after another. */
const nextName = (chain: Uint8Array): Buffer => derived(chain, 'soundings next chain').subarray(0, 8);

/**
 * Returns a new key that comes after another, as the first of a chain. It is random, so no earlier key leads to it. Only the names of
 * the two chains show which is the later one: see `follows`.
 */
export const freshKey = ({ chain, epoch }: Pick<EpochKey, 'chain' | 'epoch'>): EpochKey => ({
  chain: nextName(chain),
  epoch: epoch + 1,
  secret: randomBytes(32),
});

/** With one new chain a day, this many last for centuries. */
const maxChains = 100_000;

/** Returns whether a key is of a chain that began after the chain of another one (freshKey). */
export function follows(
  later: Pick<EpochKey, 'chain' | 'epoch'>,
  earlier: Pick<EpochKey, 'chain' | 'epoch'>,
): boolean {
  let name = earlier.chain;
  // Each new chain takes an epoch at least.
  for (let left = Math.min(later.epoch - earlier.epoch, maxChains); left > 0; left--) {
    name = nextName(name);
    if (name.equals(later.chain)) return true;
  }
  return false;
}

export const isSameChain = (a: { chain: Uint8Array }, b: { chain: Uint8Array }): boolean =>
  Buffer.compare(a.chain, b.chain) === 0;

const [version, tagLength, headLength] = [1, 16, 13];

/** What was sealed begins with a nonce of this many bytes, which no other begins with. */
export const nonceLength = 12;

/** Wraps a secret. `context` is authenticated with it: what was wrapped for one week opens for no other. */
export function wrap(key: EpochKey, context: string, secret: Uint8Array): Buffer {
  const head = Buffer.alloc(headLength);
  head.writeUInt8(version, 0);
  key.chain.copy(head, 1);
  head.writeUInt32BE(key.epoch, 9);
  return Buffer.concat([head, seal(key.secret, Buffer.concat([head, Buffer.from(context)]), secret)]);
}

/** By which key a secret was wrapped. */
export function wrappedBy(wrapped: Buffer): { chain: Buffer; epoch: number } {
  return { chain: wrapped.subarray(1, 9), epoch: wrapped.readUInt32BE(9) };
}

/** The secret. Undefined when the key is another one than it was wrapped by, or the bytes were changed. */
export function unwrap(
  key: { secret: Uint8Array | KeyObject },
  context: string,
  wrapped: Buffer,
): Buffer | undefined {
  const head = wrapped.subarray(0, headLength);
  if (head[0] !== version) return undefined;
  return open(key.secret, Buffer.concat([head, Buffer.from(context)]), wrapped.subarray(headLength));
}

/** Random bytes for many nonces: each taken by itself would take longer than sealing. */
const nonces = { bytes: Buffer.alloc(nonceLength * 256), next: 256 };

function freshNonce(): Buffer {
  if (nonces.next === 256) {
    randomFillSync(nonces.bytes);
    nonces.next = 0;
  }
  const start = nonces.next++ * nonceLength;
  return Buffer.from(nonces.bytes.subarray(start, start + nonceLength));
}

/**
 * nonce ‖ AES-256-GCM ‖ tag; `context` is authenticated. A secret that is used often is a KeyObject: as bytes it is made one each
 * time, which takes 27 µs instead of 8.
 */
export function seal(secret: Uint8Array | KeyObject, context: Uint8Array, plain: Uint8Array): Buffer {
  const nonce = freshNonce();
  const cipher = createCipheriv('aes-256-gcm', secret, nonce);
  cipher.setAAD(context);
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** What was sealed. Undefined when the secret or the context is another one, or the bytes were changed. */
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

/** A key for one purpose, of 32 bytes: SHA-256 of a random key of 32 bytes and the purpose. */
export const derived = (key: Uint8Array, purpose: string): Buffer =>
  hash('sha256', Buffer.concat([key, Buffer.from(purpose)]), 'buffer');
