// Fills an account for benchmarks that read results: a year of weeks, segments, focuses, and a manager of many groups. The figures of
// segments are derived from those of the company: only weeks that a round opened have real ones, and opening and closing a year of weeks
// would take an hour.
import { raiseVersion } from '@soundings/server/src/accounts/accounts.sql.ts';
import { beginSession } from '@soundings/server/src/auth/sessions.ts';
import { inTransaction, type Pool } from '@soundings/server/src/db/db.ts';
import { addWeeks, dayIn, weekOf } from '@soundings/contract/weeks.ts';
import { join } from 'node:path';
import { attribute, type Company, makeCompany } from '../company.ts';
import { writeHistory } from '../history.ts';
import { filledOnce } from '../measuring/kept.ts';
import { time } from '../measuring/measure.ts';
import type { Say } from '../measuring/plans.ts';
import type { Service } from '../measuring/service.ts';
import { pushBodyOf, push } from '../push.ts';

/** The size of the account. `segments`: of each breakdown. */
export type ResultsPlan = {
  users: number;
  groups: number;
  answers: number;
  weeks: number;
  breakdowns: number;
  segments: number;
};

/** An account with results. `top` and `below`: the largest group, and the one below it with most subgroups. */
export type Filled = {
  accountId: number;
  administrator: string;
  /** A manager who owns `below` with all its subgroups. */
  manager: string;
  top: number;
  below: number;
  /** Six groups below the top one. */
  six: number[];
  questionId: number;
  breakdownId: number;
};

/** What is kept of a filled account. `manager`: the external id of the manager. */
type Kept = Omit<Filled, 'administrator'>;

/** Returns an account that is filled as planned, with new sessions. In a directory that stays, fills it only if it isn't yet. */
export async function openResults(service: Service, plan: ResultsPlan, say: Say): Promise<Filled> {
  const { pool } = service;
  const kept = await filledOnce(service, 'filled.json', () => fillResults(service, plan, say));
  // The administrator in the push has to be confirmed first, so this is the account's first one.
  const session = async (externalId: string | undefined) => {
    const [row] = await pool<{ userId: number }[]>`
      select user_id as "userId" from users
      where  account_id = ${kept.accountId} and not role_pending
      and    ${externalId === undefined ? pool`role = 'Administrator'` : pool`external_id = ${externalId}`}`;
    const person = { accountId: kept.accountId, userId: row?.userId as number };
    return beginSession(pool, person, { address: '127.0.0.1', agent: 'bench' });
  };
  return { ...kept, administrator: await session(undefined), manager: await session(kept.manager) };
}

/** Fills an account with a year of results, segments and focuses. */
async function fillResults(service: Service, plan: ResultsPlan, say: Say): Promise<Kept> {
  const { pool } = service;
  const company = makeCompany({ ...plan, oneTop: true });
  const largest = largestBelowTop(company);
  const manager = company.users[1] as Company['users'][number];
  manager.accessInfo = { ...manager.accessInfo, role: 'Manager', inheritedAdminOf: [largest] };
  const account = await service.account(attribute);
  const id = account.id;
  await push(service, account, pushBodyOf(company), { created: company.users.length });
  await service.command(
    'account',
    'set',
    '--account',
    String(id),
    '--manager-comparisons',
    'company,parent,halfYear',
  );
  say(`${plan.users.toLocaleString('en')} people created`);
  const path = join(service.dataDir, 'results.ndjson');
  const last = addWeeks(weekOf(dayIn('UTC', Date.now())), -1);
  const history = {
    answers: plan.answers,
    weeks: plan.weeks,
    perWeek: 5,
    last,
    falling: 4,
    remark: remarkOf,
  };
  await writeHistory(path, company, history);
  const { ms } = await service.command('history', 'import', '--account', String(id), path);
  say(`${plan.answers.toLocaleString('en')} answers imported in ${time(ms)}`);
  const breakdownId = await writeSegments(pool, id, plan);
  await writeFocuses(pool, id);
  await pool`vacuum analyze`;
  const groups = await pool<{ id: number; externalId: string; parentId: number | null }[]>`
    select group_id as "id", external_id as "externalId", parent_id as "parentId"
    from   groups where account_id = ${id} order by group_id`;
  const named = (name: string) => groups.find(({ externalId }) => externalId === name)?.id as number;
  const [question] = await pool<{ id: number }[]>`
    select min(question_id) as id from results where account_id = ${id} and week = ${last}`;
  const top = groups.find(({ parentId }) => parentId === null)?.id as number;
  return {
    accountId: id,
    manager: manager.externalId,
    top,
    below: named(largest),
    six: [...groups]
      .filter(({ parentId }) => parentId === named(largest))
      .slice(0, 6)
      .map((one) => one.id),
    questionId: question?.id as number,
    breakdownId,
  };
}

