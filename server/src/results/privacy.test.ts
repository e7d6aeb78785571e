// The promise of privacy.md, over HTTP: what the attacker learns from everything that the data interface returns, and what
// remains of people and answers after a week has closed.
import type { AnswerData } from '@soundings/contract/answer-data.ts';
import type {
  AskedQuestionsValues,
  KpiValues,
  ResponseRateValues,
  ResultsValues,
  Value,
} from '@soundings/contract/data.ts';
import type { QuestionType } from '@soundings/contract/question-types.ts';
import { addWeeks, fourDigits, lastDay, sixDigits, type Week, weekName } from '@soundings/contract/weeks.ts';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { randomFrom } from '../simulation/random.ts';
import {
  add,
  attack,
  sumOf,
  knownByThreshold,
  type KnownOfQuestion,
  type KnownOfWeek,
} from '../testing/attacks/attacker.ts';
import { type RandomHistory, randomHistory, type RandomWeek } from '../testing/attacks/histories.ts';
import { caseCount } from '../testing/house/cases.ts';
import { keepOpen } from '../testing/keep-open.ts';
import { apply, person, unit } from '../testing/organizations.ts';
import { answerLine, importLines, kpi, question, round, skip } from '../testing/surveys.ts';
import { openWorld, type TestAccount, type World } from '../testing/world.ts';
import { closeWeekNow, deleteLeftData } from './close-week.ts';

const thisWeek = '2026-11-16';
const now = Date.parse('2026-11-18T12:00:00Z');
const firstWeek = '2020-01-06';
const small = { people: [16, 40], groups: 10, weeks: 2 };

let world: World;
beforeAll(async () => {
  world = await openWorld(undefined, {}, () => now);
});
afterAll(() => world.close());

/** Returns a response exactly as sent. */
async function textOf(account: TestAccount, path: string): Promise<string> {
  const response = await fetch(world.address + path, { headers: { authorization: account.token } });
  expect(`${response.status} ${path}`).toBe(`200 ${path}`);
  return response.text();
}
const get = async <T>(account: TestAccount, path: string) => JSON.parse(await textOf(account, path)) as T;
const rangeOf = (first: Week, last: Week) => `&fromDate=${first}&toDate=${lastDay(last)}`;

// A random history as a file. Each question is asked many times of the same people, so that the copies together reveal who is in
// a figure: in each copy some people give marks, and the others nothing that looks like one.

type Sent = {
  history: RandomHistory;
  everyone: string[];
  types: Map<number, QuestionType>;
  /** The copies of questions 1, 2 and 3, by key. */
  copies: Map<number, string[]>;
  lines: object[];
  weeks: { week: Week; content: RandomWeek }[];
  /** Weeks like one of those in which one person has done one question. `likewise`: the people who are asked the same as that person. */
  probes: { week: Week; of: Week; likewise: string[]; question: number }[];
  lastWeek: Week;
};

const groupName = (id: number) => `g${id}`;
const copiesOf = (type: QuestionType, people: number) =>
  type === 3 ? Math.ceil(people / 4) : type === 4 ? people : 1;

/** What person `number` answers to a copy. */
function markOf(type: QuestionType, copy: number, number: number, name: string): unknown {
  if (type === 3) return Math.floor(number / 4) === copy ? 2 ** (number % 4) : 0;
  if (type === 4) return number === copy;
  return { 5: name, 6: [name] }[type as number];
}

