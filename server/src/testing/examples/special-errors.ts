// Errors that need a service or an account in a special state.
import { request } from 'node:http';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { once } from 'node:events';
import { getGroups } from '@soundings/contract/data.ts';
import { postOrganization } from '@soundings/contract/organization.ts';
import type { DetailType } from '@soundings/contract/problem.ts';
import { changeAccount } from '../../accounts/accounts.ts';
import { startApp } from '../../app.ts';
import { openLog } from '../../base/log.ts';
import type { ExampleResponse } from '../../http/reference/examples.ts';
import { inTransaction } from '../../db/db.ts';
import { applyDirectory } from '../../scim/applying/apply.ts';
import { deleteGroupResults } from '../../results/published-figures.ts';
import { openWorld, type TestAccount, testConfig, type World } from '../world.ts';
import { ingrid } from './error-scenes.ts';
import { scimUser } from './operation-scenes.ts';
import { errorOf, recordError } from './record-errors.ts';
import { type Recorder, sendTo } from './recorder.ts';

const silent = openLog('silent');

/** The address of the service in examples. */
export const examplesUrl = 'https://soundings.example.com';

/** Records errors of services that limit requests, allow only HTTPS, are starting, or have a defect. */
export async function recordServiceErrors(recorder: Recorder): Promise<void> {
  await withWorld({ rateLimit: 1 }, (world) =>
    recordRead(recorder, world, 'too many requests', 'The limit of the token is one request per minute.'),
  );
  await withWorld({}, async (world) => {
    await world.pool`alter table groups rename to lost_groups`;
    await recordRead(recorder, world, 'internal error', 'A table of the database is missing.');
  });
  const outside = Object.values(networkInterfaces())
    .flatMap((all) => all ?? [])
    .find(({ internal, family }) => !internal && family === 'IPv4');
  if (!outside) throw new Error('The machine has no network, so no request can arrive over one.');
  const overrides = { httpsOnly: true, host: '0.0.0.0', publicUrl: examplesUrl };
  await withWorld(overrides, async (world) => {
    const address = `http://${outside.address}:${new URL(world.address).port}`;
    await recordRead(
      recorder,
      { ...world, address },
      'https required',
      'The request was sent over plain HTTP.',
    );
  });
  await withWorld({}, (world) => recordStarting(recorder, world));
}

/** Reads the groups of a new account until that is refused, and records the error. */
async function recordRead({ errors }: Recorder, world: World, type: DetailType, note: string): Promise<void> {
  const { method, path, operationId } = getGroups;
  const { token } = await world.account();
  for (let i = 0; i < 3; i++) {
    const response = await sendTo(world.address, method, path, { token });
    if (response.status === 200) continue;
    errors[type] = errorOf(type, response, { operationId, note, request: { method, path } });
    return;
  }
  throw new Error(`${type} did not occur.`);
}

/** Records the error of a service that still waits for its database. */
async function recordStarting({ errors }: Recorder, { databaseUrl, keyPlace }: World): Promise<void> {
  const { method, path, operationId } = getGroups;
  const database = Promise.withResolvers<string>();
  const app = await startApp({ ...testConfig, answerKeys: keyPlace }, database.promise, silent);
  const response = await sendTo(app.address, method, path, { token: 'snd_any' });
  const note = 'The service is starting.';
  errors['unavailable'] = errorOf('unavailable', response, { operationId, note, request: { method, path } });
  database.resolve(databaseUrl);
  await app.started;
  await app.stop(1);
}

async function withWorld(
  overrides: NonNullable<Parameters<typeof openWorld>[1]>,
  work: (world: World) => Promise<void>,
): Promise<void> {
  const world = await openWorld(silent, overrides);
  try {
    await work(world);
  } finally {
    await world.close();
  }
}

