// The statistics that the service adds to published figures reveal nothing withheld, over the whole service. Two companies whose
// answers differ only in what is withheld look the same to everyone. And what happens in groups that a manager can't see makes no
// difference to that manager. ADDED_COMPANIES=100 tries more companies.
import type { Drivers } from '@soundings/contract/console/results/drivers.ts';
import type { GroupResults, HeatMap, ResultQuestion } from '@soundings/contract/console/results/results.ts';
import { addWeeks, weekName } from '@soundings/contract/weeks.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { randomFrom } from '../simulation/random.ts';
import { type RandomCompany, randomCompany } from '../testing/attacks/random-companies.ts';
import { type OpenWeek, randomAnswer, twinOf } from '../testing/attacks/twins.ts';
import { caseCount } from '../testing/house/cases.ts';
import { apply, unit } from '../testing/organizations.ts';
import { type SendRequest, signInNew } from '../testing/signed-in.ts';
import { answerLine, importLines, kpi, question, round, skip } from '../testing/surveys.ts';
import { openWorld, type TestAccount, type World } from '../testing/world.ts';

const count = caseCount('ADDED_COMPANIES', 8);
const timeouts = { timeout: 300_000 + count * 60_000 };
const now = Date.parse('2026-11-18T12:00:00Z');
/** This week is open. */
const thisWeek = '2026-11-16';

let world: World;
beforeAll(async () => {
  world = await openWorld(undefined, {}, () => now);
});
afterAll(() => world?.close());

