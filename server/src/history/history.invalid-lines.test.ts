// What the history format refuses, and in which line.
import { beforeAll, describe, expect, test } from 'vitest';
import { Fault } from '../base/errors.ts';
import { answerLine, importLines, kpi, question, round, skip } from '../testing/surveys.ts';
import { tablesOf } from '../testing/tables.ts';
import {
  type Company,
  company,
  counts,
  database,
  errorOf,
  importFile,
  options,
  textOf,
  validLines,
  W,
  useDatabase,
} from './history.fixture.ts';

useDatabase();

describe('an invalid line', () => {
  let acme: Company;
  let before: string[];
  beforeAll(async () => {
    acme = await company();
    before = await tablesOf(database.pool);
  });

  /** Imports, checks that nothing was stored and that the line is named twice, and returns the message. */
  async function refused(content: string | Uint8Array, line: number, accountId = acme.id): Promise<string> {
    const error = await errorOf(importFile(accountId, content));
    expect(error).toBeInstanceOf(Fault);
    const { kind, code, message, details } = error as Fault;
    expect({ kind, code }).toEqual({ kind: 'invalid', code: 'invalid history' });
    const [, named, text] = /^Nothing was imported\. Line (\d+): (.*)$/s.exec(message) ?? [];
    expect({ message, line: Number(named) }).toEqual({ message, line });
    expect(details).toEqual([{ type: 'invalid history', message: text, row: line }]);
    expect(await tablesOf(database.pool)).toEqual(before);
    return text as string;
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
    ['a question without a key', q({ key: undefined }), '"key" is required'],
    ['a question with an empty key', q({ key: '' }), '"key" is required'],
    ['a question with a long key', q({ key: 'x'.repeat(501) }), 'maximum is 500 characters'],
    ['a question with a number for a key', q({ key: 7 }), 'key must be a string'],
    ['a question without text', q({ text: undefined }), '"text" is required'],
    ['a question with a long text', q({ text: long }), 'maximum is 10000 characters'],
    ...[0, 9, 1.5, '1', null, undefined].map((type): [string, unknown, string] => [
      `a question of type ${JSON.stringify(type)}`,
      q({ type }),
      'from 1 to 8',
    ]),
    ['a question without language', q({ language: undefined }), '"language" is required'],
    ['a question in an unknown language', q({ language: 'qq' }), '"qq" is not a valid language code'],
    ['a question in upper case', q({ language: 'EN' }), '"EN" is not a valid language code'],
    ['a question in no language', q({ language: 'klingon' }), '"klingon" is not a valid language code'],
    ['translations in an array', q({ translations: ['x'] }), 'translations must be an object'],
    [
      'a translation into no language',
      q({ translations: { klingon: 'x' } }),
      '"klingon" is not a valid language code',
    ],
    ['an empty translation', q({ translations: { sv: '' } }), 'translations/sv: "sv" is required'],
    ['options of a scale', q({ ...options }), 'Only questions of types 5 and 6'],
    ['options of a free text', q({ type: 7, options: [] }), 'Only questions of types 5 and 6'],
    ['a choice without options', choice(undefined), 'at least one'],
    ['a choice with no option', choice([]), 'at least one'],
    ['options in an object', choice({ in: 'In' }), 'at least one'],
    ['an option that is a text', choice(['in']), 'An option must be an object'],
    ['an option without id', choice([{ text: 'In' }]), '"id" is required'],
    ['an option with a number for an id', choice([{ id: 1, text: 'In' }]), 'id must be a string'],
    ['an option without text', choice([{ id: 'in' }]), '"text" is required'],
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
      'options/1/id: Another option already has this ID',
    ],
    ['a KPI with an unknown key', k({ imageUrl: 'x' }), 'Unknown field "imageUrl"'],
    ['a KPI without id', k({ id: undefined }), '"id" is required'],
    ['a KPI without name', k({ name: '' }), '"name" is required'],
    ['a KPI whose image is null', k({ imageURL: null }), 'imageURL must be a string'],
    [
      'a KPI whose image is a script',
      k({ imageURL: 'javascript:1' }),
      'imageURL: Enter a URL that starts with',
    ],
    ['a KPI without questions', k({ questions: undefined }), 'at least one string'],
    ['a KPI with no question', k({ questions: [] }), 'at least one string'],
    ['a KPI with a number for a question', k({ questions: [1] }), 'at least one string'],
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
    ['a person without a name', asked({ memberOf: ['top'] }), '"person" is required'],
    ['a person with a number for a name', asked({ person: 1 }), 'person must be a string'],
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
      'the ID of one of the options',
    ]),
    ...['in', ['in', 'in'], ['there'], [1], undefined].map((value): [string, unknown, string] => [
      `type 6: ${JSON.stringify(value)}`,
      a({ person: 'e2', question: 'pets', value }),
      'an array of different option IDs',
    ]),
    ['type 7: a value', a({ question: 'words', value: 'x', comment: 'x' }), 'left out'],
    ['type 7: null and a comment', a({ question: 'words', value: null, comment: 'x' }), 'left out'],
    ['type 7: no comment', a({ question: 'words' }), 'needs a comment, or "skipped": true'],
    ['an empty comment', a({ value: 3, comment: '' }), '"comment" is required'],
    ['a comment that is null', a({ value: 3, comment: null }), 'comment must be a string'],
    ['a long comment', a({ value: 3, comment: long }), 'maximum is 10000 characters'],
    ['skipped: a text', a({ skipped: 'yes' }), 'skipped must be true or false'],
    ['skipped: null', a({ skipped: null }), 'skipped must be true or false'],
    ['skipped with a value', a({ skipped: true, value: 3 }), 'must not have a value or a comment'],
    ['skipped with null', a({ skipped: true, value: null }), 'must not have a value or a comment'],
    ['skipped with a comment', a({ skipped: true, comment: 'x' }), 'must not have a value or a comment'],
    ['skipped: false and no value', a({ skipped: false }), 'from 1 to 10'],
    ['someone who is not asked', a({ person: 'e4', value: 3 }), '"e4" was not asked'],
    ['someone with other letters', a({ person: 'E1', value: 3 }), '"E1" was not asked'],
    ['no person', a({ person: undefined, value: 3 }), '"person" is required'],
    ['an unknown question', a({ question: 'none', value: 3 }), '"none" was not asked'],
    ['a question that is not asked', a({ question: 'unasked', value: 3 }), '"unasked" was not asked'],
    ['no question', a({ question: undefined, value: 3 }), '"question" is required'],
    ['a week without a round', a({ week: '2024-W48', value: 3 }), '2024-W48 has no round'],
    ['a group without a round', a({ group: 'north', value: 3 }), 'W47 has no round for this group'],
    ['an unknown group', a({ group: 'west', value: 3 }), 'Group "west" does not exist'],
    ['a malformed week', a({ week: '2024-47', value: 3 }), 'an existing ISO week'],
  ];

  test.each([...form, ...definitions, ...rounds, ...answers])(
    '%s: a fault that names the line, and nothing is imported',
    async (_, wrong, message) => {
      const line = typeof wrong === 'string' ? wrong : JSON.stringify(wrong);
      expect(
        await refused(textOf(['', ...validLines.slice(0, 2), line, ...validLines.slice(2)]), 4),
      ).toContain(message);
    },
  );

  test('without the wrong line the file is good', async () => {
    const other = await company();
    expect(await importLines(database, other.id, validLines)).toEqual(counts);
    before = await tablesOf(database.pool);
  });

  const twice: [string, object, string][] = [
    ['a question', question('scale', 1), 'The question "scale" is defined twice in this file'],
    ['a KPI', kpi('mood', ['ten']), 'The KPI "mood" is defined twice in this file'],
    ['a round', round(W, 'top', ['scale'], {}), 'has two rounds for this group in this file'],
    [
      'an answer',
      answerLine(W, 'top', 'e1', 'scale', 2),
      'This person already answered this question in line 11',
    ],
    [
      'an answer that skips',
      skip(W, 'top', 'e1', 'scale'),
      'This person already answered this question in line 11',
    ],
  ];

  test.each(twice)('%s defined twice: the second line is named', async (_, line, message) => {
    expect(await refused(textOf([...validLines, '', line]), validLines.length + 2)).toContain(message);
  });

  test('two rounds for the same group, one by ID and one by externalId, are the same round', async () => {
    const again = round(W, { id: acme.groups.top }, ['ten'], {});
    expect(await refused(textOf([...validLines, again]), validLines.length + 1)).toContain(
      'has two rounds for this group',
    );
  });

  test('a question in two rounds can be answered only once per person', async () => {
    const other = round(W, 'north', ['scale'], { e1: ['team'] });
    const again = answerLine(W, 'north', 'e1', 'scale', 4);
    const message = await refused(textOf([...validLines, other, again]), validLines.length + 2);
    expect(message).toContain('already answered this question in line 11');
  });

  test("another account's group gets the same message as one that does not exist", async () => {
    const other = await company();
    before = await tablesOf(database.pool);
    const message = async (id: number) =>
      (await refused(textOf([...validLines, r({ group: { id } })]), validLines.length + 1)).replace(
        String(id),
        '…',
      );
    expect(await message(other.groups.top)).toBe(await message(999_999));
  });

  test.each(['\n', '\r\n'])(
    'has the right number with blank lines, a byte order mark and line ends %j',
    async (end) => {
      const lines = textOf([
        '',
        '  ',
        ...validLines.slice(0, 3),
        '\t',
        a({ value: 99 }),
        ...validLines.slice(3),
      ]);
      expect(await refused(`\uFEFF${lines.replaceAll('\n', end)}${end}`, 7)).toContain('from 1 to 10');
    },
  );

  test('has the right number across chunks', async () => {
    const filler = Array.from({ length: 40_000 }, (_, i) => `${' '.repeat(i % 80)}`);
    const lines = [...validLines, ...filler, a({ value: 99 }), ...filler];
    expect(await refused(textOf(lines), validLines.length + filler.length + 1)).toContain('from 1 to 10');
  });

  test('is named if it is the last one and truncated', async () => {
    const text = textOf(validLines);
    expect(await refused(text.slice(0, -10), validLines.length)).toContain('Invalid JSON at column');
  });

  test.each([1, 5, validLines.length])('that is not UTF-8 is named: line %i', async (line) => {
    const lines = validLines.map((one) => Buffer.from(`${JSON.stringify(one)}\n`));
    const at = lines[line - 1] as Buffer;
    at[at.length - 4] = 0xe5; // å in Latin-1
    expect(await refused(Buffer.concat(lines), line)).toBe(
      'The line is not valid UTF-8. Save the file as UTF-8.',
    );
  });

  test('that is not UTF-8 is named in a file of many chunks, and in a UTF-16 file', async () => {
    const filler = `${' '.repeat(99)}\n`.repeat(30_000);
    const bytes = Buffer.concat([Buffer.from(filler), Buffer.from([0x20, 0xff, 0x0a]), Buffer.from(filler)]);
    expect(await refused(bytes, 30_001)).toBe('The line is not valid UTF-8. Save the file as UTF-8.');
    expect(await refused(Buffer.from(`\uFEFF${textOf(validLines)}`, 'utf16le'), 1)).toBe(
      'The line is not valid UTF-8. Save the file as UTF-8.',
    );
  });

  test('of 50 MB is read, and refused for its content', async () => {
    const line = JSON.stringify(a({ value: 3, comment: 'x'.repeat(50_000_000) }));
    expect(await refused(textOf([...validLines, line]), validLines.length + 1)).toContain(
      '"comment" is too long',
    );
  });

  test('of more than 64 MB is refused before it is completely read', async () => {
    const bytes = Buffer.concat([Buffer.from('\n\n'), Buffer.alloc(70 * 1024 * 1024, 0x20)]);
    expect(await refused(bytes, 3)).toBe('The line is longer than 64 MB.');
  });

  test('with another type or other options for an existing question is named', async () => {
    const other = await company();
    await importLines(database, other.id, validLines);
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
    for (const [line, message] of another) {
      expect(await refused(textOf([question('new', 1), '', line]), 3, other.id)).toContain(message);
    }
  });

  test('with a round in a closed week is named', async () => {
    const other = await company();
    await importLines(database, other.id, validLines);
    before = await tablesOf(database.pool);
    const lines = [question('new', 1), round(W, 'north', ['scale'], { e9: ['team'] })];
    expect(await refused(textOf(lines), 2, other.id)).toBe(
      `Week ${W} is closed. You can't add anything to it.`,
    );
  });

  test('with other questions for an existing round is named', async () => {
    const other = await company();
    await importLines(database, other.id, validLines);
    before = await tablesOf(database.pool);
    const message = await refused(textOf([round(W, 'top', ['scale'], {})]), 1, other.id);
    expect(message).toBe(`Week ${W} already has a round for this group with different questions.`);
  });

  test('with an answer that an earlier round of an open week already has is named', async () => {
    const other = await company();
    const open = Date.parse('2024-11-20T12:00:00Z');
    await importLines(database, other.id, validLines, open);
    before = await tablesOf(database.pool);
    const lines = [round(W, 'north', ['scale'], { e1: ['team'] }), answerLine(W, 'north', 'e1', 'scale', 2)];
    const error = await errorOf(importLines(database, other.id, lines, open));
    expect((error as Fault).message).toBe(
      'Nothing was imported. Line 2: This person had already answered this question before the import.',
    );
    expect(await tablesOf(database.pool)).toEqual(before);
  });
});
