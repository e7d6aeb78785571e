// The outcomes of a pull: dry runs change nothing, an unchanged list is not processed again, a shorter list waits for approval, failures
// are repeated and reported.
import type { PullError } from '@soundings/contract/pulls/pull-values.ts';
import { describe, expect, test } from 'vitest';
import { changeAccount } from '../accounts/accounts.ts';
import { inTransaction } from '../db/db.ts';
import { openUpload } from '../files/store.ts';
import { ThreadTimeout } from '../jobs/threads.ts';
import { claimPulls } from './claims.sql.ts';
import { fileNameFor, recordDefect } from './fetch-pull.ts';
import { pullById } from './pulls.ts';
import { selectNextTime } from './pulls.sql.ts';
import {
  ask,
  change,
  type Company,
  database,
  fetchDue,
  fetchingOf,
  type HrServer,
  lastFetch,
  newCompany,
  newPull,
  peopleIn,
  peopleList,
  pullDue,
  sendJson,
  steadyPull,
  usePullDatabase,
} from './pulls.fixture.ts';

usePullDatabase();

const [minute, day] = [60_000, 86_400_000];
const steady = (settings = {}) => steadyPull(database, settings);
const view = ({ id }: Company, pullId: number) => pullById(database.pool, id, pullId);
const names = async (company: Company) => (await peopleIn(database.pool, company)).map(({ id }) => id);
const mails = async (company: Company) => {
  const rows = await database.pool<{ count: number }[]>`
    select count(*)::integer as count from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id
    where t.identifier = 'mail pull notice' and (j.payload ->> 'accountId')::integer = ${company.id}`;
  return rows[0]!.count;
};

