// Attacks by an administrator while a week is open: switching live results on during the week (rules.md P16), asking all but
// one person a second question with the same wording (P17), and watching how many people have answered (P18). All go through the
// console, pushes and the data interface, and each succeeds against a service without the rule.
import type { Rounds } from '@soundings/contract/console/asking.ts';
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newLinks } from '../rounds/links.ts';
import { openDueRounds } from '../rounds/opening.ts';
import { coarse } from '../rounds/participation.ts';
import { WeekKey } from '../sealing/week-key.ts';
import { askedWeek, mondays, noon } from '../testing/asking.ts';
import { giveAnswer } from '../testing/attacks/forgetting.ts';
import { type SendRequest, signInNew } from '../testing/signed-in.ts';
import { until } from '../testing/until.ts';
import { openWorld, type TestAccount, type World } from '../testing/world.ts';
import { closeWeekNow } from './close-week.ts';

let world: World;
let now = noon;
beforeAll(async () => {
  world = await openWorld(undefined, {}, () => now);
});
afterAll(() => world.close());
beforeEach(() => {
  now = noon;
});

type Office = { account: TestAccount; request: SendRequest; groupIds: Map<string, number> };

/** Creates an account with people: the externalIds of each person and of their groups. */
async function office(people: [string, ...string[]][], groups: object[]): Promise<Office> {
  const account = await world.account();
  const { request } = await signInNew(world, account.id, 'Administrator');
  const users = people.map(([externalId, ...memberOf]) => ({
    externalId,
    firstName: 'P',
    lastName: externalId,
    email: `${externalId.replaceAll(' ', '-')}@example.org`,
    accessInfo: { memberOf },
  }));
  const pushed = await account.push({ settings: { validateOnly: false }, data: { groups, users } });
  expect(pushed.body).toMatchObject({ applied: true });
  const rows = await world.pool<{ id: number; name: string }[]>`
    select group_id as id, external_id as name from groups where account_id = ${account.id}`;
  return { account, request, groupIds: new Map(rows.map(({ id, name }) => [name, id])) };
}

async function created(answer: Promise<{ status: number; text: string; body: unknown }>): Promise<number> {
  const { status, text, body } = await answer;
  if (status >= 300) throw new Error(text);
  return (body as { id: number }).id;
}

const newQuestion = (request: SendRequest, key: string, text: string, more: object = {}) =>
  created(
    request('POST /library/questions', {
      key,
      type: 1,
      language: 'en',
      text,
      translations: {},
      options: [],
      kpiIds: [],
      ...more,
    }),
  );

const newSchedule = (request: SendRequest, name: string, groupIds: number[], questionIds: number[]) =>
  created(
    request(
      'POST /schedules',
      mondays({ name, groupIds, questionIds, reminderDays: null, reminderHour: null }),
    ),
  );

const open = () => openDueRounds(world.pool, world.keys, now);

/** Returns a link for each person of an account, by externalId. */
async function linksOf({ id }: TestAccount): Promise<Map<string, string>> {
  const people = await world.pool<{ userId: number; name: string }[]>`
    select user_id as "userId", external_id as name from users
    join   participants using (account_id, user_id) where account_id = ${id} and week = ${askedWeek}`;
  const links = await newLinks(
    world.pool,
    people.map(({ userId }) => ({ accountId: id, userId, week: askedWeek })),
  );
  return new Map(people.map(({ name }, i) => [name, links[i] as string]));
}

/** Returns the sums that the data interface reveals: "group question" to the sum and number of answers. */
async function sumsOf({ account, groupIds }: Office): Promise<Map<string, { sum: number; answers: number }>> {
  const sums = new Map<string, { sum: number; answers: number }>();
  const feed = await world.request<string>('GET', '/v1/feed?format=ndjson&metric=question', {
    headers: { authorization: account.token },
  });
  expect(feed.status).toBe(200);
  expect(groupIds.size).toBeGreaterThan(0);
  type Line = { metricId: string; groupId: number; value: number | null; answers: number | null };
  for (const line of feed.body.split('\n').filter((one) => one !== '')) {
    const { metricId, groupId, value, answers } = JSON.parse(line) as Line;
    if (value !== null && answers !== null)
      sums.set(`${groupId} ${metricId}`, { sum: value * answers, answers });
  }
  return sums;
}

