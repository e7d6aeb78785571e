import { describe, expect, test } from 'vitest';
import { acceptedEncoding } from './encoding.ts';

describe('the encoding of a response', () => {
  test.each([
    [undefined, 'identity'],
    ['', 'identity'],
    ['identity', 'identity'],
    ['deflate, zstd', 'identity'],
    ['gzip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['br', 'br'],
    ['GZIP', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip;q=1.0, br;q=0.5', 'gzip'],
    ['gzip;q=0.5,br;q=0.51', 'br'],
    [' gzip ; q=0.2 , br ; q=0.1 ', 'gzip'],
    ['gzip;q=0', 'identity'],
    ['gzip;q=0.000, br;q=0.', 'identity'],
    ['identity;q=1, gzip;q=0.5', 'identity'],
    ['identity;q=0.5, gzip;q=0.5', 'gzip'],
    ['gzip;q=0.001', 'gzip'],
    ['*', 'br'],
    ['*;q=0', 'identity'],
    ['br;q=0, *', 'gzip'],
    ['gzip;q=0.4, *;q=0.3', 'gzip'],
    ['identity, *;q=0.5', 'identity'],
    ['identity;q=0', 'identity'],
  ] as const)('for Accept-Encoding: %s is %s', (header, encoding) => {
    expect(acceptedEncoding(header)).toBe(encoding);
  });

  test('an invalid weight does not accept the encoding', () => {
    for (const q of ['2', '-1', '1.1', 'x', '', '0.1234', 'NaN', '1e0']) {
      expect([q, acceptedEncoding(`gzip;q=${q}`)]).toEqual([q, 'identity']);
    }
  });
});
