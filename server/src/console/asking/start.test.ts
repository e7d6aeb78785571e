// From an empty account to the first round: the steps follow the account's data, a template creates everything it needs, and asking at
// once asks the people who were shown, once.
import type { Rounds, Schedules } from '@soundings/contract/console/asking.ts';
import type { AskNow, Start, Templates } from '@soundings/contract/console/start.ts';
import type { Session } from '@soundings/contract/console/session.ts';
import { templateIds } from '@soundings/contract/template-ids.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openLog } from '../../base/log.ts';
import { defineAttribute } from '../../people/attributes.changes.ts';
import { inTransaction } from '../../db/db.ts';
import { createGroup } from '../../people/groups.ts';
import { changeUser, createUser } from '../../people/users.ts';
import { defineLibrary, retireQuestions } from '../../questions/questions.ts';
import { openDueRounds } from '../../rounds/opening.ts';
import { askedWeek, noon, planAsking } from '../../testing/asking.ts';
import { type SendRequest, signInNew } from '../../testing/signed-in.ts';
import { openSmtp, type TestSmtp } from '../../testing/smtp.ts';
import { until } from '../../testing/until.ts';
import { openWorld, type World } from '../../testing/world.ts';

let [world, smtp] = [undefined as unknown as World, undefined as unknown as TestSmtp];
let clock = noon;
beforeAll(async () => {
  smtp = await openSmtp();
  world = await openWorld(openLog('silent'), { smtpUrl: smtp.url }, () => clock);
});
afterAll(async () => {
  await world.close();
  await smtp.close();
});

let [accountId, request] = [0, undefined as unknown as SendRequest];
beforeEach(async () => {
  clock = noon;
  accountId = (await world.account()).id;
  ({ request } = await signInNew(world, accountId, 'Administrator'));
});

const start = async () => (await request<Start>('GET /start')).body;
const done = async () => (await start()).steps.flatMap(({ name, isDone }) => (isDone ? [name] : []));
const schedules = async () => (await request<Schedules>('GET /schedules')).body.schedules;
const preview = async (id: number, by = request) =>
  (await by<AskNow>(`POST /schedules/${id}/ask`, { isPreview: true })).body;
const ask = (id: number, version: string, by = request) =>
  by<AskNow>(`POST /schedules/${id}/ask`, { isPreview: false, version });
const library = (language = 'en') =>
  inTransaction(world.pool, (tx) => defineLibrary(tx, accountId, language));

/** Adds a group with people. */
const staff = (count: number, tag = '') =>
  inTransaction(world.pool, async (tx) => {
    const group = await createGroup(tx, accountId, { name: `North${tag}` });
    for (let i = 0; i < count; i++) {
      const email = `n${i}${tag}-${accountId}@example.org`;
      await createUser(tx, accountId, {
        firstName: 'N',
        lastName: `${i}`,
        email,
        memberships: { memberOf: [group] },
      });
    }
    return group;
  });

describe('the steps', () => {
  test('are done as soon as the account has what they are about, and open again when it no longer has', async () => {
    expect(await done()).toEqual(['company']);
    await library();
    const group = await staff(6);
    expect(await done()).toEqual(['company', 'people', 'groups']);
    const { scheduleId } = (await request<{ scheduleId: number }>('POST /templates/pulse', {})).body;
    expect((await start()).schedule).toEqual({ id: scheduleId, name: 'Weekly pulse' });
    await request(`POST /schedules/${scheduleId}/test`, { kind: 'invitation' });
    await ask(scheduleId, (await preview(scheduleId)).version);
    expect(await done()).toEqual(['company', 'people', 'groups', 'pulse', 'testMail', 'ask']);
    expect((await start()).week?.week).toBe(askedWeek);
    const { userId } = await signInNew(world, accountId, 'Manager');
    expect(await start()).toMatchObject({ uninvited: 2 }); // with Ada
    const chosen = { filters: { signIn: 'uninvited' } };
    const { seen } = (await request<{ seen: string }>('POST /users/invitations', { chosen, isPreview: true }))
      .body;
    await request('POST /users/invitations', { chosen, isPreview: false, seen });
    expect(await start()).toMatchObject({ uninvited: 0, invited: 2 }); // Ann herself is not counted
    expect(await done()).toContain('invite');
    await inTransaction(world.pool, (tx) => changeUser(tx, accountId, userId, { active: false }, 0));
    await world.pool`delete from memberships where account_id = ${accountId} and group_id = ${group}`;
    expect(await done()).not.toContain('groups');
  });

  test('are for administrators only; dismissing them is logged and hides the page for all of them', async () => {
    const manager = await signInNew(world, accountId, 'Manager');
    const other = await signInNew(world, accountId, 'Administrator');
    const bodyOf = (operation: string) =>
      operation.startsWith('PUT') ? { isDismissed: true } : operation.startsWith('POST') ? {} : undefined;
    const isStarting = async (by: SendRequest) => (await by<Session>('GET /session')).body.isStarting;
    for (const operation of ['GET /start', 'GET /templates', 'POST /templates/pulse', 'PUT /start/dismissed'])
      expect([operation, (await manager.request(operation, bodyOf(operation))).status]).toEqual([
        operation,
        403,
      ]);
    expect([await isStarting(manager.request), await isStarting(other.request)]).toEqual([false, true]);
    for (let i = 0; i < 2; i++) await request('PUT /start/dismissed', { isDismissed: true });
    expect([await isStarting(other.request), (await start()).isDismissed]).toEqual([false, true]);
    const logged = await world.pool`
      select details from audit_entries where account_id = ${accountId} and action = 'settings changed'`;
    expect(logged.map((one) => one['details'])).toEqual([{ gettingStarted: false }]);
  });
});

