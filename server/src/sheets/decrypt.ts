// Decrypts workbooks that are encrypted with Excel's built-in password. Excel uses it for workbooks that are only protected
// from changes, and opens them without asking. Any other password was set by the owner ([MS-OFFCRYPTO] §2.3).
import { createDecipheriv, hash } from 'node:crypto';
import { readXml } from './xml.ts';

/** Excel's built-in password. */
export const excelsPassword = 'VelvetSweatshop';

/**
 * Returns the archive in an encrypted .xlsx, from two streams of its container. Undefined if it has another password, or uses an
 * encryption that Excel does not use by default.
 */
export function decryptPackage(info: Buffer, bytes: Buffer, password = excelsPassword): Buffer | undefined {
  const secret = Buffer.from(password, 'utf16le');
  const isAgile = info.readUInt32LE(0) === 0x0004_0004;
  const plain = isAgile ? agile(info.subarray(8), bytes, secret) : standard(info.subarray(8), bytes, secret);
  return plain?.subarray(0, Number(bytes.readBigUInt64LE(0)));
}

/** Decrypts whole blocks. */
function aes(mode: 'cbc' | 'ecb', key: Buffer, iv: Buffer | null, bytes: Buffer): Buffer {
  const cipher = createDecipheriv(`aes-${key.length * 8}-${mode}`, key, iv).setAutoPadding(false);
  const whole = bytes.subarray(0, bytes.length - (bytes.length % 16));
  return Buffer.concat([cipher.update(whole), cipher.final()]);
}

const digest = (algorithm: string, ...parts: Buffer[]): Buffer =>
  hash(algorithm, Buffer.concat(parts), 'buffer');

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

/** Cuts a hash to a length, or pads it if it is too short. */
const fitted = (bytes: Buffer, length: number, padding: number): Buffer =>
  Buffer.concat([bytes, Buffer.alloc(Math.max(length - bytes.length, 0), padding)]).subarray(0, length);

/** Hashes the salt and password `count` more times. */
function spun(algorithm: string, salt: Buffer, secret: Buffer, count: number): Buffer {
  let found = digest(algorithm, salt, secret);
  for (let i = 0; i < count; i++) found = digest(algorithm, number(i), found);
  return found;
}

/** Decrypts what Excel 2010 and later write ([MS-OFFCRYPTO] §2.3.4.10–15). */
function agile(description: Buffer, bytes: Buffer, secret: Buffer): Buffer | undefined {
  let data: ReadonlyMap<string, string> = new Map();
  let lock: ReadonlyMap<string, string> = new Map();
  readXml(description, {
    open(path, attributes) {
      if (path === 'encryption/keyData') data = attributes;
      if (path === 'encryption/keyEncryptors/keyEncryptor/encryptedKey') lock = attributes;
    },
  });
  const isKnown = [data, lock].every(
    (of) => of.get('cipherAlgorithm') === 'AES' && of.get('cipherChaining') === 'ChainingModeCBC',
  );
  if (!isKnown) return undefined;
  const algorithm = algorithmOf(lock);
  const binary = (name: string) => Buffer.from(lock.get(name) ?? '', 'base64');
  const salt = binary('saltValue');
  const base = spun(algorithm, salt, secret, Number(lock.get('spinCount')));
  const opened = (purpose: string, name: string) => {
    const key = fitted(
      digest(algorithm, base, Buffer.from(purpose, 'hex')),
      Number(lock.get('keyBits')) / 8,
      0x36,
    );
    return aes('cbc', key, fitted(salt, 16, 0x36), binary(name));
  };
  const verifier = opened('fea7d2763b4b9e79', 'encryptedVerifierHashInput');
  const expected = opened('d7aa0f6d3061344e', 'encryptedVerifierHashValue');
  const found = digest(algorithm, verifier.subarray(0, salt.length));
  if (!expected.subarray(0, found.length).equals(found)) return undefined;
  const key = opened('146e0be7abacd0d6', 'encryptedKeyValue').subarray(0, Number(data.get('keyBits')) / 8);
  const dataSalt = Buffer.from(data.get('saltValue') ?? '', 'base64');
  const parts: Buffer[] = [];
  for (let at = 8, i = 0; at < bytes.length; at += 4096, i++) {
    const iv = fitted(digest(algorithmOf(data), dataSalt, number(i)), 16, 0x36);
    parts.push(aes('cbc', key, iv, bytes.subarray(at, at + 4096)));
  }
  return Buffer.concat(parts);
}

