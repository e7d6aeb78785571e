import { expect, test } from 'vitest';
import { sizeText } from './sizes.ts';

test('an amount has two digits below 10 of its unit, and is never rounded to 1000', () => {
  const texts = {
    '0 kB': 0,
    '1 kB': 1,
    '340 kB': 339_001,
    '1 MB': 999_600,
    '1.5 MB': 1_460_000,
    '9.9 MB': 9_940_000,
    '10 MB': 9_960_000,
    '999 MB': 999_400_000,
    '1 GB': 999_900_000,
    '5 GB': 5e9,
    '12 GB': 12.3e9,
    '4096 GB': 4.096e12,
  };
  expect(Object.values(texts).map(sizeText)).toEqual(Object.keys(texts));
});
