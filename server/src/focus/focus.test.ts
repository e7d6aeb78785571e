// The focus of a group: its states in any order, what its people read, who may change it, and what is removed with it.
import type { Focus, FocusCounts, GroupFocus } from '@soundings/contract/console/focus.ts';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openLink } from '../answers/answering.ts';
import { inTransaction } from '../db/db.ts';
import { createGroup, moveGroup, removeGroup } from '../people/groups.ts';
import { changeUser, createUser } from '../people/users.ts';
import { retireQuestion } from '../questions/questions.ts';
import { deleteGroupResults } from '../results/published-figures.ts';
import { askPeople, type AskedAccount } from '../testing/asking.ts';
import { cases } from '../testing/house/cases.ts';
import { type SendRequest, signIn, signInNew } from '../testing/signed-in.ts';
import { openWorld, type TestAccount, type World } from '../testing/world.ts';
import { type FocusChange, stateAfter } from './focus-states.ts';

const day = 86_400_000;

let world: World;
let clock = Date.now();
beforeAll(async () => {
  world = await openWorld(undefined, {}, () => clock);
});
afterAll(() => world?.close());

const dayAfter = (days: number) => new Date(clock + days * day).toISOString().slice(0, 10);
const terms = (more: object = {}) => ({
  action: 'No meetings before ten',
  responsible: 'Anna',
  until: dayAfter(60),
  ...more,
});
const workload = (more: object = {}) => ({ kind: 'kpi', subject: 'workload', ...terms(more) });

type Scene = { account: TestAccount; admin: SendRequest; asked: AskedAccount; groupId: number };

/** An account with a group of six people who are asked, and an administrator. */
async function scene(): Promise<Scene> {
  const account = await world.account();
  // Also at night and on weekends.
  const anyTime = { hour: 0, anyHour: true };
  const asked = await askPeople(world, account.id, { now: clock, fromDay: dayAfter(-7), ...anyTime });
  const { request: admin } = await signInNew(world, account.id, 'Administrator');
  return { account, admin, asked, groupId: asked.groupId };
}

const groupFocus = async (request: SendRequest, groupId: number) =>
  (await request<GroupFocus>(`GET /focus/groups/${groupId}`)).body;
const firstOf = async (request: SendRequest, groupId: number) =>
  (await groupFocus(request, groupId)).focuses[0] as Focus;
const add = async (request: SendRequest, groupId: number, body: object = workload()) =>
  (await request<{ id: number }>(`POST /focus/groups/${groupId}`, body)).body.id;

async function managerOf({ account, groupId }: Scene, kind: 'adminOf' | 'inheritedAdminOf' | 'interestOf') {
  const { request, userId } = await signInNew(world, account.id, 'Manager');
  await world.pool`
    insert into memberships (account_id, user_id, kind, group_id) values (${account.id}, ${userId}, ${kind}, ${groupId})`;
  return request;
}

