// Bringing past surveys in: what the format takes, what it refuses and in which line, and that a file is imported
// whole, once, or not at all.
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { addWeeks, type Week, weekName, weekNamed } from '@soundings/contract/weeks.ts';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAccount } from '../accounts/accounts.ts';
import { saveAnswers } from '../answers/answering.ts';
import { Fault } from '../base/errors.ts';
import { inTransaction, type Transaction } from '../db/db.ts';
import { createGroup } from '../people/groups.ts';
import { createUser } from '../people/users.ts';
import { closeEndedWeeks } from '../results/close-week.ts';
import { askPeople, noon } from '../testing/asking.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { answer, importLines, kpi, later, question, round, skip } from '../testing/surveys.ts';
import { answersOfPerson, keptAnswers, storedAnswers } from '../testing/kept-answers.ts';
import { tablesOf } from '../testing/tables.ts';
import { openWorld, type World } from '../testing/world.ts';
import { importHistory } from './history.ts';

let database: TestDatabase;
let home: string;
beforeAll(async () => {
  database = await openTestDatabase();
  await database.keys.chain.prepare(); // as the service does at its start
  home = await mkdtemp(join(tmpdir(), 'soundings-history-test-'));
});
afterAll(async () => {
  await database.close();
  await rm(home, { recursive: true, force: true });
});

type Company = {
  id: number;
  /** By externalId; `plain` has none. */
  groups: Record<'top' | 'north' | 'team' | 'south' | 'plain', number>;
};

/** An account with a tree: top > (north > team, south, plain). */
async function company(timezone = 'UTC'): Promise<Company> {
  return inTransaction(database.pool, async (tx) => {
    const { id } = await createAccount(tx, { name: 'Acme', timezone });
    return { id, groups: await makeGroups(tx, id) };
  });
}

async function makeGroups(tx: Transaction, accountId: number): Promise<Company['groups']> {
  const group = (externalId: string, parentId?: number) =>
    createGroup(tx, accountId, { name: externalId, externalId, ...(parentId !== undefined && { parentId }) });
  const top = await group('top');
  const north = await group('north', top);
  const team = await group('team', north);
  const south = await group('south', top);
  const plain = await createGroup(tx, accountId, { name: 'plain', parentId: top });
  return { top, north, team, south, plain };
}

const W = '2024-W47';
const monday = weekNamed(W) as string;
const none = { questions: 0, kpis: 0, rounds: 0, answers: 0, weeks: 0 };
const options = { options: ['in', 'out'].map((id) => ({ id, text: id })) };
const people = (count: number) => Array.from({ length: count }, (_, i) => `e${i + 1}`);

/** A file with all that the format has, without a fault. */
const good = [
  question('scale', 1),
  question('ten', 2),
  question('recommend', 3),
  question('yes', 4),
  question('lunch', 5, options),
  question('pets', 6, options),
  question('words', 7),
  question('unasked', 1),
  kpi('mood', ['scale', 'ten']),
  round(W, 'top', ['scale', 'ten', 'recommend', 'yes', 'lunch', 'pets', 'words'], {
    e1: ['team'],
    e2: ['south'],
    e3: ['north', 'south'],
  }),
  answer(W, 'top', 'e1', 'scale', 4, 'Better since the move.'),
  answer(W, 'top', 'e1', 'yes', true),
  skip(W, 'top', 'e1', 'pets'),
  answer(W, 'top', 'e2', 'words', undefined, 'None.'),
];
const counts = { questions: 8, kpis: 1, rounds: 1, answers: 4, weeks: 1 };

async function written(content: string | Uint8Array): Promise<string> {
  const path = join(home, `${randomUUID()}.ndjson`);
  await writeFile(path, content);
  return path;
}

const textOf = (lines: (object | string)[]) =>
  lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');

const importFile = async (accountId: number, content: string | Uint8Array, now = later) =>
  importHistory(database.pool, database.keys, accountId, await written(content), now);

const rowsIn = async (table: string, { id }: Company) => [
  ...(await database.pool.unsafe(`select * from ${table} t where account_id = $1 order by t::text`, [id])),
];

const thrownBy = (promise: Promise<unknown>) =>
  promise.then(
    () => {
      throw new Error('It was imported.');
    },
    (error: unknown) => error,
  );

