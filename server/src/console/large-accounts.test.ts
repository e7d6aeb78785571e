// The console with more groups than it loads as a whole: trees come by level, heat maps in windows, and a request reads only what it
// returns.
import type {
  FoundGroups,
  GroupDetails,
  GroupOptions,
  TreeOfGroups,
  Subgroups,
} from '@soundings/contract/console/groups.ts';
import type { HeatMap, HeatRow, ResultsStart } from '@soundings/contract/console/results/results.ts';
import { shownRows } from '@soundings/contract/heat-rows.ts';
import { maxGroupOptions, maxGroupsFound, maxSubgroupsListed } from '@soundings/contract/limits.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Db, inTransaction } from '../db/db.ts';
import { type SendRequest, signIn } from '../testing/signed-in.ts';
import { until } from '../testing/until.ts';
import { openWorld, type TestAccount, type World } from '../testing/world.ts';
import type { Who } from './core/console.ts';
import { subgroupsIn, treeOf } from './groups/seen-tree.ts';
import { openTrees } from './groups/trees.ts';
import { fillLargeTree, largeTree } from './large-accounts.fixture.ts';
import { selectPeopleWindow } from './people/people.sql.ts';
import { readHeatRows } from './results/heat-windows.ts';
import { readGroups } from './results/reading.ts';

let world: World;
let account: TestAccount;
let ada: SendRequest;
/** A manager of group 3 with its subgroups. */
let manager: SendRequest;
let idOf: (place: number) => number;
beforeAll(async () => {
  world = await openWorld();
  account = await world.account();
  await fillLargeTree(world, account);
  const { pool } = world;
  const rows = await pool<{ id: number; place: number }[]>`
    select group_id as id, substring(external_id from 2)::integer as place from groups where account_id = ${account.id}`;
  const ids = new Map(rows.map(({ id, place }) => [place, id]));
  idOf = (place) => ids.get(place) as number;
  const [one] = await pool<{ id: number }[]>`
    insert into users (account_id, managed, first_name, last_name, active, role)
    values (${account.id}, false, 'Mia', 'Manager', true, 'Manager') returning user_id as id`;
  await pool`
    insert into memberships (account_id, user_id, kind, group_id)
    values (${account.id}, ${one!.id}, 'inheritedAdminOf', ${idOf(3)})`;
  const [first] = await pool<{ id: number }[]>`
    select user_id as id from users where account_id = ${account.id} and role = 'Administrator'`;
  ada = await signIn(world, account.id, first!.id);
  manager = await signIn(world, account.id, one!.id);
});
afterAll(() => world.close());

const read = async <T>(path: string, request = ada) => {
  const { status, body } = await request<T>(`GET ${path}`);
  expect(status).toBe(200);
  return body;
};
const namesOf = (groups: readonly { name: string }[]) => groups.map(({ name }) => name);