describe('the states of a focus', () => {
  const operations: Record<FocusChange, (id: number) => [string, object]> = {
    changed: (id) => [`PATCH /focus/${id}`, terms({ action: `Something else ${Math.random()}` })],
    onTrack: (id) => [`POST /focus/${id}/check-in`, { outlook: 'onTrack', note: 'n' }],
    needsHelp: (id) => [`POST /focus/${id}/check-in`, { outlook: 'needsHelp', note: '' }],
    done: (id) => [`POST /focus/${id}/check-in`, { outlook: 'done', note: '' }],
    stopped: (id) => [`POST /focus/${id}/stop`, { note: '' }],
    reopened: (id) => [`POST /focus/${id}/reopen`, { note: '' }],
  };

  test('follow its changes in any order, even simultaneous ones, and its history has each change that was possible', async () => {
    const { admin, groupId } = await scene();
    const change = fc.constantFrom(...(Object.keys(operations) as FocusChange[]));
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { maxLength: 12 }),
        fc.array(change, { minLength: 2, maxLength: 4 }),
        async (one, many) => {
          const before = (await groupFocus(admin, groupId)).focuses.filter(({ state }) => state === 'open');
          for (const { id } of before) await admin(...operations.stopped(id));
          const id = await add(admin, groupId);
          const send = async (what: FocusChange) => (await admin(...operations[what](id))).status;
          let state: Focus['state'] = 'open';
          const kept: string[] = ['created'];
          for (const what of one) {
            const next = stateAfter(state, what);
            expect(await send(what)).toBe(next === undefined ? 409 : 204);
            if (next === undefined) continue;
            state = next;
            kept.push(what);
          }
          const found = async () =>
            (await groupFocus(admin, groupId)).focuses.find((focus) => focus.id === id)!;
          expect((await found()).state).toBe(state);
          expect((await found()).history.map(({ kind }) => kind).toReversed()).toEqual(kept);
          // Simultaneous changes: the history has an entry for each change that was accepted, in an order that the states
          // allow.
          const statuses = await Promise.all(many.map(send));
          const after = await found();
          const added = after.history.slice(0, after.history.length - kept.length).toReversed();
          expect(added).toHaveLength(statuses.filter((status) => status === 204).length);
          for (const { kind } of added) {
            const next = stateAfter(state, kind as FocusChange);
            expect(next).toBeDefined();
            state = next!;
          }
          expect(after.state).toBe(state);
        },
      ),
      cases(8),
    );
  });

  test('a group has at most two open focuses, and never two on the same subject, even if they are created or reopened at the same time', async () => {
    const { admin, groupId } = await scene();
    const subjects = ['workload', 'clarity', 'autonomy', 'workload'];
    const created = await Promise.all(
      subjects.map((subject) =>
        admin<{ id: number }>(`POST /focus/groups/${groupId}`, workload({ subject })),
      ),
    );
    expect(created.filter(({ status }) => status === 200)).toHaveLength(2);
    expect(created.filter(({ status }) => status === 409)).toHaveLength(2);
    const open = await groupFocus(admin, groupId);
    expect(new Set(open.focuses.map(({ subject }) => subject.id)).size).toBe(2);
    const [stopped] = open.focuses as [Focus];
    await admin(`POST /focus/${stopped.id}/stop`, { note: '' });
    await add(admin, groupId, workload({ subject: stopped.subject.id }));
    expect((await admin(`POST /focus/${stopped.id}/reopen`, { note: '' })).status).toBe(409);
  });

  test('the check-in is due after 30 days, and after a check-in again 30 days later', async () => {
    const { admin, groupId } = await scene();
    const start = clock;
    try {
      const id = await add(admin, groupId);
      clock = start + 29 * day;
      expect((await firstOf(admin, groupId)).isDue).toBe(false);
      clock = start + 30 * day;
      expect((await firstOf(admin, groupId)).isDue).toBe(true);
      await admin(`POST /focus/${id}/check-in`, { outlook: 'needsHelp', note: '' });
      expect(await firstOf(admin, groupId)).toMatchObject({
        isDue: false,
        outlook: 'needsHelp',
        isLate: false,
      });
      clock = start + 61 * day;
      expect(await firstOf(admin, groupId)).toMatchObject({ isDue: true, isLate: true });
    } finally {
      clock = start;
    }
  });
});

