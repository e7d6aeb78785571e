import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hashPassword, isPassword, isTokenShaped, newPassword, newToken, tokenHash } from './secrets.ts';
import { anyCharacter, cases } from '../../testing/house/cases.ts';

const base62 = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'];
const prefix = 'snd_'.length;
const bodyEnd = prefix + 40;

describe('a token', () => {
  test('is snd_, 40 base-62 characters and a checksum of 6 characters, and is recognized', () => {
    for (let i = 0; i < 1_000; i++) {
      const token = newToken();
      expect(token).toMatch(/^snd_[0-9A-Za-z]{46}$/);
      expect(isTokenShaped(token)).toBe(true);
    }
  });

  test('is never generated twice, and every character occurs in every place', () => {
    const tokens = Array.from({ length: 2_000 }, newToken);
    expect(new Set(tokens).size).toBe(tokens.length);
    for (let place = prefix; place < bodyEnd; place++) {
      expect(new Set(tokens.map((token) => token[place])).size).toBe(base62.length);
    }
  });

  test('is not recognized with one wrong character', () => {
    fc.assert(
      fc.property(fc.integer({ min: prefix, max: 49 }), fc.constantFrom(...base62), (place, character) => {
        const token = newToken();
        const mistyped = token.slice(0, place) + character + token.slice(place + 1);
        expect(isTokenShaped(mistyped)).toBe(mistyped === token);
      }),
      cases(500),
    );
  });

  test('is not recognized with two adjacent characters swapped', () => {
    for (let round = 0; round < 50; round++) {
      const token = newToken();
      for (let place = prefix; place < 49; place++) {
        if (place === bodyEnd - 1 || token[place] === token[place + 1]) continue;
        const swapped = token.slice(0, place) + token[place + 1] + token[place] + token.slice(place + 2);
        expect([swapped, isTokenShaped(swapped)]).toEqual([swapped, false]);
      }
    }
  });

  test('is not recognized if truncated, with extra characters, or with another prefix', () => {
    const token = newToken();
    for (const text of [
      '',
      'snd_',
      token.slice(0, -1),
      token.slice(1),
      `${token}x`,
      `${token}\n`,
      ` ${token}`,
      `${token}${token}`,
      token.replace('snd_', 'SND_'),
      token.replace('snd_', ''),
      token.toLowerCase() === token ? '' : token.toLowerCase(),
    ]) {
      expect([text, isTokenShaped(text)]).toEqual([text, false]);
    }
  });

  test('no other text is recognized', () => {
    const recognised = fc.sample(fc.string({ unit: anyCharacter, maxLength: 60 }), 500).filter(isTokenShaped);
    expect(recognised).toEqual([]);
  });

  test('is stored as its SHA-256', () => {
    // FIPS 180-4, the example "abc"
    expect(tokenHash('abc').toString('hex')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
  });
});

describe('a password', () => {
  test('has 20 base-62 characters and is never generated twice', () => {
    const passwords = Array.from({ length: 1_000 }, newPassword);
    expect(passwords.every((password) => /^[0-9A-Za-z]{20}$/.test(password))).toBe(true);
    expect(new Set(passwords).size).toBe(passwords.length);
  });

  test('is hashed with Argon2id, at least 19 MiB and two passes, and its own salt', async () => {
    const [one, other] = await Promise.all([hashPassword('the same'), hashPassword('the same')]);
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(one).not.toBe(other);
  });

  test.each(['correct horse battery staple', '', ' ', 'pässwörd 🌊', '\0', 'x'.repeat(10_000)])(
    '%j matches its own hash, and no other password does',
    async (password) => {
      const hash = await hashPassword(password);
      expect(await isPassword(password, hash)).toBe(true);
      expect(await isPassword(`${password} `, hash)).toBe(false);
      expect(await isPassword(password.toUpperCase() === password ? 'x' : password.toUpperCase(), hash)).toBe(
        false,
      );
    },
  );

  test.each([
    '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4',
    '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc',
  ])('matches a hash of the reference implementation: %s', async (hash) => {
    // From test.c of github.com/P-H-C/phc-winner-argon2. The hash contains its parameters.
    expect(await isPassword('password', hash)).toBe(true);
    expect(await isPassword('Password', hash)).toBe(false);
  });

  test('does not match a text that is not a hash', async () => {
    const hash = await hashPassword('x');
    for (const text of [
      '',
      'x',
      '$argon2i$v=19$m=256,t=2,p=1$c29tZXNhbHQ$eA',
      hash.slice(1),
      ` ${hash}`,
      `${hash}$`,
    ]) {
      expect([text, await isPassword('x', text)]).toEqual([text, false]);
    }
  });
});
