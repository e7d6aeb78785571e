// SQL of the console's pages about people: reading only. Nothing here reads answers.
import type { Person, PersonFilters, PersonRow, PersonRun } from '@soundings/contract/console/people.ts';
import { type MembershipKind, membershipKinds } from '@soundings/contract/people/memberships.ts';
import type { SignInState } from '@soundings/contract/people/sign-in-states.ts';
import type { PersonSort } from '@soundings/contract/console/person-sorts.ts';
import { linkHours } from '../../auth/sign-in-links.ts';
import { selectCurrentInvitation } from '../../auth/sign-in-invitations.sql.ts';
import { type AccountId, type Db, type Fragment, inBatches } from '../../db/db.ts';

export type Sorting = { sort: PersonSort; isDown: boolean };

/** Separates the filters of a request from its order. */
export function sortingOf({
  sort = 'name',
  direction,
  ...filters
}: PersonFilters & { sort?: PersonSort; direction?: 'up' | 'down' }): [PersonFilters, Sorting] {
  return [filters, { sort, isDown: direction === 'down' }];
}

/** Returns the words of a search, each of which has to be found. */
const wordsOf = (search = ''): string[] =>
  search
    .split(/\s+/)
    .filter((word) => word !== '')
    .slice(0, 10);

const contains = (db: Db, text: Fragment, word: string) => db`strpos(${text}, (select folded(${word}))) > 0`;

/**
 * The ids of all people, or of those with all words of a search, for lists that are sorted by name and have no other filters. This reads only
 * an index, whose texts end after 200 characters. The texts of very few people are longer.
 */
function peopleInOrder(db: Db, accountId: AccountId, search: string | undefined): Fragment {
  const words = wordsOf(search);
  const within = (text: Fragment) =>
    words.reduce((all, word) => db`${all} and ${contains(db, text, word)}`, db``);
  const short = db`
    select user_id, sort_text from users
    where  account_id = ${accountId} and sort_text <> '' ${within(db`sort_text`)}`;
  if (words.length === 0) return short;
  return db`
    ${short}
    union all
    select user_id, sort_text from users
    where  account_id = ${accountId} and char_length(search_text) > 200
           ${within(db`search_text`)} and not (true ${within(db`sort_text`)})`;
}

/**
 * The first people of an account by email address, at most `until`, with those who have none at the end. This reads only the beginnings of
 * two indexes.
 */
const peopleByEmail = (db: Db, accountId: AccountId, isDown: boolean, until: number): Fragment => db`
  (select user_id, email_key, '' as sort_text from users
   where  account_id = ${accountId} and email_key is not null
   order  by email_key ${isDown ? db`desc` : db`asc`} limit ${until})
  union all
  (select user_id, null, sort_text from users
   where  account_id = ${accountId} and email_key is null
   order  by sort_text, user_id limit ${until})`;

/** The people `u` among which a window is, with their condition. `until`: the end of the window. */
function pageSource(
  db: Db,
  accountId: AccountId,
  { filters, sorting, until }: { filters: PersonFilters; sorting: Sorting; until: number },
): Fragment {
  if (onlySearches(filters)) {
    if (sorting.sort === 'name') return db`(${peopleInOrder(db, accountId, filters.search)}) u`;
    if (sorting.sort === 'email' && wordsOf(filters.search).length === 0)
      return db`(${peopleByEmail(db, accountId, sorting.isDown, until)}) u`;
  }
  return db`users u where ${foundBy(db, accountId, filters)}`;
}

/** The people `u` who match filters, in any order. */
const matching = (db: Db, accountId: AccountId, filters: PersonFilters): Fragment =>
  onlySearches(filters)
    ? db`(${peopleInOrder(db, accountId, filters.search)}) u`
    : db`users u where ${foundBy(db, accountId, filters)}`;

/** Whether filters only search. */
const onlySearches = (filters: PersonFilters): boolean =>
  Object.entries(filters).every(([name, value]) => name === 'search' || value === undefined || value === '');

