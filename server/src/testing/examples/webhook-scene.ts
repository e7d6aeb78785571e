// Lets every kind of event occur in a company with an endpoint, and records the requests that the service sends.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { EventType } from '@soundings/contract/webhooks/events.ts';
import { eventTypes, testEvent } from '@soundings/contract/webhooks/events.ts';
import { changeAccount } from '../../accounts/accounts.ts';
import { recordExpiringTokens } from '../../accounts/expiring-tokens.ts';
import { createToken } from '../../accounts/tokens.ts';
import { inTransaction } from '../../db/db.ts';
import { rejectRun } from '../../files/approval.ts';
import type { WebhookExample } from '../../http/reference/examples.ts';
import { ask, change, fetchDue, newPull, sendJson } from '../../pulls/pulls.fixture.ts';
import { createUser } from '../../people/users.ts';
import { closeWeekNow } from '../../results/close-week.ts';
import { createEndpoint, sendTest } from '../../webhooks/endpoints.ts';
import { sendDue, senderOf } from '../../webhooks/webhooks.fixture.ts';
import { askPeople, noon } from '../asking.ts';
import { until } from '../until.ts';
import type { World } from '../world.ts';
import { ingrid } from './error-scenes.ts';
import { sendTo } from './recorder.ts';

/** The network of the receiver. The service must be allowed to reach it. */
export const receiverNetworks = ['127.0.0.0/8'];

/** Returns the first request of each type of event, by type. */
export async function recordWebhooks(world: World): Promise<Record<string, WebhookExample>> {
  const got: Record<string, WebhookExample> = {};
  const receiver = createServer((request, response) => {
    void request.toArray().then((chunks) => {
      const body = JSON.parse(chunks.join('')) as { type: string };
      const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
      const headers = Object.fromEntries(names.map((name) => [name, String(request.headers[name])]));
      got[body.type] ??= { headers, body };
      response.writeHead(204).end();
    });
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  try {
    await letOccur(world, `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/soundings`);
    const types = [...Object.keys(eventTypes), testEvent];
    // The clock of the demo company's service is behind that of the database, so nothing is due for it.
    const sender = senderOf(world, { now: Date.now() + 60_000 });
    await until(async () => {
      await sendDue(sender);
      return types.every((type) => got[type]);
    });
    await sender.close();
    return Object.fromEntries(types.map((type) => [type, steadyRequest(type, got[type]!)]));
  } finally {
    receiver.closeAllConnections();
    receiver.close();
  }
}

/** Replaces the headers, which differ from run to run: the id is random, and the signature is of the secret, the time and the body. */
function steadyRequest(type: string, { body }: WebhookExample): WebhookExample {
  const id = Buffer.from(type.padEnd(18, '.')).toString('base64url');
  return {
    headers: {
      'webhook-id': `msg_${id}`,
      'webhook-timestamp': String(noon / 1000),
      'webhook-signature': `v1,${Buffer.from(type.padEnd(32, '.')).toString('base64')}`,
    },
    body,
  };
}

async function letOccur(world: World, url: string): Promise<void> {
  const { pool, keys, address } = world;
  const account = await world.account();
  const [ada] = await pool<
    { id: number }[]
  >`select user_id as id from users where account_id = ${account.id}`;
  const actor = { origin: 'console' as const, userId: ada!.id, address: '127.0.0.1' };
  const events = Object.keys(eventTypes) as EventType[];
  const changing = { actor, secrets: keys.secrets, networks: receiverNetworks };
  const { id } = await inTransaction(pool, (tx) =>
    createEndpoint(tx, account.id, { url, description: 'Examples', events }, changing),
  );
  await inTransaction(pool, (tx) => sendTest(tx, account.id, id, actor));

  const settings = { validateOnly: false };
  await account.push({
    settings,
    data: { users: [ingrid()], groups: [{ externalId: 'company', name: 'Example Ltd' }] },
  });
  await account.push({ settings, data: { users: [{ externalId: '1003', firstName: 'Rosa' }] } });
  await inTransaction(pool, (tx) => changeAccount(tx, account.id, { maxUsersDeleted: 0 }));
  const text = 'EmployeeID;FirstName;LastName;Department\n1002;Mikko;Lahti;company\n';
  await sendTo(address, 'POST', '/v1/storage/uploadFile', {
    token: account.token,
    file: { name: 'users.csv', text },
  });
  const pending = await until(async () => {
    const runs = await pool<{ id: string }[]>`
      select run_id::text as id from runs where account_id = ${account.id} and outcome = 'pending'`;
    return runs[0];
  });
  await rejectRun(pool, account.id, pending.id, actor);

  const rosa = { firstName: 'Rosa', lastName: 'Núñez', email: 'rosa@example.com', role: 'Administrator' };
  await inTransaction(pool, (tx) => createUser(tx, account.id, rosa));
  const expires = new Date(Date.now() + 10 * 86_400_000).toISOString().slice(0, 10);
  await createToken(pool, account.id, { name: 'nightly', scopes: ['files'], expires });
  await recordExpiringTokens(pool);
  await letPullFail(world, { id: account.id, userId: ada!.id });
  const { week } = await askPeople(world, account.id, { now: noon });
  await closeWeekNow(pool, keys, account.id, week, noon);
}

/** Lets the HR system of a pull refuse its credentials at the next time of its schedule. */
async function letPullFail(world: World, company: { id: number; userId: number }): Promise<void> {
  let isRefusing = false;
  const system = createServer((_, response) => {
    if (isRefusing) response.writeHead(401).end();
    else sendJson(response, [{ EmployeeID: '1001', FirstName: 'Ingrid', LastName: 'Berg' }]);
  }).listen(0, '127.0.0.1');
  await once(system, 'listening');
  const url = `http://127.0.0.1:${(system.address() as AddressInfo).port}/people`;
  const pull = await newPull(world, company, { url });
  await untilFetched(world, company, 1);
  await change(world, company, pull, { isOn: true });
  await ask(world, company, pull, false);
  await untilFetched(world, company, 2);
  isRefusing = true;
  await untilFetched(world, company, 3, Date.now() + 2 * 86_400_000);
  system.close();
}

/** Waits until the pulls of a company have been fetched `count` times in all, by this process or by the service, and its files are processed. */
const untilFetched = (world: World, company: { id: number }, count: number, now = Date.now()) =>
  until(async () => {
    await fetchDue(world, now);
    const [state] = await world.pool<{ isDone: boolean }[]>`
      select (select count(*) from pull_fetches where account_id = ${company.id}) >= ${count}
             and not exists (select from files where account_id = ${company.id} and report is null) as "isDone"`;
    return state!.isDone;
  });
