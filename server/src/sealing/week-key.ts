// The key of an open week: makes the numbers under which people answer, and seals and opens what they answer. It is in memory
// only while it is used; the database has it wrapped by the epoch key (answer-keys.ts), until the week closes.
import type { Week } from '@soundings/contract/weeks.ts';
import { createSecretKey, hash, type KeyObject } from 'node:crypto';
import type { AccountId } from '../db/db.ts';
import { derived, nonceLength, open, seal } from './epoch-keys.ts';

export { nonceLength };

/** By which epoch key a week's key is wrapped, as a text to compare. */
export const epochOf = (wrapped: Buffer): string => wrapped.toString('latin1', 0, 13);

export class WeekKey {
  readonly #context: string;
  readonly #secret: Uint8Array;
  readonly #numbers: Buffer;
  readonly #sealing: KeyObject;

  /** `secret`: 32 random bytes. */
  constructor(accountId: AccountId, week: Week, secret: Uint8Array) {
    this.#context = contextOf(accountId, week);
    this.#secret = secret;
    this.#numbers = derived(secret, 'soundings respondent');
    this.#sealing = createSecretKey(derived(secret, 'soundings answers'));
  }

  /** What is wrapped and kept. */
  get secret(): Uint8Array {
    return this.#secret;
  }

  /**
   * The number under which a user answers in this week, as a uuid: of the internal id alone, which is never reused, so that
   * no externalId leads to it (P12). A 128-bit part of SHA-256 of a secret key and the id: nothing can be continued from
   * it, and it takes a tenth of the time of HMAC.
   */
  respondentOf(userId: number): string {
    return this.#number(`user ${userId}`);
  }

  /** The number of a person who answers only in an imported file, and is no user of the account. */
  respondentOfStranger(name: string): string {
    return this.#number(`stranger ${name}`);
  }

  #number(who: string): string {
    const hex = hash('sha256', Buffer.concat([this.#numbers, Buffer.from(who)]), 'hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
  }

  /** A key for putting things in an order that tells nothing once the week's key is gone (P6). */
  get orderKey(): Buffer {
    return derived(this.#secret, 'soundings order');
  }

  /** A secret number from 0 to `limit` − 1, another one each day, as long as the week is open. */
  below(limit: number, day: string): number {
    return derived(this.#secret, `soundings participation ${day}`).readUInt32BE(0) % limit;
  }

  /** Seals what a respondent has answered, padded so that its length tells next to nothing (paddedLength). */
  seal(respondent: string, plain: Uint8Array): Buffer {
    const padded = Buffer.alloc(paddedLength(plain.length + 4));
    padded.writeUInt32BE(plain.length, 0);
    padded.set(plain, 4);
    return seal(this.#sealing, this.#contextOf(respondent), padded);
  }

  /** Opens what was sealed for the respondent. Throws when it was changed, or is another respondent's. */
  open(respondent: string, sealed: Uint8Array): Buffer {
    const padded = open(this.#sealing, this.#contextOf(respondent), sealed);
    if (!padded) throw new Error('A sealed answer cannot be opened: it was changed outside of Soundings.');
    return padded.subarray(4, 4 + padded.readUInt32BE(0));
  }

  #contextOf(respondent: string): Buffer {
    return Buffer.from(`${this.#context} ${respondent}`);
  }

  /** Nothing of it in logs or error texts. */
  toJSON(): string {
    return 'WeekKey';
  }
}

/** What a week's key and its answers are bound to. */
export const contextOf = (accountId: AccountId, week: Week): string => `${accountId} ${week}`;

/** 512 bytes hold what most people answer in a week, short comments included. */
const smallest = 512;

/**
 * The next of few lengths, each four times the one before. Steps of 256 bytes would tell who wrote the one long comment among
 * those that are published.
 */
export function paddedLength(length: number): number {
  let padded = smallest;
  while (padded < length) padded *= 4;
  return padded;
}
