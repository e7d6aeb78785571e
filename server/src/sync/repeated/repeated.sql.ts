// SQL of requests that are sent again (repeated.ts).
import type { Summary } from '@soundings/contract/organization.ts';
import type { AccountId, Db, Transaction } from '../../db/db.ts';

type Repeated = { runId: string; validateOnly: boolean; plan: string; state: Buffer; summary: Summary };

/** Returns what is known of a request with this digest, unless its run is older than a day. */
export async function selectRepeated(
  db: Db,
  accountId: AccountId,
  body: Buffer,
): Promise<(Repeated & { setsTree: boolean | null }) | undefined> {
  const [row] = await db<(Repeated & { setsTree: boolean | null })[]>`
    select p.run_id as "runId", p.validate_only as "validateOnly", p.plan as "plan", p.state as "state",
           coalesce(p.summary, r.summary) as "summary",
           r.sets_tree as "setsTree"
    from   repeated_pushes p
    join   runs r on r.account_id = p.account_id and r.run_id = p.run_id
    where  p.account_id = ${accountId} and p.body = ${body} and r.at > now() - interval '1 day'`;
  return row;
}

export async function upsertRepeated(
  tx: Transaction,
  accountId: AccountId,
  { runId, validateOnly, plan, body, state, summary }: Repeated & { body: Buffer },
): Promise<void> {
  await tx`
    insert into repeated_pushes (account_id, validate_only, body, state, run_id, plan, summary)
    values (${accountId}, ${validateOnly}, ${body}, ${state}, ${runId}, ${plan}, ${tx.json(summary)})
    on conflict (account_id, validate_only)
    do update set body = excluded.body, state = excluded.state, run_id = excluded.run_id, plan = excluded.plan,
                  summary = excluded.summary`;
}

/** Returns sums over all groups and all people of the columns that a request is compared with. Equal rows have equal sums. */
export async function selectState(
  tx: Transaction,
  accountId: AccountId,
): Promise<{ groups: string; users: string }> {
  const [row] = await tx<[{ groups: string; users: string }]>`
    select (select coalesce(sum(hash_record_extended(row(group_id, external_id, managed, by_scim, name, description, parent_id), 0)), 0)::text
            from   groups
            where  account_id = ${accountId}) as "groups",
           (select coalesce(sum(hash_record_extended(row(user_id, external_id, managed, by_scim, fingerprint), 0)), 0)::text
            from   users
            where  account_id = ${accountId}) as "users"`;
  return row;
}
