// SQL that decides who can sign in with a password, if an account requires single sign-on. Writers: none.
import type { Db } from '../db/db.ts';

/** Joins for people `u` whether they can sign in with a password (`w.is_allowed`): everyone, or only break-glass administrators. */
export const passwordRule = (db: Db) => db`
  cross join lateral (select not exists (select 1 from sign_in_rules r
                                         where  r.account_id = u.account_id and r.requires_sso)
                             or (u.role = 'Administrator' and not u.role_pending
                                 and exists (select 1 from break_glass_administrators b
                                             where  b.account_id = u.account_id and b.user_id = u.user_id))
                             as is_allowed) w`;
