// The format of packs. A pack has the figures of one week, or of a quarter of 13 weeks, of up to 256 groups as the JSON that responses contain,
// compressed, with an index of its groups and a checksum.
import { type Week } from '@soundings/contract/weeks.ts';
import { promisify } from 'node:util';
import { constants, crc32, deflateRawSync, inflateRaw } from 'node:zlib';
import { freeGiven, giveAway } from '../../base/given-memory.ts';
import { DamagedFrames, type FrameOwner } from './frames.ts';

/** The number of consecutive ids in a block. A pack then mostly has less than 8 KB, which PostgreSQL reads as one row. */
export const groupsPerBlock = 256;

export const blockOfGroup = (groupId: number): number => Math.floor(groupId / groupsPerBlock);

/** Kinds from this one on are those of packs of a quarter. It is itself that of the rows that say which weeks a quarter's packs have. */
export const quarterKinds = 10;

/** Returns the kind of the packs of a quarter. */
export const ofQuarter = (kind: number): number => quarterKinds + kind;

/** What a pack is about. `week`: the first one of a quarter. Its checksum depends on it, so that it is valid in its place only. */
export type PackOwner = FrameOwner & { block: number; week: Week };

/**
 * The figure of a group, or, in the pack of a quarter, those of several weeks, of which only the first has something inserted. `text`: JSON with its key, such as `"2548":{…}`. `at`: how many bytes of it are before what is inserted when it is
 * sent. Undefined: nothing is.
 */
export type PackEntry = { groupId: number; text: string; at?: number | undefined };

/** The number of digits of the checksum and of the length, which are before the compressed bytes. */
const digits = 8;
/** The index of an entry has a byte for the group, and four each for its length and for what is inserted. */
const [countBytes, numberBytes] = [2, 4];
const indexBytes = 1 + 2 * numberBytes;
/** What ends a sequence of compressed bytes, each of which ends at a byte and does not refer to those before. */
const end = Buffer.from([3, 0]);

const hex = (number: number): string => number.toString(16).padStart(digits, '0');

const checksumOf = (text: string | Buffer, { accountId, kind, kpiId, questionId, block, week }: PackOwner) =>
  crc32(text, crc32(`${accountId} ${kind} ${questionId} ${block} ${week} ${kpiId}`));

/** Returns a pack. The entries are in the order of their groups, all in the same block. In that of a quarter, a group can have several. */
export function packOf(owner: PackOwner, entries: readonly PackEntry[]): string {
  const first = owner.block * groupsPerBlock;
  const index = Buffer.alloc(countBytes + entries.length * indexBytes);
  index.writeUInt16LE(entries.length);
  // Column by column, because these are compressed into less.
  const lengths = countBytes + entries.length;
  const places = lengths + numberBytes * entries.length;
  for (const [i, { groupId, text, at }] of entries.entries()) {
    index.writeUInt8(groupId - first, countBytes + i);
    index.writeUInt32LE(Buffer.byteLength(text) + 1, lengths + numberBytes * i);
    index.writeUInt32LE(at === undefined ? 0 : at + 1, places + numberBytes * i);
  }
  const bytes = Buffer.concat([index, Buffer.from(entries.map(({ text }) => `,${text}`).join(''))]);
  const compressed = deflateRawSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH });
  const text = hex(bytes.length) + compressed.toString('base64');
  return hex(checksumOf(text, owner)) + text;
}

/** A pack as it is stored, after it was checked. `bytes`: how many it has when it is not compressed. */
export type StoredPack = { owner: PackOwner; text: Buffer; bytes: number };

/** Throws DamagedFrames if the pack is not as it was written. */
export function checkedPack(text: Buffer, owner: PackOwner): StoredPack {
  const checksum = Number.parseInt(text.toString('latin1', 0, digits), 16);
  if (checksumOf(text.subarray(digits), owner) !== checksum)
    throw new DamagedFrames('The checksum of a pack is wrong');
  return { owner, text, bytes: Number.parseInt(text.toString('latin1', digits, 2 * digits), 16) };
}

const inflate = promisify(inflateRaw);
const spareBytes = 64;

