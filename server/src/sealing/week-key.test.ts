// A week's key: respondent numbers that can't be found without it, and encrypted rows whose length reveals almost nothing.
import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeAnswers, decodeAnswers, type PersonAnswer, type PersonAnswers } from './person-answers.ts';
import { paddedLength, WeekKey } from './week-key.ts';
import { anyCharacter } from '../testing/house/cases.ts';

const week = '2026-11-16';
const secret = randomBytes(32);
const key = new WeekKey(1, week, secret);
const giving = { link: 'aaaaaaaaaa', visit: 'v'.repeat(22), handedOut: false };
const stored: PersonAnswer = {
  value: 4,
  choices: null,
  comment: null,
  skipped: false,
  counted: false,
  giving,
};
const sealedOf = (answers: PersonAnswers) => key.seal(key.respondentOf(1), encodeAnswers(answers));

describe('an encrypted row', () => {
  const respondent = key.respondentOf(1);
  const sealed = key.seal(respondent, Buffer.from('answers'));

  test('can be decrypted for its respondent with the key of its week and account', () => {
    expect(key.open(respondent, sealed).toString()).toBe('answers');
    expect(new WeekKey(1, week, secret).open(respondent, sealed).toString()).toBe('answers');
  });

  test.each([
    ['another respondent', key, key.respondentOf(2)],
    ['another week', new WeekKey(1, '2026-11-23', secret), respondent],
    ['another account', new WeekKey(2, week, secret), respondent],
    ['another key', new WeekKey(1, week, randomBytes(32)), respondent],
  ])("can't be decrypted for %s, so rows can't be swapped", (_, other, whose) => {
    expect(() => other.open(whose, sealed)).toThrow('cannot be decrypted');
  });

  test("can't be decrypted after it was changed or truncated", () => {
    const changed = Buffer.from(sealed);
    changed[20] = (changed[20] as number) ^ 1;
    expect(() => key.open(respondent, changed)).toThrow('cannot be decrypted');
    expect(() => key.open(respondent, sealed.subarray(0, -1))).toThrow('cannot be decrypted');
    expect(() => key.open(respondent, Buffer.alloc(0))).toThrow('cannot be decrypted');
  });

  test('keeps its content exactly, whatever it is', () => {
    const answer = fc.record({
      value: fc.option(fc.integer({ min: 0, max: 10 })),
      choices: fc.option(fc.array(fc.string(), { maxLength: 4 })),
      comment: fc.option(fc.string({ maxLength: 3_000, unit: anyCharacter })),
      skipped: fc.boolean(),
      counted: fc.boolean(),
      giving: fc.record({
        link: fc.constantFrom('a', 'b', 'history'),
        visit: fc.option(fc.constantFrom('x', 'y')),
        handedOut: fc.boolean(),
      }),
    });
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.integer({ min: 1 }), answer), { maxLength: 12 }), (list) => {
        const answers: PersonAnswers = new Map(list);
        expect(decodeAnswers(key.open(respondent, key.seal(respondent, encodeAnswers(answers))))).toEqual(
          answers,
        );
      }),
    );
  });
});

describe('the length of an encrypted row', () => {
  test('is the same for a skip, an answer and a short comment, whatever link was used', () => {
    const elsewhere = { link: 'history', visit: null, handedOut: true };
    const all: PersonAnswer[] = [
      stored,
      { ...stored, value: null, skipped: true },
      { ...stored, comment: 'Too much of everything, as we have said for a year now.' },
      { ...stored, value: null, choices: ['one', 'two'] },
      { ...stored, giving: elsewhere, counted: true },
    ];
    const lengths = all.flatMap((one) =>
      [1, 5].map(
        (count) => sealedOf(new Map(Array.from({ length: count }, (_, i) => [100 + i, one]))).length,
      ),
    );
    expect(new Set(lengths)).toEqual(new Set([512 + 28]));
  });

  test('has few classes, each four times the previous one, whatever the content', () => {
    const classes = new Set([512, 2048, 8192, 32_768, 131_072].map((length) => length + 28));
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 100_000 }), (length) => {
        expect(classes).toContain(key.seal(key.respondentOf(1), Buffer.alloc(length)).length);
      }),
    );
    expect([0, 512, 513, 2048, 2049].map(paddedLength)).toEqual([512, 512, 2048, 2048, 8192]);
  });
});

describe('a key', () => {
  test('does not appear in logs and error texts', () => {
    const hex = secret.toString('hex');
    for (const text of [JSON.stringify({ key }), inspect(key, { depth: 9 }), String(key)]) {
      expect(text).not.toContain(hex);
      expect(text).not.toContain(inspect(secret).slice(8, 30));
    }
  });

  test('produces other respondent numbers, orders and encrypted rows, none of which is the key', () => {
    const other = new WeekKey(1, week, randomBytes(32));
    expect(key.respondentOf(1)).not.toBe(other.respondentOf(1));
    expect(key.orderKey.equals(other.orderKey)).toBe(false);
    expect(key.orderKey.equals(secret)).toBe(false);
    expect(key.respondentOfStranger('1')).not.toBe(key.respondentOf(1));
  });
});
