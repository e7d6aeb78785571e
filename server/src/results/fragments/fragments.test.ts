// Responses from fragments are the same as those from rows, whatever happens before: weeks in any order, deleted groups, changed texts, processes
// that are killed while they build, and damage.
import type { Week } from '@soundings/contract/weeks.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { inTransaction, openPool } from '../../db/db.ts';
import { lockAccount } from '../../accounts/accounts.ts';
import { raiseVersion } from '../../accounts/accounts.sql.ts';
import { changeQuestion } from '../../questions/questions.ts';
import { selectQuestions } from '../../questions/questions.sql.ts';
import { type Random, randomFrom } from '../../simulation/random.ts';
import { caseCount } from '../../testing/house/cases.ts';
import { apply } from '../../testing/organizations.ts';
import { importLines, later, round } from '../../testing/surveys.ts';
import { type Company, openCompany, peopleOf, range, tree, useService, world } from '../data/data.fixture.ts';
import { writeSegments } from '../data/segments.fixture.ts';
import { deleteGroupResults } from '../published-figures.ts';
import { areFragmentsDue, buildAllFragments, buildFragments, forgetFragments } from './build-fragments.ts';
import {
  anyRequest,
  type Choices,
  type DataRequest,
  importWeek,
  responseFrom,
  responseFromRows,
  weekAt,
} from './fragments.fixture.ts';
import { fragmentKinds, selectFrames } from './fragments.sql.ts';
import { DamagedFrames } from './frames.ts';
import { preferFragments } from './read-fragments.ts';
import { keepOpen } from '../../testing/keep-open.ts';
import { until } from '../../testing/until.ts';

useService();

async function versionOf(accountId: number): Promise<string> {
  const [row] = await world.pool<
    { version: string }[]
  >`select version from accounts where account_id = ${accountId}`;
  return row!.version;
}

async function accountOf({ account: { id } }: Company) {
  return { accountId: id, version: await versionOf(id) };
}

async function choicesOf({ account, question }: Company): Promise<Choices> {
  const groups = await world.pool<
    { id: number }[]
  >`select group_id as id from groups where account_id = ${account.id}`;
  const segments = await world.pool<
    { id: number }[]
  >`select segment_id as id from segments where account_id = ${account.id}`;
  const weeks = await world.pool<{ week: Week }[]>`select week from weeks where account_id = ${account.id}`;
  return {
    groupIds: groups.map(({ id }) => id),
    segmentIds: segments.map(({ id }) => id),
    kpiIds: ['energy', 'advice', 'never'],
    questionIds: Object.values(question),
    weeks: weeks.map(({ week }) => week),
    now: later,
  };
}

/** Compares some responses with those from rows. Returns how many came from fragments. */
async function compareSome(company: Company, random: Random, count: number): Promise<number> {
  const [account, choices] = [await accountOf(company), await choicesOf(company)];
  let fromFragments = 0;
  for (let i = 0; i < count; i++) {
    const request = anyRequest(random, choices);
    const { text, isFromFragments } = await responseFrom(world.pool, account, request);
    expect({ request, text }).toEqual({
      request,
      text: await responseFromRows(world.pool, account, request),
    });
    fromFragments += Number(isFromFragments);
  }
  return fromFragments;
}

const removable = new Set(['south', 'apart', 'tech']);

/** What can happen to an account. */
const steps: Record<string, (company: Company, random: Random) => Promise<unknown>> = {
  'a week is imported': (company, random) => importFreeWeek(company, random, 0),
  'an older week is imported': (company, random) => importFreeWeek(company, random, 60),
  'fragments are built': ({ account }) => buildFragments(world.pool, account.id),
  'building is killed': ({ account }, random) => buildKilled(account.id, random),
  'two processes build': ({ account }) =>
    Promise.all([buildFragments(world.pool, account.id), buildFragments(world.pool, account.id)]),
  'a group is removed': ({ account }, random) => {
    const gone = random.oneOf([...removable]);
    return apply(account, { groups: tree.filter(({ externalId }) => externalId !== gone) });
  },
  'a text is changed': async ({ account, question }, random) => {
    const all = await selectQuestions(world.pool, account.id);
    const {
      text,
      translations,
      options: own,
      allowsNotApplicable,
    } = all.find(({ id }) => id === question['lunch'])!;
    const renamed = own.map((one) => ({ ...one, text: `${one.id} ${random.next()} "å"` }));
    const changes = { text, translations, options: renamed, allowsNotApplicable };
    await inTransaction(world.pool, (tx) => changeQuestion(tx, account.id, question['lunch']!, changes));
  },
};

