// Keys that wrap other keys: only they open what they wrap, and no later key leads to an earlier one.
import { hkdfSync, randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { follows, freshKey, keyAt, newChain, open, seal, unwrap, wrap, wrappedBy } from './epoch-keys.ts';

describe('a wrapped key', () => {
  const key = newChain();
  const secret = randomBytes(32);
  const wrapped = wrap(key, '1 2026-11-16', secret);

  test('can be opened with its key in its context, and names that key', () => {
    expect(unwrap(key, '1 2026-11-16', wrapped)?.equals(secret)).toBe(true);
    expect(wrappedBy(wrapped)).toEqual({ chain: key.chain, epoch: 1 });
    expect(wrapped.includes(secret)).toBe(false);
    expect(wrap(key, '1 2026-11-16', secret).equals(wrapped)).toBe(false);
  });

  test.each(['1 2026-11-23', '2 2026-11-16', '12 026-11-16', ''])(
    'can\'t be opened in the context "%s"',
    (context) => {
      expect(unwrap(key, context, wrapped)).toBeUndefined();
    },
  );

  test("can't be opened with a key of another chain, another epoch, or the same name", () => {
    const others = [
      newChain(),
      keyAt(key, 2)!,
      { ...key, secret: randomBytes(32) },
      { ...newChain(), secret: key.secret },
    ];
    for (const other of others.slice(0, 3)) expect(unwrap(other, '1 2026-11-16', wrapped)).toBeUndefined();
  });

  test("can't be opened if a byte was changed or some are missing", () => {
    fc.assert(
      fc.property(fc.nat(wrapped.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const changed = Buffer.from(wrapped);
        changed[at] = (changed[at] as number) ^ change;
        expect(unwrap(key, '1 2026-11-16', changed)).toBeUndefined();
        expect(unwrap(key, '1 2026-11-16', wrapped.subarray(0, at))).toBeUndefined();
      }),
    );
  });

  test('needs both its context and all its bytes', () => {
    const sealed = seal(key.secret, Buffer.from('a'), Buffer.from('text'));
    expect(open(key.secret, Buffer.from('a'), sealed)?.toString()).toBe('text');
    expect(open(key.secret, Buffer.from('b'), sealed)).toBeUndefined();
    expect(open(randomBytes(32), Buffer.from('a'), sealed)).toBeUndefined();
    expect(
      open(key.secret, Buffer.from('a'), seal(key.secret, Buffer.from('a'), Buffer.alloc(0))),
    ).toHaveLength(0);
  });
});

describe('the key of a later epoch', () => {
  test('is the same in one step or many, and different in every epoch', () => {
    const first = newChain();
    const secrets = [1, 2, 3, 4, 5].map((epoch) => keyAt(first, epoch)!.secret.toString('hex'));
    expect(new Set(secrets).size).toBe(5);
    expect(keyAt(keyAt(first, 3)!, 5)).toEqual(keyAt(first, 5));
    expect(keyAt(first, 1)).toEqual(first);
    expect(keyAt(first, 5)).toMatchObject({ chain: first.chain, epoch: 5 });
  });

  test('is derived from the previous key by HKDF with the chain, so equal secrets diverge', () => {
    const first = newChain();
    const next = Buffer.from(hkdfSync('sha256', first.secret, first.chain, 'soundings epoch', 32));
    expect(keyAt(first, 2)!.secret.equals(next)).toBe(true);
    expect(keyAt({ ...first, chain: randomBytes(8) }, 2)!.secret.equals(next)).toBe(false);
  });

  test('leads to no earlier key, and to none that is implausibly far ahead', () => {
    const third = keyAt(newChain(), 3)!;
    expect([keyAt(third, 2), keyAt(third, 1), keyAt(third, 0)]).toEqual([undefined, undefined, undefined]);
    expect(keyAt(third, 2 ** 31)).toBeUndefined();
  });
});

describe('a fresh key', () => {
  test('comes after the previous key, and no step leads to it', () => {
    const before = keyAt(newChain(), 7)!;
    const fresh = freshKey(before);
    expect(fresh.epoch).toBe(8);
    expect(keyAt(before, 8)!.secret.equals(fresh.secret)).toBe(false);
    expect(freshKey(before).secret.equals(fresh.secret)).toBe(false);
  });

  test('follows all earlier keys, even if they have moved forward in between, and none of them follows it', () => {
    const steps = fc.array(fc.boolean(), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(steps, (isFresh) => {
        const keys = [newChain()];
        for (const one of isFresh) {
          const last = keys.at(-1)!;
          keys.push(one ? freshKey(last) : keyAt(last, last.epoch + 1)!);
        }
        const last = keys.at(-1)!;
        for (const key of keys) {
          expect(follows(last, key)).toBe(!last.chain.equals(key.chain));
          expect(follows(key, last)).toBe(false);
        }
        expect(follows(last, newChain())).toBe(false);
      }),
    );
  });
});
