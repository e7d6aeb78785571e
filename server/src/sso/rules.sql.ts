// SQL for how the people of an account sign in: the key of its sign-in page, required single sign-on, and break-glass administrators.
// Writers: rules.ts.
import type { AccountId, Db, Transaction } from '../db/db.ts';

export type Rules = { entryKey: string; requiresSso: boolean };

export async function selectRules(db: Db, accountId: AccountId): Promise<Rules | undefined> {
  const [row] = await db<Rules[]>`
    select entry_key as "entryKey", requires_sso as "requiresSso" from sign_in_rules where account_id = ${accountId}`;
  return row;
}

/** Returns the name of the account with this key of its sign-in page. */
export async function selectCompanyName(db: Db, entryKey: string): Promise<string | null> {
  const [row] = await db<{ name: string }[]>`
    select a.name as "name"
    from   sign_in_rules r
    join   accounts a on a.account_id = r.account_id
    where  r.entry_key = ${entryKey}`;
  return row?.name ?? null;
}

/** Returns whether the installation has another account in which people sign in. */
export async function selectHasOtherAccount(db: Db, accountId: AccountId): Promise<boolean> {
  const rows = await db`select from accounts where account_id <> ${accountId} and kind = 'company' limit 1`;
  return rows.length > 0;
}

/** Creates the rules of an account if there are none. */
export async function insertRules(tx: Transaction, accountId: AccountId, entryKey: string): Promise<void> {
  await tx`
    insert into sign_in_rules (account_id, entry_key) values (${accountId}, ${entryKey}) on conflict do nothing`;
}

export async function updateRequired(
  tx: Transaction,
  accountId: AccountId,
  requiresSso: boolean,
): Promise<void> {
  await tx`update sign_in_rules set requires_sso = ${requiresSso} where account_id = ${accountId}`;
}

/** An administrator who is, or can be, a break-glass administrator. */
export type BreakGlassRow = {
  id: number;
  name: string;
  email: string | null;
  isChosen: boolean;
  hasPassword: boolean;
  hasTwoFactor: boolean;
};

/** Returns the confirmed active administrators, by name. */
export async function selectBreakGlassChoices(db: Db, accountId: AccountId): Promise<BreakGlassRow[]> {
  return db<BreakGlassRow[]>`
    select u.user_id as "id",
           coalesce(nullif(trim(u.first_name || ' ' || u.last_name), ''), u.email, '') as "name",
           u.email as "email",
           b.user_id is not null  as "isChosen",
           p.hash is not null     as "hasPassword",
           s.on_since is not null as "hasTwoFactor"
    from   users u
    left   join break_glass_administrators b on b.account_id = u.account_id and b.user_id = u.user_id
    left   join passwords p on p.account_id = u.account_id and p.user_id = u.user_id
    left   join two_factor s on s.account_id = u.account_id and s.user_id = u.user_id
    where  u.account_id = ${accountId} and u.role = 'Administrator' and not u.role_pending and u.active
    order  by u.search_text, u.user_id`;
}

/** Returns those of the people who have signed in before and have no identity at a provider that is turned on. */
export async function selectWithoutIdentity(
  tx: Transaction,
  accountId: AccountId,
  userIds: number[],
): Promise<number[]> {
  const rows = await tx<{ id: number }[]>`
    select u.user_id as "id"
    from   users u
    where  u.account_id = ${accountId} and u.user_id = any(${userIds})
      and  exists (select 1 from audit_entries e
                   where  e.account_id = ${accountId} and e.user_id = u.user_id and e.action = 'signed in')
      and  not exists (select 1 from sign_in_identities i
                       join   sign_in_providers p on p.account_id = i.account_id and p.provider_id = i.provider_id
                       where  i.account_id = ${accountId} and i.user_id = u.user_id and p.enabled)`;
  return rows.map(({ id }) => id);
}

export async function replaceBreakGlass(
  tx: Transaction,
  accountId: AccountId,
  userIds: number[],
): Promise<void> {
  await tx`
    delete from break_glass_administrators where account_id = ${accountId} and user_id <> all(${userIds})`;
  await tx`
    insert into break_glass_administrators (account_id, user_id)
    select ${accountId}, id from unnest(${userIds}::integer[]) as id
    on conflict do nothing`;
}