const topics =
  'meetings customers schedule break room manager tools training shift noise lunch parking'.split(' ');

const remarkOf = (random: () => number): string =>
  `There should be more ${topics[Math.floor(topics.length * random() ** 2)]} and less ${topics[Math.floor(topics.length * random())]}.`;

/** Returns the external id of the group directly below the top one that has the most subgroups. */
function largestBelowTop({ groups }: Company): string {
  const parents = new Map(groups.map(({ externalId, parent }) => [externalId, parent ?? null]));
  const counts = new Map<string, number>();
  for (const { externalId } of groups) {
    let name = externalId;
    for (let above = parents.get(name); above && parents.get(above); above = parents.get(name)) name = above;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const below = groups.filter(({ parent }) => parent === groups[0]?.externalId);
  return below.toSorted((a, b) => (counts.get(b.externalId) ?? 0) - (counts.get(a.externalId) ?? 0))[0]
    ?.externalId as string;
}

/** Opens breakdowns with segments that have a figure wherever the company has one. Returns the id of the first breakdown. */
async function writeSegments(
  pool: Pool,
  accountId: number,
  { breakdowns, segments }: { breakdowns: number; segments: number },
): Promise<number> {
  return inTransaction(pool, async (tx) => {
    const opened = await tx<{ id: number }[]>`
      insert into breakdowns (account_id, name, attribute, position)
      select ${accountId}, 'Division ' || n, 'division' || n, n from generate_series(1, ${breakdowns}::integer) n
      returning breakdown_id as "id"`;
    await tx`
      insert into segments (account_id, segment_id, breakdown_id, value)
      select ${accountId}, nextval(pg_get_serial_sequence('groups', 'group_id')), breakdown_id, 'Part ' || n
      from   breakdowns, generate_series(1, ${segments}::integer) n
      where  account_id = ${accountId}`;
    // Each segment differs from the company by up to 0.1.
    const part = tx`(hashint4(s.segment_id) % 1000) / 10000.0`;
    const from = tx`
      join   segments s using (account_id)
      where  r.account_id = ${accountId}
      and    r.group_id = (select group_id from groups where account_id = ${accountId} and parent_id is null limit 1)`;
    await tx`
      insert into results (account_id, group_id, week, question_id, value, answers, distribution, handed_out)
      select r.account_id, s.segment_id, r.week, r.question_id, least(1, greatest(0, r.value + ${part})),
             r.answers / ${segments}, null, false
      from   results r ${from}`;
    await tx`
      insert into response_rates (account_id, group_id, week, value, asked, answered, handed_out)
      select r.account_id, s.segment_id, r.week, r.value, r.asked / ${segments}, r.answered / ${segments}, false
      from   response_rates r ${from}`;
    await tx`
      insert into kpi_values (account_id, kpi_id, group_id, week, value)
      select r.account_id, r.kpi_id, s.segment_id, r.week, least(1, greatest(0, r.value + ${part}))
      from   kpi_values r ${from}`;
    await raiseVersion(tx, accountId);
    return opened[0]?.id as number;
  });
}

/** Writes two focuses for every group: an open one for its first KPI, and one that is done. */
async function writeFocuses(pool: Pool, accountId: number): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await tx`
      with   written as (
        insert into focuses (account_id, group_id, kpi_id, action, responsible, until_day, state, checked_at, announced_at, created_at)
        select ${accountId}, group_id, (select min(kpi_id) from kpis where account_id = ${accountId}),
               'Talk about it once a month', 'Anna', current_date + 60, state, now(), now(), now()
        from   groups, unnest(array['open', 'done']) state
        where  account_id = ${accountId}
        returning account_id, focus_id
      )
      insert into focus_events (account_id, focus_id, kind, at)
      select account_id, focus_id, 'created', now() from written`;
    await raiseVersion(tx, accountId);
  });
}