describe('lists', () => {
  test('the same list is not processed again, but after another import or a request it is', async () => {
    const { company, id, at } = await steady();
    expect(await pullDue(database, company, at)).toMatchObject({
      reason: 'schedule',
      outcome: 'unchanged',
      fileOutcome: 'applied',
    });
    const upload = await openUpload(
      database.pool,
      { accountId: company.id, via: 'console', tokenId: null, userId: company.userId, address: '127.0.0.1' },
      'other.csv',
    );
    await upload.write(0, Buffer.from('EmployeeID;FirstName;LastName;Department\r\n1;Other;X;Ops\r\n'));
    await upload.finish('other.csv');
    await inTransaction(database.pool, (tx) => changeAccount(tx, company.id, { filesPartial: true }));
    await pullDue(database, company, at);
    expect((await peopleIn(database.pool, company))[0]!.name).toBe('Other X');
    expect(await pullDue(database, company, at + day)).toMatchObject({
      outcome: 'stored',
      fileOutcome: 'applied',
    });
    expect((await peopleIn(database.pool, company))[0]!.name).toBe('P1 X');
    await ask(database, company, id, false, at + day);
    expect(await pullDue(database, company, at + day)).toMatchObject({ reason: 'fetch', outcome: 'stored' });
  });

  test('the same list is processed again after a column or a value was mapped, and after a dry run', async () => {
    const { company, id, at } = await steady();
    const mappings = ['column', 'value'] as const;
    for (const mapped of mappings) {
      expect(await pullDue(database, company, at)).toMatchObject({ outcome: 'unchanged' });
      await inTransaction(database.pool, async (tx) => {
        if (mapped === 'column')
          await tx`insert into column_mappings (account_id, headers_digest, kind, columns, user_id)
                   values (${company.id}, '\\x00', 'users', '[]', ${company.userId})`;
        else
          await tx`insert into value_mappings (account_id, field, value_key, value, meaning, user_id)
                   values (${company.id}, 'active', 'leave', 'Leave', 'true', ${company.userId})`;
        await tx`update pulls set next_at = ${new Date(at)} where account_id = ${company.id}`;
      });
      expect([mapped, (await pullDue(database, company, at))?.outcome]).toEqual([mapped, 'stored']);
      await database.pool`update pulls set next_at = ${new Date(at)} where account_id = ${company.id}`;
    }
    expect(await pullDue(database, company, at)).toMatchObject({ outcome: 'unchanged' });
    await ask(database, company, id, true, at);
    await pullDue(database, company, at);
    expect(await pullDue(database, company, at + day)).toMatchObject({
      reason: 'schedule',
      outcome: 'stored',
    });
  });

  test('a list that was refused and is still the same says that it was refused', async () => {
    const { hr, company, at } = await steady();
    hr.respond = (_, response) =>
      response.writeHead(200, { 'content-type': 'text/csv' }).end('Foo,Bar\r\n1,2\r\n');
    expect(await pullDue(database, company, at)).toMatchObject({ outcome: 'stored', fileOutcome: 'refused' });
    expect(await pullDue(database, company, at + day)).toMatchObject({
      outcome: 'unchanged',
      fileOutcome: 'refused',
    });
  });

  test('the source is asked whether the list has changed, as far as it said which one it was', async () => {
    const { hr, company, at } = await steady();
    hr.respond = ({ headers }, response) =>
      headers['if-none-match'] === '"v2"'
        ? response.writeHead(304).end()
        : sendJson(response, peopleList(11), { etag: '"v2"' });
    expect(await pullDue(database, company, at)).toMatchObject({ outcome: 'stored', fileOutcome: 'applied' });
    expect(await pullDue(database, company, at + day)).toMatchObject({ outcome: 'unchanged' });
    expect(hr.seen.at(-1)!.headers['if-none-match']).toBe('"v2"');
  });

  test('an empty list is a failure and removes no one, even without limits', async () => {
    const { hr, company, at } = await steady({ maxUsersDeleted: 20_000 });
    for (const body of ['[]', '', 'EmployeeID;FirstName;LastName\r\n']) {
      hr.respond = (_, response) =>
        response
          .writeHead(200, { 'content-type': body === '[]' ? 'application/json' : 'text/csv' })
          .end(body);
      const last = await pullDue(database, company, at + day * (body.length + 1));
      expect([body, last?.error ?? last?.fileOutcome]).toEqual([
        body,
        body.startsWith('E') ? 'refused' : 'empty',
      ]);
      expect((await names(company)).length).toBe(10);
    }
  });

  test('a list that has become shorter than the limits allow awaits approval', async () => {
    const { hr, company, at } = await steady({ maxUsersDeleted: 2 });
    hr.respond = (_, response) => sendJson(response, peopleList(3));
    expect(await pullDue(database, company, at)).toMatchObject({ outcome: 'stored', fileOutcome: 'pending' });
    expect((await names(company)).length).toBe(10);
    expect(await pullDue(database, company, at + day)).toMatchObject({ outcome: 'unchanged' });
  });

  test('a field that is missing in one list keeps its column, and the people keep their values', async () => {
    const { hr, company, at } = await steady();
    hr.respond = (_, response) =>
      sendJson(
        response,
        peopleList(10).map(({ Department: _d, ...rest }) => ({ ...rest, LastName: 'Y' })),
      );
    expect(await pullDue(database, company, at)).toMatchObject({ fileOutcome: 'applied' });
    expect((await peopleIn(database.pool, company))[0]).toMatchObject({ name: 'P1 Y', groups: ['Ops'] });
  });

  test('a new field becomes a column only in a dry run, so that a column mapping is not lost', async () => {
    const { hr, company, id, at } = await steady();
    const columns = async () => {
      const [row] = await database.pool<{ columns: string[] }[]>`
        select columns from pulls where account_id = ${company.id} and pull_id = ${id}`;
      return row!.columns.length;
    };
    const before = await columns();
    hr.respond = (_, response) =>
      sendJson(
        response,
        peopleList(11).map((one) => ({ ...one, Shoe: 44 })),
      );
    expect(await pullDue(database, company, at)).toMatchObject({ fileOutcome: 'applied' });
    expect([await names(company), await columns()]).toMatchObject([{ length: 11 }, before]);
    await ask(database, company, id, true);
    await pullDue(database, company);
    expect(await columns()).toBe(before + 1);
  });

  test('the columns are still known after the source has sent a CSV file in between', async () => {
    const { hr, company, id, at } = await steady();
    const columns = async () =>
      (
        await database.pool`select columns from pulls where account_id = ${company.id} and pull_id = ${id}`
      )[0];
    const before = await columns();
    expect(before).toEqual({ columns: ['EmployeeID', 'FirstName', 'LastName', 'Department'] });
    const csv = 'EmployeeID,FirstName,LastName,Department\r\n1,P1,X,Ops\r\n';
    hr.respond = (_, response) => response.writeHead(200, { 'content-type': 'text/csv' }).end(csv);
    expect(await pullDue(database, company, at)).toMatchObject({ outcome: 'stored' });
    expect(await columns()).toEqual(before);
    // A new field is still left out, and a missing one keeps its column.
    const changed = peopleList(10).map(({ Department: _department, ...one }) => ({ ...one, Shoe: 44 }));
    hr.respond = (_, response) => sendJson(response, changed);
    expect(await pullDue(database, company, at + day)).toMatchObject({ fileOutcome: 'applied' });
    expect(await columns()).toEqual(before);
  });

  test('a list that is too large for the file area is a failure with the reason', async () => {
    const { hr, company, at } = await steady();
    hr.respond = (_, response) => response.writeHead(200, { 'content-type': 'text/csv' }).end('%PDF-1.7');
    expect(await pullDue(database, company, at)).toMatchObject({
      error: 'storage',
      detail: expect.stringContaining('PDF') as string,
    });
  });
});

