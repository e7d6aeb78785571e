// Workbooks encrypted with Excel's built-in password can be read, and workbooks with any other password cannot. The samples
// were written by other programs.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Fault } from '../base/errors.ts';
import { sparse } from '../testing/house/cases.ts';
import { sharedData } from '../testing/shared.ts';
import { openContainer } from './container.ts';
import { decryptBook, decryptPackage, excelsPassword } from './decrypt.ts';
import { readHere } from './reader.ts';

const sample = (name: string) => readFileSync(new URL(`samples/excels-password-${name}`, import.meta.url));
const rows = [
  ['Employee ID', 'First name', 'Last name'],
  ['1001', 'Anna', 'Berg'],
  ['1002', 'Åsa', 'Öberg'],
];

test.each([
  ['rc4.xls', 'xls'],
  ['standard.xlsx', 'xlsx'],
  ['agile.xlsx', 'xlsx'],
] as const)('%s is read', async (name, kind) => {
  expect(await readHere(sample(name), kind)).toEqual([{ name: 'Users', rows }]);
});

test.each(['standard.xlsx', 'agile.xlsx'])('%s opens with no other password', (name) => {
  const open = openContainer(sample(name));
  const opened = (password?: string) =>
    decryptPackage(open('/EncryptionInfo')!, open('/EncryptedPackage')!, password);
  expect(opened()?.toString('latin1', 0, 2)).toBe('PK');
  expect(opened('velvetsweatshop')).toBeUndefined();
});

/** The distance of the bytes that are changed in files that take long to decrypt. */
const rarely = sparse(4001);

test.each([
  ['rc4.xls', 'xls', 67],
  ['standard.xlsx', 'xlsx', rarely],
  ['agile.xlsx', 'xlsx', rarely],
] as const)(
  '%s with a wrong byte is read or refused, and never causes a defect',
  async (name, kind, step) => {
    for (let at = 512; at < sample(name).length; at += step) {
      const bytes = sample(name);
      bytes[at] = bytes[at]! ^ 0xff;
      const read = await readHere(bytes, kind).catch((error: unknown) => error);
      expect(read instanceof Fault || Array.isArray(read)).toBe(true);
    }
  },
);

describe('streams of old workbooks', () => {
  const record = (type: number, data: Buffer) => {
    const head = Buffer.alloc(4);
    head.writeUInt16LE(type);
    head.writeUInt16LE(data.length, 2);
    return Buffer.concat([head, data]);
  };
  const texts = [
    Buffer.from('some text that is longer than a block'),
    Buffer.from([]),
    Buffer.alloc(2000, 'ab'),
  ];
  /** Returns a workbook of a few records, plain and with each byte changed. The position of the sheet is not changed. */
  const stream = (
    encryption: Buffer,
    change: (byte: number, at: number, from: number, to: number) => number,
  ) => {
    const plain = Buffer.concat([
      record(0x809, Buffer.alloc(16, 1)),
      record(0x2f, encryption),
      ...texts.map((text) => record(0x204, text)),
      record(0x85, Buffer.from('\x01\x02\x03\x04Sheet')),
      record(0x0a, Buffer.alloc(0)),
    ]);
    const encrypted = Buffer.from(plain);
    for (let from = 4 + 16 + 4 + encryption.length + 4; from < plain.length;) {
      const to = from + plain.readUInt16LE(from - 2);
      const start = plain.readUInt16LE(from - 4) === 0x85 ? from + 4 : from;
      for (let at = start; at < to; at++) encrypted[at] = change(plain[at]!, at, from, to);
      from = to + 4;
    }
    plain.writeUInt16LE(0xc1, 20);
    return { plain, encrypted };
  };

  test('without encryption are returned unchanged', () => {
    const { plain } = stream(Buffer.alloc(6), (byte) => byte);
    expect(decryptBook(plain)).toBe(plain);
  });

  test.each([
    ['in Excel 95', '59b30a9a'],
    ['in Excel 97', '000059b30a9a'],
  ])('that are XOR-obfuscated %s are decrypted', (_, encryption) => {
    const bytes = Buffer.from('876b9ae21ee305621e699660986e9404', 'hex');
    const { plain, encrypted } = stream(Buffer.from(encryption, 'hex'), (byte, at, from, to) => {
      const rotated = ((byte >> 3) | (byte << 5)) & 0xff;
      return rotated ^ bytes[(to + at - from) % 16]!;
    });
    expect(decryptBook(encrypted)).toEqual(plain);
  });

  test('that are XOR-obfuscated with another password are not decrypted', () => {
    const { encrypted } = stream(Buffer.from('00004a511acc', 'hex'), (byte) => byte);
    expect(decryptBook(encrypted)).toBeUndefined();
  });

  test.each([40, 128])('that are encrypted with %d-bit CryptoAPI keys are decrypted', (bits) => {
    const salt = Buffer.alloc(16, 7);
    const sha1 = (...parts: Buffer[]) => createHash('sha1').update(Buffer.concat(parts)).digest();
    const base = sha1(salt, Buffer.from(excelsPassword, 'utf16le'));
    const keyOf = (block: number) => {
      const key = sha1(base, Buffer.from([block, 0, 0, 0])).subarray(0, bits / 8);
      return Buffer.concat([key, Buffer.alloc(16 - key.length)]);
    };
    const header = Buffer.alloc(32);
    header.writeUInt32LE(bits === 40 ? 0 : bits, 16);
    const verifier = Buffer.alloc(16, 9);
    const encryptedVerifier = xor(Buffer.concat([verifier, sha1(verifier)]), rc4(keyOf(0), 36));
    const number = (value: number) => Buffer.from([value, 0, 0, 0]);
    const encryption = Buffer.concat([
      Buffer.from([1, 0, 2, 0, 2, 0]),
      number(4),
      number(header.length),
      header,
      number(16),
      salt,
      encryptedVerifier.subarray(0, 16),
      number(20),
      encryptedVerifier.subarray(16),
    ]);
    const keys = [0, 1, 2].map((block) => rc4(keyOf(block), 1024));
    const { plain, encrypted } = stream(
      encryption,
      (byte, at) => byte ^ keys[Math.floor(at / 1024)]![at % 1024]!,
    );
    expect(decryptBook(encrypted)).toEqual(plain);
    expect(decryptBook(encrypted, 'another')).toBeUndefined();
  });

  const xor = (bytes: Buffer, key: number[]) => Buffer.from(bytes.map((byte, i) => byte ^ key[i]!));

  /** Returns the key stream of RFC 6229, without our own code. */
  function rc4(key: Buffer, length: number): number[] {
    const s = [...Array(256).keys()];
    let j = 0;
    for (let i = 0; i < 256; i++) {
      j = (j + s[i]! + key[i % key.length]!) % 256;
      [s[i], s[j]] = [s[j]!, s[i]!];
    }
    j = 0;
    return Array.from({ length }, (_, n) => {
      const i = (n + 1) % 256;
      j = (j + s[i]!) % 256;
      [s[i], s[j]] = [s[j]!, s[i]!];
      return s[(s[i]! + s[j]!) % 256]!;
    });
  }
});

const folder = sharedData('spreadsheets');
test.skipIf(!folder)('reads a workbook published on the web (../shared/data/spreadsheets)', async () => {
  const bytes = readFileSync(`${folder}/messytables/encrypted_no_password.xls`);
  const [sheet] = await readHere(bytes, 'xls');
  expect(sheet?.rows.slice(0, 2)).toEqual([
    ['date', 'temperature', 'place'],
    ['2011-01-01', 1, 'Galway'],
  ]);
});
