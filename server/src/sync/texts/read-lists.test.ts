// Lists that are read with the texts of an earlier list give the same users as lists that are parsed.
import type { User } from '@soundings/contract/organization.ts';
import { membershipKinds } from '@soundings/contract/people/memberships.ts';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../testing/house/cases.ts';
import { readOrganization } from '../check.ts';
import { newFindings } from '../findings.ts';
import { knownTextsOf, peopleOfIndex } from '../parts/people-index.ts';
import { userCountOf, indexOfLists, readByTexts, readParsed, usersOf } from './read-lists.ts';

const text = fc.constantFrom('Zoë', 'a "b"', '}]', ',{"', '\\', '🙂', 'x');
const userOf = (externalId: string) =>
  fc.record(
    {
      externalId: fc.constant(externalId),
      firstName: text,
      lastName: text,
      email: fc.option(fc.constant(`${externalId}@example.org`)),
      phone: fc.constantFrom('+46701234567', '+46 70-123 45 67'),
      active: fc.boolean(),
      accessInfo: fc.record(
        Object.fromEntries(
          membershipKinds.map((kind) => [kind, fc.array(fc.constantFrom('g1', 'Åsa'), { maxLength: 2 })]),
        ),
        { requiredKeys: [] },
      ),
      externalProperties: fc.dictionary(text, fc.option(text), { maxKeys: 2 }),
    },
    { requiredKeys: ['externalId', 'firstName', 'lastName'] },
  ) as unknown as fc.Arbitrary<User>;
const ids = Array.from({ length: 12 }, (_, i) => `u${i}`);
const users = fc.shuffledSubarray(ids).chain((list) => fc.tuple(...list.map(userOf)));

/** The changes to a list: who is changed, left out, moved and added. */
const edits = fc.record({
  changed: fc.subarray(ids),
  removed: fc.subarray(ids, { maxLength: 2 }),
  moved: fc.boolean(),
  added: fc.array(userOf('new'), { maxLength: 1 }),
  again: fc.boolean(),
});
const spaces = fc.constantFrom('', ' ', '\n\t');

type Written = { users: string[]; space: string; hasGroups: boolean };

/** Writes a request. The text of each user stays as it is. */
const written = ({ users: texts, space, hasGroups }: Written) =>
  Buffer.from(
    `\ufeff${space}{"data":${space}{${hasGroups ? '"groups":[{"externalId":"g1","name":"]}"}],' : ''}"users"${space}:` +
      `[${space}${texts.join(`${space},${space}`)}${space}]${space}}, "settings":{}}`,
  );

const parsedFrom = (json: Buffer) => {
  const findings = newFindings();
  return { lists: readParsed(json, readOrganization, findings)!, findings };
};
const peopleIn = (index: Buffer) => {
  const people = peopleOfIndex(index, (name) => name.length)!;
  return Array.from({ length: people.count }, () => {
    const { from: _, to: __, ...person } = people.next();
    return person;
  });
};

test('users, index and stored JSON are the same as those of lists that are parsed', () => {
  let byTexts = 0;
  fc.assert(
    fc.property(users, edits, spaces, fc.boolean(), (first, edit, space, hasGroups) => {
      const texts = first.map((user, i) => JSON.stringify(user, null, i % 3 === 0 ? 1 : undefined));
      const before = parsedFrom(written({ users: texts, space: '', hasGroups }));
      const known = knownTextsOf(
        indexOfLists(before.lists, { isStored: true, seed: [1, 2, 3, 4], start: 9 }).index,
      );
      const kept = texts.filter((_, i) => !edit.removed.includes(first[i]!.externalId));
      const changed = kept.map((one) =>
        edit.changed.includes((JSON.parse(one) as User).externalId) ? one.replace('{', '{ ') : one,
      );
      const moved = edit.moved ? changed.toReversed() : changed;
      const next = [...moved, ...edit.added.map((user) => JSON.stringify(user))];
      const json = written({ users: edit.again ? [...next, ...next.slice(0, 1)] : next, space, hasGroups });
      const whole = parsedFrom(json);
      const lists = readByTexts(json, known, readOrganization);
      expect(lists === undefined || whole.findings.faultCount() === 0).toBe(true);
      if (!lists) return;
      byTexts++;
      const all = usersOf(lists);
      expect(Array.from({ length: userCountOf(lists) }, (_, i) => all(i))).toEqual(
        whole.lists.organization.data.users,
      );
      expect(lists.organization.data.groups).toEqual(whole.lists.organization.data.groups);
      const [one, other] = [lists, whole.lists].map((read) =>
        indexOfLists(read, { isStored: true, seed: [1, 2, 3, 4], start: 9 }),
      );
      expect(peopleIn(one!.index)).toEqual(peopleIn(other!.index));
      expect([one!.stored.canonical, Buffer.concat(one!.stored.chunks).toString()]).toEqual([
        other!.stored.canonical,
        Buffer.concat(other!.stored.chunks).toString(),
      ]);
      // Its index is as good as that of a list that was parsed.
      const again = readByTexts(json, knownTextsOf(one!.index), readOrganization);
      expect(again?.split?.known).toEqual(next.map((_, i) => i));
    }),
    cases(1_000),
  );
  expect(byTexts).toBeGreaterThan(50);
});