describe('a line that is wrong', () => {
  let acme: Company;
  let before: string[];
  beforeAll(async () => {
    acme = await company();
    before = await tablesOf(database.pool);
  });

  /** Imports, makes sure that nothing was written and that the line is named in both ways, and returns the words. */
  async function refused(content: string | Uint8Array, line: number, accountId = acme.id): Promise<string> {
    const error = await thrownBy(importFile(accountId, content));
    expect(error).toBeInstanceOf(Fault);
    const { kind, code, message, details } = error as Fault;
    expect({ kind, code }).toEqual({ kind: 'invalid', code: 'invalid history' });
    const [, named, words] = /^Nothing was imported\. Line (\d+): (.*)$/s.exec(message) ?? [];
    expect({ message, line: Number(named) }).toEqual({ message, line });
    expect(details).toEqual([{ type: 'invalid history', message: words, row: line }]);
    expect(await tablesOf(database.pool)).toEqual(before);
    return words as string;
  }

  const q = (more: object) => ({ question: { key: 'q', type: 1, text: 'Q?', language: 'en', ...more } });
  const choice = (choices: unknown) => q({ type: 5, options: choices });
  const k = (more: object) => ({ kpi: { id: 'k', name: 'K', questions: ['scale'], ...more } });
  const r = (more: object) => ({ round: { week: '2024-W46', group: 'top', questions: ['scale'], ...more } });
  const asked = (...all: unknown[]) => r({ asked: all });
  const a = (more: object) => ({ answer: { week: W, group: 'top', person: 'e1', question: 'ten', ...more } });
  const of = (key: string, value: unknown) => a({ question: key, value });
  const long = 'x'.repeat(10_001);

  const form: [string, unknown, string][] = [
    ['broken JSON', '{"answer":', 'Invalid JSON at column 11'],
    ['cut-off JSON before a carriage return', '{"question":{"key"\r', 'Invalid JSON at column 19'],
    ['two objects', '{"kpi":{}} {"kpi":{}}', 'Invalid JSON at column 12'],
    ['a key twice', '{"answer":{"week":"2024-W47","week":"2024-W47"}}', 'Duplicate key "week"'],
    ['U+0000, written as an escape', '{"answer":{"week":"\\u0000"}}', 'U+0000'],
    ['U+0000 itself', '{"answer":{"week":"\u0000"}}', 'U+0000'],
    ['half a surrogate pair', '{"answer":{"comment":"\\ud83d"}}', 'lone surrogate'],
    ['nested too deep', `{"kpi":${'['.repeat(40)}${']'.repeat(40)}}`, 'nested deeper'],
    ['a number beyond all', '{"answer":{"value":1e999}}', 'out of range'],
    ['an array', [], 'A line must be an object'],
    ['a text', '"answer"', 'A line must be an object'],
    ['null', 'null', 'A line must be an object'],
    ['an object without a key', {}, 'an object with exactly one key'],
    ['an unknown kind', { user: {} }, 'an object with exactly one key'],
    ['the name of what every object has', { toString: {} }, 'an object with exactly one key'],
    ['__proto__', '{"__proto__":{}}', 'an object with exactly one key'],
    ['an answer and a round', { answer: {}, round: {} }, 'an object with exactly one key'],
    ['a round and an answer', { round: {}, answer: {} }, 'an object with exactly one key'],
    ['a question and an answer', { question: {}, answer: {} }, 'an object with exactly one key'],
    ['a kind that is no object', { answer: [] }, 'answer must be an object'],
    ['a kind that is null', { round: null }, 'round must be an object'],
  ];

  const definitions: [string, unknown, string][] = [
    ['a question with an unknown key', q({ id: 1 }), 'Unknown field "id"'],
    ['a question with __proto__', '{"question":{"__proto__":{}}}', 'Unknown field "__proto__"'],
    ['a question without a key', q({ key: undefined }), 'key must be a text'],
    ['a question with an empty key', q({ key: '' }), 'key must be a text'],
    ['a question with a long key', q({ key: 'x'.repeat(501) }), '1 to 500 characters'],
    ['a question with a number for a key', q({ key: 7 }), 'key must be a text'],
    ['a question without text', q({ text: undefined }), 'text must be a text'],
    ['a question with a long text', q({ text: long }), '1 to 10000 characters'],
    ...[0, 8, 1.5, '1', null, undefined].map((type): [string, unknown, string] => [
      `a question of type ${JSON.stringify(type)}`,
      q({ type }),
      'from 1 to 7',
    ]),
    ['a question without language', q({ language: undefined }), 'language must be a text'],
    ['a question in an unknown language', q({ language: 'qq' }), '"qq" is not a valid language code'],
    ['a question in upper case', q({ language: 'EN' }), '"EN" is not a valid language code'],
    ['a question in no language', q({ language: 'klingon' }), '"klingon" is not a valid language code'],
    ['translations in an array', q({ translations: ['x'] }), 'translations must be an object'],
    [
      'a translation into no language',
      q({ translations: { klingon: 'x' } }),
      '"klingon" is not a valid language code',
    ],
    ['an empty translation', q({ translations: { sv: '' } }), 'sv must be a text'],
    ['options of a scale', q({ ...options }), 'Only questions of types 5 and 6'],
    ['options of a free text', q({ type: 7, options: [] }), 'Only questions of types 5 and 6'],
    ['a choice without options', choice(undefined), 'at least one'],
    ['a choice with no option', choice([]), 'at least one'],
    ['options in an object', choice({ in: 'In' }), 'at least one'],
    ['an option that is a text', choice(['in']), 'An option must be an object'],
    ['an option without id', choice([{ text: 'In' }]), 'id must be a text'],
    ['an option with a number for an id', choice([{ id: 1, text: 'In' }]), 'id must be a text'],
    ['an option without text', choice([{ id: 'in' }]), 'text must be a text'],
    ['an option with an unknown key', choice([{ id: 'in', text: 'In', sv: 'Inne' }]), 'Unknown field "sv"'],
    [
      'an option with a wrong translation',
      choice([{ id: 'in', text: 'In', translations: { sv: 1 } }]),
      'sv must',
    ],
    [
      'an option twice',
      choice([
        { id: 'in', text: 'A' },
        { id: 'in', text: 'B' },
      ]),
      '"in" is listed twice',
    ],
    ['a KPI with an unknown key', k({ imageUrl: 'x' }), 'Unknown field "imageUrl"'],
    ['a KPI without id', k({ id: undefined }), 'id must be a text'],
    ['a KPI without name', k({ name: '' }), 'name must be a text'],
    ['a KPI whose image is null', k({ imageURL: null }), 'imageURL must be a text'],
    ['a KPI without questions', k({ questions: undefined }), 'at least one text'],
    ['a KPI with no question', k({ questions: [] }), 'at least one text'],
    ['a KPI with a number for a question', k({ questions: [1] }), 'at least one text'],
    ['a KPI with a question twice', k({ questions: ['scale', 'scale'] }), '"scale" is listed twice'],
    ['a KPI with an unknown question', k({ questions: ['scale', 'none'] }), 'Question "none" does not exist'],
    ['a KPI with a question of type 5', k({ questions: ['lunch'] }), '"lunch" can\'t be part of a KPI'],
    ['a KPI with a question of type 6', k({ questions: ['pets'] }), '"pets" can\'t be part of a KPI'],
    ['a KPI with a question of type 7', k({ questions: ['words'] }), '"words" can\'t be part of a KPI'],
  ];

  const rounds: [string, unknown, string][] = [
    ['a round with an unknown key', r({ people: [] }), 'Unknown field "people"'],
    ...['2024-47', '2024W47', '2025-W53', '2024-W00', '', 202447, null, undefined].map(
      (week): [string, unknown, string] => [
        `a round in ${JSON.stringify(week)}`,
        r({ week }),
        'an existing ISO week',
      ],
    ),
    ['a round of no group', r({ group: undefined }), 'group must be'],
    ['a round of a number', r({ group: 12 }), 'group must be'],
    ['a round of a group by a text id', r({ group: { id: '12' } }), 'group must be'],
    ['a round of a group by more than its id', r({ group: { id: 12, name: 'x' } }), 'group must be'],
    ['a round of an unknown group', r({ group: 'west' }), 'Group "west" does not exist'],
    ['a round of a group in other letters', r({ group: 'Top' }), 'Group "Top" does not exist'],
    ['a round of an unknown id', r({ group: { id: 999_999 } }), 'Group 999999 does not exist.'],
    ['a round without questions', r({ questions: undefined }), 'questions must be'],
    ['a round with no question', r({ questions: [] }), 'questions must be'],
    ['a round with a question twice', r({ questions: ['ten', 'ten'] }), '"ten" is listed twice'],
    [
      'a round with an unknown question',
      r({ questions: ['scale', 'none'] }),
      'Question "none" does not exist',
    ],
    ['a round that asks an object', r({ asked: {} }), 'asked must be an array'],
    ['a round that asks null', r({ asked: null }), 'asked must be an array'],
    ['a person who is a text', asked('e1'), 'must be an object'],
    ['a person with an unknown key', asked({ person: 'e1', groups: [] }), 'Unknown field "groups"'],
    ['a person without a name', asked({ memberOf: ['top'] }), 'person must be a text'],
    ['a person with a number for a name', asked({ person: 1 }), 'person must be a text'],
    ['a member of a text', asked({ person: 'e1', memberOf: 'top' }), 'memberOf must be an array'],
    ['a member of null', asked({ person: 'e1', memberOf: null }), 'memberOf must be an array'],
    ['a member of a number', asked({ person: 'e1', memberOf: [1] }), 'memberOf must be'],
    [
      'a member of an unknown group',
      asked({ person: 'e1', memberOf: ['top', 'west'] }),
      'Group "west" does not exist',
    ],
    [
      'a member of nothing',
      asked({ person: 'e1', memberOf: [] }),
      "is not a member of the round's group or any of its subgroups",
    ],
    [
      'a member of a group beside the asked one',
      r({ group: 'north', asked: [{ person: 'e1', memberOf: ['south'] }] }),
      "is not a member of the round's group or any of its subgroups",
    ],
    [
      'a member of the group above the asked one',
      r({ group: 'north', asked: [{ person: 'e1', memberOf: ['top'] }] }),
      "is not a member of the round's group or any of its subgroups",
    ],
    [
      'a person twice',
      asked({ person: 'e1' }, { person: 'e1', memberOf: ['south'] }),
      '"e1" is listed twice',
    ],
  ];

  const answers: [string, unknown, string][] = [
    ['an answer with an unknown key', a({ value: 3, at: '12:00' }), 'Unknown field "at"'],
    ...[0, 6, 2.5, '3', true, null, [3], undefined].map((value): [string, unknown, string] => [
      `type 1: ${JSON.stringify(value)}`,
      a({ person: 'e2', question: 'scale', value }),
      'from 1 to 5',
    ]),
    ...[0, 11, 2.5, '3'].map((value): [string, unknown, string] => [
      `type 2: ${JSON.stringify(value)}`,
      of('ten', value),
      'from 1 to 10',
    ]),
    ...[-1, 11, '9'].map((value): [string, unknown, string] => [
      `type 3: ${JSON.stringify(value)}`,
      of('recommend', value),
      'from 0 to 10',
    ]),
    ...[0, 1, 'yes', null].map((value): [string, unknown, string] => [
      `type 4: ${JSON.stringify(value)}`,
      a({ person: 'e2', question: 'yes', value }),
      'true or false',
    ]),
    ...[['in'], 'there', 1, undefined].map((value): [string, unknown, string] => [
      `type 5: ${JSON.stringify(value)}`,
      of('lunch', value),
      'the id of one of the options',
    ]),
    ...['in', ['in', 'in'], ['there'], [1], undefined].map((value): [string, unknown, string] => [
      `type 6: ${JSON.stringify(value)}`,
      a({ person: 'e2', question: 'pets', value }),
      'an array of different option ids',
    ]),
    ['type 7: a value', a({ question: 'words', value: 'x', comment: 'x' }), 'left out'],
    ['type 7: null and a comment', a({ question: 'words', value: null, comment: 'x' }), 'left out'],
    ['type 7: no comment', a({ question: 'words' }), 'needs a comment, or "skipped": true'],
    ['an empty comment', a({ value: 3, comment: '' }), 'comment must be a text'],
    ['a comment that is null', a({ value: 3, comment: null }), 'comment must be a text'],
    ['a long comment', a({ value: 3, comment: long }), '1 to 10000 characters'],
    ['skipped, in words', a({ skipped: 'yes' }), 'skipped must be true or false'],
    ['skipped: null', a({ skipped: null }), 'skipped must be true or false'],
    ['skipped with a value', a({ skipped: true, value: 3 }), 'must not have a value or a comment'],
    ['skipped with null', a({ skipped: true, value: null }), 'must not have a value or a comment'],
    ['skipped with a comment', a({ skipped: true, comment: 'x' }), 'must not have a value or a comment'],
    ['skipped: false and no value', a({ skipped: false }), 'from 1 to 10'],
    ['someone who is not asked', a({ person: 'e4', value: 3 }), '"e4" was not asked'],
    ['someone with other letters', a({ person: 'E1', value: 3 }), '"E1" was not asked'],
    ['no person', a({ person: undefined, value: 3 }), 'person must be a text'],
    ['an unknown question', a({ question: 'none', value: 3 }), '"none" was not asked'],
    ['a question that is not asked', a({ question: 'unasked', value: 3 }), '"unasked" was not asked'],
    ['no question', a({ question: undefined, value: 3 }), 'question must be a text'],
    ['a week without a round', a({ week: '2024-W48', value: 3 }), '2024-W48 has no round'],
    ['a group without a round', a({ group: 'north', value: 3 }), 'W47 has no round for this group'],
    ['an unknown group', a({ group: 'west', value: 3 }), 'Group "west" does not exist'],
    ['a malformed week', a({ week: '2024-47', value: 3 }), 'an existing ISO week'],
  ];

  test.each([...form, ...definitions, ...rounds, ...answers])(
    '%s: a fault that names the line, and nothing is imported',
    async (_, wrong, words) => {
      const line = typeof wrong === 'string' ? wrong : JSON.stringify(wrong);
      expect(await refused(textOf(['', ...good.slice(0, 2), line, ...good.slice(2)]), 4)).toContain(words);
    },
  );

  test('without the wrong line the file is good', async () => {
    const other = await company();
    expect(await importLines(database, other.id, good)).toEqual(counts);
    before = await tablesOf(database.pool);
  });

  const twice: [string, object, string][] = [
    ['a question', question('scale', 1), 'The question "scale" is defined twice in this file'],
    ['a KPI', kpi('mood', ['ten']), 'The KPI "mood" is defined twice in this file'],
    ['a round', round(W, 'top', ['scale'], {}), 'has two rounds for this group in this file'],
    [
      'an answer',
      answer(W, 'top', 'e1', 'scale', 2),
      'This person already answered this question in line 11',
    ],
    [
      'an answer that skips',
      skip(W, 'top', 'e1', 'scale'),
      'This person already answered this question in line 11',
    ],
  ];

  test.each(twice)('%s that is there twice: the second is named', async (_, line, words) => {
    expect(await refused(textOf([...good, '', line]), good.length + 2)).toContain(words);
  });

  test('a round by the id of a group that has one by externalId is the same round', async () => {
    const again = round(W, { id: acme.groups.top }, ['ten'], {});
    expect(await refused(textOf([...good, again]), good.length + 1)).toContain(
      'has two rounds for this group',
    );
  });

  test('one question that two rounds ask is answered once', async () => {
    const other = round(W, 'north', ['scale'], { e1: ['team'] });
    const again = answer(W, 'north', 'e1', 'scale', 4);
    const words = await refused(textOf([...good, other, again]), good.length + 2);
    expect(words).toContain('already answered this question in line 11');
  });

  test("another account's group is none, in the same words as one that does not exist", async () => {
    const other = await company();
    before = await tablesOf(database.pool);
    const words = async (id: number) =>
      (await refused(textOf([...good, r({ group: { id } })]), good.length + 1)).replace(String(id), '…');
    expect(await words(other.groups.top)).toBe(await words(999_999));
  });

  test.each(['\n', '\r\n'])(
    'is counted with blank lines, a byte order mark and line ends %j',
    async (end) => {
      const lines = textOf(['', '  ', ...good.slice(0, 3), '\t', a({ value: 99 }), ...good.slice(3)]);
      expect(await refused(`\uFEFF${lines.replaceAll('\n', end)}${end}`, 7)).toContain('from 1 to 10');
    },
  );

  test('is counted across all that is read at a time', async () => {
    const filler = Array.from({ length: 40_000 }, (_, i) => `${' '.repeat(i % 80)}`);
    const lines = [...good, ...filler, a({ value: 99 }), ...filler];
    expect(await refused(textOf(lines), good.length + filler.length + 1)).toContain('from 1 to 10');
  });

  test('is named where it is the last and cut off', async () => {
    const text = textOf(good);
    expect(await refused(text.slice(0, -10), good.length)).toContain('Invalid JSON at column');
  });

  test.each([1, 5, good.length])('that is not UTF-8 is named: line %i', async (line) => {
    const lines = good.map((one) => Buffer.from(`${JSON.stringify(one)}\n`));
    const at = lines[line - 1] as Buffer;
    at[at.length - 4] = 0xe5; // as Latin-1 has å
    expect(await refused(Buffer.concat(lines), line)).toBe(
      'The line is not valid UTF-8. Save the file as UTF-8.',
    );
  });

  test('that is not UTF-8 is named in a file of many chunks, and in one of UTF-16', async () => {
    const filler = `${' '.repeat(99)}\n`.repeat(30_000);
    const bytes = Buffer.concat([Buffer.from(filler), Buffer.from([0x20, 0xff, 0x0a]), Buffer.from(filler)]);
    expect(await refused(bytes, 30_001)).toBe('The line is not valid UTF-8. Save the file as UTF-8.');
    expect(await refused(Buffer.from(`\uFEFF${textOf(good)}`, 'utf16le'), 1)).toBe(
      'The line is not valid UTF-8. Save the file as UTF-8.',
    );
  });

  test('of 50 MB is read, and refused for what is in it', async () => {
    const line = JSON.stringify(a({ value: 3, comment: 'x'.repeat(50_000_000) }));
    expect(await refused(textOf([...good, line]), good.length + 1)).toContain('comment must be a text');
  });

  test('of more than 64 MB is refused before it is read to its end', async () => {
    const bytes = Buffer.concat([Buffer.from('\n\n'), Buffer.alloc(70 * 1024 * 1024, 0x20)]);
    expect(await refused(bytes, 3)).toBe('The line is longer than 64 MB.');
  });

  test('a question of another type or with other options than before is named', async () => {
    const other = await company();
    await importLines(database, other.id, good);
    before = await tablesOf(database.pool);
    const another: [object, string][] = [
      [question('scale', 2), 'Question "scale" already exists with a different type (1)'],
      [question('words', 5, options), 'a different type (7)'],
      [question('lunch', 6, options), 'a different type (5)'],
      [question('lunch', 5, { options: options.options.slice(1) }), 'with different options'],
      [question('lunch', 5, { options: options.options.toReversed() }), 'with different options'],
      [
        question('lunch', 5, { options: [...options.options, { id: 'x', text: 'X' }] }),
        'with different options',
      ],
    ];
    for (const [line, words] of another) {
      expect(await refused(textOf([question('new', 1), '', line]), 3, other.id)).toContain(words);
    }
  });

  test('a round that comes to a week that has closed is named', async () => {
    const other = await company();
    await importLines(database, other.id, good);
    before = await tablesOf(database.pool);
    const lines = [question('new', 1), round(W, 'north', ['scale'], { e9: ['team'] })];
    expect(await refused(textOf(lines), 2, other.id)).toBe(
      `Week ${W} is closed. You can't add anything to it.`,
    );
  });

  test('a round that was there with other questions is named', async () => {
    const other = await company();
    await importLines(database, other.id, good);
    before = await tablesOf(database.pool);
    const words = await refused(textOf([round(W, 'top', ['scale'], {})]), 1, other.id);
    expect(words).toBe(`Week ${W} already has a round for this group with different questions.`);
  });

  test('an answer that was there before, by an earlier round of an open week, is named', async () => {
    const other = await company();
    const open = Date.parse('2024-11-20T12:00:00Z');
    await importLines(database, other.id, good, open);
    before = await tablesOf(database.pool);
    const lines = [round(W, 'north', ['scale'], { e1: ['team'] }), answer(W, 'north', 'e1', 'scale', 2)];
    const error = await thrownBy(importLines(database, other.id, lines, open));
    expect((error as Fault).message).toBe(
      'Nothing was imported. Line 2: This person had already answered this question before the import.',
    );
    expect(await tablesOf(database.pool)).toEqual(before);
  });
});

