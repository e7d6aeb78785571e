// The service is killed at random moments, while parts arrive and while a commit runs: nothing is half applied, the run fails, the push is open
// again with all its parts, and the result is that of one request. PUSH_KILLS=40 kills it forty times.
import type { Push } from '@soundings/contract/people/push-parts.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createAccount } from '../../accounts/accounts.ts';
import { createToken } from '../../accounts/tokens.ts';
import { inTransaction, type Pool } from '../../db/db.ts';
import { createUser } from '../../people/users.ts';
import { caseCount } from '../../testing/house/cases.ts';
import { noLimits, person, unit } from '../../testing/organizations.ts';
import { freePort } from '../../testing/processes/free-port.ts';
import {
  connectionsTo,
  newDataDir,
  type Service,
  started,
  useDirectory,
} from '../../testing/processes/processes.ts';
import { until } from '../../testing/until.ts';
import { stateOf } from './account-state.fixture.ts';

useDirectory();

type Data = { users?: object[]; groups?: object[] };

const chance = (share: number) => Math.random() < share;

/** Returns random lists of a company, in parts: people and groups are added, removed, moved and changed. */
function randomParts(): Data[] {
  const ids = Array.from({ length: 12 }, (_, i) => `g${i}`).filter(() => chance(0.8));
  const groups = ids.map((id, i) =>
    unit(id, { name: `${id} ${Math.floor(Math.random() * 3)}`, parent: i === 0 ? null : ids[(i - 1) >> 1] }),
  );
  const users = Array.from({ length: 3_000 }, (_, i) => `u${i}`)
    .filter(() => chance(0.9))
    .map((id) =>
      person(id, {
        firstName: `Name ${Math.floor(Math.random() * 3)}`,
        active: chance(0.95),
        accessInfo: { memberOf: ids.filter(() => chance(1 / ids.length)) },
      }),
    );
  const size = 200 + Math.floor(Math.random() * 800);
  const parts = Array.from({ length: Math.ceil(users.length / size) }, (_, i) => ({
    users: users.slice(i * size, (i + 1) * size),
  }));
  return [{ groups }, ...parts];
}

