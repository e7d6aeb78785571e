// Questions, schedules and weeks in the console: who has access, which fields are refused, what is logged, and that an open week
// never reveals who has answered.
import type {
  KpiView,
  Library,
  OpenWeek,
  QuestionView,
  Rounds,
  ScheduleBody,
  ScheduleCheck,
  SchedulePreview,
  Schedules,
} from '@soundings/contract/console/asking.ts';
import type { Problem } from '@soundings/contract/problem.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { beginSession } from '../../auth/sessions.ts';
import { openLog } from '../../base/log.ts';
import { inTransaction } from '../../db/db.ts';
import { createUser } from '../../people/users.ts';
import { openDueRounds } from '../../rounds/opening.ts';
import { countParticipation } from '../../rounds/participation.ts';
import { closeWeekNow } from '../../results/close-week.ts';
import { askPeople, type AskedAccount, askedWeek, noon, planAsking } from '../../testing/asking.ts';
import { openSmtp, type TestSmtp } from '../../testing/smtp.ts';
import { until } from '../../testing/until.ts';
import { openWorld, type World } from '../../testing/world.ts';

let world: World;
let smtp: TestSmtp;
let asked: AskedAccount;
let cookies: Record<'Administrator' | 'Manager', string>;
/** An administrator of another account that also has the library, a question and a schedule. */
let stranger: { cookie: string; scheduleId: number; questionId: number };

beforeAll(async () => {
  smtp = await openSmtp();
  world = await openWorld(
    openLog('fatal'),
    { smtpUrl: smtp.url, publicUrl: 'http://soundings.test' },
    () => noon,
  );
  const account = await world.account({ timezone: 'Europe/Stockholm' });
  asked = await askPeople(world, account.id, { count: 12 });
  cookies = {
    Administrator: await signIn(account.id, 'ada@example.org'),
    Manager: await signIn(account.id, 'mona@example.org'),
  };
  const other = await world.account();
  const { scheduleId, questionIds } = await planAsking(world.pool, other.id);
  const cookie = await signIn(other.id, 'ada@example.org');
  stranger = { cookie, scheduleId, questionId: questionIds.get('workload-amount')! };
});
afterAll(async () => {
  await world.close();
  await smtp.close();
});

async function signIn(accountId: number, email: string): Promise<string> {
  const { pool } = world;
  const [row] = await pool<{ id: number }[]>`
    select user_id as id from users where account_id = ${accountId} and email = ${email}`;
  const userId =
    row?.id ??
    (await inTransaction(pool, (tx) =>
      createUser(tx, accountId, { firstName: 'Mona', lastName: 'Manager', email, role: 'Manager' }),
    ));
  const secret = await beginSession(pool, { accountId, userId }, { address: '::1', agent: 'test' });
  return `soundings=${secret}`;
}

