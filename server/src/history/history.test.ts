// Importing past surveys: a file is imported completely, once, or not at all, and what its weeks, rounds and people become.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { addWeeks, type Week, weekName, weekNamed } from '@soundings/contract/weeks.ts';
import { describe, expect, test } from 'vitest';
import { createAccount } from '../accounts/accounts.ts';
import { saveAnswers } from '../answers/answering.ts';
import { Fault } from '../base/errors.ts';
import { inTransaction } from '../db/db.ts';
import { createGroup } from '../people/groups.ts';
import { createUser } from '../people/users.ts';
import { closeEndedWeeks } from '../results/close-week.ts';
import { askPeople, noon } from '../testing/asking.ts';
import { answerLine, importLines, kpi, later, question, round } from '../testing/surveys.ts';
import { answersOfPerson, keptAnswers, storedAnswers } from '../testing/kept-answers.ts';
import { tablesOf } from '../testing/tables.ts';
import { importHistory } from './history.ts';
import {
  type Company,
  company,
  counts,
  database,
  errorOf,
  home,
  importFile,
  monday,
  none,
  options,
  people,
  rowsIn,
  textOf,
  validLines,
  W,
  useDatabase,
} from './history.fixture.ts';

useDatabase();

describe("a file that can't be read", () => {
  test.each([
    ['is missing', 'none.ndjson', 'File not found'],
    ['is inside a file', 'file/none.ndjson', 'File not found'],
    ['is a directory', 'directory', 'is not a regular file'],
    ['has an impossible name', 'x'.repeat(300), 'The file cannot be read (ENAMETOOLONG)'],
  ])('%s: the error says so', async (_, name, text) => {
    const { id } = await company();
    await mkdir(join(home, 'directory'), { recursive: true });
    await writeFile(join(home, 'file'), '');
    const error = await errorOf(importHistory(database.pool, database.keys, id, join(home, name), later));
    expect(error).toBeInstanceOf(Fault);
    expect((error as Fault).message).toContain(text);
  });

  test('an unknown account is not found', async () => {
    await expect(importLines(database, 999_999, validLines)).rejects.toMatchObject({ kind: 'not_found' });
  });
});

