// A directory that provisions an account over SCIM: the time of single writes at a steady rate, a full cycle of users and groups until it
// is applied, and the next cycle, which must change nothing. The floor of writes is the same rows by plain statements, one by one, on as
// many connections.
import { createToken } from '@soundings/server/src/accounts/tokens.ts';
import type { Pool } from '@soundings/server/src/db/db.ts';
import { deleteGroupResults } from '@soundings/server/src/results/published-figures.ts';
import { applyRule, planRule } from '@soundings/server/src/scim/applying/rules.ts';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { attribute } from './company.ts';
import { type BenchRow, percentile, ratioText, time, timed } from './measuring/measure.ts';
import {
  expectStatus,
  inParallel,
  openDirectory,
  patchOf,
  provisionGroups,
  provisionUsers,
  untilApplied,
  userOf,
} from './measuring/directory.ts';
import type { Plans, Say, Sized } from './measuring/plans.ts';
import type { Service } from './measuring/service.ts';

/** `rate`: writes a second, for `seconds` after `warmUp` seconds that do not count. `users`, `groups`: of the full cycle. `atOnce`: requests at the same time, as directories send. */
type Plan = { rate: number; warmUp: number; seconds: number; users: number; groups: number; atOnce: number };

export const scimPlans: Plans<Plan> = {
  whole: { rate: 500, warmUp: 2, seconds: 30, users: 20_000, groups: 2_000, atOnce: 4 },
  smoke: { rate: 50, warmUp: 0.2, seconds: 1, users: 40, groups: 4, atOnce: 4 },
};

/** The time in which 99 of 100 writes must be answered, in ms. */
const target = 50;

type Scene = { service: Service; plan: Plan; say: Say };

export const benchScim: Sized<Plan> = (plan) => async (say, start) => {
  const service = await start();
  try {
    const scene = { service, plan, say };
    return {
      rows: [...(await measureRate(scene)), ...(await measureCycle(scene))],
      postgres: service.postgres,
    };
  } finally {
    await service.stop();
  }
};

/** Connects a directory to a new account. */
async function newDirectory(service: Service, atOnce: number) {
  const { id } = await service.account(attribute);
  const { token } = await createToken(service.pool, id, { name: 'directory', scopes: ['scim'] });
  return { id, ...openDirectory(`${service.address}/scim/v2`, token, atOnce) };
}

/** Sends writes at a steady rate, whether or not earlier ones were answered: half of them create users, and half change them. */
async function measureRate({ service, plan: { rate, warmUp, seconds }, say }: Scene): Promise<BenchRow[]> {
  const { id, send, close } = await newDirectory(service, 200);
  const early = Math.round(rate * warmUp);
  const writes = early + rate * seconds;
  const ids: string[] = [];
  const write = async (i: number): Promise<void> => {
    const user = i % 2 === 1 ? ids[Math.floor(Math.random() * ids.length)] : undefined;
    if (user === undefined) {
      const body = expectStatus(await send('POST', '/Users', userOf(i)), 201);
      ids.push((JSON.parse(body) as { id: string }).id);
    } else {
      const title = patchOf({ op: 'Replace', path: 'title', value: `Title ${i}` });
      expectStatus(await send('PATCH', `/Users/${user}`, title), 204);
    }
  };
  const times = await steadily(writes, rate, write);
  close();
  await untilApplied(service.pool, id);
  const { id: plainId } = await service.account(attribute);
  const floors = await steadily(writes, rate, plainWrites(service.pool, plainId));
  const row = (what: string, share: number, from: number, to?: number) => {
    const [ms, floor] = [times, floors].map((all) => percentile(all.slice(from, to), share)) as [
      number,
      number,
    ];
    return { what, ms, measured: time(ms), floor: time(floor), ratio: ratioText(ms / floor) };
  };
  const { ms: p99, ...steady } = row(`${rate} SCIM writes a second for ${seconds} s, p99`, 0.99, early);
  say(`${rate} writes a second: p99 ${steady.measured}, floor ${steady.floor}`);
  return [
    { ...steady, target: `≤ ${target} ms`, met: p99 <= target },
    row('– median', 0.5, early),
    row('– longest', 1, early),
    row(`– p99 of the ${warmUp} s before, just after the start`, 0.99, 0, early),
  ];
}

/** Starts work `count` times at a rate. Returns the milliseconds from when each was due until it was done. */
async function steadily(count: number, rate: number, work: (i: number) => Promise<void>): Promise<number[]> {
  const start = performance.now();
  const running: Promise<number>[] = [];
  for (let i = 0; i < count; i++) {
    const due = start + (i * 1000) / rate;
    const early = due - performance.now();
    if (early > 1) await sleep(early);
    running.push(work(i).then(() => performance.now() - due));
  }
  return Promise.all(running);
}

/** Returns a function that writes a user's row by one statement. */
const plainWrites = (pool: Pool, accountId: number) => {
  const ids: string[] = [];
  return async (i: number): Promise<void> => {
    const id = i % 2 === 1 ? ids[Math.floor(Math.random() * ids.length)] : undefined;
    const user = userOf(i);
    if (id === undefined) {
      const created = randomUUID();
      await pool`
        insert into scim_users (account_id, scim_id, user_name, user_name_key, external_id, display_name_key, email_keys, active,
                                resource, person_key)
        values (${accountId}, ${created}, ${user.userName}, ${user.userName}, ${user.externalId}, ${user.displayName},
                ${[user.userName]}, true, ${pool.json(user)}, ${created})`;
      ids.push(created);
    } else {
      await pool`
        update scim_users set resource = ${pool.json({ ...user, title: `Title ${i}` })}, revision = revision + 1, changes = changes + 1
        where  account_id = ${accountId} and scim_id = ${id}`;
    }
  };
};

