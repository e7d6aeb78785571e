// Changes of a pull: a dry run comes first, also after another address, list, access or secret, and no attempt that has begun before a
// change is applied after it.
import { describe, expect, test } from 'vitest';
import { inTransaction } from '../db/db.ts';
import { pullById } from './pulls.ts';
import {
  ask,
  basicAccess,
  change,
  changeIn,
  type Company,
  database,
  lastFetch,
  newCompany,
  newPull,
  openHr,
  peopleIn,
  peopleList,
  pullDue,
  sendJson,
  steadyPull,
  usePullDatabase,
} from './pulls.fixture.ts';

usePullDatabase();

const steady = (settings = {}) => steadyPull(database, settings);
const view = ({ id }: Company, pullId: number) => pullById(database.pool, id, pullId);
const names = async (company: Company) => (await peopleIn(database.pool, company)).map(({ id }) => id);

describe('dry run first', () => {
  test('a new pull is off, does a dry run by itself, and can be turned on only after one without errors', async () => {
    const hr = await openHr((_, response) => sendJson(response, [{ a: 1 }]));
    const company = await newCompany(database.pool);
    const id = await newPull(database, company, { url: `${hr.url}/list` });
    await expect(change(database, company, id, { isOn: true })).rejects.toMatchObject({
      code: 'pull not tried',
    });
    expect(await pullDue(database, company)).toMatchObject({ outcome: 'stored', fileOutcome: 'refused' });
    await expect(change(database, company, id, { isOn: true })).rejects.toMatchObject({
      code: 'pull not tried',
    });
    hr.respond = (_, response) => sendJson(response, peopleList(3));
    await ask(database, company, id, true);
    expect(await pullDue(database, company)).toMatchObject({ reason: 'dryRun', fileOutcome: 'validated' });
    expect([await names(company), (await view(company, id)).nextAt]).toEqual([[], null]);
    await change(database, company, id, { isOn: true });
    expect((await view(company, id)).isOn).toBe(true);
  });

  test('another address, list, access or secret turns a pull off until the next dry run; another name or time does not', async () => {
    const { hr, company, id } = await steady();
    await change(database, company, id, { name: 'Renamed', repeat: 'weekly', hour: 3, weekday: 7 });
    expect((await view(company, id)).isOn).toBe(true);
    for (const changes of [
      { url: `${hr.url}/other` },
      { list: 'data' },
      { access: basicAccess, secret: 'x' },
      { secret: 'y' },
    ]) {
      await change(database, company, id, changes);
      expect(await view(company, id)).toMatchObject({ isOn: false, isTried: false, nextAt: null });
      await expect(change(database, company, id, { isOn: true })).rejects.toMatchObject({
        code: 'pull not tried',
      });
      hr.respond = (_, response) => sendJson(response, { data: peopleList(10), more: [] });
      await ask(database, company, id, true, Date.now() + 1000);
      await pullDue(database, company, Date.now() + 1000);
      await change(database, company, id, { isOn: true });
    }
  });

  test('what was asked for at another address becomes a dry run, and nothing is applied before one', async () => {
    const { hr, company, id } = await steady();
    hr.respond = (_, response) => sendJson(response, peopleList(11));
    await ask(database, company, id, false);
    await change(database, company, id, { url: `${hr.url}/other` });
    await expect(ask(database, company, id, false)).rejects.toMatchObject({ code: 'pull not tried' });
    expect(await pullDue(database, company)).toMatchObject({ reason: 'dryRun', fileOutcome: 'validated' });
    expect(await names(company)).toHaveLength(10);
    await ask(database, company, id, false);
    expect(await pullDue(database, company)).toMatchObject({ reason: 'fetch', fileOutcome: 'applied' });
    const never = await newPull(database, company, { url: `${hr.url}/list` });
    await expect(ask(database, company, never, false)).rejects.toMatchObject({ code: 'pull not tried' });
  });

  test('a dry run that ends while the change of the address waits does not count for the new address', async () => {
    const { hr, company, id } = await steady();
    await ask(database, company, id, true);
    await inTransaction(database.pool, async (tx) => {
      await tx`select now()`; // the transaction has begun
      await pullDue(database, company);
      await changeIn(tx, database, company, id, { url: `${hr.url}/other` });
    });
    expect(await view(company, id)).toMatchObject({ isOn: false, isTried: false });
  });

  test('an account whose files are only checked has nothing applied', async () => {
    const hr = await openHr((_, response) => sendJson(response, peopleList(3)));
    const company = await newCompany(database.pool, { applyFiles: false });
    const id = await newPull(database, company, { url: `${hr.url}/list` });
    await pullDue(database, company);
    await ask(database, company, id, false);
    expect(await pullDue(database, company)).toMatchObject({ reason: 'fetch', fileOutcome: 'validated' });
    expect(await names(company)).toEqual([]);
  });
});

describe('when it is fetched next', () => {
  const minute = 60_000;
  const nextOf = async (company: Company, id: number) => Date.parse((await view(company, id)).nextAt!);
  const failing = async () => {
    const all = await steady();
    all.hr.respond = (_, response) => response.writeHead(503).end();
    await pullDue(database, all.company, all.at);
    return all;
  };

  test('another name keeps the attempt after a failure and one that is overdue', async () => {
    const { company, id, at } = await failing();
    await change(database, company, id, { name: 'Renamed' }, at);
    expect(await nextOf(company, id)).toBe(at + 5 * minute);
    await change(database, company, id, { name: 'Again', isOn: true }, at + 90 * minute);
    expect(await nextOf(company, id)).toBe(at + 5 * minute);
  });

  test('other times take effect, but not later than an attempt after a failure', async () => {
    const { company, id, at } = await failing();
    await change(database, company, id, { repeat: 'weekly' }, at);
    expect(await nextOf(company, id)).toBe(at + 5 * minute);
    const other = await steady();
    const before = await nextOf(other.company, other.id);
    await change(database, other.company, other.id, { hour: 7 });
    const moved = (await nextOf(other.company, other.id)) - before;
    expect([60 * minute, -23 * 60 * minute]).toContain(moved);
  });

  test('times that are changed while the list is fetched are not overwritten', async () => {
    const { hr, company, id, at } = await steady();
    hr.respond = (_, response) =>
      void change(database, company, id, { repeat: 'hourly' }, at).then(() =>
        sendJson(response, peopleList(11)),
      );
    expect(await pullDue(database, company, at)).toMatchObject({ reason: 'schedule', outcome: 'stored' });
    expect((await nextOf(company, id)) - at).toBeLessThanOrEqual(60 * minute);
  });
});

describe('changes while a list is fetched', () => {
  test('a pull that is changed or removed while it is fetched stores nothing', async () => {
    const { hr, company, id, at } = await steady();
    for (const act of ['turn off', 'change', 'remove'] as const) {
      const before = await lastFetch(database.pool, company);
      hr.respond = (_, response) => {
        void (
          act !== 'remove'
            ? change(database, company, id, act === 'change' ? { url: `${hr.url}/new` } : { isOn: false })
            : database.pool`delete from pulls where account_id = ${company.id}`
        ).then(() => sendJson(response, peopleList(20)));
      };
      await pullDue(database, company, at);
      expect((await names(company)).length).toBe(10);
      expect(await lastFetch(database.pool, company)).toEqual(act === 'remove' ? undefined : before);
      await database.pool`update pulls set is_on = true, next_at = now() where account_id = ${company.id}`;
    }
  });
});
