// Writes and reads numbers and texts one after another. Pure.

/** Writes numbers and texts. */
export class Bytes {
  #bytes: Buffer;
  #length = 0;

  constructor(size: number) {
    this.#bytes = Buffer.allocUnsafe(size);
  }

  /** Adds 32 bits. */
  addWord(word: number): void {
    const bytes = this.#room(4);
    const at = this.#length;
    bytes[at] = word & 255;
    bytes[at + 1] = (word >>> 8) & 255;
    bytes[at + 2] = (word >>> 16) & 255;
    bytes[at + 3] = word >>> 24;
    this.#length = at + 4;
  }

  /** Adds a number from 0 to 2³¹ − 1, in as many bytes as it needs. */
  addNumber(number: number): void {
    const bytes = this.#room(5);
    let at = this.#length;
    let rest = number;
    for (; rest > 127; rest >>>= 7) bytes[at++] = (rest & 127) | 128;
    bytes[at++] = rest;
    this.#length = at;
  }

  addText(text: string): void {
    const bytes = Buffer.from(text);
    this.addNumber(bytes.length);
    this.#length += bytes.copy(this.#room(bytes.length), this.#length);
  }

  addBytes(bytes: Uint8Array): void {
    this.#room(bytes.length).set(bytes, this.#length);
    this.#length += bytes.length;
  }

  written(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #room(more: number): Buffer {
    if (this.#length + more <= this.#bytes.length) return this.#bytes;
    const larger = Buffer.allocUnsafe(2 * this.#bytes.length + more);
    this.#bytes.copy(larger);
    this.#bytes = larger;
    return larger;
  }
}

/** Reads what `Bytes` has written. */
export class ReadBytes {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Returns how many bytes have been read. */
  position(): number {
    return this.#at;
  }

  word(): number {
    this.#at += 4;
    return this.#bytes.readUInt32LE(this.#at - 4);
  }

  number(): number {
    let [number, factor] = [0, 1];
    for (;;) {
      const byte = this.#bytes[this.#at++] as number;
      number += (byte & 127) * factor;
      if (byte < 128) return number;
      factor *= 128;
    }
  }

  text(): string {
    const length = this.number();
    this.#at += length;
    return this.#bytes.toString('utf8', this.#at - length, this.#at);
  }
}