async function measureCycle({ service, plan, say }: Scene): Promise<BenchRow[]> {
  const { users, groups, atOnce } = plan;
  const { id: accountId, send, close } = await newDirectory(service, atOnce);
  const { pool } = service;
  const sizes = { groups, atOnce };
  const [creating, ids] = await timed(() => provisionUsers(send, users, atOnce));
  const [grouping, groupIds] = await timed(() => provisionGroups(send, { ...sizes, ids }));
  const [applying] = await timed(() => untilApplied(pool, accountId));
  const rule = { kind: 'groups' as const };
  const { summary } = await planRule(pool, accountId, rule, deleteGroupResults);
  const by = { origin: 'command' as const };
  const [ruling] = await timed(() => applyRule(pool, accountId, { rule, summary, by }, deleteGroupResults));
  const before = await stateOf(pool, accountId);
  const [repeating] = await timed(() => provisionUsers(send, users, atOnce));
  const [regrouping] = await timed(() => provisionGroups(send, { ...sizes, ids, groupIds }));
  close();
  await untilApplied(pool, accountId);
  const after = await stateOf(pool, accountId);
  const changed = after.reduce((sum, value, i) => sum + value - (before[i] as number), 0);
  const floor = await floorsOfCycle(service, plan);
  say(
    `cycle: users ${time(creating)}, groups ${time(grouping)}, applied after ${time(applying)}, next cycle ${time(repeating + regrouping)}`,
  );
  const row = (what: string, ms: number, floorMs?: number): BenchRow => ({
    what,
    measured: time(ms),
    ...(floorMs !== undefined && { floor: time(floorMs), ratio: ratioText(ms / floorMs) }),
  });
  return [
    row(`Full cycle, ${users.toLocaleString('en')} users`, creating, floor.users),
    row(`– ${groups.toLocaleString('en')} groups, and each user added to one`, grouping, floor.groups),
    row('– until the rest of the users is applied', applying),
    row('Applying the rule for the tree to all', ruling),
    row('Next cycle, users', repeating, floor.nextUsers),
    row('– groups, and each user added again', regrouping, floor.nextGroups),
    { what: 'Changes in the next cycle', measured: String(changed), target: '0', met: changed === 0 },
  ];
}

type Floors = { users: number; groups: number; nextUsers: number; nextGroups: number };

/** Reads and writes the same rows by plain statements. */
async function floorsOfCycle({ pool, account }: Service, { users, groups, atOnce }: Plan): Promise<Floors> {
  const { id: accountId } = await account(attribute);
  const write = plainWrites(pool, accountId);
  const readUser = (i: number) =>
    pool`select resource from scim_users where account_id = ${accountId} and user_name_key = ${`user${i}@example.com`} and deleted_at is null`;
  const readGroup = (i: number) =>
    pool`select resource from scim_groups where account_id = ${accountId} and display_name_key = ${`group ${i}`}`;
  const groupIds = Array.from({ length: groups }, () => randomUUID());
  const members = Array.from({ length: users }, () => randomUUID());
  const each = async (count: number, work: (i: number) => Promise<unknown>) =>
    (await timed(() => inParallel(count, atOnce, async (i) => void (await work(i)))))[0];
  const nextUsers = async () => (await each(users, readUser)) + (await each(users, readUser));
  const ofUsers = await each(users, async (i) => {
    await readUser(i);
    await write(2 * i);
  });
  const ofGroups =
    (await each(
      groups,
      (i) => pool`
        insert into scim_groups (account_id, scim_id, display_name_key, resource)
        values (${accountId}, ${groupIds[i] as string}, ${`group ${i}`}, ${pool.json({ displayName: `Group ${i}` })})`,
    )) +
    (await each(
      users,
      (i) => pool`
        with added as (
          insert into scim_members (account_id, group_id, member_id)
          values (${accountId}, ${groupIds[i % groups] as string}, ${members[i] as string})
        )
        update scim_groups set revision = revision + 1, changes = changes + 1
        where  account_id = ${accountId} and scim_id = ${groupIds[i % groups] as string}`,
    ));
  const readMember = (i: number) => pool`
    select from scim_members
    where  account_id = ${accountId} and group_id = ${groupIds[i % groups] as string} and member_id = ${members[i] as string}`;
  return {
    users: ofUsers,
    groups: ofGroups,
    nextUsers: await nextUsers(),
    nextGroups: (await each(groups, readGroup)) + (await each(users, readMember)),
  };
}

/** Returns what would differ if anything was changed: revisions and runs. */
async function stateOf(pool: Pool, accountId: number): Promise<number[]> {
  const [row] = await pool<{ users: number; groups: number; runs: number }[]>`
    select (select sum(revision)::integer from scim_users where account_id = ${accountId})                as users,
           (select sum(revision)::integer from scim_groups where account_id = ${accountId})               as groups,
           (select count(*)::integer from runs where account_id = ${accountId} and source = 'scim')       as runs`;
  return [row!.users, row!.groups, row!.runs];
}
