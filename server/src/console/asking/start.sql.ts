// SQL of the page with the first steps: reading what an account has.
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Db } from '../../db/db.ts';

export type StartFacts = {
  isDismissed: boolean;
  people: number;
  withoutGroup: number;
  groups: number;
  schedule: { id: number; name: string } | null;
  openWeek: Week | null;
  hasAsked: boolean;
  hasTested: boolean;
  uninvited: number;
  invited: number;
  signedIn: number;
};

/** Returns what an account has. People are active; `userId`: the caller, who is not counted among those with a role. */
export async function selectStartFacts(db: Db, accountId: AccountId, userId: number): Promise<StartFacts> {
  const [row] = await db<StartFacts[]>`
    select a.start_dismissed_at is not null as "isDismissed",
           p.people          as "people",
           p.without_group   as "withoutGroup",
           (select count(*)::integer from groups g where g.account_id = ${accountId}) as "groups",
           (select json_build_object('id', s.schedule_id, 'name', s.name)
            from   schedules s
            where  s.account_id = ${accountId}
            order  by s.schedule_id
            limit  1)        as "schedule",
           (select max(w.week) from weeks w where w.account_id = ${accountId} and w.closed_at is null) as "openWeek",
           exists (select 1 from weeks w where w.account_id = ${accountId}) as "hasAsked",
           exists (select 1 from audit_entries e where e.account_id = ${accountId} and e.action = 'test mail sent')
                             as "hasTested",
           p.uninvited       as "uninvited",
           p.invited         as "invited",
           p.signed_in       as "signedIn"
    from   accounts a
    cross  join lateral (
             select ((select count(*) from users u where u.account_id = ${accountId})
                     - (select count(*) from users u where u.account_id = ${accountId} and not u.active))::integer as people) c
    cross  join lateral (
             select c.people,
                    c.people - (select count(*)::integer
                                from  (select m.user_id
                                       from   memberships m
                                       where  m.account_id = ${accountId} and m.kind = 'memberOf'
                                         and  not exists (select 1 from users u
                                                          where  u.account_id = m.account_id and u.user_id = m.user_id
                                                            and  not u.active)
                                       group  by m.user_id) in_group) as without_group,
                    r.*
             from  (select count(*) filter (where w.hash is null and i.user_id is null)::integer as uninvited,
                           count(*) filter (where w.hash is null and i.user_id is not null)::integer as invited,
                           count(*) filter (where w.hash is not null)::integer as signed_in
                    from   users u
                    left   join passwords w on w.account_id = u.account_id and w.user_id = u.user_id
                    left   join sign_in_invitations i
                           on i.account_id = u.account_id and i.user_id = u.user_id and i.email_key = u.email_key
                              and i.invited_at >= u.active_since
                    where  u.account_id = ${accountId} and u.role <> 'User' and u.active and not u.role_pending
                      and  u.user_id <> ${userId}) r) p
    where  a.account_id = ${accountId}`;
  return row as StartFacts;
}