describe('a file that cannot be read', () => {
  test.each([
    ['is missing', 'none.ndjson', 'File not found'],
    ['is beneath a file', 'file/none.ndjson', 'File not found'],
    ['is a directory', 'directory', 'is not a regular file'],
    ['has an impossible name', 'x'.repeat(300), 'The file cannot be read (ENAMETOOLONG)'],
  ])('%s: a fault that says so', async (_, name, words) => {
    const { id } = await company();
    await mkdir(join(home, 'directory'), { recursive: true });
    await writeFile(join(home, 'file'), '');
    const error = await thrownBy(importHistory(database.pool, database.keys, id, join(home, name), later));
    expect(error).toBeInstanceOf(Fault);
    expect((error as Fault).message).toContain(words);
  });

  test('an account that does not exist is not found', async () => {
    await expect(importLines(database, 999_999, good)).rejects.toMatchObject({ kind: 'not_found' });
  });
});

describe('a good file', () => {
  test.each([
    ['as it is', textOf(good)],
    ['with a line end at its end', `${textOf(good)}\n`],
    ['with a byte order mark', `\uFEFF${textOf(good)}`],
    [
      'with CRLF, a byte order mark and blank lines',
      `\uFEFF\r\n${textOf(good).replaceAll('\n', '\r\n\r\n')}`,
    ],
    ['from end to beginning: what is used may be defined later', textOf(good.toReversed())],
    ['with spaces in its lines', textOf(good).replaceAll('":', '" :').replaceAll('{', '{ ')],
  ])('is imported %s', async (_, text) => {
    expect(await importFile((await company()).id, text)).toEqual(counts);
  });

  test('is the example of docs/history.md, with the counts that it states', async () => {
    const page = await readFile(new URL('../../../docs/history.md', import.meta.url), 'utf8');
    const lines = page.split('\n').filter((line) => line.startsWith('{"'));
    const stated = JSON.parse(/With `--json`: `(.+)`/.exec(page)?.[1] ?? '') as object;
    const acme = await company();
    await inTransaction(database.pool, async (tx) => {
      const parentId = await createGroup(tx, acme.id, { name: 'Warehouse', externalId: 'warehouse' });
      await createGroup(tx, acme.id, { name: 'Night', externalId: 'warehouse-night', parentId });
    });
    expect(await importLines(database, acme.id, lines)).toEqual(stated);
  });

  test.each(['', '\n', '\uFEFF', ' \r\n\r\n'])('of nothing imports nothing: %j', async (text) => {
    expect(await importFile((await company()).id, text)).toEqual(none);
  });

  test('questions keep their words, KPIs their questions', async () => {
    const acme = await company();
    const lunch = {
      type: 5,
      text: 'Where?',
      language: 'en',
      translations: { sv: 'Var?' },
      options: [
        { id: 'b', text: 'Canteen', translations: { sv: 'Matsal' } },
        { id: 'a', text: 'Out' },
      ],
    };
    await importLines(database, acme.id, [
      { question: { key: 'lunch', ...lunch } },
      question('scale', 1),
      kpi('mood', ['scale'], { name: 'Mood', imageURL: 'https://example.com/m.png' }),
    ]);
    const [kept, scale] = await rowsIn('questions', acme);
    expect(kept).toMatchObject({ key: 'lunch', ...lunch });
    expect(scale).toMatchObject({ key: 'scale', type: 1, translations: {}, options: [] });
    expect(await rowsIn('kpis', acme)).toMatchObject([
      { kpi_id: 'mood', name: 'Mood', image_url: 'https://example.com/m.png', has_values: false },
    ]);
    expect(await rowsIn('kpi_questions', acme)).toMatchObject([
      { kpi_id: 'mood', question_id: scale?.['question_id'] },
    ]);
  });

  test('texts of any kind arrive as they were, in comments, options, keys and persons', async () => {
    const acme = await company();
    const odd = 'a"b\\c,{}\t\r\n\\.\\N NULL \u0001 å 👩‍🚀 \u2028';
    const open = Date.parse('2024-11-20T12:00:00Z');
    await importLines(
      database,
      acme.id,
      [
        question(odd, 6, {
          options: [odd, '', '{}', '__proto__', '\\'].filter(Boolean).map((id) => ({ id, text: id })),
        }),
        round(W, 'top', [odd], { [odd]: ['top'], e2: ['top'] }),
        answer(W, 'top', odd, odd, [odd, '\\', '__proto__', '{}'], odd),
        answer(W, 'top', 'e2', odd, []),
      ],
      open,
    );
    const kept = await keptAnswers(database, acme.id, weekNamed(W) as Week);
    expect(kept.map(({ choices, comment }) => ({ choices, comment }))).toEqual(
      expect.arrayContaining([
        { choices: [odd, '\\', '__proto__', '{}'], comment: odd },
        { choices: [], comment: null },
      ]),
    );
  });

  test('no person is kept once its weeks have ended, and while they are open only under a number', async () => {
    const acme = await company();
    const lines = [
      question('scale', 1),
      round('2024-W46', 'top', ['scale'], { 'anna@example.org': ['top'] }),
      answer('2024-W46', 'top', 'anna@example.org', 'scale', 3),
      round(W, 'top', ['scale'], { 'anna@example.org': ['top'] }),
      answer(W, 'top', 'anna@example.org', 'scale', 3),
    ];
    await importLines(database, acme.id, lines, Date.parse('2024-11-20T12:00:00Z'));
    expect((await tablesOf(database.pool)).join('\n')).not.toContain('anna@');
    expect(await rowsIn('answers', acme)).toHaveLength(1);
    await importLines(database, acme.id, lines, later);
    await closeEndedWeeks(database.pool, database.keys, later);
    expect(await rowsIn('answers', acme)).toEqual([]);
    expect(await rowsIn('assignments', acme)).toEqual([]);
    expect(await rowsIn('week_keys', acme)).toEqual([]);
  });
});

