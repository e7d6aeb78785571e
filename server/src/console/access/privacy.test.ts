// The console's privacy report: who may read it, that an Auditor reads nothing else, that it is read from settings and data of the
// own account, and that it names no person.
import { consoleOperations } from '@soundings/contract/console/operations.ts';
import type { ConsoleOperation } from '@soundings/contract/console/operation.ts';
import type { PrivacyLimit, PrivacyReport } from '@soundings/contract/console/privacy.ts';
import { weekName } from '@soundings/contract/weeks.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setPassword } from '../../auth/sign-in.ts';
import { createToken, revokeToken } from '../../accounts/tokens.ts';
import { inTransaction } from '../../db/db.ts';
import { type Ask, signInNew } from '../../testing/signed-in.ts';
import { askPeople, noon } from '../../testing/asking.ts';
import { answer, importLines, question, round } from '../../testing/surveys.ts';
import { openLog } from '../../base/log.ts';
import { openWorld, type TestAccount, type World } from '../../testing/world.ts';

let world: World;
let account: TestAccount;
beforeAll(async () => {
  world = await openWorld(openLog('error'), { fileDays: 12 }, () => noon);
  account = await world.account();
});
afterAll(() => world?.close());

const reading = async (ask: Ask) => (await ask<PrivacyReport>('GET /privacy')).body;
const someone = async (role: 'Administrator' | 'Manager' | 'Auditor' | 'User', of = account) =>
  signInNew(world, of.id, role);
const limit = <C extends PrivacyLimit['code']>({ limits }: PrivacyReport, code: C) =>
  limits.find((one) => one.code === code) as Extract<PrivacyLimit, { code: C }> | undefined;

describe('who may', () => {
  test.each([
    ['Administrator', 200],
    ['Manager', 200],
    ['Auditor', 200],
    ['User', 403],
  ] as const)('%s: %i', async (role, status) => {
    const { ask } = await someone(role);
    expect((await ask('GET /privacy')).status).toBe(status);
  });

  test('no one who is not signed in', async () => {
    expect((await world.request('GET', '/api/privacy')).status).toBe(401);
  });

  test('an Auditor is refused by every operation of the console but the report, the own profile and the session', async () => {
    const { ask } = await someone('Auditor');
    const minimumRole = (name: string) =>
      (consoleOperations[name as keyof typeof consoleOperations] as ConsoleOperation).minimumRole;
    const names = Object.keys(consoleOperations).filter((name) => minimumRole(name) !== 'anybody');
    const refused: string[] = [];
    for (const name of names) {
      const isOwn = minimumRole(name) === 'User' || minimumRole(name) === 'Auditor';
      if (isOwn) continue;
      // oxlint-disable-next-line no-await-in-loop -- one after another
      const { status } = await ask(name.replace(/\{\w+\}/g, '1'), name.startsWith('GET') ? undefined : {});
      if (status === 403) refused.push(name);
    }
    const open = names.filter((name) => !refused.includes(name));
    expect(open.filter((name) => !/^\w+ \/(session$|session\/proof$|profile)/.test(name))).toEqual([
      'GET /privacy',
    ]);
    expect(refused.length).toBeGreaterThan(70);
  });

  test('an Auditor who is named owner of a group still sees none', async () => {
    const { ask, userId } = await someone('Auditor');
    const [group] = await world.pool<{ id: number }[]>`
      insert into groups (account_id, managed, name) values (${account.id}, false, 'Owned') returning group_id as id`;
    await world.pool`
      insert into memberships (account_id, user_id, kind, group_id)
      values (${account.id}, ${userId}, 'adminOf', ${group!.id})`;
    for (const operation of ['GET /groups/tree', `GET /groups/${group!.id}`, 'GET /results'])
      // oxlint-disable-next-line no-await-in-loop -- three
      expect((await ask(operation)).status).toBe(403);
  });
});