function fileOf(history: RandomHistory): Sent {
  const asked = history.weeks.flatMap(({ rounds }) => rounds.flatMap((one) => one.asked));
  const everyone = [...new Set(asked.map((one) => one.person))];
  // Types 1 to 3 reveal single values in the same way. The marks need the scale of type 3.
  const types = new Map(
    history.questions.map(({ id, type }) => [id, Math.max(type, 3) as QuestionType] as const),
  );
  const copies = new Map(
    [...types].map(([id, type]) => [
      id,
      Array.from({ length: copiesOf(type, everyone.length) }, (_, i) => `q${id}-${i}`),
    ]),
  );
  const sent: Sent = {
    history,
    everyone,
    types,
    copies,
    lines: [kpi('both', ['q1-0', 'q2-0'])],
    weeks: [],
    probes: [],
    lastWeek: firstWeek,
  };
  const options = { options: everyone.map((name) => ({ id: name, text: name })) };
  for (const [id, keys] of copies) {
    const type = types.get(id) as QuestionType;
    const more = type === 5 || type === 6 ? options : {};
    for (const key of keys) sent.lines.push(question(key, type, more));
  }
  for (const content of history.weeks) addWeek(sent, content);
  return sent;
}

function addWeek(sent: Sent, content: RandomWeek): void {
  const { lines, copies, types, everyone } = sent;
  const open = (week: Week, keysOf: (id: number) => string[]) => {
    for (const { groupId, questionIds, asked } of content.rounds) {
      const people = Object.fromEntries(asked.map((one) => [one.person, one.memberOf.map(groupName)]));
      lines.push(round(weekName(week), groupName(groupId), questionIds.flatMap(keysOf), people));
    }
  };
  const roundOf = (name: string, id: number) =>
    content.rounds.find(
      ({ questionIds, asked }) => questionIds.includes(id) && asked.some((one) => one.person === name),
    );
  const week = sent.lastWeek;
  sent.weeks.push({ week, content });
  open(week, (id) => copies.get(id) as string[]);
  for (const [id, answers] of content.answers) {
    for (const { respondent: name, skipped } of answers) {
      const group = groupName(roundOf(name, id)?.groupId as number);
      const number = everyone.indexOf(name);
      for (const [copy, key] of (copies.get(id) as string[]).entries()) {
        const value = markOf(types.get(id) as QuestionType, copy, number, name);
        lines.push(
          skipped
            ? skip(weekName(week), group, name, key)
            : answerLine(weekName(week), group, name, key, value, name),
        );
      }
    }
  }
  const likewise = Map.groupBy(everyone, (name) =>
    JSON.stringify(content.rounds.map((one) => one.asked.find((who) => who.person === name)?.memberOf)),
  );
  for (const people of likewise.values()) {
    for (const id of [1, 2, 3]) {
      const [name] = people as [string];
      const asking = roundOf(name, id);
      if (!asking) continue;
      sent.lastWeek = addWeeks(sent.lastWeek, 1);
      open(sent.lastWeek, (one) => [`q${one}-0`]);
      lines.push(skip(weekName(sent.lastWeek), groupName(asking.groupId), name, `q${id}-0`));
      sent.probes.push({ week: sent.lastWeek, of: week, likewise: people, question: id });
    }
  }
  sent.lastWeek = addWeeks(sent.lastWeek, 1);
}

/** Creates an account with the imported history. Returns its top groups by ID too. */
async function accountWith({ history, lines }: Sent): Promise<{ account: TestAccount; tops: number[] }> {
  const account = await world.account();
  const { figures, distribution, comments } = history.thresholds;
  await world.pool`
    update accounts set threshold = ${figures}, distribution_threshold = ${distribution}, comment_threshold = ${comments}
    where  account_id = ${account.id}`;
  const nameOf = (id: number | null) => (id === null ? null : groupName(id));
  const groups = [...history.parents].map(([id, parent]) => unit(groupName(id), { parent: nameOf(parent) }));
  await apply(account, { groups });
  await importLines(world, account.id, lines, now);
  const isTop = ({ externalId }: { externalId?: string }) =>
    history.parents.get(Number(externalId?.slice(1))) === null;
  return { account, tops: (await account.groups()).filter(isTop).map(({ id }) => id) };
}

// Everything that can be read.

type ByQuestion<T> = Record<string, Record<string, Record<string, T>>>;
type Everything = {
  /** Question IDs by key. */
  ids: Map<string, number>;
  values: ByQuestion<AnswerData>;
  comments: ByQuestion<string[]>;
  asked: Record<string, Record<string, number[]>>;
  rates: Value[];
  kpi: Value[];
};