describe('an open week', () => {
  const open = Date.parse('2024-11-20T12:00:00Z');
  const week = weekNamed(W) as Week;
  /** A week with a round of the whole company, and another of one group in a second file. */
  const first = [
    question('scale', 1),
    question('ten', 2),
    round(W, 'top', ['scale'], { e1: ['team'], e2: ['south'] }),
    answer(W, 'top', 'e1', 'scale', 3),
  ];
  const second = round(W, 'north', ['scale', 'ten'], { e1: ['team'] });

  test('in which a schedule asks takes nothing from a file: a refusal would tell who has answered', async () => {
    const { id } = await inTransaction(database.pool, (tx) => createAccount(tx, { name: 'Acme' }));
    const asked = await askPeople(database, id, { count: 2 });
    const link = { link: asked.links[0] as string, visit: null };
    const questionId = asked.questionIds.get('workload-amount') as number;
    await saveAnswers(database.pool, database.keys, link, [{ questionId, value: 3 }]);
    const group = { id: await inTransaction(database.pool, (tx) => createGroup(tx, id, { name: 'Else' })) };
    const before = await tablesOf(database.pool);
    const name = weekName(asked.week);
    const lines = [question('scale', 1), round(name, group, ['scale'], { p1: [group] })];
    for (const more of [[], [answer(name, group, 'p1', 'scale', 3)]]) {
      await expect(importLines(database, id, [...lines, ...more], noon)).rejects.toMatchObject({
        code: 'invalid history',
        message: `Nothing was imported. Line 2: A schedule asks questions in week ${name}. You can't import into this week until it has closed.`,
      });
    }
    expect(await tablesOf(database.pool)).toEqual(before);
    // Nor of answers alone, to the round that is there: they are passed over, whether they are right or not.
    const alone = [...asked.questionIds.keys()]
      .slice(0, 1)
      .map(() => answer(name, 'all', 'p1', 'workload-amount', 3));
    expect(await importLines(database, id, alone, noon)).toMatchObject({ answers: 0, passedOver: 1 });
    expect(await tablesOf(database.pool)).toEqual(before);
  });

  test.each([
    ['in two rounds of one file', [[...first, second, answer(W, 'north', 'e1', 'scale', 4)]], 6],
    ['in a file and in one after it', [first, [second, answer(W, 'north', 'e1', 'scale', 4)]], 2],
  ])('has an answer of a person to a question once: not %s', async (_, files, line) => {
    const acme = await company();
    for (const file of files.slice(0, -1)) await importLines(database, acme.id, file, open);
    const before = await tablesOf(database.pool);
    await expect(importLines(database, acme.id, files.at(-1)!, open)).rejects.toMatchObject({
      code: 'invalid history',
      message: expect.stringMatching(
        new RegExp(`Line ${line}: This person (had )?already answered this question`),
      ),
    });
    expect(await tablesOf(database.pool)).toEqual(before);
  });

  test('to which a second file adds: all answers of a person count once it has closed, each to its question', async () => {
    const acme = await company();
    await importLines(database, acme.id, first, open);
    const more = [second, answer(W, 'north', 'e1', 'ten', 7)];
    expect(await importLines(database, acme.id, more, open)).toMatchObject({ rounds: 1, answers: 1 });
    const stored = await storedAnswers(database, acme.id, week);
    expect(stored.map(({ value }) => value)).toEqual([3, 7]);
    expect(new Set(stored.map(({ respondent }) => respondent)).size).toBe(1);
    expect(stored.every(({ giving }) => giving.link === 'history' && !giving.handedOut)).toBe(true);
  });

  test('knows a person of the file who is a user by the user, so that a link of theirs opens the same week', async () => {
    const acme = await company();
    const userId = await inTransaction(database.pool, (tx) =>
      createUser(tx, acme.id, {
        externalId: 'e1',
        memberships: { memberOf: [acme.groups.team] },
      }),
    );
    await importLines(database, acme.id, first, open);
    expect([...(await answersOfPerson(database, acme.id, week, userId)).values()]).toMatchObject([
      { value: 3 },
    ]);
  });
});