describe('a question with the same wording, asked of everyone but one in each team', () => {
  const teams = Array.from({ length: 12 }, (_, i) => `team ${i}`);
  const wording = 'How do you like your work?';
  const valueOf = (team: number, person: number) => 1 + ((team * 7 + person * 3) % 5);

  /** Everyone is in a team. All but one of each team are also in another group, which the second schedule asks. */
  async function attack(ways: {
    second: (request: SendRequest, first: number) => Promise<number>;
    whileOpen?: (request: SendRequest, second: number) => Promise<void>;
    beforeClosing?: (request: SendRequest, second: number) => Promise<void>;
    /** Whether people think that the two questions on a page are the same. */
    isSame?: (page: string) => boolean;
  }): Promise<number> {
    const people = teams.flatMap((team, t) =>
      Array.from({ length: 7 }, (_, i): [string, ...string[]] => [
        `${t} ${i}`,
        team,
        ...(i === 0 ? [] : [`${team} rest`]),
      ]),
    );
    const groups = teams.flatMap((team) => [
      { externalId: team, name: team },
      { externalId: `${team} rest`, name: `${team} rest` },
    ]);
    const at = await office(people, groups);
    const { account, request } = at;
    const idOf = (name: string) => at.groupIds.get(name) as number;
    const first = await newQuestion(request, 'first', wording);
    const second = await ways.second(request, first);
    await newSchedule(request, 'All', teams.map(idOf), [first]);
    await open();
    const rest = teams.map((team) => idOf(`${team} rest`));
    // Refused when it is created, or when it is opened.
    await newSchedule(request, 'Rest', rest, [second]).catch(() => {});
    await open();
    await ways.whileOpen?.(request, second);
    const links = await linksOf(account);
    const page = await (await fetch(`${world.address}/a/${links.get('0 1')}`)).text();
    const isSame = ways.isSame?.(page) ?? true;
    for (const [name, link] of links) {
      const [t, i] = name.split(' ').map(Number) as [number, number];
      for (const question of new Set([first, second])) {
        // An answer of someone who is not asked is refused.
        const value = question === first || isSame ? valueOf(t, i) : 1;
        await giveAnswer(world.address, link, { question, value }).catch(() => {});
      }
    }
    await ways.beforeClosing?.(request, second);
    await closeWeekNow(world.pool, world.keys, account.id, askedWeek, now);
    const sums = await sumsOf(at);
    expect(sums.size).toBeGreaterThan(0);
    const guesses = teams.map((team, t) => {
      const all = sums.get(`${idOf(team)} ${first}`);
      const others = sums.get(`${idOf(`${team} rest`)} ${second}`);
      if (!all || !others || all.answers - others.answers !== 1) return false;
      // Values are reported from 0 to 1: an answer from 1 to 5 is 1 + 4 times the value.
      return Math.round(1 + 4 * (all.sum - others.sum)) === valueOf(t, 0);
    });
    return guesses.filter(Boolean).length;
  }

  test.each([
    ['under another key', { text: wording }],
    ['in capitals, with other punctuation', { text: 'HOW do you like your work …' }],
    ['with invisible characters', { text: 'How do you like your\u200b wo\u00adrk?' }],
    ['as a translation of another text', { text: 'Something else?', translations: { sv: wording } }],
  ])('%s: no answer is revealed', async (_, more) => {
    expect(await attack({ second: (request) => newQuestion(request, 'second', more.text, more) })).toBe(0);
  });

  test('as the same question: no answer is revealed', async () => {
    expect(await attack({ second: async (_, first) => first })).toBe(0);
  });

  test('a question that has the same wording for a few days: no answer is revealed', async () => {
    const put = async (request: SendRequest, id: number, text: string) => {
      const { body } = await request<{ version: string }>(`GET /library/questions/${id}`);
      const changed = await request(`PUT /library/questions/${id}`, {
        text,
        translations: {},
        options: [],
        version: body.version,
      });
      return changed.status;
    };
    const found = await attack({
      second: (request) => newQuestion(request, 'second', 'What is for lunch?'),
      whileOpen: async (request, second) => void (await put(request, second, wording)),
      beforeClosing: async (request, second) => void (await put(request, second, 'What is for lunch?')),
      isSame: (page) => page.split(wording).length > 2,
    });
    expect(found).toBe(0);
  });

  test('the attack succeeds if the wording counts as different', async () => {
    expect(await attack({ second: (request) => newQuestion(request, 'second', 'How is your work?') })).toBe(
      12,
    );
  });
});

describe('live results', () => {
  const people = Array.from({ length: 12 }, (_, i): [string, string] => [`p${i}`, 'team']);

  /** Returns how many answers are revealed, one after another, as they arrive. */
  async function revealedAnswers(isLiveBefore: boolean): Promise<number> {
    const at = await office(people, [{ externalId: 'team', name: 'Team' }]);
    const { account, request } = at;
    const toLive = async () =>
      expect((await request('PATCH /settings', { publication: 'live' })).status).toBeLessThan(300);
    if (isLiveBefore) await toLive();
    const question = await newQuestion(request, 'only', 'How is it?');
    await newSchedule(request, 'All', [at.groupIds.get('team') as number], [question]);
    await open();
    const links = [...(await linksOf(account)).values()];
    let seen = 0;
    let before = 0;
    for (const [i, link] of links.entries()) {
      // One after another is the attack.
      if (i === 6 && !isLiveBefore) await toLive();
      await giveAnswer(world.address, link, { question, value: 1 + (i % 5) });
      await world.pool`select graphile_worker.add_job('show live weeks')`;
      await until(
        async () =>
          (await world.pool`select 1 from graphile_worker.jobs where task_identifier = 'show live weeks'`)
            .length === 0,
      );
      const answers = [...(await sumsOf(at)).values()].reduce((sum, one) => sum + one.answers, 0);
      if (answers > before) seen += answers - before;
      before = answers;
    }
    return seen;
  }

  test('switched on during a week reveal none of its answers', async () => {
    expect(await revealedAnswers(false)).toBe(0);
  });

  test('of a week that was live when it opened are revealed by the same attack', async () => {
    expect(await revealedAnswers(true)).toBeGreaterThanOrEqual(5);
  });
});

