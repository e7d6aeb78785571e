// Fills an account of any size for benchmarks of the console, with statements that write the rows directly: pushing a million people and
// closing weeks for them would take hours. The questions, KPIs, weeks and statistics are those of a small imported history about the top
// groups, and the figures of all other groups are derived from them.
import { raiseVersion } from '@soundings/server/src/accounts/accounts.sql.ts';
import { beginSession } from '@soundings/server/src/auth/sessions.ts';
import { inTransaction, type Pool } from '@soundings/server/src/db/db.ts';
import { addWeeks, dayIn, weekOf } from '@soundings/contract/weeks.ts';
import { join } from 'node:path';
import { attribute } from '../company.ts';
import { writeHistory } from '../history.ts';
import { filledOnce } from '../measuring/kept.ts';
import { time, timed } from '../measuring/measure.ts';
import type { Say } from '../measuring/plans.ts';
import type { Service } from '../measuring/service.ts';
import { push, pushBodyOf } from '../push.ts';
import { unitCount, unitsIn, peopleIn, trees } from './organization.ts';

/** `answers`: of the imported history. */
export type LargePlan = { people: number; weeks: number; answers: number };

type Kept = {
  accountId: number;
  /** The top group of the first tree, a group below it on the third level if there is one, a group on the lowest level, and a question. */
  top: number;
  middle: number;
  leaf: number;
  /** The group of the manager of a few groups. */
  smallGroup: number;
  questionId: number;
  runId: string;
};

/** An account with the sessions of its administrator, a manager of a whole tree and a manager of a few groups. */
export type LargeAccount = Kept & { administrator: string; large: string; small: string };

/** Returns an account that is filled as planned, with new sessions. In a directory that stays, fills it only if it isn't yet. */
export async function openLargeAccount(service: Service, plan: LargePlan, say: Say): Promise<LargeAccount> {
  const kept = await filledOnce(service, 'large.json', () => fillLarge(service, plan, say));
  const session = async (email: string) => {
    const [row] = await service.pool<{ userId: number }[]>`
      select user_id as "userId" from users where account_id = ${kept.accountId} and email_key = ${email}`;
    const person = { accountId: kept.accountId, userId: row?.userId as number };
    return beginSession(service.pool, person, { address: '127.0.0.1', agent: 'bench' });
  };
  return {
    ...kept,
    administrator: await session(`first-${kept.accountId}@bench.example`),
    large: await session('large@bench.example'),
    small: await session('small@bench.example'),
  };
}

async function fillLarge(service: Service, { people, weeks, answers }: LargePlan, say: Say): Promise<Kept> {
  const { pool } = service;
  const account = await service.account(attribute);
  const accountId = account.id;
  // The people who have answered the imported weeks, in the top groups.
  const few = { groups: unitsIn(people).slice(0, trees), users: peopleIn({ people: 60 }, 0, 60) };
  for (const [i, { accessInfo }] of few.users.entries())
    Object.assign(accessInfo as object, {
      role: 'User',
      memberOf: [`group-${i % trees}`],
      interestOf: [],
      adminOf: [],
      inheritedAdminOf: [],
    });
  await push(service, account, pushBodyOf(few), { created: 60 });
  const path = join(service.dataDir, 'large.ndjson');
  const last = addWeeks(weekOf(dayIn('UTC', Date.now())), -1);
  await writeHistory(path, few, { answers, weeks, perWeek: 5, last, falling: 2 });
  await service.command('history', 'import', '--account', String(accountId), path);
  const write = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    const [ms, result] = await timed(work);
    say(`${what} written in ${time(ms)}`);
    return result;
  };
  const groups = unitCount(people);
  await write(`${groups} groups`, () => writeGroups(pool, accountId, groups));
  await write(`${people} people`, () => writePeople(pool, accountId, people, groups));
  const runId = await write('a run', () => writeRun(pool, accountId, people));
  await write('figures', () => writeFigures(pool, accountId));
  await writeManagers(pool, accountId, groups);
  await inTransaction(pool, (tx) => raiseVersion(tx, accountId));
  await write('statistics of the tables', () => pool`vacuum analyze`);
  const idOf = async (place: number) =>
    (
      await pool<{ id: number }[]>`
        select group_id as id from groups where account_id = ${accountId} and external_id = ${`group-${place}`}`
    )[0]?.id as number;
  const [question] = await pool<{ id: number }[]>`
    select min(question_id) as id from results where account_id = ${accountId} and week = ${last}`;
  return {
    accountId,
    top: await idOf(0),
    middle: await idOf(groups > trees * 9 ? trees * 9 : trees),
    leaf: await idOf(groups - 1),
    smallGroup: await idOf(aboveLowest(groups)),
    questionId: question?.id as number,
    runId,
  };
}

