// A running service with the demo company, for end-to-end tests of the console. It is created once per test run, with only its
// last weeks, and cloned for each file.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { beginSession } from '../../auth/sessions.ts';
import { resetPassword } from '../../auth/sign-in.ts';
import { startAnswering } from '../../app.ts';
import { openLog } from '../../base/log.ts';
import { inTransaction, openPool, type Pool } from '../../db/db.ts';
import { makeDemo } from '../../demo/demo.ts';
import { AnswerKeys } from '../../sealing/answer-keys.ts';
import { openSimulationPool, type ServeAnswering } from '../../simulation/simulation.ts';
import { noon } from '../asking.ts';
import { databaseAt, demoTemplateName, templateName } from '../postgres.ts';
import { openWorld, type testConfig, type World } from '../world.ts';

const unfinished = `${demoTemplateName}_unfinished`;
const weeks = 6;
/** Any number, the same in every test file. */
const lockKey = 5_017_302;

export type DemoWorld = World & {
  /** The account of the company, and two users: the administrator, and a manager of some groups. */
  accountId: number;
  administrator: { email: string; password: string };
  manager: { email: string; password: string };
  /** Starts a session of a user, and returns its secret for the cookie. */
  sessionOf(email: string): Promise<string>;
};

const administrator = 'demo@lavmark.example';
const password = 'sounding the depths';

/** The time of the service is always noon on a Wednesday (testing/asking.ts), and that week is open. */
export async function openDemoWorld(overrides: Partial<typeof testConfig> = {}): Promise<DemoWorld> {
  await makeTemplate();
  const world = await openWorld(openLog('error'), overrides, () => noon, demoTemplateName);
  const [account] = await world.pool<{ id: number }[]>`select account_id as id from accounts`;
  const accountId = account?.id as number;
  const manager = await managerOf(world.pool, accountId);
  return {
    ...world,
    accountId,
    administrator: { email: administrator, password },
    manager: { email: manager, password },
    async sessionOf(wanted) {
      const [person] = await world.pool<{ id: number }[]>`
        select user_id as id from users where account_id = ${accountId} and email = ${wanted}`;
      const userId = person?.id as number;
      return beginSession(world.pool, { accountId, userId }, { address: '127.0.0.1', agent: 'test' });
    },
  };
}

/** Returns the email address of a manager of the company. */
async function managerOf(pool: Pool, accountId: number): Promise<string> {
  const [manager] = await pool<{ email: string }[]>`
    select u.email
    from   users u
    join   memberships m using (account_id, user_id)
    where  u.account_id = ${accountId} and u.role = 'Manager' and m.kind = 'adminOf'
    order  by u.user_id limit 1`;
  return manager?.email as string;
}

/** Creates the database to clone, unless another test file has created it or is creating it. */
async function makeTemplate(): Promise<void> {
  const server = inject('databaseUrl');
  const admin = openPool(server, 2);
  // Reserved, because a connection that is idle for a minute is closed, and the lock would be gone.
  const locked = await admin.reserve();
  try {
    await locked`select pg_advisory_lock(${lockKey})`;
    const [present] = await admin`select 1 from pg_database where datname = ${demoTemplateName}`;
    if (present) return;
    await admin.unsafe(`drop database if exists ${unfinished} with (force)`);
    await admin.unsafe(`create database ${unfinished} template ${templateName}`);
    const pool = openSimulationPool(databaseAt(server, unfinished));
    try {
      // The key is stored in the database, so that clones have it.
      const keys = new AnswerKeys(pool, { place: 'database', directory: join(tmpdir(), unfinished) });
      const serve: ServeAnswering = (pages, ownKeys, now) =>
        startAnswering({ pool: pages, keys: ownKeys, now }, openLog('error'));
      const { account } = await makeDemo(pool, keys, noon, serve, weeks);
      for (const email of [administrator, await managerOf(pool, account.id)])
        await inTransaction(pool, (tx) => resetPassword(tx, account.id, { email, password }, true));
    } finally {
      await pool.end({ timeout: 5 });
    }
    await admin.unsafe(`alter database ${unfinished} rename to ${demoTemplateName}`);
  } finally {
    locked.release();
    await admin.end();
  }
}