describe('a focus is refused', () => {
  test('with the place and the remedy, if its terms are empty or too long, or its last day has passed or is too far ahead', async () => {
    const { admin, groupId } = await scene();
    const faulty = { action: ' \n ', responsible: '\u0007', until: '2026-02-30' };
    const { status, body } = await admin(`POST /focus/groups/${groupId}`, workload(faulty));
    expect([status, body.details.map(({ path }) => path)]).toEqual([
      400,
      ['/action', '/responsible', '/until'],
    ]);
    for (const [more, expected] of [
      [{ action: 'x'.repeat(301) }, 400],
      [{ responsible: 'x'.repeat(101) }, 400],
      [{ until: dayAfter(-1) }, 400],
      [{ until: '9999-01-01' }, 400],
      [{ subject: 'nothing' }, 404],
      [{ subject: 'x'.repeat(501) }, 400],
      [{ kind: 'question', subject: '1e3' }, 404],
      [{ kind: 'question', subject: '2147483648' }, 404],
      [{ kind: 'group' }, 400],
      [{ state: 'done' }, 400],
    ] as const)
      expect(
        (await admin(`POST /focus/groups/${groupId}`, workload(more))).status,
        JSON.stringify(more),
      ).toBe(expected);
    const id = await add(admin, groupId);
    expect(
      (await admin(`POST /focus/${id}/check-in`, { outlook: 'onTrack', note: 'x'.repeat(501) })).status,
    ).toBe(400);
    for (const path of ['0', '999999999', '-1', 'x', '1e3'])
      expect((await admin(`POST /focus/${path}/stop`, { note: '' })).status, path).toBe(404);
    // Each term is stored as one line, whatever was sent.
    await admin(`PATCH /focus/${id}`, terms({ action: ' a\r\nb\u2028c \t d ' }));
    expect((await firstOf(admin, groupId)).action).toBe('a b c d');
  });

  test('to everyone except the owners of the group and administrators; people with read access can read it', async () => {
    const one = await scene();
    const { admin, groupId, account } = one;
    const id = await add(admin, groupId);
    const owner = await managerOf(one, 'adminOf');
    const reader = await managerOf(one, 'interestOf');
    const { request: other } = await signInNew(world, account.id, 'Manager');
    const { request: auditor } = await signInNew(world, account.id, 'Auditor');
    const { request: user } = await signInNew(world, account.id, 'User');
    const { request: stranger } = await signInNew(world, (await world.account()).id, 'Administrator');
    const stop = (request: SendRequest) => request(`POST /focus/${id}/stop`, { note: '' });
    const attempts = async (request: SendRequest) => [
      (await request(`GET /focus/groups/${groupId}`)).status,
      (await request(`POST /focus/groups/${groupId}`, workload({ subject: 'clarity' }))).status,
      (await request(`PATCH /focus/${id}`, terms({ action: 'Mine' }))).status,
      (await request(`POST /focus/${id}/check-in`, { outlook: 'done', note: '' })).status,
      (await request(`POST /focus/${id}/reopen`, { note: '' })).status,
      (await stop(request)).status,
    ];
    expect(await attempts(reader)).toEqual([200, 403, 403, 403, 403, 403]);
    for (const request of [other, stranger])
      expect(await attempts(request)).toEqual([404, 404, 404, 404, 404, 404]);
    for (const request of [auditor, user])
      expect(await attempts(request)).toEqual([403, 403, 403, 403, 403, 403]);
    expect((await groupFocus(reader, groupId)).canEdit).toBe(false);
    // The message is the same as for a focus that does not exist.
    const unknown = await other(`POST /focus/999999999/stop`, { note: '' });
    expect((await stop(other)).body.message).toBe(unknown.body.message);
    expect((await stop(owner)).status).toBe(204);
    for (const request of [owner, reader, other]) expect((await request('GET /focus')).status).toBe(403);
  });
});

test('administrators see how many groups have a focus and how many are on track, but not which groups', async () => {
  const { admin, groupId, account } = await scene();
  const others = await inTransaction(world.pool, async (tx) => [
    await createGroup(tx, account.id, { name: 'Secretive', parentId: groupId }),
    await createGroup(tx, account.id, { name: 'Idle', parentId: groupId }),
  ]);
  const first = await add(admin, groupId);
  const second = await add(admin, others[0]!, workload({ subject: 'clarity' }));
  await add(admin, others[0]!);
  await admin(`POST /focus/${first}/check-in`, { outlook: 'onTrack', note: '' });
  await admin(`POST /focus/${second}/check-in`, { outlook: 'done', note: '' });
  const { body, text } = await admin<FocusCounts>('GET /focus');
  expect(body).toEqual({
    groups: 3,
    withFocus: 2,
    open: 2,
    onTrack: 1,
    needsHelp: 0,
    notChecked: 1,
    due: 0,
    done: 1,
    stopped: 0,
  });
  expect(text).not.toMatch(/Secretive|Anna|meetings/);
});

