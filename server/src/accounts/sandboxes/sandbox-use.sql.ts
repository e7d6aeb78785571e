// Whether the tokens of an account work, which for sandboxes depends on their administrator. It only reads.
import { sandboxLimits } from '@soundings/contract/limits.ts';
import type { Db } from '../../db/db.ts';

/**
 * Joins for accounts `a` whether their tokens work (`use` of the alias). `usable`: yes, as always for companies. `full`: not before the
 * sandbox is reset, because it has become too large. `ended`: no longer, because the sandbox was reset or deleted, or its owner is not an
 * active administrator any more.
 */
export const selectSandboxUse = (db: Db, alias: 's' | 'x' = 's') => db`
  cross join lateral (
    select case when a.kind = 'company' then 'usable' else coalesce((
             select case when b.bytes > ${sandboxLimits.bytes}::bigint then 'full' else 'usable' end
             from   sandboxes b
             join   users o on o.account_id = b.account_id and o.user_id = b.user_id
             where  b.sandbox_id = a.account_id and a.ended_at is null
               and  o.active and o.role = 'Administrator' and not o.role_pending), 'ended') end as use) ${db(alias)}`;
