// The service is killed while the client reads the feed and while it pushes: the rows and the changes are those of one that was not.
import { changeAccount, createAccount } from '@soundings/server/src/accounts/accounts.ts';
import { createToken } from '@soundings/server/src/accounts/tokens.ts';
import { inTransaction } from '@soundings/server/src/db/db.ts';
import { createUser } from '@soundings/server/src/people/users.ts';
import { AnswerKeys } from '@soundings/server/src/sealing/answer-keys.ts';
import { caseCount } from '@soundings/server/src/testing/house/cases.ts';
import { noLimits, person, unit } from '@soundings/server/src/testing/organizations.ts';
import { freePort } from '@soundings/server/src/testing/processes/free-port.ts';
import {
  connectionsTo,
  newDataDir,
  type Service,
  started,
  useDirectory,
} from '@soundings/server/src/testing/processes/processes.ts';
import { importLines, kpi, question, round } from '@soundings/server/src/testing/surveys.ts';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Soundings } from './soundings.ts';
import type { FeedRow } from './survey-data.ts';

useDirectory();

/** A service on a port that stays the same after a kill, with an account and a client that repeats often. */
async function open() {
  const dataDir = await newDataDir();
  const settings = { PORT: String(await freePort()), RATE_LIMIT: '0' };
  const again = () => started(dataDir, settings);
  const service = await again();
  const pool = await connectionsTo(service);
  const accountId = await inTransaction(pool, async (tx) => {
    const { id } = await createAccount(tx, { name: 'Test' });
    await changeAccount(tx, id, { largestPush: 100_000 });
    await createUser(tx, id, {
      firstName: 'A',
      lastName: 'B',
      email: 'a@example.org',
      role: 'Administrator',
    });
    return id;
  });
  const { token } = await createToken(pool, accountId, { name: 'test', scopes: ['data', 'organization'] });
  const clientWith = (more = {}) =>
    new Soundings({ url: service.address, token, retries: 100, backoffMs: 20, ...more });
  return { dataDir, service, pool, accountId, again, clientWith };
}

async function kill({ child, exited }: Service): Promise<void> {
  child.kill('SIGKILL');
  await exited;
}

test('the feed has each row once and in order, although the service is killed on the way', async () => {
  const { dataDir, service, pool, accountId, again, clientWith } = await open();
  const client = clientWith();
  const named = (id: string, more = {}) => unit(id, { name: `${id} `.padEnd(450, 'é'), ...more });
  const teams = Array.from({ length: 150 }, (_, i) => `g${i}`);
  const groups = [named('top'), ...teams.map((id) => named(id, { parent: 'top' }))];
  await client.organization.push({ groups }, { approve: () => true });
  const weeks = Array.from({ length: 30 }, (_, i) => `2025-W${i + 10}`);
  const people = Object.fromEntries(teams.map((id, i) => [`p${i}`, [id]]));
  const keys = new AnswerKeys(pool, { place: 'file', directory: join(dataDir, 'keys') });
  await importLines({ pool, keys } as Parameters<typeof importLines>[0], accountId, [
    question('mood', 1),
    kpi('energy', ['mood']),
    ...weeks.map((week) => round(week, 'top', ['mood'], people)),
  ]);
  const whole: FeedRow[] = [];
  for await (const row of client.feed()) whole.push(row);
  expect(whole).toHaveLength(groups.length * weeks.length * 3);

  const rows: FeedRow[] = [];
  let requests = 0;
  const counting: typeof fetch = (input, init) => {
    requests++;
    // 15 MB, so that the rows don't all fit into the buffers of the connection.
    return fetch(input, {
      ...init,
      headers: { ...(init?.headers as object), 'accept-encoding': 'identity' },
    });
  };
  for await (const row of clientWith({ fetch: counting }).feed()) {
    rows.push(row);
    if (rows.length !== 100) continue;
    await kill(service);
    await again();
  }
  expect(rows).toEqual(whole);
  expect(requests).toBe(2);
});

test.each([
  ['as one request', noLimits],
  ['in parts', { ...noLimits, maxUsersCreated: 20_001 }],
])(
  'a push %s is applied once, although the service is killed while it applies it',
  { timeout: 400_000 },
  async (_way, settings) => {
    const { service, pool, accountId, again, clientWith } = await open();
    let running = service;
    let interrupted = 0;
    for (let i = 0; i < caseCount('CLIENT_KILLS', 8); i++) {
      const users = Array.from({ length: 4000 }, (_, n) => person(`u${n}`, { firstName: `Name ${i}` }));
      let restarted: Promise<Service> | undefined;
      let isApproved = false;
      const killing: typeof fetch = (input, init) => {
        const response = fetch(input, init).catch((error: unknown) => {
          if (isApproved) interrupted++;
          throw error;
        });
        // The first kill is early enough to interrupt it.
        if (isApproved && !restarted)
          restarted = sleep(i === 0 ? 30 : Math.random() * 600).then(async () => {
            await kill(running);
            // The commit of a push in parts is considered lost only after two minutes.
            await pool`
            update runs set at = at - interval '3 minutes' where account_id = ${accountId} and outcome = 'processing'`;
            return again();
          });
        return response;
      };
      const result = await clientWith({ fetch: killing }).organization.push(
        { users },
        { approve: () => (isApproved = true), settings },
      );
      running = (await (restarted as Promise<Service> | undefined)) ?? running;
      expect(result.outcome).toBe('applied');
      expect((await clientWith().organization.plan({ users })).changes).toEqual([]);
      const [{ count }] = await pool<[{ count: number }]>`
      select count(*)::integer as count from runs where account_id = ${accountId} and outcome = 'applied'`;
      expect(count).toBe(i + 1);
    }
    expect(interrupted).toBeGreaterThan(0);
  },
);
