// The codes of cards: what is printed can be typed, a slip is noticed, and the browser reads a text as the server does.
import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../testing/house/cases.ts';
import { codeCharacters, codeIn, codeLength, newCode, printedCode } from './card-code.ts';

const code = fc.array(fc.nat(22), { minLength: 11, maxLength: 11 }).map((values) => {
  const next = values.values();
  return newCode(() => next.next().value as number);
});

describe('a code', () => {
  test('is read however it is typed, and from the address of a card', () => {
    fc.assert(
      fc.property(code, (one) => {
        const lookalike = one
          .replaceAll('2', 'z')
          .replaceAll('5', 'S')
          .replaceAll('6', 'g')
          .replaceAll('8', 'B');
        const texts = [
          one,
          printedCode(one),
          one.toLowerCase(),
          ` ${one.slice(0, 5)} ${one.slice(5)} `,
          lookalike,
        ];
        const scanned = [`https://soundings.example/go#${one}`, `HTTPSÖ--SOUNDINGS.EXAMPLE-GO/${one}\r`];
        for (const text of [...texts, ...scanned]) expect([text, codeIn(text)]).toEqual([text, one]);
      }),
      cases(200),
    );
  });

  test('is not taken for another after one wrong character or two swapped ones', () => {
    fc.assert(
      fc.property(code, fc.nat(codeLength - 1), fc.constantFrom(...codeCharacters), (one, at, other) => {
        const characters = [...one];
        characters[at] = other;
        expect(codeIn(characters.join(''))).toBe(other === one[at] ? one : undefined);
        const swapped = [...one];
        const next = (at + 1) % codeLength;
        [swapped[at], swapped[next]] = [swapped[next] as string, swapped[at] as string];
        // The check character is as good as random for its neighbours, so it is not swapped here.
        const isSame = at >= codeLength - 2 || one[at] === one[next];
        expect(isSame || codeIn(swapped.join('')) === undefined).toBe(true);
      }),
      cases(500),
    );
  });

  test('has no two characters that look the same, and is different each time', () => {
    expect(new Set(codeCharacters).size).toBe(23);
    for (const pair of ['0O', 'OQ', '1I', 'IL', '2Z', '5S', '6G', '8B', 'UV'])
      expect([...pair].every((one) => codeCharacters.includes(one))).toBe(false);
    const codes = Array.from({ length: 1000 }, () => newCode(randomInt));
    expect(new Set(codes).size).toBe(1000);
    expect(new Set(codes.join('')).size).toBe(23);
  });
});

test('the browser finds the same code in a text as the server', () => {
  const source = readFileSync(new URL('../answers/entry/card-code.client.js', import.meta.url), 'utf8');
  // oxlint-disable-next-line no-new-func -- the script of the page, as the browser runs it
  const inBrowser = new Function(`${source}\nreturn codeIn;`)() as typeof codeIn;
  const typed = fc.string({
    unit: fc.constantFrom(...codeCharacters, 'z', 'O', '0', 'u', '-', ' ', '#', 'å'),
    maxLength: 30,
  });
  fc.assert(
    fc.property(
      fc.oneof(
        typed,
        code,
        code.map(printedCode),
        fc.tuple(typed, code).map(([a, b]) => a + b),
      ),
      (text) => {
        expect(inBrowser(text)).toBe(codeIn(text));
      },
    ),
    cases(500),
  );
});