async function importFreeWeek(company: Company, random: Random, from: number): Promise<void> {
  const weeks = new Set((await choicesOf(company)).weeks);
  const free = Array.from({ length: 120 }, (_, i) => weekAt(from + i)).filter((week) => !weeks.has(week));
  const week = random.oneOf(free.slice(0, 6));
  await importWeek(company, random, week);
}

/** Builds fragments with connections that are ended after a random time. */
async function buildKilled(accountId: number, random: Random): Promise<void> {
  const pool = openPool(world.databaseUrl, 2);
  const ids = await Promise.all(
    Array.from(
      { length: 2 },
      () => pool<{ id: number }[]>`select pg_backend_pid() as id from pg_sleep(0.01)`,
    ),
  );
  const building = buildFragments(pool, accountId).catch(() => {});
  for (let i = Math.floor(random.next() * 60); i > 0; i--) await world.pool`select 1`;
  await world.pool`select pg_terminate_backend(id) from unnest(${ids.map(([row]) => row!.id)}::integer[]) as id`;
  await building;
  await pool.end({ timeout: 1 });
}

describe('responses from fragments', () => {
  test('are those from rows, whatever has happened before', async () => {
    let fromFragments = 0;
    for (let seed = 0; seed < caseCount('FRAGMENT_HISTORIES', 8); seed++) {
      const random = randomFrom(seed, 'fragments');
      const company = await openCompany();
      await importWeek(company, random, weekAt(2));
      for (let step = 0; step < 14; step++) {
        await steps[random.oneOf(Object.keys(steps))]!(company, random);
        await compareSome(company, random, 4);
      }
      await buildFragments(world.pool, company.account.id);
      fromFragments += await compareSome(company, random, 20);
    }
    expect(fromFragments).toBeGreaterThan(4);
  });

  test('come from packs or from the fragments of each group, if there are no packs', async () => {
    const company = await openCompany();
    for (const week of [1, 2, 3]) await importWeek(company, randomFrom(week, 'both'), weekAt(week));
    await buildFragments(world.pool, company.account.id);
    await world.pool`delete from fragment_weeks where account_id = ${company.account.id}`;
    expect(await compareSome(company, randomFrom(1, 'packs'), 40)).toBeGreaterThan(4);
    await buildFragments(world.pool, company.account.id);
    await withoutPacks(company.account.id);
    expect(await compareSome(company, randomFrom(2, 'packs'), 40)).toBeGreaterThan(4);
  });

  test('contain segments, and only those that were requested', async () => {
    const company = await openCompany();
    const { account, question } = company;
    const week = '2026-11-02';
    const figures = (answers: number) => ({
      results: [{ questionId: question['mood']!, week, value: 0.5, answers, distribution: { 1: 2, 5: 3 } }],
      rates: [{ week, value: 0.25 }],
      kpis: [{ kpiId: 'energy', week, value: 0.125 }],
    });
    const site = { name: 'Site', attribute: 'site' };
    const { ids } = await writeSegments(world.pool, account.id, site, {
      Lund: figures(11),
      Umeå: figures(12),
    });
    await buildFragments(world.pool, account.id);
    const { text, isFromFragments } = await read(company, {
      query: queryOf(ids['Lund']!, { kind: 'segment' }),
    });
    expect([isFromFragments, text.includes('"answers":11'), text.includes('"answers":12')]).toEqual([
      true,
      true,
      false,
    ]);
    await compareSome(company, randomFrom(1, 'segments'), 20);
  });

  test('do not contain the groups next to the requested ones', async () => {
    const company = await openCompany();
    const { account, group } = company;
    await buildFragments(world.pool, account.id);
    for (const endpoint of ['kpi values', 'rates', 'results', 'asked'] as const) {
      const { text, isFromFragments } = await read(company, { endpoint, query: queryOf(group['sales']!) });
      const shown = Object.values(group).filter((id) => new RegExp(`[":]${id}[",]`).test(text));
      const wanted = ['sales', 'north', 'south'].map((name) => group[name]!);
      expect([endpoint, isFromFragments, shown.toSorted()]).toEqual([endpoint, true, wanted.toSorted()]);
    }
  });

  test('end when the reader stops, and the connection serves others', async () => {
    const company = await openCompany();
    await buildFragments(world.pool, company.account.id);
    const pool = openPool(world.databaseUrl, 1);
    onTestFinished(() => pool.end());
    const account = await accountOf(company);
    for (let i = 0; i < 20; i++) {
      const scope = { groupId: company.group['company'], withSubgroups: true };
      const blocks = selectFrames(pool, account.accountId, scope, { kind: fragmentKinds.results }, whole);
      for await (const _ of blocks) break;
      expect(await pool`select 1 as one`).toEqual([{ one: 1 }]);
    }
    const request = requestOf(company, {});
    expect((await responseFrom(pool, account, request)).isFromFragments).toBe(true);
  });
});