async function readEverything(account: TestAccount, tops: number[], range: string): Promise<Everything> {
  const all: Everything = { ids: new Map(), values: {}, comments: {}, asked: {}, rates: [], kpi: [] };
  const merge = <T>(into: ByQuestion<T>, from: ByQuestion<T>) => {
    for (const [id, groups] of Object.entries(from)) into[id] = { ...into[id], ...groups };
  };
  for (const top of tops) {
    const scope = `groupId=${top}&includeSubgroups=true${range}`;
    const flags = '&includeComments=true&granularData=true';
    const [results] = await get<[ResultsValues]>(account, `/v1/results?${scope}${flags}`);
    for (const { id, question: text } of results.questions) all.ids.set(text.slice(0, -1), id);
    merge(all.values, results.values[0] as ByQuestion<AnswerData>);
    merge(all.comments, results.comments?.[0] as ByQuestion<string[]>);
    const [asked] = await get<[AskedQuestionsValues]>(account, `/v1/askedquestions?${scope}`);
    Object.assign(all.asked, asked.askedquestions[0]);
    const [rates] = await get<[ResponseRateValues]>(account, `/v1/responserates/values?${scope}`);
    all.rates.push(...rates.values);
    all.kpi.push(...(await get<KpiValues>(account, `/v1/kpis/both/values?${scope}`)).values);
  }
  return all;
}

/** Returns what the responses reveal about a week, for the attacker. Fails if copies of a question differ in more than values. */
function knownOf(sent: Sent, all: Everything, week: Week): KnownOfWeek {
  const questions = new Map<number, KnownOfQuestion>();
  for (const [id, keys] of sent.copies) {
    const type = sent.types.get(id) as QuestionType;
    const known: KnownOfQuestion = { type, sums: new Map(), distributions: new Map(), comments: new Map() };
    const decisions = new Set<string>();
    for (const [copy, key] of keys.entries()) {
      const ofWeek = <T>(from: ByQuestion<T>) =>
        Object.entries(from[String(all.ids.get(key))] ?? {}).flatMap(([group, weeks]) => {
          const leaf = weeks[fourDigits(week)];
          return leaf === undefined ? [] : [[Number(group), leaf] as const];
        });
      const values = ofWeek(all.values);
      const comments = ofWeek(all.comments).map(([group, texts]) => [group, texts.toSorted()] as const);
      decisions.add(JSON.stringify([values.map(([group, data]) => [group, decisionOf(data)]), comments]));
      for (const [group, data] of values) collect(type, data, copy, sent.everyone, known, group);
      if (copy > 0) continue;
      for (const [group, texts] of comments) for (const name of texts) add(known.comments, group, name);
    }
    expect(decisions.size).toBe(1);
    questions.set(id, type === 4 ? { ...known, sums: new Map(), distributions: known.sums } : known);
  }
  const rates: KnownOfWeek['rates'] = new Map();
  for (const probe of sent.probes.filter(({ of }) => of === week)) {
    for (const { groupId, value, yearWeek } of all.rates) {
      if (!value || yearWeek !== sixDigits(probe.week)) continue;
      for (const name of probe.likewise) add(rates, groupId, { person: name, question: probe.question });
    }
  }
  return { questions, rates };
}

const decisionOf = ({ value, answers, distribution, individual }: AnswerData) => [
  value === null,
  answers,
  distribution && Object.values(distribution).reduce((sum, times) => sum + times, 0),
  individual?.length,
];