describe('importing again', () => {
  const open = Date.parse('2024-11-20T12:00:00Z');
  const lines = [
    ...good,
    round('2024-W45', 'north', ['scale'], Object.fromEntries(people(6).map((one) => [one, ['team']]))),
    ...people(6).map((one) => answer('2024-W45', 'north', one, 'scale', 3, one)),
  ];

  test.each([
    ['ended', later],
    ['in part not ended', open],
  ])('the same file changes nothing and counts nothing, where its weeks have %s', async (_, now) => {
    const { id } = await company();
    expect(await importLines(database, id, lines, now)).toEqual({
      ...counts,
      rounds: 2,
      weeks: 2,
      answers: 10,
    });
    const before = await tablesOf(database.pool);
    const passed = { ...none, passedOver: 10 };
    expect(await importLines(database, id, lines, now)).toEqual(passed);
    expect(await importLines(database, id, lines.toReversed(), now)).toEqual(passed);
    expect(await tablesOf(database.pool)).toEqual(before);
  });

  test('another file adds other weeks, and leaves those that are there', async () => {
    const acme = await company();
    await importLines(database, acme.id, lines);
    const before = await rowsIn('results', acme);
    const more = [
      round('2024-W48', 'top', ['scale'], Object.fromEntries(people(5).map((one) => [one, ['team']]))),
      ...people(5).map((one) => answer('2024-W48', 'top', one, 'scale', 5)),
    ];
    expect(await importLines(database, acme.id, [...more, ...lines])).toEqual({
      ...none,
      rounds: 1,
      answers: 5,
      weeks: 1,
      passedOver: 10,
    });
    const after = await rowsIn('results', acme);
    expect(after.filter(({ week }) => week !== '2024-11-25')).toEqual(before);
    expect(after.filter(({ week }) => week === '2024-11-25').map(({ answers }) => answers)).toContain(5);
  });

  test('other words of a question, option or KPI take the place of the old ones, and are counted', async () => {
    const acme = await company();
    await importLines(database, acme.id, good);
    const results = await rowsIn('results', acme);
    const changed = [
      question('scale', 1, { text: 'New?', language: 'sv', translations: { en: 'New?' } }),
      question('ten', 2),
      question('lunch', 5, { options: options.options.map(({ id }) => ({ id, text: `${id}!` })) }),
      kpi('mood', ['ten'], { name: 'Spirits', translations: { sv: 'Stämning' } }),
    ];
    expect(await importLines(database, acme.id, changed)).toEqual({ ...none, questions: 2, kpis: 1 });
    const kept = new Map((await rowsIn('questions', acme)).map((one) => [one['key'], one]));
    expect(kept.get('scale')).toMatchObject({ text: 'New?', language: 'sv', translations: { en: 'New?' } });
    expect(kept.get('lunch')).toMatchObject({
      options: [
        { id: 'in', text: 'in!' },
        { id: 'out', text: 'out!' },
      ],
    });
    const named = { name: 'Spirits', translations: { sv: 'Stämning' } };
    expect(await rowsIn('kpis', acme)).toMatchObject([named]);
    // Without translations those that are there stay.
    expect(
      await importLines(database, acme.id, [question('ten', 2), kpi('mood', ['ten'], { name: 'Mood' })]),
    ).toEqual({
      ...none,
      kpis: 1,
    });
    expect(await rowsIn('kpis', acme)).toMatchObject([{ ...named, name: 'Mood' }]);
    await importLines(database, acme.id, changed);
    expect(await rowsIn('kpi_questions', acme)).toMatchObject([
      { question_id: kept.get('ten')?.['question_id'] },
    ]);
    expect(await rowsIn('results', acme)).toEqual(results);
    expect(await importLines(database, acme.id, changed)).toEqual(none);
  });

  test('a fault in another week leaves the first file as it was', async () => {
    const acme = await company();
    await importLines(database, acme.id, good);
    const before = await tablesOf(database.pool);
    const more = [round('2024-W48', 'top', ['scale'], {}), answer('2024-W48', 'top', 'e1', 'scale', 3)];
    await expect(importLines(database, acme.id, [...good, ...more])).rejects.toThrow('"e1" was not asked');
    expect(await tablesOf(database.pool)).toEqual(before);
  });

  test('two files at the same moment: each is imported once', async () => {
    const acme = await company();
    const both = await Promise.all([1, 2].map(() => importLines(database, acme.id, lines)));
    expect(both.map(({ answers }) => answers).toSorted((x, y) => x - y)).toEqual([0, 10]);
    expect(await rowsIn('rounds', acme)).toHaveLength(2);
  });
});

