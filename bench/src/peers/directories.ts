// A directory that provisions users and groups over SCIM: Soundings, and SCIMMY's routers on Express with a storage in PostgreSQL.
import { createToken } from '@soundings/server/src/accounts/tokens.ts';
import { openPool } from '@soundings/server/src/db/db.ts';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { attribute } from '../company.ts';
import {
  expectStatus,
  findId,
  inParallel,
  openDirectory,
  provisionGroups,
  provisionUsers,
  untilApplied,
} from '../measuring/directory.ts';
import { time, timed } from '../measuring/measure.ts';
import type { Say } from '../measuring/plans.ts';
import type { Service } from '../measuring/service.ts';
import type { Comparison } from './comparison.ts';
import type { Packages } from './packages.ts';
import { createDatabase, type PeerServer, startPeer, type Use, watchUse } from './processes.ts';

/** `atOnce`: requests at the same time, as directories send. */
type Plan = { users: number; groups: number; atOnce: number };

/** In milliseconds and bytes. */
type Measured = Use & {
  users: number;
  groups: number;
  applied?: number;
  again: number;
};

export async function compareDirectories(
  service: Service,
  packages: Packages,
  plan: Plan,
  say: Say,
): Promise<Comparison> {
  const { id: accountId } = await service.account(attribute);
  const { token } = await createToken(service.pool, accountId, { name: 'directory', scopes: ['scim'] });
  const ours = await measureDirectory(
    {
      address: service.address,
      token,
      pid: service.pid,
      memory: service.memory,
      databaseUrl: service.databaseUrl,
      untilApplied: () => untilApplied(service.pool, accountId),
    },
    plan,
  );
  say(`Soundings: users ${time(ours.users)}, groups ${time(ours.groups)}`);
  const peer = await startScimmy(service, packages, randomBytes(24).toString('hex'));
  const theirs = await measureDirectory(peer, plan).finally(peer.stop);
  say(`SCIMMY: users ${time(theirs.users)}, groups ${time(theirs.groups)}`);
  const row = (what: string, name: keyof Measured) => ({
    what,
    unit: 'time' as const,
    soundings: ours[name],
    peers: [theirs[name]],
  });
  return {
    title: 'An organization over SCIM',
    peers: ['SCIMMY'],
    rows: [
      row(`${plan.users.toLocaleString('en')} users, searched and created`, 'users'),
      row(`${plan.groups.toLocaleString('en')} groups, and a request for each member`, 'groups'),
      row('Until the rest is applied to people and groups', 'applied'),
      row('Next cycle, unchanged', 'again'),
      row('Processor time of the process for all this', 'processor'),
      { ...row('Memory of the process, peak', 'memory'), unit: 'memory' },
    ],
  };
}

async function startScimmy(service: Service, { directory }: Packages, token: string) {
  const databaseUrl = await createDatabase(service, 'scimmy');
  const server = await startPeer(service, {
    executable: process.execPath,
    args: (port) => [
      fileURLToPath(new URL('scimmy.server.ts', import.meta.url)),
      directory,
      databaseUrl,
      String(port),
      token,
    ],
    environment: () => ({}),
    directory,
    ready: '/health',
  });
  return { ...server, token, databaseUrl };
}

type Server = Pick<PeerServer, 'address' | 'pid' | 'memory'> & {
  token: string;
  databaseUrl: string;
  untilApplied?: () => Promise<void>;
};

async function measureDirectory(server: Server, { users, groups, atOnce }: Plan): Promise<Measured> {
  const { send, close } = openDirectory(`${server.address}/scim/v2`, server.token, atOnce);
  const endUse = watchUse(server);
  const [creating, ids] = await timed(() => provisionUsers(send, users, atOnce));
  const [grouping, groupIds] = await timed(() => provisionGroups(send, { groups, ids, atOnce }));
  const applied = server.untilApplied && (await timed(server.untilApplied))[0];
  // Members would be missing if requests had overwritten each other.
  await inParallel(groups, atOnce, async (i) => {
    const body = expectStatus(await send('GET', `/Groups/${groupIds[i]}`), 200);
    const { members } = JSON.parse(body) as { members: unknown[] };
    const wanted = Math.ceil((users - i) / groups);
    if (members.length !== wanted)
      throw new Error(`Group ${i} has ${members.length} members instead of ${wanted}.`);
  });
  // Autovacuum does this in time. Without it, the statistics are those of empty tables, and the plans of Soundings are slow.
  await analyze(server.databaseUrl);
  const [again] = await timed(async () => {
    await provisionUsers(send, users, atOnce);
    await inParallel(groups, atOnce, async (i) => {
      const found = await findId(send, '/Groups', `displayName eq "Group ${i}"`);
      if (found !== groupIds[i]) throw new Error(`Group ${i} was not found.`);
    });
  });
  close();
  return {
    users: creating,
    groups: grouping,
    ...(applied !== undefined && { applied }),
    again,
    ...endUse(),
  };
}

async function analyze(databaseUrl: string): Promise<void> {
  const pool = openPool(databaseUrl, 1);
  await pool`vacuum analyze`;
  await pool.end();
}