describe('templates', () => {
  test.each(['en', 'sv', 'de'])(
    'each creates its questions, its KPI and a schedule in an account in %s, also twice',
    async (language) => {
      await world.pool`update accounts set language = ${language} where account_id = ${accountId}`;
      await library(language);
      await staff(6);
      const { templates, people } = (await request<Templates>('GET /templates')).body;
      expect([templates.map(({ id }) => id), people]).toEqual([[...templateIds], 6]);
      await inTransaction(world.pool, (tx) =>
        defineAttribute(tx, accountId, { name: 'started', allowedValues: null }),
      );
      for (const { id, byDate } of [...templates, templates[2]!]) {
        const body = byDate ? { attribute: 'started' } : {};
        expect([id, (await request(`POST /templates/${id}`, body)).status]).toEqual([id, 200]);
      }
      const created = await schedules();
      expect(created.map(({ name, repeatWeeks, audience }) => [name, repeatWeeks, audience.people])).toEqual([
        [templates[0]!.name, 1, 6],
        [templates[1]!.name, 13, 6],
        [templates[2]!.name, 26, 6],
        // No one has a date yet.
        ...templates.slice(3).map(({ name }) => [name, 1, 0]),
        [templates[2]!.name, 26, 6],
      ]);
      expect(created.at(-1)!.questionIds).toEqual(created[2]!.questionIds);
      expect(created[3]!.byDate).toEqual({
        attribute: 'started',
        side: 'after',
        fromDays: 30,
        untilDays: 59,
        minPeople: 8,
      });
      const [shared] = await world.pool<{ questions: number }[]>`
        select count(*)::int as questions from kpi_questions where account_id = ${accountId} and kpi_id = 'onboarding'`;
      expect(shared?.questions).toBe(12);
      const texts = (await request<Schedules>('GET /schedules')).body.questions;
      expect(
        texts.filter(({ key }) => key.startsWith('osa-')).every((one) => one.language === language),
      ).toBe(true);
      const [kpi] = await world.pool`
      select kpi_id from kpis where account_id = ${accountId} and kpi_id = 'work-environment'`;
      expect(kpi).toBeDefined();
    },
  );

  test('one that chooses people by a date needs an attribute, which must exist', async () => {
    await library();
    await staff(6);
    for (const body of [{}, { attribute: 'none' }]) {
      const refused = await request('POST /templates/exit', body);
      expect(refused.status).toBe(400);
      expect(refused.body.details[0]?.path).toMatch(/attribute$/);
    }
    expect(
      await world.pool`select from questions where account_id = ${accountId} and key like 'exit%'`,
    ).toHaveLength(0);
  });

  test('a retired question of a template is asked again; without groups, nothing is created', async () => {
    await library();
    const refused = await request('POST /templates/enps', {});
    expect([refused.status, refused.body.details[0]?.type]).toEqual([400, 'no groups']);
    expect(
      await world.pool`select from questions where account_id = ${accountId} and key like 'enps%'`,
    ).toHaveLength(0);
    expect((await request('POST /templates/none', {})).status).toBe(404);
    await staff(6);
    await request('POST /templates/enps', {});
    await inTransaction(world.pool, (tx) => retireQuestions(tx, accountId, ['enps-reason'], true));
    expect((await request('POST /templates/enps', {})).status).toBe(200);
    const [row] = await world.pool`
      select retired_at from questions where account_id = ${accountId} and key = 'enps-reason'`;
    expect(row?.['retired_at']).toBeNull();
  });
});