function collect(
  type: QuestionType,
  { value, answers, distribution, individual }: AnswerData,
  copy: number,
  everyone: string[],
  { sums, distributions }: KnownOfQuestion,
  group: number,
): void {
  if (type === 3) {
    const sum = value === null ? 0 : sumOf(type, value, answers as number);
    const given = Object.entries(distribution ?? {}).flatMap(([own, times]) =>
      Array.from({ length: times }, () => Number(own)),
    );
    expect(individual ?? []).toEqual(given);
    for (const [i, name] of everyone.slice(4 * copy, 4 * copy + 4).entries()) {
      if (Math.floor(sum / 2 ** i) % 2 === 1) add(sums, group, name);
      if (distribution?.[2 ** i]) add(distributions, group, name);
    }
  }
  if (type === 4 && value) add(sums, group, everyone[copy] as string);
  if (type === 5 || type === 6) {
    for (const name of everyone) if (distribution?.[name]) add(distributions, group, name);
  }
}

const histories = caseCount('WIRE_ATTACKS', 3);

describe('the attacker, over HTTP', () => {
  test(
    'finds nothing in all responses together, in random histories',
    { timeout: 300_000 + histories * 10_000 },
    async () => {
      let [figures, broken] = [0, 0];
      for (let seed = 1; seed <= histories; seed++) {
        const sent = fileOf(randomHistory(seed, small));
        const { account, tops } = await accountWith(sent);
        const all = await readEverything(account, tops, rangeOf(firstWeek, sent.lastWeek));
        for (const { week, content } of sent.weeks) {
          const known = knownOf(sent, all, week);
          expect({ seed, week, leaks: attack(known, sent.history.thresholds) }).toEqual({
            seed,
            week,
            leaks: [],
          });
          const mutant = attack(knownByThreshold(sent.history, content), sent.history.thresholds);
          if (mutant.some(({ people }) => people !== 'undecided')) broken++;
          for (const { sums, distributions } of known.questions.values())
            figures += sums.size + distributions.size;
        }
        expectKpisOfShown(all);
        await expectAgreement(account, tops, sent, all, seed);
      }
      // There was something to find.
      expect(figures).toBeGreaterThan(4 * histories);
      expect(broken).toBeGreaterThan(histories / 3);
    },
  );
});

/** A KPI reveals nothing that the values of its questions do not. */
function expectKpisOfShown({ kpi: values, values: results, ids }: Everything): void {
  for (const { groupId, yearWeek, value } of values) {
    const shown = ['q1-0', 'q2-0']
      .map((key) => results[String(ids.get(key))]?.[groupId]?.[yearWeek.slice(2)]?.value ?? null)
      .filter((one) => one !== null);
    const mean = shown.length > 0 ? shown.reduce((sum, one) => sum + one, 0) / shown.length : null;
    expect(value).toBe(mean);
  }
}

