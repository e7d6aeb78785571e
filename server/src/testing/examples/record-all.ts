// Records all examples of the API reference: of the demo company, and of new companies of the same service.
import { createToken } from '../../accounts/tokens.ts';
import { changeAccount } from '../../accounts/accounts.ts';
import { getFileReport } from '@soundings/contract/storage.ts';
import { scopes } from '@soundings/contract/operation.ts';
import { detailTypes } from '@soundings/contract/problem.ts';
import { inTransaction } from '../../db/db.ts';
import type { Examples } from '../../http/reference/examples.ts';
import { defineAttribute } from '../../people/attributes.changes.ts';
import { createGroup } from '../../people/groups.ts';
import { openDemoWorld } from '../browser/demo-world.ts';
import type { TestAccount, World } from '../world.ts';
import {
  bodyErrors,
  ingrid,
  pushErrors,
  pushWarnings,
  requestErrors,
  scimErrors,
  tooManyResults,
} from './error-scenes.ts';
import { fileScenes, workbookScenes } from './file-scenes.ts';
import { recordImports, recordReading, recordScim, scimUser } from './operation-scenes.ts';
import { recordParts } from './part-scenes.ts';
import { recordError, recordFile } from './record-errors.ts';
import { openRecorder, type Recorder, sendTo } from './recorder.ts';
import { openSteadying } from './shorten.ts';
import {
  examplesUrl,
  recordAccountErrors,
  recordConnectionErrors,
  recordServiceErrors,
} from './special-errors.ts';
import { receiverNetworks, recordWebhooks } from './webhook-scene.ts';

/** Returns all examples. What differs from run to run, such as IDs of runs, is replaced, so that each run returns the same. */
export async function recordExamples(): Promise<Examples> {
  const steady = openSteadying(Date.now());
  const world = await openDemoWorld({
    publicUrl: examplesUrl,
    appliesDirectories: false,
    outgoingNetworks: receiverNetworks,
  });
  try {
    const recorder = openRecorder(world.address);
    const { token } = await createToken(world.pool, world.accountId, { name: 'BI', scopes: [...scopes] });
    await recordReading(recorder, token);
    await recordImports(recorder, world.address, (await world.account()).token);
    await recordParts(recorder, world.address, (await world.account()).token);
    await recordScim(recorder, await (await world.account()).tokenOf('scim'));
    await recordContentErrors(recorder, world);
    await recordDirectoryErrors(recorder, world);
    await recordFileErrors(recorder, world);
    await recordAccountErrors(recorder, world, token);
    await recordServiceErrors(recorder);
    await recordConnectionErrors(recorder);
    const webhooks = await recordWebhooks(world);
    const { operations, errors } = recorder;
    const inOrder = Object.keys(detailTypes).flatMap((type) => (errors[type] ? [[type, errors[type]]] : []));
    const all = { operations, errors: Object.fromEntries(inOrder) as typeof errors, webhooks };
    return JSON.parse(steady(JSON.stringify(all))) as Examples;
  } finally {
    await world.close();
  }
}

const settings = { validateOnly: false };
const company = {
  groups: [
    { externalId: 'company', name: 'Example Ltd' },
    { externalId: 'north', name: 'North', parent: 'company' },
  ],
  users: [ingrid()],
};

/** Returns a new account with a small company. */
async function newCompany(
  world: World,
  moreGroups: { externalId: string; name: string }[] = [],
): Promise<TestAccount> {
  const account = await world.account();
  const groups = [...company.groups, ...moreGroups];
  const { status, body } = await account.push({ settings, data: { ...company, groups } });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return account;
}

/** Records errors of requests, bodies and pushes. */
async function recordContentErrors(recorder: Recorder, world: World): Promise<void> {
  const account = await newCompany(world);
  const [top, north] = await account.groups();
  await inTransaction(world.pool, async (tx) => {
    await createGroup(tx, account.id, { name: 'Works council', externalId: 'manual', parentId: north!.id });
    await defineAttribute(tx, account.id, { name: 'Site', allowedValues: ['Oulu', 'Umeå'] });
  });
  const scenes = [...requestErrors(String(top!.id)), ...bodyErrors, ...pushErrors, ...pushWarnings];
  for (const scene of scenes) await recordError(recorder, world.address, account.token, scene);
  const missingScope = { type: 'missing scope', at: getFileReport, params: { name: 'users.csv' } } as const;
  await recordError(recorder, world.address, await account.tokenOf('data'), missingScope);
}

/** Records errors of SCIM. */
async function recordDirectoryErrors(recorder: Recorder, { address, pool, account }: World): Promise<void> {
  const { id: accountId, tokenOf } = await account();
  const token = await tokenOf('scim');
  const { body } = await sendTo(address, 'POST', '/scim/v2/Users', {
    token,
    body: scimUser('Ingrid', 'Berg'),
    bodyType: 'application/scim+json',
  });
  for (const scene of scimErrors((body as { id: string }).id))
    await recordError(recorder, address, token, scene);
  await pool`
    insert into scim_users (account_id, scim_id, user_name, user_name_key, active, resource, person_key)
    select ${accountId}, gen_random_uuid(), n, n, true, '{}', n
    from   generate_series(1, 50001) n`;
  await recordError(recorder, address, token, tooManyResults);
}

/** Records errors and warnings of files. */
async function recordFileErrors(recorder: Recorder, world: World): Promise<void> {
  for (const scene of fileScenes) {
    const more = scene.type === 'ambiguous name' ? [{ externalId: 'north-2', name: 'North' }] : [];
    const { id, token } = await newCompany(world, more);
    const { settings: ofAccount } = scene;
    if (ofAccount) await inTransaction(world.pool, (tx) => changeAccount(tx, id, ofAccount));
    await recordFile(recorder, world.address, token, { ...scene, text: `${scene.lines.join('\n')}\n` });
  }
  for (const scene of workbookScenes)
    await recordFile(recorder, world.address, (await newCompany(world)).token, scene);
}
