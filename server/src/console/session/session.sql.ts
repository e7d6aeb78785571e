// SQL of the session and the profile: reading only.
import type { OwnAskedWeek, Profile, Session } from '@soundings/contract/console/session.ts';
import { lastDay, type Week, weekName } from '@soundings/contract/weeks.ts';
import type { AccountId, Db } from '../../db/db.ts';

type Person = { accountId: AccountId; userId: number };

/**
 * Returns the user who is signed in, their account, and what awaits an administrator. `providerId`: of the provider with which the session
 * began.
 */
export async function selectSessionFacts(
  db: Db,
  { accountId, userId, providerId = null }: Person & { providerId?: number | null },
): Promise<Session> {
  const [row] = await db<Session[]>`
    select json_build_object(
             'id', u.user_id,
             'name', coalesce(nullif(trim(u.first_name || ' ' || u.last_name), ''), u.email, ''),
             'email', u.email,
             'role', case when u.role_pending then 'User' else u.role end)                                                    as "user",
           json_build_object(
             'id', a.account_id,
             'name', a.name,
             'language', a.language,
             'timezone', a.timezone,
             'threshold', a.threshold,
             'distributionThreshold', coalesce(a.distribution_threshold, case a.threshold when 1 then 1 else 2 * a.threshold end),
             'commentThreshold', coalesce(a.comment_threshold, case a.threshold when 1 then 1 else 2 * a.threshold end),
             'publication', a.publication)                                      as "account",
           case coalesce(u.language, a.language) when 'sv' then 'sv' else 'en' end as "language",
           (select json_build_object('key', p.public_key, 'name', p.name)
            from   sign_in_providers p
            where  p.account_id = ${accountId} and p.provider_id = ${providerId}) as "provider",
           json_build_object('runs', case when u.role = 'Administrator' and not u.role_pending
             then (select count(*)::integer from pending_runs h where h.account_id = ${accountId}) else 0 end) as "waiting",
           u.role = 'Administrator' and not u.role_pending and a.start_dismissed_at is null as "isStarting"
    from   users u
    join   accounts a on a.account_id = u.account_id
    where  u.account_id = ${accountId} and u.user_id = ${userId}`;
  return row as Session;
}

export async function selectProfile(db: Db, { accountId, userId }: Person): Promise<Profile> {
  const [row] = await db<Profile[]>`
    select u.first_name as "firstName",
           u.last_name  as "lastName",
           u.email      as "email",
           case when u.role_pending then 'User' else u.role end as "role",
           u.language   as "language",
           u.timezone   as "timezone",
           u.managed    as "managed",
           json_build_object('name', a.name, 'language', a.language, 'timezone', a.timezone) as "account",
           p.set_at     as "passwordSetAt",
           case when s.on_since is not null then json_build_object(
             'since', s.on_since,
             'recoveryCodes', (select count(*) from recovery_codes r
                               where  r.account_id = ${accountId} and r.user_id = u.user_id)) end as "twoFactor",
           case when a.digest and u.role in ('Administrator', 'Manager') and not u.role_pending
                then d.user_id is null end as "digest"
    from   users u
    join   accounts a on a.account_id = u.account_id
    left   join passwords p on p.account_id = u.account_id and p.user_id = u.user_id
    left   join two_factor s on s.account_id = u.account_id and s.user_id = u.user_id
    left   join digest_opt_outs d on d.account_id = u.account_id and d.user_id = u.user_id
    where  u.account_id = ${accountId} and u.user_id = ${userId}`;
  return row as Profile;
}

/**
 * Returns what the user's current groups were asked in the last `most` weeks before `before`: each question once per week, in the
 * user's language if there is a translation. Returns only texts, nothing about answers.
 */
export async function selectWeeksAskedOfUser(
  db: Db,
  { accountId, userId }: Person,
  { before, most }: { before: Week; most: number },
): Promise<OwnAskedWeek[]> {
  const rows = await db<{ week: Week; questions: string[] }[]>`
    with asked_of as (
      select distinct a.week, q.question_id
      from   memberships m
      join   asked a on a.account_id = m.account_id and a.group_id = m.group_id
      cross  join lateral unnest(a.question_ids) as q (question_id)
      where  m.account_id = ${accountId} and m.user_id = ${userId} and m.kind = 'memberOf' and a.week < ${before}::date
    ), weeks_of as (
      select distinct week from asked_of order by week desc limit ${most}
    )
    select w.week::text as "week",
           array_agg(coalesce(case when t.language <> q.language then q.translations ->> t.language end, q.text)
                     order by q.question_id) as "questions"
    from   weeks_of w
    join   asked_of a using (week)
    join   questions q on q.account_id = ${accountId} and q.question_id = a.question_id
    cross  join (select coalesce(u.language, c.language) as language
                 from   users u join accounts c on c.account_id = u.account_id
                 where  u.account_id = ${accountId} and u.user_id = ${userId}) t
    group  by w.week
    order  by w.week desc`;
  return rows.map(({ week, questions }) => ({
    week: weekName(week),
    from: week,
    to: lastDay(week),
    questions,
  }));
}