describe('a valid file', () => {
  test.each([
    ['unchanged', textOf(validLines)],
    ['with a final line end', `${textOf(validLines)}\n`],
    ['with a byte order mark', `\uFEFF${textOf(validLines)}`],
    [
      'with CRLF, a byte order mark and blank lines',
      `\uFEFF\r\n${textOf(validLines).replaceAll('\n', '\r\n\r\n')}`,
    ],
    ['in reverse order, with definitions after their use', textOf(validLines.toReversed())],
    ['with spaces in its lines', textOf(validLines).replaceAll('":', '" :').replaceAll('{', '{ ')],
  ])('is imported %s', async (_, text) => {
    expect(await importFile((await company()).id, text)).toEqual(counts);
  });

  test('is the example of docs/integrators/history.md, with the counts that it states', async () => {
    const page = await readFile(new URL('../../../docs/integrators/history.md', import.meta.url), 'utf8');
    const lines = page.split('\n').filter((line) => line.startsWith('{"'));
    const stated = JSON.parse(/With `--json`: `(.+)`/.exec(page)?.[1] ?? '') as object;
    const acme = await company();
    await inTransaction(database.pool, async (tx) => {
      const parentId = await createGroup(tx, acme.id, { name: 'Warehouse', externalId: 'warehouse' });
      await createGroup(tx, acme.id, { name: 'Night', externalId: 'warehouse-night', parentId });
    });
    expect(await importLines(database, acme.id, lines)).toEqual(stated);
  });

  test.each(['', '\n', '\uFEFF', ' \r\n\r\n'])('without content imports nothing: %j', async (text) => {
    expect(await importFile((await company()).id, text)).toEqual(none);
  });

  test('accepts past questions as they were: one option, spaces at the ends of keys, blank texts, long characters', async () => {
    const acme = await company();
    const past = {
      key: ' lunch ',
      type: 5,
      text: ' ',
      language: 'en',
      translations: { en: '🙂'.repeat(10_000) },
    };
    const imported = await importLines(database, acme.id, [
      { question: { ...past, options: [{ id: 'in ', text: 'Canteen' }] } },
      { question: { key: 'mood', type: 1, text: 'Mood?', language: 'en' } },
      kpi(' k', ['mood']),
    ]);
    expect(imported).toMatchObject({ questions: 2, kpis: 1 });
  });

  test('defines questions with their texts and KPIs with their questions', async () => {
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

  test('keeps texts of any kind unchanged, in comments, options, keys and persons', async () => {
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
        answerLine(W, 'top', odd, odd, [odd, '\\', '__proto__', '{}'], odd),
        answerLine(W, 'top', 'e2', odd, []),
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

  test('leaves no person once its weeks have ended, and only a number while they are open', async () => {
    const acme = await company();
    const lines = [
      question('scale', 1),
      round('2024-W46', 'top', ['scale'], { 'anna@example.org': ['top'] }),
      answerLine('2024-W46', 'top', 'anna@example.org', 'scale', 3),
      round(W, 'top', ['scale'], { 'anna@example.org': ['top'] }),
      answerLine(W, 'top', 'anna@example.org', 'scale', 3),
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
  /** A week with a round of the whole company, and another round of one group in a second file. */
  const first = [
    question('scale', 1),
    question('ten', 2),
    round(W, 'top', ['scale'], { e1: ['team'], e2: ['south'] }),
    answerLine(W, 'top', 'e1', 'scale', 3),
  ];
  const second = round(W, 'north', ['scale', 'ten'], { e1: ['team'] });

  test('in which a schedule asks questions accepts nothing from a file, because a refusal would reveal who has answered', async () => {
    const { id } = await inTransaction(database.pool, (tx) => createAccount(tx, { name: 'Acme' }));
    const asked = await askPeople(database, id, { count: 2 });
    const link = { link: asked.links[0] as string, visit: null };
    const questionId = asked.questionIds.get('workload-amount') as number;
    await saveAnswers(database.pool, database.keys, link, [{ questionId, value: 3 }]);
    const group = { id: await inTransaction(database.pool, (tx) => createGroup(tx, id, { name: 'Else' })) };
    const before = await tablesOf(database.pool);
    const name = weekName(asked.week);
    const lines = [question('scale', 1), round(name, group, ['scale'], { p1: [group] })];
    for (const more of [[], [answerLine(name, group, 'p1', 'scale', 3)]]) {
      await expect(importLines(database, id, [...lines, ...more], noon)).rejects.toMatchObject({
        code: 'invalid history',
        message: `Nothing was imported. Line 2: A schedule asks questions in week ${name}. You can't import into this week until it has closed.`,
      });
    }
    expect(await tablesOf(database.pool)).toEqual(before);
    // Answers to the existing round are ignored as well, whether they are valid or not.
    const alone = [...asked.questionIds.keys()]
      .slice(0, 1)
      .map(() => answerLine(name, 'all', 'p1', 'workload-amount', 3));
    expect(await importLines(database, id, alone, noon)).toMatchObject({ answers: 0, ignored: 1 });
    expect(await tablesOf(database.pool)).toEqual(before);
  });

  test.each([
    ['in two rounds of one file', [[...first, second, answerLine(W, 'north', 'e1', 'scale', 4)]], 6],
    ['in a file and in one after it', [first, [second, answerLine(W, 'north', 'e1', 'scale', 4)]], 2],
  ])('accepts one answer per person and question, and refuses a second one %s', async (_, files, line) => {
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

  test('to which a second file adds a round counts all answers of a person when it closes', async () => {
    const acme = await company();
    await importLines(database, acme.id, first, open);
    const more = [second, answerLine(W, 'north', 'e1', 'ten', 7)];
    expect(await importLines(database, acme.id, more, open)).toMatchObject({ rounds: 1, answers: 1 });
    const stored = await storedAnswers(database, acme.id, week);
    expect(stored.map(({ value }) => value)).toEqual([3, 7]);
    expect(new Set(stored.map(({ respondent }) => respondent)).size).toBe(1);
    expect(stored.every(({ giving }) => giving.link === 'history' && !giving.handedOut)).toBe(true);
  });

  test('treats a person in the file who is a user as that user, so that their link opens the same week', async () => {
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
    ...validLines,
    round('2024-W45', 'north', ['scale'], Object.fromEntries(people(6).map((one) => [one, ['team']]))),
    ...people(6).map((one) => answerLine('2024-W45', 'north', one, 'scale', 3, one)),
  ];

  test.each([
    ['ended', later],
    ['partly in an open week', open],
  ])('the same file changes nothing and counts nothing, where its weeks have %s', async (_, now) => {
    const { id } = await company();
    expect(await importLines(database, id, lines, now)).toEqual({
      ...counts,
      rounds: 2,
      weeks: 2,
      answers: 10,
    });
    const before = await tablesOf(database.pool);
    const passed = { ...none, ignored: 10 };
    expect(await importLines(database, id, lines, now)).toEqual(passed);
    expect(await importLines(database, id, lines.toReversed(), now)).toEqual(passed);
    expect(await tablesOf(database.pool)).toEqual(before);
  });

  test('another file adds other weeks, and keeps the existing ones', async () => {
    const acme = await company();
    await importLines(database, acme.id, lines);
    const before = await rowsIn('results', acme);
    const more = [
      round('2024-W48', 'top', ['scale'], Object.fromEntries(people(5).map((one) => [one, ['team']]))),
      ...people(5).map((one) => answerLine('2024-W48', 'top', one, 'scale', 5)),
    ];
    expect(await importLines(database, acme.id, [...more, ...lines])).toEqual({
      ...none,
      rounds: 1,
      answers: 5,
      weeks: 1,
      ignored: 10,
    });
    const after = await rowsIn('results', acme);
    expect(after.filter(({ week }) => week !== '2024-11-25')).toEqual(before);
    expect(after.filter(({ week }) => week === '2024-11-25').map(({ answers }) => answers)).toContain(5);
  });

  test('changed texts of a question, option or KPI replace the old ones, and are counted', async () => {
    const acme = await company();
    await importLines(database, acme.id, validLines);
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
    // Without translations in the file, the existing ones stay.
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

  test('an error in another week leaves the first file unchanged', async () => {
    const acme = await company();
    await importLines(database, acme.id, validLines);
    const before = await tablesOf(database.pool);
    const more = [round('2024-W48', 'top', ['scale'], {}), answerLine('2024-W48', 'top', 'e1', 'scale', 3)];
    await expect(importLines(database, acme.id, [...validLines, ...more])).rejects.toThrow(
      '"e1" was not asked',
    );
    expect(await tablesOf(database.pool)).toEqual(before);
  });

  test('two files at the same time are each imported once', async () => {
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

  test('without `asked`: everyone who is now an active member of the group or its descendants, once', async () => {
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
      await createUser(tx, acme.id, { memberships: { memberOf: [team] } }); // no externalId
      const boss = await member('boss');
      await tx`insert into memberships (account_id, user_id, kind, group_id)
               values (${acme.id}, ${boss}, 'adminOf', ${team})`;
    });
    const lines = [
      question('scale', 1),
      { round: { week: W, group: 'north', questions: ['scale'] } },
      ...['e1', 'e2', 'e5'].map((one) => answerLine(W, 'north', one, 'scale', 3)),
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
        answerLine('2024-W48', 'north', outside, 'scale', 3),
      ];
      await expect(importLines(database, acme.id, other, open)).rejects.toThrow('Line 2');
    }
  });

  test('a person counts from each of their groups within the asked one up to the top, and nowhere else', async () => {
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

  test('without `memberOf`: the asked group itself, which is named by its ID if it has no externalId', async () => {
    const acme = await company();
    const plain = { id: acme.groups.plain };
    const lines = [
      question('scale', 1),
      { round: { week: W, group: plain, questions: ['scale'], asked: [{ person: 'e1' }] } },
      answerLine(W, plain, 'e1', 'scale', 3),
    ];
    expect(await importLines(database, acme.id, lines, open)).toMatchObject({ rounds: 1, answers: 1 });
    expect(await groupsAsked(acme)).toEqual(['plain top']);
    expect(await importLines(database, acme.id, lines, open)).toEqual({ ...none, ignored: 1 });
  });

  test('a round can ask no one', async () => {
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
      ...people(6).map((one) => answerLine(week, 'top', one, 'scale', 4)),
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
  ])('one that has not ended stays open, and closes after its Sunday in %s', async (timezone, end) => {
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
  ])('one whose Sunday is over in %s is published by the import', async (timezone, end) => {
    const acme = await company(timezone);
    await importLines(database, acme.id, lines, Date.parse(end));
    expect((await published(acme)).toSorted()).toEqual([addWeeks(monday, -1), monday]);
  });

  test('another file can add rounds to an open week', async () => {
    const acme = await company();
    const open = Date.parse('2024-11-20T12:00:00Z');
    await importLines(database, acme.id, lines, open);
    const more = [
      question('ten', 2),
      round(W, 'south', ['ten'], { e1: ['south'] }),
      answerLine(W, 'south', 'e1', 'ten', 9),
    ];
    expect(await importLines(database, acme.id, more, open)).toMatchObject({ rounds: 1, answers: 1 });
    // The same person has one number in both files.
    const numbers = new Set((await rowsIn('assignments', acme)).map((one) => one['respondent'] as string));
    expect(numbers.size).toBe(6);
  });
});
