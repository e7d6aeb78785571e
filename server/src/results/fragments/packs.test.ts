// Packs give back what was written into them and nothing else, and those of deleted groups disappear with them.
import { describe, expect, onTestFinished, test } from 'vitest';
import { lockAccount } from '../../accounts/accounts.ts';
import { inTransaction, openPool } from '../../db/db.ts';
import { type Random, randomFrom } from '../../simulation/random.ts';
import { caseCount } from '../../testing/house/cases.ts';
import { apply } from '../../testing/organizations.ts';
import { later } from '../../testing/surveys.ts';
import { type Company, openCompany, tree, useService, world } from '../data/data.fixture.ts';
import { buildFragments, forgetFragments } from './build-fragments.ts';
import { buildPacks } from './build-packs.ts';
import { type DataRequest, responseFrom, responseFromRows } from './fragments.fixture.ts';
import { fragmentKinds } from './fragments.sql.ts';
import { DamagedFrames } from './frames.ts';
import {
  deleteLeftPacks,
  deletePacksOf,
  insertPackWeeks,
  selectPacks,
  selectPackState,
} from './packs.sql.ts';
import { blockOfGroup, checkedPack, openPacks, type PackEntry, packOf, placeInBlock } from './packs.ts';

useService();

const owner = { accountId: 7, kind: 1, kpiId: '', questionId: 12, block: 3, week: '2026-11-02' };

function anyEntries(random: Random): PackEntry[] {
  const ids = Array.from({ length: 256 }, (_, i) => 3 * 256 + i).filter(() => random.chance(0.3));
  return (ids.length > 0 ? ids : [3 * 256]).map((groupId) => {
    const text = `"2645":{"${random.oneOf(['a', 'ö', '😀', ',', '\\"'])}":${'7'.repeat(random.next() * 300)}}`;
    return { groupId, text, at: random.chance(0.3) ? Buffer.byteLength(text) - 1 : undefined };
  });
}

describe('a pack', () => {
  test('has exactly what was written, also when it is decompressed together with others', async () => {
    const random = randomFrom(1, 'packs');
    for (let i = 0; i < caseCount('PACKS', 40); i++) {
      const all = [1, 2, 3].map(() => anyEntries(random));
      const opened = await openPacks(all.map((one) => checkedPack(Buffer.from(packOf(owner, one)), owner)));
      expect(opened.map((pack) => pack.entries())).toEqual(all);
      const [again] = await openPacks([checkedPack(Buffer.from(packOf(owner, all[0]!)), owner)]);
      const wanted = new Set(all[0]!.map(({ groupId }) => placeInBlock(groupId)));
      for (let place = 0; place < 256; place++) expect(again!.find(place)).toBe(wanted.has(place));
    }
  });

  test('that was changed anywhere, or moved, is refused', () => {
    const random = randomFrom(2, 'packs');
    for (let i = 0; i < caseCount('PACKS', 200); i++) {
      const text = packOf(owner, anyEntries(random));
      const bytes = Buffer.from(text);
      // Not the checksum itself: it would be the same with capital letters.
      const at = 8 + Math.floor(random.next() * (bytes.length - 8));
      bytes[at] = (bytes[at] as number) ^ (1 << Math.floor(random.next() * 8));
      expect(() => checkedPack(bytes, owner)).toThrow(DamagedFrames);
      for (const other of [
        { accountId: 8 },
        { kind: 2 },
        { kpiId: 'x' },
        { questionId: 13 },
        { block: 4 },
        { week: '2026-11-09' },
      ])
        expect(() => checkedPack(Buffer.from(text), { ...owner, ...other })).toThrow(DamagedFrames);
    }
  });

  test('that is damaged is never sent: the response comes from rows, and everything is built again', async () => {
    const company = await openCompany();
    const { id } = company.account;
    for (let seed = 0; seed < caseCount('DAMAGED_PACKS', 12); seed++) {
      const random = randomFrom(seed, 'damaged packs');
      await buildFragments(world.pool, id);
      const rows = await world.pool<{ ctid: string; kind: number; pack: string }[]>`
        select ctid::text as "ctid", kind, pack from packs where account_id = ${id} and kpi_id in ('', 'energy') order by 1`;
      const { ctid, kind, pack } = random.oneOf(rows);
      const at = Math.floor(random.next() * pack.length);
      const damaged = random.oneOf([
        `${pack.slice(0, at)}${pack[at] === '7' ? '8' : '7'}${pack.slice(at + 1)}`,
        pack.slice(0, Math.max(1, at)),
        pack + pack,
      ]);
      await world.pool`update packs set pack = ${damaged} where account_id = ${id} and ctid = ${ctid}::tid`;
      const errors: Error[] = [];
      const account = {
        ...(await accountOf(company)),
        onDamage: (_: number, error: Error) => void errors.push(error),
      };
      const request = requestOf(company, (['results', 'kpi values', 'rates', 'asked'] as const)[kind - 1]!);
      const { text } = await responseFrom(world.pool, account, request);
      expect([seed, text]).toEqual([seed, await responseFromRows(world.pool, account, request)]);
      expect([seed, errors.length]).toEqual([seed, 1]);
      await forgetFragments(world.pool, id);
      expect(await packsOf(id)).toEqual([]);
    }
  });

  test('ends when the reader stops, and the connection serves others', async () => {
    const { account, group } = await openCompany();
    await buildFragments(world.pool, account.id);
    const pool = openPool(world.databaseUrl, 1);
    onTestFinished(() => pool.end());
    const scope = { groupId: group['company'], withSubgroups: true };
    for (let i = 0; i < 20; i++) {
      const packs = selectPacks(
        pool,
        account.id,
        { scope, window, most: 6 },
        { kind: fragmentKinds.results },
      );
      for await (const _ of packs) break;
      expect(await pool`select 1 as one`).toEqual([{ one: 1 }]);
    }
  });
});

