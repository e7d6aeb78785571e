// Builds SFTP requests and reads replies, for tests.

export type Field = number | bigint | string | Buffer;
export type Reply = {
  type: number;
  id: number;
  /** The code of a status. */
  code?: number;
  text?: string;
  handle?: Buffer;
  names?: { name: string; long: string; size?: number }[];
  size?: number;
  mode?: number;
  modified?: number;
};

/** Types of requests. */
export const types = {
  init: 1,
  open: 3,
  close: 4,
  read: 5,
  write: 6,
  lstat: 7,
  fstat: 8,
  setstat: 9,
  fsetstat: 10,
  opendir: 11,
  readdir: 12,
  remove: 13,
  mkdir: 14,
  rmdir: 15,
  realpath: 16,
  stat: 17,
  rename: 18,
  readlink: 19,
  symlink: 20,
  extended: 200,
};
/** Codes of a status. */
export const code = { ok: 0, eof: 1, noFile: 2, denied: 3, failure: 4, badMessage: 5, unsupported: 8 };
/** Flags to open a file as most clients do: for writing, created or replaced. */
export const createFlags = 2 | 8 | 16;

/** Returns a packet: numbers in 32 bits, bigints in 64, texts and bytes after their length. */
export function packet(type: number, ...fields: Field[]): Buffer {
  const parts = fields.map((field) => {
    if (typeof field === 'number') return word(field);
    if (typeof field === 'bigint') return Buffer.from(field.toString(16).padStart(16, '0'), 'hex');
    const bytes = Buffer.from(field as string);
    return Buffer.concat([word(bytes.length), bytes]);
  });
  const body = Buffer.concat([Buffer.from([type]), ...parts]);
  return Buffer.concat([word(body.length), body]);
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Reads a reply. */
export function replyOf(bytes: Buffer): Reply {
  let at = 1;
  const number = () => bytes.readUInt32BE((at += 4) - 4);
  const blob = () => {
    const length = number();
    return bytes.subarray(at, (at += length));
  };
  const attributes = () => {
    const flags = number();
    const found: { size?: number; mode?: number; modified?: number } = {};
    if (flags & 1) found.size = number() * 2 ** 32 + number();
    if (flags & 4) found.mode = number();
    if (flags & 8) {
      number();
      found.modified = number();
    }
    return found;
  };
  const reply: Reply = { type: bytes[0] as number, id: number() };
  if (reply.type === 101) {
    reply.code = number();
    reply.text = blob().toString();
  } else if (reply.type === 102) reply.handle = blob();
  else if (reply.type === 104) {
    reply.names = Array.from({ length: number() }, () => {
      const [name, long] = [blob().toString(), blob().toString()];
      return { name, long, ...attributes() };
    });
  } else if (reply.type === 105) Object.assign(reply, attributes());
  return reply;
}