describe('everything is parsed if', () => {
  const user = { externalId: 'a', firstName: 'A', lastName: 'B' };
  const first = written({ users: [JSON.stringify(user)], space: '', hasGroups: true });
  const known = knownTextsOf(
    indexOfLists(parsedFrom(first).lists, { isStored: false, seed: [1, 2, 3, 4], start: 0 }).index,
  );
  const one = JSON.stringify(user);
  const other = JSON.stringify({ ...user, externalId: 'b' });

  test('nothing is the matter, only new texts', () => {
    const json = Buffer.from(`{"data":{"users":[${one},${other}]}}`);
    const lists = readByTexts(json, known, readOrganization)!;
    expect(lists.organization.data.users).toEqual([{ ...user, externalId: 'b' }]);
    expect(Array.from({ length: 2 }, (_, i) => usersOf(lists)(i))).toEqual([
      user,
      { ...user, externalId: 'b' },
    ]);
  });

  test.each([
    ['the list is not closed', `{"data":{"users":[${one},${other}`],
    ['a comma is missing', `{"data":{"users":[${one}${other}]}}`],
    ['a comma follows', `{"data":{"users":[${one},]}}`],
    ['something follows', `{"data":{"users":[${one}]}} x`],
    ['the list is given twice', `{"data":{"users":[${one}],"users":[]}}`],
    ['its key has an escape', `{"data":{"\\u0075sers":[${one}]}}`],
    ['it is not in data', `{"users":[${one}]}`],
    ['data is a list', `{"data":[{"users":[${one}]}]}`],
    ['the text is in a string', `{"data":{"users":["${one.replaceAll('"', '\\"')}"]}}`],
    ['another user has a fault', `{"data":{"users":[${one},{"externalId":"b"}]}}`],
    ['another user has a warning', `{"data":{"users":[${one},${other.replace('{', '{"x":1,')}]}}`],
    ['an unknown field has a fault', `{"data":{"users":[${one}]},"x":1}`],
    ['a user is listed twice', `{"data":{"users":[${one},${one}]}}`],
    ['a user has two texts', `{"data":{"users":[${one},{ ${one.slice(1)}]}}`],
    ['a number is a user', `{"data":{"users":[${one},0]}}`],
    ['it is UTF-16', Buffer.from(`{"data":{"users":[${one}]}}`, 'utf16le').toString('latin1')],
    ['no text is known', `{"data":{"users":[${other}]}}`],
  ])('%s', (_, json) => {
    expect(readByTexts(Buffer.from(json, 'latin1'), known, readOrganization)).toBeUndefined();
  });

  test('there are too many values', () => {
    const many = JSON.stringify({
      ...user,
      externalId: 'b',
      accessInfo: { memberOf: Array.from({ length: 1_700_000 }, () => '') },
    });
    const json = Buffer.from(`{"data":{"users":[${one},${many}]}}`);
    expect(readByTexts(json, known, readOrganization)).toBeUndefined();
  });
});

test('texts with a warning are not known', () => {
  const json = Buffer.from('{"data":{"users":[{"externalId":"a","firstName":"A","lastName":"B","x":1}]}}');
  const { index } = indexOfLists(parsedFrom(json).lists, { isStored: true, seed: [1, 2, 3, 4], start: 0 });
  expect(readByTexts(json, knownTextsOf(index), readOrganization)).toBeUndefined();
});