/** Writes the groups that the account doesn't have yet, numbered as in `unitsIn`. */
async function writeGroups(pool: Pool, accountId: number, groups: number): Promise<void> {
  await inTransaction(pool, async (tx) => {
    // Ids in the order of the numbers, so that a parent's id can be computed.
    const [row] = await tx<{ next: number }[]>`
      select max(group_id)::integer + 1 as next from groups`;
    const base = (row?.next as number) - trees;
    const first = await tx<{ id: number; place: number }[]>`
      select group_id as id, substring(external_id from 7)::integer as place
      from   groups where account_id = ${accountId} order by place`;
    await tx`
      insert into groups (account_id, group_id, external_id, managed, name, parent_id)
      select ${accountId}, ${base}::integer + i, 'group-' || i, true, 'Unit ' || i,
             case when p.place < ${trees} then (${first.map(({ id }) => id)}::integer[])[p.place + 1]
                  else ${base}::integer + p.place end
      from   generate_series(${trees}::integer, ${groups}::integer - 1) i
      cross  join lateral (select (i / ${trees}::integer - 1) / 8 * ${trees}::integer + i % ${trees}::integer as place) p`;
    await tx`
      select setval(pg_get_serial_sequence('groups', 'group_id'), (select max(group_id) from groups))`;
  });
}

/** Writes the people that the account doesn't have yet: each is a member of one group, and has two further memberships. */
async function writePeople(pool: Pool, accountId: number, people: number, groups: number): Promise<void> {
  const first =
    'Anna Åsa Björn Carlos Dörte Eeva Fatima Gunnar Hélène Igor Jürgen Kaisa Li Mehmet Øystein Zoë'.split(
      ' ',
    );
  const last =
    'Andersson Bäcklund Çelik Dubois Eriksen Fernández Große Håkansson Jansen Kowalska Lehtinen Nguyễn'.split(
      ' ',
    );
  await inTransaction(pool, async (tx) => {
    await tx`
      insert into users (account_id, external_id, managed, first_name, last_name, email, email_key, phone, active,
                         language, role, attributes)
      select ${accountId}, 'user-' || lpad(i::text, 7, '0'), true,
             (${first}::text[])[1 + (hashint4(i) & 15)], (${last}::text[])[1 + (hashint4(i + 1) & 65535) % 12],
             'person.' || i || '@example.com', 'person.' || i || '@example.com', '+4670' || 1000000 + i,
             i % 50 <> 0, (array['sv', 'en', 'de', 'fi', 'fr'])[1 + i % 5],
             case when i % 20 = 0 then 'Manager' else 'User' end,
             jsonb_build_object(${attribute.name}::text, (${attribute.values}::text[])[1 + i % ${attribute.values.length}])
      from   generate_series(60, ${people}::integer - 1) i`;
    await tx`
      insert into memberships (account_id, user_id, kind, group_id)
      select ${accountId}, u.user_id, k.kind, g.group_id
      from   users u
      cross  join lateral (values ('memberOf', 1), (case when u.user_id % 2 = 0 then 'adminOf' else 'inheritedAdminOf' end, 2),
                                  ('interestOf', 3)) k (kind, n)
      join   groups g on g.account_id = ${accountId}
             and g.external_id = 'group-' || (hashint4(u.user_id * 3 + k.n) & 2147483647) % ${groups}::integer
      where  u.account_id = ${accountId} and u.external_id >= 'user-0000060'`;
  });
}