describe('the packs of a block', () => {
  test('disappear with a removed group, and are built again without it', async () => {
    const company = await openCompany();
    const { account, group } = company;
    await buildFragments(world.pool, account.id);
    expect(await groupsIn(account.id)).toContain(group['north']);
    await apply(account, { groups: tree.filter(({ externalId }) => externalId !== 'north') });
    expect(await groupsIn(account.id)).toEqual([]);
    await compare(company, false);
    await buildFragments(world.pool, account.id);
    const left = await groupsIn(account.id);
    expect(left).toContain(group['company']);
    expect(left).not.toContain(group['north']);
    await compare(company, true);
  });

  test('are deleted and built again if an older version has removed a group', async () => {
    const company = await openCompany();
    const { account } = company;
    await buildFragments(world.pool, account.id);
    await world.pool`
      update pack_blocks set group_ids = group_ids || 2000000000 where account_id = ${account.id}`;
    await inTransaction(world.pool, (tx) => deleteLeftPacks(tx, account.id));
    expect(await packsOf(account.id)).toEqual([]);
    await buildFragments(world.pool, account.id);
    await compare(company, true);
  });

  test('are not complete if a group was removed while a week or a block was built', async () => {
    const company = await openCompany();
    const { account, group } = company;
    await buildFragments(world.pool, account.id);
    const { removals } = await selectPackState(world.pool, account.id);
    await world.pool`delete from pack_weeks where account_id = ${account.id}`;
    await inTransaction(world.pool, async (tx) => {
      await lockAccount(tx, account.id);
      await deletePacksOf(tx, account.id, [group['tech']!]);
      await insertPackWeeks(tx, account.id, ['2026-11-02', '2026-11-09'], removals);
    });
    expect((await selectPackState(world.pool, account.id)).complete).toEqual([]);
    await buildPacks(world.pool, account.id);
    expect(await selectPackState(world.pool, account.id)).toMatchObject({
      due: [],
      complete: ['2026-11-02', '2026-11-09'],
      blocks: [],
    });
    await compare(company, true);
  });

  test('have groups and segments together, in order', () => {
    expect([blockOfGroup(255), blockOfGroup(256), placeInBlock(256), placeInBlock(511)]).toEqual([
      0, 1, 0, 255,
    ]);
  });
});

const window = { first: '2026-01-05', last: '2026-11-16' };

function requestOf({ group }: Company, endpoint: DataRequest['endpoint']): DataRequest {
  const query = {
    groupId: String(group['company']),
    withSubgroups: true,
    kind: undefined,
    window,
    now: later,
  };
  const rest = { questionIds: undefined, comments: false, granular: false, language: undefined };
  return { endpoint, kpiId: 'energy', query, numbers: 'plain', ...rest };
}

/** Compares responses with those from rows. `fromPacks`: whether they come from packs, which are the only ones then. */
async function compare(company: Company, fromPacks: boolean): Promise<void> {
  await world.pool`delete from fragment_weeks where account_id = ${company.account.id}`;
  const account = await accountOf(company);
  for (const endpoint of ['results', 'kpi values', 'rates', 'asked'] as const) {
    const request = requestOf(company, endpoint);
    const { text, isFromFragments } = await responseFrom(world.pool, account, request);
    expect([endpoint, isFromFragments]).toEqual([endpoint, fromPacks]);
    expect(text).toBe(await responseFromRows(world.pool, account, request));
  }
}

async function accountOf({ account: { id } }: Company) {
  const [row] = await world.pool<
    { version: string }[]
  >`select version from accounts where account_id = ${id}`;
  return { accountId: id, version: row!.version };
}

type Owner = { kind: number; kpiId: string; questionId: number; block: number; week: string };

async function packsOf(accountId: number): Promise<(Owner & { pack: string })[]> {
  return world.pool<(Owner & { pack: string })[]>`
    select kind, kpi_id as "kpiId", question_id as "questionId", block, week, pack from packs where account_id = ${accountId}`;
}

/** Returns the groups that are in any pack. */
async function groupsIn(accountId: number): Promise<number[]> {
  const rows = await packsOf(accountId);
  const stored = rows.map(({ pack, ...own }) => checkedPack(Buffer.from(pack), { accountId, ...own }));
  const packs = stored.length > 0 ? await openPacks(stored) : [];
  return [...new Set(packs.flatMap((pack) => pack.entries().map(({ groupId }) => groupId)))];
}