async function request<T = Problem>(
  method: string,
  path: string,
  { body, cookie = cookies.Administrator }: { body?: unknown; cookie?: string } = {},
): Promise<{ status: number; body: T }> {
  return world.request<T>(method, `/api${path}`, {
    headers: { cookie, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

const types = ({ body }: { body: Problem }) => body.details.map(({ type }) => type);
const paths = ({ body }: { body: Problem }) => body.details.map(({ path }) => path);
const logged = async () =>
  (
    await world.pool<{ action: string }[]>`
      select action from audit_entries where account_id = ${asked.accountId} and origin = 'console' order by entry_id`
  ).map(({ action }) => action);

const canteen = {
  key: 'canteen',
  type: 5,
  text: 'How is the canteen?',
  language: 'en',
  translations: { sv: 'Hur är matsalen?' },
  options: [
    { id: 'good', text: 'Good', translations: { sv: 'Bra' } },
    { id: 'bad', text: 'Bad' },
  ],
  kpiIds: [],
};

describe('the library', () => {
  test('is only for administrators', async () => {
    const operations = ['/library', '/library/kpis', '/schedules', '/rounds'];
    const states = await Promise.all(
      operations.map((path) => request('GET', path, { cookie: cookies.Manager })),
    );
    expect(states.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
  });

  test('lists each question with its KPIs, its languages and when it was asked', async () => {
    const { body } = await request<Library>('GET', '/library');
    expect(body.questions.find(({ key }) => key === 'workload-amount')).toMatchObject({
      kpiIds: ['workload'],
      languages: ['en', 'ar', 'da', 'de', 'es', 'fi', 'fr', 'nb', 'nl', 'pl', 'sv'],
      weeks: 1,
      last: { week: '2026-11-16', name: '2026-W47', last: '2026-11-22' },
    });
    expect(body.questions.find(({ key }) => key === 'workload-off')).toMatchObject({ weeks: 0, last: null });
    const id = asked.questionIds.get('workload-amount')!;
    const page = await request<QuestionView>('GET', `/library/questions/${id}`);
    expect(page.body.askedIn).toMatchObject([
      { isOpen: true, groups: [{ name: 'Everybody' }], schedules: [{ id: asked.scheduleId }] },
    ]);
    expect(page.body.schedules).toMatchObject([{ id: asked.scheduleId, isFixed: true }]);
  });

  test('saves a question, and later a new text for it, but refuses other options', async () => {
    const created = await request<{ id: number }>('POST', '/library/questions', { body: canteen });
    expect(created.status).toBe(200);
    const path = `/library/questions/${created.body.id}`;
    const { version: seen } = (await request<QuestionView>('GET', path)).body;
    const texts = { text: 'How is our canteen?', translations: {}, options: canteen.options };
    const changed = await request<{ version: string }>('PUT', path, { body: { ...texts, version: seen } });
    expect(changed.status).toBe(200);
    const late = await request('PUT', path, { body: { ...texts, text: 'How is it?', version: seen } });
    expect([late.status, late.body.details[0]?.type]).toEqual([409, 'changed since']);
    const { version } = changed.body;
    const page = (await request<QuestionView>('GET', path)).body;
    expect(page).toMatchObject({ text: 'How is our canteen?', languages: ['en'], partly: ['sv'] });
    const fewer = await request('PUT', path, {
      body: { ...texts, version, options: [...canteen.options, { id: 'new', text: 'New' }] },
    });
    expect([fewer.status, paths(fewer)]).toEqual([409, ['/options']]);
    expect((await request('PUT', `${path}/retired`, { body: { isRetired: true } })).status).toBe(204);
    expect((await request<QuestionView>('GET', path)).body.isRetired).toBe(true);
    expect(await logged()).toEqual(['question created', 'question changed', 'question retired']);
  });

  test('names every invalid field of a question', async () => {
    const wrong = await request('POST', '/library/questions', {
      body: {
        ...canteen,
        key: ' canteen',
        language: 'xx',
        text: ' ',
        translations: { qq: 'x' },
        options: [
          { id: 'a', text: 'A' },
          { id: 'a', text: ' ' },
        ],
        kpiIds: ['workload'],
      },
    });
    expect(wrong.status).toBe(400);
    expect(paths(wrong)).toEqual([
      '/key',
      '/language',
      '/text',
      '/translations/qq',
      '/options/1/id',
      '/options/1/text',
      '/kpiIds',
    ]);
    expect(types(wrong)).toEqual([
      'space at an end',
      'invalid language',
      'missing field',
      'invalid language',
      'option taken',
      'missing field',
      'question without value',
    ]);
    const taken = await request('POST', '/library/questions', {
      body: { ...canteen, key: 'workload-amount' },
    });
    expect(taken.body.details).toMatchObject([{ type: 'key taken', path: '/key' }]);
  });

  test('does not find questions, schedules or KPIs of another account', async () => {
    const { questionId, scheduleId } = stranger;
    const texts = { text: 'x', translations: {}, options: [], version: 'x' };
    const responses = await Promise.all([
      request('GET', `/library/questions/${questionId}`),
      request('PUT', `/library/questions/${questionId}`, { body: texts }),
      request('PUT', `/library/questions/${questionId}/retired`, { body: { isRetired: true } }),
      request('GET', '/library/questions/99999999999999'),
      request('PUT', '/library/kpis/none', {
        body: { name: 'x', translations: {}, imageUrl: null, questionIds: [], version: 'x' },
      }),
      request('GET', `/schedules/${scheduleId}/preview`),
      request('PUT', `/schedules/${scheduleId}`, { body: { ...weeklySchedule(), version: 'x' } }),
      request('PUT', `/schedules/${scheduleId}/paused`, { body: { isPaused: true } }),
      request('POST', `/schedules/${scheduleId}/test`, { body: { kind: 'invitation' } }),
      request('DELETE', `/schedules/${scheduleId}`),
      request('POST', '/rounds/2026-11-09/close'),
      request('POST', '/rounds/yesterday/close'),
      request('POST', '/rounds/2026-11-09/links', { body: { isReplacing: false } }),
    ]);
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 404));
  });

  test('saves KPIs that consist only of questions with a value', async () => {
    const [scaled, free] = ['workload-amount', 'works-well'].map((key) => asked.questionIds.get(key)!);
    const kpis = async () => (await request<{ kpis: KpiView[] }>('GET', '/library/kpis')).body.kpis;
    const translations = { sv: 'Arbetsplats' };
    const kpi = { id: 'place', name: 'Workplace', translations, imageUrl: null, questionIds: [scaled] };
    expect((await request('POST', '/library/kpis', { body: kpi })).status).toBe(204);
    const seen = (await kpis()).find(({ id }) => id === 'place')?.version;
    const wrong = await request('PUT', '/library/kpis/place', {
      body: {
        name: ' ',
        translations: { sv: ' ', xx: 'Place' },
        imageUrl: 'javascript:x',
        questionIds: [free],
        version: seen,
      },
    });
    expect(paths(wrong)).toEqual([
      '/name',
      '/translations/sv',
      '/translations/xx',
      '/imageUrl',
      '/questionIds',
    ]);
    expect(types(wrong)).toEqual([
      'missing field',
      'missing field',
      'invalid language',
      'invalid url',
      'question without value',
    ]);
    expect(paths(await request('POST', '/library/kpis', { body: kpi }))).toEqual(['/id']);
    expect((await kpis()).find(({ id }) => id === 'place')).toMatchObject({
      name: 'Workplace',
      translations,
      questions: [{ id: scaled }],
    });
    const renamed = { name: 'Place', translations: {}, imageUrl: null, questionIds: [scaled], version: seen };
    const responses = [
      await request('PUT', '/library/kpis/place', { body: renamed }),
      await request('PUT', '/library/kpis/place', { body: { ...renamed, name: 'Office' } }),
    ];
    expect(responses.map(({ status }) => status)).toEqual([204, 409]);
  });
});

/** A schedule for Thursdays, as the form sends it. */
const weeklySchedule = (fields: Partial<ScheduleBody> = {}): ScheduleBody => ({
  name: 'Thursdays',
  questionIds: [],
  kpiIds: ['workload', 'clarity'],
  perWeek: 2,
  everyWeeks: 5,
  groupIds: [asked.groupId],
  withoutGroupIds: [],
  byDate: null,
  repeat: 'weeks',
  repeatWeeks: 1,
  weekday: 4,
  hour: 9,
  anyHour: false,
  reminderDays: null,
  reminderHour: null,
  fromDay: '2026-11-18',
  untilDay: null,
  ...fields,
});

describe('schedules', () => {
  test('are listed with what they asked, what they will ask, and how many people they ask', async () => {
    const { body } = await request<Schedules>('GET', '/schedules');
    expect(body.weeks).toHaveLength(25);
    expect(body.weeks[12]).toEqual({ week: '2026-11-16', last: '2026-11-22', name: '2026-W47', isNow: true });
    const [schedule] = body.schedules;
    expect(schedule).toMatchObject({
      audience: { people: 12, reachable: 12 },
      next: { name: '2026-W48', day: '2026-11-23' },
      last: { name: '2026-W47', outcome: 'opened', people: 12 },
      isLate: false,
    });
    expect(schedule!.cells).toHaveLength(13);
    expect(schedule!.cells[0]).toMatchObject({ state: 'opened', people: 12, day: '2026-11-16' });
    expect(schedule!.cells[1]).toMatchObject({ state: 'due', questionIds: schedule!.questionIds });
    expect(body.groups).toEqual([{ id: asked.groupId, name: 'Everybody' }]);
  });

  test('are created, changed, paused and removed, each time with an entry in the audit log', async () => {
    const before = (await logged()).length;
    const created = await request<{ id: number }>('POST', '/schedules', { body: weeklySchedule() });
    const path = `/schedules/${created.body.id}`;
    const one = async () =>
      (await request<Schedules>('GET', '/schedules')).body.schedules.find(({ id }) => id === created.body.id);
    expect((await one())?.next).toEqual({ name: '2026-W47', day: '2026-11-19' });
    expect((await one())?.cells.map(({ questionIds }) => questionIds.length)).toEqual(Array(13).fill(2));
    const version = (await one())?.version;
    const fridays = weeklySchedule({ weekday: 5, repeatWeeks: 2, perWeek: 5 });
    const changed = await request<{ version: string }>('PUT', path, { body: { ...fridays, version } });
    expect((await one())?.next?.day).toBe('2026-11-20');
    expect((await one())?.version).toBe(changed.body.version);
    const late = await request('PUT', path, { body: { ...weeklySchedule({ name: 'Late' }), version } });
    expect([late.status, late.body.details[0]?.type]).toEqual([409, 'changed since']);
    await request('PUT', `${path}/paused`, { body: { isPaused: true } });
    expect(await one()).toMatchObject({ isPaused: true, next: null, cells: [] });
    await request('PUT', `${path}/paused`, { body: { isPaused: false } });
    // A change without effect is not logged.
    await request('PUT', `${path}/paused`, { body: { isPaused: false } });
    await request('PUT', path, { body: { ...fridays, version: changed.body.version } });
    expect((await request('DELETE', path)).status).toBe(204);
    expect(await one()).toBeUndefined();
    expect((await logged()).slice(before)).toEqual([
      'schedule created',
      'schedule changed',
      'schedule paused',
      'schedule resumed',
      'schedule removed',
    ]);
  });

  test('that are late are not shown as next, because a past day is never shown as next', async () => {
    const due = weeklySchedule({ name: 'Mondays', weekday: 1, fromDay: '2026-11-16' });
    const { id } = (await request<{ id: number }>('POST', '/schedules', { body: due })).body;
    const { coming, next } = (await request<Rounds>('GET', '/rounds')).body;
    const own = coming.filter(({ schedule }) => schedule === 'Mondays');
    expect(own.map(({ day, isLate }) => [day, isLate])).toEqual([
      ['2026-11-16', true],
      ['2026-11-23', false],
    ]);
    expect(next?.day).toBe('2026-11-23');
    const { body } = await request<SchedulePreview>('GET', `/schedules/${id}/preview`);
    expect([body.next?.day, body.isLate]).toEqual(['2026-11-16', true]);
    await request('DELETE', `/schedules/${id}`);
  });

  test('name each invalid field and save nothing', async () => {
    const body = weeklySchedule({
      name: ' ',
      perWeek: 1,
      groupIds: [],
      weekday: 6,
      hour: 5,
      untilDay: '2026-01-01',
      reminderDays: 3,
      reminderHour: 9,
    });
    const wrong = await request('POST', '/schedules', { body });
    expect(wrong.status).toBe(400);
    expect([...new Set(paths(wrong))]).toEqual([
      '/name',
      '/groupIds',
      '/weekday',
      '/hour',
      '/untilDay',
      '/reminderDays',
      '/perWeek',
    ]);
    expect(types(wrong)).toEqual([
      'missing field',
      'no groups',
      'on a weekend',
      'at night',
      'ends too early',
      'invalid reminder',
      'too few at a time',
    ]);
    const unknown = await request('POST', '/schedules', {
      body: weeklySchedule({ groupIds: [-1], kpiIds: ['none'] }),
    });
    expect(paths(unknown)).toEqual(['/groupIds', '/kpiIds']);
    expect(types(unknown)).toEqual(['group not found', 'kpi not found']);
    const far = weeklySchedule({ fromDay: '9999-12-27' });
    expect(paths(await request('POST', '/schedules', { body: far }))).toEqual(['/fromDay']);
    const checked = await request<ScheduleCheck>('POST', '/schedules-check', { body: far });
    expect(checked.body.faults).toMatchObject([{ path: '/fromDay' }]);
    expect((await request<Schedules>('GET', '/schedules')).body.schedules).toHaveLength(1);
  });

  test('show a preview of their effect while they are edited', async () => {
    const { body } = await request<ScheduleCheck>('POST', '/schedules-check', {
      body: weeklySchedule({ weekday: 1, fromDay: '2026-11-16' }),
    });
    expect(body).toMatchObject({ faults: [], audience: { people: 12, reachable: 12 }, isAtOnce: true });
    expect(body.coming[0]).toMatchObject({ week: { name: '2026-W47' }, day: '2026-11-16' });
    const wrong = await request<ScheduleCheck>('POST', '/schedules-check', {
      body: weeklySchedule({ hour: 5 }),
    });
    expect(wrong.body).toMatchObject({ faults: [{ path: '/hour' }], coming: [] });
  });

  test('show the page that people will see, and mail a test message to the caller', async () => {
    const { body } = await request<SchedulePreview>('GET', `/schedules/${asked.scheduleId}/preview`);
    expect(body.questions.map(({ key }) => key)).toEqual(['workload-amount', 'workload-rested']);
    expect(body.texts['sv']?.asks).toBe('Test har 2 frågor till dig.');
    const sent = await request('POST', `/schedules/${asked.scheduleId}/test`, { body: { kind: 'reminder' } });
    expect(sent).toMatchObject({ status: 200, body: { address: 'ada@example.org' } });
    const mail = smtp.mails.find(({ to }) => to[0] === 'ada@example.org');
    expect(mail!.text).toContain(`http://soundings.test/schedules/${asked.scheduleId}/preview`);
    expect(mail!.text).not.toContain('soundings.test/a/');
    expect((await logged()).at(-1)).toBe('test mail sent');
  });
});

describe('an open week', () => {
  const openWeek = async () => (await request<Rounds>('GET', '/rounds')).body.open[0] as OpenWeek;
  const answerBy = async (links: string[], questionIds: AskedAccount['questionIds']) =>
    Promise.all(
      links.map((link) =>
        world.request('POST', `/a/${link}`, {
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: `q${questionIds.get('workload-amount')}=4`,
        }),
      ),
    );
  const answer = async (people: number) => answerBy(asked.links.slice(0, people), asked.questionIds);

  const day = 86_400_000;
  /** Makes the people of an account users who have been active for a month by the service's clock. */
  const makeUsersSettled = (id: number) =>
    world.pool`update users set active_since = ${new Date(noon - 30 * day)} where account_id = ${id}`;
  /** Makes the schedules of an account open their weeks on Monday. */
  const openOnMonday = (id: number) =>
    world.pool`update schedule_weeks set at = '2026-11-16T09:00Z' where account_id = ${id}`;

  test('updates the number of answers once a day and in steps, so that no one can watch a person', async () => {
    await makeUsersSettled(asked.accountId);
    await openOnMonday(asked.accountId);
    expect(await openWeek()).toMatchObject({ name: '2026-W47', asked: 12, answered: { state: 'notYet' } });
    await answer(4);
    expect((await openWeek()).answered).toEqual({ state: 'notYet' });
    await countParticipation(world.pool, world.keys, noon);
    const first = (await openWeek()).answered;
    expect(first).toEqual({ state: 'atLeast', count: 0, on: '2026-11-18', step: 10 });
    await answer(12);
    await countParticipation(world.pool, world.keys, noon + 1);
    expect((await openWeek()).answered).toEqual(first);
    await countParticipation(world.pool, world.keys, noon + day);
    // The number never shows that all people have answered: for 12 people it is 10, or 0 if the steps start at 2.
    const { answered } = await openWeek();
    expect(answered).toMatchObject({ state: 'atLeast', on: '2026-11-19', step: 10 });
    expect([0, 10]).toContain((answered as { count: number }).count);
  });

  test('does not count again immediately when the account gets another time zone', async () => {
    const account = await world.account({ timezone: 'America/Los_Angeles' });
    await askPeople(world, account.id, { count: 12 });
    await openOnMonday(account.id);
    const counts = async (timezone: string, at: number) => {
      await world.pool`update accounts set timezone = ${timezone} where account_id = ${account.id}`;
      await countParticipation(world.pool, world.keys, at);
      const [row] = await world.pool<{ at: Date }[]>`
        select participation_at as at from weeks where account_id = ${account.id}`;
      return row!.at.getTime();
    };
    expect(await counts('America/Los_Angeles', noon)).toBe(noon);
    expect(await counts('Pacific/Kiritimati', noon + 60_000)).toBe(noon);
    expect(await counts('Pacific/Kiritimati', noon + (20 * day) / 24)).toBe(noon + (20 * day) / 24);
  });

  test('never shows that all people have answered', async () => {
    const account = await world.account();
    const { links, questionIds } = await askPeople(world, account.id, { count: 10 });
    await makeUsersSettled(account.id);
    await openOnMonday(account.id);
    const cookie = await signIn(account.id, 'ada@example.org');
    await answerBy(links, questionIds);
    await countParticipation(world.pool, world.keys, noon);
    const { open } = (await request<Rounds>('GET', '/rounds', { cookie })).body;
    expect(open).toMatchObject([{ asked: 10, answered: { state: 'atLeast', count: 0 } }]);
  });

  test('goes on until it closes even if its schedule is removed: answers, the number of them, and the response rate', async () => {
    const account = await world.account();
    const { links, questionIds, scheduleId, groupId } = await askPeople(world, account.id, { count: 30 });
    await makeUsersSettled(account.id);
    await openOnMonday(account.id);
    const cookie = await signIn(account.id, 'ada@example.org');
    const { open: before } = (await request<Rounds>('GET', '/rounds', { cookie })).body;
    expect((await request('DELETE', `/schedules/${scheduleId}`, { cookie })).status).toBe(204);
    const week = async () => (await request<Rounds>('GET', '/rounds', { cookie })).body.open[0] as OpenWeek;
    const [round] = before[0]!.rounds;
    expect((await week()).rounds).toEqual([{ ...round, name: null }]);
    await countParticipation(world.pool, world.keys, noon);
    expect((await week()).answered).toMatchObject({ count: 0, on: '2026-11-18' });
    await answerBy(links, questionIds);
    await countParticipation(world.pool, world.keys, noon + day);
    const { answered } = await week();
    expect(answered).toMatchObject({ state: 'atLeast', on: '2026-11-19' });
    // Of 30 people at least 29 count, less the secret start of the steps.
    expect([10, 20]).toContain((answered as { count: number }).count);
    // What a process of an older version leaves if it removes a schedule.
    await world.pool`
      insert into schedule_weeks (account_id, schedule_id, week, outcome, question_ids, people)
      select account_id, schedule_id, week - 14, outcome, question_ids, people from schedule_weeks where account_id = ${account.id}`;
    await closeWeekNow(world.pool, world.keys, account.id, askedWeek, noon);
    const rates = await world.pool`
      select asked as "asked", answered as "answered" from response_rates
      where  account_id = ${account.id} and group_id = ${groupId}`;
    expect(rates).toEqual([{ asked: 30, answered: 30 }]);
    const left = await world.pool`select from schedule_weeks where account_id = ${account.id}`;
    expect(left).toHaveLength(0);
  });

  test('with fewer people than a step, shows nothing about answers or reminders', async () => {
    const account = await world.account();
    await askPeople(world, account.id, { count: 3 });
    await makeUsersSettled(account.id);
    await openOnMonday(account.id);
    const cookie = await signIn(account.id, 'ada@example.org');
    await countParticipation(world.pool, world.keys, noon);
    const { open } = (await request<Rounds>('GET', '/rounds', { cookie })).body;
    expect(open).toMatchObject([{ asked: 3, answered: { state: 'tooFew', step: 10 } }]);
    expect(open[0]?.reminders).not.toHaveProperty('sent');
  });

  test('shows due reminders as sent, because waiting ones would show that people have not answered', async () => {
    const account = await world.account();
    await askPeople(world, account.id, { count: 3 });
    await makeUsersSettled(account.id);
    await openOnMonday(account.id);
    const cookie = await signIn(account.id, 'ada@example.org');
    const reminders = async () =>
      (await request<Rounds>('GET', '/rounds', { cookie })).body.open[0]?.reminders.state;
    await world.pool`delete from messages where account_id = ${account.id}`;
    await world.pool`
      insert into messages (account_id, user_id, week, schedule_id, kind, due_at, late_since, any_hour)
      select account_id, user_id, week, 1, 'reminder', ${new Date(noon + 3_600_000)}, null, true
      from   participants where account_id = ${account.id}`;
    expect(await reminders()).toBe('waiting');
    await world.pool`update messages set late_since = ${new Date(noon - 60_000)} where account_id = ${account.id}`;
    expect(await reminders()).toBe('sent');
  });

  test('exports links only for people who cannot get email', async () => {
    const links = () =>
      request<{ name: string; csv: string; people: number } & Problem>('POST', '/rounds/2026-11-16/links', {
        body: { isReplacing: false },
      });
    const refused = await links();
    expect([refused.status, refused.body.details[0]?.type]).toEqual([409, 'no links to hand out']);
    await world.pool`
      update users set email = null, email_key = null where account_id = ${asked.accountId} and external_id in ('p1', 'p2')`;
    // No link is handed out to a person who has been mailed, as a job does that is due each minute.
    await world.pool`
      delete from messages m using users u
      where  m.account_id = ${asked.accountId} and u.account_id = m.account_id and u.user_id = m.user_id
        and  u.external_id in ('p1', 'p2')`;
    const { body } = await links();
    expect(body).toMatchObject({ name: 'links-2026-W47.csv', people: 2 });
    expect(body.csv.split('\r\n')).toHaveLength(4);
    expect(body.csv).toMatch(/http:\/\/soundings\.test\/a\/[0-9A-Za-z]{27}\r\n/);
    expect((await logged()).at(-1)).toBe('links exported');
  });

  test('is closed once, by a job, when an administrator requests it', async () => {
    await openDueRounds(world.pool, world.keys, noon);
    expect((await request('POST', '/rounds/2026-11-16/close')).status).toBe(204);
    await until(async () => (await request<Rounds>('GET', '/rounds')).body.open.length === 0);
    const { closed } = (await request<Rounds>('GET', '/rounds')).body;
    expect(closed).toMatchObject([{ name: '2026-W47', schedules: ['Weekly pulse'] }]);
    const again = await request('POST', '/rounds/2026-11-16/close');
    expect([again.status, again.body.details[0]?.type]).toEqual([409, 'week closed']);
    expect(await logged()).toContain('week close requested');
  });
});