/** Returns a response without the random order of comments, and with numbers to seven decimals, because sums can be in another order. */
function comparable(text: string): string {
  if (!/^[[{]/.test(text)) return text;
  return JSON.stringify(JSON.parse(text), (key, one: unknown) => {
    if (typeof one === 'number') return Number(one.toFixed(7));
    if (!Array.isArray(one)) return one;
    if (key === 'newest') return one.length;
    const isComments =
      one.length > 0 && one.every((each) => typeof each?.text === 'string' && 'questionId' in each);
    return isComments ? one.map((each) => JSON.stringify(each)).toSorted() : one;
  });
}

/** Creates an account whose groups and questions get the same ids as those of the other accounts. */
async function accountWithSameIds(): Promise<TestAccount> {
  await world.pool`alter table groups alter column group_id restart with 1000`;
  await world.pool`alter table questions alter column question_id restart with 5000`;
  return world.account();
}

const kinds = ['company', 'parent', 'halfYear', 'none'];

/** Returns everything that the console shows a caller, by address. `withReports`: also as PDF, if there are no comments. */
async function readAll(request: SendRequest, groupIds: readonly number[], withReports: boolean) {
  const pages = new Map<string, string>();
  const read = async <T>(path: string): Promise<T> => {
    const { status, text, body } = await request<T>(`GET ${path}`);
    if (status !== 200) throw new Error(`${status} of ${path}: ${text}`);
    pages.set(path, comparable(text));
    return body;
  };
  await read('/results');
  for (const kind of kinds) await read<HeatMap>(`/results/heat-map?compare=${kind}`);
  await read(`/results/trends?groupIds=${groupIds.slice(0, 4).join()}&weeks=13`);
  const { outcomes } = await read<Drivers>('/results/drivers?weeks=26');
  for (const { id } of outcomes) await read(`/results/drivers?weeks=26&outcome=${id}`);
  for (const id of groupIds) {
    for (const kind of kinds) await read<GroupResults>(`/results/groups/${id}?weeks=13&compare=${kind}`);
    for (const one of await read<ResultQuestion[]>(`/results/groups/${id}/questions`)) {
      await read(`/results/groups/${id}/questions/${one.id}?weeks=13&compare=parent`);
    }
    await read(`/results/comments?groupId=${id}&limit=500`);
    await read(`/results/comments/words?groupId=${id}`);
    if (!withReports) continue;
    await read(`/results/groups/${id}/report?compare=parent`);
    if (id === groupIds[0]) await read(`/results/groups/${id}/report.pdf`);
  }
  return pages;
}

/** Returns the addresses whose responses differ, and where the difference begins. */
function differing(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): string[] {
  return [...new Set([...one.keys(), ...other.keys()])].flatMap((path) => {
    const [a, b] = [one.get(path) ?? '', other.get(path) ?? ''];
    if (a === b) return [];
    const from = Math.max(0, [...a].findIndex((letter, i) => letter !== b[i]) - 60);
    return [`${path}: ${a.slice(from, from + 100)} <> ${b.slice(from, from + 100)}`];
  });
}

const groupIdsOf = async (account: TestAccount) =>
  (await account.groups()).map(({ id }) => id).toSorted((a, b) => a - b);

describe('two companies whose answers differ only in what is withheld', () => {
  /** Yields companies that have no free-text questions and no two questions with the same text. */
  function* suitable() {
    for (let seed = 1; ; seed++) {
      if (seed % 50 === 0) continue;
      const company = randomCompany(seed);
      const questions = company.organization.classes.flat();
      const isPlain = company.organization.classes.length === 3 && !questions.some(({ type }) => type === 7);
      const answers = company.weeks[0]?.answers.get(1)?.length ?? 0;
      if (isPlain && company.weeks.length >= 3 && answers >= 20) yield company;
    }
  }

  const withoutComments = ({ data, answers }: OpenWeek): OpenWeek => ({
    data,
    answers: new Map([...answers].map(([id, list]) => [id, list.map((one) => ({ ...one, comment: null }))])),
  });
  const withoutHandedOut = ({ data, answers }: OpenWeek): OpenWeek => ({
    data,
    answers: new Map(
      [...answers].map(([id, list]) => [id, list.map((one) => ({ ...one, handedOut: false }))]),
    ),
  });

  /** Returns an open week in which everyone answers something else, and in which other people answer. */
  function otherWeek({ data, answers }: OpenWeek, { organization, seed }: RandomCompany): OpenWeek {
    const random = randomFrom(seed, 'open week');
    const questions = new Map(organization.classes.flat().map((one) => [one.id, one]));
    const other = [...answers].map(([id, list]) => {
      const kept = list.filter(() => random.chance(0.8));
      return [id, kept.map((one) => ({ ...one, ...randomAnswer(questions.get(id)!, random) }))] as const;
    });
    return { data, answers: new Map(other) };
  }

  function linesOf({ history }: RandomCompany, weeks: readonly OpenWeek[]): object[] {
    const options = ['a', 'b', 'c'].map((id) => ({ id, text: id }));
    const types = new Map(history.questions.map(({ id, type }) => [id, type]));
    const lines = [
      ...history.questions.map(({ id, type }) =>
        question(`q${id}`, type, type === 5 || type === 6 ? { options } : {}),
      ),
      kpi('both', ['q1', 'q2']),
      kpi('one', ['q1']),
    ];
    for (const [i, { answers }] of weeks.entries()) {
      const week = weekName(addWeeks(thisWeek, i + 1 - weeks.length));
      const { rounds } = history.weeks[i]!;
      for (const { groupId, questionIds, asked } of rounds)
        lines.push(
          round(
            week,
            `g${groupId}`,
            questionIds.map((id) => `q${id}`),
            Object.fromEntries(asked.map((one) => [one.person, one.memberOf.map((id) => `g${id}`)])),
          ) as never,
        );
      for (const [id, list] of answers)
        for (const { respondent, value, choices, comment, skipped } of list) {
          const own = rounds.find(
            ({ questionIds, asked }) =>
              questionIds.includes(id) && asked.some(({ person }) => person === respondent),
          );
          const where = [week, `g${own!.groupId}`, respondent, `q${id}`] as const;
          const type = types.get(id)!;
          const given = type === 4 ? value === 1 : type === 5 ? choices?.[0] : type === 6 ? choices : value;
          lines.push((skipped ? skip(...where) : answerLine(...where, given, comment ?? undefined)) as never);
        }
    }
    return lines;
  }

  async function accountWith(company: RandomCompany, weeks: readonly OpenWeek[], distribution?: number) {
    const account = await accountWithSameIds();
    const { thresholds, parents } = company.history;
    await world.pool`
      update accounts set threshold = ${thresholds.figures}, comment_threshold = ${thresholds.comments},
                          distribution_threshold = ${distribution ?? thresholds.distribution}
      where  account_id = ${account.id}`;
    const groups = [...parents].map(([id, above]) =>
      unit(`g${id}`, { parent: above === null ? null : `g${above}` }),
    );
    await apply(account, { groups });
    await importLines(world, account.id, linesOf(company, weeks), now);
    return account;
  }

  async function readCompany(account: TestAccount, withReports: boolean) {
    const { request } = await signInNew(world, account.id, 'Administrator');
    const pages = await readAll(request, await groupIdsOf(account), withReports);
    const { body } = await world.request<string>('GET', '/v1/feed', {
      headers: { authorization: account.token },
    });
    return pages.set('feed', body);
  }

  test(`are the same in every page, report and feed, in ${count} companies`, timeouts, async () => {
    const measured = { companies: 0, pages: 0, margins: 0, differ: 0, lowered: 0 };
    for (const company of suitable()) {
      const isQuiet = measured.companies % 2 === 1;
      const shaped = company.weeks.map((week) => withoutHandedOut(isQuiet ? withoutComments(week) : week));
      const random = randomFrom(company.seed, 'service twin');
      const twin = shaped.map((week, i) =>
        i === shaped.length - 1
          ? otherWeek(week, company)
          : { data: week.data, answers: twinOf(week, company.organization.classes, random) },
      );
      const read = async (weeks: OpenWeek[], distribution?: number) =>
        readCompany(await accountWith(company, weeks, distribution), isQuiet);
      const [own, other] = [await read(shaped), await read(twin)];
      measured.companies++;
      measured.pages += own.size;
      measured.margins += [...own.values()].filter((text) => /"margin":0\.\d/.test(text)).length;
      measured.differ += differing(own, other).length;
      expect([company.seed, differing(own, other)]).toEqual([company.seed, []]);
      // With a lower threshold for distributions the comparison finds differences, because the twin was not chosen for that
      // threshold.
      const low = company.history.thresholds.figures;
      if (differing(await read(shaped, low), await read(twin, low)).length > 0) measured.lowered++;
      if (measured.companies >= count) break;
    }
    process.stdout.write(`Added figures, the whole service: ${JSON.stringify(measured)}\n`);
    expect(measured.margins).toBeGreaterThan(count);
    expect(measured.lowered).toBeGreaterThan(0);
  });
});

describe('a manager of one team', () => {
  const teams = Array.from({ length: 26 }, (_, i) => i);
  const divisionOf = (team: number) => `division-${Math.floor(team / 9)}`;
  // Each team has enough answers for distributions, so that exchanging them leaves the variance of the account as it is.
  const people = teams.flatMap((team) =>
    Array.from({ length: 16 }, (_, i) => ({ id: `p${team}-${i}`, team })),
  );

  /** Creates a company in which two teams have exchanged all their answers and comments. */
  async function companyWith([one, other]: [number, number]) {
    const account = await accountWithSameIds();
    await apply(account, {
      groups: [
        unit('company'),
        ...[0, 1, 2].map((i) => unit(`division-${i}`, { parent: 'company' })),
        ...teams.map((team) => unit(`team-${team}`, { parent: divisionOf(team) })),
      ],
    });
    const source = (team: number) => (team === one ? other : team === other ? one : team);
    const keys = ['a', 'b', 'c'];
    const weeks = [5, 4, 3, 2, 1].map((ago) => addWeeks(thisWeek, -ago));
    await importLines(
      world,
      account.id,
      [
        ...keys.map((key) => question(key, 1)),
        kpi('mood', ['a', 'b']),
        kpi('work', ['c']),
        ...weeks.flatMap((week, w) => [
          round(
            weekName(week),
            'company',
            keys,
            Object.fromEntries(people.map((p) => [p.id, [`team-${p.team}`]])),
          ),
          ...people.flatMap(({ id, team }) =>
            keys.flatMap((key) => {
              const from = source(team);
              const author = id.replace(/^p\d+/, `p${from}`);
              const random = randomFrom(w, `${key}${author}`);
              const level = 3 + randomFrom(from, 'level').around0(0.8) + (from === 8 && w === 4 ? -1.5 : 0);
              const value = Math.max(1, Math.min(5, Math.round(level + random.around0(1))));
              const about = from === 8 ? 'parking' : `topic${from % 5}`;
              // Comments with the same words count once, so each has numbers of its own.
              const text = `${random.oneOf(['meeting', 'canteen', 'shifts'])} ${about} ${w} ${author.slice(1)}`;
              if (random.chance(0.05)) return [];
              return [answerLine(weekName(week), 'company', id, key, value, key === 'c' ? text : undefined)];
            }),
          ),
        ]),
      ],
      now,
    );
    return account;
  }

  async function readAs(account: TestAccount, team: string | undefined) {
    const ids = new Map((await account.groups()).map(({ id, externalId }) => [externalId as string, id]));
    const { request, userId } = await signInNew(
      world,
      account.id,
      team === undefined ? 'Administrator' : 'Manager',
    );
    if (team === undefined) return readAll(request, [ids.get('team-8')!, ids.get('division-0')!], false);
    await world.pool`
      insert into memberships (account_id, user_id, kind, group_id)
      values (${account.id}, ${userId}, 'adminOf', ${ids.get(team)!})`;
    const refused = await request(`GET /results/groups/${ids.get('team-1')!}/report`);
    expect(refused.status).toBe(404);
    return readAll(request, [ids.get(team)!], false);
  }

  const allow = (account: TestAccount, kindsAllowed: string[]) => world.pool`
    update accounts set manager_comparisons = ${kindsAllowed}, version = version + 1 where account_id = ${account.id}`;

  test(
    'sees the same when other teams of the division exchange their answers, and administrators see the difference',
    timeouts,
    async () => {
      const [own, exchanged] = [await companyWith([0, 0]), await companyWith([1, 2])];
      const pages = await readAs(own, 'team-8');
      expect(differing(pages, await readAs(exchanged, 'team-8'))).toEqual([]);
      const texts = [...pages.values()].join('');
      expect([
        /"bestEstimate":\{/.test(texts),
        /"word":"parking"/.test(texts),
        /"margin":0\.\d/.test(texts),
      ]).toEqual([true, true, true]);
      const all = differing(await readAs(own, undefined), await readAs(exchanged, undefined));
      expect(all.filter((path) => /drivers|heat-map/.test(path)).length).toBeGreaterThan(4);
    },
  );

  test(
    'sees the same when teams of two divisions exchange their answers, unless comparing with the division is allowed',
    timeouts,
    async () => {
      const [own, exchanged] = [await companyWith([0, 0]), await companyWith([1, 20])];
      const read = async (kindsAllowed: string[]) => {
        await allow(own, kindsAllowed);
        await allow(exchanged, kindsAllowed);
        return differing(await readAs(own, 'team-8'), await readAs(exchanged, 'team-8'));
      };
      expect(await read(['company', 'halfYear'])).toEqual([]);
      expect(await read(['halfYear'])).toEqual([]);
      expect((await read(['company', 'parent', 'halfYear'])).length).toBeGreaterThan(2);
    },
  );

  test('needs the `data` scope for figures: other tokens are refused', async () => {
    const account = await world.account();
    const authorization = await account.tokenOf('organization', 'files');
    for (const path of ['/v1/feed', '/v1/results'])
      expect((await world.request('GET', path, { headers: { authorization } })).status).toBe(403);
  });
});