describe('who is asked', () => {
  const open = Date.parse('2024-11-20T12:00:00Z');
  const groupsAsked = async (acme: Company) => {
    const name = new Map(Object.entries(acme.groups).map(([key, id]) => [id, key]));
    return (await rowsIn('assignments', acme))
      .map((one) =>
        (one['group_ids'] as number[])
          .map((id) => name.get(id))
          .toSorted()
          .join(' '),
      )
      .toSorted();
  };

  test('`asked` left out: everyone who is now an active member of the group or beneath, once', async () => {
    const acme = await company();
    const { top, north, team, south } = acme.groups;
    await inTransaction(database.pool, async (tx) => {
      const member = (externalId: string, ...memberOf: number[]) =>
        createUser(tx, acme.id, { externalId, memberships: { memberOf } });
      await member('e1', team);
      await member('e2', north, team);
      await member('e3', south);
      await member('e4', top);
      await member('e5', north, south);
      await member('e6');
      const idle = await member('idle', team);
      await tx`update users set active = false where account_id = ${acme.id} and user_id = ${idle}`;
      await createUser(tx, acme.id, { memberships: { memberOf: [team] } }); // without externalId
      const boss = await member('boss');
      await tx`insert into memberships (account_id, user_id, kind, group_id)
               values (${acme.id}, ${boss}, 'adminOf', ${team})`;
    });
    const lines = [
      question('scale', 1),
      { round: { week: W, group: 'north', questions: ['scale'] } },
      ...['e1', 'e2', 'e5'].map((one) => answer(W, 'north', one, 'scale', 3)),
    ];
    expect(await importLines(database, acme.id, lines, open)).toMatchObject({ rounds: 1, answers: 3 });
    expect(await groupsAsked(acme)).toEqual([
      'north team top',
      'north team top',
      'north team top',
      'north top',
    ]);
    for (const outside of ['e3', 'e4', 'e6', 'idle', 'boss']) {
      const other = [
        { round: { week: '2024-W48', group: 'north', questions: ['scale'] } },
        answer('2024-W48', 'north', outside, 'scale', 3),
      ];
      await expect(importLines(database, acme.id, other, open)).rejects.toThrow('Line 2');
    }
  });

  test('a person counts on the way from each own group within the asked one up to the top, and nowhere else', async () => {
    const acme = await company();
    const lines = [
      question('scale', 1),
      round(W, 'north', ['scale'], {
        e1: ['team'],
        e2: ['north', 'south'],
        e3: ['team', 'north', 'team'],
      }),
      round(W, 'top', ['scale'], { e4: ['team', 'south'], e5: [{ id: acme.groups.plain }], e6: ['top'] }),
    ];
    await importLines(database, acme.id, lines, open);
    expect(await groupsAsked(acme)).toEqual(
      [
        'north team top',
        'north top',
        'north team top',
        'north south team top',
        'plain top',
        'top',
      ].toSorted(),
    );
  });

  test('`memberOf` left out: the asked group itself; a group without externalId goes by its id', async () => {
    const acme = await company();
    const plain = { id: acme.groups.plain };
    const lines = [
      question('scale', 1),
      { round: { week: W, group: plain, questions: ['scale'], asked: [{ person: 'e1' }] } },
      answer(W, plain, 'e1', 'scale', 3),
    ];
    expect(await importLines(database, acme.id, lines, open)).toMatchObject({ rounds: 1, answers: 1 });
    expect(await groupsAsked(acme)).toEqual(['plain top']);
    expect(await importLines(database, acme.id, lines, open)).toEqual({ ...none, passedOver: 1 });
  });

  test('a round may ask nobody', async () => {
    const acme = await company();
    await importLines(database, acme.id, [question('scale', 1), round(W, 'top', ['scale'], {})]);
    expect((await rowsIn('results', acme)).map(({ answers }) => answers)).toEqual(Array(5).fill(null));
  });
});

