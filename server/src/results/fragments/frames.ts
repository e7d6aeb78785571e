// The format of fragments. A frame has the figures of one group in a period of weeks as the JSON that responses contain, an index of its
// weeks, and a checksum.
import { type Week, weekOf } from '@soundings/contract/weeks.ts';
import { crc32 } from 'node:zlib';
import { neutralTail, tailLength } from './neutral-tail.ts';

/** How many weeks a period has. With 52, most frames have between 1 and 4 KB, which PostgreSQL reads fastest. */
const weeksPerPeriod = 52;

/** What frames are about. Their checksum depends on it, so that they are valid in their place only. `kpiId`, `questionId`: '' and 0 if none. */
export type FrameOwner = { accountId: number; kind: number; kpiId: string; questionId: number };

/**
 * The figures of a week. `text`: JSON with its key, such as `"2548":{…}`. `at`: how many bytes of it are before what is inserted when it is
 * sent. Undefined: nothing is.
 */
export type FrameEntry = { week: number; text: string; at?: number | undefined };

/** Frames that are not as they were written. */
export class DamagedFrames extends Error {}

/** Returns the number of a week, counted from before year 1, so that no number is negative. */
export const weekIndex = (week: Week): number =>
  Math.round(Date.parse(`${weekOf(week)}T00:00:00Z`) / 604_800_000) + 110_000;

export const periodOf = (week: number): number => Math.floor(week / weeksPerPeriod);

/** The number of digits of each field. Digits have 6 bits, and are written as the characters from @ to DEL. */
const sizes = { count: 1, length: 4, group: 6, period: 3, week: 1, at: 4 };
const headLength = sizes.count + sizes.length + sizes.group + sizes.period;
const indexLength = sizes.week + sizes.length + sizes.at;
const largestLength = 64 ** sizes.length;

function digitsOf(number: number, count: number): string {
  let text = '';
  for (let i = count - 1; i >= 0; i--) text += String.fromCharCode(64 + (Math.floor(number / 64 ** i) % 64));
  return text;
}

const seedOf = ({ accountId, kind, kpiId, questionId }: FrameOwner): number =>
  crc32(`${accountId} ${kind} ${questionId} ${kpiId}`);

/** Returns a frame. The entries are in the order of their weeks, all in the same period. */
export function frameOf(owner: FrameOwner, groupId: number, entries: readonly FrameEntry[]): string {
  const period = periodOf((entries[0] as FrameEntry).week);
  let [index, body, length] = ['', '', 0];
  for (const { week, text, at } of entries) {
    const bytes = Buffer.byteLength(text) + 1;
    index += digitsOf(week - period * weeksPerPeriod, sizes.week) + digitsOf(bytes, sizes.length);
    index += digitsOf(at === undefined ? 0 : at + 1, sizes.at);
    body += `,${text}`;
    length += bytes;
  }
  if (length >= largestLength) throw new RangeError('The figures are too long for a fragment');
  const head = digitsOf(entries.length, sizes.count) + digitsOf(length, sizes.length);
  const frame = head + digitsOf(groupId, sizes.group) + digitsOf(period, sizes.period) + index + body;
  return frame + neutralTail(frame, seedOf(owner));
}

/** Reads frames that follow one another, ordered by group and period. After `next`, the fields are those of the next frame. */
export class Frames {
  groupId = -1;
  /** Where the JSON of the chosen weeks begins and ends. Each week begins with a comma. */
  from = 0;
  to = 0;
  readonly bytes: Buffer;
  private period = -1;
  private count = 0;
  private index = 0;
  private end = 0;
  private firstEntry = 0;
  private lastEntry = 0;

  /** Throws DamagedFrames if one of them is not as it was written. */
  constructor(bytes: Buffer, owner: FrameOwner) {
    const seed = seedOf(owner);
    if (crc32(bytes, seed) !== seed) throw new DamagedFrames('The checksum of a fragment is wrong');
    this.bytes = bytes;
  }

  /** Returns false after the last frame. Throws DamagedFrames if it is not after the one before. */
  next(): boolean {
    const start = this.end;
    if (start === this.bytes.length) return false;
    this.count = this.digits(start, sizes.count);
    const length = this.digits(start + sizes.count, sizes.length);
    const groupId = this.digits(start + sizes.count + sizes.length, sizes.group);
    const period = this.digits(start + headLength - sizes.period, sizes.period);
    this.index = start + headLength;
    this.from = this.index + this.count * indexLength;
    this.to = this.from + length;
    this.end = this.to + tailLength;
    const isAfter = groupId > this.groupId || (groupId === this.groupId && period > this.period);
    if (!isAfter || this.end > this.bytes.length) throw new DamagedFrames('A fragment is out of order');
    [this.groupId, this.period, this.firstEntry, this.lastEntry] = [groupId, period, 0, this.count];
    return true;
  }

  /** Chooses the weeks between two, both included, instead of all. Returns whether there are any. */
  choose(first: number, last: number): boolean {
    const low = first - this.period * weeksPerPeriod;
    const high = last - this.period * weeksPerPeriod;
    if (low <= 0 && high >= weeksPerPeriod - 1) return true;
    this.to = this.from;
    for (let i = 0; i < this.count; i++) {
      const week = this.weekAt(i);
      if (week > high) {
        this.lastEntry = i;
        break;
      }
      this.to += this.lengthAt(i);
      if (week < low) {
        this.firstEntry = i + 1;
        this.from = this.to;
      }
    }
    return this.from < this.to;
  }

  /** Calls `found` for each chosen week: where its JSON begins, where something is inserted (0: nowhere), where it ends, and its number. */
  each(found: (from: number, at: number, to: number, week: number) => void): void {
    let from = this.from;
    for (let i = this.firstEntry; i < this.lastEntry; i++) {
      const to = from + this.lengthAt(i);
      const at = this.digits(this.index + i * indexLength + sizes.week + sizes.length, sizes.at);
      found(from, at === 0 ? 0 : from + at, to, this.weekAt(i) + this.period * weeksPerPeriod);
      from = to;
    }
  }

  /** Returns the chosen weeks as they were written. */
  entries(): FrameEntry[] {
    const entries: FrameEntry[] = [];
    this.each((from, at, to, week) => {
      const text = this.bytes.toString('utf8', from + 1, to);
      entries.push({ week, text, at: at === 0 ? undefined : at - from - 1 });
    });
    return entries;
  }

  private weekAt(entry: number): number {
    return this.digits(this.index + entry * indexLength, sizes.week);
  }

  private lengthAt(entry: number): number {
    return this.digits(this.index + entry * indexLength + sizes.week, sizes.length);
  }

  private digits(at: number, count: number): number {
    let number = 0;
    for (let i = at; i < at + count; i++) number = number * 64 + ((this.bytes[i] as number) & 63);
    return number;
  }
}
