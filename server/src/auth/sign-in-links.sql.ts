// SQL for links that set a password, and for the jobs that email them. Writers: sign-in-links.ts.
import { isOnCitus } from '../db/citus/distribution.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';
import { passwordRule } from './password-rule.sql.ts';

export type LinkKind = 'forgotten' | 'given';

/** Stores a link, tied to the person's current address. */
export async function insertLink(
  db: Db,
  link: { hash: Buffer; accountId: AccountId; userId: number; kind: LinkKind; hours: number },
): Promise<void> {
  await db`
    insert into sign_in_links (hash, account_id, user_id, email_key, kind, expires_at)
    select ${link.hash}, account_id, user_id, email_key, ${link.kind},
           now() + ${link.hours}::integer * interval '1 hour'
    from   users
    where  account_id = ${link.accountId} and user_id = ${link.userId}`;
}

export type SignInLink = {
  accountId: AccountId;
  userId: number;
  email: string | null;
  name: string;
  company: string;
  hasPassword: boolean;
  hasTwoFactor: boolean;
  /** Whether the account lets the person sign in with a password. */
  isPasswordAllowed: boolean;
};

/**
 * Returns the person that a link is for. Undefined if the link has expired, or if the person is not active, has another address
 * now, or is an unconfirmed administrator.
 */
export async function selectSignInLink(db: Db, hash: Buffer): Promise<SignInLink | undefined> {
  const [row] = await db<SignInLink[]>`
    select u.account_id                            as "accountId",
           u.user_id                               as "userId",
           u.email                                 as "email",
           trim(u.first_name || ' ' || u.last_name) as "name",
           a.name                                  as "company",
           p.hash is not null                      as "hasPassword",
           s.on_since is not null                  as "hasTwoFactor",
           w.is_allowed                            as "isPasswordAllowed"
    from   sign_in_links l
    join   users u on u.account_id = l.account_id and u.user_id = l.user_id
    join   accounts a on a.account_id = l.account_id
    left   join passwords p on p.account_id = l.account_id and p.user_id = l.user_id
    left   join two_factor s on s.account_id = l.account_id and s.user_id = l.user_id
    ${passwordRule(db)}
    where  l.hash = ${hash} and l.expires_at > now() and u.active and not u.role_pending and a.kind = 'company'
      and  l.email_key is not distinct from u.email_key`;
  return row;
}

/** Stores a link for each of several people of an account, tied to their current addresses. */
export async function insertGivenLinks(
  db: Db,
  accountId: AccountId,
  links: { userId: number; hash: Buffer }[],
  hours: number,
): Promise<void> {
  const rows = links.map(({ userId, hash }) => ({ userId, hash: hash.toString('hex') }));
  await db`
    insert into sign_in_links (hash, account_id, user_id, email_key, kind, expires_at)
    select decode(n.hash, 'hex'), u.account_id, u.user_id, u.email_key, 'given',
           now() + ${hours}::integer * interval '1 hour'
    from   jsonb_to_recordset(${db.json(rows)}) as n(hash text, "userId" integer)
    join   users u on u.account_id = ${accountId} and u.user_id = n."userId"`;
}

/** Uses a link up. Returns false if it was already used. */
export async function deleteLink(db: Db, hash: Buffer): Promise<boolean> {
  const rows = await db`delete from sign_in_links where hash = ${hash} returning account_id`;
  return rows.length > 0;
}

export async function deleteLinksOf(db: Db, accountId: AccountId, userId: number): Promise<void> {
  await db`delete from sign_in_links where account_id = ${accountId} and user_id = ${userId}`;
}

export async function deleteLinksOfMany(db: Db, accountId: AccountId, userIds: number[]): Promise<void> {
  await db`delete from sign_in_links where account_id = ${accountId} and user_id = any(${userIds})`;
}

/** Deletes the expired links of all accounts (account_id). Skips those that others are deleting, in another order. */
export async function deleteExpiredLinks(db: Db): Promise<void> {
  const onCitus = await isOnCitus(db);
  await db`
    with expired as (
      select account_id, hash from sign_in_links
      where  expires_at <= now() ${onCitus ? db`` : db`for update skip locked`})
    delete from sign_in_links l using expired where l.account_id = expired.account_id and l.hash = expired.hash`;
}

/** Returns how many links a person has requested in the last hour and not used. */
export async function countRequestedLinks(db: Db, accountId: AccountId, userId: number): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*)::integer as "count"
    from   sign_in_links
    where  account_id = ${accountId} and user_id = ${userId} and kind = 'forgotten'
      and  created_at > now() - interval '1 hour'`;
  return row!.count;
}

/** Adds a job that emails a link to each active person with this normalized address, in any account except sandboxes. */
export async function addForgottenPasswordMails(db: Db, emailKey: string): Promise<void> {
  await db`
    select graphile_worker.add_job(
             'mail sign-in link',
             json_build_object('accountId', u.account_id, 'userId', u.user_id, 'kind', 'forgotten'),
             queue_name := 'mail', job_key := 'sign-in link ' || u.account_id || ' ' || u.user_id)
    from   (select account_id, user_id from users join accounts a using (account_id)
            where  email_key = ${emailKey} and active and not role_pending and a.kind = 'company'
            order  by account_id limit 10) u`;
}

/** Adds a job that emails a link to a person, in the transaction in which an administrator requests it. */
export async function addGivenMail(db: Db, accountId: AccountId, userId: number): Promise<void> {
  await db`
    select graphile_worker.add_job(
             'mail sign-in link',
             json_build_object('accountId', ${accountId}::integer, 'userId', ${userId}::integer, 'kind', 'given'),
             queue_name := 'mail')`;
}

/** Joins for people `u` whether links go to their previous address (`p.is_previous`): see selectAddressee. */
export const selectPreviousAddressRule = (db: Db, accountId: AccountId) => db`
  cross join lateral (select u.role = 'Administrator' and u.email_before is not null
                             and u.email_changed_at > now() - interval '7 days'
                             and exists (select 1 from audit_entries e
                                         where  e.account_id = ${accountId} and e.user_id = u.user_id
                                           and  e.action = 'signed in' and e.at < u.email_changed_at)
                             as is_previous) p`;

export type Addressee = {
  /** The address that gets the link, which can be the person's previous one. */
  email: string | null;
  isPrevious: boolean;
  firstName: string;
  language: string;
  company: string;
};

/**
 * Returns the recipient of an email with a link, or undefined if there is no such active person. For a week after an address
 * changes, links for an administrator who has signed in before go to the previous address, so that the person
 * who changed the address does not get them. Locks the user until the transaction ends.
 */
export async function selectAddressee(
  tx: Transaction,
  accountId: AccountId,
  userId: number,
): Promise<Addressee | undefined> {
  const [row] = await tx<Addressee[]>`
    select case when p.is_previous then u.email_before else u.email end as "email",
           p.is_previous                  as "isPrevious",
           u.first_name                   as "firstName",
           coalesce(u.language, a.language) as "language",
           a.name                         as "company"
    from   users u
    join   accounts a on a.account_id = u.account_id
    ${selectPreviousAddressRule(tx, accountId)}
    where  u.account_id = ${accountId} and u.user_id = ${userId} and u.active and not u.role_pending
      and  a.kind = 'company'
    for    share of u`;
  return row;
}