describe('two pulls of people', () => {
  const other = (count: number) =>
    Array.from({ length: count }, (_, i) => ({
      EmployeeID: `b${i}`,
      FirstName: `B${i}`,
      LastName: 'Y',
      Department: 'North',
    }));

  /** A pull that is on, and a second one after its dry run. */
  async function two(list: object[], settings = {}) {
    const first = await steady(settings);
    const { hr, company } = first;
    const people = hr.respond;
    hr.respond = (request, response) =>
      request.url === '/second' ? sendJson(response, list) : people(request, response);
    const second = await newPull(database, company, { url: `${hr.url}/second`, name: 'Second' });
    expect(await pullDue(database, company)).toMatchObject({ reason: 'dryRun', fileOutcome: 'validated' });
    return { ...first, second };
  }

  test('can not be on together, and the second one is not applied on request either: no one is removed', async () => {
    const { company, id, second, at } = await two(other(10));
    const refusal = { code: 'pulls overlap', message: expect.stringContaining('"People"') as string };
    await expect(change(database, company, second, { isOn: true })).rejects.toMatchObject(refusal);
    await expect(ask(database, company, second, false)).rejects.toMatchObject(refusal);
    await ask(database, company, second, true); // a dry run changes nothing
    expect(await pullDue(database, company)).toMatchObject({ fileOutcome: 'validated' });
    expect(await pullDue(database, company, at)).toMatchObject({ outcome: 'unchanged' });
    expect(await names(company)).toHaveLength(10);
    await change(database, company, id, { isOn: false });
    await change(database, company, second, { isOn: true });
  });

  test('both fail if lists become complete while both are on, until one is off', async () => {
    const { company, second, at } = await two(other(10), { filesPartial: true });
    await change(database, company, second, { isOn: true });
    await ask(database, company, second, false);
    expect(await pullDue(database, company)).toMatchObject({ fileOutcome: 'applied' });
    expect(await names(company)).toHaveLength(20);
    await inTransaction(database.pool, (tx) => changeAccount(tx, company.id, { filesPartial: false }));
    await fetchDue(database, at);
    await fetchDue(database, at);
    const failed = await database.pool`
      select distinct error, detail from pull_fetches where account_id = ${company.id} and outcome = 'failed' order by detail`;
    expect([...failed]).toEqual([
      { error: 'overlap', detail: 'People' },
      { error: 'overlap', detail: 'Second' },
    ]);
    expect(await mails(company)).toBe(2);
    expect(await names(company)).toHaveLength(20);
    await change(database, company, second, { isOn: false });
    expect(await pullDue(database, company, at + day)).toMatchObject({ outcome: 'stored' });
  });

  test('do not include a pull of groups only', async () => {
    const { company, second } = await two([{ 'Group ID': 'g1', 'Group name': 'North', 'Parent group': '' }]);
    await change(database, company, second, { isOn: true });
    await ask(database, company, second, false);
    await pullDue(database, company);
    expect(await names(company)).toHaveLength(10);
  });
});

