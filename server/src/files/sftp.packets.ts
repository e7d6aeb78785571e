// The packets of SFTP version 3 (draft-ietf-secsh-filexfer-02), which all clients speak: from bytes to requests, from
// answers to bytes. Pure. No bytes make it throw: a request that cannot be read is one that says so.

/** What a request says of a file; times in seconds since 1970. */
export type Attributes = { size?: number; mode?: number; accessed?: number; modified?: number };

/** A path or a handle is undefined when it cannot be one: not UTF-8, or not made by us. */
export type Ask =
  | { verb: 'init' | 'malformed' | 'unsupported' | 'refused' }
  | { verb: 'open'; path: string | undefined; flags: number }
  | { verb: 'write'; handle: number | undefined; offset: number; pieces: Buffer[] }
  | { verb: 'read' | 'close' | 'readdir' | 'fstat'; handle: number | undefined }
  | { verb: 'fsetstat'; handle: number | undefined; attributes: Attributes }
  | { verb: 'stat' | 'opendir' | 'realpath' | 'remove'; path: string | undefined }
  | { verb: 'setstat'; path: string | undefined; attributes: Attributes }
  | { verb: 'rename'; path: string | undefined; to: string | undefined };

/** `size`: what it keeps in memory, in bytes. */
export type Request = { id: number; size: number; ask: Ask };

/** Flags of a request to open a file. */
export const openFlags = { read: 1, write: 2, append: 4, create: 8, truncate: 16, exclusive: 32 };

/** Codes of an answer that is no more than a status. */
export const statusCodes = {
  ok: 0,
  eof: 1,
  noSuchFile: 2,
  denied: 3,
  failure: 4,
  badMessage: 5,
  unsupported: 8,
};
export type Status = keyof typeof statusCodes;

/** The longest packet, as OpenSSH has it. Clients write 32 KiB at a time, OpenSSH up to 255 KiB when told to. */
const maxPacketBytes = 256 * 1024;

export type PacketReader = {
  /** Requests that the next bytes make whole, in their order; then, if that is what follows, that no more can be read. */
  read(chunk: Buffer): Generator<Request | 'unreadable', void>;
  /** Bytes of a request that is not whole yet. */
  readonly pending: number;
};

/** Shorter pieces of a packet are put together: each for itself would take more memory than its bytes. */
const shortPiece = 1024;

export function packetReader(): PacketReader {
  const head = Buffer.alloc(4);
  let headFilled = 0;
  /** Of the packet that is not whole yet, as it has come: most of it needs no copy. */
  let pieces: Buffer[] = [];
  let pending = 0;
  let isBroken = false;

  function keep(piece: Buffer): void {
    const last = pieces.at(-1);
    if (last && last.length < shortPiece) pieces[pieces.length - 1] = Buffer.concat([last, piece]);
    else pieces.push(piece.length < shortPiece ? Buffer.from(piece) : piece);
    pending += piece.length;
  }

  /** Takes what it can from an offset on; returns where it has come to. */
  function take(chunk: Buffer, from: number): number {
    let at = from;
    for (; headFilled < 4 && at < chunk.length; at++) head[headFilled++] = chunk[at] as number;
    if (headFilled < 4) return at;
    const length = head.readUInt32BE();
    isBroken = length === 0 || length > maxPacketBytes;
    const taken = isBroken ? 0 : Math.min(length - pending, chunk.length - at);
    if (taken > 0) keep(chunk.subarray(at, at + taken));
    return at + taken;
  }

  return {
    get pending() {
      return pending;
    },
    *read(chunk) {
      for (let at = 0; at < chunk.length && !isBroken;) {
        at = take(chunk, at);
        if (isBroken || headFilled < 4 || pending < head.readUInt32BE()) continue;
        const whole = pieces;
        headFilled = 0;
        pieces = [];
        pending = 0;
        yield requestOf(whole);
      }
      if (isBroken) yield 'unreadable';
    },
  };
}

const verbs: Record<number, (fields: Fields) => Ask> = {
  3: (fields) => {
    const ask = { verb: 'open', path: fields.path(), flags: fields.number() } as const;
    fields.attributes();
    return ask;
  },
  4: (fields) => ({ verb: 'close', handle: fields.handle() }),
  5: (fields) => ({ verb: 'read', handle: fields.handle() }),
  6: (fields) => ({
    verb: 'write',
    handle: fields.handle(),
    offset: fields.long(),
    pieces: fields.data(),
  }),
  7: (fields) => ({ verb: 'stat', path: fields.path() }), // LSTAT: there are no links
  8: (fields) => ({ verb: 'fstat', handle: fields.handle() }),
  9: (fields) => ({ verb: 'setstat', path: fields.path(), attributes: fields.attributes() }),
  10: (fields) => ({ verb: 'fsetstat', handle: fields.handle(), attributes: fields.attributes() }),
  11: (fields) => ({ verb: 'opendir', path: fields.path() }),
  12: (fields) => ({ verb: 'readdir', handle: fields.handle() }),
  13: (fields) => ({ verb: 'remove', path: fields.path() }),
  14: () => ({ verb: 'refused' }), // MKDIR
  15: () => ({ verb: 'refused' }), // RMDIR
  16: (fields) => ({ verb: 'realpath', path: fields.path() }),
  17: (fields) => ({ verb: 'stat', path: fields.path() }),
  18: (fields) => ({ verb: 'rename', path: fields.path(), to: fields.path() }),
  19: () => ({ verb: 'refused' }), // READLINK
  20: () => ({ verb: 'refused' }), // SYMLINK
};

