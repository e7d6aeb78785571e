// Many comments: a search and the words that stand out don't keep other requests waiting, and no more words are compared than the
// documented number of comments has.
import type { CommentWords, FoundComments } from '@soundings/contract/console/results/comments.ts';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type * as CommentText from '../../results/comment-text.ts';
import { mostCompared } from '../../results/data/comments-shown.ts';
import { openWords } from '../../results/data/words-thread.ts';
import { apply, unit } from '../../testing/organizations.ts';
import { type SendRequest, signInNew } from '../../testing/signed-in.ts';
import { answerLine, importLines, question, round } from '../../testing/surveys.ts';
import { openWorld, type TestAccount, type World } from '../../testing/world.ts';

const now = Date.parse('2026-11-18T12:00:00Z');
const week = '2026-W45';
const many = 50_000;

/** How many comments were searched since the last turn of the event loop. */
const searched = { count: 0 };
vi.mock('../../results/comment-text.ts', async (load) => {
  const original = await load<typeof CommentText>();
  const matchesOf: typeof original.matchesOf = (...args) => {
    searched.count++;
    return original.matchesOf(...args);
  };
  return { ...original, matchesOf };
});

let world: World;
let account: TestAccount;
let ids: Record<string, number>;
let administrator: SendRequest;
beforeAll(async () => {
  world = await openWorld(undefined, {}, () => now);
  account = await world.account();
  await apply(account, { groups: [unit('company'), unit('dock', { parent: 'company' })] });
  const people = Array.from({ length: 20 }, (_, i) => `person${i}`);
  await importLines(
    world,
    account.id,
    [
      question('mood', 1, { text: 'Happy?' }),
      round(week, 'company', ['mood'], Object.fromEntries(people.map((one) => [one, ['dock']]))),
      ...people.map((one) => answerLine(week, 'company', one, 'mood', 3)),
    ],
    now,
  );
  ids = Object.fromEntries((await account.groups()).map(({ externalId, id }) => [externalId as string, id]));
  // A single week, with every second comment in the dock group.
  await world.pool`
    with added as (
      insert into comments (account_id, week, question_id, position, text)
      select account_id, '2026-11-02', question_id, n,
             case when n % 2 = 0 then 'The crane is old ' else 'The days are long ' end || n
      from   questions, generate_series(1, ${many}::integer) n
      where  account_id = ${account.id}
      returning account_id, week, question_id, position
    )
    insert into comment_groups (account_id, group_id, week, question_id, position)
    select account_id, g, week, question_id, position
    from   added, unnest(${[ids['company']!, ids['dock']!]}::integer[]) g
    where  g = ${ids['company']!} or position % 2 = 0`;
  administrator = (await signInNew(world, account.id, 'Administrator')).request;
});
afterAll(() => world?.close());

const words = async () =>
  (await administrator<CommentWords>(`GET /results/comments/words?groupId=${ids['dock']}`)).body;

test('a search of 50,000 comments finds all matches, and searches at most a few hundred comments before other requests get a turn', async () => {
  let [all, most, isSearching] = [0, 0, true];
  const turn = () => {
    all += searched.count;
    most = Math.max(most, searched.count);
    searched.count = 0;
    if (isSearching) setImmediate(turn);
  };
  setImmediate(turn);
  const path = `GET /results/comments?groupId=${ids['company']}&search=CRANE`;
  const { body } = await administrator<FoundComments>(path);
  isSearching = false;
  turn();
  expect([body.total, all]).toEqual([many / 2, many]);
  expect(most).toBeLessThanOrEqual(200);
});

test('of a single week with too many comments, the first ones in random order are compared; the words are cached until the account changes', async () => {
  const first = await words();
  expect(first.state).toBe('compared');
  const [{ of, elsewhere, word } = { of: 0, elsewhere: null, word: '' }] = first.words;
  expect([of, elsewhere?.of, word]).toEqual([mostCompared / 2, mostCompared / 2, 'crane']);
  await world.pool`
    update comments set text = 'The cable is old ' || position
    where  account_id = ${account.id} and position % 2 = 0`;
  expect(await words()).toEqual(first);
  await world.pool`update accounts set version = version + 1 where account_id = ${account.id}`;
  expect((await words()).words[0]?.word).toBe('cable');
});

test('another request gets its response while words are computed', async () => {
  const comments = Array.from({ length: 20_000 }, (_, i) => ({
    text: `The crane ${i} is old, and the days are long`,
    language: 'en',
    isHere: i % 2 === 0,
  }));
  let isFound = false;
  await openWords(new URL('../../words.thread.ts', import.meta.url))('many', async (find) => {
    const finding = find(comments).then(() => (isFound = true));
    expect((await administrator('GET /results')).status).toBe(200);
    expect(isFound).toBe(false);
    await finding;
  });
  expect(isFound).toBe(true);
});