/** The condition for people `u` who match filters. */
function foundBy(db: Db, accountId: AccountId, filters: PersonFilters): Fragment {
  const { search, group, role, managed, active, mail, signIn, run } = filters;
  return db`
    u.account_id = ${accountId}
    ${wordsOf(search).reduce((all, word) => db`${all} and ${contains(db, db`u.search_text`, word)}`, db``)}
    ${role ? db`and u.role = ${role}` : db``}
    ${managed ? db`and u.managed = ${managed === 'true'}` : db``}
    ${active ? db`and u.active = ${active === 'true'}` : db``}
    ${mail === 'none' ? db`and u.email is null` : db``}
    ${mail === 'rejected' ? db`and exists ${refusal(db, accountId)}` : db``}
    ${signIn ? db`and ${signInCondition(db, signIn)}` : db``}
    ${run ? db`and u.external_id in ${changedBy(db, accountId, run)}` : db``}
    ${mail === 'stopped' ? db`and exists ${stopped(db, accountId)}` : db``}
    ${group ? db`and u.user_id in ${membersWithin(db, accountId, Number(group))}` : db``}`;
}

/** The condition for people `u` who can or can't sign in yet. */
function signInCondition(db: Db, state: SignInState): Fragment {
  const password = db`
    exists (select 1 from passwords w where w.account_id = u.account_id and w.user_id = u.user_id)`;
  if (state === 'password') return password;
  const invited = db`
    exists (select 1 from sign_in_invitations i
            where  i.account_id = u.account_id and i.user_id = u.user_id and i.email_key = u.email_key
              and  i.invited_at >= u.active_since)`;
  const waiting = db`u.active and not u.role_pending and not ${password}`;
  return state === 'invited'
    ? db`${waiting} and ${invited}`
    : db`${waiting} and u.role <> 'User' and not ${invited}`;
}

/** The invitation `i` of people `u` who have no password `w`. */
const invitation = (db: Db) => db`
  case when w.hash is null and i.invited_at is not null
       then json_build_object('at', i.invited_at, 'state', i.state,
                              'isExpired', i.invited_at <= now() - ${linkHours.given}::integer * interval '1 hour')
  end`;

/** Whether people `u` have a role other than User, but neither a password `w` nor an invitation `i`. */
const isUninvited = (db: Db) => db`
  u.active and not u.role_pending and u.role <> 'User' and w.hash is null and i.invited_at is null`;

/** Joins the passwords `w` of people `u`. */
const passwordsOf = (db: Db) => db`
  left join passwords w on w.account_id = u.account_id and w.user_id = u.user_id`;

/** The externalIds of people that a run created or changed. */
const changedBy = (db: Db, accountId: AccountId, runId: string) => db`
  (select c.external_id
   from   run_changes c
   join   runs r on r.account_id = c.account_id and r.run_id = c.run_id
   where  c.account_id = ${accountId} and c.run_id = ${runId} and c.entity = 'user' and r.outcome = 'applied')`;

/** Joins the rejection by the mail server or the gateway for the current address or number of people `u`. A rejection for an earlier address no longer matters. */
const refusal = (db: Db, accountId: AccountId) => db`
  (select 1
   from   mail_refusals r
   where  r.account_id = ${accountId} and r.user_id = u.user_id and r.address in (u.email, u.phone))`;

/** Joins the wish of people `u` to get no survey messages. */
const stopped = (db: Db, accountId: AccountId) => db`
  (select 1
   from   reminder_opt_outs o
   where  o.account_id = ${accountId} and o.user_id = u.user_id and o.all_emails)`;

const membersWithin = (db: Db, accountId: AccountId, groupId: number) => db`
  (select m.user_id
   from   memberships m
   where  m.account_id = ${accountId} and m.kind = 'memberOf'
     and  m.group_id = any(array(
            with recursive subtree as (
              select group_id from groups where account_id = ${accountId} and group_id = ${groupId}::bigint
              union
              select g.group_id
              from   subtree b
              join   groups g on g.account_id = ${accountId} and g.parent_id = b.group_id
            )
            select group_id from subtree)))`;

