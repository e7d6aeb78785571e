// Reads the segments of PostgreSQL's write-ahead log: pages of 8 KB, each with a header, and records that continue from one page
// and segment to the next.

export const pageSize = 8192;

/** A part of the log without gaps, without page headers. */
export type LogPart = {
  /** Where the part starts in the log, in PostgreSQL's notation: 0/1A2B3C. */
  from: string;
  bytes: Buffer;
  /** Reads the records in order. */
  records: () => LogRecord[];
};

/**
 * A record, or as much of it as exists. `isWhole` is false if its start was on a page that no longer exists, or if it was never
 * finished.
 */
export type LogRecord = { address: bigint; bytes: Buffer; isWhole: boolean };

/** `rest`: how many bytes at the start of the page belong to an earlier record. `at`: where the page starts in the part. */
type Page = { address: bigint; rest: number; head: number; at: number; bytes: Buffer };

// Bits of a page header (xlp_info).
const [isContinued, isLong] = [1, 2];
const [shortHead, longHead, recordHead] = [24, 40, 24];
const emptyPage = Buffer.alloc(pageSize);

export const isSegment = (name: string): boolean => /\/pg_wal\/[0-9A-F]{24}$/.test(name);

/**
 * Returns what segments contain, in the order of their names. PostgreSQL reuses a segment under a later name, and its pages keep
 * their content until they are overwritten. Each page says which part of the log it belongs to, so the end of the log and the
 * remains of older pages are different parts.
 */
export function logParts(segments: Buffer[]): LogPart[] {
  const parts: Page[][] = [];
  for (const segment of segments) {
    for (let at = 0; at + pageSize <= segment.length; at += pageSize) {
      const bytes = segment.subarray(at, at + pageSize);
      if (bytes.equals(emptyPage)) continue;
      const page = pageOf(bytes);
      const part = parts.at(-1);
      const last = part?.at(-1);
      if (part && last && last.address + BigInt(pageSize) === page.address) {
        part.push({ ...page, at: last.at + pageSize - last.head });
      } else parts.push([page]);
    }
  }
  return parts.map((pages) => {
    const joined = Buffer.concat(pages.map(({ bytes, head }) => bytes.subarray(head)));
    return {
      from: shownAddress(pages[0]!.address),
      bytes: joined,
      records: () => [...recordsOf(pages, joined)],
    };
  });
}

function pageOf(bytes: Buffer): Page {
  const info = bytes.readUInt16LE(2);
  return {
    address: bytes.readBigUInt64LE(8),
    rest: (info & isContinued) === 0 ? 0 : bytes.readUInt32LE(16),
    head: (info & isLong) === 0 ? shortHead : longHead,
    at: 0,
    bytes,
  };
}

const shownAddress = (address: bigint): string =>
  `${(address >> 32n).toString(16)}/${(address & 0xffff_ffffn).toString(16)}`.toUpperCase();

/** Returns the records of a part in order. Every byte except the padding between records belongs to one of them. */
function* recordsOf(pages: Page[], joined: Buffer): Generator<LogRecord> {
  let [start, missing, address, isKnown] = [0, 0, 0n, true];
  const until = (end: number, isWhole: boolean): LogRecord => ({
    address,
    bytes: joined.subarray(start, end),
    isWhole,
  });
  for (const page of pages) {
    const end = page.at + pageSize - page.head;
    let { at } = page;
    if (missing !== page.rest) {
      if (missing > 0) yield until(at, false);
      [start, missing, address, isKnown] = [at, page.rest, page.address, false];
    }
    while (at < end) {
      if (missing === 0) {
        const length = joined.readUInt32LE(at);
        // The log currently ends here.
        if (length < recordHead) break;
        [start, missing, isKnown] = [at, length, true];
        address = page.address + BigInt(page.head + at - page.at);
      }
      const taken = Math.min(missing, end - at);
      at += taken;
      missing -= taken;
      if (missing > 0) break;
      yield until(at, isKnown);
      at = Math.ceil(at / 8) * 8;
    }
    const isRest = missing === 0 && joined.subarray(at, end).some((byte) => byte !== 0);
    if (isRest) yield { address: page.address, bytes: joined.subarray(at, end), isWhole: false };
  }
  if (missing > 0) yield until(joined.length, false);
}