/** Requests each group alone and with its descendants, single weeks, some questions, and with and without every flag. */
async function expectAgreement(
  account: TestAccount,
  tops: number[],
  sent: Sent,
  all: Everything,
  seed: number,
): Promise<void> {
  const random = randomFrom(seed, 'requests');
  const weeks = [...sent.weeks, ...sent.probes].map(({ week }) => week).toSorted();
  const asked = await world.pool<{ groupId: number; week: Week }[]>`
    select group_id as "groupId", week from kpi_values where account_id = ${account.id} and asked_whole`;
  const whole = new Set(asked.map(({ groupId, week }) => `${groupId} ${week}`));
  for (const { id, subgroups } of await account.groups()) {
    for (const withSubgroups of [false, true]) {
      const groups = new Set([id, ...(withSubgroups ? subgroups : [])]);
      const [one, other] = [random.oneOf(weeks), random.oneOf(weeks)].toSorted() as [Week, Week];
      const [first, last] = random.chance(0.5) ? [one, one] : [one, other];
      const scope = `groupId=${id}&includeSubgroups=${withSubgroups}`;
      const isIn = ({ groupId, date }: Value) => groups.has(groupId) && date >= first && date <= last;
      const some = random.chance(0.5) ? [...all.ids.values()].filter(() => random.chance(0.3)) : undefined;
      const [comments, granular] = [random.chance(0.5), random.chance(0.5)];
      const flags = `&includeComments=${comments}&granularData=${granular}`;
      const chosen = some ? `&questionIds=${[...some, 0].join()}` : '';
      const [results] = await get<[ResultsValues]>(
        account,
        `/v1/results?${scope}${rangeOf(first, last)}${flags}${chosen}`,
      );
      const part = <T>(from: ByQuestion<T>) => partOf(from, some, groups, [first, last].map(fourDigits));
      const values = JSON.parse(
        JSON.stringify(part(all.values), (key, leaf: unknown) =>
          key === 'individual' && !granular ? undefined : leaf,
        ),
      ) as unknown;
      expect(results.values).toEqual([values]);
      expect(results.comments).toEqual(comments ? [part(all.comments)] : undefined);

      for (const [path, list] of [
        ['/v1/responserates/values', all.rates],
        ['/v1/kpis/both/values', all.kpi],
      ] as const) {
        const inRange = await get<KpiValues | [ResponseRateValues]>(
          account,
          `${path}?${scope}${rangeOf(first, last)}`,
        );
        const latest = await get<KpiValues | [ResponseRateValues]>(account, `${path}?${scope}`);
        const valuesOf = (body: KpiValues | [ResponseRateValues]) =>
          (Array.isArray(body) ? body[0] : body).values;
        expect(valuesOf(inRange)).toEqual(inOrder(list.filter(isIn)));
        // The last week in which the group was asked as a whole, or else the last week.
        const isWhole = ({ groupId, date }: Value) => list !== all.kpi || whole.has(`${groupId} ${date}`);
        const byPreference = [
          ...inOrder(list.filter((row) => !isWhole(row))),
          ...inOrder(list.filter(isWhole)),
        ];
        const lasts = new Map(byPreference.map((row) => [row.groupId, row]));
        expect(valuesOf(latest)).toEqual(
          inOrder([...lasts.values()].filter(({ groupId }) => groups.has(groupId))),
        );
      }
    }
  }
  expect(tops.length).toBeGreaterThan(0);
}

const inOrder = (list: Value[]) =>
  list.toSorted((a, b) => a.groupId - b.groupId || Number(a.yearWeek) - Number(b.yearWeek));

/** Returns the part of the figures that a request covers. */
function partOf<T>(
  from: ByQuestion<T>,
  questionIds: number[] | undefined,
  groups: Set<number>,
  [first, last]: string[],
): ByQuestion<T> {
  const keep = <V>(map: Record<string, V>, isWanted: (key: string) => boolean) =>
    Object.entries(map).filter(([key]) => isWanted(key));
  return Object.fromEntries(
    keep(from, (id) => !questionIds || questionIds.includes(Number(id)))
      .map(([id, ofGroups]) => [
        id,
        Object.fromEntries(
          keep(ofGroups, (group) => groups.has(Number(group)))
            .map(([group, weeks]) => [
              group,
              Object.fromEntries(keep(weeks, (week) => week >= first! && week <= last!)),
            ])
            .filter(([, weeks]) => Object.keys(weeks as object).length > 0),
        ),
      ])
      .filter(([, ofGroups]) => Object.keys(ofGroups as object).length > 0),
  ) as ByQuestion<T>;
}

