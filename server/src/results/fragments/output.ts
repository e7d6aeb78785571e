// Bytes that are put together for a response.
import { giveAway } from '../../base/given-memory.ts';

/** How many bytes are handed out together, because every chunk that is sent has a fixed cost. */
const chunkBytes = 262_144;
/** A little more, for the last frame of a chunk. */
const bufferBytes = chunkBytes + 16_384;
/** Up to this number of bytes or characters, calling Node's own function takes longer than copying them. */
const shortBytes = 32;

/** Collects bytes and hands them out in chunks, which are not changed until they are sent. Their memory is freed then, so no one may keep them. */
export class Output {
  private buffer = Buffer.alloc(0);
  private length = 0;
  /** How large the next buffer is at least. Responses about a single group are small, and have one. */
  private nextBytes = 16_384;

  copy(from: Buffer, start: number, end: number): void {
    this.reserve(end - start);
    if (end - start > shortBytes) this.length += from.copy(this.buffer, this.length, start, end);
    else for (let i = start; i < end; i++) this.buffer[this.length++] = from[i] as number;
  }

  text(text: string): void {
    this.reserve(3 * text.length);
    let end = this.length;
    for (let i = 0; i < text.length && text.length <= shortBytes; i++) {
      const code = text.charCodeAt(i);
      if (code > 127) break;
      this.buffer[end++] = code;
    }
    const isCopied = end - this.length === text.length;
    this.length = isCopied ? end : this.length + this.buffer.write(text, this.length);
  }

  /** Whether enough has been collected for a chunk. */
  isFull(): boolean {
    return this.length >= chunkBytes;
  }

  /** Returns what has been collected since the last call, and gives it away. */
  rest(): Buffer {
    const bytes = giveAway(this.buffer.subarray(0, this.length));
    this.buffer = Buffer.alloc(0);
    this.length = 0;
    this.nextBytes = bufferBytes;
    return bytes;
  }

  private reserve(bytes: number): void {
    const needed = this.length + bytes;
    if (needed <= this.buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.buffer.length, this.nextBytes));
    this.buffer.copy(larger, 0, 0, this.length);
    this.buffer = larger;
  }
}

/** Writes a JSON object of groups, or of questions with such objects. */
export class NestedOutput extends Output {
  private questionId = -1;
  private groupId = -1;

  /** Begins a group, unless the last entry was in the same one. Returns how many characters of the next entry to leave out: its comma. */
  enter(questionId: number, groupId: number): 0 | 1 {
    if (questionId === this.questionId && groupId === this.groupId) return 0;
    const isFirst = this.groupId === -1;
    const isOther = questionId !== this.questionId && questionId !== 0;
    if (!isFirst) this.text(isOther ? '}},' : '},');
    this.text(`${isFirst ? '{' : ''}${isOther ? `"${questionId}":{` : ''}"${groupId}":{`);
    [this.questionId, this.groupId] = [questionId, groupId];
    return 1;
  }

  /** Ends the object, and returns what has not been handed out. */
  ended(): Buffer {
    this.text(this.groupId === -1 ? '{}' : this.questionId === 0 ? '}}' : '}}}');
    return this.rest();
  }
}
