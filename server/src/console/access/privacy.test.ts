// The privacy report in the console: who may read it, that an Auditor can read nothing else, that it shows the settings and data
// of its own account only, and that it names no person.
import { consoleOperations } from '@soundings/contract/console/operations.ts';
import type { ConsoleOperation } from '@soundings/contract/console/operation.ts';
import type { PrivacyLimit, PrivacyReport } from '@soundings/contract/console/privacy.ts';
import { weekName } from '@soundings/contract/weeks.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setPassword } from '../../auth/sign-in.ts';
import { createToken, revokeToken } from '../../accounts/tokens.ts';
import { inTransaction } from '../../db/db.ts';
import { type SendRequest, signInNew } from '../../testing/signed-in.ts';
import { askPeople, noon } from '../../testing/asking.ts';
import { answerLine, importLines, question, round } from '../../testing/surveys.ts';
import { openLog } from '../../base/log.ts';
import { openWorld, type TestAccount, type World } from '../../testing/world.ts';

let world: World;
let account: TestAccount;
beforeAll(async () => {
  world = await openWorld(openLog('error'), { fileDays: 12 }, () => noon);
  account = await world.account();
});
afterAll(() => world?.close());

const readReport = async (request: SendRequest) => (await request<PrivacyReport>('GET /privacy')).body;
const signInAs = async (role: 'Administrator' | 'Manager' | 'Auditor' | 'User', of = account) =>
  signInNew(world, of.id, role);
const limitOf = <C extends PrivacyLimit['code']>({ limits }: PrivacyReport, code: C) =>
  limits.find((one) => one.code === code) as Extract<PrivacyLimit, { code: C }> | undefined;

describe('permissions', () => {
  test.each([
    ['Administrator', 200],
    ['Manager', 200],
    ['Auditor', 200],
    ['User', 403],
  ] as const)('%s: %i', async (role, status) => {
    const { request } = await signInAs(role);
    expect((await request('GET /privacy')).status).toBe(status);
  });

  test('a caller who is not signed in has no access', async () => {
    expect((await world.request('GET', '/api/privacy')).status).toBe(401);
  });

  test('an Auditor may use only the report, their own profile and the session', async () => {
    const { request } = await signInAs('Auditor');
    const minimumRole = (name: string) =>
      (consoleOperations[name as keyof typeof consoleOperations] as ConsoleOperation).minimumRole;
    const names = Object.keys(consoleOperations).filter((name) => minimumRole(name) !== 'anyone');
    const refused: string[] = [];
    for (const name of names) {
      const isOwn = minimumRole(name) === 'User' || minimumRole(name) === 'Auditor';
      if (isOwn) continue;
      const { status } = await request(
        name.replace(/\{\w+\}/g, '1'),
        name.startsWith('GET') ? undefined : {},
      );
      if (status === 403) refused.push(name);
    }
    const open = names.filter((name) => !refused.includes(name));
    expect(
      open.filter((name) => !/^\w+ \/(session$|session\/proof(\/provider)?$|profile)/.test(name)),
    ).toEqual(['GET /privacy']);
    expect(refused.length).toBeGreaterThan(70);
  });

  test('an Auditor who owns a group still sees no groups', async () => {
    const { request, userId } = await signInAs('Auditor');
    const [group] = await world.pool<{ id: number }[]>`
      insert into groups (account_id, managed, name) values (${account.id}, false, 'Owned') returning group_id as id`;
    await world.pool`
      insert into memberships (account_id, user_id, kind, group_id)
      values (${account.id}, ${userId}, 'adminOf', ${group!.id})`;
    for (const operation of ['GET /groups/tree', `GET /groups/${group!.id}`, 'GET /results'])
      expect((await request(operation)).status).toBe(403);
  });
});