describe('the answering page', () => {
  const page = (link: string, language = 'en') =>
    fetch(`${world.address}/a/${link}?language=${language}`).then((reply) => reply.text());
  /** Returns the sentence; undefined: there is none. */
  const newsOn = async (link: string, language?: string) =>
    /<div class="news">(.*)<\/div>/.exec(await page(link, language))?.[1]?.replaceAll(/<\/?b>/g, '');

  test('says in one sentence what the group of the person does, the same to everyone in it, whether or not they have answered', async () => {
    const { admin, asked, groupId, account } = await scene();
    expect(await newsOn(asked.links[0]!)).toBeUndefined();
    const id = await add(admin, groupId);
    const open =
      'You said, we’re on it. Everybody is working on “Workload and recovery”: No meetings before ten';
    expect(new Set(await Promise.all(asked.links.map((link) => newsOn(link))))).toEqual(new Set([open]));
    expect(await newsOn(asked.links[0]!, 'sv')).toContain(
      'Everybody arbetar med ”Arbetsbelastning och återhämtning”:',
    );
    expect(await newsOn(asked.links[0]!, 'de')).toContain(
      'Everybody arbeitet an „Arbeitsbelastung und Erholung“:',
    );
    await admin(`POST /focus/${id}/check-in`, { outlook: 'done', note: 'A secret note' });
    expect(await newsOn(asked.links[1]!)).toBe(
      'You said, we did. Everybody has worked on “Workload and recovery”: No meetings before ten',
    );
    // The closest group counts, and a group elsewhere never does.
    const [team, elsewhere] = await inTransaction(world.pool, async (tx) => {
      const added = [
        await createGroup(tx, account.id, { name: 'Team', parentId: groupId }),
        await createGroup(tx, account.id, { name: 'Elsewhere' }),
      ];
      await changeUser(tx, account.id, asked.userIds[0]!, { memberships: { memberOf: [added[0]!] } }, 0);
      return added as [number, number];
    });
    await add(admin, elsewhere, workload({ subject: 'clarity', action: 'Not for you' }));
    expect(await newsOn(asked.links[0]!)).toContain('Everybody has worked');
    const own = await add(admin, team, workload({ action: 'Only the team' }));
    expect(await newsOn(asked.links[0]!)).toContain(
      'Team is working on “Workload and recovery”: Only the team',
    );
    expect(await newsOn(asked.links[1]!)).not.toContain('team');
    // A stopped focus is no longer mentioned, and neither is one that was announced long ago.
    await admin(`POST /focus/${own}/stop`, { note: '' });
    expect(await newsOn(asked.links[0]!)).toContain('Everybody has worked');
    await world.pool`update focuses set announced_at = now() - interval '36 days' where account_id = ${account.id}`;
    expect(await newsOn(asked.links[0]!)).toBeUndefined();
  });

  test('escapes what managers write, and nothing that they write becomes a link or a tag', async () => {
    const { admin, asked, groupId } = await scene();
    const action = '<a href="https://evil.example">x</a><script>alert(1)</script> \u202eevil & "quoted"';
    await add(admin, groupId, workload({ action, responsible: '<b>me</b>' }));
    const html = await page(asked.links[0]!);
    expect(html).toContain('&lt;a href=&quot;https://evil.example&quot;&gt;');
    expect(html).not.toMatch(/<a href="https:\/\/evil|<script>alert|<b>me|\u202e/);
    const opened = await openLink(world.pool, world.keys, { link: asked.links[0]!, visit: null });
    expect(JSON.stringify(opened?.focus)).not.toContain('me</b>');
  });
});

describe('what happens to a focus', () => {
  test('if its group is removed: it is removed with it; if the group is moved, it stays', async () => {
    const { admin, groupId, account } = await scene();
    const [team, other] = await inTransaction(world.pool, async (tx) => [
      await createGroup(tx, account.id, { name: 'Team', parentId: groupId }),
      await createGroup(tx, account.id, { name: 'Other' }),
    ]);
    const id = await add(admin, team!);
    await inTransaction(world.pool, (tx) =>
      moveGroup(tx, account.id, team!, { from: groupId, parentId: other! }),
    );
    expect((await firstOf(admin, team!)).id).toBe(id);
    await inTransaction(world.pool, (tx) => removeGroup(tx, account.id, team!, deleteGroupResults));
    expect((await admin(`POST /focus/${id}/stop`, { note: '' })).status).toBe(404);
    expect(await world.pool`select 1 from focus_events where account_id = ${account.id}`).toHaveLength(0);
    // A push that leaves the group out removes it in the same way.
    await account.push({
      settings: { validateOnly: false },
      data: { groups: [{ externalId: 'pushed', name: 'Pushed' }] },
    });
    const [pushed] = await world.pool<{ id: number }[]>`
      select group_id as id from groups where account_id = ${account.id} and external_id = 'pushed'`;
    await add(admin, pushed!.id);
    const left = await account.push({
      settings: { validateOnly: false },
      data: { groups: [{ externalId: 'next', name: 'Next' }] },
    });
    expect(left.status).toBe(200);
    expect(await world.pool`select 1 from focuses where account_id = ${account.id}`).toHaveLength(0);
  });

  test('if its question is retired: it stays and can be finished, but no new one can be about that question', async () => {
    const { admin, groupId, account, asked } = await scene();
    const questionId = asked.questionIds.get('workload-pace')!;
    const about = { kind: 'question', subject: String(questionId), ...terms() };
    const id = await add(admin, groupId, about);
    await inTransaction(world.pool, (tx) => retireQuestion(tx, account.id, questionId, true));
    expect(await firstOf(admin, groupId)).toMatchObject({ state: 'open', subject: { isRetired: true } });
    expect((await admin(`POST /focus/${id}/check-in`, { outlook: 'done', note: '' })).status).toBe(204);
    expect((await admin(`POST /focus/groups/${groupId}`, about)).status).toBe(404);
  });

  test('if the person who wrote it is removed: it stays, without their name in its history', async () => {
    const one = await scene();
    const { account, admin, groupId } = one;
    const userId = await inTransaction(world.pool, (tx) =>
      createUser(tx, account.id, {
        firstName: 'Gone',
        email: 'gone@example.org',
        role: 'Manager',
        memberships: { adminOf: [groupId] },
      }),
    );
    await add(await signIn(world, account.id, userId), groupId);
    expect((await firstOf(admin, groupId)).history[0]?.who).toBe('Gone');
    await world.pool`delete from users where account_id = ${account.id} and user_id = ${userId}`;
    expect((await firstOf(admin, groupId)).history[0]?.who).toBeNull();
  });

  test('each change is in the audit log, without its texts', async () => {
    const { admin, groupId, account } = await scene();
    const id = await add(admin, groupId);
    await admin(`PATCH /focus/${id}`, terms({ action: 'Changed action' }));
    await admin(`POST /focus/${id}/check-in`, { outlook: 'needsHelp', note: 'A note' });
    await admin(`POST /focus/${id}/stop`, { note: 'A note' });
    await admin(`POST /focus/${id}/reopen`, { note: 'A note' });
    const entries = await world.pool<{ action: string; subject: string; details: object }[]>`
      select action, subject, details from audit_entries
      where  account_id = ${account.id} and action like 'focus %' order by entry_id`;
    expect(entries.map(({ action }) => action)).toEqual([
      'focus created',
      'focus changed',
      'focus checked in',
      'focus stopped',
      'focus reopened',
    ]);
    expect(entries.every(({ subject }) => subject === String(groupId))).toBe(true);
    expect(JSON.stringify(entries)).not.toMatch(/meetings|Anna|note|Changed/);
  });
});

test('each KPI of the library has suggestions with sources', async () => {
  const { admin, groupId } = await scene();
  await add(admin, groupId);
  const { focuses, suggestions, kpis } = await groupFocus(admin, groupId);
  expect(focuses[0]?.subject.name).toBe('Workload and recovery');
  for (const kpi of kpis) {
    const own = suggestions.filter(({ kpiId }) => kpiId === kpi.id);
    expect(own.length, kpi.id).toBeGreaterThanOrEqual(2);
    for (const { text, source } of own) {
      expect(text.length).toBeLessThanOrEqual(300);
      expect(source.title.length * source.publisher.length).toBeGreaterThan(0);
    }
  }
});