describe('after the week', () => {
  test('a closed week reads exactly the same, whatever is moved, renamed or removed afterwards', async () => {
    const seed = 4;
    const random = randomFrom(seed, 'pushes');
    const sent = fileOf(randomHistory(seed, small));
    const { account } = await accountWith(sent);
    const range = rangeOf(firstWeek, sent.lastWeek);
    const read = async () =>
      new Map(
        await Promise.all(
          (await account.groups()).map(async ({ id, externalId }) => {
            const scope = `groupId=${id}${range}`;
            const texts = await Promise.all(
              [
                `/v1/results?${scope}&includeComments=true&granularData=true`,
                `/v1/askedquestions?${scope}`,
                `/v1/responserates/values?${scope}`,
                `/v1/kpis/both/values?${scope}`,
                `/v1/kpis/both/values?groupId=${id}`,
              ].map((path) => textOf(account, path)),
            );
            return [externalId as string, texts] as const;
          }),
        ),
      );
    const before = await read();
    let names = [...before.keys()];
    expect(names.length).toBeGreaterThan(4);
    for (let i = 0; i < 6; i++) {
      if (i % 2 === 1) names = random.shuffled(names).slice(1);
      const order = random.shuffled(names);
      const groups = order.map((externalId, place) =>
        unit(externalId, {
          name: `Name ${i} of ${externalId}`,
          parent: place > 0 && random.chance(0.8) ? random.oneOf(order.slice(0, place)) : null,
        }),
      );
      const users = sent.everyone
        .filter(() => random.chance(0.8))
        .map((name) => person(name, { accessInfo: { memberOf: [random.oneOf(names)] } }));
      await apply(account, { groups, users });
      const after = await read();
      expect([...after.keys()].toSorted()).toEqual(names.toSorted());
      for (const [name, texts] of after) expect(texts).toEqual(before.get(name));
    }
  });

  test('an open week shows what is asked and no figure, however many people have answered', async () => {
    const account = await world.account();
    await apply(account, { groups: [unit('all')] });
    const [group] = await account.groups();
    const everyone = Array.from({ length: 30 }, (_, i) => `Open-${i}`);
    const lastWeek = addWeeks(thisWeek, -1);
    const lines = (week: Week) => [
      round(weekName(week), 'all', ['q'], Object.fromEntries(everyone.map((name) => [name, ['all']]))),
      ...everyone.map((name, i) =>
        answerLine(weekName(week), 'all', name, 'q', 1 + (i % 5), `said in ${week}`),
      ),
    ];
    const definitions = [question('q', 1), kpi('k', ['q'])];
    await importLines(world, account.id, [...definitions, ...lines(lastWeek), ...lines(thisWeek)], now);

    const paths = (range: string) => [
      `/v1/results?groupId=${group?.id}&includeComments=true&granularData=true${range}`,
      `/v1/responserates/values?groupId=${group?.id}${range}`,
      `/v1/kpis/k/values?groupId=${group?.id}${range}`,
    ];
    const read = async (range: string) =>
      (await Promise.all(paths(range).map((path) => textOf(account, path)))).join('\n');
    const open = rangeOf(thisWeek, thisWeek);
    const [key, longKey] = [fourDigits(thisWeek), sixDigits(thisWeek)];
    for (const range of ['', rangeOf(lastWeek, thisWeek)]) {
      const text = await read(range);
      expect(text).toContain(`said in ${lastWeek}`);
      expect(text).toContain(sixDigits(lastWeek));
      for (const telling of [`"${key}"`, longKey, thisWeek]) expect(text).not.toContain(telling);
    }
    expect(await read(open)).toBe(
      '[{"values":[{}],"comments":[{}],"questions":[]}]\n[{"values":[]}]\n{"kpi":{"id":"k","name":"k"},"values":[]}',
    );
    expect(await textOf(account, `/v1/askedquestions?groupId=${group?.id}${open}`)).toContain(`"${key}"`);

    await closeWeekNow(world.pool, world.keys, account.id, thisWeek, now);
    const text = await read(open);
    for (const telling of [`"${key}"`, longKey, `said in ${thisWeek}`]) expect(text).toContain(telling);
  });

  test('a closed week leaves no answer, assignment, respondent number, key or name', async () => {
    const account = await world.account();
    await apply(account, { groups: [unit('top'), unit('team', { parent: 'top' })] });
    const everyone = Array.from({ length: 25 }, (_, i) => `Kunigunde-${i}`);
    const lines = [
      question('q', 3),
      question('words', 7),
      round(
        weekName(thisWeek),
        'top',
        ['q', 'words'],
        Object.fromEntries(everyone.map((name) => [name, ['team']])),
      ),
      ...everyone.map((name, i) => answerLine(weekName(thisWeek), 'top', name, 'q', i % 11, 'a remark')),
      ...everyone.map((name, i) =>
        i % 2
          ? skip(weekName(thisWeek), 'top', name, 'words')
          : answerLine(weekName(thisWeek), 'top', name, 'words', undefined, 'words'),
      ),
    ];
    await importLines(world, account.id, lines, now);
    const kept = await world.pool<{ text: string }[]>`
      select respondent::text as text from assignments where account_id = ${account.id}
      union
      select respondent::text from answers where account_id = ${account.id}
      union
      select encode(wrapped, 'hex') from week_keys where account_id = ${account.id} and week = ${thisWeek}`;
    expect(kept).toHaveLength(26);
    const secrets = kept.map(({ text }) => text);
    const key = secrets.find((text) => text.length > 64);
    expect(await dump()).toContain(key);

    await closeWeekNow(world.pool, world.keys, account.id, thisWeek, now);
    const after = await dump();
    expect(after).toContain('a remark');
    for (const secret of [...secrets, 'Kunigunde']) expect(after).not.toContain(secret);
    const [counts] = await world.pool<{ answers: number; assignments: number }[]>`
      select (select count(*)::integer from answers) as answers,
             (select count(*)::integer from assignments) as assignments`;
    expect(counts).toEqual({ answers: 0, assignments: 0 });
    // The files of these tables do not contain them either. A deleted row would stay there until PostgreSQL cleans up.
    await expectNoBytes(key as string);
  });

  test('what is left in the files because another transaction could read it is deleted within an hour', async () => {
    const account = await world.account();
    await apply(account, { groups: [unit('top')] });
    const lines = [question('q', 3), round(weekName(thisWeek), 'top', ['q'], { Kunigunde: ['top'] })];
    await importLines(world, account.id, lines, now);
    const [row] = await world.pool<{ wrapped: Buffer }[]>`
      select wrapped from week_keys where account_id = ${account.id} and week = ${thisWeek}`;
    const key = row!.wrapped;
    const release = await keepOpen(world.pool, async (tx) => {
      await tx`set transaction isolation level repeatable read`;
      await tx`select 1 from weeks limit 1`;
    });
    await closeWeekNow(world.pool, world.keys, account.id, thisWeek, now);
    expect(await areInFiles(key)).toBe(true);
    await release();
    await expectNoBytes(key.toString('hex'));
  });
});

