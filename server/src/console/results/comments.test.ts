// The console's comments: by question, found and marked by the same rule, the words that stand out, the export, and who sees them.
import type { CommentWords, FoundComments } from '@soundings/contract/console/results/comments.ts';
import type { MembershipKind } from '@soundings/contract/people/memberships.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readCsv } from '../../testing/csv.ts';
import { commentCommands } from '../../cli/comments.ts';
import { apply, unit } from '../../testing/organizations.ts';
import { type SendRequest, signInNew } from '../../testing/signed-in.ts';
import { answerLine, importLines, question, round } from '../../testing/surveys.ts';
import { openWorld, type TestAccount, type World } from '../../testing/world.ts';

const now = Date.parse('2026-11-18T12:00:00Z');
const weeks = ['2026-W44', '2026-W45'];

/** What each person of a group writes about both questions, by the number of the person. */
const texts: Record<string, (i: number) => string> = {
  dock: (i) => (i % 2 === 0 ? 'The CRANE is old, Hr. Ma\u030Al' : 'The days are long'),
  floor: (i) => (i < 2 ? 'Mal and the cranes are fine' : 'The days are long'),
  office: () => 'The days are long',
};

let world: World;
let account: TestAccount;
let ids: Record<string, number>;
let administrator: SendRequest;
beforeAll(async () => {
  world = await openWorld(undefined, {}, () => now);
  account = await world.account();
  await world.pool`update accounts set threshold = 3 where account_id = ${account.id}`;
  await apply(account, {
    groups: [
      unit('company'),
      unit('harbour', { parent: 'company' }),
      unit('dock', { parent: 'harbour' }),
      unit('floor', { parent: 'harbour' }),
      unit('office', { parent: 'company' }),
      unit('cellar', { parent: 'company' }),
    ],
  });
  const asked = Object.fromEntries(
    Object.keys(texts).flatMap((group) => Array.from({ length: 20 }, (_, i) => [`${group}${i}`, [group]])),
  );
  // Four people answer a question that no one else is asked: their comments are withheld everywhere.
  const cellar = Object.fromEntries([0, 1, 2, 3].map((i) => [`cellar${i}`, ['cellar']]));
  let count = 0;
  const lines = weeks.flatMap((week) => [
    round(week, 'company', ['mood', 'tools'], asked),
    ...Object.entries(asked).flatMap(([person, [group = '']]) =>
      ['mood', 'tools'].map((key) => {
        const i = Number(person.slice(group.length));
        // The number makes all comments differ: those with the same words would count once.
        return answerLine(week, 'company', person, key, 1 + (i % 5), `${texts[group]!(i)} ${count++}`);
      }),
    ),
    round(week, 'cellar', ['damp'], cellar),
    ...Object.keys(cellar).map((person) => answerLine(week, 'cellar', person, 'damp', 3, 'A secret leak')),
  ]);
  const questions = [
    question('mood', 1, { text: 'Happy?' }),
    question('tools', 1, { text: 'Good tools?' }),
    question('damp', 1),
  ];
  await importLines(world, account.id, [...questions, ...lines], now);
  ids = Object.fromEntries((await account.groups()).map(({ externalId, id }) => [externalId as string, id]));
  administrator = (await signInNew(world, account.id, 'Administrator')).request;
});
afterAll(() => world?.close());

async function managerOf(kind: MembershipKind, group: string): Promise<SendRequest> {
  const { request, userId } = await signInNew(world, account.id, 'Manager');
  await world.pool`
    insert into memberships (account_id, user_id, kind, group_id)
    values (${account.id}, ${userId}, ${kind}, ${ids[group] as number})`;
  return request;
}

const comments = async (group: string, query = '', request = administrator): Promise<FoundComments> =>
  (await request<FoundComments>(`GET /results/comments?groupId=${ids[group]}&limit=500&${query}`)).body;
const words = async (group: string, query = '', request = administrator): Promise<CommentWords> =>
  (await request<CommentWords>(`GET /results/comments/words?groupId=${ids[group]}&${query}`)).body;
/** Returns the marked parts of all comments found. */
const marked = ({ rows }: FoundComments): string[] =>
  rows.flatMap(({ text, marks }) => marks.map(([first, end]) => text.slice(first, end)));

test('comments are returned question by question with their numbers, newest week first, also when they are fetched in parts', async () => {
  const all = await comments('dock');
  expect([all.total, all.rows.length]).toEqual([80, 80]);
  expect(all.questions.map(({ text, comments: count }) => [text, count])).toEqual([
    ['Happy?', 40],
    ['Good tools?', 40],
  ]);
  expect([...new Set(all.rows.map((row) => `${row.question} ${row.week}`))]).toEqual([
    'Happy? 2026-11-02',
    'Happy? 2026-10-26',
    'Good tools? 2026-11-02',
    'Good tools? 2026-10-26',
  ]);
  for (const query of ['', 'search=CRANE', 'word=old']) {
    const whole = await comments('dock', query);
    const part = async (offset: number) =>
      (
        await administrator<FoundComments>(
          `GET /results/comments?groupId=${ids['dock']}&limit=23&offset=${offset}&${query}`,
        )
      ).body;
    const parts = [await part(0), await part(23), await part(46), await part(69)];
    expect(parts.flatMap(({ rows }) => rows)).toEqual(whole.rows);
    expect(parts.map(({ total, questions }) => ({ total, questions }))).toEqual(
      parts.map(() => ({ total: whole.total, questions: whole.questions })),
    );
  }
});

