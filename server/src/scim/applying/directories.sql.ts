// SQL for how directories are applied. Writers: apply.ts, rules.ts, and the console's directory.routes.ts.
import type { TreeRule } from '@soundings/contract/scim/directory.ts';
import type { AccountId, Db, Transaction } from '../../db/db.ts';

export type Directory = {
  rule: TreeRule;
  settleMinutes: number;
  pendingRunId: string | null;
  pendingDigest: string | null;
  pendingAt: Date | null;
  windowBegan: Date | null;
  windowPeople: number;
  windowGroups: number;
};

/** Returns how the directory of an account is applied. */
export async function selectDirectory(db: Db, accountId: AccountId): Promise<Directory> {
  const [row] = await db<Directory[]>`
    select rule           as "rule",
           settle_minutes as "settleMinutes",
           pending_run_id as "pendingRunId",
           pending_digest as "pendingDigest",
           pending_at     as "pendingAt",
           window_began   as "windowBegan",
           window_people  as "windowPeople",
           window_groups  as "windowGroups"
    from   scim_directories
    where  account_id = ${accountId}`;
  const none = { pendingRunId: null, pendingDigest: null, pendingAt: null, windowBegan: null };
  return row ?? { rule: { kind: 'none' }, settleMinutes: 10, ...none, windowPeople: 0, windowGroups: 0 };
}

export async function updateDirectory(
  tx: Transaction,
  accountId: AccountId,
  directory: Directory,
): Promise<void> {
  const { rule, settleMinutes, pendingRunId, pendingDigest, pendingAt } = directory;
  const { windowBegan, windowPeople, windowGroups } = directory;
  await tx`
    insert into scim_directories (account_id, rule, settle_minutes, pending_run_id, pending_digest, pending_at, window_began,
                                  window_people, window_groups)
    values (${accountId}, ${tx.json(rule)}, ${settleMinutes}, ${pendingRunId}, ${pendingDigest}, ${pendingAt}, ${windowBegan},
            ${windowPeople}, ${windowGroups})
    on conflict (account_id) do update
    set    rule = excluded.rule, settle_minutes = excluded.settle_minutes, pending_run_id = excluded.pending_run_id,
           pending_digest = excluded.pending_digest, pending_at = excluded.pending_at, window_began = excluded.window_began,
           window_people = excluded.window_people, window_groups = excluded.window_groups`;
}

/** Returns the accounts whose directories have something to apply, or something that waits. */
export async function selectDirectoriesDue(db: Db): Promise<AccountId[]> {
  const rows = await db<{ id: AccountId }[]>`
    select account_id as "id"
    from   accounts a
    where  a.ended_at is null
      and (exists (select 1 from scim_users s
                   where  s.account_id = a.account_id and s.changes <> s.applied and not s.is_blocked
                     and  (s.retry_at is null or s.retry_at <= now()))
       or  exists (select 1 from scim_groups g
                   where  g.account_id = a.account_id and g.changes <> g.applied
                     and  (g.refused is distinct from g.changes or g.retry_at <= now()))
       or  exists (select 1 from scim_users s
                   join   users u on u.account_id = s.account_id and u.external_id = s.person_key and u.by_scim
                   where  s.account_id = a.account_id and s.removed_at is not null and not s.is_kept
                     and  (s.deleted_at is not null or u.active))
       or  exists (select 1 from scim_groups g
                   where  g.account_id = a.account_id and g.removed_at is not null and not g.is_kept)
       or  exists (select 1 from scim_members m
                   join   scim_groups g on g.account_id = m.account_id and g.scim_id = m.group_id and g.removed_at is null
                   where  m.account_id = a.account_id and m.left_at is not null)
       or  exists (select 1 from scim_directories d where d.account_id = a.account_id and d.pending_run_id is not null))
    order  by account_id`;
  return rows.map(({ id }) => id);
}

/** Returns the first error of each refused run of the directory since a time. */
export async function selectRefusedRuns(db: Db, accountId: AccountId, since: Date): Promise<Set<string>> {
  const rows = await db<{ message: string }[]>`
    select distinct details->0->>'message' as "message"
    from   runs
    where  account_id = ${accountId} and source = 'scim' and outcome = 'refused' and at > ${since} and details is not null`;
  return new Set(rows.map(({ message }) => message));
}

/** Returns the outcome of a run; undefined if it no longer exists. */
export async function selectOutcome(
  db: Db,
  accountId: AccountId,
  runId: string,
): Promise<string | undefined> {
  const [row] = await db<{ outcome: string }[]>`
    select outcome as "outcome" from runs where account_id = ${accountId} and run_id = ${runId}`;
  return row?.outcome;
}