describe('the tree', () => {
  test('has only its top at first, with how many people and subgroups each group has', async () => {
    const { groups, ...about } = await read<Extract<TreeOfGroups, { isWhole: false }>>('/groups/tree');
    expect(about).toEqual({ isWhole: false, count: largeTree, managed: largeTree / 2 });
    expect(namesOf(groups)).toEqual(['Unit 0', 'Unit 1', 'Unit 2']);
    expect(groups.reduce((sum, { people, descendants }) => sum + people + descendants + 1, 0)).toBe(
      500 + largeTree,
    );
    expect(groups[1]).toMatchObject({ level: 1, place: 2, siblings: 3, children: 8, parentId: null });
  });

  test('a level has the subgroups of one group, sorted as numbers are', async () => {
    const { groups, total } = await read<Subgroups>(`/groups/${idOf(0)}/subgroups`);
    expect(namesOf(groups)).toEqual([3, 6, 9, 12, 15, 18, 21, 24].map((place) => `Unit ${place}`));
    expect(total).toBe(8);
    expect(groups[7]).toMatchObject({ level: 2, place: 8, siblings: 8, children: 8, parentId: idOf(0) });
    expect((await read<Subgroups>(`/groups/${idOf(largeTree - 1)}/subgroups`)).groups).toEqual([]);
  });

  test('a search returns the first groups found with all groups above them, and how many there are', async () => {
    const one = await read<FoundGroups>('/groups/found?search=unit%202500');
    expect([one.matches, one.total]).toEqual([[idOf(2500)], 1]);
    expect(namesOf(one.groups)).toEqual([1, 4, 37, 313, 2500].map((place) => `Unit ${place}`));
    expect(one.groups[0]).toMatchObject({ name: 'Unit 1', parentId: null });
    for (const [i, group] of one.groups.slice(1).entries()) expect(group.parentId).toBe(one.groups[i]!.id);
    const many = await read<FoundGroups>('/groups/found?search=unit');
    expect([many.matches.length, many.total]).toEqual([maxGroupsFound, largeTree]);
    expect(await read<FoundGroups>('/groups/found?search=nowhere')).toEqual({
      groups: [],
      matches: [],
      total: 0,
    });
  });

  test('groups to choose from are the best matches, or those with ids, with the groups above them', async () => {
    const { options, total } = await read<GroupOptions>('/groups/options?search=25%20uni');
    expect(options[0]).toMatchObject({ path: expect.stringMatching(/^Unit \d/) });
    expect(options.every(({ name }) => name.includes('25'))).toBe(true);
    expect([options.length <= maxGroupOptions, total >= options.length]).toEqual([true, true]);
    const named = await read<GroupOptions>(`/groups/options?ids=${idOf(27)},${idOf(3)},999999999`);
    expect(named.options).toMatchObject([
      { id: idOf(27), path: 'Unit 0 / Unit 3', above: [idOf(3), idOf(0)] },
      { id: idOf(3), path: 'Unit 0', managed: false },
    ]);
    expect((await ada('GET /groups/options?ids=1,x')).status).toBe(400);
  });

  test('managers get only the groups that they may see, and these as a whole if they are few', async () => {
    const { groups, isWhole, count } = await read<TreeOfGroups>('/groups/tree', manager);
    expect([isWhole, count, groups.length, groups[0]?.name]).toEqual([true, groups.length, count, 'Unit 3']);
    expect(groups.length).toBeLessThan(largeTree / 5);
    const { groups: all } = await read<Subgroups>(`/groups/${idOf(0)}/subgroups`);
    expect(groups[0]?.people).toBe(all[0]?.people);
    expect((await manager(`GET /groups/${idOf(0)}/subgroups`)).status).toBe(404);
    expect(
      (await read<GroupOptions>(`/groups/options?ids=${idOf(0)},${idOf(3)}`, manager)).options,
    ).toHaveLength(1);
    expect((await read<FoundGroups>('/groups/found?search=unit%202500', manager)).total).toBe(0);
  });

  test('follows a change at once', async () => {
    const { id } = (await ada<{ id: number }>('POST /groups', { name: 'Aardvark', parentId: idOf(1) })).body;
    expect(namesOf((await read<Subgroups>(`/groups/${idOf(1)}/subgroups`)).groups)[0]).toBe('Aardvark');
    expect((await ada(`DELETE /groups/${id}?weeks=0`)).status).toBe(204);
    expect(namesOf((await read<Subgroups>(`/groups/${idOf(1)}/subgroups`)).groups)).not.toContain('Aardvark');
  });

  test('the page of a group has its place and its people', async () => {
    const group = await read<GroupDetails>(`/groups/${idOf(27)}`);
    const [option] = (await read<GroupOptions>(`/groups/options?ids=${idOf(27)}`)).options;
    expect(group).toMatchObject({ parentId: idOf(3), people: option?.people, isOnly: false });
    expect(namesOf(group.path)).toEqual(['Unit 0', 'Unit 3']);
  });
});