test('the parts that match are marked, whatever their letter case and Unicode form, and å does not match a', async () => {
  const found = await comments('harbour', 'search=crane');
  expect([found.total, new Set(marked(found))]).toEqual([48, new Set(['CRANE', 'crane'])]);
  expect(found.rows.every(({ marks }) => marks.length === 1)).toBe(true);
  expect(new Set(marked(await comments('harbour', `search=${encodeURIComponent('MÅL')}`)))).toEqual(
    new Set(['Ma\u030Al']),
  );
  expect(new Set(marked(await comments('harbour', 'search=mal')))).toEqual(new Set(['Mal']));
  expect(await comments('harbour', 'search=100%25')).toEqual({ total: 0, questions: [], rows: [] });
  expect(marked(await comments('harbour'))).toEqual([]);
  expect((await comments('harbour', 'search=%20')).total).toBe((await comments('harbour')).total);
});

test('a word finds whole words only, and can be combined with a search', async () => {
  expect(new Set(marked(await comments('harbour', 'word=Crane')))).toEqual(new Set(['CRANE']));
  const both = await comments('harbour', 'word=crane&search=is%20old');
  expect(both.rows[0]?.marks).toEqual([
    [4, 9],
    [10, 16],
  ]);
  expect((await comments('harbour', 'word=cranes&search=old')).total).toBe(0);
});

test('the words that stand out are those of the group, with the numbers of comments that the filter for each word finds', async () => {
  const { state, words: listed, weeks: compared } = await words('dock');
  expect([state, compared?.first.week, compared?.last.week]).toEqual([
    'compared',
    '2026-10-26',
    '2026-11-02',
  ]);
  expect(listed.map(({ text }) => text).toSorted()).toEqual(['CRANE', 'Hr', 'Ma\u030Al', 'old']);
  for (const { word, comments: count, of, elsewhere } of listed) {
    expect([word, (await comments('dock', `word=${encodeURIComponent(word)}`)).total]).toEqual([word, count]);
    expect([count, of, elsewhere]).toEqual([40, 80, { comments: 0, of: 160 }]);
  }
  expect((await words('floor')).words.map(({ word }) => word)).not.toContain('crane');
  expect((await words('company')).state).toBe('company');
  expect((await words('cellar')).state).toBe('few');
});

test('words follow the filters for question and week', async () => {
  const asked = (await comments('dock')).questions[0]?.id;
  const one = await words('dock', `questionId=${asked}&week=2026-11-02`);
  expect(one.words[0]).toMatchObject({ comments: 10, of: 20, elsewhere: { comments: 0, of: 40 } });
  expect(
    (await administrator(`GET /results/comments/words?groupId=${ids['dock']}&week=2026-11-09`)).status,
  ).toBe(400);
});

test('a manager of one group gets the same words, without numbers from elsewhere, and no other group', async () => {
  const manager = await managerOf('adminOf', 'dock');
  const own = await words('dock', '', manager);
  expect(own.words).toEqual((await words('dock')).words.map((word) => ({ ...word, elsewhere: null })));
  expect(own.words.length).toBe(4);
  expect(await comments('dock', 'search=crane', manager)).toEqual(await comments('dock', 'search=crane'));
  for (const group of ['company', 'harbour', 'floor', 'office', 'cellar']) {
    for (const path of ['', '/words', '/csv']) {
      const { status } = await manager(`GET /results/comments${path}?groupId=${ids[group]}`);
      expect([group, path, status]).toEqual([group, path, 404]);
    }
  }
});

test('withheld comments are never found, and none of their words is listed', async () => {
  // These are comments on the question that everyone answers, but they are shown in no group.
  await world.pool`
    insert into comments (account_id, week, question_id, position, text)
    select account_id, week, question_id, 1000 + position, 'A secret leak'
    from   comments
    where  account_id = ${account.id}`;
  for (const group of Object.keys(ids)) {
    expect((await comments(group, 'search=secret')).total).toBe(0);
    expect((await comments(group, 'word=leak')).total).toBe(0);
    expect((await words(group)).words.map(({ word }) => word)).not.toContain('secret');
  }
});

test('the export has for each comment its week and group, and the numbers of comments and answers', async () => {
  const { text } = await administrator(
    `GET /results/comments/csv?groupId=${ids['dock']}&search=crane&week=2026-11-02`,
  );
  const [head, ...rows] = readCsv(text.replace('\uFEFF', ''));
  expect(head?.slice(0, 7)).toEqual([
    'Week',
    'Monday',
    'Group',
    'Question',
    'Comment',
    'Comments on the question that week',
    'Answers to the question that week',
  ]);
  expect(rows.length).toBe(20);
  expect(rows[0]?.slice(0, 7)).toEqual([
    '2026-W45',
    '2026-11-02',
    'company / harbour / dock',
    'Happy?',
    expect.stringMatching(/^The CRANE is old, Hr. Ma\u030Al \d+$/),
    '20',
    '20',
  ]);
  // The command prints the same.
  const exported = commentCommands['comments export']!;
  const printed = await exported.format(
    (await exported.run!(
      world.pool,
      { account: String(account.id), group: String(ids['dock']), search: 'crane', week: '2026-W45' },
      world.keys,
      () => '',
      '',
    )) as never,
  );
  expect(printed).toBe(text);
  const actions = await world.pool<{ action: string; subject: string; details: unknown }[]>`
    select action, subject, details from audit_entries
    where  account_id = ${account.id} and action = 'comments exported'`;
  const entry = { action: 'comments exported', subject: String(ids['dock']), details: { count: 20 } };
  expect(actions).toEqual([entry, entry]);
  // A manager gets only the names of open groups.
  const manager = await managerOf('adminOf', 'dock');
  const own = readCsv((await manager(`GET /results/comments/csv?groupId=${ids['dock']}`)).text);
  expect(own[1]?.[2]).toBe('dock');
});