/** The order of people `u`. People with the same name are ordered by id. */
function orderOf(db: Db, { sort, isDown }: Sorting): Fragment {
  const way = isDown ? db`desc` : db`asc`;
  switch (sort) {
    case 'email':
      return db`u.email_key ${way} nulls last, u.sort_text, u.user_id`;
    case 'role':
      return db`array_position('{Administrator,Manager,Auditor,User}', u.role) ${way}, u.sort_text, u.user_id`;
    case 'created':
      return db`u.created_at ${way}, u.user_id ${way}`;
    default:
      return db`u.sort_text ${way}, u.user_id ${way}`;
  }
}

/** Returns a window of the people who match filters, and how many match in total. */
export async function selectPeopleWindow(
  db: Db,
  accountId: AccountId,
  {
    filters,
    sorting,
    offset,
    limit,
  }: { filters: PersonFilters; sorting: Sorting; offset: number; limit: number },
): Promise<{ total: number; rows: PersonRow[] }> {
  const [counted, rows] = await Promise.all([
    countPeople(db, accountId, filters),
    db<PersonRow[]>`
      with page as (
        select u.user_id
        from   ${pageSource(db, accountId, { filters, sorting, until: offset + limit })}
        order  by ${orderOf(db, sorting)}
        offset ${offset} limit ${limit}
      ), shown as (
        select u.*, row_number() over (order by ${orderOf(db, sorting)}) as place
        from   users u
        where  u.account_id = ${accountId} and u.user_id = any(array(select user_id from page))
      )
      select u.user_id      as "id",
             u.first_name   as "firstName",
             u.last_name    as "lastName",
             u.email        as "email",
             u.external_id  as "externalId",
             u.role         as "role",
             u.active       as "active",
             u.managed      as "managed",
             u.by_scim      as "byDirectory",
             u.created_at   as "createdAt",
             exists ${refusal(db, accountId)} as "mailRejected",
             ${invitation(db)}   as "invitation",
             ${isUninvited(db)}  as "isUninvited",
             g.first        as "group",
             g.many         as "groupCount"
      from   shown u
      ${passwordsOf(db)}
      ${selectCurrentInvitation(db)}
      cross  join lateral (
               select count(*)::integer as many,
                      (array_agg(json_build_object('id', g.group_id, 'name', g.name) order by g.name, g.group_id))[1] as first
               from   memberships m
               join   groups g on g.account_id = m.account_id and g.group_id = m.group_id
               where  m.account_id = ${accountId} and m.user_id = u.user_id and m.kind = 'memberOf') g
      order  by u.place`,
  ]);
  return { total: counted, rows };
}

export async function countPeople(db: Db, accountId: AccountId, filters: PersonFilters): Promise<number> {
  const [row] = await db<{ total: number }[]>`
    select count(*)::integer as total from ${matching(db, accountId, filters)}`;
  return row!.total;
}

/** Returns the ids of all people who match filters. */
export async function selectFoundIds(
  db: Db,
  accountId: AccountId,
  filters: PersonFilters,
): Promise<number[]> {
  const rows = await db<{ id: number }[]>`
    select u.user_id as id from users u where ${foundBy(db, accountId, filters)}`;
  return rows.map(({ id }) => id);
}

export type SheetRow = {
  externalId: string | null;
  firstName: string;
  lastName: string;
  email: string | null;
  phone: string | null;
  role: string;
  active: boolean;
  managed: boolean;
  language: string | null;
  timezone: string | null;
  memberOf: string | null;
  attributes: Record<string, string>;
};

/** Yields all people who match filters, with the fields of the CSV export, in batches: a million of them would fill the memory. */
export const selectSheet = (
  db: Db,
  accountId: AccountId,
  filters: PersonFilters,
  sorting: Sorting,
): AsyncIterable<SheetRow[]> =>
  inBatches(
    db<SheetRow[]>`
    select u.external_id as "externalId",
           u.first_name  as "firstName",
           u.last_name   as "lastName",
           u.email       as "email",
           u.phone       as "phone",
           u.role        as "role",
           u.active      as "active",
           u.managed     as "managed",
           u.language    as "language",
           u.timezone    as "timezone",
           u.attributes  as "attributes",
           (select string_agg(g.name, '; ' order by g.name)
            from   memberships m
            join   groups g on g.account_id = m.account_id and g.group_id = m.group_id
            where  m.account_id = ${accountId} and m.user_id = u.user_id and m.kind = 'memberOf') as "memberOf"
    from   users u
    where  ${foundBy(db, accountId, filters)}
    order  by ${orderOf(db, sorting)}`,
    sheetBatch,
  );