describe('the report', () => {
  test('follows the settings of the account, and of the running service', async () => {
    const own = await world.account({ timezone: 'Europe/Stockholm' });
    const { ask } = await someone('Administrator', own);
    const before = await reading(ask);
    expect(before).toMatchObject({
      at: new Date(noon).toISOString(),
      version: expect.stringMatching(/^\d+\.\d+/),
      account: { id: own.id, name: 'Test' },
      rules: { threshold: 5, distributionThreshold: 10, commentThreshold: 10, isLive: false, noise: 0 },
      openWeeks: [],
      tokens: [{ name: 'test', lastUsedAt: null }],
      links: { exports: [] },
    });
    expect(before.kept).toContainEqual({ code: 'files', days: 12 });
    expect(before.kept).toContainEqual({ code: 'answers', timezone: 'Europe/Stockholm', openWeeks: 0 });
    expect(limit(before, 'noMail')).toMatchObject({ people: 2 });
    const settings = { threshold: 7, distributionThreshold: 20, commentThreshold: 30, publication: 'live' };
    expect((await ask('PATCH /settings', settings)).status).toBe(200);
    const after = await reading(ask);
    expect(after.rules).toEqual({
      threshold: 7,
      distributionThreshold: 20,
      commentThreshold: 30,
      isLive: true,
      noise: 0,
    });
    expect(limit(after, 'live')).toMatchObject({ threshold: 7, isSetting: true, weeks: [] });
    expect(limit(before, 'live')).toBeUndefined();
    expect(limit(after, 'betweenWeeks')).toMatchObject({ noise: 0, isSetting: true, weeks: [] });
    await ask('PATCH /settings', { noise: 2 });
    const noisy = await reading(ask);
    expect([noisy.rules.noise, limit(noisy, 'betweenWeeks')]).toMatchObject([2, { noise: 2 }]);
    await ask('PATCH /settings', { threshold: 1, distributionThreshold: null, commentThreshold: null });
    expect((await reading(ask)).rules).toMatchObject({
      threshold: 1,
      distributionThreshold: 1,
      commentThreshold: 1,
    });
  });

  test('says of an open week what it was opened with, and how many are asked', async () => {
    const own = await world.account();
    const { ask } = await someone('Administrator', own);
    const asked = await askPeople(world, own.id, { count: 6 });
    await ask('PATCH /settings', { threshold: 9, noise: 1 });
    const report = await reading(ask);
    expect(report.rules.threshold).toBe(9);
    expect(report.openWeeks).toMatchObject([
      { week: weekName(asked.week), threshold: 5, noise: 0, people: 6 },
    ]);
    expect(report.never[0]).toEqual({ code: 'figures', below: 5 });
    expect(limit(report, 'weekOpen')).toMatchObject({ weeks: [weekName(asked.week)], people: 6 });
  });

  test('counts exports of links by week, and by whom no more than that it was the console or the command', async () => {
    const own = await world.account();
    const { ask } = await someone('Administrator', own);
    const { week } = await askPeople(world, own.id, { count: 6 });
    await ask(`POST /rounds/${week}/links`, { isReplacing: false });
    await ask(`POST /rounds/${week}/links`, { isReplacing: true });
    const old = new Date(noon - 60 * 86_400_000);
    await world.pool`
      insert into audit_entries (account_id, at, origin, action, subject, details)
      values (${own.id}, ${old}, 'command', 'links exported', '2026-W38', '{"people": 100}'),
             (${own.id}, ${new Date(noon)}, 'command', 'command run', 'links export', '{}')`;
    const report = await reading(ask);
    expect(report.links.exports.toSorted((a, b) => b.times - a.times)).toMatchObject([
      { week: weekName(week), origin: 'console', times: 2, people: 12 },
      { week: null, origin: 'command', times: 1, people: null },
    ]);
    expect(limit(report, 'linksHandedOut')).toMatchObject({ people: 12, weeks: 8 });
  });

  test('counts people by role, managers by the basis on which they see groups, and the tokens that read results', async () => {
    const own = await world.account();
    const { ask, userId: auditor } = await someone('Auditor', own);
    await inTransaction(world.pool, (tx) => setPassword(tx, own.id, auditor, 'sounding the depths'));
    const ids = new Map<string, number>();
    for (const [name, parent] of [['top'], ['a', 'top'], ['b', 'a'], ['other']] as [string, string?][]) {
      // oxlint-disable-next-line no-await-in-loop -- each beneath the one before
      const [row] = await world.pool<{ id: number }[]>`
        insert into groups (account_id, managed, name, parent_id)
        values (${own.id}, false, ${name}, ${ids.get(parent ?? '') ?? null}) returning group_id as id`;
      ids.set(name, row!.id);
    }
    const manager = async (...access: [kind: string, group: string][]) => {
      const { userId } = await someone('Manager', own);
      for (const [kind, group] of access)
        // oxlint-disable-next-line no-await-in-loop -- few
        await world.pool`
          insert into memberships (account_id, user_id, kind, group_id)
          values (${own.id}, ${userId}, ${kind}, ${ids.get(group)!})`;
      return userId;
    };
    await manager(['adminOf', 'a'], ['adminOf', 'b'], ['interestOf', 'other']);
    await manager(['adminOf', 'a'], ['inheritedAdminOf', 'a']);
    await manager(['memberOf', 'top']);
    const left = await manager(['inheritedAdminOf', 'top']);
    await world.pool`update users set active = false where user_id = ${left}`;
    const expired = { name: 'Expired', scopes: ['data'], expires: '2020-01-01' };
    await createToken(world.pool, own.id, expired);
    await createToken(world.pool, own.id, { name: 'Pushes', scopes: ['organization'] });
    const revoked = await createToken(world.pool, own.id, { name: 'Revoked', scopes: ['data'] });
    await revokeToken(world.pool, own.id, revoked.id);
    await createToken(world.pool, own.id, { name: 'Power BI', scopes: ['data', 'files'] });
    const report = await reading(ask);
    expect(report.roles).toMatchObject([
      { role: 'Administrator', people: 1, canSignIn: 0 },
      { role: 'Manager', people: 3, canSignIn: 0 },
      { role: 'Auditor', people: 1, canSignIn: 1 },
      { role: 'User', people: 0, canSignIn: 0 },
    ]);
    expect(report.managers).toEqual({
      bases: [
        { basis: 'adminOf', managers: 2, groups: 2 },
        { basis: 'inheritedAdminOf', managers: 1, groups: 2 },
        { basis: 'interestOf', managers: 1, groups: 1 },
      ],
      withoutGroups: 1,
      groups: 4,
    });
    expect(report.tokens.map(({ name }) => name)).toEqual(['test', 'Power BI']);
  });

  test('says that the key was exported, whenever that was and however old the account is', async () => {
    await world.keys.chain.exported();
    await world.pool`update answer_keys set exported_at = now() - interval '900 days'`;
    const { ask } = await someone('Auditor', await world.account());
    const report = await reading(ask);
    expect(limit(report, 'keysExported')?.lastAt).toBe(report.keys.exportedAt);
    expect(report.never.some(({ code }) => code === 'whoSaidWhat')).toBe(false);
    await world.pool`update answer_keys set exported_at = null`;
  });

  test('promises nothing of weeks that began before the keys had left the database, or an exported one was replaced', async () => {
    const own = await world.account();
    const { ask } = await someone('Auditor', own);
    const closed = (week: string) => world.pool`
      insert into weeks (account_id, week, threshold, distribution_threshold, comment_threshold, closed_at)
      values (${own.id}, ${week}, 5, 10, 10, now())`;
    await closed('2026-09-07');
    await closed('2026-09-14');
    const promised = async () => {
      const { never, limits } = await reading(ask);
      return [never.at(-1), limits.find(({ code }) => code.startsWith('keysWere'))];
    };
    expect(await promised()).toEqual([{ code: 'whoSaidWhat', closedWeeks: 2 }, undefined]);
    await world.pool`update answer_keys set in_database_until = '2026-09-09T12:00Z'`;
    expect(await promised()).toMatchObject([
      { code: 'whoSaidWhat', closedWeeks: 1 },
      { until: '2026-09-09T12:00:00.000Z' },
    ]);
    await world.pool`update answer_keys set in_database_until = null`;
    await world.pool`update answer_keys set exported_at = '2026-09-01T12:00Z', exported_until = '2026-09-09T12:00Z'`;
    expect(await promised()).toMatchObject([
      { code: 'whoSaidWhat', closedWeeks: 1 },
      { code: 'keysWereExported', lastAt: '2026-09-01T12:00:00.000Z', until: '2026-09-09T12:00:00.000Z' },
    ]);
    await world.pool`update answer_keys set in_database_until = '2026-09-15T12:00Z'`;
    expect(await promised()).toMatchObject([{ code: 'whoSaidWhat', closedWeeks: 0 }, {}]);
    await world.pool`update answer_keys set exported_at = null, exported_until = null, in_database_until = null`;
  });

  test('finds what closing has left, of closed weeks only', async () => {
    const own = await world.account();
    const { ask } = await someone('Administrator', own);
    await own.push({
      settings: { validateOnly: false },
      data: { groups: [{ externalId: 'all', name: 'All' }] },
    });
    const people = ['a', 'b', 'c', 'd', 'e', 'f'];
    await importLines(world, own.id, [
      question('mood', 1),
      round('2026-W40', 'all', ['mood'], Object.fromEntries(people.map((one) => [one, ['all']]))),
      ...people.map((one) => answer('2026-W40', 'all', one, 'mood', 4)),
    ]);
    const { userId } = await someone('User', own);
    const clean = await reading(ask);
    expect(clean.kept).toContainEqual({ code: 'closing', closedWeeks: 1, tables: [] });
    expect(clean.kept).toContainEqual({ code: 'results', weeks: 1, since: '2026-W40' });
    expect(limit(clean, 'leftAfterClosing')).toBeUndefined();
    await world.pool`
      insert into participants (account_id, user_id, week) values (${own.id}, ${userId}, '2026-09-28')`;
    const left = await reading(ask);
    expect(limit(left, 'leftAfterClosing')?.tables).toEqual(['participants']);
    expect(left.never.some(({ code }) => code === 'whoSaidWhat')).toBe(false);
  });

  test('names no person, and holds nothing of another account', async () => {
    const [own, other] = [await world.account(), await world.account()];
    const { ask } = await someone('Auditor', own);
    const before = await reading(ask);
    const theirs = await someone('Administrator', other);
    await theirs.ask('PATCH /settings', { name: 'Quartz', threshold: 11, publication: 'live' });
    await createToken(world.pool, other.id, { name: 'Quartz token', scopes: ['data'] });
    const { week } = await askPeople(world, other.id, { count: 6 });
    await theirs.ask(`POST /rounds/${week}/links`, { isReplacing: false });
    expect(await reading(ask)).toEqual(before);

    const text = JSON.stringify(await reading(theirs.ask));
    expect(text).toContain('Quartz token');
    const people = await world.pool<{ words: (string | null)[] }[]>`
      select array[last_name, email, external_id, 'p1@', 'P1', 'example.org'] as words
      from users where account_id = ${other.id} and last_name not in ('Administrator', 'Admin')`;
    const words = people.flatMap((one) => one.words).filter((word) => word !== null);
    expect(words.length).toBeGreaterThan(10);
    expect(words.filter((word) => text.includes(word))).toEqual([]);
  });
});
