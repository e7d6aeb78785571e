// How many dead links an address may try.
import { describe, expect, test } from 'vitest';
import { openDeadLinks } from './dead-links.ts';

describe('dead links', () => {
  test('30 a minute of an address go; the next waits until the minute is over', () => {
    let now = 1_000_000;
    const links = openDeadLinks(() => now);
    for (let i = 0; i < 30; i++) expect(links.count('192.0.2.1')).toBeUndefined();
    expect(links.count('192.0.2.1')).toBe(60);
    now += 59_001;
    expect(links.count('192.0.2.1')).toBe(1);
    expect(links.count('192.0.2.2')).toBeUndefined();
    now += 1000;
    expect(links.count('192.0.2.1')).toBeUndefined();
  });

  test('a clock that is set back stops nobody for long', () => {
    let now = 1_000_000_000;
    const links = openDeadLinks(() => now);
    for (let i = 0; i < 31; i++) links.count('192.0.2.1');
    now -= 86_400_000;
    expect(links.count('192.0.2.1')).toBeUndefined();
  });

  test('what is remembered is bounded: the address that has been still for longest is forgotten', () => {
    const links = openDeadLinks(() => 0);
    for (let i = 0; i < 31; i++) {
      links.count('192.0.2.1');
      links.count('192.0.2.2');
    }
    for (let i = 0; i < 9_999; i++) links.count(`10.0.${i >> 8}.${i & 255}`);
    expect(links.count('192.0.2.2')).toBe(60);
    expect(links.count('192.0.2.1')).toBeUndefined();
  });
});
