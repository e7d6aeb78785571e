import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyCharacter, cases } from '../../server/src/testing/house/cases.ts';
import { sharedData } from '../../server/src/testing/shared.ts';
import {
  emailKey,
  hasTrunkZero,
  isEmail,
  isExternalId,
  isLanguage,
  isTimeZone,
  normalisePhone,
} from './formats.ts';

const lists = sharedData('lists');
const absent = lists === undefined ? ' (skipped: ../shared/data/lists is absent)' : '';

function list(name: string): string {
  return readFileSync(`${lists}/${name}`, 'utf8');
}

/** Returns one column of a list whose values are not quoted. */
function column(name: string, index: number): string[] {
  const rows = list(name).trim().split(/\r?\n/).slice(1);
  return rows.map((row) => row.split(',')[index] ?? '');
}

describe('isExternalId', () => {
  test.each(['1', 'a b', 'Ärzte/😀', 'x'.repeat(255), '😀'.repeat(255)])('accepts %j', (s) => {
    expect(isExternalId(s)).toBe(true);
  });

  test.each([
    '',
    ' ',
    ' a',
    'a ',
    'a\u00a0',
    '\ufeffa',
    'a\u2028',
    'a\tb',
    'a\nb',
    'a\0b',
    'a\u007fb',
    'a\u0085b',
  ])('refuses the empty, white space at an end and control characters: %j', (s) => {
    expect(isExternalId(s)).toBe(false);
  });

  test('counts characters, not UTF-16 units: 255 are accepted, 256 are not', () => {
    for (const unit of ['x', 'é', '😀']) {
      expect(isExternalId(unit.repeat(255))).toBe(true);
      expect(isExternalId(unit.repeat(256))).toBe(false);
    }
  });
});

describe('isEmail', () => {
  test.skipIf(absent)(
    `accepts exactly the addresses in isemail's list that SMTP can deliver to by domain name${absent}`,
    () => {
      type Case = { address: string; category: string; diagnosis: string };
      const listed = JSON.parse(list('isemail-tests.json')) as Case[];
      expect(listed.length).toBeGreaterThan(150);
      const deliverable = new Set(['ISEMAIL_VALID_CATEGORY', 'ISEMAIL_DNSWARN', 'ISEMAIL_RFC5321']);
      const wrong = listed.filter(({ address, category, diagnosis }) => {
        const text = address.replace(/[\u2400-\u241f]/g, (c) =>
          String.fromCharCode(c.charCodeAt(0) - 0x2400),
        );
        const expected = deliverable.has(category) && diagnosis !== 'ISEMAIL_RFC5321_ADDRESSLITERAL';
        return isEmail(text) !== expected;
      });
      expect(wrong).toEqual([]);
    },
  );

  test.each([
    ['a UTF-8 local part', 'märta.ångström@example.se'],
    ['a Unicode domain', 'post@bücher.example'],
    ['both, in another script', 'राम@उदाहरण.भारत'],
    ['Han characters', '用户@例子.中国'],
    ['a combining mark', 'e\u0301@cafe\u0301.fr'],
    ['a quoted local part', '"a b@c"@example.org'],
    ['one label', 'root@localhost'],
    ['an apostrophe', "o'neil@example.ie"],
    ['a domain of digits', 'a@123.456'],
    ['a Unicode label of digits', 'a@१२३'],
  ])('accepts %s', (_, s) => {
    expect(isEmail(s)).toBe(true);
  });

  test.each([
    ['an underscore in the domain', 'a@b_c.org'],
    ['a symbol in the domain', 'a@☃.net'],
    ['an emoji in the local part', '😀@example.org'],
    ['an invisible character', 'a\u200bb@example.org'],
    ['a no-break space', 'a\u00a0b@example.org'],
    ['a lone surrogate', 'a\ud800@example.org'],
    ['an ideographic full stop', 'a@b。c'],
    ['a Unicode label that begins with a mark', 'a@\u0301b.org'],
    ['a hyphen at the end of a Unicode label', 'a@é-.org'],
    ['a display name', 'A <a@example.org>'],
    ['two addresses', 'a@b.org,c@d.org'],
    ['mailto', 'mailto:a@b.org '],
    ['a line end after it', 'a@b.org\n'],
  ])('refuses %s', (_, s) => {
    expect(isEmail(s)).toBe(false);
  });

  test('counts octets: at most 64 in the local part, 63 in a label in the form for DNS, 254 in total', () => {
    expect(isEmail(`${'é'.repeat(32)}@b.org`)).toBe(true);
    expect(isEmail(`${'é'.repeat(32)}a@b.org`)).toBe(false);
    expect(isEmail(`a@${'x'.repeat(63)}`)).toBe(true);
    expect(isEmail(`a@${'x'.repeat(64)}`)).toBe(false);
    // Encoded with the prefix xn--, these labels have 63 and 64 octets.
    expect(isEmail(`a@${'é'.repeat(53)}`)).toBe(true);
    expect(isEmail(`a@${'é'.repeat(60)}`)).toBe(false);
    const domain = Array(4).fill('x'.repeat(62)).join('.');
    expect(isEmail(`ab@${domain}`)).toBe(true);
    expect(isEmail(`abc@${domain}`)).toBe(false);
    // The limit applies to both forms of a domain. These domains have, as written for DNS and as entered: 115 and 303 octets; 249
    // and 94; 321 and 121.
    expect(isEmail(`a@${'用'.repeat(50)}.${'用'.repeat(50)}`)).toBe(false);
    expect(isEmail(`a@${Array(31).fill('é').join('.')}`)).toBe(true);
    expect(isEmail(`a@${Array(40).fill('é').join('.')}`)).toBe(false);
  });

  test('returns immediately for texts that are meant to cause backtracking', () => {
    const start = process.threadCpuUsage();
    for (const s of [
      'a.'.repeat(1e6),
      `a@${'a-'.repeat(1e6)}`,
      `a@${'-'.repeat(250)}`,
      `"${'\\a'.repeat(126)}`,
      `a@${'a-'.repeat(125)}`,
    ]) {
      expect(isEmail(s)).toBe(false);
    }
    expect(process.threadCpuUsage(start).user / 1000).toBeLessThan(1_000);
  });
});

