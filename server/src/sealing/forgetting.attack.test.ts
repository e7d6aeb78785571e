// Attacks on closed weeks with everything that exists then (rules.md P15): the database's files with dead rows and log, a base
// backup, dumps from when the week was open, and every key that is still anywhere. Each service has its own PostgreSQL, whose
// files are read directly. The same attacker must succeed against each mutant (forgetting.mutants.attack.test.ts), and while the
// week is open.
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createToken } from '../accounts/tokens.ts';
import { openPool, type Pool } from '../db/db.ts';
import { openEmbedded } from '../db/embedded.ts';
import {
  type AnsweredWeek,
  answeredWeek,
  giveAnswer,
  isForgotten,
  keysBeside,
} from '../testing/attacks/forgetting.ts';
import { asSuperuser } from '../testing/postgres.ts';
import {
  connectionsTo,
  newDataDir,
  type Service,
  started,
  useDirectory,
} from '../testing/processes/processes.ts';
import { until } from '../testing/until.ts';
import { keepOpen } from '../testing/keep-open.ts';
import {
  requestClose,
  attack,
  command,
  filesNow,
  foundIn,
  importNextWeek,
  nothing,
  takeWhileOpen,
  textsNow,
  untilBlocked,
  untilForgotten,
} from './forgetting.fixture.ts';

useDirectory();

const longAgo = '1970-01-05';

/** Publishes enough old figures that the operating system can't buffer a response that no one reads. */
async function publishMuch(pool: Pool, feed: AnsweredWeek, results: AnsweredWeek): Promise<void> {
  await pool`
    insert into kpi_values (account_id, kpi_id, group_id, week, value)
    select ${feed.accountId}, encode(sha512(i::text::bytea), 'hex'), group_id, ${longAgo}, 0.5
    from   generate_series(1, 80000) i, groups where account_id = ${feed.accountId} and name = 'Large'`;
  await pool`
    insert into results (account_id, group_id, week, question_id, value, answers)
    select g.account_id, group_id, ${longAgo}::date + 7 * i, question_id, 0.123456789 + i / 10000.0, 4000
    from   groups g join questions q on q.account_id = g.account_id, generate_series(0, 2500) i
    where  g.account_id = ${results.accountId} and g.name = 'Large'`;
}

