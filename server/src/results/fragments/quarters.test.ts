// Responses from the packs of quarters are the same as those from rows, and none is read that is not complete.
import { addWeeks, type Week } from '@soundings/contract/weeks.ts';
import { beforeAll, describe, expect, test } from 'vitest';
import { lockAccount } from '../../accounts/accounts.ts';
import { inTransaction } from '../../db/db.ts';
import { randomFrom } from '../../simulation/random.ts';
import { apply } from '../../testing/organizations.ts';
import { later } from '../../testing/surveys.ts';
import { type Company, openCompany, tree, useService, world } from '../data/data.fixture.ts';
import { areFragmentsDue, buildAllFragments, buildFragments } from './build-fragments.ts';
import { type DataRequest, importWeek, responseFrom, responseFromRows, weekAt } from './fragments.fixture.ts';
import { deletePacksOf, selectPackState } from './packs.sql.ts';
import { blockOfGroup } from './packs.ts';
import { replaceQuarter, selectDueQuarters, selectPacksOfWeeks } from './quarters.sql.ts';

useService();

let company: Company;
/** Two whole quarters, after one with only its last two weeks. Two weeks of the first whole one are missing. */
const quarters = ['2026-02-02', '2026-05-04', '2026-08-03'];
const missing = ['2026-05-11', '2026-06-15'];

beforeAll(async () => {
  company = await openCompany();
  const weeks = Array.from({ length: 28 }, (_, i) => weekAt(i + 1)).filter((one) => !missing.includes(one));
  for (const [i, week] of weeks.entries()) await importWeek(company, randomFrom(i, 'quarters'), week);
  await buildFragments(world.pool, company.account.id);
  // Otherwise responses about many weeks would come from fragments where packs can't be used.
  await world.pool`delete from fragment_weeks where account_id = ${company.account.id}`;
});

const endpoints = ['results', 'kpi values', 'rates', 'asked'] as const;

function requestOf(endpoint: (typeof endpoints)[number], first: Week, last: Week): DataRequest {
  const query = {
    groupId: String(company.group['company']),
    withSubgroups: true,
    kind: undefined,
    window: { first, last },
    now: later,
  };
  const rest = { questionIds: undefined, comments: false, granular: false, language: undefined };
  return { endpoint, kpiId: 'energy', query, numbers: 'plain', ...rest };
}

/** Compares all responses with those from rows. `fromPacks`: whether they come from packs, which are the only ones then. */
async function compare(first: Week, last: Week, fromPacks: boolean): Promise<void> {
  for (const endpoint of endpoints) {
    const request = requestOf(endpoint, first, last);
    const errors: Error[] = [];
    const account = {
      ...(await accountOf()),
      onDamage: (_: number, error: Error) => void errors.push(error),
    };
    const { text, isFromFragments } = await responseFrom(world.pool, account, request);
    expect([endpoint, first, last, isFromFragments, errors]).toEqual([endpoint, first, last, fromPacks, []]);
    expect(text).toBe(await responseFromRows(world.pool, account, request));
  }
}

async function accountOf() {
  const accountId = company.account.id;
  const [row] = await world.pool<{ version: string }[]>`
    select version from accounts where account_id = ${accountId}`;
  return { accountId, version: row!.version };
}

type Quarter = { week: Week; weeks: string };

/** Returns the quarters that are complete. */
const complete = () => world.pool<Quarter[]>`
  select distinct week, pack as weeks from packs where account_id = ${company.account.id} and kind = 10 order by week`;

/** Runs `work` and undoes what it has changed in packs. */
async function undone(work: () => Promise<unknown>): Promise<void> {
  await work();
  await world.pool`delete from packs where account_id = ${company.account.id}`;
  await world.pool`delete from pack_weeks where account_id = ${company.account.id}`;
  await buildFragments(world.pool, company.account.id);
  await world.pool`delete from fragment_weeks where account_id = ${company.account.id}`;
}