/** The longest beginning of a request to write, up to the bytes. */
const maxWriteHead = 1 + 4 + 4 + 256 + 8 + 4;

/** The request of a packet, which is not empty. The bytes of a request to write are left in their pieces. */
function requestOf(pieces: Buffer[]): Request {
  const size = pieces.reduce((sum, { length }) => sum + length, 0);
  const isLongWrite = pieces[0]?.[0] === 6 && pieces[0].length >= maxWriteHead;
  const [first, ...rest] = isLongWrite || pieces.length === 1 ? pieces : [Buffer.concat(pieces)];
  const packet = first as Buffer;
  const type = packet[0] as number;
  if (type === 1) return { id: 0, size, ask: { verb: packet.length >= 5 ? 'init' : 'malformed' } };
  if (packet.length < 5) return { id: 0, size, ask: { verb: 'malformed' } };
  const id = packet.readUInt32BE(1);
  const read = verbs[type];
  if (!read) return { id, size, ask: { verb: 'unsupported' } };
  const fields = fieldsOf(packet, rest);
  const ask = read(fields);
  return { id, size, ask: fields.areWhole() ? ask : { verb: 'malformed' } };
}

type Fields = ReturnType<typeof fieldsOf>;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads the fields of a request one after another. One that is not there reads as nothing, and is remembered. `rest`: of
 * the last one, what has come in further pieces.
 */
function fieldsOf(packet: Buffer, rest: Buffer[]) {
  let at = 5;
  let isWhole = true;

  function take(length: number): Buffer {
    isWhole &&= packet.length - at >= length;
    if (!isWhole) return Buffer.alloc(0);
    at += length;
    return packet.subarray(at - length, at);
  }

  function number(): number {
    const bytes = take(4);
    return isWhole ? bytes.readUInt32BE(0) : 0;
  }

  const long = () => number() * 2 ** 32 + number();
  const bytes = () => take(number());

  function data(): Buffer[] {
    let missing = number();
    const pieces: Buffer[] = [];
    for (const piece of [packet.subarray(at), ...rest]) {
      pieces.push(piece.subarray(0, missing));
      missing -= Math.min(missing, piece.length);
    }
    isWhole &&= missing === 0;
    return pieces;
  }

  return {
    areWhole: () => isWhole,
    number,
    long,
    data,
    path(): string | undefined {
      try {
        return utf8.decode(bytes());
      } catch {
        return undefined;
      }
    },
    handle(): number | undefined {
      const handle = bytes();
      return handle.length === 4 ? handle.readUInt32BE(0) : undefined;
    },
    attributes(): Attributes {
      const flags = number();
      const attributes: Attributes = {};
      if (flags & 1) attributes.size = long();
      if (flags & 2) take(8); // owner and group
      if (flags & 4) attributes.mode = number();
      if (flags & 8) {
        attributes.accessed = number();
        attributes.modified = number();
      }
      return attributes; // what a client may add to them says nothing to us
    },
  };
}

export type Entry = { name: string; longName: string; attributes: Attributes };

export const answers = {
  version: (): Buffer => packetOf(2, 3),
  status: (id: number, status: Status, text: string): Buffer =>
    packetOf(101, id, statusCodes[status], text, ''),
  handle: (id: number, handle: number): Buffer => packetOf(102, id, 4, handle),
  names: (id: number, entries: Entry[]): Buffer =>
    packetOf(
      104,
      id,
      entries.length,
      ...entries.flatMap(({ name, longName, attributes }) => [name, longName, attributeBytes(attributes)]),
    ),
  attributes: (id: number, attributes: Attributes): Buffer => packetOf(105, id, attributeBytes(attributes)),
};

/** A packet of 32-bit numbers, texts and bytes as they are. */
function packetOf(type: number, ...fields: (number | string | Buffer)[]): Buffer {
  const parts = fields.flatMap((field) => {
    if (typeof field === 'number') return [uint32(field)];
    if (typeof field === 'string') return [uint32(Buffer.byteLength(field)), Buffer.from(field)];
    return [field];
  });
  const length = parts.reduce((sum, part) => sum + part.length, 1);
  return Buffer.concat([uint32(length), Buffer.from([type]), ...parts]);
}

function attributeBytes({ size, mode, accessed, modified }: Attributes): Buffer {
  const flags =
    (size === undefined ? 0 : 1) | (mode === undefined ? 0 : 4) | (modified === undefined ? 0 : 8);
  return Buffer.concat([
    uint32(flags),
    ...(size === undefined ? [] : [uint32(Math.floor(size / 2 ** 32)), uint32(size)]),
    ...(mode === undefined ? [] : [uint32(mode)]),
    ...(modified === undefined ? [] : [uint32(accessed ?? modified), uint32(modified)]),
  ]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}
