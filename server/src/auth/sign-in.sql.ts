// SQL for passwords. Writers: sign-in.ts.
import type { AccountId, Db, Transaction } from '../db/db.ts';
import { passwordRule } from './password-rule.sql.ts';

/** Sets a password, replacing any earlier one. */
export async function upsertPassword(
  db: Db,
  accountId: AccountId,
  userId: number,
  hash: string,
): Promise<void> {
  await db`
    insert into passwords (account_id, user_id, hash, set_at)
    values (${accountId}, ${userId}, ${hash}, now())
    on conflict (account_id, user_id) do update set hash = excluded.hash, set_at = excluded.set_at`;
}

/** A person in one account who can sign in. */
export type Candidate = {
  accountId: AccountId;
  accountName: string;
  userId: number;
  hash: string;
  hasTwoFactor: boolean;
  /** Whether the account lets the person sign in with a password. */
  isPasswordAllowed: boolean;
};

/** Returns the people with this normalized address and a password, in all accounts, most recently set password first. */
export async function selectCandidates(db: Db, emailKey: string, most: number): Promise<Candidate[]> {
  return db<Candidate[]>`
    select u.account_id          as "accountId",
           a.name                as "accountName",
           u.user_id             as "userId",
           p.hash                as "hash",
           s.on_since is not null as "hasTwoFactor",
           w.is_allowed          as "isPasswordAllowed"
    from   users u
    join   passwords p on p.account_id = u.account_id and p.user_id = u.user_id
    join   accounts a on a.account_id = u.account_id
    left   join two_factor s on s.account_id = u.account_id and s.user_id = u.user_id
    ${passwordRule(db)}
    where  u.email_key = ${emailKey} and u.active and a.kind = 'company'
    order  by p.set_at desc, u.account_id
    limit  ${most}`;
}

/** Returns the largest number of accounts in which a single address has a password. */
export async function selectMostCandidates(db: Db): Promise<number> {
  const [row] = await db<{ most: number }[]>`
    select coalesce(max(n), 0)::integer as "most"
    from   (select count(*) as n
            from   users u
            join   passwords p on p.account_id = u.account_id and p.user_id = u.user_id
            join   accounts a on a.account_id = u.account_id
            where  u.active and a.kind = 'company'
            group  by u.email_key) counted`;
  return row!.most;
}

/**
 * Returns whether a person can sign in with a password: the person exists, is active, the account allows it and, if `hash` is given,
 * the person still has that password. Locks the rows until the transaction ends.
 */
export async function selectMaySignIn(
  tx: Transaction,
  accountId: AccountId,
  userId: number,
  hash: string | null,
): Promise<boolean> {
  const rows = await tx`
    select 1
    from   users u
    join   passwords p on p.account_id = u.account_id and p.user_id = u.user_id
    join   accounts a on a.account_id = u.account_id
    ${passwordRule(tx)}
    where  u.account_id = ${accountId} and u.user_id = ${userId} and u.active and w.is_allowed and a.kind = 'company'
      and  p.hash = coalesce(${hash}, p.hash)
    for    share of u, p`;
  return rows.length > 0;
}

/** Returns a person's names, address and password hash, or undefined if the person doesn't exist. */
export async function selectPersonWithPassword(
  db: Db,
  accountId: AccountId,
  userId: number,
): Promise<{ firstName: string; lastName: string; email: string | null; hash: string | null } | undefined> {
  const [row] = await db<
    { firstName: string; lastName: string; email: string | null; hash: string | null }[]
  >`
    select u.first_name as "firstName", u.last_name as "lastName", u.email as "email", p.hash as "hash"
    from   users u
    left   join passwords p on p.account_id = u.account_id and p.user_id = u.user_id
    where  u.account_id = ${accountId} and u.user_id = ${userId}`;
  return row;
}

/** Returns the active person of an account with this normalized address. */
export async function selectByEmail(
  db: Db,
  accountId: AccountId,
  emailKey: string,
): Promise<{ userId: number; email: string; role: string } | undefined> {
  const [row] = await db<{ userId: number; email: string; role: string }[]>`
    select user_id as "userId", email as "email", role as "role"
    from   users
    where  account_id = ${accountId} and email_key = ${emailKey} and active`;
  return row;
}

/** Returns the number of accounts, counted up to two, and the name of the first account. Sandboxes don't count. */
export async function selectAccountsThere(db: Db): Promise<{ count: number; name: string | null }> {
  const [row] = await db<{ count: number; name: string | null }[]>`
    select count(*)::integer as "count", min(name) as "name"
    from   (select name from accounts where kind = 'company' order by account_id limit 2) first_two`;
  return row!;
}
