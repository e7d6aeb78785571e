// SQL that decides who gets survey emails: reading only.
import type { Db } from '../db/db.ts';

/** Condition: user u gets invitations. Others can be given a link by their employer (P14). */
export const canGetMail = (db: Db) => db`
  (u.email is not null
   and not exists (select 1 from reminder_opt_outs o
                   where  o.account_id = u.account_id and o.user_id = u.user_id and o.all_emails))`;