describe('weeks', () => {
  const six = Object.fromEntries(people(6).map((one) => [one, ['top']]));
  const lines = [
    question('scale', 1),
    ...['2024-W46', W].flatMap((week) => [
      round(week, 'top', ['scale'], six),
      ...people(6).map((one) => answer(week, 'top', one, 'scale', 4)),
    ]),
  ];
  const published = async (acme: Company) =>
    (await rowsIn('results', acme))
      .filter(({ answers }) => answers !== null)
      .map(({ week }) => week as string);

  test.each([
    ['UTC', '2024-11-25T00:00:00Z'],
    ['Pacific/Auckland', '2024-11-24T11:00:00Z'],
    ['America/Los_Angeles', '2024-11-25T08:00:00Z'],
  ])('one that has not ended stays open, and closes when its Sunday is over in %s', async (timezone, end) => {
    const acme = await company(timezone);
    const after = Date.parse(end);
    const last = addWeeks(monday, -1);
    expect(await importLines(database, acme.id, lines, after - 1)).toMatchObject({ weeks: 2 });
    expect(await published(acme)).toEqual([last]);
    expect(await rowsIn('answers', acme)).toHaveLength(6);
    await closeEndedWeeks(database.pool, database.keys, after - 1);
    expect(await published(acme)).toEqual([last]);
    await closeEndedWeeks(database.pool, database.keys, after);
    expect((await published(acme)).toSorted()).toEqual([last, monday]);
    expect(await rowsIn('answers', acme)).toEqual([]);
  });

  test.each([
    ['UTC', '2024-11-25T00:00:00Z'],
    ['Pacific/Auckland', '2024-11-24T11:00:00Z'],
    ['America/Los_Angeles', '2024-11-25T08:00:00Z'],
  ])('one whose Sunday is over in %s is published with the import', async (timezone, end) => {
    const acme = await company(timezone);
    await importLines(database, acme.id, lines, Date.parse(end));
    expect((await published(acme)).toSorted()).toEqual([addWeeks(monday, -1), monday]);
  });

  test('to one that is open another file adds rounds', async () => {
    const acme = await company();
    const open = Date.parse('2024-11-20T12:00:00Z');
    await importLines(database, acme.id, lines, open);
    const more = [
      question('ten', 2),
      round(W, 'south', ['ten'], { e1: ['south'] }),
      answer(W, 'south', 'e1', 'ten', 9),
    ];
    expect(await importLines(database, acme.id, more, open)).toMatchObject({ rounds: 1, answers: 1 });
    // The same person, by whichever file: one number.
    const numbers = new Set((await rowsIn('assignments', acme)).map((one) => one['respondent'] as string));
    expect(numbers.size).toBe(6);
  });
});

// --- Any history, in any order. Each answer is one of those that the person could give.