describe('a damaged fragment', () => {
  /** Damages one fragment at a random place. */
  const damage: Record<string, (random: Random, frame: string) => string> = {
    'with a changed character': (random, frame) => {
      const at = Math.floor(random.next() * frame.length);
      return `${frame.slice(0, at)}${frame[at] === '7' ? '8' : '7'}${frame.slice(at + 1)}`;
    },
    'that is cut off': (random, frame) => frame.slice(0, 1 + Math.floor(random.next() * (frame.length - 1))),
    'that is longer': (random, frame) => frame + frame.slice(Math.floor(random.next() * frame.length) - 1),
    'that is there twice': (_random, frame) => frame + frame,
  };

  test.each(Object.keys(damage))(
    '%s is never sent: the response comes from rows, and it is built again',
    async (how) => {
      const company = await openCompany();
      const { account } = company;
      for (let seed = 0; seed < caseCount('DAMAGED_FRAGMENTS', 24); seed++) {
        const random = randomFrom(seed, how);
        await buildFragments(world.pool, account.id);
        await withoutPacks(account.id);
        const rows = await world.pool<{ ctid: string; kind: number; frame: string }[]>`
        select ctid::text as "ctid", kind, frame from fragments where account_id = ${account.id} order by 1`;
        const { ctid, kind, frame } = random.oneOf(rows);
        await world.pool`
        update fragments set frame = ${damage[how]!(random, frame)} where account_id = ${account.id} and ctid = ${ctid}::tid`;
        const endpoint = (['results', 'kpi values', 'rates', 'asked'] as const)[kind - 1]!;
        const errors: Error[] = [];
        const onDamage = (_: number, error: Error) => void errors.push(error);
        for (const kpiId of kind === 2 ? ['energy', 'advice'] : ['energy']) {
          const request = requestOf(company, { endpoint, kpiId });
          const own = { ...(await accountOf(company)), onDamage };
          const { text } = await responseFrom(world.pool, own, request);
          expect(text).toBe(await responseFromRows(world.pool, own, request));
        }
        expect([how, seed, errors.length]).toEqual([how, seed, 1]);
        await forgetFragments(world.pool, account.id);
      }
    },
  );

  test('is noticed while weeks are added to it', async () => {
    const company = await openCompany();
    const { account, question } = company;
    await buildFragments(world.pool, account.id);
    await world.pool`
      update fragments set frame = replace(frame, '"answers":1', '"answers":2')
      where  account_id = ${account.id} and question_id = ${question['mood']!}`;
    await importLines(world, account.id, [round('2026-W40', 'company', ['mood'], peopleOf(['north']))]);
    await expect(buildFragments(world.pool, account.id)).rejects.toThrow(/checksum/);
    await buildFragments(world.pool, account.id);
    await compareSome(company, randomFrom(2, 'damage'), 10);
  });

  test('of another account, question or group is refused', async () => {
    const [company, other] = [await openCompany(), await openCompany()];
    await buildAllFragments(world.pool);
    const id = company.account.id;
    const moves: [string, string][] = [
      [
        'another account',
        `f.account_id = ${other.account.id} and f.group_id = ${other.group['company']} and f.question_id = ${other.question['mood']}`,
      ],
      [
        'another question',
        `f.account_id = ${id} and f.group_id = ${company.group['company']} and f.question_id = ${company.question['tens']}`,
      ],
    ];
    for (const [what, from] of moves) {
      await buildFragments(world.pool, id);
      await withoutPacks(id);
      await world.pool.unsafe(`
        update fragments t set frame = f.frame from fragments f
        where  f.kind = 1 and ${from}
          and  t.account_id = ${id} and t.kind = 1 and t.question_id = ${company.question['mood']} and t.group_id = ${company.group['company']}`);
      const errors: Error[] = [];
      const account = {
        ...(await accountOf(company)),
        onDamage: (_: number, error: Error) => void errors.push(error),
      };
      const request = requestOf(company, {});
      const { text } = await responseFrom(world.pool, account, request);
      expect([what, text]).toEqual([what, await responseFromRows(world.pool, account, request)]);
      expect([what, errors.length]).toEqual([what, 1]);
      await forgetFragments(world.pool, id);
    }
  });

  test('in the middle of a response: the rest comes from rows, unless the account has changed', async () => {
    const company = await openCompany();
    const account = await accountOf(company);
    const damaged = async function* () {
      yield Buffer.from('Zwölf');
      throw new DamagedFrames('damaged');
    };
    const rows = async function* () {
      yield 'Zw';
      yield 'ölf Bo';
      yield 'xkämpfer';
    };
    const how = { stored: [damaged], rows };
    const textOf = async (version: string) => {
      const parts: Buffer[] = [];
      const reader = { accountId: account.accountId, version, onDamage: () => {} };
      for await (const chunk of preferFragments(world.pool, reader, how))
        parts.push(Buffer.from(chunk as string));
      return Buffer.concat(parts).toString();
    };
    expect(await textOf(account.version)).toBe('Zwölf Boxkämpfer');
    await expect(textOf('1')).rejects.toThrow(DamagedFrames);
  });

  test('is deleted by the service after the response, and built again', async () => {
    const company = await openCompany();
    const { account, group } = company;
    await buildFragments(world.pool, account.id);
    await world.pool`update fragments set frame = frame || 'x' where account_id = ${account.id}`;
    await withoutPacks(account.id);
    const path = `/v1/results?groupId=${group['company']}&includeSubgroups=true${range('2026-01-05', '2026-11-22')}`;
    const { status } = await world.request('GET', path, { headers: { authorization: account.token } });
    expect(status).toBe(200);
    await until(async () => (await fragmentsOf(account.id)).weeks === 0);
    await buildFragments(world.pool, account.id);
    expect((await read(company, {})).isFromFragments).toBe(true);
  });
});