/** Opens five clients that request long responses and read nothing. */
async function openSlowReaders(
  service: Service,
  pool: Pool,
  [one, other]: [AnsweredWeek, AnsweredWeek],
): Promise<Socket[]> {
  await publishMuch(pool, one, other);
  const tokens = await Promise.all(
    [one, one, one, other, other].map(({ accountId }) =>
      createToken(pool, accountId, { name: 'slow', scopes: ['data'] }),
    ),
  );
  const [group] = await pool<{ id: number }[]>`
    select group_id as id from groups where account_id = ${other.accountId} and name = 'Large'`;
  // Granular, because other results are read from fragments, which are so few that no statement waits for the client.
  const results = `/v1/results?groupId=${group?.id}&includeSubgroups=true&granularData=true&fromDate=${longAgo}&toDate=2020-01-05`;
  return tokens.map(({ token }, i) => {
    const socket = connect(service.port, '127.0.0.1').pause();
    socket.on('error', () => {});
    const path = i < 3 ? '/v1/feed' : results;
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: ${token}\r\n\r\n`);
    onTestFinished(() => void socket.destroy());
    return socket;
  });
}

/** Returns how many connections are in the middle of a response that no one reads, with a snapshot: of a statement, or of a transaction. */
async function snapshots(pool: Pool): Promise<number> {
  const rows = await pool`
    select 1 from pg_stat_activity
    where  datname = current_database() and backend_xmin is not null and pid <> pg_backend_pid()
      and  (query ilike '%scope%' or state = 'idle in transaction')`;
  return rows.length;
}

describe('after a week closes', () => {
  test('none of its answers and comments can be read by person: as the only open week, as one of several, and with stalled readers', async () => {
    const service = await started(await newDataDir());
    const { dataDir } = service;
    const pool = await connectionsTo(service);
    const data = { pool, keys: keysBeside(dataDir, pool) };
    const single = await answeredWeek(data, [service.address]);
    const beforeSingle = await takeWhileOpen(pool, dataDir, single, dataDir);
    await requestClose(service, pool, single);
    await untilForgotten(pool, single, dataDir);
    expect(await attack(pool, beforeSingle, dataDir, service.said())).toEqual(nothing);

    const asked = await answeredWeek(data, [service.address]);
    const other = await answeredWeek(data, [service.address]);
    await importNextWeek(pool, dataDir, asked);
    expect(await pool`select 1 from week_keys`).toHaveLength(3);
    const sockets = await openSlowReaders(service, pool, [asked, other]);
    await until(async () => (await snapshots(pool)) === 5);
    // From here on, only those readers see it.
    await pool`delete from kpi_values where week = ${longAgo}`;
    await pool`delete from results where week < '2020-01-06'`;
    const before = await takeWhileOpen(pool, dataDir, asked, dataDir);
    await requestClose(service, pool, asked);
    await untilForgotten(pool, asked, dataDir);
    await until(async () => (await snapshots(pool)) === 5); // no other transaction is waiting for its next statement just now
    expect(await attack(pool, before, dataDir, service.said())).toEqual(nothing);
    for (const socket of sockets) socket.destroy();
    // The week that is still open is unchanged: it can be read with its key, and answered.
    const open = await takeWhileOpen(pool, dataDir, other, undefined);
    await giveAnswer(service.address, other.links[1] as string, {
      question: other.questionIds[1],
      value: 2,
    });
    await requestClose(service, pool, other);
    await untilForgotten(pool, other, dataDir);
    const after = [...(await filesNow(pool, dataDir, false)), ...(await textsNow(pool, service.said()))];
    expect(foundIn(open, after)).toEqual(nothing);
  });
});

describe('two services with one database', () => {
  test('both receive answers, one closes: both delete the key', async () => {
    const place = await newDataDir();
    const embedded = await openEmbedded(place, { role: 'service', log: () => {}, fast: true });
    onTestFinished(() => embedded.stop());
    const pool = openPool(asSuperuser(embedded.url), 6);
    onTestFinished(() => pool.end({ timeout: 0 }));
    const [one, other] = [join(place, 'one'), join(place, 'other')];
    // The other service is another database user, so that its connections can be distinguished from those of the first.
    await pool`create role other superuser login password 'other'`;
    const otherUrl = embedded.url.replace(/\/\/.*@/, '//other:other@');
    const env = (dataDir: string) => ({
      DATABASE_URL: dataDir === one ? embedded.url : otherUrl,
      DATA_DIR: dataDir,
    });
    const first = await started(one, env(one));
    const key = await command(['keys', 'export'], env(one));
    await command(['keys', 'import'], env(other), key);
    const second = await started(other, env(other));
    const asked = await answeredWeek({ pool, keys: keysBeside(one, pool) }, [first.address, second.address]);
    const open = await answeredWeek({ pool, keys: keysBeside(one, pool) }, [second.address, first.address]);
    const before = await takeWhileOpen(pool, one, asked, place);
    await requestClose(first, pool, asked);
    await untilForgotten(pool, asked, one, other);
    const logged = () => first.said() + second.said();
    expect(await attack(pool, before, place, logged())).toEqual(nothing);
    // Both continue with the open weeks.
    const [, questionId] = open.questionIds;
    for (const { address } of [first, second]) {
      await giveAnswer(address, open.links[2] as string, { question: questionId, value: 3 });
    }
    // The other service is killed just before it deletes the key, and does so after its restart.
    const beforeOpen = await takeWhileOpen(pool, one, open, place);
    const letGo = await keepOpen(pool, (tx) => tx`select pg_advisory_xact_lock(7302)`);
    await requestClose(first, pool, open);
    await untilBlocked(pool, 'pg_advisory_xact_lock', 'other');
    second.child.kill('SIGKILL');
    await second.exited;
    await letGo();
    await untilForgotten(pool, open, one);
    expect(await isForgotten(pool, open, [other])).toBe(false);
    const again = await started(other, env(other));
    expect(await isForgotten(pool, open, [one, other])).toBe(true);
    expect(await attack(pool, beforeOpen, place, logged() + again.said())).toEqual(nothing);
  });
});
