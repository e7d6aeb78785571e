// Shared by tests that compare accounts to which the same lists were sent in different ways.
import type { Pool } from '../../db/db.ts';

/** Everything of an account that a push can write, without ids. */
export async function stateOf(pool: Pool, accountId: number): Promise<(readonly unknown[])[]> {
  return [
    await pool`
      select g.external_id, g.managed, g.name, g.description, p.name as parent, p.external_id as parent_id
      from   groups g left join groups p on p.account_id = g.account_id and p.group_id = g.parent_id
      where  g.account_id = ${accountId} order by g.external_id, g.name`,
    await pool`
      select external_id, managed, first_name, last_name, email, email_key, phone, active, timezone, language, role, role_pending,
             attributes, fingerprint is null as void
      from   users where account_id = ${accountId} order by external_id, first_name`,
    await pool`
      select u.external_id, u.first_name, m.kind, g.external_id as group_id, g.name
      from   memberships m join users u using (account_id, user_id) join groups g using (account_id, group_id)
      where  m.account_id = ${accountId} order by 1, 2, 3, 4, 5`,
    await pool`
      select entity, external_id, action, fields, name from run_changes c join runs r using (account_id, run_id)
      where  account_id = ${accountId} and r.outcome <> 'refused'
      order  by entity, external_id, action, fields::text`,
    await pool`select action from audit_entries where account_id = ${accountId} order by entry_id`,
  ];
}