describe('fragments', () => {
  test('of a removed group or segment are deleted with it', async () => {
    const company = await openCompany();
    const { account, group } = company;
    await buildFragments(world.pool, account.id);
    expect((await fragmentsOf(account.id)).groups).toContain(group['north']);
    await apply(account, { groups: tree.filter(({ externalId }) => externalId !== 'north') });
    expect((await fragmentsOf(account.id)).groups).not.toContain(group['north']);
  });

  test('are not written for a group that is removed while they are built', async () => {
    const company = await openCompany();
    const { account, group } = company;
    const pool = openPool(world.databaseUrl, 2);
    onTestFinished(() => pool.end());
    // The builder has read the figures, and waits for the lock.
    let building: Promise<void> | undefined;
    await inTransaction(world.pool, async (tx) => {
      await lockAccount(tx, account.id);
      building = buildFragments(pool, account.id);
      await until(async () => {
        const [row] = await world.pool<{ count: number }[]>`
          select count(*)::integer as count from pg_locks where not granted and locktype in ('transactionid', 'tuple')`;
        return row!.count > 0;
      });
      await tx`update groups set parent_id = null where account_id = ${account.id} and parent_id = ${group['tech']!}`;
      await deleteGroupResults(tx, account.id, [group['tech']!]);
      await tx`delete from memberships where account_id = ${account.id} and group_id = ${group['tech']!}`;
      await tx`delete from groups where account_id = ${account.id} and group_id = ${group['tech']!}`;
      await raiseVersion(tx, account.id);
    });
    await building;
    expect((await fragmentsOf(account.id)).groups).not.toContain(group['tech']);
    await compareSome(company, randomFrom(1, 'removed'), 10);
  });

  test('of an account that others keep locked are left for the next call, and that is not a failure', async () => {
    const [locked, free] = [(await openCompany()).account, (await openCompany()).account];
    const pool = openPool(world.databaseUrl, 2, { settings: { lock_timeout: '50ms' } });
    onTestFinished(() => pool.end());
    const release = await keepOpen(world.pool, (tx) => lockAccount(tx as never, locked.id));
    await buildAllFragments(pool);
    await release();
    const countOf = async ({ id }: { id: number }) => (await fragmentsOf(id)).groups.length;
    expect(await countOf(locked)).toBe(0);
    expect(await countOf(free)).toBeGreaterThan(0);
    await buildAllFragments(pool);
    expect(await countOf(locked)).toBe(await countOf(free));
  });

  test('of groups that an older version has removed meanwhile are deleted when the next week is added', async () => {
    const company = await openCompany();
    const { account } = company;
    await buildFragments(world.pool, account.id);
    const gone = 2_000_000_000;
    await world.pool`
      insert into fragments (account_id, kind, kpi_id, question_id, group_id, period, frame)
      select account_id, kind, kpi_id, question_id, ${gone}, period, frame from fragments where account_id = ${account.id}
      on conflict do nothing`;
    await importWeek(company, randomFrom(1, 'gone'), weekAt(3));
    await buildFragments(world.pool, account.id);
    expect((await fragmentsOf(account.id)).groups).not.toContain(gone);
  });

  test('serve single groups if they are requested for 13 weeks or more, and packs groups with their subgroups in any weeks', async () => {
    const company = await openCompany();
    const { account, group } = company;
    await buildFragments(world.pool, account.id);
    // Nothing does this. It shows where a response comes from.
    await world.pool`update results set answers = 4711 where account_id = ${account.id} and answers is not null`;
    const isFromRows = async (first: Week, withSubgroups: boolean) => {
      const query = queryOf(group['company']!, { withSubgroups, window: { first, last: '2026-11-16' } });
      return (await read(company, { query })).text.includes('4711');
    };
    for (const withSubgroups of [false, true])
      expect([
        await isFromRows('2026-08-24', withSubgroups),
        await isFromRows('2026-08-31', withSubgroups),
      ]).toEqual([false, !withSubgroups]);
  });

  test('of closed weeks only are written, and the open week is added to asked questions', async () => {
    const company = await openCompany();
    const { account, group } = company;
    await buildAllFragments(world.pool);
    const { text, isFromFragments } = await read(company, {
      endpoint: 'asked',
      query: queryOf(group['company']!),
    });
    expect(isFromFragments).toBe(true);
    expect(Object.keys(Object(JSON.parse(text)[0].askedquestions[0][group['north']!]))).toEqual([
      '2645',
      '2646',
      '2647',
    ]);
    expect(await areFragmentsDue(world.pool)).toBe(false);
    const weeks =
      await world.pool`select week from fragment_weeks where account_id = ${account.id} order by week`;
    expect(weeks).toEqual([{ week: '2026-11-02' }, { week: '2026-11-09' }]);
  });

  test('are not used while an open week shows figures', async () => {
    const company = await openCompany();
    const { account } = company;
    await buildFragments(world.pool, account.id);
    await world.pool`update weeks set shown_at = now() where account_id = ${account.id} and closed_at is null`;
    expect((await read(company, {})).isFromFragments).toBe(false);
    expect((await read(company, { endpoint: 'asked' })).isFromFragments).toBe(true);
    const until46 = {
      ...queryOf(company.group['company']!),
      window: { ...whole, last: '2026-11-09' },
    };
    expect((await read(company, { query: until46 })).isFromFragments).toBe(true);
  });

  test('do not raise the version of the account', async () => {
    const company = await openCompany();
    const before = await versionOf(company.account.id);
    await buildFragments(world.pool, company.account.id);
    expect(await versionOf(company.account.id)).toBe(before);
  });
});

