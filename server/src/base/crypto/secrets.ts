// Creates, recognizes and hashes API tokens, and creates and hashes passwords.
import { argon2, hash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const tokenForm = /^snd_([0-9A-Za-z]{40})([0-9A-Za-z]{6})$/;

/** Returns a new token: `snd_`, 40 random base-62 characters and their checksum (decision E3). */
export function newToken(): string {
  const body = randomText(40);
  return `snd_${body}${checksum(body)}`;
}

/** Returns whether a text has the form of a token, so that mistyped tokens are refused without a query. */
export function isTokenShaped(text: string): boolean {
  const [, body, sum] = tokenForm.exec(text) ?? [];
  return body !== undefined && sum === checksum(body);
}

/** Returns the SHA-256 hash of a token or another random secret, the only form in which it is stored. */
export function tokenHash(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

/** Returns a new password of 20 base-62 characters. */
export function newPassword(): string {
  return randomText(20);
}

// The parameters for Argon2id that OWASP recommends: 19 MiB, two passes, one lane.
const cost = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 };
const deriveKey = promisify(argon2);

/** Hashes a password with Argon2id. Returns the usual text form, which contains the parameters and the salt. */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(16);
  const tag = await deriveKey('argon2id', { message: normal(password), nonce, ...cost });
  return phcText(nonce, tag);
}

const phcText = (nonce: Buffer, tag: Buffer) =>
  `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${base64(nonce)}$${base64(tag)}`;

/** Returns a hash that no password matches. Comparing with it takes as long as with a real one. */
export function placeholderHash(): string {
  return phcText(randomBytes(16), randomBytes(cost.tagLength));
}

/** Returns whether a password matches a hash. */
export async function isPassword(password: string, digest: string): Promise<boolean> {
  const [, memory, passes, parallelism, salt, wanted] =
    /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([^$]+)\$([^$]+)$/.exec(digest) ?? [];
  if (salt === undefined || wanted === undefined) return false;
  const expected = Buffer.from(wanted, 'base64');
  const tag = await deriveKey('argon2id', {
    message: normal(password),
    nonce: Buffer.from(salt, 'base64'),
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    tagLength: expected.length,
  });
  return timingSafeEqual(tag, expected);
}

/** Normalizes a password, so that it matches however its letters were typed (RFC 8265 §4.2). */
const normal = (password: string) => password.normalize('NFC');

/** Returns `length` random base-62 characters. */
export function randomText(length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');
}

/** Returns bytes as `length` base-62 characters. That should be fewer bits than there are, so that the text is evenly distributed. */
export function inBase62(bytes: Buffer, length: number): string {
  const base = BigInt(alphabet.length);
  let rest = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  for (let i = 0; i < length; i++) {
    text += alphabet[Number(rest % base)];
    rest /= base;
  }
  return text;
}

function checksum(body: string): string {
  let rest = crc32(body);
  let text = '';
  for (let i = 0; i < 6; i++) {
    text = alphabet[rest % 62] + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}

const base64 = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
