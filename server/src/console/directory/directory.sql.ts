// SQL of a directory as the console shows it: reading only.
import type { AccountId, Db } from '../../db/db.ts';

export type DirectoryCounts = {
  tokens: number;
  active: number;
  inactive: number;
  groups: number;
  changes: number;
  people: number;
  removedGroups: number;
  kept: number;
};

export async function selectDirectoryCounts(db: Db, accountId: AccountId): Promise<DirectoryCounts> {
  const [row] = await db<DirectoryCounts[]>`
    select (select count(*)::integer from tokens
            where  account_id = ${accountId} and 'scim' = any(scopes) and revoked_at is null
              and  (expires_at is null or expires_at > now()))                                        as "tokens",
           count(*) filter (where s.active and s.deleted_at is null)::integer                        as "active",
           count(*) filter (where not s.active and s.deleted_at is null)::integer                    as "inactive",
           (select count(*)::integer from scim_groups
            where  account_id = ${accountId} and removed_at is null)                                  as "groups",
           count(*) filter (where s.changes <> s.applied and not s.is_blocked)::integer               as "changes",
           count(*) filter (where s.removed_at is not null and not s.is_kept and u.by_scim
                                  and (s.deleted_at is not null or u.active))::integer                as "people",
           (select count(*)::integer from scim_groups
            where  account_id = ${accountId} and removed_at is not null and not is_kept)              as "removedGroups",
           count(*) filter (where s.is_kept)::integer                                                as "kept"
    from   scim_users s
    left   join users u on u.account_id = s.account_id and u.external_id = s.person_key
    where  s.account_id = ${accountId}`;
  return row!;
}