describe('the heat map', () => {
  const rowsOf = (query: string, request = ada) =>
    read<{ total: number; rows: HeatRow[] }>(`/results/heat-map/rows?${query}`, request);
  /** All rows, read in windows. */
  async function allRows(query = ''): Promise<HeatRow[]> {
    const rows: HeatRow[] = [];
    for (let offset = 0; ; offset += 200) {
      const window = await rowsOf(`offset=${offset}&limit=200${query}`);
      rows.push(...window.rows);
      if (rows.length >= window.total) return rows;
    }
  }

  test('begins with the company and the highest levels, and says how many groups and levels there are', async () => {
    const map = await read<HeatMap>('/results/heat-map');
    expect(map).toMatchObject({ isWhole: false, count: largeTree, kpis: [{ id: 'K' }, { id: 'L' }] });
    expect(map.rows.length).toBeLessThanOrEqual(201);
    expect(map.rows.map(({ id }) => id)).toContain(map.companyId);
    expect(map.levels.length).toBeGreaterThan(3);
    expect(map.levels[0]).toEqual(['Unit 0', 'Unit 1', 'Unit 2']);
    expect((await read<ResultsStart>('/results')).groups).toBe(largeTree);
  });

  test('has the rows of a window, filtered and sorted as the page does with a map that it has as a whole', async () => {
    const rows = await allRows();
    const { companyId } = await read<HeatMap>('/results/heat-map');
    expect(rows).toHaveLength(largeTree - 1);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
    const { compare } = new Intl.Collator('en', { numeric: true });
    const company = (await allRows(`&subtreeOf=${companyId}`)).find(({ id }) => id === companyId) as HeatRow;
    const whole = { rows: [company, ...rows], companyId };
    for (const [query, filters] of [
      ['&level=2', { level: 2 }],
      ['&sort=-name', { sort: '-name' }],
      ['&sort=people', { sort: 'people' }],
      ['&sort=-rate', { sort: '-rate' }],
      ['&sort=kpi:1', { sort: 'kpi:1' }],
      ['&sort=-kpi:0&by=difference', { sort: '-kpi:0', isDifference: true }],
      ['&level=3&sort=-kpi:0', { level: 3, sort: '-kpi:0' }],
    ] as const) {
      const expected = shownRows(whole, filters, compare);
      const window = await rowsOf(`offset=30&limit=20${query}`);
      expect([query, window.total]).toEqual([query, expected.length]);
      expect(window.rows.map(({ id }) => id)).toEqual(expected.slice(30, 50).map(({ id }) => id));
    }
    const within = await allRows(`&subtreeOf=${idOf(3)}`);
    expect(within[0]?.id).toBe(idOf(3));
    expect(within.slice(1).every(({ level }) => level > 2)).toBe(true);
  });

  test('the file has all rows', async () => {
    const { text } = await ada('GET /results/heat-map/csv?sort=-name&level=2');
    const lines = text.trim().split('\n');
    expect(lines).toHaveLength(1 + 1 + 24);
    expect(lines[2]).toContain('Unit 26');
    expect(lines[2]).toContain('Unit 2,');
  });

  test('a manager of few groups has a map that is whole', async () => {
    const map = await read<HeatMap>('/results/heat-map', manager);
    expect([map.isWhole, map.rows.length]).toEqual([true, map.count]);
  });
});

describe('after random changes', () => {
  const versionOf = async () => {
    const [row] = await world.pool<{ version: string }[]>`
      select version::text as version from accounts where account_id = ${account.id}`;
    return row!.version;
  };
  const change = async (work: () => Promise<unknown>) => {
    await work();
    await world.pool`update accounts set version = version + 1 where account_id = ${account.id}`;
  };
  const insertGroups = () =>
    change(
      () => world.pool`
        insert into groups (account_id, managed, name, parent_id)
        select ${account.id}, false, 'Unit ' || floor(random() * 3000), g.group_id
        from  (select group_id from groups where account_id = ${account.id} order by random() limit 40) g`,
    );

  test('levels and windows have every group once, in the order of the names, and never more than their limits', async () => {
    const { pool } = world;
    const trees = openTrees(Promise.resolve(pool));
    const { compare } = new Intl.Collator('en', { numeric: true });
    for (let i = 0; i < 3; i++) {
      await insertGroups();
      const who = {
        accountId: account.id,
        userId: 0,
        role: 'Administrator',
        version: await versionOf(),
      } as Who;
      const rows = await pool<{ id: number; parentId: number | null; name: string }[]>`
        select group_id as id, parent_id as "parentId", name from groups where account_id = ${account.id}`;
      const below = Map.groupBy(rows, ({ parentId }) => parentId);
      const inOrder = (parentId: number | null): number[] =>
        (below.get(parentId) ?? [])
          .toSorted((a, b) => compare(a.name, b.name) || a.id - b.id)
          .flatMap(({ id }) => [id, ...inOrder(id)]);
      const tree = await trees.of(pool, who, 'en');
      const byLevels = (groups: readonly { id: number }[]): number[] => {
        expect(groups.length).toBeLessThanOrEqual(maxSubgroupsListed);
        return groups.flatMap(({ id }) => [id, ...byLevels(subgroupsIn(tree, id).groups)]);
      };
      expect(byLevels(treeOf(tree).groups)).toEqual(inOrder(null));
      const wanted = { week: undefined, compare: undefined, language: 'en' };
      const windows: number[] = [];
      for (;;) {
        const limit = 1 + Math.floor(Math.random() * 999);
        const { total, rows: some } = await readHeatRows(pool, who, trees, wanted, {
          offset: windows.length,
          limit,
        });
        expect(some.length).toBeLessThanOrEqual(Math.min(limit, 200));
        windows.push(...some.map(({ id }) => id));
        if (windows.length >= total) break;
      }
      expect(windows).toEqual(inOrder(null).filter((id) => id !== tree.company?.id));
    }
  });

  test('numbers of people are those of the last of several changes as soon as they are counted', async () => {
    const { pool } = world;
    const trees = openTrees(Promise.resolve(pool));
    const who = async () =>
      ({ accountId: account.id, userId: 0, role: 'Administrator', version: await versionOf() }) as Who;
    const peopleIn = async (language: string) =>
      (await trees.of(pool, await who(), language)).get(idOf(0))!.people;
    const before = await peopleIn('en');
    expect(await peopleIn('sv')).toBe(before);
    for (let i = 1; i <= 3; i++) {
      await change(
        () => pool`
          with one as (
            insert into users (account_id, managed, first_name, last_name, active, role)
            values (${account.id}, false, 'New', ${`person ${i}`}, true, 'User') returning user_id
          )
          insert into memberships (account_id, user_id, kind, group_id)
          select ${account.id}, user_id, 'memberOf', ${idOf(3)} from one`,
      );
      // Two readings start counting, and neither waits for it.
      await Promise.all([peopleIn('en'), peopleIn('sv')]);
    }
    await until(async () => (await peopleIn('en')) === before + 3);
    await until(async () => (await peopleIn('sv')) === before + 3);
    expect(await trees.peopleIn(pool, await who(), idOf(0))).toBe(before + 3);
  });
});