/** Returns packs, decompressed together on Node's thread pool, because each call has a cost. */
export async function openPacks(stored: readonly StoredPack[]): Promise<Pack[]> {
  const all = stored.reduce((sum, { bytes }) => sum + bytes, 0);
  const longest = stored.reduce((sum, { text }) => sum + text.length, 0);
  const compressed = giveAway(Buffer.allocUnsafeSlow(longest + end.length));
  let length = 0;
  for (const { text } of stored)
    length += compressed.write(text.toString('latin1', 2 * digits, text.length), length, 'base64');
  length += end.copy(compressed, length);
  // A little more room than needed: otherwise a second buffer of this size would be allocated, to find that nothing is left.
  const bytes = await inflate(compressed.subarray(0, length), { chunkSize: all + spareBytes });
  freeGiven(compressed);
  if (bytes.length !== all) throw new DamagedFrames('The length of a pack is wrong');
  let from = 0;
  return stored.map(({ owner, bytes: own }) => new Pack(owner, bytes.subarray(from, (from += own))));
}

/**
 * Frees the memory of packs that were opened together, and are not read any more. It would be freed later anyway, but collecting garbage of this size takes
 * longer than reading it.
 */
export function freePacks(packs: readonly Pack[]): void {
  const memory = packs[0]?.bytes.buffer;
  // Small ones are parts of a pool that other buffers use.
  if (memory instanceof ArrayBuffer && memory.byteLength > Buffer.poolSize) memory.transfer(0);
}

/** A pack whose entries are read one after another. The fields are those of the current entry, after `find`. */
export class Pack {
  readonly owner: PackOwner;
  readonly bytes: Buffer;
  /** Where its JSON begins and ends, with a comma before it, and where something is inserted (0: nowhere). */
  from = 0;
  to: number;
  at = 0;
  private readonly count: number;
  private entry = -1;
  /** The entry that was the last new one. */
  private latest = { from: 0, to: 0 };

  constructor(owner: PackOwner, bytes: Buffer) {
    this.owner = owner;
    this.bytes = bytes;
    this.count = bytes.readUInt16LE(0);
    this.to = countBytes + this.count * indexBytes;
  }

  /** Goes on to the entry of a group, by its place in the block. Returns whether it has one. Places must be in order. */
  find(place: number): boolean {
    const { bytes, count } = this;
    if (this.entry === -1) this.next();
    while (this.entry + 1 < count && (bytes[countBytes + this.entry] as number) < place) this.next();
    return bytes[countBytes + this.entry] === place;
  }

  /** Goes on to the next entry of the same group. Returns whether it has one. */
  findMore(): boolean {
    const places = countBytes + this.entry;
    const hasMore = this.entry + 1 < this.count && this.bytes[places + 1] === this.bytes[places];
    if (hasMore) this.next();
    return hasMore;
  }

  /** Whether the current entry has other bytes than the last one for which this was true. */
  isNew(): boolean {
    const { from, to } = this.latest;
    const same =
      to - from === this.to - this.from && this.bytes.compare(this.bytes, from, to, this.from, this.to) === 0;
    if (!same) this.latest = { from: this.from, to: this.to };
    return !same;
  }

  /** Returns all groups and what they have, from the current one on. */
  entries(): PackEntry[] {
    const entries: PackEntry[] = [];
    while (this.entry + 1 < this.count) {
      this.next();
      const groupId = this.owner.block * groupsPerBlock + (this.bytes[countBytes + this.entry] as number);
      const text = this.bytes.toString('utf8', this.from + 1, this.to);
      entries.push({ groupId, text, at: this.at === 0 ? undefined : this.at - this.from - 1 });
    }
    return entries;
  }

  private next(): void {
    this.entry++;
    const lengths = countBytes + this.count;
    const inserted = lengths + numberBytes * this.count;
    const at = this.bytes.readUInt32LE(inserted + numberBytes * this.entry);
    this.from = this.to;
    this.to += this.bytes.readUInt32LE(lengths + numberBytes * this.entry);
    this.at = at === 0 ? 0 : this.from + at;
  }
}

/** Returns the place of a group in its block. */
export const placeInBlock = (groupId: number): number => groupId % groupsPerBlock;