describe('failures', () => {
  const failing = (status: number) => (hr: HrServer) =>
    (hr.respond = (_, response) => response.writeHead(status).end());

  test('a failure that may be over soon is repeated three times, then administrators get one email', async () => {
    const { hr, company, id, at } = await steady();
    failing(503)(hr);
    let now = at;
    for (const [i, pause] of [5, 15, 60].entries()) {
      expect(await pullDue(database, company, now)).toMatchObject({
        error: 'status',
        detail: `${hr.host}: HTTP 503`,
      });
      expect([i, Date.parse((await view(company, id)).nextAt!) - now]).toEqual([i, pause * minute]);
      expect(await mails(company)).toBe(0);
      now += pause * minute;
    }
    await pullDue(database, company, now);
    expect(await mails(company)).toBe(1);
    expect(Date.parse((await view(company, id)).nextAt!) - now).toBeGreaterThan(60 * minute);
    await pullDue(database, company, now + day);
    expect(await mails(company)).toBe(1);
    hr.respond = (_, response) => sendJson(response, peopleList(10));
    await pullDue(database, company, now + 2 * day);
    expect((await view(company, id)).failingSince).toBeNull();
    failing(401)(hr);
    await pullDue(database, company, now + 3 * day);
    expect(await mails(company)).toBe(2);
    const [entry] = await database.pool<{ details: object }[]>`
      select details from audit_entries where account_id = ${company.id} and action = 'pull failing' order by entry_id desc limit 1`;
    expect(entry!.details).toEqual({ name: 'People', host: hr.host, error: 'refused' });
  });

  const outOfMemory = Object.assign(new Error('memory'), { code: 'ERR_WORKER_OUT_OF_MEMORY' });
  test.each<[string, unknown, PullError, boolean]>([
    ['takes too long', new ThreadTimeout('late'), 'timeout', true],
    ['runs out of memory', outOfMemory, 'large', false],
    ['has a defect', new TypeError('x'), 'internal', true],
  ])('a thread that %s is a failure with this reason', async (_, thrown, error, isBrief) => {
    const { company, id, at } = await steady();
    const claims = { claim: crypto.randomUUID(), count: 1, now: at, until: at + minute };
    const [claimed] = await claimPulls(database.pool, claims);
    await recordDefect(
      fetchingOf(database, () => at),
      claimed!,
      thrown,
    );
    expect(await lastFetch(database.pool, company)).toMatchObject({ outcome: 'failed', error });
    const isSoon = Date.parse((await view(company, id)).nextAt!) === at + 5 * minute;
    expect([isSoon, await mails(company)]).toEqual([isBrief, isBrief ? 0 : 1]);
  });

  test('refused credentials are not sent again before the next time, so that no account is locked', async () => {
    const { hr, company, at } = await steady();
    failing(401)(hr);
    await pullDue(database, company, at);
    const count = hr.seen.length;
    await fetchDue(database, at + 90 * minute);
    expect(hr.seen.length).toBe(count);
    expect(await mails(company)).toBe(1);
  });

  test('an administrator who asks for a list sees the failure without an email, and the schedule stays', async () => {
    const { hr, company, id } = await steady();
    const { nextAt } = await view(company, id);
    failing(500)(hr);
    await ask(database, company, id, true);
    expect(await pullDue(database, company)).toMatchObject({ reason: 'dryRun', error: 'status' });
    expect([await mails(company), (await view(company, id)).nextAt]).toEqual([0, nextAt]);
  });

  test.each<[string, string, PullError]>([
    ['a host that does not exist', 'https://soundings.invalid/', 'unreachable'],
    ['a private address', 'http://10.0.0.1/', 'address'],
  ])('%s', async (_, url, error) => {
    const company = await newCompany(database.pool);
    const id = await newPull(database, company, { url: 'https://example.com/' });
    await database.pool`update pulls set url = ${url} where account_id = ${company.id} and pull_id = ${id}`;
    expect(await pullDue(database, company)).toMatchObject({ error });
  });
});

describe('times', () => {
  test.each<
    [string, { repeat: 'hourly' | 'daily' | 'weekly'; hour: number; weekday: number }, string, string]
  >([
    [
      'the next hour',
      { repeat: 'hourly', hour: 0, weekday: 1 },
      '2026-11-26T19:10:00Z',
      '2026-11-26T20:00:00Z',
    ],
    [
      'later today',
      { repeat: 'daily', hour: 23, weekday: 1 },
      '2026-11-26T19:10:00Z',
      '2026-11-26T22:00:00Z',
    ],
    ['tomorrow', { repeat: 'daily', hour: 6, weekday: 1 }, '2026-11-26T19:10:00Z', '2026-11-27T05:00:00Z'],
    [
      'exactly now is the next day',
      { repeat: 'daily', hour: 6, weekday: 1 },
      '2026-11-27T05:00:00Z',
      '2026-11-28T05:00:00Z',
    ],
    ['in summer', { repeat: 'daily', hour: 6, weekday: 1 }, '2026-07-01T12:00:00Z', '2026-07-02T04:00:00Z'],
    [
      'an hour that the clocks skip',
      { repeat: 'daily', hour: 2, weekday: 1 },
      '2027-03-27T12:00:00Z',
      '2027-03-28T01:00:00Z',
    ],
    ['on Monday', { repeat: 'weekly', hour: 6, weekday: 1 }, '2026-11-26T19:10:00Z', '2026-11-30T05:00:00Z'],
    ['in a week', { repeat: 'weekly', hour: 6, weekday: 4 }, '2026-11-26T19:10:00Z', '2026-12-03T05:00:00Z'],
  ])('%s', async (_, at, now, next) => {
    const { id } = await newCompany(database.pool);
    const time = await selectNextTime(database.pool, id, at, Date.parse(now));
    expect(new Date(time).toISOString()).toBe(next.replace('Z', '.000Z'));
  });

  test.each([
    ['People', 'People.csv'],
    ['a/b\\c:d*?"<>|', 'a-b-c-d------.csv'],
    ['con', 'list con.csv'],
    ['...', 'list.csv'],
    ['Ärenden\u202e', 'Ärenden-.csv'],
    ['ü'.repeat(100), `${'ü'.repeat(95)}.csv`],
  ])('the file of %j has a valid name', (name, expected) => {
    expect(fileNameFor(name, 'csv')).toBe(expected);
  });
});