describe('a request reads only what it returns', () => {
  /**
   * Returns how many rows of a table a reading takes from the table itself. PostgreSQL is set as docs/operators/postgres.md recommends for
   * large accounts; with its default for `random_page_cost` it reads a whole table of which an account has nearly all rows.
   */
  async function rowsRead(table: string, work: (db: Db) => Promise<unknown>): Promise<number> {
    const count = async (db: Db) => {
      const [row] = await db<{ rows: number }[]>`
        select (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::integer as rows
        from   pg_stat_xact_user_tables where relname = ${table}`;
      return row?.rows ?? 0;
    };
    return inTransaction(world.pool, async (tx) => {
      await tx`set local random_page_cost = 1.1`;
      const before = await count(tx);
      await work(tx);
      return (await count(tx)) - before;
    });
  }

  test('the groups around one', async () => {
    const who = { accountId: account.id, userId: 0, role: 'Administrator' } as never;
    expect(await rowsRead('groups', (db) => readGroups(db, who, [idOf(2500)]))).toBeLessThan(100);
  });

  test('a window of people sorted by name, also if they are searched', async () => {
    const { pool } = world;
    const large = await world.account();
    await pool`
      insert into users (account_id, managed, first_name, last_name, email, email_key, active, role)
      select ${large.id}, false, (array['Åsa', 'Bo', 'Cleo'])[1 + i % 3], 'Andersson ' || i,
             'a' || i || '@example.org', 'a' || i || '@example.org', true, 'User'
      from   generate_series(1, 20000) i`;
    const long = 'x'.repeat(300);
    await pool`
      insert into users (account_id, managed, first_name, last_name, active, role)
      values (${large.id}, false, 'Long', ${`${long} needle`}, true, 'User')`;
    await pool`vacuum analyze users`;
    const window = { sorting: { sort: 'name', isDown: false } as const, offset: 12_000, limit: 50 };
    const page =
      (filters: object, offset = window.offset) =>
      (db: Db) =>
        selectPeopleWindow(db, large.id, { ...window, filters, offset });
    expect(await rowsRead('users', page({}))).toBeLessThan(500);
    expect(await rowsRead('users', page({ search: 'asa anders' }, 3_000))).toBeLessThan(500);
    expect(await rowsRead('users', page({ search: 'a777@' }, 0))).toBeLessThan(500);
    const byEmail = { ...window, offset: 0, filters: {}, sorting: { sort: 'email', isDown: true } as const };
    expect(await rowsRead('users', (db) => selectPeopleWindow(db, large.id, byEmail))).toBeLessThan(500);
    const found = await inTransaction(pool, page({ search: 'long needle' }, 0));
    expect([found.total, found.rows.length]).toEqual([1, 1]);
    expect((await inTransaction(pool, page({ search: 'bo' }, 0))).total).toBe(6_667);
  });
});