/** How many people are read at a time for a file. */
const sheetBatch = 500;

/** Returns a person, without groups and runs. */
export async function selectPerson(
  db: Db,
  accountId: AccountId,
  userId: number,
): Promise<Omit<Person, 'memberships' | 'runs'> | undefined> {
  const [row] = await db<Omit<Person, 'memberships' | 'runs'>[]>`
    select u.user_id     as "id",
           u.external_id as "externalId",
           u.managed     as "managed",
           u.by_scim     as "byDirectory",
           u.first_name  as "firstName",
           u.last_name   as "lastName",
           u.email       as "email",
           u.phone       as "phone",
           u.active      as "active",
           u.role        as "role",
           u.role_pending as "isRolePending",
           u.language    as "language",
           u.timezone    as "timezone",
           u.attributes  as "attributes",
           u.created_at  as "createdAt",
           json_build_object(
             'hasPassword', w.hash is not null,
             'invitation', ${invitation(db)},
             'isUninvited', ${isUninvited(db)},
             'hasTwoFactor', exists (select 1 from two_factor s
                                    where  s.account_id = ${accountId} and s.user_id = u.user_id
                                      and  s.on_since is not null),
             'sessions', (select count(*)::integer from sessions s
                          where  s.account_id = ${accountId} and s.user_id = u.user_id and u.active
                            and  s.seen_at > now() - interval '7 days' and s.created_at > now() - interval '30 days'))
                         as "signIn",
           coalesce((select case when o.all_emails then 'none' else 'invitations' end
                     from   reminder_opt_outs o
                     where  o.account_id = ${accountId} and o.user_id = u.user_id), 'all') as "surveyEmails",
           (select json_build_object('at', r.at, 'reason', r.reason, 'isSms', r.address = u.phone)
            from   mail_refusals r
            where  r.account_id = ${accountId} and r.user_id = u.user_id and r.address in (u.email, u.phone)) as "mailRejected"
    from   users u
    ${passwordsOf(db)}
    ${selectCurrentInvitation(db)}
    where  u.account_id = ${accountId} and u.user_id = ${userId}`;
  return row;
}

/** Returns the groups of a person by kind and name, each with the names of the groups above it, from the top. */
export async function selectGroupsOfPerson(
  db: Db,
  accountId: AccountId,
  userId: number,
): Promise<Person['memberships']> {
  const rows = await db<
    { kind: MembershipKind; id: number; name: string; managed: boolean; path: string[] }[]
  >`
    with recursive way as (
      select m.kind, g.group_id, g.name, g.managed, g.parent_id, '{}'::text[] as path
      from   memberships m
      join   groups g on g.account_id = m.account_id and g.group_id = m.group_id
      where  m.account_id = ${accountId} and m.user_id = ${userId}
      union  all
      select w.kind, w.group_id, w.name, w.managed, g.parent_id, g.name || w.path
      from   way w
      join   groups g on g.account_id = ${accountId} and g.group_id = w.parent_id
    )
    select kind as "kind", group_id as "id", name as "name", managed as "managed", path as "path"
    from   way
    where  parent_id is null
    order  by name, group_id`;
  const none = Object.fromEntries(
    membershipKinds.map((kind) => [kind, []]),
  ) as unknown as Person['memberships'];
  for (const { kind, ...group } of rows) none[kind].push(group);
  return none;
}

/** Returns the latest runs that changed the person with an externalId, newest first. */
export async function selectRunsOfPerson(
  db: Db,
  accountId: AccountId,
  externalId: string,
  limit: number,
): Promise<PersonRun[]> {
  return db<PersonRun[]>`
    select r.run_id as "runId",
           r.at     as "at",
           r.source as "source",
           r.file   as "file",
           c.fields as "fields"
    from   run_changes c
    join   runs r on r.account_id = c.account_id and r.run_id = c.run_id
    where  c.account_id = ${accountId} and c.external_id = ${externalId} and c.entity = 'user'
      and  c.fields is not null and r.outcome = 'applied'
    order  by r.run_id desc
    limit  ${limit}`;
}