describe('emailKey', () => {
  test('is the same for addresses that differ in letter case or in how an accent is encoded', () => {
    expect(emailKey('MÄRTA@Example.ORG')).toBe(emailKey('ma\u0308rta@example.org'));
    expect(emailKey('a@b.org')).not.toBe(emailKey('á@b.org'));
  });

  test('a key is its own key, with any characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (s) => {
        expect(emailKey(emailKey(s))).toBe(emailKey(s));
      }),
    );
    const every = Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code));
    expect(every.filter((s) => emailKey(emailKey(s)) !== emailKey(s))).toEqual([]);
  });
});

describe('normalisePhone', () => {
  test.skipIf(absent)(`leaves every example number of every country as it is${absent}`, () => {
    const numbers = column('phones-e164-examples.csv', 1);
    expect(numbers.length).toBeGreaterThan(200);
    for (const number of numbers) expect(normalisePhone(number)).toBe(number);
  });

  test.each([
    '+46 70 123 45 67',
    '+46-70-1234567',
    '+46 (70) 123 45 67',
    '+46\u00a070\u202f123\u200945\u300067',
    '+46\u201070\u2011123\u201345\u221267',
    '(+46) [70] \uff081234567\uff09',
  ])('drops spaces, dashes and brackets: %j', (s) => {
    expect(normalisePhone(s)).toBe('+46701234567');
  });

  test.each([
    '+46 (0)70 123 45 67',
    '+46(0)701234567',
    '+46 (070) 123 45 67',
    '(+46) (0) 70 123 45 67',
    '+46 [0]70-123 45 67',
    '+ 4 6 \uff08 0\uff0970 123 45 67',
  ])('drops the zero that is dialled only within the country: %j', (s) => {
    expect(normalisePhone(s)).toBe('+46701234567');
    expect(hasTrunkZero(s)).toBe(true);
  });

  test.each([
    ['+39 (0)6 698 12345', '+390669812345'],
    ['+378 (0549) 882 312', '+3780549882312'],
    ['+46 70 (0)12 34 56', '+46700123456'],
    ['+46 (70) 012 34 56', '+46700123456'],
    ['+46 8 (01) 234 56', '+4680123456'],
    ['+467 (0)1 234 56 78', '+467012345678'],
    ['+460701234567', '+460701234567'],
  ])('keeps a zero that is part of the number or not in brackets: %j', (s, number) => {
    expect(normalisePhone(s)).toBe(number);
    expect(hasTrunkZero(s)).toBe(false);
  });

  test.each([
    '',
    '+',
    '0701234567',
    '0046701234567',
    '46701234567',
    '+0701234567',
    '+123456',
    '+1234567890123456',
    '+46.701234567',
    '+46/701234567',
  ])('refuses %j', (s) => {
    expect(normalisePhone(s)).toBeUndefined();
  });

  test.each([
    '+4670123456x',
    '+46\t701234567',
    '++46701234567',
    '+46701234567\n',
    '+٤٦٧٠١٢٣٤٥٦٧',
    '＋46701234567',
    '+46701234567 ext 3',
  ])('refuses characters other than digits and separators: %j', (s) => {
    expect(normalisePhone(s)).toBeUndefined();
  });

  test('accepts 7 to 15 digits', () => {
    expect(normalisePhone('+1234567')).toBe('+1234567');
    expect(normalisePhone('+123456789012345')).toBe('+123456789012345');
  });
});

