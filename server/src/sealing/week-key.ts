// The key of an open week. It derives the respondent numbers under which answers are stored, and encrypts and decrypts the answers.
// It is in memory only while it is used. Until the week closes, the database stores it wrapped by the epoch key (answer-keys.ts).
import { maxBreakdowns } from '@soundings/contract/limits.ts';
import type { Week } from '@soundings/contract/weeks.ts';
import { createSecretKey, hash, type KeyObject } from 'node:crypto';
import type { AccountId } from '../db/db.ts';
import { derived, open, seal } from './epoch-keys.ts';

/** Returns a text that identifies the epoch key by which a week's key is wrapped. */
export const epochOf = (wrapped: Buffer): string => wrapped.toString('latin1', 0, 13);

export class WeekKey {
  readonly #context: string;
  readonly #secret: Uint8Array;
  readonly #numbers: Buffer;
  readonly #sealing: KeyObject;
  readonly #segments: KeyObject;

  /** `secret`: 32 random bytes. */
  constructor(accountId: AccountId, week: Week, secret: Uint8Array) {
    this.#context = contextOf(accountId, week);
    this.#secret = secret;
    this.#numbers = derived(secret, 'soundings respondent');
    this.#sealing = createSecretKey(derived(secret, 'soundings answers'));
    this.#segments = createSecretKey(derived(secret, 'soundings segments'));
  }

  /** The secret that is wrapped and stored. */
  get secret(): Uint8Array {
    return this.#secret;
  }

  /**
   * Returns the number under which a user answers in this week, as a UUID. It depends only on the internal id, which is never
   * reused, so it can't be derived from an externalId (P12). It is 128 bits of SHA-256 over a secret key and the id. The truncation
   * prevents length extension, and this takes a tenth of the time of HMAC.
   */
  respondentOf(userId: number): string {
    return this.#number(`user ${userId}`);
  }

  /** Returns the number of a person who appears only in an imported file and is not a user of the account. */
  respondentOfStranger(name: string): string {
    return this.#number(`stranger ${name}`);
  }

  #number(who: string): string {
    const hex = hash('sha256', Buffer.concat([this.#numbers, Buffer.from(who)]), 'hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
  }

  /** A key for ordering comments. Once the week's key is destroyed, the order reveals nothing (P6). */
  get orderKey(): Buffer {
    return derived(this.#secret, 'soundings order');
  }

  /** Returns a secret number from 0 to `limit` − 1 that changes every day. */
  below(limit: number, day: string): number {
    return derived(this.#secret, `soundings participation ${day}`).readUInt32BE(0) % limit;
  }

  /** Encrypts the answers of a respondent, padded so that their length reveals almost nothing (paddedLength). */
  seal(respondent: string, plain: Uint8Array): Buffer {
    const padded = Buffer.allocUnsafe(paddedLength(plain.length + 4));
    padded.writeUInt32BE(plain.length, 0);
    padded.set(plain, 4);
    padded.fill(0, 4 + plain.length);
    const sealed = seal(this.#sealing, this.#contextOf(respondent), padded);
    padded.fill(0); // it shares memory with other buffers
    return sealed;
  }

  /** Decrypts the answers of a respondent. Throws if they were changed or belong to another respondent. */
  open(respondent: string, sealed: Uint8Array): Buffer {
    const padded = open(this.#sealing, this.#contextOf(respondent), sealed);
    if (!padded) throw new Error('A sealed answer cannot be decrypted. It was changed outside of Soundings.');
    return padded.subarray(4, 4 + padded.readUInt32BE(0));
  }

  /** Encrypts the ids of the segments that a respondent is in. All lists have the same length, so it reveals nothing. */
  sealSegments(respondent: string, segmentIds: readonly number[]): Buffer {
    if (segmentIds.length > maxBreakdowns)
      throw new Error('A person is in at most one segment of each breakdown.');
    const plain = Buffer.alloc(4 * maxBreakdowns);
    for (const [i, id] of segmentIds.entries()) plain.writeUInt32BE(id, 4 * i);
    return seal(this.#segments, this.#contextOf(respondent), plain);
  }

  /** Decrypts what `sealSegments` returned. Throws if it was changed or belongs to another respondent. */
  openSegments(respondent: string, sealed: Uint8Array): number[] {
    const plain = open(this.#segments, this.#contextOf(respondent), sealed);
    if (!plain)
      throw new Error('A sealed list of segments cannot be decrypted. It was changed outside of Soundings.');
    const ids = Array.from({ length: plain.length / 4 }, (_, i) => plain.readUInt32BE(4 * i));
    return ids.filter((id) => id !== 0);
  }

  #contextOf(respondent: string): Buffer {
    return Buffer.from(`${this.#context} ${respondent}`);
  }

  /** Keeps the secret out of logs and error messages. */
  toJSON(): string {
    return 'WeekKey';
  }
}

/** Returns the context that a week's key and its answers are authenticated with. */
export const contextOf = (accountId: AccountId, week: Week): string => `${accountId} ${week}`;

/** In bytes. Enough for what most people answer in a week, including short comments. */
const smallest = 512;

/**
 * Returns the length to pad to: 512 bytes, or 4, 16, … times as much. With smaller steps, such as 256 bytes, the length could reveal
 * who wrote the only long comment among those that are published.
 */
export function paddedLength(length: number): number {
  let padded = smallest;
  while (padded < length) padded *= 4;
  return padded;
}