describe('asking at once', () => {
  test('shows who is asked and until when; asks once, sends at once, and the rhythm counts from this week', async () => {
    await library();
    await staff(6);
    const { scheduleId: id } = (await request<{ scheduleId: number }>('POST /templates/enps', {})).body;
    const plan = await preview(id);
    expect(plan).toMatchObject({
      people: 6,
      reachable: 6,
      groups: ['North'],
      without: [],
      questions: 2,
      isAsked: false,
    });
    expect(plan).toMatchObject({ week: { week: askedWeek }, endsAt: '2026-11-23T00:00:00.000Z' });
    const mails = smtp.mails.length;
    expect((await ask(id, plan.version)).body).toMatchObject({ people: 6, isAsked: true });
    await until(async () => smtp.mails.length === mails + 6);
    const [schedule] = await schedules();
    expect(schedule).toMatchObject({ fromDay: askedWeek, last: { outcome: 'opened', people: 6 } });
    expect(schedule!.next!.day).toBe('2027-02-16');
    const again = await ask(id, (await preview(id)).version);
    expect([
      again.status,
      (again.body as unknown as { details: { type: string }[] }).details[0]!.type,
    ]).toEqual([409, 'already asked']);
    clock = noon + 3 * 86_400_000;
    expect(await openDueRounds(world.pool, world.keys, clock, { accountId })).toEqual([]);
    const [entry] = await world.pool`
      select details from audit_entries where account_id = ${accountId} and action = 'schedule asked'`;
    expect(entry?.['details']).toEqual({ name: 'eNPS each quarter', week: '2026-W47', people: 6 });
  });

  test('not on a weekend, when no one would get a message before the week ends, unless the schedule allows any hour', async () => {
    const { scheduleId: id } = await planAsking(world.pool, accountId, { fromDay: '2026-11-30' });
    expect(await preview(id)).toMatchObject({ reachable: 6, isTooLate: false });
    clock = noon + 3 * 86_400_000; // Saturday
    const plan = await preview(id);
    expect(plan).toMatchObject({ week: { week: askedWeek }, reachable: 6, isTooLate: true });
    expect((await ask(id, plan.version)).body).toMatchObject({ details: [{ type: 'not asked' }] });
    expect([...(await world.pool`select from weeks where account_id = ${accountId}`)]).toEqual([]);
    // Where someone lives, it is still Friday afternoon.
    clock = Date.parse('2026-11-20T21:00:00Z');
    expect((await preview(id)).isTooLate).toBe(true);
    await world.pool`
      update users set timezone = 'America/New_York' where account_id = ${accountId} and external_id = 'p1'`;
    expect((await preview(id)).isTooLate).toBe(false);
    clock = noon + 3 * 86_400_000;
    await world.pool`update schedules set any_hour = true where account_id = ${accountId}`;
    const sending = await preview(id);
    expect(sending.isTooLate).toBe(false);
    expect((await ask(id, sending.version)).status).toBe(200);
    await until(async () => smtp.mails.some(({ to }) => String(to).includes('p6@example.org')));
  });

  test('two administrators at the same time ask once; a group that changed after the preview is refused', async () => {
    const { scheduleId: id } = await planAsking(world.pool, accountId, { fromDay: '2026-11-30' });
    const second = await signInNew(world, accountId, 'Administrator');
    const plan = await preview(id);
    await world.pool`update users set active = false where account_id = ${accountId} and external_id = 'p1'`;
    expect((await ask(id, plan.version)).status).toBe(409);
    const { version } = await preview(id);
    const results = await Promise.all([ask(id, version), ask(id, version, second.request)]);
    expect(results.map(({ status }) => status).filter((one) => one === 200)).toHaveLength(1);
    const rounds = await world.pool`select from rounds where account_id = ${accountId}`;
    expect(rounds).toHaveLength(1);
    expect((await request<Rounds>('GET /rounds')).body.open[0]).toMatchObject({ asked: 5 });
  });

  test('questions that the rules of a week forbid are refused with the reason, and nothing is stored (P17)', async () => {
    const { scheduleId: id, questionIds } = await planAsking(world.pool, accountId, {
      fromDay: '2026-11-30',
    });
    const other = { ...(await schedules())[0]!, name: 'Same question', fromDay: '2026-11-30' };
    const {
      id: _,
      version: __,
      isPaused: _p,
      audience: _a,
      next: _n,
      isLate: _l,
      last: _la,
      cells: _c,
      waits: _w,
      ...body
    } = other;
    const twin = (
      await request<{ id: number }>('POST /schedules', {
        ...body,
        questionIds: [questionIds.get('workload-amount')],
      })
    ).body.id;
    await ask(id, (await preview(id)).version);
    // One person fewer than in the first round.
    await world.pool`update users set active = false where account_id = ${accountId} and external_id = 'p1'`;
    const refused = await ask(twin, (await preview(twin)).version);
    expect([
      refused.status,
      (refused.body as unknown as { details: { type: string }[] }).details[0]!.type,
    ]).toEqual([409, 'not asked']);
    const weeks =
      await world.pool`select from schedule_weeks where account_id = ${accountId} and schedule_id = ${twin}`;
    expect(weeks).toHaveLength(0);
  });

  test('managers and other accounts can neither see what would be asked nor ask', async () => {
    const { scheduleId: id } = await planAsking(world.pool, accountId);
    const manager = await signInNew(world, accountId, 'Manager');
    const stranger = await signInNew(world, (await world.account()).id, 'Administrator');
    const body = { isPreview: true };
    expect((await manager.request(`POST /schedules/${id}/ask`, body)).status).toBe(403);
    expect((await stranger.request(`POST /schedules/${id}/ask`, body)).status).toBe(404);
  });
});