describe('isTimeZone', () => {
  test.skipIf(absent)(`accepts every name of the tz database, including links and Factory${absent}`, () => {
    const names = column('tz-names.csv', 0);
    expect(names.length).toBeGreaterThan(500);
    expect(names).toContain('Factory');
    expect(names.filter((name) => !isTimeZone(name))).toEqual([]);
  });

  test.skipIf(absent)(
    `accepts a name without a slash only if it is in the tz database, not every name that Intl accepts${absent}`,
    () => {
      const names = new Set(column('tz-names.csv', 0));
      const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
      const threes = letters.flatMap((a) => letters.flatMap((b) => letters.map((c) => a + b + c)));
      expect(threes.filter((name) => isTimeZone(name) !== names.has(name))).toEqual([]);
    },
  );

  test.each([
    '',
    'Europe',
    'Europe/',
    'Europe/Atlantis',
    '+01:00',
    '-0300',
    '+01',
    'UTC+1',
    'GMT+1',
    'Etc/Unknown',
    ' UTC',
    'Europe/Paris ',
    'a/'.repeat(1e5),
  ])('refuses offsets and unknown names: %j', (s) => {
    expect(isTimeZone(s)).toBe(false);
  });

  test.each(['IST', 'CST', 'AET', 'SystemV/AST4', 'US/Pacific-New'])(
    "refuses Intl's own old names: %s",
    (s) => {
      expect(isTimeZone(s)).toBe(false);
    },
  );

  test.each(['europe/paris', 'EUROPE/PARIS', 'utc', 'zulu', 'factory'])(
    'refuses the wrong letter case: %s',
    (s) => {
      expect(isTimeZone(s)).toBe(false);
    },
  );

  test('returns the same result for repeated calls with many names, known or not', () => {
    for (let i = 0; i < 5_000; i++) {
      expect(isTimeZone(`Europe/Nowhere${i % 2_500}`)).toBe(false);
      expect(isTimeZone(`Europe/Nowhere${i % 2_500}`)).toBe(false);
      expect(isTimeZone('Europe/Paris')).toBe(true);
    }
  });
});

describe('isLanguage', () => {
  test.skipIf(absent)(`accepts exactly the codes of ISO 639-1${absent}`, () => {
    const codes = new Set(column('iso639-1.csv', 0));
    expect(codes.size).toBeGreaterThan(180);
    const letters = [...'abcdefghijklmnopqrstuvwxyz'];
    const pairs = letters.flatMap((a) => letters.map((b) => a + b));
    expect(pairs.filter((pair) => isLanguage(pair))).toEqual([...codes].toSorted());
  });

  test.each(['', 'EN', 'En', 'eng', 'en-GB', 'en ', ' ', 'e'])('refuses %j', (s) => {
    expect(isLanguage(s)).toBe(false);
  });
});

describe('any text', () => {
  const checks = [isExternalId, isEmail, emailKey, normalisePhone, isTimeZone, isLanguage];

  test.skipIf(absent)(`naughty strings never make a check throw${absent}`, () => {
    const naughty = JSON.parse(list('blns.json')) as string[];
    expect(naughty.length).toBeGreaterThan(400);
    for (const check of checks) for (const s of naughty) expect(() => check(s)).not.toThrow();
  });

  test('no string, well-formed or not, makes a check throw', () => {
    const units = fc.array(fc.nat(0xffff), { maxLength: 50 }).map((codes) => String.fromCharCode(...codes));
    fc.assert(
      fc.property(units, (s) => {
        for (const check of checks) {
          for (const t of [s, `a@${s}`, `${s}@a.org`, `Europe/${s}`]) expect(() => check(t)).not.toThrow();
        }
      }),
      cases(250),
    );
  });
});