/** Writes a run that created everyone. Returns its id. */
async function writeRun(pool: Pool, accountId: number, people: number): Promise<string> {
  return inTransaction(pool, async (tx) => {
    const [run] = await tx<{ runId: string }[]>`
      insert into runs (account_id, run_id, source, validate_only, outcome, settings, summary, sets_tree)
      select account_id, gen_random_uuid(), source, validate_only, outcome, settings, summary, true
      from   runs where account_id = ${accountId} limit 1
      returning run_id::text as "runId"`;
    await tx`
      insert into run_changes (account_id, run_id, position, entity, external_id, action, fields)
      select ${accountId}, ${run?.runId as string}, i, 'user', 'user-' || lpad(i::text, 7, '0'), 'create', '{}'
      from   generate_series(60, ${people}::integer - 1) i`;
    return run?.runId as string;
  });
}

/** Writes figures of every group that has none: those of the top group of its tree, up to 0.2 away. A tenth of them is withheld. */
async function writeFigures(pool: Pool, accountId: number): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await tx`
      create temporary table derived on commit drop as
      select g.group_id, t.group_id as top_id, (hashint4(g.group_id) & 1023) / 2560.0 - 0.2 as part,
             hashint4(g.group_id) & 7 = 7 as withheld
      from   groups g
      join   groups t on t.account_id = g.account_id and t.external_id = 'group-' || substring(g.external_id from 7)::integer % ${trees}::integer
      where  g.account_id = ${accountId} and g.parent_id is not null`;
    const value = tx`case when not d.withheld then least(1, greatest(0, r.value + d.part)) end`;
    await tx`
      insert into asked (account_id, group_id, week, question_ids)
      select account_id, d.group_id, week, question_ids
      from   derived d join asked r on r.account_id = ${accountId} and r.group_id = d.top_id`;
    await tx`
      insert into results (account_id, group_id, week, question_id, value, answers)
      select account_id, d.group_id, week, question_id, ${value}, case when not d.withheld then r.answers end
      from   derived d join results r on r.account_id = ${accountId} and r.group_id = d.top_id
      order  by week -- as closing writes them`;
    await tx`
      insert into response_rates (account_id, group_id, week, value, asked, answered)
      select account_id, d.group_id, week, ${value}, r.asked, case when not d.withheld then r.answered end
      from   derived d join response_rates r on r.account_id = ${accountId} and r.group_id = d.top_id`;
    await tx`
      insert into kpi_values (account_id, kpi_id, group_id, week, value)
      select account_id, kpi_id, d.group_id, week, ${value}
      from   derived d join kpi_values r on r.account_id = ${accountId} and r.group_id = d.top_id`;
  });
}

/** Returns the number of a group whose subgroups are on the lowest level. */
const aboveLowest = (groups: number): number =>
  Math.max(trees, Math.floor((Math.floor((groups - 1) / trees) - 1) / 8) * trees);

/** Writes two managers: one owns a whole tree, the other a group whose subgroups are on the lowest level. */
async function writeManagers(pool: Pool, accountId: number, groups: number): Promise<void> {
  for (const [email, group] of [
    ['large@bench.example', 'group-0'],
    ['small@bench.example', `group-${aboveLowest(groups)}`],
  ] as const)
    await pool`
      with one as (
        insert into users (account_id, managed, first_name, last_name, email, email_key, active, role)
        values (${accountId}, false, 'Manager', ${group}, ${email}, ${email}, true, 'Manager')
        returning user_id
      )
      insert into memberships (account_id, user_id, kind, group_id)
      select ${accountId}, user_id, 'inheritedAdminOf', group_id
      from   one, groups
      where  account_id = ${accountId} and external_id = ${group}`;
}
