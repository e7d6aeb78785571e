// Which changes record which events, that they are recorded in the transaction of the change, and that none depends on who has answered.
import { expect, test } from 'vitest';
import { recordExpiringTokens } from '../accounts/expiring-tokens.ts';
import { createToken } from '../accounts/tokens.ts';
import { openLink, saveAnswers } from '../answers/answering.ts';
import { createAccount } from '../accounts/accounts.ts';
import { inTransaction } from '../db/db.ts';
import { rejectRun } from '../files/approval.ts';
import { company, database, groupsFile, lines, pool, send, useDatabase } from '../files/process.fixture.ts';
import { expirePendingRuns } from '../sync/pending-runs.ts';
import { confirmAdministrator } from '../people/administrators.ts';
import { changeUser, createUser } from '../people/users.ts';
import { closeWeekNow } from '../results/close-week.ts';
import { askedWeek, askPeople, noon } from '../testing/asking.ts';
import { insertEndpoint, nextEndpointId } from '../webhooks/endpoints.sql.ts';
import { allEvents } from '../webhooks/webhooks.fixture.ts';
import { recordEvent } from './events.ts';

useDatabase();

/** Lets an account record every event. */
async function listen(accountId: number): Promise<void> {
  const more = { url: 'https://example.com/', description: '', secret: Buffer.alloc(1), createdBy: null };
  await inTransaction(pool, async (tx) =>
    insertEndpoint(tx, accountId, { id: await nextEndpointId(tx), events: allEvents, ...more }),
  );
}

/** Returns the events of an account in their order. */
const eventsOf = (accountId: number) => pool<
  { type: string; subject: string; data: Record<string, unknown> }[]
>`
  select type, subject, data from webhook_events where account_id = ${accountId} order by event_id`;

const typesOf = async (accountId: number) => (await eventsOf(accountId)).map(({ type }) => type);

const people = (count: number) =>
  lines('EmployeeID;FirstName;LastName', ...Array.from({ length: count }, (_, i) => `p${i};P${i};Person`));

test('a file records its run and itself, with counts and without names', async () => {
  const acme = await company({ maxUsersDeleted: 1 });
  await listen(acme.id);
  const { runId } = await send(acme, 'groups.csv', groupsFile);
  const changes = {
    users: { created: 0, updated: 0, deleted: 0 },
    groups: { created: 3, updated: 0, deleted: 0 },
  };
  expect(await eventsOf(acme.id)).toEqual([
    { type: 'run.applied', subject: `run ${runId}`, data: { runId, source: 'file', changes } },
    {
      type: 'file.processed',
      subject: expect.stringMatching(/^file \d+$/) as unknown,
      data: { fileId: expect.any(Number) as unknown, runId, outcome: 'applied' },
    },
  ]);
  await send(acme, 'people.csv', people(5));
  await send(acme, 'people.csv', people(1));
  const [pending] = await pool<{ id: string }[]>`
    select run_id as id from runs where account_id = ${acme.id} and outcome = 'pending'`;
  await rejectRun(pool, acme.id, pending!.id, { origin: 'console', userId: 1, address: '' });
  await send(acme, 'people.csv', people(2));
  await pool`update runs set at = now() - interval '40 days' where account_id = ${acme.id}`;
  await expirePendingRuns(pool, 30);
  await send(acme, 'people.csv', 'nonsense');
  const dry = await company({ applyFiles: false });
  await listen(dry.id);
  await send(dry, 'people.csv', people(1));
  const ended = ['run.applied file.processed', 'run.pending file.processed run.rejected'];
  const refused = ['run.pending file.processed run.refused', 'run.refused file.processed'];
  expect((await typesOf(acme.id)).slice(2).join(' ')).toBe([...ended, ...refused].join(' '));
  expect(await eventsOf(dry.id)).toMatchObject([{ type: 'file.processed', data: { outcome: 'validated' } }]);
  expect(JSON.stringify(await eventsOf(acme.id))).not.toMatch(/Person|csv|p1/);
});

