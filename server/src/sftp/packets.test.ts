// The reader of SFTP packets.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { packetReader, type Request } from './packets.ts';
import { packet, types } from './packets.fixture.ts';
import { cases } from '../testing/house/cases.ts';

test('any bytes are read in the same way in any chunks, and never throw', () => {
  const requests = fc.array(
    fc.oneof(
      fc
        .tuple(fc.nat(25), fc.nat(2 ** 31), fc.string({ maxLength: 30 }))
        .map(([type, id, text]) => packet(type, id, text)),
      fc
        .tuple(fc.nat(9), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.uint8Array({ maxLength: 50 }))
        .map(([id, offset, bytes]) => packet(types.write, id, Buffer.alloc(4), offset, Buffer.from(bytes))),
      fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes)),
    ),
    { maxLength: 20 },
  );
  const readAll = (chunks: Buffer[]) => {
    const reader = packetReader();
    const read: (Request | 'unreadable')[] = [];
    for (const chunk of chunks) {
      for (const request of reader.read(chunk)) {
        if (request === 'unreadable') return [...read, request];
        read.push(request);
      }
    }
    return read;
  };
  fc.assert(
    fc.property(requests, fc.array(fc.nat(2000), { maxLength: 30 }), (packets, cuts) => {
      const bytes = Buffer.concat(packets);
      const ends = [...cuts.map((cut) => Math.min(cut, bytes.length)), bytes.length].toSorted(
        (a, b) => a - b,
      );
      const chunks = ends.map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end));
      expect(readAll(chunks)).toEqual(readAll([bytes]));
    }),
    cases(300),
  );
});
