// The drawing of a QR code has exactly the dark modules of the code.
import { create } from 'qrcode';
import { expect, test } from 'vitest';
import { qrPathOf } from './qr.ts';

test('the path of a code covers its dark modules and nothing else', async () => {
  const text = 'https://soundings.example.com/go#23456789CDFH';
  const { size, path } = await qrPathOf(text);
  const { modules } = create(text, { errorCorrectionLevel: 'M' });
  const drawn = Array.from({ length: size }, () => Array<number>(size).fill(0));
  for (const [, x, y, run] of path.matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g))
    for (let i = 0; i < Number(run); i++) drawn[Number(y)]![Number(x) + i]! += 1;
  expect(path.replaceAll(/M\d+ \d+h(\d+)v1h-\1z/g, '')).toBe('');
  expect(drawn).toEqual(
    Array.from({ length: size }, (_, y) => Array.from({ length: size }, (__, x) => modules.get(y, x))),
  );
});