const areInFiles = async (bytes: Buffer) =>
  (await tableFiles(['weeks', 'week_keys', 'answers', 'assignments'])).some((file) => file.includes(bytes));

/** Calls the hourly job as long as PostgreSQL leaves these bytes: it skips a page that it is just writing. */
async function expectNoBytes(hex: string): Promise<void> {
  for (let i = 0; i < 20 && (await areInFiles(Buffer.from(hex, 'hex'))); i++)
    await deleteLeftData(world.pool);
  expect(await areInFiles(Buffer.from(hex, 'hex'))).toBe(false);
}

/** Returns the content of the files of tables on disk. */
async function tableFiles(tables: string[]): Promise<Buffer[]> {
  await world.pool`checkpoint`;
  const rows = await world.pool<{ path: string }[]>`
    select current_setting('data_directory') || '/' || pg_relation_filepath(name::regclass) as path
    from   unnest(${tables}::text[]) as name`;
  return Promise.all(rows.map(({ path }) => readFile(path)));
}

/** Returns every row of every table as text. */
async function dump(): Promise<string> {
  const tables = await world.pool<{ name: string }[]>`
    select table_name as name from information_schema.tables where table_schema = 'public' order by 1`;
  const texts = await Promise.all(
    tables.map(
      ({ name }) => world.pool<{ text: string }[]>`select t::text as text from ${world.pool(name)} t`,
    ),
  );
  expect(texts.length).toBeGreaterThan(20);
  return texts.flatMap((rows) => rows.map(({ text }) => text)).join('\n');
}