const algorithmOf = (attributes: ReadonlyMap<string, string>): string =>
  (attributes.get('hashAlgorithm') ?? '').toLowerCase().replace('-', '');

/** Decrypts what Excel 2007 writes ([MS-OFFCRYPTO] §2.3.4.4–9): a header after its length, then a verifier. */
function standard(header: Buffer, bytes: Buffer, secret: Buffer): Buffer | undefined {
  const verifier = header.subarray(4 + header.readUInt32LE(0));
  const isAes = header.readUInt32LE(12) >= 0x660e && header.readUInt32LE(12) <= 0x6610;
  if (!isAes) return undefined;
  const base = digest('sha1', spun('sha1', verifier.subarray(4, 20), secret, 50_000), number(0));
  const half = (padding: number) => {
    const padded = Buffer.alloc(64, padding);
    for (const [i, byte] of base.entries()) padded[i] = byte ^ padding;
    return digest('sha1', padded);
  };
  const key = Buffer.concat([half(0x36), half(0x5c)]).subarray(0, header.readUInt32LE(20) / 8);
  const expected = aes('ecb', key, null, verifier.subarray(40, 72)).subarray(0, 20);
  const found = digest('sha1', aes('ecb', key, null, verifier.subarray(20, 36)));
  return found.equals(expected) ? aes('ecb', key, null, bytes.subarray(8)) : undefined;
}

// --- Old workbooks.

const filePass = 0x2f;
/** A record that readers ignore. */
const ignoredRecord = 0xc1;
/** Records that are never encrypted ([MS-XLS] §2.2.10). */
const plainRecords = new Set([0x809, filePass, 0x194, 0x195, 0xe1, 0x196, 0x138]);
const boundSheet = 0x85;

/**
 * Returns the decrypted stream of an old workbook, without the record that marks it as encrypted. Returns a stream that isn't
 * encrypted as it is. Undefined if it has another password or an unknown encryption.
 */
export function decryptBook(stream: Buffer, password = excelsPassword): Buffer | undefined {
  const lock = recordsOf(stream).find(({ type }) => type === filePass);
  if (!lock) return stream;
  const decrypt = decrypterOf(
    stream.subarray(lock.from, lock.to),
    stream.length,
    Buffer.from(password, 'utf16le'),
  );
  if (!decrypt) return undefined;
  const plain = Buffer.from(stream);
  for (const { type, from, to } of recordsOf(stream)) {
    if (plainRecords.has(type)) continue;
    // The offset of a sheet is not encrypted.
    for (let at = type === boundSheet ? from + 4 : from; at < to; at++) {
      plain[at] = decrypt(plain[at]!, at, at - from + to);
    }
  }
  plain.writeUInt16LE(ignoredRecord, lock.from - 4);
  return plain;
}

type Record = { type: number; from: number; to: number };

function recordsOf(stream: Buffer): Record[] {
  const records: Record[] = [];
  for (let at = 0; at + 4 <= stream.length;) {
    const from = at + 4;
    const to = Math.min(from + stream.readUInt16LE(at + 2), stream.length);
    records.push({ type: stream.readUInt16LE(at), from, to });
    at = to;
  }
  return records;
}

/** Decrypts a byte, given its offset in the stream, and its offset in the record plus the end of the record. */
type Decrypt = (byte: number, at: number, beyond: number) => number;