/** Records the errors of bodies that are too large or too slow, and of text that is not HTTP. */
export async function recordConnectionErrors({ errors }: Recorder): Promise<void> {
  await withWorld({ httpLimits: { bodies: { timeout: 300 } } }, async (world) => {
    const { token } = await world.account();
    const begin = (length: number, type: DetailType, note: string) =>
      responseTo(world.address, token, length).then((response) => {
        errors[type] = errorOf(type, response, { operationId: postOrganization.operationId, note });
      });
    await begin(65 * 2 ** 20, 'too large', 'The body has 65 MB.');
    await begin(1000, 'too slow', 'The body stopped arriving.');
    const response = await rawResponse(world.address, `GET ${getGroups.path} HTTP/1.1\r\n\r\n`);
    errors['bad request'] = errorOf('bad request', response, { note: 'The request has no Host header.' });
  });
}

/** Sends the headers of a push and only the first byte of its body, and returns the response. */
async function responseTo(address: string, token: string, length: number): Promise<ExampleResponse> {
  const sending = request(address + postOrganization.path, {
    method: 'POST',
    headers: { authorization: token, 'content-type': 'application/json', 'content-length': length },
  });
  sending.on('error', () => {});
  sending.write('{');
  const [response] = await once(sending, 'response');
  const text = (await response.toArray()).join('');
  sending.destroy();
  return { status: response.statusCode, contentType: 'application/json', body: JSON.parse(text) };
}

async function rawResponse(address: string, text: string): Promise<ExampleResponse> {
  const socket = connect(Number(new URL(address).port), '127.0.0.1');
  socket.end(text);
  const [head = '', body = ''] = (await socket.toArray()).join('').split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), contentType: 'application/json', body: JSON.parse(body) };
}

/** Records the errors and warnings of pushes into accounts with a history: of a directory, of roles, of results. */
export async function recordAccountErrors(
  recorder: Recorder,
  world: World,
  demoToken: string,
): Promise<void> {
  const { address, pool } = world;
  const scene = (type: DetailType, data: object, note: string, settings?: object) => ({
    type,
    at: postOrganization,
    sent: { body: { ...(settings && { settings }), data } },
    note,
  });
  const record = (
    { token }: Pick<TestAccount, 'token'>,
    ...[type, data, note]: [DetailType, object, string]
  ) => recordError(recorder, address, token, scene(type, data, note));
  const applied = { validateOnly: false };

  const roles = await world.account();
  await roles.push({ settings: applied, data: { users: [ingrid()] } });
  await inTransaction(pool, (tx) => changeAccount(tx, roles.id, { rolesBySync: false }));
  const manager = { ...ingrid(), accessInfo: { role: 'Manager' } };
  await record(roles, 'roles ignored', { users: [manager] }, 'The account does not let imports set roles.');

  const auditors = await world.account();
  await auditors.push({ settings: applied, data: { users: [{ ...ingrid(), accessInfo: {} }] } });
  await pool`update users set role = 'Auditor' where account_id = ${auditors.id} and managed`;
  await record(
    auditors,
    'auditor replaced',
    { users: [manager] },
    'The role Auditor was given in the console.',
  );

  const only = await world.account();
  const administrator = { ...ingrid(), accessInfo: { role: 'Administrator' } };
  await only.push({ settings: applied, data: { users: [administrator] } });
  await pool`update users set role_pending = false, active = active and managed where account_id = ${only.id}`;
  await record(only, 'no administrator', { users: [] }, 'The only active administrator is a managed user.');

  const directory = await world.account();
  const { body } = await sendTo(address, 'POST', '/scim/v2/Users', {
    token: await directory.tokenOf('scim'),
    body: scimUser('Ingrid', 'Berg'),
    bodyType: 'application/scim+json',
  });
  while ((await applyDirectory(pool, directory.id, Date.now(), deleteGroupResults)).isMore);
  const taken = { ...ingrid(), externalId: (body as { id: string }).id, accessInfo: {} };
  await record(directory, 'other source', { users: [taken] }, 'The user was provisioned over SCIM.');

  const note = 'The demo company, which has results of all its groups.';
  const limits = { maxGroupsDeleted: 1000, maxUsersUpdated: 1000 };
  await recordError(
    recorder,
    address,
    demoToken,
    scene('history deleted', { groups: [{ externalId: 'new', name: 'New' }] }, note, limits),
  );
}