const fourteen = people(14);
const weekly = fc.record({
  groups: fc.uniqueArray(fc.constantFrom('top', 'north', 'team', 'south'), { minLength: 1, maxLength: 2 }),
  questions: fc.uniqueArray(fc.constantFrom('scale', 'recommend', 'yes', 'lunch', 'pets', 'words'), {
    minLength: 1,
  }),
  memberOf: fc.array(fc.subarray(['top', 'north', 'team', 'south'], { minLength: 1 }), {
    minLength: fourteen.length,
    maxLength: fourteen.length,
  }),
  given: fc.array(fc.nat(20), { minLength: fourteen.length * 6, maxLength: fourteen.length * 6 }),
});
const history = fc
  .tuple(fc.array(weekly, { minLength: 1, maxLength: 3 }), fc.infiniteStream(fc.nat()))
  .map(([weeks, random]) => {
    const lines = [
      ...good.slice(0, 9),
      ...weeks.flatMap((one, i) => linesOfWeek(weekName(addWeeks(monday, -i)), one)),
    ];
    const shuffled = () =>
      lines
        .map((line) => ({ line, at: random.next().value as number }))
        .toSorted((a, b) => a.at - b.at)
        .map(({ line }) => line);
    return [shuffled(), shuffled()] as const;
  });

/** The groups within an asked one, by the tree of `company`. */
const within: Record<string, string[]> = {
  top: ['top', 'north', 'team', 'south'],
  north: ['north', 'team'],
  team: ['team'],
  south: ['south'],
};

function linesOfWeek(week: string, { groups, questions, memberOf, given }: Weekly): object[] {
  const done = new Set<string>();
  return groups.flatMap((group) => {
    const asked = fourteen.flatMap((person, i) => {
      const own = (memberOf[i] as string[]).filter((one) => within[group]?.includes(one));
      return own.length > 0 ? [[person, own] as const] : [];
    });
    const answers = asked.flatMap(([person]) =>
      questions.flatMap((key, j) => {
        const number = given[fourteen.indexOf(person) * 6 + j] as number;
        if (number > 16 || done.has(`${person} ${key}`)) return [];
        done.add(`${person} ${key}`);
        return [
          number > 14 ? skip(week, group, person, key) : answerBy(number, { week, group, person, key }),
        ];
      }),
    );
    return [round(week, group, questions, Object.fromEntries(asked)), ...answers];
  });
}

function answerBy(
  number: number,
  { week, group, person, key }: Record<'week' | 'group' | 'person' | 'key', string>,
) {
  const values: Record<string, unknown> = {
    scale: 1 + (number % 5),
    recommend: number % 11,
    yes: number % 2 === 0,
    lunch: number % 2 ? 'in' : 'out',
    pets: [[], ['in'], ['out'], ['out', 'in']][number % 4],
  };
  const comment = key === 'words' || number % 3 === 0 ? `${person} on ${key}` : undefined;
  return answer(week, group, person, key, values[key], comment);
}

type Weekly = { groups: string[]; questions: string[]; memberOf: string[][]; given: number[] };

describe('any history', () => {
  let world: World;
  let id: number;
  let token: string;
  beforeAll(async () => {
    world = await openWorld(undefined, {}, () => later);
    ({ id, token } = await world.account());
    await inTransaction(world.pool, async (tx) => {
      await makeGroups(tx, id);
      await tx`update accounts set threshold = 3, comment_threshold = 3 where account_id = ${id}`;
    });
  });
  afterAll(() => world.close());

  /** All that the data interface tells of a company, to the byte; the order of comments means nothing. */
  async function told(): Promise<string[]> {
    const get = async (path: string) => {
      const sent = await fetch(`${world.address}/v1/${path}`, { headers: { authorization: token } });
      expect({ path, status: sent.status }).toEqual({ path, status: 200 });
      return sent.text();
    };
    const [top] = JSON.parse(await get('groups')) as { id: number }[];
    const asked = `groupId=${top?.id}&includeSubgroups=true&fromDate=2024-10-01&toDate=2024-11-24`;
    const texts = await Promise.all(
      [
        `results?${asked}&granularData=true`,
        `responserates/values?${asked}`,
        `askedquestions?${asked}`,
        `kpis/mood/values?${asked}`,
      ].map(get),
    );
    const comments = await world.pool<{ row: string }[]>`
      select group_id || ' ' || g.week || ' ' || text as row
      from   comment_groups g join comments c using (account_id, week, question_id, position)
      where  account_id = ${id} order by 1`;
    return [...texts, ...comments.map(({ row }) => row)];
  }

  test('tells the same, in whichever order its lines came', { timeout: 120_000 }, async () => {
    let figures = 0;
    await fc.assert(
      fc.asyncProperty(history, async ([one, other]) => {
        await forgetWeeks();
        const first = await importLines(world, id, one);
        const before = await told();
        await forgetWeeks();
        const second = await importLines(world, id, other);
        expect({ ...second, questions: 0, kpis: 0 }).toEqual({ ...first, questions: 0, kpis: 0 });
        expect(await told()).toEqual(before);
        figures += before.join().match(/"value":[\d.]/g)?.length ?? 0;
      }),
      { numRuns: 25 },
    );
    expect(figures).toBeGreaterThan(300); // not of withheld ones alone
  });

  /** As if the weeks had never been: the questions keep their ids. */
  async function forgetWeeks(): Promise<void> {
    const tables = ['comment_groups', 'comments', 'results', 'response_rates', 'kpi_values', 'asked'];
    for (const table of [...tables, 'answers', 'assignments', 'rounds', 'weeks']) {
      await world.pool`delete from ${world.pool(table)} where account_id = ${id}`;
    }
  }
});

describe('a large file', () => {
  test('of 200,000 answers goes in within bounded memory', { timeout: 120_000 }, async () => {
    const acme = await company();
    const keys = Array.from({ length: 10 }, (_, i) => `q${i}`);
    const staff = people(1_000);
    const path = join(home, 'large.ndjson');
    function* text() {
      for (const key of keys) yield `${JSON.stringify(question(key, 1))}\n`;
      for (let i = 0; i < 20; i++) {
        const week = weekName(addWeeks(monday, -i));
        const asked = Object.fromEntries(staff.map((one, j) => [one, [j % 2 ? 'team' : 'south']]));
        yield `${JSON.stringify(round(week, 'top', keys, asked))}\n`;
        for (const one of staff) {
          yield keys
            .map((key, j) => `${JSON.stringify(answer(week, 'top', one, key, 1 + (j % 5)))}\n`)
            .join('');
        }
      }
    }
    await pipeline(text, createWriteStream(path));
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const used = () => {
      collect();
      return process.memoryUsage().heapUsed + process.memoryUsage().external;
    };
    const before = used();
    let most = 0;
    const timer = setInterval(() => (most = Math.max(most, used() - before)), 500);
    const imported = await importHistory(database.pool, database.keys, acme.id, path, later).finally(() =>
      clearInterval(timer),
    );
    expect(imported).toEqual({ questions: 10, kpis: 0, rounds: 20, answers: 200_000, weeks: 20 });
    expect(most).toBeLessThan(48 * 1024 * 1024);
  });
});
