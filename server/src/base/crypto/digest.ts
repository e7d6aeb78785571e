// Digests for detecting changes. Not suitable for secrets.
import { randomFillSync } from 'node:crypto';

/** Returns four random numbers of 32 bits, for digests that no one can foresee. */
export function randomSeed(): [number, number, number, number] {
  const [a = 0, b = 0, c = 0, d = 0] = randomFillSync(new Uint32Array(4));
  return [a, b, c, d];
}

/**
 * Digests a sequence of texts, non-negative numbers and nulls to 64 bits, with two FNV-1a hashes over UTF-16 code units that use
 * different factors. The boundaries between texts matter. This takes half the time of SHA-256, for which all input must be joined
 * first. Two different inputs collide about once in 10^19.
 */
export class Digest {
  #a = 0x811c9dc5;
  #b = 0x41c6ce57;

  add(value: string | number | null | undefined): this {
    if (typeof value === 'string') return this.#mixText(value);
    return this.#mix(value === undefined ? -2 : value === null ? -3 : value);
  }

  /** Adds a text that is stored as UTF-8, like `add`. */
  addUtf8(bytes: Buffer, from: number, to: number): this {
    let [a, b] = [this.#a, this.#b];
    let at = from;
    for (; at < to; at++) {
      const byte = bytes[at] as number;
      if (byte >= 0x80) break;
      a = Math.imul(a ^ byte, 0x01000193);
      b = Math.imul(b ^ byte, 0x5f356495);
    }
    [this.#a, this.#b] = [a, b];
    return this.#mixText(at < to ? bytes.toString('utf8', at, to) : '');
  }

  /** Returns a digest that goes on from a state, which `state` has returned. */
  static from(a: number, b: number): Digest {
    const digest = new Digest();
    [digest.#a, digest.#b] = [a, b];
    return digest;
  }

  /** Returns two numbers from which `from` goes on, each with 32 bits. */
  state(): [a: number, b: number] {
    return [this.#a, this.#b];
  }

  /** Returns both halves of the digest, each with 32 bits. */
  halves(): [number, number] {
    return [finish(this.#a, this.#b), finish(this.#b, this.#a)];
  }

  toString(): string {
    const [first, second] = this.halves();
    return `${textOf(first)}${textOf(second)}`;
  }

  #mixText(text: string): this {
    let [a, b] = [this.#a, this.#b];
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      a = Math.imul(a ^ unit, 0x01000193);
      b = Math.imul(b ^ unit, 0x5f356495);
    }
    this.#a = a;
    this.#b = b;
    return this.#mix(-1); // marks the end of the text; not a code unit
  }

  #mix(number: number): this {
    this.#a = Math.imul(this.#a ^ number, 0x01000193);
    this.#b = Math.imul(this.#b ^ number, 0x5f356495);
    return this;
  }
}

/** Returns both halves of a digest that `toString` has returned. */
export const halvesOf = (text: string): [number, number] => [
  Number.parseInt(text.slice(0, 7), 36),
  Number.parseInt(text.slice(7), 36),
];

/** Returns seven characters for 32 bits. */
const textOf = (half: number) => half.toString(36).padStart(7, '0');

/** Returns 32 bits that depend on all bits of both numbers. */
function finish(one: number, other: number): number {
  let mixed = Math.imul(one ^ (one >>> 16), 0x85ebca6b) ^ Math.imul(other ^ (other >>> 13), 0xc2b2ae35);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x27d4eb2f);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
