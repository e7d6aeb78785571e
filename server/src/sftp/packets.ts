// Parses requests and writes replies of SFTP version 3 (draft-ietf-secsh-filexfer-02), which all clients support. Pure. Never
// throws: an unreadable request becomes a request of type `malformed`.

/** The attributes of a file, with times in seconds since 1970. */
export type FileAttributes = { size?: number; mode?: number; accessed?: number; modified?: number };

/** An operation that a client requests. A path or handle is undefined if it is not UTF-8 or not one of ours. */
export type SftpOperation =
  | { verb: 'init' | 'malformed' | 'unsupported' | 'refused' }
  | { verb: 'open'; path: string | undefined; flags: number }
  | { verb: 'write'; handle: number | undefined; offset: number; chunks: Buffer[] }
  | { verb: 'read' | 'close' | 'readdir' | 'fstat'; handle: number | undefined }
  | { verb: 'fsetstat'; handle: number | undefined; attributes: FileAttributes }
  | { verb: 'stat' | 'opendir' | 'realpath' | 'remove'; path: string | undefined }
  | { verb: 'setstat'; path: string | undefined; attributes: FileAttributes }
  | { verb: 'rename'; path: string | undefined; to: string | undefined };

/** `size` is the memory that the request takes, in bytes. */
export type Request = { id: number; size: number; operation: SftpOperation };

/** Flags of a request to open a file. */
export const openFlags = { read: 1, write: 2, append: 4, create: 8, truncate: 16, exclusive: 32 };

/** The codes of status replies. */
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

/** The longest packet, as in OpenSSH. Clients write 32 KB at a time, OpenSSH up to 255 KB if configured. */
const maxPacketBytes = 256 * 1024;

export type PacketReader = {
  /** Returns the requests that the next bytes complete, in order. Ends with 'unreadable' if the stream is broken. */
  read(chunk: Buffer): Generator<Request | 'unreadable', void>;
  /** The bytes of an incomplete request. */
  readonly pending: number;
};

/** Chunks shorter than this are joined, because each buffer takes more memory than its bytes. */
const shortChunk = 1024;

export function packetReader(): PacketReader {
  const head = Buffer.alloc(4);
  let headFilled = 0;
  /** The chunks of the incomplete packet as they arrived. Most need no copy. */
  let chunks: Buffer[] = [];
  let pending = 0;
  let isBroken = false;

  function keep(bytes: Buffer): void {
    const last = chunks.at(-1);
    if (last && last.length < shortChunk) chunks[chunks.length - 1] = Buffer.concat([last, bytes]);
    else chunks.push(bytes.length < shortChunk ? Buffer.from(bytes) : bytes);
    pending += bytes.length;
  }

  /** Takes bytes of the current packet from an offset on, and returns the offset after them. */
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
        const complete = chunks;
        headFilled = 0;
        chunks = [];
        pending = 0;
        yield requestOf(complete);
      }
      if (isBroken) yield 'unreadable';
    },
  };
}

const verbs: Record<number, (fields: Fields) => SftpOperation> = {
  3: (fields) => {
    const operation = { verb: 'open', path: fields.path(), flags: fields.number() } as const;
    fields.attributes();
    return operation;
  },
  4: (fields) => ({ verb: 'close', handle: fields.handle() }),
  5: (fields) => ({ verb: 'read', handle: fields.handle() }),
  6: (fields) => ({
    verb: 'write',
    handle: fields.handle(),
    offset: fields.long(),
    chunks: fields.data(),
  }),
  7: (fields) => ({ verb: 'stat', path: fields.path() }), // LSTAT, because there are no links.
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

/** The maximum length of the fields before the bytes of a write request. */
const maxWriteHead = 1 + 4 + 4 + 256 + 8 + 4;

/** Parses a packet, which is not empty. The bytes of a write request stay in their chunks. */
function requestOf(chunks: Buffer[]): Request {
  const size = chunks.reduce((sum, { length }) => sum + length, 0);
  const isLongWrite = chunks[0]?.[0] === 6 && chunks[0].length >= maxWriteHead;
  const [first, ...rest] = isLongWrite || chunks.length === 1 ? chunks : [Buffer.concat(chunks)];
  const packet = first as Buffer;
  const type = packet[0] as number;
  if (type === 1) return { id: 0, size, operation: { verb: packet.length >= 5 ? 'init' : 'malformed' } };
  if (packet.length < 5) return { id: 0, size, operation: { verb: 'malformed' } };
  const id = packet.readUInt32BE(1);
  const read = verbs[type];
  if (!read) return { id, size, operation: { verb: 'unsupported' } };
  const fields = fieldsOf(packet, rest);
  const operation = read(fields);
  return { id, size, operation: fields.areWhole() ? operation : { verb: 'malformed' } };
}

type Fields = ReturnType<typeof fieldsOf>;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads the fields of a request one after another. A missing field reads as empty, and `areWhole` then returns false. `rest` has
 * the further chunks of the last field.
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
    const chunks: Buffer[] = [];
    for (const chunk of [packet.subarray(at), ...rest]) {
      chunks.push(chunk.subarray(0, missing));
      missing -= Math.min(missing, chunk.length);
    }
    isWhole &&= missing === 0;
    return chunks;
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
    attributes(): FileAttributes {
      const flags = number();
      const attributes: FileAttributes = {};
      if (flags & 1) attributes.size = long();
      if (flags & 2) take(8); // owner and group
      if (flags & 4) attributes.mode = number();
      if (flags & 8) {
        attributes.accessed = number();
        attributes.modified = number();
      }
      return attributes; // Further attributes that a client may add are ignored.
    },
  };
}

export type ListingEntry = { name: string; longName: string; attributes: FileAttributes };

export const replies = {
  version: (): Buffer => packetOf(2, 3),
  status: (id: number, status: Status, text: string): Buffer =>
    packetOf(101, id, statusCodes[status], text, ''),
  handle: (id: number, handle: number): Buffer => packetOf(102, id, 4, handle),
  names: (id: number, entries: ListingEntry[]): Buffer =>
    packetOf(
      104,
      id,
      entries.length,
      ...entries.flatMap(({ name, longName, attributes }) => [name, longName, attributeBytes(attributes)]),
    ),
  attributes: (id: number, attributes: FileAttributes): Buffer =>
    packetOf(105, id, attributeBytes(attributes)),
};

/** Returns a packet with 32-bit numbers, texts with their length, and raw bytes. */
function packetOf(type: number, ...fields: (number | string | Buffer)[]): Buffer {
  const parts = fields.flatMap((field) => {
    if (typeof field === 'number') return [uint32(field)];
    if (typeof field === 'string') return [uint32(Buffer.byteLength(field)), Buffer.from(field)];
    return [field];
  });
  const length = parts.reduce((sum, part) => sum + part.length, 1);
  return Buffer.concat([uint32(length), Buffer.from([type]), ...parts]);
}

function attributeBytes({ size, mode, accessed, modified }: FileAttributes): Buffer {
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