describe('how many have answered', () => {
  const real = Array.from({ length: 8 }, (_, i): [string, string] => [`p${i}`, 'team']);

  /** Returns what the console shows after each individual answer of an invented and of a real person, an hour apart. */
  async function watch({ hoursApart, isEligible }: { hoursApart: number; isEligible: boolean }) {
    const invented = Array.from({ length: 20 }, (_, i): [string, string] => [`invented ${i}`, 'team']);
    const at = await office([...real, ...invented], [{ externalId: 'team', name: 'Team' }]);
    const { account, request } = at;
    await world.pool`
      update users set active_since = now() - interval '400 days'
      where  account_id = ${account.id} and (${isEligible} or external_id like 'p%')`;
    const question = await newQuestion(request, 'only', 'How is it?');
    await newSchedule(request, 'All', [at.groupIds.get('team') as number], [question]);
    now = Date.parse(`${askedWeek}T10:00:00Z`);
    await open();
    await world.pool`update schedule_weeks set at = ${new Date(now)} where account_id = ${account.id}`;
    const links = await linksOf(account);
    const shown = new Set<string>();
    for (const name of [...invented, ...real].map(([one]) => one)) {
      // One after another is the attack.
      now += hoursApart * 3_600_000;
      await giveAnswer(world.address, links.get(name) as string, { question, value: 3 });
      await world.pool`select graphile_worker.add_job('count participation')`;
      await until(
        async () =>
          (await world.pool`select 1 from graphile_worker.jobs where task_identifier = 'count participation'`)
            .length === 0,
      );
      const { body } = await request<Rounds>('GET /rounds');
      shown.add(JSON.stringify(body.open[0]?.answered));
    }
    return [...shown];
  }

  test('does not change within a day, however many people are added', async () => {
    expect(await watch({ hoursApart: 0.25, isEligible: true })).toEqual(['{"state":"notYet"}']);
  });

  test('does not include invented people who are new', async () => {
    const shown = await watch({ hoursApart: 2, isEligible: false });
    expect(shown.every((one) => !/"count":[1-9]/.test(one))).toBe(true);
  });

  test('changes for the same attack if the invented people are old and days pass', async () => {
    const shown = await watch({ hoursApart: 5, isEligible: true });
    expect(shown.some((one) => /"count":[1-9]/.test(one))).toBe(true);
  });
});

/**
 * Returns how often the attacker is right about whether one person answers on the last day. All other people are invented. On the
 * days before, the attacker adds invented answers so that each count leaves the fewest possible offsets for the steps, and then
 * all but one up to a step.
 */
function guessesRight(days: string[], step: number): number {
  const eligible = 1_000;
  const guesses = Array.from({ length: 400 }, (_, i) => {
    const key = new WeekKey(1, askedWeek, createHash('sha256').update(`week ${i}`).digest());
    const hasAnswered = i % 2 === 0;
    let shown = 0;
    const count = (answered: number, day: string) => {
      const counted = coarse(answered, { eligible, step, offset: key.below(step, day) }) as number;
      return (shown = Math.max(shown, counted));
    };
    const expected = (answered: number, offset: number) => coarse(answered, { eligible, step, offset });
    let places = Array.from({ length: step }, (__, offset) => offset);
    let invented = 2 * step;
    for (const day of days.slice(0, -1)) {
      const cost = (more: number) =>
        Math.max(
          ...Map.groupBy(places, (one) => expected(invented + more, one))
            .values()
            .map((one) => one.length),
        );
      invented +=
        Array.from({ length: step }, (__, more) => more).toSorted((a, b) => cost(a) - cost(b))[0] ?? 0;
      const seen = count(invented, day);
      const left = places.filter((one) => expected(invented, one) === seen);
      places = left.length > 0 ? left : places;
    }
    const place = places[0] as number;
    while (expected(invented, place) === expected(invented + 1, place)) invented++;
    const seen = count(invented + (hasAnswered ? 1 : 0), days.at(-1) as string);
    return (seen === expected(invented + 1, place)) === hasAnswered;
  });
  return guesses.filter(Boolean).length / guesses.length;
}

test.each([5, 10])('an attacker who finds the offset of steps of %i is hardly ever right', (step) => {
  const days = ['tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
  expect(guessesRight(days, step)).toBeLessThan(0.65);
  // The mutant: the same offset all week.
  expect(
    guessesRight(
      days.map(() => 'one'),
      step,
    ),
  ).toBeGreaterThan(0.98);
});