/** A service that can be killed, on a port that stays the same, with two accounts. */
async function open() {
  const dataDir = await newDataDir();
  const settings = { PORT: String(await freePort()), RATE_LIMIT: '0' };
  let service = await started(dataDir, settings);
  const pool = await connectionsTo(service);
  const account = async () => {
    const id = await inTransaction(pool, async (tx) => {
      const created = await createAccount(tx, { name: 'Test' });
      await createUser(tx, created.id, { firstName: 'Ada', email: 'ada@example.org', role: 'Administrator' });
      return created.id;
    });
    const { token } = await createToken(pool, id, { name: 'test', scopes: ['organization'] });
    return { id, token };
  };
  const send = async <T>(method: string, path: string, token: string, body?: object) => {
    const response = await fetch(`${service.address}/v1/organization/${path}`, {
      method,
      headers: { authorization: token, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: JSON.parse((await response.text()) || 'null') as T };
  };
  return {
    pool,
    send,
    account,
    /** Kills the service and starts it again, which marks the runs that it has interrupted as failed, if they are old enough. */
    async killAndRestart() {
      await kill(service);
      await pool`update runs set at = at - interval '3 minutes' where outcome = 'processing' and account_id > 0`;
      service = await started(dataDir, settings);
    },
  };
}

async function kill({ child, exited }: Service): Promise<void> {
  child.kill('SIGKILL');
  await exited;
}

type Killable = Awaited<ReturnType<typeof open>>;
type Account = Awaited<ReturnType<Killable['account']>>;

/** Reads the state of a push when no commit is running. */
const settled = ({ send }: Killable, { token }: Account, id: string): Promise<Push> =>
  until(async () => {
    const { body } = await send<Push>('GET', `pushes/${id}`, token);
    return body.state !== 'processing' && body;
  });

async function commit(
  service: Killable,
  account: Account,
  { id, parts }: { id: string; parts: number },
  validateOnly: boolean,
) {
  const body = { parts, settings: { ...noLimits, validateOnly } };
  const { status } = await service.send<Push>('POST', `pushes/${id}/commit`, account.token, body);
  expect(status).toBe(202);
}

/** Sends all parts, again from the one whose response was lost. `killing`: kills the service while one of them arrives. */
async function sendParts(
  service: Killable,
  { token }: Account,
  parts: Data[],
  killing: boolean,
): Promise<{ id: string; lost: number }> {
  const { body: push } = await service.send<Push>('POST', 'pushes', token);
  const killedAt = killing ? 1 + Math.floor(Math.random() * parts.length) : 0;
  let lost = 0;
  for (const [i, data] of parts.entries()) {
    const put = () => service.send('PUT', `pushes/${push.id}/parts/${i + 1}`, token, { data });
    const sending = put().catch(() => undefined);
    if (i + 1 === killedAt) await sleep(Math.random() * 30).then(service.killAndRestart);
    let sent = await sending;
    if (!sent) {
      lost++;
      sent = await put();
    }
    expect(sent.status).toBe(200);
  }
  return { id: push.id, lost };
}

const applied = async (pool: Pool, accountId: number) => {
  const rows = await pool`select from runs where account_id = ${accountId} and outcome = 'applied'`;
  return rows.length;
};
const withoutHistory = ([groups, users, memberships]: (readonly unknown[])[]) => [groups, users, memberships];

/** Checks what a commit has left when it is not running any more: everything or nothing. Returns its outcome. */
async function checkEnd(
  { pool }: Killable,
  { id }: Account,
  push: Push,
  { before, numbers, isDry }: { before: (readonly unknown[])[]; numbers: number[]; isDry: boolean },
): Promise<string | undefined> {
  const outcome = push.run?.outcome;
  expect(['failed', isDry ? 'validated' : 'applied']).toContain(outcome);
  if (outcome !== 'failed') return outcome;
  expect(push).toMatchObject({ state: 'open', parts: numbers });
  expect(withoutHistory(await stateOf(pool, id))).toEqual(withoutHistory(before));
  const changes = await pool`
    select from run_changes where account_id = ${id} and run_id = ${push.run!.id}`;
  expect(changes).toHaveLength(0);
  return outcome;
}

/** Commits a push again, with the parts that it has. */
async function applyIfOpen(service: Killable, account: Account, { id, state, parts }: Push): Promise<void> {
  if (state === 'applied') return;
  await commit(service, account, { id, parts: parts.length }, false);
  const { run } = await settled(service, account, id);
  expect([run?.outcome, run?.details]).toEqual(['applied', undefined]);
}

test(
  'a push in parts is applied as a whole or not at all, and its result is that of one request',
  { timeout: 600_000 },
  async () => {
    const service = await open();
    const { pool, send } = service;
    const [account, twin] = [await service.account(), await service.account()];
    const seen = { lostParts: 0, failed: 0, finished: 0 };
    let commitMs = 300;
    for (let i = 0; i < caseCount('PUSH_KILLS', 16); i++) {
      const parts = randomParts();
      const before = await stateOf(pool, account.id);
      const { id, lost } = await sendParts(service, account, parts, i % 3 === 2);
      seen.lostParts += lost;
      const numbers = parts.map((_, part) => part + 1);
      const isDry = i % 4 === 3;
      const began = performance.now();
      await commit(service, account, { id, parts: parts.length }, isDry);
      if (i % 3 !== 2) {
        // The first one early enough to interrupt it.
        await sleep(Math.random() * (i === 0 ? 100 : 1.3 * commitMs));
        await service.killAndRestart();
      }
      const push = await settled(service, account, id);
      if (i % 3 === 2) commitMs = performance.now() - began;
      const outcome = await checkEnd(service, account, push, { before, numbers, isDry });
      seen[outcome === 'failed' ? 'failed' : 'finished']++;
      await applyIfOpen(service, account, push);
      const data = { groups: parts[0]!.groups, users: parts.flatMap(({ users = [] }) => users) };
      const settings = { ...noLimits, validateOnly: false };
      const whole = await send('POST', 'organization', twin.token, { settings, data });
      expect(whole.status).toBe(200);
      const [inParts, asWhole] = [await stateOf(pool, account.id), await stateOf(pool, twin.id)];
      expect(withoutHistory(inParts)).toEqual(withoutHistory(asWhole));
      expect([await applied(pool, account.id), await applied(pool, twin.id)]).toEqual([i + 1, i + 1]);
    }
    expect(seen.failed).toBeGreaterThan(0);
  },
);