describe('the packs of a quarter', () => {
  test('are created when it has ended, with its weeks', async () => {
    const { id } = company.account;
    const found = await complete();
    expect(found.map(({ week }) => week)).toEqual(quarters);
    const weeks = found.map((one) => one.weeks.split(','));
    expect(weeks.map(({ length }) => length)).toEqual([2, 11, 13]);
    expect(weeks[1]).not.toContain(missing[0]);
    const kinds = await world.pool`
      select distinct kind from packs where account_id = ${id} and kind > 10 order by kind`;
    expect(kinds.map(({ kind }) => kind)).toEqual([11, 12, 13, 14]);
    expect(await selectDueQuarters(world.pool, id)).toEqual([]);
  });

  test('are read if the window has the whole quarter, and give the same response', async () => {
    for (const first of ['2026-01-26', '2026-05-04', '2026-05-11', '2026-08-03'])
      for (const last of ['2026-07-20', '2026-07-27', '2026-10-26', '2026-11-09'])
        if (first < last) await compare(first, last, true);
    await undone(async () => {
      // Nothing does this. It shows what is read.
      await world.pool`
        delete from packs where account_id = ${company.account.id} and kind < 10 and week between '2026-05-04' and '2026-10-26'`;
      await compare('2026-05-04', '2026-10-26', true);
      await compare('2026-04-27', '2026-11-09', true);
      const shorter = requestOf('rates', '2026-05-04', '2026-10-19');
      const { text } = await responseFrom(world.pool, await accountOf(), shorter);
      expect(text).not.toContain('202633');
    });
  });

  test('are not read before they have a week that was imported later', async () => {
    await importWeek(company, randomFrom(99, 'quarters'), missing[0]!);
    await compare('2026-05-04', '2026-10-26', false);
    await undone(async () => {
      await buildFragments(world.pool, company.account.id);
      await world.pool`delete from fragment_weeks where account_id = ${company.account.id}`;
      expect((await complete())[1]!.weeks.split(',')).toContain(missing[0]);
      await compare('2026-05-04', '2026-10-26', true);
      // As if building had ended before it joined the quarter again.
      await world.pool`
        update packs set pack = replace(pack, ${`${missing[0]},`}, '') where account_id = ${company.account.id} and kind = 10`;
      await world.pool`delete from packs where account_id = ${company.account.id} and kind > 10 and week = '2026-05-04'`;
      await compare('2026-05-04', '2026-10-26', true);
    });
  });

  test('are created for packs of an older version, and for those that are not complete', async () => {
    const { id } = company.account;
    await buildAllFragments(world.pool);
    expect(await areFragmentsDue(world.pool)).toBe(false);
    await world.pool`delete from packs where account_id = ${id} and kind >= 10 and week = '2026-08-03'`;
    await world.pool`delete from fragment_weeks where account_id = ${id}`;
    await compare('2026-05-04', '2026-10-26', true);
    expect((await selectDueQuarters(world.pool, id)).length).toBeGreaterThan(0);
    expect(await areFragmentsDue(world.pool)).toBe(true);
    await buildAllFragments(world.pool);
    expect((await complete()).length).toBe(3);
    await world.pool`delete from fragment_weeks where account_id = ${id}`;
  });

  test('are never sent if they are damaged', async () => {
    const { id } = company.account;
    for (const kind of [11, 12, 13, 14]) {
      await world.pool`
        update packs set pack = overlay(pack placing 'AAAA' from length(pack) / 2)
        where account_id = ${id} and kind = ${kind} and week = '2026-08-03' and kpi_id in ('', 'energy')`;
      const errors: Error[] = [];
      const account = {
        ...(await accountOf()),
        onDamage: (_: number, error: Error) => void errors.push(error),
      };
      const request = requestOf(endpoints[[11, 12, 13, 14].indexOf(kind)]!, '2026-05-04', '2026-11-09');
      const { text } = await responseFrom(world.pool, account, request);
      expect([kind, errors.length]).toEqual([kind, 1]);
      expect(text).toBe(await responseFromRows(world.pool, account, request));
    }
    await undone(async () => {});
  });

  test('are not written if packs of the block were deleted since they were read', async () => {
    const { account, group } = company;
    await world.pool`delete from packs where account_id = ${account.id} and kind >= 10`;
    const due = await selectDueQuarters(world.pool, account.id);
    const one = due.find(({ block }) => block === blockOfGroup(group['tech']!))!;
    const packs = await selectPacksOfWeeks(world.pool, account.id, one);
    const write = () =>
      inTransaction(world.pool, async (tx) => {
        await lockAccount(tx, account.id);
        await replaceQuarter(tx, account.id, one, packs);
      });
    await inTransaction(world.pool, async (tx) => {
      await lockAccount(tx, account.id);
      await deletePacksOf(tx, account.id, [group['tech']!]);
    });
    await write();
    expect(await complete()).toEqual([]);
    await buildFragments(world.pool, account.id);
    await world.pool`delete from packs where account_id = ${account.id} and kind >= 10`;
    await write();
    expect(await complete()).toEqual([]);
    await buildFragments(world.pool, account.id);
    expect((await selectPackState(world.pool, account.id)).blocks).toEqual([]);
    expect((await complete()).length).toBe(3);
    await world.pool`delete from fragment_weeks where account_id = ${account.id}`;
  });

  test('that can’t be looked for do not keep fragments from being built', async () => {
    const { id } = company.account;
    await world.pool`alter table packs rename to packs_elsewhere`;
    try {
      expect(await areFragmentsDue(world.pool)).toBe(true);
      await expect(buildAllFragments(world.pool)).rejects.toThrow('relation "packs" does not exist');
      const built = await world.pool`select 1 from fragment_weeks where account_id = ${id}`;
      const closed = await world.pool`select 1 from weeks where account_id = ${id} and closed_at is not null`;
      expect(built.length).toBe(closed.length);
    } finally {
      await world.pool`alter table packs_elsewhere rename to packs`;
      await world.pool`delete from fragment_weeks where account_id = ${id}`;
    }
  });

  test('disappear with a removed group, and are created again without it', async () => {
    const { account, group } = company;
    await apply(account, { groups: tree.filter(({ externalId }) => externalId !== 'south') });
    const left = await world.pool`
      select 1 from packs where account_id = ${account.id} and block = ${blockOfGroup(group['south']!)}`;
    expect(left.length).toBe(0);
    await compare('2026-05-04', '2026-10-26', false);
    await buildFragments(world.pool, account.id);
    await world.pool`delete from fragment_weeks where account_id = ${account.id}`;
    await compare('2026-05-04', '2026-10-26', true);
    await compare(addWeeks('2026-05-04', -1), '2026-11-09', true);
    expect((await complete()).length).toBe(3);
  });
});