test('a person who becomes an administrator is an event, when the role is confirmed', async () => {
  const acme = await company();
  await listen(acme.id);
  const ids = await inTransaction(pool, async (tx) => {
    const created = await createUser(tx, acme.id, {
      firstName: 'Ben',
      email: 'ben@example.org',
      role: 'Administrator',
    });
    const changed = await createUser(tx, acme.id, { firstName: 'Cleo', email: 'cleo@example.org' });
    await changeUser(tx, acme.id, changed, { role: 'Administrator' }, created);
    await changeUser(tx, acme.id, changed, { firstName: 'Clea' }, created);
    const pushed = await createUser(tx, acme.id, { firstName: 'Dan', email: 'dan@example.org' });
    await tx`update users set role = 'Administrator', role_pending = true
             where account_id = ${acme.id} and user_id = ${pushed}`;
    await confirmAdministrator(tx, acme.id, pushed);
    return [created, changed, pushed];
  });
  expect(await eventsOf(acme.id)).toEqual(
    ids.map((userId) => ({
      type: 'administrator.added',
      subject: `administrator ${userId}`,
      data: { userId },
    })),
  );
});

test('a token that expires is an event 14 and 3 days before, once each', async () => {
  const acme = await company();
  await listen(acme.id);
  const expires = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  const { id } = await createToken(pool, acme.id, {
    name: 'Secret project',
    scopes: ['data'],
    expires: expires(10),
  });
  await createToken(pool, acme.id, { name: 'later', scopes: ['data'], expires: expires(40) });
  for (let i = 0; i < 3; i++) await recordExpiringTokens(pool);
  expect(await typesOf(acme.id)).toEqual(['token.expiring']);
  await pool`update tokens set expires_at = now() + interval '2 days' where account_id = ${acme.id} and token_id = ${id}`;
  for (let i = 0; i < 3; i++) await recordExpiringTokens(pool);
  expect(await eventsOf(acme.id)).toMatchObject([
    { type: 'token.expiring', subject: `token ${id}`, data: { tokenId: id } },
    { type: 'token.expiring', subject: `token ${id}` },
  ]);
  expect(JSON.stringify(await eventsOf(acme.id))).not.toContain('Secret');
});

test('an event exists if and only if its change was committed, and only for accounts that want it', async () => {
  const acme = await company();
  const record = (accountId: number) =>
    inTransaction(pool, (tx) => recordEvent(tx, accountId, 'week.opened', askedWeek, { week: askedWeek }));
  await record(acme.id);
  await listen(acme.id);
  await inTransaction(pool, async (tx) => {
    await recordEvent(tx, acme.id, 'week.opened', askedWeek, { week: askedWeek });
    throw new Error('rolled back');
  }).catch(() => {});
  expect(await eventsOf(acme.id)).toEqual([]);
  await record(acme.id);
  expect(await typesOf(acme.id)).toEqual(['week.opened']);
});

test('events do not reveal who has answered, or whether anyone has: weeks have the same ones at the same times', async () => {
  const seen = [];
  for (const answering of [0, 1, 6]) {
    const accountId = await inTransaction(
      pool,
      async (tx) => (await createAccount(tx, { name: 'Acme', timezone: 'UTC' })).id,
    );
    await listen(accountId);
    const { links, questionIds } = await askPeople(database, accountId);
    expect(await typesOf(accountId)).toEqual(['week.opened']);
    for (const link of links.slice(0, answering)) {
      const by = { link, visit: `visit-${link}`.slice(0, 27).padEnd(27, 'x') };
      await openLink(pool, database.keys, by);
      const answer = { questionId: questionIds.get('workload-amount')!, value: 4, comment: 'I am Ada' };
      await saveAnswers(pool, database.keys, by, [answer]);
    }
    expect(await typesOf(accountId)).toEqual(['week.opened']);
    await closeWeekNow(pool, database.keys, accountId, askedWeek, noon);
    seen.push(await eventsOf(accountId));
  }
  const about = { subject: `week ${askedWeek}`, data: { week: askedWeek } };
  const expected = ['week.opened', 'week.closed', 'week.published'].map((type) => ({ type, ...about }));
  expect(seen).toEqual([expected, expected, expected]);
});