function decrypterOf(lock: Buffer, length: number, secret: Buffer): Decrypt | undefined {
  // Before Excel 97 there was only one encryption, so the record does not name it.
  if (lock.length === 4) return exclusiveOr(lock);
  if (lock.readUInt16LE(0) === 0) return exclusiveOr(lock.subarray(2));
  const keyOf =
    lock.readUInt16LE(2) === 1 ? rc4(lock.subarray(6), secret) : rc4ByCryptoApi(lock.subarray(6), secret);
  if (!keyOf) return undefined;
  const blocks = Array.from({ length: Math.ceil(length / 1024) }, (_, i) => streamOf(keyOf(i), 1024));
  const keys = Buffer.concat(blocks);
  return (byte, at) => byte ^ keys[at]!;
}

/** Derived from Excel's built-in password: its key and verifier as stored, and the bytes to XOR with ([MS-OFFCRYPTO] §2.3.7). */
const exclusive = { lock: '59b30a9a', bytes: Buffer.from('876b9ae21ee305621e699660986e9404', 'hex') };

function exclusiveOr(lock: Buffer): Decrypt | undefined {
  if (lock.toString('hex') !== exclusive.lock) return undefined;
  return (byte, _, beyond) => {
    const xored = byte ^ exclusive.bytes[beyond % 16]!;
    return ((xored << 3) | (xored >> 5)) & 0xff;
  };
}

type KeyOf = (block: number) => Buffer;

/** Returns the keys of blocks, or undefined if the password is wrong ([MS-OFFCRYPTO] §2.3.6). */
function rc4(lock: Buffer, secret: Buffer): KeyOf | undefined {
  const [salt, verifier] = [lock.subarray(0, 16), lock.subarray(16, 48)];
  const start = digest('md5', secret).subarray(0, 5);
  const base = digest('md5', ...Array.from({ length: 16 }, () => Buffer.concat([start, salt]))).subarray(
    0,
    5,
  );
  const keyOf = (block: number) => digest('md5', base, number(block));
  return isRight(keyOf, verifier, 'md5') ? keyOf : undefined;
}

/** Like `rc4`, for Excel 2002 and later ([MS-OFFCRYPTO] §2.3.5): a header after its length, then a verifier. */
function rc4ByCryptoApi(lock: Buffer, secret: Buffer): KeyOf | undefined {
  const headerEnd = 8 + lock.readUInt32LE(4);
  const bits = lock.readUInt32LE(8 + 16) || 40;
  const verifier = lock.subarray(headerEnd);
  const base = digest('sha1', verifier.subarray(4, 20), secret);
  const keyOf = (block: number) => {
    const key = digest('sha1', base, number(block)).subarray(0, bits / 8);
    return bits === 40 ? fitted(key, 16, 0) : key;
  };
  const encrypted = Buffer.concat([verifier.subarray(20, 36), verifier.subarray(40, 60)]);
  return isRight(keyOf, encrypted, 'sha1') ? keyOf : undefined;
}

/** Whether the key of the first block decrypts the 16-byte verifier and its matching hash. */
function isRight(keyOf: KeyOf, encrypted: Buffer, algorithm: string): boolean {
  const stream = streamOf(keyOf(0), encrypted.length);
  const plain = Buffer.from(encrypted.map((byte, i) => byte ^ stream[i]!));
  return digest(algorithm, plain.subarray(0, 16)).equals(plain.subarray(16));
}

/** Returns the key stream of RC4, which OpenSSL no longer supports. */
function streamOf(key: Buffer, length: number): Buffer {
  const state = Uint8Array.from({ length: 256 }, (_, i) => i);
  const swap = (i: number, j: number) => ([state[i], state[j]] = [state[j]!, state[i]!]);
  for (let i = 0, j = 0; i < 256; i++) {
    j = (j + state[i]! + key[i % key.length]!) & 0xff;
    swap(i, j);
  }
  const stream = Buffer.alloc(length);
  for (let at = 0, i = 0, j = 0; at < length; at++) {
    i = (i + 1) & 0xff;
    j = (j + state[i]!) & 0xff;
    swap(i, j);
    stream[at] = state[(state[i]! + state[j]!) & 0xff]!;
  }
  return stream;
}
