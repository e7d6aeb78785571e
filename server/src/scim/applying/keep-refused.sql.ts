// SQL for people and groups whose removal was refused. Writer: keep-refused.ts.
import type { AccountId, Db, Transaction } from '../../db/db.ts';

/**
 * Returns the ids of the users, of these, whose people are active administrators: first break-glass administrators who can sign in, of an
 * account that requires single sign-on, and of several, the one that was removed last.
 */
export async function selectAdministratorsAmong(
  db: Db,
  accountId: AccountId,
  ids: string[],
): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    select s.scim_id::text as "id"
    from   scim_users s
    join   users u on u.account_id = s.account_id and u.external_id = s.person_key and u.by_scim
    left   join sign_in_rules r on r.account_id = u.account_id
    where  s.account_id = ${accountId} and s.scim_id = any(${ids}::uuid[])
      and  u.role = 'Administrator' and not u.role_pending and u.active
    order  by coalesce(r.requires_sso, false) and u.email_key is not null
                and exists (select 1 from break_glass_administrators b
                            join   passwords p on p.account_id = b.account_id and p.user_id = b.user_id
                            join   two_factor f on f.account_id = b.account_id and f.user_id = b.user_id and f.on_since is not null
                            where  b.account_id = ${accountId} and b.user_id = u.user_id) desc,
              s.removed_at desc, s.position desc`;
  return rows.map(({ id }) => id);
}

/** Keeps these, because their removal was refused. */
export async function updateKeptById(tx: Transaction, accountId: AccountId, ids: string[]): Promise<void> {
  await tx`update scim_users set is_kept = true where account_id = ${accountId} and scim_id = any(${ids}::uuid[])`;
  await tx`update scim_groups set is_kept = true where account_id = ${accountId} and scim_id = any(${ids}::uuid[])`;
}
