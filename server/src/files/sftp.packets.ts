// The packets of SFTP version 3 (draft-ietf-secsh-filexfer-02), which all clients speak: from bytes to requests, from
// answers to bytes. Pure. No bytes make it throw: a request that cannot be read is one that says so.

/** What a request says of a file; times in seconds since 1970. */
export type Attributes = { size?: number; mode?: number; accessed?: number; modified?: number };

/** A path or a handle is undefined when it cannot be one: not UTF-8, or not made by us. */
export type Ask =
  | { verb: 'init' | 'malformed' | 'unsupported' | 'refused' }
  | { verb: 'open'; path: string | undefined; flags: number }
  | { verb: 'write'; handle: number | undefined; offset: number; bytes: Buffer }
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

export function packetReader(): PacketReader {
  /** A packet of which the first `filled` bytes have come. Grows as they come: what is announced need not follow. */
  let partial = Buffer.alloc(0);
  let filled = 0;
  let isBroken = false;

  function keep(chunk: Buffer): void {
    if (filled + chunk.length > partial.length) {
      const most = filled < 4 ? maxPacketBytes : 4 + partial.readUInt32BE(0);
      const grown = Buffer.allocUnsafeSlow(
        Math.max(filled + chunk.length, Math.min(most, 2 * partial.length)),
      );
      partial.copy(grown, 0, 0, filled);
      partial = grown;
    }
    chunk.copy(partial, filled);
    filled += chunk.length;
  }

  /** What is to come before the packet is whole, or its length is known. */
  function wanted(): number | 'unreadable' {
    if (filled < 4) return 4 - filled;
    const length = partial.readUInt32BE(0);
    return length === 0 || length > maxPacketBytes ? 'unreadable' : 4 + length - filled;
  }

  return {
    get pending() {
      return partial.length;
    },
    *read(chunk) {
      for (let at = 0; at < chunk.length && !isBroken;) {
        if (filled === 0 && chunk.length - at >= 4) {
          // The usual case, without a copy: a packet that begins and ends here.
          const length = chunk.readUInt32BE(at);
          if (length > 0 && length <= maxPacketBytes && chunk.length - at >= 4 + length) {
            yield requestOf(chunk.subarray(at + 4, at + 4 + length));
            at += 4 + length;
            continue;
          }
        }
        const missing = wanted();
        if (missing === 'unreadable') {
          isBroken = true;
          break;
        }
        const taken = Math.min(missing, chunk.length - at);
        keep(chunk.subarray(at, at + taken));
        at += taken;
        if (filled > 4 && wanted() === 0) {
          const whole = partial.subarray(4, filled);
          partial = Buffer.alloc(0);
          filled = 0;
          yield requestOf(whole);
        }
      }
      if (isBroken || wanted() === 'unreadable') {
        isBroken = true;
        yield 'unreadable';
      }
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
    bytes: fields.bytes(),
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

/** The request of a packet, which is not empty. */
function requestOf(packet: Buffer): Request {
  const size = packet.length;
  const type = packet[0] as number;
  if (type === 1) return { id: 0, size, ask: { verb: packet.length >= 5 ? 'init' : 'malformed' } };
  if (packet.length < 5) return { id: 0, size, ask: { verb: 'malformed' } };
  const id = packet.readUInt32BE(1);
  const read = verbs[type];
  if (!read) return { id, size, ask: { verb: 'unsupported' } };
  const fields = fieldsOf(packet);
  const ask = read(fields);
  return { id, size, ask: fields.areWhole() ? ask : { verb: 'malformed' } };
}

type Fields = ReturnType<typeof fieldsOf>;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Reads the fields of a request one after another. One that is not there reads as nothing, and is remembered. */
function fieldsOf(packet: Buffer) {
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

  return {
    areWhole: () => isWhole,
    number,
    long,
    bytes,
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