describe('the report', () => {
  test('shows the settings of the account and of the running service', async () => {
    const own = await world.account({ timezone: 'Europe/Stockholm' });
    const { request } = await signInAs('Administrator', own);
    const before = await readReport(request);
    expect(before).toMatchObject({
      at: new Date(noon).toISOString(),
      version: expect.stringMatching(/^\d+\.\d+/),
      account: { id: own.id, name: 'Test' },
      rules: { threshold: 5, distributionThreshold: 10, commentThreshold: 10, isLive: false, noise: 0 },
      openWeeks: [],
      breakdowns: [],
      changes: [],
      tokens: [{ name: 'test', lastUsedAt: null }],
      links: { exports: [] },
    });
    expect(before.kept).toContainEqual({ code: 'files', days: 12 });
    expect(before.kept).toContainEqual({ code: 'answers', timezone: 'Europe/Stockholm', openWeeks: 0 });
    expect(limitOf(before, 'noMail')).toMatchObject({ people: 2 });
    const settings = { threshold: 7, distributionThreshold: 20, commentThreshold: 30, publication: 'live' };
    expect((await request('PATCH /settings', settings)).status).toBe(200);
    const after = await readReport(request);
    expect(after.rules).toEqual({
      threshold: 7,
      distributionThreshold: 20,
      commentThreshold: 30,
      isLive: true,
      noise: 0,
    });
    expect(limitOf(after, 'live')).toMatchObject({ threshold: 7, isSetting: true, weeks: [] });
    expect(limitOf(before, 'live')).toBeUndefined();
    expect(limitOf(after, 'betweenWeeks')).toMatchObject({ noise: 0, isSetting: true, weeks: [] });
    await request('PATCH /settings', { noise: 2 });
    const noisy = await readReport(request);
    expect([noisy.rules.noise, limitOf(noisy, 'betweenWeeks')]).toMatchObject([2, { noise: 2 }]);
    await request('PATCH /settings', { threshold: 1, distributionThreshold: null, commentThreshold: null });
    expect((await readReport(request)).rules).toMatchObject({
      threshold: 1,
      distributionThreshold: 1,
      commentThreshold: 1,
    });
  });

  test('shows the settings that an open week was opened with, and how many people are asked', async () => {
    const own = await world.account();
    const { request } = await signInAs('Administrator', own);
    const asked = await askPeople(world, own.id, { count: 6 });
    await request('PATCH /settings', { threshold: 9, noise: 1 });
    const report = await readReport(request);
    expect(report.rules.threshold).toBe(9);
    expect(report.openWeeks).toMatchObject([
      { week: weekName(asked.week), threshold: 5, noise: 0, people: 6 },
    ]);
    expect(report.never[0]).toEqual({ code: 'figures', below: 5 });
    expect(limitOf(report, 'weekOpen')).toMatchObject({ weeks: [weekName(asked.week)], people: 6 });
  });

  test('counts link exports by week and origin (console or command), without naming who exported them', async () => {
    const own = await world.account();
    const { request } = await signInAs('Administrator', own);
    const { week } = await askPeople(world, own.id, { count: 6 });
    await request(`POST /rounds/${week}/links`, { isReplacing: false });
    await request(`POST /rounds/${week}/links`, { isReplacing: true });
    const old = new Date(noon - 60 * 86_400_000);
    await world.pool`
      insert into audit_entries (account_id, at, origin, action, subject, details)
      values (${own.id}, ${old}, 'command', 'links exported', '2026-W38', '{"people": 100}'),
             (${own.id}, ${new Date(noon)}, 'command', 'command run', 'links export', '{}')`;
    const report = await readReport(request);
    expect(report.links.exports.toSorted((a, b) => b.times - a.times)).toMatchObject([
      { week: weekName(week), origin: 'console', times: 2, people: 12 },
      { week: null, origin: 'command', times: 1, people: null },
    ]);
    expect(limitOf(report, 'linksHandedOut')).toMatchObject({ people: 12, weeks: 8 });
    expect(limitOf(report, 'cardsPrinted')).toBeUndefined();
    await world.pool`
      insert into cards (account_id, user_id, digest)
      select account_id, user_id, convert_to(account_id || ' ' || user_id, 'UTF8') from users
      where  account_id = ${own.id} and role = 'User'`;
    expect(limitOf(await readReport(request), 'cardsPrinted')).toMatchObject({ people: 6 });
  });

  test('counts people by role and managers by their access to groups, and lists the tokens that can read results', async () => {
    const own = await world.account();
    const { request, userId: auditor } = await signInAs('Auditor', own);
    await inTransaction(world.pool, (tx) => setPassword(tx, own.id, auditor, 'sounding the depths'));
    const ids = new Map<string, number>();
    for (const [name, parent] of [['top'], ['a', 'top'], ['b', 'a'], ['other']] as [string, string?][]) {
      // Each is the parent of the next.
      const [row] = await world.pool<{ id: number }[]>`
        insert into groups (account_id, managed, name, parent_id)
        values (${own.id}, false, ${name}, ${ids.get(parent ?? '') ?? null}) returning group_id as id`;
      ids.set(name, row!.id);
    }
    const manager = async (...access: [kind: string, group: string][]) => {
      const { userId } = await signInAs('Manager', own);
      for (const [kind, group] of access)
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
    const report = await readReport(request);
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

  test('says that the key was exported, at any time and for an account of any age', async () => {
    await world.keys.chain.exported();
    await world.pool`update answer_keys set exported_at = now() - interval '900 days'`;
    const { request } = await signInAs('Auditor', await world.account());
    const report = await readReport(request);
    expect(limitOf(report, 'keysExported')?.lastAt).toBe(report.keys.exportedAt);
    expect(report.never.some(({ code }) => code === 'whoSaidWhat')).toBe(false);
    await world.pool`update answer_keys set exported_at = null`;
  });

  test('makes no promise about weeks from before the keys left the database or an exported key was replaced', async () => {
    const own = await world.account();
    const { request } = await signInAs('Auditor', own);
    const closed = (week: string) => world.pool`
      insert into weeks (account_id, week, threshold, distribution_threshold, comment_threshold, closed_at)
      values (${own.id}, ${week}, 5, 10, 10, now())`;
    await closed('2026-09-07');
    await closed('2026-09-14');
    const promised = async () => {
      const { never, limits } = await readReport(request);
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

  test('reports what remains after closing, for closed weeks only', async () => {
    const own = await world.account();
    const { request } = await signInAs('Administrator', own);
    await own.push({
      settings: { validateOnly: false },
      data: { groups: [{ externalId: 'all', name: 'All' }] },
    });
    const people = ['a', 'b', 'c', 'd', 'e', 'f'];
    await importLines(world, own.id, [
      question('mood', 1),
      round('2026-W40', 'all', ['mood'], Object.fromEntries(people.map((one) => [one, ['all']]))),
      ...people.map((one) => answerLine('2026-W40', 'all', one, 'mood', 4)),
    ]);
    const { userId } = await signInAs('User', own);
    const clean = await readReport(request);
    expect(clean.kept).toContainEqual({ code: 'closing', closedWeeks: 1, tables: [] });
    expect(clean.kept).toContainEqual({ code: 'results', weeks: 1, since: '2026-W40' });
    expect(limitOf(clean, 'leftAfterClosing')).toBeUndefined();
    await world.pool`
      insert into participants (account_id, user_id, week) values (${own.id}, ${userId}, '2026-09-28')`;
    const left = await readReport(request);
    expect(limitOf(left, 'leftAfterClosing')?.tables).toEqual(['participants']);
    expect(left.never.some(({ code }) => code === 'whoSaidWhat')).toBe(false);
  });

  test('names no person, and contains nothing from another account', async () => {
    const [own, other] = [await world.account(), await world.account()];
    const { request } = await signInAs('Auditor', own);
    const before = await readReport(request);
    const theirs = await signInAs('Administrator', other);
    await theirs.request('PATCH /settings', { name: 'Quartz', threshold: 11, publication: 'live' });
    await createToken(world.pool, other.id, { name: 'Quartz token', scopes: ['data'] });
    const { week } = await askPeople(world, other.id, { count: 6 });
    await theirs.request(`POST /rounds/${week}/links`, { isReplacing: false });
    expect(await readReport(request)).toEqual(before);

    const text = JSON.stringify(await readReport(theirs.request));
    expect(text).toContain('Quartz token');
    const people = await world.pool<{ words: (string | null)[] }[]>`
      select array[last_name, email, external_id, 'p1@', 'P1', 'example.org'] as words
      from users where account_id = ${other.id} and last_name not in ('Administrator', 'Admin')`;
    const words = people.flatMap((one) => one.words).filter((word) => word !== null);
    expect(words.length).toBeGreaterThan(10);
    // Short ones, such as p1, occur by chance within random identifiers.
    const occurs = (word: string) =>
      word.length > 2 ? text.includes(word) : new RegExp(`(?<!\\w)${word}(?!\\w)`).test(text);
    expect(words.filter(occurs)).toEqual([]);
  });
});