/** Makes the account read many groups from fragments. */
const withoutPacks = (accountId: number) =>
  world.pool`delete from pack_weeks where account_id = ${accountId}`;

const whole = { first: '2026-01-05', last: '2026-11-16' };
const queryOf = (groupId: number, more: object = {}) => ({
  groupId: String(groupId),
  withSubgroups: true,
  kind: undefined,
  window: whole,
  now: later,
  ...more,
});

/** Returns a request of all groups and weeks, unless `more` says otherwise. */
const requestOf = ({ group }: Company, more: Partial<DataRequest>): DataRequest => ({
  endpoint: 'results',
  kpiId: 'energy',
  query: queryOf(group['company']!),
  numbers: 'plain',
  questionIds: undefined,
  comments: false,
  granular: false,
  language: undefined,
  ...more,
});

async function read(company: Company, more: Partial<DataRequest>) {
  return responseFrom(world.pool, await accountOf(company), requestOf(company, more));
}

async function fragmentsOf(accountId: number): Promise<{ groups: number[]; weeks: number }> {
  const rows = await world.pool<{ id: number }[]>`
    select distinct group_id as id from fragments where account_id = ${accountId}`;
  const weeks = await world.pool`select from fragment_weeks where account_id = ${accountId}`;
  return { groups: rows.map(({ id }) => id), weeks: weeks.length };
}
